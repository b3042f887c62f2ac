"""Building blocks of a configuration's sections.

They are mappings with known keys, intervals, one value or several, and a choice of networks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from torusweep.errors import BadInput

MOST_NODES = 2**31 - 1  # node numbers are 32-bit


@contextmanager
def under(key: str) -> Iterator[None]:
    """Name the key of an entry that a refusal is about. Such a refusal is about the entry, whatever the network."""
    try:
        yield
    except BadInput as refusal:
        refusal.place = (key, *refusal.place)
        raise


class Section(BaseModel):
    """A mapping whose keys are all known: a misspelt one is an error, and a number is never guessed from text."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Interval(Section):
    """Bounds, both included; a bare number stands for itself."""

    lowest: int = Field(0, alias="from", ge=0, le=MOST_NODES, description="least value wanted")
    highest: int = Field(alias="to", ge=0, le=MOST_NODES, description="greatest value wanted")

    @model_validator(mode="after")
    def _ordered(self) -> Interval:
        if self.lowest > self.highest:
            raise ValueError(f"expected from ≤ to, got from {self.lowest} to {self.highest}")
        return self


def _interval(value: Any) -> Any:
    return {"from": value, "to": value} if isinstance(value, int) and not isinstance(value, bool) else value


Bounds = Annotated[
    Interval, BeforeValidator(_interval, json_schema_input_type=Annotated[int, Field(ge=0, le=MOST_NODES)] | Interval)
]


def listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Spellings = Annotated[
    tuple[str, ...],
    Field(min_length=1, strict=False),
    BeforeValidator(listed, json_schema_input_type=str | Annotated[list[str], Field(min_length=1)]),
]


class Spread(Section):
    """Numbers at equal distances, both ends included."""

    lowest: float = Field(alias="from", ge=0, le=10**9, description="first number")
    highest: float = Field(alias="to", ge=0, le=10**9, description="last number")
    count: int = Field(ge=2, le=1_000_000, description="how many numbers")

    def numbers(self) -> tuple[float, ...]:
        step = (self.highest - self.lowest) / (self.count - 1)
        return (*(self.lowest + step * number for number in range(self.count - 1)), self.highest)


Rate = Annotated[float, Field(ge=0, le=10**9)]
Rates = Spread | Rate | Annotated[tuple[Rate, ...], Field(strict=False)]


class Choice(Section):
    """Which of the sweep's networks an entry is about."""

    families: Literal["all"] | Annotated[tuple[str, ...], Field(min_length=1, strict=False)] = Field(
        "all", description="families of the sweep whose networks are chosen, or all"
    )
    topologies: Spellings | None = Field(
        None, description="spellings of the sweep's networks that are chosen; null: any"
    )
    nodes: Bounds | None = Field(
        None, description="number of nodes of the networks chosen: {from, to}, or one number; null: any"
    )
    skip_unsuitable: bool = Field(
        False,
        description=(
            "leave out what a routing, a traffic or a placement does not fit, or whose parts it would join,"
            " instead of refusing it"
        ),
    )
