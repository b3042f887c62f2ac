"""Read the results of a sweep from its folder, as tables that print themselves and convert to other libraries."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from torusweep.answers import connection as connections
from torusweep.answers import table_text
from torusweep.answers.compare import compare
from torusweep.answers.connection import VIEW, sweep_names
from torusweep.answers.joined import view_table
from torusweep.answers.query import MEMORY_GIB, MOST_ROWS, TIME_LIMIT, no_results, query
from torusweep.errors import BadInput, nearest, printable
from torusweep.quantities import counted
from torusweep.questions.display import Fact, aligned, html_of, rows_html, text_of
from torusweep.stages import MODULES
from torusweep.tables import current, store
from torusweep.tables.columns import Column

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars

SHOWN_ROWS = 8
SHOWN_WIDTH = 110  # characters of a line
SHOWN_COLUMNS = 40  # in a notebook, where a table scrolls
LONGEST_CELL = 32  # characters


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """A table of results: its rows, read and checked.

    >>> import torusweep as ts
    >>> static = ts.results("results/small")["static"]
    >>> len(static), static.columns[:3]
    (2, ['topology', 'family', 'parameters'])
    >>> static.arrow().column("nodes").to_pylist()
    [9, 16]
    >>> static.duckdb().filter("nodes > 10").aggregate("max(diameter)").fetchall()
    [(4,)]

    name  name of the table, or "query"
    """

    name: str
    _rows: pa.Table
    _connection: Any = None
    _meanings: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    _shown: int = SHOWN_ROWS

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle: the meanings as a dict, and no connection, since it is opened again."""
        return vars(self) | {"_connection": None, "_meanings": dict(self._meanings)}

    def arrow(self) -> pa.Table:
        """Return the rows as a pyarrow table. Each field's metadata have the column's unit and meaning."""
        return self._rows

    def pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas data frame, maps as dicts. Raises BadInput if pandas is not installed."""
        _library("pandas")
        return self._rows.to_pandas(maps_as_pydicts="strict")

    def polars(self) -> polars.DataFrame:
        """Return the rows as a Polars data frame. Raises BadInput if Polars is not installed."""
        frame: polars.DataFrame = _library("polars").from_arrow(self._rows)
        return frame

    def duckdb(self) -> duckdb.DuckDBPyRelation:
        """Return the rows as a lazy relation of DuckDB, which can be joined with the other tables of these results.

        Its connection, like that of `torusweep query`, reads no files and loads no extensions.
        """
        if self._connection is None:
            object.__setattr__(self, "_connection", open_connection())
        return connections.relation(self._connection, self._rows)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._rows.column_names)

    def describe(self) -> Table:
        """Return a row for each column: its name, type, unit and meaning."""
        return Table(
            f"columns of {self.name}",
            pa.table(
                {
                    "column": pa.array(self.columns, pa.string()),
                    "type": pa.array([str(column.type) for column in self._rows.schema], pa.string()),
                    "unit": pa.array([self._meaning(column)[0] for column in self._rows.schema], pa.string()),
                    "meaning": pa.array([self._meaning(column)[1] for column in self._rows.schema], pa.string()),
                }
            ),
            _shown=len(self.columns),
        )

    def __len__(self) -> int:
        return int(self._rows.num_rows)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows by Arrow's C stream interface, for `polars.DataFrame(table)` and `pyarrow.table(table)`."""
        return self._rows.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        names, *rows = table_text.cells(self._rows.slice(0, self._shown))
        most = SHOWN_WIDTH // min(len(names), SHOWN_WIDTH // LONGEST_CELL)
        texts = [[_cut(cell, most) for cell in column] for column in zip(names, *rows)]
        ends = [*accumulate(2 + max(map(len, column)) for column in texts)]
        shown = max(1, sum(end <= SHOWN_WIDTH for end in ends))
        return "\n".join([self._size(len(rows), shown), "", *aligned([*zip(*texts[:shown])], "<")])

    def _repr_html_(self) -> str:
        """Return the first rows as HTML, for a notebook. A column's title shows its meaning and unit."""
        names, *rows = table_text.cells(self._rows.slice(0, self._shown).select(self.columns[:SHOWN_COLUMNS]))
        columns = [Column(name, "", *self._meaning(column)) for name, column in zip(names, self._rows.schema)]
        shown = [dict(zip(names, row)) for row in rows]
        return rows_html(self._size(len(rows), len(names)), shown, names, columns, self._shown)

    def _size(self, rows: int, columns: int) -> str:
        """Return the size of the table in words, and how many rows and columns are shown."""
        sizes = []
        for shown, every, noun in ((rows, len(self), "row"), (columns, len(self.columns), "column")):
            sizes.append(counted(every, noun) if shown == every else f"{shown} of {counted(every, noun)}")
        return f"{self.name}: {', '.join(sizes)}"

    def _meaning(self, column: pa.Field[Any]) -> tuple[str, str]:
        """Return a column's unit and meaning, each "" if unknown."""
        about = column.metadata
        if not about:
            return self._meanings.get(column.name, ("", ""))
        return about.get(b"unit", b"").decode(), about.get(b"meaning", b"").decode()


def open_connection() -> duckdb.DuckDBPyConnection:
    """Return a DuckDB connection that reads the tables given to it, and nothing else."""
    connection = connections.connect(MEMORY_GIB)
    connections.lock(connection)
    return connection


def _library(name: str) -> Any:
    """Import a data-frame library. Raises BadInput if it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise BadInput(f"expected {name}, which is not installed here; pip install {name}") from None


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


@dataclass(frozen=True, repr=False)
class Results:
    """The tables of a sweep. Each file's digest is compared with the manifest when the file is read.

    >>> import torusweep as ts
    >>> results = ts.results("results/small")
    >>> results.tables
    ['designs', 'distances', 'loads', 'points', 'static', 'verification']
    >>> results.static.columns[0]  # or results["static"]
    'topology'
    >>> results.query("SELECT nodes, diameter FROM static ORDER BY nodes").arrow().to_pylist()
    [{'nodes': 9, 'diameter': 2}, {'nodes': 16, 'diameter': 4}]
    >>> results["statc"]
    Traceback (most recent call last):
    torusweep.errors.BadInput: results/small: unknown table 'statc' (did you mean 'static'?); it has designs, \
distances, loads, points, static, verification

    folder  folder of the sweep, as in results/default
    others  folders of other sweeps that are read together with it: each table has all rows, and a column `sweep`
    Raises BadInput if a folder has no results, or a damaged manifest.
    """

    folder: Path
    others: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))
        object.__setattr__(self, "others", tuple(map(Path, self.others)))
        for folder in self.folders:
            sweeps = sorted(path.parent.name for path in folder.glob(f"*/{store.MANIFEST}"))
            if sweeps and not (folder / store.MANIFEST).exists():
                shown = printable(folder)
                raise BadInput(
                    f"{shown}: expected the folder of one sweep, got one that holds {', '.join(sweeps[:5])};"
                    f" write {os.path.join(shown, sweeps[0])}"
                )
            if not store.read_manifest(folder)["tables"]:
                raise no_results(folder)
        sweep_names(self.folders)

    @property
    def folders(self) -> list[Path]:
        """The folders of the sweep and of other sweeps read with it."""
        return [self.folder, *self.others]

    @property
    def manifest(self) -> dict[str, Any]:
        """The contents of manifest.json: configuration, software, the tables' digests, failed points, shards.

        If several sweeps are read together, this is the manifest of the first.
        """
        return store.read_manifest(self.folder)

    @property
    def tables(self) -> list[str]:
        """The names of the existing tables, and of the view `designs`, which has a row for each network."""
        return sorted({VIEW, *(name for folder in self.folders for name in store.read_manifest(folder)["tables"])})

    @property
    def complete(self) -> bool:
        """Whether all sweeps that are read have been computed completely."""
        return all(map(current.is_complete, self.folders))

    def __getitem__(self, name: str) -> Table:
        """Return a table by its name. Raises BadInput if the name is unknown, or the file is missing or was altered."""
        tables = self.tables
        if name not in tables:
            unfinished = "" if self.complete else "; the sweep is not finished: run it again ('torusweep run CONFIG')"
            raise BadInput(
                f"{self._shown()}: unknown table '{printable(name)}'{nearest(str(name), tables)};"
                f" it has {', '.join(tables)}{unfinished}"
            )
        if name == VIEW:
            meanings = {column.name: (column.unit, column.meaning) for column in view_table().columns}
            return self._table(VIEW, query(f"SELECT * FROM {VIEW}", self.folders), meanings)
        if self.others:
            whole = query(f'SELECT * FROM "{name}"', self.folders, max_rows=max(1, self._counts()[name]))
            return self._table(name, whole)
        return self._table(name, store.open_table(self.folder / f"{name}.parquet"))

    def __getattr__(self, name: str) -> Table:
        """Return a table as an attribute: `results.static`."""
        if not name.startswith("_"):
            if name in self.tables:
                return self[name]
            known = ", ".join(self.tables)
            raise AttributeError(f"results have no '{printable(name)}'{nearest(name, dir(self))}; tables: {known}")
        raise AttributeError(name)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self.tables])

    def __contains__(self, name: object) -> bool:
        return name in self.tables

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def query(self, sql: str, *, time_limit: float = TIME_LIMIT, max_rows: int = MOST_ROWS) -> Table:
        """Return the answer to one SELECT over the tables, with the limits of `torusweep query` on time and memory.

        time_limit  seconds
        Raises BadInput if the query cannot be answered; Refused if it exceeds a limit; RunsOn if it then ignores the
        interrupt and keeps running, as levenshtein does on long texts.
        """
        return self._table("query", query(sql, self.folders, time_limit=time_limit, max_rows=max_rows))

    def compare(self, other: Results | str | Path, *, tables: Sequence[str] = (), tolerance: float = 0.0) -> Table:
        """Return the differences from other results: a row for each table and column that differs.

        other      results, or the folder of results
        tables     names of the tables to compare; () for all
        tolerance  numbers are equal if they differ by at most this share of the larger one
        Raises BadInput for an unknown table, an altered table, and results of several sweeps.
        """
        if not isinstance(other, Results):
            other = Results(Path(other))
        if self.others or other.others:
            raise BadInput("expected two results of one sweep each, got several together; compare them two by two")
        found = compare(self.folder, other.folder, tables=tables, tolerance=tolerance)
        return self._table("differences", found)

    def __repr__(self) -> str:
        return text_of(self._title(), self._rows())

    def _repr_html_(self) -> str:
        return html_of(self._title(), self._rows())

    def _title(self) -> str:
        state = "" if self.complete else " (not finished; run the sweep again)"
        return f"{self._shown()}: {counted(len(self), 'table')}{state}"

    def _shown(self) -> str:
        return " and ".join(map(printable, self.folders))

    def _counts(self) -> Counter[str]:
        """Return the number of rows of each table."""
        found = Counter[str]()
        for folder in self.folders:
            found.update({name: entry["rows"] for name, entry in store.read_manifest(folder)["tables"].items()})
        return found

    def _rows(self) -> list[Fact]:
        rows = self._counts()
        notes = [
            ("note", note, "")
            for folder in self.folders
            for note in current.notes_of(store.read_manifest(folder), MODULES)
        ]
        counts = ((name, counted(rows[name], "row") if name in rows else "a row for each network") for name in self)
        return [*((name, count, "") for name, count in counts), *notes]

    def _table(self, name: str, rows: Any, meanings: dict[str, tuple[str, str]] | None = None) -> Table:
        return Table(name, rows, self._connection, meanings or {})

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        """The DuckDB connection that all tables share, so that their relations can be joined."""
        return open_connection()
