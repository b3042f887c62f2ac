"""Every design of a sweep as one row of numbers: static's columns, joined by those of every other table that says something of a whole network.

A table with several rows a network (one for each routing and traffic pattern, say) gives a set of
columns for each combination of what tells its rows apart; the combinations that most networks have come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from torusweep.charts import chart as figures
from torusweep.tables.records import TABLES, Column

Record = Mapping[str, Any]
Tables = Mapping[
    str, Sequence[Record]
]  # by name (pipeline/torusweep/tables/records.py); one that a sweep lacks is absent

MOST = 20_000  # designs that a page or a picture holds
APART = (
    "points",
    "static",
    "distances",
    "channel_loads",
    "verification",
)  # tables whose rows are no designs, and the one that is joined
COMBINATIONS = 4  # of a table's rows, at most
LEAST_SHARE = 0.1  # of the networks that the first combination has: fewer make no chart
NUMBERS = ("int64", "double")
# what is asked for in each table: only this may tell its rows apart, never what came out
ASKED = {
    "loads": ("routing", "traffic", "method", "packets", "seed"),
    "deadlock": ("routing", "vc_rule", "virtual_channels"),
    "layout": ("placement",),
    "latency": (
        "model",
        "constant",
        "budget",
        "placement",
        "message_bits",
        "switch_delay",
        "wire_delay",
        "locality",
        "radices",
        "rate",
    ),
    "simulation": (
        *(
            "routing",
            "vc_rule",
            "virtual_channels",
            "switching",
            "buffer_flits",
            "packet_flits",
            "input_speedup",
            "router",
            "traffic",
        ),
        *("injection", "source_queue", "packets_each", "workload", "placement", "cycles", "offered_load"),
    ),
}
# words of a column's name that say that more is better; less is, of every other column
LARGER = {
    "nodes",
    "terminals",
    "saturation",
    "ejection",
    "bandwidth",
    "capacity",
    "utilization",
    "connectivity",
    "bisection",
    "probability",
    "share",
}


class Axis(NamedTuple):
    """A column of numbers, one for each design.

    source  the table, and which of its rows: static, or loads: minimal, uniform
    larger  more of it is better
    values  float64[designs], NaN where there is no (finite) number
    """

    name: str
    source: str
    unit: str
    meaning: str
    larger: bool
    values: np.ndarray

    def best_first(self) -> np.ndarray:
        """The values as costs, the smaller the better."""
        return -self.values if self.larger else self.values


class Designs(NamedTuple):
    """records: static's, a design each; left_out: how many are not connected, whose distances would flatter them, or have one node."""

    records: list[Record]
    axes: list[Axis]
    left_out: int


def designs(tables: Tables) -> Designs:
    """Every connected network of two nodes and more, by nodes and name, and its columns of numbers; a column that tells no two apart is left out."""
    networks = figures.distinct(tables.get("static", ()))
    records = sorted(
        (r for r in networks if r["connected"] and r["nodes"] > 1), key=lambda r: (r["nodes"], r["topology"])
    )
    names = [record["topology"] for record in records]
    axes = list(_axes(TABLES["static"], "static", {record["topology"]: record for record in records}, names))
    for table, columns in TABLES.items():
        if table not in APART and "topology" in (column.name for column in columns):
            for words, rows in combinations(tables.get(table, ()), ASKED[table], names):
                source = f"{table}: {', '.join(words)}" if words else table
                axes += [axis for axis in _axes(columns, source, rows, names) if not _repeats(axis, axes)]
    return Designs(records, axes, len(networks) - len(records))


def combinations(
    rows: Iterable[Record], asked: Iterable[str], names: Iterable[str]
) -> list[tuple[tuple[str, ...], dict[str, Record]]]:
    """(what tells these rows from the table's others, by topology one row) for the COMBINATIONS that most of these networks have.

    asked  columns that may tell rows apart; of several rows that they do not, the one that says most is taken
    Of several that equally many have (the rates of a curve, say) some from first to last.
    """
    wanted = set(names)
    chosen = [row for row in rows if row["topology"] in wanted]
    keys = _telling_apart(chosen, asked)
    found: dict[tuple[Any, ...], dict[str, Record]] = {}
    for row in chosen:
        by_name = found.setdefault(tuple(row[key] for key in keys), {})
        if _known(row) > _known(by_name.get(row["topology"], {})):
            by_name[row["topology"]] = row
    by_count = sorted(found.items(), key=lambda item: -len(item[1]))  # stable: of as many, in the table's order
    by_count = [item for item in by_count if len(item[1]) >= LEAST_SHARE * len(by_count[0][1])]
    least = len(by_count[:COMBINATIONS][-1][1]) if by_count else 0
    sure = [item for item in by_count if len(item[1]) > least]
    tied = [item for item in by_count if len(item[1]) == least]
    room = min(COMBINATIONS - len(sure), len(tied))
    most = sure + [tied[i * (len(tied) - 1) // max(1, room - 1)] for i in range(room)]
    return [
        (tuple(_word(key, value) for key, value in zip(keys, values, strict=True) if value is not None), by_name)
        for values, by_name in most
    ]


def _known(row: Record) -> int:
    return sum(value is not None for value in row.values())


def _telling_apart(rows: Sequence[Record], columns: Iterable[str]) -> list[str]:
    """The first columns, in their order, that give every network's rows different values; those that tell none apart are passed over."""
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


def _axes(columns: Iterable[Column], source: str, rows: Mapping[str, Record], names: Sequence[str]) -> Iterator[Axis]:
    records = [rows.get(name, {}) for name in names]
    for column in columns:
        if column.type in NUMBERS:
            values = np.array([record.get(column.name) for record in records], np.float64)  # NaN for None
            values[~np.isfinite(values)] = np.nan
            known = values[~np.isnan(values)]
            if len(known) and known.min() < known.max():
                yield Axis(column.name, source, column.unit, column.meaning, is_better_large(column.name), values)


def is_better_large(column: str) -> bool:
    """Whether more is better in a column of this name."""
    return not LARGER.isdisjoint(column.split("_"))


def _repeats(axis: Axis, axes: Iterable[Axis]) -> bool:
    """Whether it says again what a column of the same name says: the nodes of a model's input, say."""
    return any(other.name == axis.name and np.array_equal(other.values, axis.values, equal_nan=True) for other in axes)


def sampled(axes: Sequence[Axis], count: int, most: int = MOST) -> np.ndarray:
    """int64[≤ most]: numbers of the designs that are kept of `count`, ascending; the same ones whenever it is asked.

    Kept are, as far as there is room, the designs on the front of any two columns (of several that
    are equal in both, the first), and the others evenly in their order, which is that of size.
    """
    if count <= most:
        return np.arange(count)
    kept = np.zeros(count, bool)
    for i, first in enumerate(axes):
        cost = first.best_first()
        order = np.argsort(cost, kind="stable")  # NaN last
        order = order[: np.count_nonzero(~np.isnan(cost))]
        for second in axes[i:]:
            kept[_front(cost, second.best_first(), order)] = True
    front = np.flatnonzero(kept)[:most]
    others = np.flatnonzero(~kept)
    room = most - len(front)
    evenly = others[np.arange(room) * len(others) // room] if room else others[:0]
    return np.sort(np.concatenate([front, evenly]))


def _front(first: np.ndarray, second: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The designs that none beats in both, of equal ones one; order: by first."""
    order = order[~np.isnan(second[order])]
    order = (
        order[np.lexsort((second[order], first[order]))]
        if len(order) < 2 or np.any(np.diff(first[order]) == 0)
        else order
    )
    values = second[order]
    least = np.minimum.accumulate(values)
    return order[np.concatenate([[True], values[1:] < least[:-1]])] if len(order) else order
