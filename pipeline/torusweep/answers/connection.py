"""DuckDB connections that reach no network, extension or file other than the given tables and files.

The tables of one or several sweeps are checked and then read in place. The view `designs` has one row for each
network, with its best routing under uniform traffic and its layout with the shortest wires.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from torusweep.all_columns import DECLARED
from torusweep.errors import BadInput, one_line, printable
from torusweep.tables import store
from torusweep.tables.parquet import readable, stored_schema
from torusweep.tables.table import By, order, quoted

DEEPEST = 200  # expressions within each other: more could overflow the stack
_CLOSED: dict[str, Any] = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "max_expression_depth": str(DEEPEST),
}
OUT_OF_MEMORY = (duckdb.OutOfMemoryException, MemoryError)
STORAGE = "v1.2.0"  # of a DuckDB file: what versions of the last years read
VIEW = "designs"
SWEEP = "sweep"  # the column of several sweeps' tables that names a row's sweep
VIEWED = [table.name for table in DECLARED.values() if table.designs]  # whose columns the view has


def connect(memory_gib: float, files: Sequence[str] = ()) -> duckdb.DuckDBPyConnection:
    """Return a connection to an empty database in memory.

    memory_gib  limit on DuckDB's working memory, GiB
    files       paths of files that the connection may read
    """
    settings = {"memory_limit": f"{memory_gib:.3f}GiB", "threads": str(min(4, os.cpu_count() or 1))}
    connection = duckdb.connect(":memory:", config=_CLOSED | settings)
    if files:
        connection.execute(f"SET allowed_paths = [{', '.join(map(quoted, files))}]")
    connection.execute("SET enable_external_access = false")
    return connection


def write_views(path: Path, views: Iterable[str]) -> None:
    """Write a DuckDB file of views over files of its folder. Their paths are relative, so that the folder can move."""
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = {quoted(path.parent.resolve())}")
        connection.execute(f"ATTACH {quoted(path)} AS views (STORAGE_VERSION {quoted(STORAGE)})")
        connection.execute("USE views")
        for sql in views:
            connection.execute(sql)


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Lock the settings of a connection, so that no query can change them."""
    connection.execute("SET lock_configuration = true")


def relation(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> duckdb.DuckDBPyRelation:
    """Return a table as a lazy relation of a connection, to be joined with other relations of the same connection."""
    return connection.from_arrow(table)


Folders = Path | str | Sequence[Path | str]  # of a sweep, or of several


def folders_of(results: Folders) -> list[Path]:
    listed = [results] if isinstance(results, Path | str) or not isinstance(results, Iterable) else list(results)
    for one in listed:
        if not isinstance(one, Path | str):
            raise BadInput(f"expected a folder of results, or a list of several, got {one_line(repr(one), 60)}")
    return [Path(one) for one in listed]


class SealedFile:
    """A file in memory whose content can no longer be changed. It is closed when the last reference to it goes."""

    def __init__(self, content: bytes) -> None:
        self._handle = os.memfd_create("table", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        with open(self._handle, "wb", closefd=False) as file:
            file.write(content)
        fcntl.fcntl(self._handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)

    @property
    def path(self) -> str:
        """The path at which this process can open the file."""
        return f"/proc/self/fd/{self._handle}"

    def __del__(self) -> None:
        os.close(self._handle)


class Stored(NamedTuple):
    """A table of one or several sweeps, in files of exactly the bytes that were checked; these can no longer change.

    parts    sweep's name → the table's files; the name is '' for a single sweep
    columns  columns of each file; without the column `sweep`
    """

    parts: dict[str, list[SealedFile]]
    columns: list[str]
    rows: int

    @property
    def sql(self) -> str:
        """SQL query that selects all rows of the table."""
        return " UNION ALL ".join(
            f"SELECT {f'{quoted(name)} AS {SWEEP}, ' if name else ''}* FROM"
            f" read_parquet([{', '.join(quoted(file.path) for file in files)}])"
            for name, files in self.parts.items()
        )


def sweep_names(folders: Sequence[Path]) -> list[str]:
    """Return each sweep's name in the column `sweep`: its folder's name, or the whole path if two names are equal.

    A single sweep has the name '', because its tables have no column `sweep`. Raises BadInput for a folder given twice.
    """
    if len(folders) == 1:
        return [""]
    repeated = next((one for one in folders if sum(one.resolve() == other.resolve() for other in folders) > 1), None)
    if repeated is not None:
        raise BadInput(f"{printable(repeated)}: expected different folders, got this one twice; give it once")
    names = [folder.resolve().name for folder in folders]
    return [name if names.count(name) == 1 else str(folder) for name, folder in zip(names, folders)]


def stored_table(parts: dict[str, Path]) -> Stored:
    """Check and load one table of the given sweeps. Raises BadInput if a file was altered, or if columns differ."""
    contents = {name: store.read_table(path) for name, path in parts.items()}
    schemas: dict[str, pa.Schema] = {}
    for name, (files, _) in contents.items():
        with readable(parts[name]):
            schemas[name] = stored_schema(files[0])
    first, *others = parts
    schema = schemas[first]
    for other in others:
        if not schemas[other].equals(schema):
            differing = sorted(
                {(field.name, str(field.type)) for field in schema}
                ^ {(field.name, str(field.type)) for field in schemas[other]}
            )
            both = f"{printable(parts[first])} and {printable(parts[other])}"
            raise BadInput(
                f"{both} are of different versions of torusweep: column"
                f" {differing[0][0] if differing else schema.names[0]} differs; run the older sweep again"
            )
    sealed = {name: [*map(SealedFile, files)] for name, (files, _) in contents.items()}
    return Stored(sealed, schema.names, sum(rows for _, rows in contents.values()))


def column_names(table: pa.Table | Stored) -> list[str]:
    """Return the names of a table's columns."""
    if isinstance(table, Stored):
        return [*([] if "" in table.parts else [SWEEP]), *table.columns]
    return table.column_names


def view(present: Mapping[str, Sequence[str]]) -> str:
    """Return SQL that creates the view `designs`: one row for each network of each sweep.

    present  table of VIEWED → the columns that it has
    """
    keys = [key for key in (SWEEP, "topology") if all(key in columns for columns in present.values())]
    selected = list(keys)
    taken = set(keys)
    joins = ""
    for table in VIEWED:
        known = set(present[table])
        first = order([*map(By, keys), *(term for term in DECLARED[table].usual_first if term.column in known)])
        rows = f'(SELECT DISTINCT ON ({", ".join(keys)}) * FROM "{table}" ORDER BY {first}) AS "{table}"'
        joins += f" LEFT JOIN {rows} USING ({', '.join(keys)})" if joins else rows
        for column in present[table]:
            if column not in keys:
                name = f"{table}_{column}" if column in taken else column
                selected.append(f'"{table}"."{column}" AS "{name}"')
                taken.add(name)
    return f'CREATE VIEW "{VIEW}" AS SELECT {", ".join(selected)} FROM {joins}'
