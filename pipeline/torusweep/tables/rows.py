"""Rows of a table, which become Python records only when they are needed.

A table of a million rows takes gigabytes as records, and half a gigabyte as Arrow arrays. Readers of a table need few
columns and some thousand rows, so only these parts of the file are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.tables.parquet import ROW_GROUP, TableFile, arrow_places

Record: TypeAlias = Mapping[str, Any]
NULL = -1  # stands for a missing place


def numbers(column: Any) -> np.ndarray:
    """float64[rows]: the numbers of a column, NaN for null. Avoids `to_numpy`, which imports pandas (0.3 s)."""
    values = pc.cast(_whole(column), pa.float64(), safe=False)
    return np.from_dlpack(values.fill_null(np.nan)) if len(values) else np.empty(0)


def _whole(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _places(column: Any) -> np.ndarray:
    """int64[rows]: the values of a column of row numbers, NULL for null."""
    values = pc.cast(_whole(column), pa.int64()).fill_null(NULL)
    return np.from_dlpack(values) if len(values) else np.empty(0, np.int64)


class StoredRows(Sequence[Record]):
    """All rows of a table, or selected rows in a given order, as a sequence of records.

    Rows of a file are read when they are needed. The records of at most ROW_GROUP rows are kept in memory.

    source  the table's file, or its records
    places  int64[…]: numbers of the selected rows in `source`; None for all rows
    """

    def __init__(self, source: TableFile | Sequence[Record], places: np.ndarray | None = None) -> None:
        self._source, self._places = source, places

    def __len__(self) -> int:
        return len(self._source) if self._places is None else len(self._places)

    @overload
    def __getitem__(self, at: int) -> Record: ...

    @overload
    def __getitem__(self, at: slice) -> list[Record]: ...

    def __getitem__(self, at: int | slice) -> Record | list[Record]:
        if isinstance(at, slice):
            return self.at(np.arange(len(self))[at]).records()
        return self.at(np.array([range(len(self))[at]])).records()[0]

    def __iter__(self) -> Iterator[Record]:
        if len(self) <= ROW_GROUP:
            yield from self._kept
        elif self._places is None and isinstance(self._source, TableFile):
            for part in self._source.groups():
                yield from part.to_pylist()
        else:
            for first in range(0, len(self), ROW_GROUP):
                yield from self.at(np.arange(first, min(len(self), first + ROW_GROUP))).records()

    @cached_property
    def _kept(self) -> list[Record]:
        return self.records()

    def records(self) -> list[Record]:
        """Return all selected rows as Python records."""
        if not isinstance(self._source, TableFile):
            source = self._source
            return list(source) if self._places is None else [source[at] for at in self._places.tolist()]
        return [*self._source.take(self._every).to_pylist()]

    @property
    def _every(self) -> np.ndarray:
        return np.arange(len(self)) if self._places is None else self._places

    def at(self, places: np.ndarray) -> StoredRows:
        """Select the rows with these numbers, int64[…], in the given order."""
        return StoredRows(self._source, places if self._places is None else self._places[places])

    def column(self, name: str) -> Any:
        """Return a column of the selected rows, as an Arrow array."""
        if not isinstance(self._source, TableFile):
            return pa.array([record.get(name) for record in self.records()])
        whole = self._source.read([name]).column(0)
        return whole if self._places is None else _whole(whole).take(arrow_places(self._places))

    def numbers(self, name: str) -> np.ndarray:
        """float64[rows]: a column of numbers or truth values, NaN for null."""
        return numbers(self.column(name))

    def among(self, name: str, values: Iterable[Any]) -> StoredRows:
        """Select the rows whose value in a column is among the given values."""
        wanted = pa.array(list(dict.fromkeys(values)))
        if not len(wanted) or not len(self):
            return self.at(np.empty(0, np.int64))
        column = self.column(name)
        return self.at(np.flatnonzero(numbers(pc.is_in(column, pc.cast(wanted, column.type)))))

    def groups(self, name: str) -> dict[Any, StoredRows]:
        """Return, for each value of a column, the rows with this value; values are in order of first occurrence."""
        encoded = _whole(self.column(name)).dictionary_encode()
        number, values = _places(encoded.indices), encoded.dictionary.to_pylist()
        if len(values) == 1:
            return {values[0]: self}
        return {value: self.at(np.flatnonzero(number == place)) for place, value in enumerate(values)}

    def distinct(self, name: str) -> StoredRows:
        """Select the last row for each value of a column, in the order in which the values first occur."""
        encoded = _whole(self.column(name)).dictionary_encode()
        if len(encoded.dictionary) == len(self):
            return self
        last = np.zeros(len(encoded.dictionary), np.int64)
        last[_places(encoded.indices)] = np.arange(len(self))  # the last row of a value overwrites earlier ones
        return self.at(last)

    def sorted(self, *names: str) -> StoredRows:
        """Sort the rows by the first of these columns, then by the second, and so on. Equal rows keep their order."""
        table = pa.table({name: self.column(name) for name in names})
        places = pa.table({**{name: table.column(name) for name in names}, "": arrow_places(np.arange(len(self)))})
        return self.at(_places(pc.sort_indices(places, sort_keys=[(name, "ascending") for name in (*names, "")])))

    def find(self, name: str, values: Any) -> np.ndarray:
        """int64[…]: for each value of an Arrow array, the first row with this value in a column, or NULL."""
        known = _whole(self.column(name))
        return (
            _places(pc.index_in(_whole(values).cast(known.type), known)) if len(known) else np.full(len(values), NULL)
        )


Tables: TypeAlias = Mapping[str, Sequence[Record]]  # name → rows of a table; only tables that the sweep has


def stored_rows(tables: Tables, name: str) -> StoredRows:
    """Return the rows of the named table; no rows if the table is absent."""
    found = tables.get(name, ())
    return found if isinstance(found, StoredRows) else StoredRows(found)
