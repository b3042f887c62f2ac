"""What a configuration's entries are made of: mappings whose keys are known, intervals, one or several names, a choice of networks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

MOST_NODES = 2**31 - 1  # node numbers are 32-bit


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
        description="leave out what a routing, a traffic or a placement does not fit, or whose parts it would join, instead of refusing it",
    )
