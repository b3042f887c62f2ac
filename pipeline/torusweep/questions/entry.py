"""Building blocks of a configuration's sections.

They are mappings with known keys, intervals, one value or several, and a choice of networks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import floor
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from torusweep.errors import BadInput

MOST_NUMBERS = 1_000_000  # of a range
RANGE_EXAMPLE = "{from: 0.1, to: 0.9, step: 0.1}"
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
    """Numbers at equal distances, from the first: so many (count), or as many as fit (step)."""

    lowest: float = Field(alias="from", ge=0, le=10**9, description="first number")
    highest: float = Field(alias="to", ge=0, le=10**9, description="last number")
    count: int | None = Field(None, ge=2, le=MOST_NUMBERS, description="how many numbers; or give step")
    step: float | None = Field(None, gt=0, le=10**9, description="from each number to the next; or give count")

    @model_validator(mode="after")
    def _spaced(self) -> Spread:
        if (self.count is None) == (self.step is None):
            raise ValueError(
                f"expected a range with count or step, as in {RANGE_EXAMPLE}, got {'both' if self.count else 'neither'}"
            )
        if self.step is not None and not 0 <= self._steps() < MOST_NUMBERS:
            raise ValueError(
                f"expected from ≤ to and at most {MOST_NUMBERS:,} numbers,"
                f" got from {self.lowest:g} to {self.highest:g} step {self.step:g}"
            )
        return self

    def _steps(self) -> int:
        """Steps that fit between the ends; rounding may not lose the last one."""
        assert self.step is not None
        return floor((self.highest - self.lowest) / self.step * (1 + 1e-12) + 1e-12)

    def size(self) -> int:
        """How many numbers."""
        return self._steps() + 1 if self.count is None else self.count

    def numbers(self) -> tuple[float, ...]:
        if self.step is not None:  # rounded: 0.1 + 2 · 0.1 is 0.30000000000000004
            return tuple(float(f"{self.lowest + self.step * number:.15g}") for number in range(self.size()))
        intervals = self.size() - 1
        step = (self.highest - self.lowest) / intervals
        return (*(self.lowest + step * number for number in range(intervals)), self.highest)


Rate = Annotated[float, Field(ge=0, le=10**9)]
Rates = Spread | Rate | Annotated[tuple[Rate, ...], Field(strict=False)]


class NetworkChoice(Section):
    """Which of the sweep's networks an entry is about."""

    families: Literal["all"] | Annotated[tuple[str, ...], Field(min_length=1, strict=False)] = Field(
        "all", description="families whose networks are chosen, or all"
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
            "leave out networks that the routing, traffic or placement does not suit, instead of refusing the sweep"
        ),
    )
