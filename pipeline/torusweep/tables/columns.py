"""Declare columns, and make their Arrow schema. Each stage declares the columns of its table in its columns.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import pyarrow as pa

NUMBERS = ("int64", "double")  # types of columns of numbers
PURE = "1"  # unit of a pure number, such as a share, a ratio or a seed


class Column(NamedTuple):
    """A column of a table.

    type    Arrow type: an alias, list<…>, map<string, …> or struct<name: …>
    unit    unit of the column's numbers; PURE for numbers without a unit, "" for other values
    better  whether more or less makes a network better; neither for requested numbers, or if it is no such measure
    stored  encoding of floating-point numbers: by place if hardly any number occurs twice (torusweep.tables.parquet)
    """

    name: str
    type: str
    unit: str
    meaning: str
    better: Literal["", "more", "less", "neither"] = ""
    stored: Literal["by value", "by place"] = "by value"

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of the column's field in an Arrow schema."""
        stored = {"stored": self.stored} if self.stored == "by place" else {}
        return {"unit": self.unit, "meaning": self.meaning, **stored}

    @property
    def printed_unit(self) -> str:
        """The unit to print; '' for pure numbers."""
        return "" if self.unit == PURE else self.unit

    def cost(self, values: Any) -> Any:
        """Return the column's numbers as an array, negated if more is better, so that less is always better."""
        return -values if self.better == "more" else values


# columns of several tables, on pairs of terminals for which a routing has no route (torusweep.traffic.given.Lost)
LOST = (
    Column(
        "lost_pairs",
        "int64",
        "pairs",
        "number of ordered pairs of terminals without a route, because faults break all routes, or a user's table has"
        " no row for the pair; 0 if all pairs have routes, or the network was not connected before any fault",
        "less",
    ),
    Column("lost_share", "double", PURE, "lost_pairs / all ordered pairs of terminals", "less"),
    Column("lost_examples", "list<string>", "", "the first pairs without a route, as nodes: 1 → 2"),
)
LOST_TRAFFIC = Column(
    "lost_traffic",
    "double",
    PURE,
    "share of the traffic whose pairs have no route. This traffic is not sent; loads are of the other traffic",
    "less",
)


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """Return the Arrow schema of columns, with units and meanings in the metadata of its fields."""
    return pa.schema([pa.field(column.name, _arrow_type(column.type), metadata=column.metadata) for column in columns])


def _arrow_type(name: str) -> Any:
    if name.startswith("struct<"):
        return pa.struct(
            [
                (field, _arrow_type(kind))
                for field, kind in (part.split(": ") for part in name[len("struct<") : -1].split(", "))
            ]
        )
    if name.startswith("list<"):
        return pa.list_(_arrow_type(name[5:-1]))
    if name.startswith("map<string, "):
        return pa.map_(pa.string(), _arrow_type(name[len("map<string, ") : -1]))
    return pa.type_for_alias(name)  # type: ignore[call-overload]  # its stubs want a literal
