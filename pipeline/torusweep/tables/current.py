"""Check to which configuration the tables of a results folder belong, by digests in the folder's manifest.

A run reads a configuration once, and copies it into the folder. Every step reads the copy. The manifest has the digests
of the copy and of the files that it names. It never lists tables of another configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from torusweep.errors import BadInput, located, printable, unreadable
from torusweep.tables import store
from torusweep.tables.keys import digest_of_code, sources_of

CONFIGURATION = "sweep.yaml"


def publish_configuration(folder: Path, content: bytes) -> None:
    """Write a folder's copy of its configuration. A copy that has the same content is not touched."""
    if _copied(folder) != store.digest(content):
        store.publish(folder / CONFIGURATION, content)


def holds(folder: Path, config: str) -> bool:
    """Return whether the folder's copy of the configuration and the manifest's configuration both have this digest.

    Also returns True if the manifest is missing or damaged, because a run finds this out by itself.
    """
    try:
        manifest = store.read_manifest(folder)
    except BadInput:
        return True
    return manifest.get("config", {}).get("sha256") == config == _copied(folder)


def is_complete(folder: Path) -> bool:
    """Return whether a folder has a completed sweep: all tables of the configuration whose copy it has.

    A sweep is not complete after an option of Snakemake such as --until, or a failed step, for example on a full disk.
    """
    if not (folder / store.CHECKED).exists():
        return False
    try:
        manifest = store.read_manifest(folder)
    except BadInput:
        return False
    there = all((folder / f"{name}.parquet").exists() for name in manifest["tables"])
    return there and holds(folder, str(manifest.get("config", {}).get("sha256")))


def notes_of(manifest: Mapping[str, Any], modules: str) -> list[str]:
    """Return notes for readers of a folder: what its tables leave out, and which stages another version computed.

    modules  name of a stage's module, with {} in place of the stage's name
    """
    stages = manifest.get("stage", {}).items()
    other = sorted(name for name, code in stages if code != digest_of_code(sources_of(modules.format(name))))
    said = f"another version of torusweep computed {', '.join(other)}; 'torusweep run' computes them with this one"
    return [*manifest.get("notes", []), *([said] if other else [])]


def digests_of(files: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file's content, by the file's name. Raises BadInput for a file that cannot be read."""
    found = {}
    for file in files:
        try:
            path = located(file)
            if not path.is_file() and path.exists():
                raise ValueError("no regular file")  # reading a pipe could block
            found[file] = store.file_digest(path)
        except (OSError, ValueError) as error:
            raise unreadable(Path(file), error, "a file") from None
    return found


def expect_same(files: Mapping[str, str]) -> None:
    """Raise BadInput if a file has changed; `files` maps names to earlier digests, from `digests_of`."""
    for file, digest in digests_of(files).items():
        if files[file] != digest:
            raise BadInput(f"{printable(file)} changed while the sweep ran: nothing of it is kept; run the sweep again")


def _copied(folder: Path) -> str:
    """Return the digest of a folder's copy of its configuration; '' without a copy."""
    path = folder / CONFIGURATION
    try:
        return store.file_digest(path) if path.is_file() else ""
    except OSError:
        return ""
