"""A column's declaration, and the Arrow schema of several. Each stage declares its own in columns.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import pyarrow as pa

NUMBERS = ("int64", "double")  # types of columns
PURE = "1"  # unit of a share, a ratio, a seed


class Column(NamedTuple):
    """A column of a table.

    type    an Arrow type's alias, list<…>, map<string, …> or struct<name: …>
    unit    of every number; PURE where it is a number and nothing else
    better  of every number: which way is better; neither: it was asked for, or says nothing of how good a network is
    stored  of floating-point numbers: by place, where hardly any occurs twice (torusweep.tables.parquet)
    """

    name: str
    type: str
    unit: str
    meaning: str
    better: Literal["", "more", "less", "neither"] = ""
    stored: Literal["by value", "by place"] = "by value"

    @property
    def metadata(self) -> dict[str, str]:
        """Metadata of its field in an Arrow schema."""
        stored = {"stored": self.stored} if self.stored == "by place" else {}
        return {"unit": self.unit, "meaning": self.meaning, **stored}

    @property
    def printed_unit(self) -> str:
        """The unit where a reader sees it; '' of a pure number."""
        return "" if self.unit == PURE else self.unit

    def cost(self, values: Any) -> Any:
        """An array of its numbers, negated where more is better: less is better."""
        return -values if self.better == "more" else values


# of several tables: pairs of terminals that a routing has no route for (torusweep.traffic.given.Lost)
LOST = (
    Column(
        "lost_pairs",
        "int64",
        "pairs",
        "ordered pairs of terminals without a route: faults break all that the routing has, or a user's table has no "
        "row for them; 0: every pair has one, or the network was in parts before any fault",
        "less",
    ),
    Column("lost_share", "double", PURE, "lost_pairs / all ordered pairs of terminals", "less"),
    Column("lost_examples", "list<string>", "", "the first of these pairs, as nodes: 1 → 2"),
)
LOST_TRAFFIC = Column(
    "lost_traffic",
    "double",
    PURE,
    "share of the traffic that is between lost pairs and is not sent; loads are those of the rest",
    "less",
)


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """The columns' Arrow schema, with units and meanings in the fields' metadata."""
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
