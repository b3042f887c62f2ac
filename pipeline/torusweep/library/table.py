"""A table of results: as Arrow, pandas, Polars or DuckDB, and as people and notebooks see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from torusweep.answers import connection as connections
from torusweep.answers import table_text
from torusweep.errors import BadInput
from torusweep.quantities import counted
from torusweep.questions.display import aligned, rows_html
from torusweep.tables.columns import Column

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars

MEMORY_GIB = 2.0  # for the work of DuckDB, as of `torusweep query`
SHOWN_ROWS = 8
SHOWN_WIDTH = 110  # characters of a line
SHOWN_COLUMNS = 40  # in a notebook, where a table scrolls
LONGEST_CELL = 32  # characters


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """Rows of results, read and checked.

    >>> import torusweep as ts
    >>> static = ts.results("results/small")["static"]
    >>> len(static), static.columns[:3]
    (2, ['topology', 'family', 'parameters'])
    >>> static.arrow().column("nodes").to_pylist()
    [9, 16]
    >>> static.duckdb().filter("nodes > 10").aggregate("max(diameter)").fetchall()
    [(4,)]

    name  of the table, or "query"
    """

    name: str
    _rows: pa.Table
    _connection: Any = None
    _meanings: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    _shown: int = SHOWN_ROWS

    def arrow(self) -> pa.Table:
        """The rows as a pyarrow table. Its fields' metadata have each column's unit and meaning."""
        return self._rows

    def pandas(self) -> pandas.DataFrame:
        """The rows as a pandas data frame; maps are dicts. Raises BadInput where pandas is not installed."""
        _library("pandas")
        return self._rows.to_pandas(maps_as_pydicts="strict")

    def polars(self) -> polars.DataFrame:
        """The rows as a Polars data frame. Raises BadInput where Polars is not installed."""
        frame: polars.DataFrame = _library("polars").from_arrow(self._rows)
        return frame

    def duckdb(self) -> duckdb.DuckDBPyRelation:
        """The rows as a relation of DuckDB: lazy, and to be joined with the other tables of these results.

        Its connection reads no files and loads no extensions, as that of `torusweep query`.
        """
        if self._connection is None:
            object.__setattr__(self, "_connection", open_connection())
        return connections.relation(self._connection, self._rows)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._rows.column_names)

    def describe(self) -> Table:
        """A row for each column: its name, type, unit and meaning."""
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
        """Arrow's interface between libraries: `polars.DataFrame(table)` and `pyarrow.table(table)` take a table."""
        return self._rows.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        names, *rows = table_text.cells(self._rows.slice(0, self._shown))
        most = SHOWN_WIDTH // min(len(names), SHOWN_WIDTH // LONGEST_CELL)
        texts = [[_cut(cell, most) for cell in column] for column in zip(names, *rows)]
        ends = [*accumulate(2 + max(map(len, column)) for column in texts)]
        shown = max(1, sum(end <= SHOWN_WIDTH for end in ends))
        return "\n".join([self._size(len(rows), shown), "", *aligned([*zip(*texts[:shown])], "<")])

    def _repr_html_(self) -> str:
        """The first rows, in a notebook. A column's title says its meaning and unit."""
        names, *rows = table_text.cells(self._rows.slice(0, self._shown).select(self.columns[:SHOWN_COLUMNS]))
        columns = [Column(name, "", *self._meaning(column)) for name, column in zip(names, self._rows.schema)]
        shown = [dict(zip(names, row)) for row in rows]
        return rows_html(self._size(len(rows), len(names)), shown, names, columns, self._shown)

    def _size(self, rows: int, columns: int) -> str:
        """How large the table is, and how much of it is shown."""
        sizes = []
        for shown, every, noun in ((rows, len(self), "row"), (columns, len(self.columns), "column")):
            sizes.append(counted(every, noun) if shown == every else f"{shown} of {counted(every, noun)}")
        return f"{self.name}: {', '.join(sizes)}"

    def _meaning(self, column: pa.Field[Any]) -> tuple[str, str]:
        """A column's unit and meaning; "" where they are not known."""
        about = column.metadata
        if not about:
            return self._meanings.get(column.name, ("", ""))
        return about.get(b"unit", b"").decode(), about.get(b"meaning", b"").decode()


def open_connection() -> duckdb.DuckDBPyConnection:
    """A connection of DuckDB that reads the tables it is given, and nothing else."""
    connection = connections.connect(MEMORY_GIB)
    connections.lock(connection)
    return connection


def _library(name: str) -> Any:
    """A data-frame library. Raises BadInput where it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise BadInput(f"expected {name}, which is not installed here; pip install {name}") from None


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
