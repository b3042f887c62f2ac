"""Find the configuration of a folder's tables, by its copy in the folder and the files that it names.

A run reads a configuration once. It copies its bytes into the folder, and every step reads the copy. The manifest has
the digests of the copy and of the files that it names; a table of another configuration is never listed beside them.
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
    """Make a folder's copy of its configuration hold these bytes; one that does keeps its time."""
    if _copied(folder) != store.digest(content):
        store.publish(folder / CONFIGURATION, content)


def holds(folder: Path, config: str) -> bool:
    """Whether a folder's copy of a configuration, and the one that its tables are of, have this digest.

    True of a folder whose manifest is missing or damaged: a run finds that by itself.
    """
    try:
        manifest = store.read_manifest(folder)
    except BadInput:
        return True
    return manifest.get("config", {}).get("sha256") == config == _copied(folder)


def is_complete(folder: Path) -> bool:
    """Whether a sweep was made to its end, of the configuration whose copy the folder has, and has all its tables.

    Options of Snakemake such as --until make less of it. A step that fails, as on a full disk, leaves its table out.
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
    """What a reader of a folder should know: what its tables leave out, and which of them another version computed.

    modules  the module of a stage, with {} for its name
    """
    stages = manifest.get("stage", {}).items()
    other = sorted(name for name, code in stages if code != digest_of_code(sources_of(modules.format(name))))
    said = f"another version of torusweep computed {', '.join(other)}; 'torusweep run' computes them with this one"
    return [*manifest.get("notes", []), *([said] if other else [])]


def digests_of(files: Iterable[str]) -> dict[str, str]:
    """sha256 of the content of files. Raises BadInput for one that cannot be read."""
    found = {}
    for file in files:
        try:
            path = located(file)
            if not path.is_file() and path.exists():
                raise ValueError("no regular file")  # a pipe would be waited for
            found[file] = store.file_digest(path)
        except (OSError, ValueError) as error:
            raise unreadable(Path(file), error, "a file") from None
    return found


def expect_same(files: Mapping[str, str]) -> None:
    """Raise BadInput where a file has another digest (`digests_of`) than it had."""
    for file, digest in digests_of(files).items():
        if files[file] != digest:
            raise BadInput(f"{printable(file)} changed while the sweep ran: nothing of it is kept; run the sweep again")


def _copied(folder: Path) -> str:
    """The digest of a folder's copy of its configuration; '' where there is none."""
    path = folder / CONFIGURATION
    try:
        return store.file_digest(path) if path.is_file() else ""
    except OSError:
        return ""
