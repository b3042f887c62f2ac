"""Designs: a row for each network, with the columns of numbers of every table that describes networks.

The columns of `static` come first. A table with several rows a network (one for each routing and
traffic pattern, say) gives a set of columns for each combination of the columns that distinguish its
rows; the combinations that most networks have come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from torusweep.all_columns import TABLES
from torusweep.answers.joined import joined_tables
from torusweep.charts.drawing import spread
from torusweep.charts.looks import comparable, distinct
from torusweep.charts.section import sampled
from torusweep.tables.columns import NUMBERS, Column
from torusweep.tables.parquet import arrow_places
from torusweep.tables.rows import Record, StoredRows, Tables, numbers, stored_rows

MOST = 20_000  # designs that a page or a picture holds
COMBINATIONS = 4  # of a table's rows, at most
LEAST_SHARE = 0.1  # of the networks of the first combination; a combination of fewer is left out


class DesignAxis(NamedTuple):
    """A column of numbers, one for each design.

    source  the table and its rows, such as static, or loads: minimal, uniform
    larger  whether more is better
    values  float64[designs], NaN for missing or infinite numbers
    """

    name: str
    source: str
    unit: str
    meaning: str
    larger: bool
    values: np.ndarray

    def costs(self) -> np.ndarray:
        """The values, negated where more is better: less is better."""
        return -self.values if self.larger else self.values


class Designs(NamedTuple):
    """The designs of a sweep.

    records   rows of `static`, one for each design
    axes      the columns of numbers
    left_out  number of networks that are no designs: disconnected, or a single node
    """

    records: StoredRows
    axes: list[DesignAxis]
    left_out: int


def designs(tables: Tables) -> Designs:
    """The connected networks of two nodes and more, by nodes and name, with their columns of numbers.

    A column with the same value for all designs is left out.
    """
    networks = distinct(tables)
    records = comparable(networks)
    numbered = (column for column in TABLES["static"] if column.type in NUMBERS)
    axes = [axis for column in numbered for axis in _axes(column, "static", records.numbers(column.name))]
    for table, (columns, distinguishing) in joined_tables().items():
        joined = stored_rows(tables, table)
        chosen = joined.at(np.flatnonzero(records.find("topology", joined.column("topology")) >= 0)) if joined else ()
        for values, rows in combinations(chosen, distinguishing):
            source = f"{table}: {', '.join(values)}" if values else table
            places = records.find("topology", pa.array(list(rows)))
            for column in columns:
                if column.type in NUMBERS:
                    all_values = np.full(len(records), np.nan)
                    all_values[places] = [_number(row.get(column.name)) for row in rows.values()]
                    axes += [axis for axis in _axes(column, source, all_values) if not _repeats(axis, axes)]
    return Designs(records, axes, len(networks) - len(records))


def sample_of(axes: Sequence[DesignAxis], count: int, most: int = MOST) -> np.ndarray:
    """int64[≤ most]: indices of the designs to keep among `count`, with the Pareto fronts of any two axes."""
    return sampled([axis.costs() for axis in axes], count, most)


def sample_of_rows(rows: pa.Table, axes: Mapping[str, str], most: int) -> pa.Table:
    """At most `most` of the rows: the Pareto front of two columns, and others evenly in the order of `place`.

    axes  column → the name that says whether more of it is better
    """
    if rows.num_rows <= most:
        return rows
    order = np.argsort(np.from_dlpack(rows.column("place").combine_chunks()), kind="stable")
    both = [
        DesignAxis(name, "", "", "", is_better_large(name), numbers(rows.column(column))[order])
        for column, name in axes.items()
    ]
    chosen = np.sort(order[sample_of(both, len(order), most)])
    return rows.take(arrow_places(chosen))


def combinations(rows: Iterable[Record], columns: Iterable[str]) -> list[tuple[tuple[str, ...], dict[str, Record]]]:
    """(values that distinguish these rows from the table's others, a row for each topology) of some combinations.

    columns  those that may distinguish rows; of rows that they do not, the one with most values is taken

    The COMBINATIONS that most topologies have. Of several with as many (the rates of a curve, say), some
    from first to last.
    """
    chosen = list(rows)
    keys = _distinguishing(chosen, columns)
    by_count = by_choice(chosen, keys)
    by_count = [item for item in by_count if len(item[1]) >= LEAST_SHARE * len(by_count[0][1])]
    least = len(by_count[:COMBINATIONS][-1][1]) if by_count else 0
    certain = [item for item in by_count if len(item[1]) > least]
    tied = [item for item in by_count if len(item[1]) == least]
    room = COMBINATIONS - len(certain)
    most = certain + spread(tied, room)
    return [
        (tuple(_word(key, value) for key, value in zip(keys, values, strict=True) if value is not None), by_name)
        for values, by_name in most
    ]


def by_choice(rows: Iterable[Record], keys: Sequence[str]) -> list[tuple[tuple[Any, ...], dict[str, Record]]]:
    """(values of the keys, a row for each topology) of all combinations, those of most topologies first.

    Of a topology's several rows in one, that with most values counts; as many topologies stay in the table's order.
    """
    found: dict[tuple[Any, ...], dict[str, Record]] = {}
    for row in rows:
        by_name = found.setdefault(tuple(row[key] for key in keys), {})
        if _filled(row) > _filled(by_name.get(row["topology"], {})):
            by_name[row["topology"]] = row
    return sorted(found.items(), key=lambda item: -len(item[1]))


def _filled(row: Record) -> int:
    return sum(value is not None for value in row.values())


def _distinguishing(rows: Sequence[Record], columns: Iterable[str]) -> list[str]:
    """The first columns that together give every network's rows different values, without those that add nothing."""
    keys: list[str] = []
    groups = Counter(row["topology"] for row in rows)
    for column in columns:
        if len(groups) == len(rows):
            break
        finer = Counter((row["topology"], *(row[key] for key in (*keys, column))) for row in rows)
        if len(finer) > len(groups):
            keys.append(column)
            groups = finer
    return keys


def _word(key: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{key.replace('_', ' ')} {value if isinstance(value, bool) else f'{value:g}'}"


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _axes(column: Column, source: str, values: np.ndarray) -> Iterator[DesignAxis]:
    """An axis of a column's values, NaN for none; nothing where they are all the same."""
    values = np.where(np.isfinite(values), values, np.nan)
    known = values[~np.isnan(values)]
    if len(known) and known.min() < known.max():
        yield DesignAxis(column.name, source, column.printed_unit, column.meaning, column.better == "more", values)


@cache
def is_better_large(name: str) -> bool:
    """Whether more is better in a column of this name, in any table; False for an unknown name."""
    return any(column.better == "more" for table in TABLES.values() for column in table if column.name == name)


def _repeats(axis: DesignAxis, axes: Iterable[DesignAxis]) -> bool:
    """Whether a column of the same name has the same values: the nodes of a model's input, say."""
    return any(other.name == axis.name and np.array_equal(other.values, axis.values, equal_nan=True) for other in axes)
