"""The results of a sweep, read from its folder."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torusweep.answers.compare import compare
from torusweep.answers.connection import VIEW, sweep_names
from torusweep.answers.joined import view_columns
from torusweep.answers.query import MOST_ROWS, TIME_LIMIT, query
from torusweep.errors import BadInput, nearest, printable
from torusweep.library.table import Table, open_connection
from torusweep.quantities import counted
from torusweep.questions.display import Fact, html_of, text_of
from torusweep.tables import store

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, repr=False)
class Results:
    """The tables of a sweep. Each file is held to the digest in the manifest when it is read.

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

    folder  of the sweep, as in results/default
    others  folders of other sweeps that are asked together with it: each table is that of all, with a column `sweep`
    Raises BadInput where a folder has no results, or a damaged manifest.
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
                raise BadInput(
                    f"{printable(folder)}: expected a sweep's results, got no table; run 'torusweep run CONFIG' first"
                )
        sweep_names(self.folders)

    @property
    def folders(self) -> list[Path]:
        """Of this sweep and of the others."""
        return [self.folder, *self.others]

    @property
    def manifest(self) -> dict[str, Any]:
        """What manifest.json says: the configuration, the software, the tables' digests, failed points, shards.

        That of the first of several sweeps.
        """
        return store.read_manifest(self.folder)

    @property
    def tables(self) -> list[str]:
        """The names of the tables that are there, and the view `designs`: a row for each network."""
        return sorted({VIEW, *(name for folder in self.folders for name in store.read_manifest(folder)["tables"])})

    @property
    def complete(self) -> bool:
        """Whether the sweeps were made to their end."""
        return all(map(store.is_complete, self.folders))

    def __getitem__(self, name: str) -> Table:
        """A table by its name. Raises BadInput for an unknown one, and for a file that is missing or was altered."""
        tables = self.tables
        if name not in tables:
            unfinished = "" if self.complete else "; the sweep is not finished: run it again ('torusweep run CONFIG')"
            raise BadInput(
                f"{self._shown()}: unknown table '{printable(name)}'{nearest(str(name), tables)};"
                f" it has {', '.join(tables)}{unfinished}"
            )
        if name == VIEW:
            meanings = {column.name: (column.unit, column.meaning) for column in view_columns()}
            return self._table(VIEW, query(f"SELECT * FROM {VIEW}", self.folders), meanings)
        if self.others:
            whole = query(f'SELECT * FROM "{name}"', self.folders, max_rows=max(1, self._counts()[name]))
            return self._table(name, whole)
        return self._table(name, store.open_table(self.folder / f"{name}.parquet"))

    def __getattr__(self, name: str) -> Table:
        """A table as an attribute: `results.static`."""
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
        """The answer to one SELECT over the tables, as of `torusweep query`, with its limits of time and memory.

        time_limit  in seconds
        Raises BadInput for a query that cannot be answered, and Refused for one that takes more than the limits: RunsOn
        where its work heeds no interrupt (that of levenshtein on long texts), and so goes on beside you.
        """
        return self._table("query", query(sql, self.folders, time_limit=time_limit, max_rows=max_rows))

    def compare(self, other: Results, *, tables: Sequence[str] = (), tolerance: float = 0.0) -> Table:
        """Where these results and others differ: a row for each table and column that does, as `torusweep compare`.

        tables     those that are compared; () for all
        tolerance  numbers that differ by at most this share of the larger one are equal
        Raises BadInput for an unknown table, for one that was altered, and for results of several sweeps.
        """
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
        """The rows of each table."""
        found = Counter[str]()
        for folder in self.folders:
            found.update({name: entry["rows"] for name, entry in store.read_manifest(folder)["tables"].items()})
        return found

    def _rows(self) -> list[Fact]:
        rows = self._counts()
        return [
            (name, counted(rows[name], "row") if name in rows else "a row for each network", "") for name in self.tables
        ]

    def _table(self, name: str, rows: Any, meanings: dict[str, tuple[str, str]] | None = None) -> Table:
        return Table(name, rows, self._connection, meanings or {})

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        """One for all tables: their relations can be joined."""
        return open_connection()
