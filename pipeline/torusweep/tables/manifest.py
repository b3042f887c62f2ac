"""Define the schema of manifest.json. Every manifest is validated when it is read, as results folders are shared."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]  # name of a stage or table; it cannot be a path or option
Count = Annotated[int, Field(ge=0, le=1 << 48)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class TableEntry(_Strict):
    """A published table: digests of its file and of the file's footer (`footer_digest`), and number of rows.

    files: digest of each file of a table that is a folder; sha256 is then the digest of these, one after the other
    """

    sha256: Digest
    files: list[Digest] = []
    footer_sha256: str = ""
    rows: Count


class Software(_Strict):
    """Versions of the software that computed a result."""

    torusweep: str = ""
    commit: str = ""
    python: str = ""
    packages: dict[str, str] = {}


class ShardEntry(Software):
    """A shard whose rows are in a table, and how, where and when the shard was computed."""

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
    """A point that failed, and therefore has no row; `point` is the request in words."""

    stage: Name
    topology: str
    point: str
    reason: str


class Configuration(_Strict):
    """The configuration of the sweep; `files` maps the path of each file that it names to the file's digest."""

    sha256: str = ""
    text: str = ""
    files: dict[str, Digest] = {}


class Manifest(_Strict):
    """The contents of manifest.json. `stage` maps stages to digests of their code; notes: torusweep.sweeps.left_out."""

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
    """Read and validate a manifest. Keys that this version does not know are left out. Raises ValueError if invalid."""
    manifest = Manifest.model_validate_json(content).model_dump(exclude_unset=True)
    return {"tables": {}, "shards": [], "failed": [], **manifest}
