"""Results on disk: published whole or not at all, and known by their digests.

    results/<sweep>/
      points.parquet                 what the sweep asks for
      shards/<sha256>.parquet        finished points; a shard's name is the digest of its content
      parts/<stage>/<i>-of-<n>.json  how a part of a stage ended, until all have (on a cluster)
      logs/, benchmarks/             what each step said, and how long it took
      static.parquet, …              a table of each stage, and the tables derived from them
      manifest.json                  digest of every table, origin of every shard

A file is written under a temporary name, synced and renamed: a file with its final name is whole, even if the
run was killed. A shard whose content does not match its name is computed again; a table whose content does not
match the manifest is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import pyarrow as pa

from torusweep.errors import BadInput, Refused
from torusweep.tables import provenance
from torusweep.tables.manifest import checked
from torusweep.tables.parquet import Streamed, TableFile, parquet, read_rows, readable, write_parquet
from torusweep.version import __version__

MANIFEST = "manifest.json"
CHECKED = "checked.txt"  # the last file that a run makes
INDEX, VIEWS = "files.json", "lattices.duckdb"  # of a data set
LARGE = 1 << 26  # bytes of a table from which some rows are read without the digest of all
LOCK = ".lock"  # held by whoever computes points
TEMPORARY = ".writing-"


class CannotWrite(BadInput):
    """The disk is full, or the folder is not ours: nothing of the file is left, earlier files are whole."""


# --- files -------------------------------------------------------------------------------------


def publish(path: Path, content: bytes) -> None:
    """Make `path` hold `content`, durably and at once. Raises CannotWrite, leaving no partial file."""
    _publish(path, lambda file: file.write(content), len(content))


def _publish(path: Path, write: Callable[[Any], Any], size: int | None = None) -> Any:
    """Publish a file that a function writes; return the function's result. See `publish`."""
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, 0o666 & ~_umask())
            written = write(file)
            file.flush()
            os.fsync(handle)
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        much = "" if size is None else f" ({size:,} bytes)"
        raise CannotWrite(
            f"cannot write {path}{much}: {error.strerror};"
            " make room or make the folder writable and run again: what was published is kept"
        ) from None
    return written


def check_room(folder: Path, needed: int, what: str) -> None:
    """Raise Refused if the disk lacks room for the `needed` bytes of `what` in `folder`, less its present size."""
    there = folder
    while not there.exists():
        there = there.parent
    needed -= sum(file.stat().st_size for file in [*folder.glob("*.*"), *folder.glob("shards/*.parquet")])
    free = shutil.disk_usage(there).free
    if needed > free:
        raise Refused(
            f"{what} need about {needed / 2**20:,.0f} MiB of disk, {there} has {free / 2**20:,.0f} MiB free;"
            " make room, choose another folder with --results, or ask for fewer points"
        )


def clean(folder: Path) -> int:
    """Remove half-written files of dead runs, and return their number. Call under the folder's lock."""
    leftovers = [*folder.glob(f"{TEMPORARY}*"), *folder.glob(f"shards/{TEMPORARY}*")]
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)
    return len(leftovers)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str:
    """The `digest` of a file's content, which is not held in memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Sync a folder: only then does a rename reach the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# --- tables and their manifest -----------------------------------------------------------------


def publish_table(
    folder: Path,
    name: str,
    table: pa.Table | Streamed,
    metadata: dict[str, str] | None = None,
    *,
    config: str | None = None,
) -> None:
    """Publish <name>.parquet and its digest. Its metadata names the version of torusweep.

    Nothing in the file depends on when, where or in what order it was computed.

    table      whole, or streamed: a row group or two are in memory at a time
    metadata   further metadata
    config     digest of the configuration that requests it, as for `manifest_of`
    """
    about = {"table": name, "generator": f"torusweep {__version__}", **(metadata or {})}
    path = folder / f"{name}.parquet"
    rows = _publish(path, lambda file: write_parquet(file, table, about))
    _enter_table(folder, name, file_digest(path), rows, config)


def _enter_table(folder: Path, name: str, digest: str, rows: int, config: str | None = None) -> None:
    foot = footer_digest(folder / f"{name}.parquet")
    with provenance.wait_for(folder / provenance.MANIFEST):
        manifest = manifest_of(folder, config) if config or (folder / MANIFEST).exists() else {}
        manifest.setdefault("tables", {})[name] = {"sha256": digest, "footer_sha256": foot, "rows": rows}
        _write_manifest(folder, manifest)


def footer_digest(path: Path) -> str:
    """sha256 of the footer of a Parquet file, with the places and ranges of its values; '' for another file."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        length = int.from_bytes(file.read(4), "little") + 8
        if file.read(4) != b"PAR1" or length > size:
            return ""
        file.seek(size - length)
        return hashlib.sha256(f"{size} ".encode() + file.read()).hexdigest()


def publish_points(folder: Path, table: pa.Table, about: dict[str, Any], tables: Mapping[str, bool]) -> None:
    """Publish points.parquet and the manifest's entries on the sweep.

    about    the sweep's own entries: its name, configuration, software
    tables   name → whether the sweep requests the table. Others are removed, and tables not in the manifest; for
             another configuration or other files, all tables, and the mark of a finished run
    """
    content = parquet(table, {"table": "points"})
    begin_manifest(folder, about, tables)
    publish(folder / "points.parquet", content)
    _enter_table(folder, "points", digest(content), table.num_rows)


def begin_manifest(folder: Path, about: dict[str, Any], tables: Mapping[str, bool]) -> None:
    """Write the manifest's entries on the sweep. Entries of the requested tables stay, others are removed.

    For another configuration or other files, nothing stays: tables of two configurations are never listed together.
    """
    requested = [name for name, wanted in tables.items() if wanted]
    with provenance.wait_for(folder / provenance.MANIFEST):
        try:
            before = read_manifest(folder)
        except BadInput:  # missing or damaged: its tables are made again, from the shards
            before = {}
        if before.get("config", {}) != about.get("config", {}):
            before = {}
            for name in (CHECKED, "report.html"):
                (folder / name).unlink(missing_ok=True)
        kept_tables = {name: entry for name, entry in before.get("tables", {}).items() if name in requested}
        kept = {
            "tables": kept_tables,
            "stage": {name: code for name, code in before.get("stage", {}).items() if name in requested},
            "shards": [entry for entry in before.get("shards", []) if entry["stage"] in requested],
            "failed": [entry for entry in before.get("failed", []) if entry["stage"] in requested],
        }
        for name in tables.keys() - kept_tables.keys():
            (folder / f"{name}.parquet").unlink(missing_ok=True)
        _write_manifest(folder, kept | about)


def manifest_of(folder: Path, config: str | None) -> dict[str, Any]:
    """The manifest of a configuration, by digest. Raises BadInput if the folder has another configuration's."""
    manifest = read_manifest(folder)
    if config is not None and manifest.get("config", {}).get("sha256") != config:
        raise BadInput(
            f"{folder} has the points of another configuration than the one that is read; run the sweep again"
        )
    return manifest


def amend_manifest(
    folder: Path, stage: str, code: str, part: dict[str, list[dict[str, Any]]], *, config: str | None = None
) -> None:
    """Enter a stage's results: the digest of its code, and its shards and failures in place of earlier ones.

    config  digest of the configuration that requests it: as for `manifest_of`
    """
    with provenance.wait_for(folder / provenance.MANIFEST):
        manifest = manifest_of(folder, config)
        manifest["stage"] = {**manifest.get("stage", {}), stage: code}
        for name, mine in part.items():
            manifest[name] = [entry for entry in manifest.get(name, []) if entry["stage"] != stage] + mine
        _write_manifest(folder, manifest)


def read_points(folder: Path, schema: pa.Schema) -> pa.Table:
    """The table of points. It needs no manifest: its keys are digests of its rows, which readers check.

    Raises BadInput if it is missing, damaged or has another schema.
    """
    path = folder / "points.parquet"
    try:
        table = read_rows(path.read_bytes())
        if not table.schema.equals(schema):
            raise ValueError
    except (OSError, ValueError, pa.ArrowException):
        raise BadInput(f"{path} is missing or damaged: delete it and run the sweep again") from None
    return table


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a results folder, checked by its schema. Raises BadInput if it is missing or damaged."""
    path = folder / MANIFEST
    if not folder.is_dir():
        got = "no folder" if folder.exists() else "nothing of this name"
        raise BadInput(f"{folder}: expected a folder of results, got {got}; run the sweep first, or name another")
    try:
        return checked(path.read_bytes())
    except FileNotFoundError:
        if (folder / INDEX).exists() and (folder / VIEWS).exists():
            raise BadInput(
                f"{folder}: expected a folder of results, got a data set of lattices, which DuckDB reads:"
                f' cd {quote(str(folder))} && duckdb {VIEWS} "SELECT topology, mean_distance FROM screen LIMIT 5";'
                " 'torusweep best --results' answers from it, too"
            ) from None
        raise BadInput(
            f"{path} is missing: run the sweep; it is rebuilt from the shards, nothing is computed twice"
        ) from None
    except (ValueError, OSError):
        raise BadInput(
            f"{path} is damaged: delete it and run the sweep again;"
            " it is rebuilt from the shards, nothing is computed twice"
        ) from None


def open_table(path: Path, where: Mapping[str, int] | None = None) -> pa.Table:
    """A published table, checked against its manifest.

    where    column → whole numbers: only rows with these are read
    Raises BadInput with its name if it is missing or altered.
    """
    path = Path(path)
    if where and (foot := _foot(path)):
        try:
            with path.open("rb") as file:  # checksums of its pages are looked at as they are read
                if footer_digest(path) == foot:
                    return read_rows(file, checked=True, where=where)
        except (OSError, UnicodeDecodeError, pa.ArrowException):
            pass  # what is wrong is said of the whole file
        raise BadInput(f"{path} was altered: its digest is not its manifest's; delete it and run the sweep again")
    content = _whole(path, lambda: read_manifest(path.parent))
    with readable(path):
        return read_rows(content, where=where)


def _foot(path: Path) -> str:
    """The digest of a large table's footer in its manifest; '' for a small table, which is checked whole, or none."""
    if not path.is_file() or path.stat().st_size < LARGE:
        return ""
    return str(read_manifest(path.parent)["tables"].get(path.stem, {}).get("footer_sha256", ""))


def open_current(path: Path, schema: pa.Schema, where: Mapping[str, int] | None = None) -> pa.Table:
    """A published table with the columns of this version's schema.

    where    as for `open_table`
    Raises BadInput like `open_table`, and if another version wrote it, or columns have other types.
    """
    table = open_table(path, where)
    _expect_columns(path, table.schema, schema)
    return table


def open_file(path: Path, schema: pa.Schema) -> TableFile:
    """Open a table without reading all of it at once; a table of LARGE bytes stays in its file."""
    if path.is_file() and path.stat().st_size >= LARGE:
        _expect(path, file_digest(path), read_manifest(path.parent))
        content: bytes | Path = path
    else:
        content = _whole(path, lambda: read_manifest(path.parent))
    file = TableFile(content, path)
    _expect_columns(path, file.schema, schema)
    return file


def _expect_columns(path: Path, there: pa.Schema, schema: pa.Schema) -> None:
    """Raise BadInput if another version wrote a table, or columns have other types."""
    missing = [name for name in schema.names if name not in there.names]
    if missing:
        raise BadInput(
            f"{path} is of another version of torusweep: it has no column {missing[0]};"
            " run the sweep again ('torusweep run CONFIG')"
        )
    for field in schema:
        columns = [column for column in there if column.name == field.name]
        if len(columns) > 1 or not columns[0].type.equals(field.type):
            got = "two such columns" if len(columns) > 1 else columns[0].type
            raise BadInput(
                f"{path}: column {field.name}: expected {field.type}, got {str(got)[:60]};"
                " run the sweep again ('torusweep run CONFIG')"
            )


def check_tables(folder: Path) -> None:
    """Raise BadInput naming the first table of a finished run that is missing or altered."""
    manifest = read_manifest(folder)
    for name in manifest.get("tables", {}):
        path = folder / f"{name}.parquet"
        try:
            found = file_digest(path)
        except OSError as error:
            raise _unreadable(path, error) from None
        _expect(path, found, manifest)


def _whole(path: Path, manifest: Callable[[], dict[str, Any]]) -> bytes:
    """A table's file, after its digest was found equal to the manifest's."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None
    _expect(path, digest(content), manifest())
    return content


def read_table(path: Path) -> tuple[bytes, int]:
    """A published table's file, checked like in `open_table`, and its number of rows."""
    manifest = read_manifest(path.parent)
    return _whole(path, lambda: manifest), int(manifest["tables"][path.stem]["rows"])


def _expect(path: Path, found: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A table's entry in its manifest. Raises BadInput if it has none, or another digest."""
    entry = manifest.get("tables", {}).get(path.stem)
    if not isinstance(entry, dict):
        raise BadInput(f"{path} is not in its manifest: delete it and run the sweep again")
    if found != entry.get("sha256"):
        raise BadInput(f"{path} was altered: its digest is not its manifest's; delete it and run the sweep again")
    return entry


def _unreadable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"cannot read {path}: {error.strerror}; run the sweep first ('torusweep run CONFIG')")


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    publish(folder / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True).encode() + b"\n")
