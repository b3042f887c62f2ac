"""The explorer's quantities: columns of numbers of all tables, and for which routing, traffic or model each stands.

A table with several rows a network has a variant for each combination of the columns that distinguish its
rows. A variant holds few networks or many, so its numbers stand beside the places of its networks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from torusweep.answers.joined import NUMBERS, joined_tables
from torusweep.charts.section import Record, Tables
from torusweep.stages.all_columns import TABLES
from torusweep.tables.columns import Column

DIGITS = 7  # of a number in the page


class Variant(NamedTuple):
    """The rows of a table for one combination. choice: a value for each key; at: places of the rows' networks."""

    choice: tuple[Any, ...]
    at: list[int]
    rows: list[Record]


class Source(NamedTuple):
    """A table's numbers. keys: the columns whose values a reader chooses; variants: of most networks first."""

    name: str
    keys: list[str]
    variants: list[Variant]
    columns: tuple[Column, ...]


def sources(tables: Tables, records: Sequence[Record], most: int) -> list[Source]:
    """`static` with these records, and the tables that are joined with it, each with at most `most` variants."""
    place = {record["topology"]: i for i, record in enumerate(records)}
    found = [Source("static", [], [Variant((), list(place.values()), list(records))], TABLES["static"])]
    for name, (columns, distinguishing) in joined_tables().items():
        rows = [row for row in tables.get(name, ()) if row["topology"] in place]
        keys = [key for key in distinguishing if len({row[key] for row in rows}) > 1]
        variants = _variants(rows, keys, place)
        found.append(Source(name, keys, variants[:most], columns))
    return [source for source in found if source.variants]


def _variants(rows: Iterable[Record], keys: Sequence[str], place: dict[str, int]) -> list[Variant]:
    """A variant for each combination of the keys; of a network's several rows in it, the one with most values."""
    groups: dict[tuple[Any, ...], dict[int, Record]] = {}
    for row in rows:
        group = groups.setdefault(tuple(row[key] for key in keys), {})
        at = place[row["topology"]]
        if at not in group or _filled(row) > _filled(group[at]):
            group[at] = row
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return [Variant(choice, sorted(group), [group[i] for i in sorted(group)]) for choice, group in ordered]


def _filled(row: Record) -> int:
    return sum(value is not None for value in row.values())


def quantities(found: Sequence[Source], records: Sequence[Record]) -> list[dict[str, Any]]:
    """Every column of numbers that tells networks apart: name, table, unit, meaning, better way, values by variant.

    A column that repeats what `static` has of the same networks (`records`) is left out.
    """
    chosen = []
    for source in found:
        for column in source.columns:
            if column.type not in NUMBERS or _repeats(source, column.name, records):
                continue
            values = [[_number(row.get(column.name)) for row in variant.rows] for variant in source.variants]
            if any(len({*numbers} - {None}) > 1 for numbers in values):
                chosen.append(
                    {
                        "name": column.name,
                        "table": source.name,
                        "unit": column.unit,
                        "meaning": column.meaning,
                        "larger": column.more,
                        "values": [numbers if any(n is not None for n in numbers) else None for numbers in values],
                    }
                )
    return chosen


def _repeats(source: Source, name: str, records: Sequence[Record]) -> bool:
    return source.name != "static" and all(
        name in records[at] and row.get(name) == records[at][name]
        for variant in source.variants
        for at, row in zip(variant.at, variant.rows, strict=True)
    )


def choices(found: Sequence[Source]) -> dict[str, Any]:
    """By table: its keys, what a reader chooses of them in each variant, and the places of each variant's networks."""
    return {
        source.name: {
            "keys": [key.replace("_", " ").replace("vc ", "virtual-channel ") for key in source.keys],
            "choices": [[_word(value) for value in variant.choice] for variant in source.variants],
            "at": [variant.at for variant in source.variants],
        }
        for source in found
    }


def _word(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _number(value: Any) -> float | int | None:
    """A number for JSON, to DIGITS significant digits; None where there is no finite one."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else float(f"{value:.{DIGITS}g}")
