"""DuckDB without network, extensions and files: it reads the tables and files that it is given, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

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


def connect(memory_gib: float, files: Sequence[Path] = ()) -> duckdb.DuckDBPyConnection:
    """A connection to an empty database in memory.

    memory_gib  what its work may take
    files       that it may read, besides the tables that it is given
    """
    settings = {"memory_limit": f"{memory_gib:.3f}GiB", "threads": str(min(4, os.cpu_count() or 1))}
    connection = duckdb.connect(":memory:", config=_CLOSED | settings)
    if files:
        connection.execute(f"SET allowed_paths = [{', '.join(map(quoted, files))}]")
    connection.execute("SET enable_external_access = false")
    return connection


def quoted(text: object) -> str:
    """A text in SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the settings of a connection final."""
    connection.execute("SET lock_configuration = true")


def relation(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> duckdb.DuckDBPyRelation:
    """A table as a relation of a connection: lazy, and to be joined with others of the same connection."""
    return connection.from_arrow(table)
