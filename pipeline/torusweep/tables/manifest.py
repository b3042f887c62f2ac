"""The schema of manifest.json. Every manifest that is read is validated: results folders are copied and shared."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]  # of a stage or table: no path, no option
Count = Annotated[int, Field(ge=0, le=1 << 48)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class TableEntry(_Strict):
    """A published table. footer_sha256: torusweep.tables.store.footer_digest."""

    sha256: Digest
    footer_sha256: str = ""
    rows: Count


class Software(_Strict):
    """Versions of what computed."""

    torusweep: str = ""
    commit: str = ""
    python: str = ""
    packages: dict[str, str] = {}


class ShardEntry(Software):
    """A shard whose rows are in a table, and where it came from."""

    sha256: Digest
    rows: Count
    stage: Name
    backend: str = ""
    device: str = ""
    host: str = ""
    started: str = ""
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    symmetry: bool = True
    code: str = ""
    config: str = ""


class Failure(_Strict):
    """A point without a row. point: in words."""

    stage: Name
    topology: str
    point: str
    reason: str


class Configuration(_Strict):
    """The configuration that the sweep was made from. files: digests of those that it names, by path."""

    sha256: str = ""
    text: str = ""
    files: dict[str, Digest] = {}


class Manifest(_Strict):
    """manifest.json. stage: the digest of the code of each stage. notes: torusweep.sweeps.left_out."""

    sweep: str = "networks"
    description: str = ""
    papers: list[str] = []
    notes: list[str] = []
    config: Configuration = Configuration()
    software: Software = Software()
    stage: dict[Name, str] = {}
    shards: list[ShardEntry] = []
    failed: list[Failure] = []
    tables: dict[Name, TableEntry] = {}


def checked(content: bytes) -> dict[str, Any]:
    """The manifest of a file's content; keys that this version does not know are left out. Raises ValueError."""
    manifest = Manifest.model_validate_json(content).model_dump(exclude_unset=True)
    return {"tables": {}, "shards": [], "failed": [], **manifest}
