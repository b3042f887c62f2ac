"""Publish the files of a results folder atomically, and verify them by their digests.

    results/<sweep>/
      points.parquet                 the points that the sweep requests
      shards/<sha256>.parquet        rows of finished points; a shard's name is the digest of its content
      parts/<stage>/<i>-of-<n>.json  result of a part of a stage, until all parts have ended (on a cluster)
      logs/, benchmarks/             messages and times of each step
      static.parquet, …              the table of each stage, and the tables derived from them
      static.parquet/000000.parquet, …  instead, a stage's table in a sweep that may have more than FILE_ROWS networks
      manifest.json                  digest of every table, origin of every shard

A file is written under a temporary name, synced and renamed. Therefore a file with its final name is complete,
even if the run was killed. A shard whose content does not match its name is computed again. A table whose content
does not match the manifest is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any

import pyarrow as pa

from torusweep.errors import BadInput, Refused, printable
from torusweep.tables import provenance
from torusweep.tables.files import FILE_ROWS, files_of, footer_digest, in_files, remove, table_digest
from torusweep.tables.manifest import checked
from torusweep.tables.parquet import Streamed, TableFile, parquet, read_rows, readable, write_parquet
from torusweep.version import __version__

MANIFEST = "manifest.json"
CHECKED = "checked.txt"  # the last file that a run writes
INDEX, VIEWS = "files.json", "lattices.duckdb"  # files of a data set of lattices
LARGE = 1 << 26  # bytes; some rows of a larger table are read without computing the digest of the whole file
LOCK = ".lock"  # lock file of the process that computes points
TEMPORARY = ".writing-"


class CannotWrite(BadInput):
    """An error: a file cannot be written, on a full disk or in a protected folder. Earlier files are not harmed."""


# --- files -------------------------------------------------------------------------------------


def publish(path: Path, content: bytes) -> None:
    """Write a file atomically and durably. Raises CannotWrite, and then leaves no partial file."""
    _publish(path, lambda file: file.write(content), len(content))


def _publish(path: Path, write: Callable[[Any], Any], size: int | None = None) -> Any:
    """Publish a file like `publish`, with content that the function `write` writes. Returns the function's result."""
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
    """Raise Refused if the disk lacks room for `what`, which takes `needed` bytes less what the folder has already."""
    there = folder
    while not there.exists():
        there = there.parent
    needed -= sum(file.stat().st_size for file in [*folder.glob("*.*"), *folder.glob("*/*.parquet")])
    free = shutil.disk_usage(there).free
    if needed > free:
        raise Refused(
            f"{what} need about {needed / 2**20:,.0f} MiB of disk, {there} has {free / 2**20:,.0f} MiB free;"
            " make room, choose another folder with --results, or ask for fewer points"
        )


def clean(folder: Path) -> int:
    """Remove incomplete files of runs that died, and return how many. The caller must hold the folder's lock."""
    leftovers = [*folder.glob(f"{TEMPORARY}*"), *folder.glob(f"shards/{TEMPORARY}*")]
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)
    return len(leftovers)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str:
    """Return the `digest` of a file's content, without reading all of it into memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Sync a folder to the disk, which makes a rename in it durable."""
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
    most: int = 0,
) -> None:
    """Publish <name>.parquet, and enter the digests of its files into the manifest.

    The file has the version of torusweep, but nothing that depends on when, where or in which order it was computed.

    table      table, or streamed parts, of which only one or two row groups are in memory at a time
    metadata   further metadata of the file
    config     digest of the configuration that requests the table, as for `manifest_of`
    most       networks that the sweep may have. With more than FILE_ROWS the table is a folder of files of FILE_ROWS
               rows; the last has fewer
    """
    about = {"table": name, "generator": f"torusweep {__version__}", **(metadata or {})}
    path = folder / f"{name}.parquet"
    parts: Iterable[pa.Table | Streamed] = [table]
    files: Iterable[Path] = [path]
    if most > FILE_ROWS:
        remove(path)
        parts, files = in_files(table), (path / f"{number:06}.parquet" for number in count())
    rows = sum(_publish(file, partial(write_parquet, table=part, metadata=about)) for part, file in zip(parts, files))
    _enter_table(folder, name, rows, config)


def _enter_table(folder: Path, name: str, rows: int, config: str | None = None) -> None:
    path = folder / f"{name}.parquet"
    entry = {"sha256": table_digest(digests := _digests(path)), "footer_sha256": footer_digest(path), "rows": rows}
    entry |= {"files": digests} if path.is_dir() else {}
    with provenance.wait_for(folder / provenance.MANIFEST):
        manifest = manifest_of(folder, config) if config or (folder / MANIFEST).exists() else {}
        manifest.setdefault("tables", {})[name] = entry
        _write_manifest(folder, manifest)


def publish_points(folder: Path, table: pa.Table, about: dict[str, Any], tables: Mapping[str, bool]) -> None:
    """Publish points.parquet, and the manifest's entries on the sweep (`begin_manifest`).

    about    entries on the sweep: its name, configuration and software
    tables   name of each table → whether the sweep requests it
    """
    content = parquet(table, {"table": "points"})
    begin_manifest(folder, about, tables)
    publish(folder / "points.parquet", content)
    _enter_table(folder, "points", table.num_rows)


def begin_manifest(folder: Path, about: dict[str, Any], tables: Mapping[str, bool]) -> None:
    """Write the manifest's entries on the sweep. Requested tables are kept; others, and their entries, are removed.

    If the configuration or a file that it names has changed, all tables and the mark of a finished run are removed:
    tables of two configurations are never listed together.
    """
    requested = [name for name, wanted in tables.items() if wanted]
    with provenance.wait_for(folder / provenance.MANIFEST):
        try:
            before = read_manifest(folder)
        except BadInput:  # missing or damaged: all tables are made again from the shards
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
            remove(folder / f"{name}.parquet")
        _write_manifest(folder, kept | about)


def manifest_of(folder: Path, config: str | None) -> dict[str, Any]:
    """Return a folder's manifest. Raises BadInput unless its configuration has the digest `config`; None allows any."""
    manifest = read_manifest(folder)
    if config is not None and manifest.get("config", {}).get("sha256") != config:
        raise BadInput(
            f"{folder} has the points of another configuration than the one that is read; run the sweep again"
        )
    return manifest


def amend_manifest(
    folder: Path, stage: str, code: str, part: dict[str, list[dict[str, Any]]], *, config: str | None = None
) -> None:
    """Enter the results of a stage into the manifest, in place of the stage's earlier entries.

    code, part   digest of the stage's code, and lists of its shards and failures
    config       digest of the configuration that requests the stage, as for `manifest_of`
    """
    with provenance.wait_for(folder / provenance.MANIFEST):
        manifest = manifest_of(folder, config)
        manifest["stage"] = {**manifest.get("stage", {}), stage: code}
        for name, mine in part.items():
            manifest[name] = [entry for entry in manifest.get(name, []) if entry["stage"] != stage] + mine
        _write_manifest(folder, manifest)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read and validate the manifest of a results folder. Raises BadInput if it is missing or damaged."""
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
    """Read a published table, verified by the digest in its manifest.

    where    column → whole number, to read only rows with this number; None for all rows
    Raises BadInput with the file's name if it is missing or was altered.
    """
    path = Path(path)
    if where and (foot := _foot(path)):
        try:
            if footer_digest(path) == foot:  # checksums of pages are verified while they are read
                return pa.concat_tables(read_rows(file, checked=True, where=where) for file in files_of(path))
        except (OSError, UnicodeDecodeError, pa.ArrowException):
            pass  # the error below names the file
        raise BadInput(f"{path} was altered: its digest is not its manifest's; delete it and run the sweep again")
    contents = _whole(path, lambda: read_manifest(path.parent))
    with readable(path):
        rows = pa.concat_tables(read_rows(content, where=where) for content in contents)
    _expect_columns(path, rows.schema)
    return rows


def _foot(path: Path) -> str:
    """Return the digest of a large table's footer, from the manifest; '' for a small table, or without a digest."""
    if not _is_large(path):
        return ""
    return str(read_manifest(path.parent)["tables"].get(path.stem, {}).get("footer_sha256", ""))


def _is_large(path: Path) -> bool:
    """Whether a table takes at least LARGE bytes; False if it is missing."""
    return path.exists() and sum(file.stat().st_size for file in files_of(path)) >= LARGE


def open_current(path: Path, schema: pa.Schema, where: Mapping[str, int] | None = None) -> pa.Table:
    """Read a published table that must have the columns of this version's schema.

    where    as for `open_table`
    Raises BadInput where `open_table` does, and if a column is missing or has another type.
    """
    table = open_table(path, where)
    _expect_columns(path, table.schema, schema)
    return table


def open_file(path: Path, schema: pa.Schema) -> TableFile:
    """Open a published table, whose rows are read when they are needed. A LARGE table's bytes stay in its file."""
    if _is_large(path):
        _expect(path, _digests(path), read_manifest(path.parent))
        contents: Sequence[bytes | Path] = files_of(path)
    else:
        contents = _whole(path, lambda: read_manifest(path.parent))
    file = TableFile(contents, path)
    _expect_columns(path, file.schema, schema)
    return file


def _expect_columns(path: Path, there: pa.Schema, schema: pa.Schema | None = None) -> None:
    """Raise BadInput if two columns of a table have one name, or if it lacks the schema's columns and types."""
    again = "run the sweep again ('torusweep run CONFIG')"
    names = set(there.names)
    if len(names) < len(there.names):
        twice = next(name for name in there.names if there.names.count(name) > 1)
        raise BadInput(f"{path}: column {printable(twice)[:60]}: expected one, got two such columns; {again}")
    for field in schema or ():
        if field.name not in names:
            raise BadInput(f"{path} is of another version of torusweep: it has no column {field.name}; {again}")
        if not there.field(field.name).type.equals(field.type):
            got = str(there.field(field.name).type)[:60]
            raise BadInput(f"{path}: column {field.name}: expected {field.type}, got {got}; {again}")


def check_tables(folder: Path) -> None:
    """Raise BadInput for the first table of a finished run that is missing or was altered."""
    manifest = read_manifest(folder)
    for name in manifest.get("tables", {}):
        path = folder / f"{name}.parquet"
        try:
            found = _digests(path)
        except OSError as error:
            raise _unreadable(path, error) from None
        _expect(path, found, manifest)


def _digests(path: Path) -> list[str]:
    return [file_digest(file) for file in files_of(path)]


def _whole(path: Path, manifest: Callable[[], dict[str, Any]]) -> list[bytes]:
    """Read a table's files. Raises BadInput unless their digests are those in the manifest."""
    try:
        contents = [file.read_bytes() for file in files_of(path)]
    except OSError as error:
        raise _unreadable(path, error) from None
    _expect(path, [*map(digest, contents)], manifest())
    return contents


def read_table(path: Path) -> tuple[list[bytes], int]:
    """Return (bytes of each of a published table's files, number of rows). Raises BadInput where `open_table` does."""
    manifest = read_manifest(path.parent)
    return _whole(path, lambda: manifest), int(manifest["tables"][path.stem]["rows"])


def _expect(path: Path, found: Sequence[str], manifest: Mapping[str, Any]) -> None:
    """Raise BadInput unless a table has an entry in its manifest, with the digests found in its files."""
    entry = manifest.get("tables", {}).get(path.stem)
    if not isinstance(entry, dict):
        raise BadInput(f"{path} is not in its manifest: delete it and run the sweep again")
    if table_digest(found) != entry.get("sha256"):
        listed = entry.get("files", found)
        wrong = next((file for file, one in zip(files_of(path), found) if one not in listed), path)
        it = "it" if wrong == path else path
        raise BadInput(f"{wrong} was altered: its digest is not its manifest's; delete {it} and run the sweep again")


def _unreadable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"cannot read {path}: {error.strerror}; run the sweep first ('torusweep run CONFIG')")


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    publish(folder / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True).encode() + b"\n")
