"""What a configuration may say under `latency`: which paper's model, of which networks or cubes, at which loads."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag, model_validator

from torusweep.questions.latency.normalisation import Constraint, constraint
from torusweep.questions.stage import MOST_NODES, NetworkChoice, Rates, Section, listed


def _numbers(value: Any) -> Any:
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else value


Positive = Annotated[float, Field(gt=0, le=10**9)]
Positives = Annotated[
    tuple[Positive, ...],
    Field(min_length=1, strict=False),
    BeforeValidator(_numbers, json_schema_input_type=Positive | Annotated[list[Positive], Field(min_length=1)]),
]
Sizes = Annotated[
    tuple[Annotated[int, Field(ge=4, le=MOST_NODES)], ...],
    Field(min_length=1, strict=False),
    BeforeValidator(
        _numbers,
        json_schema_input_type=Annotated[int, Field(ge=4, le=MOST_NODES)]
        | Annotated[list[Annotated[int, Field(ge=4, le=MOST_NODES)]], Field(min_length=1)],
    ),
]
WireDelay = Literal["constant", "logarithmic", "linear"]


def _of_its_model(kind: type[BaseModel], entry: Any) -> Any:
    """Say of a key that only another model has which ones this model takes."""
    own = [field.alias or name for name, field in kind.model_fields.items()]
    for key in entry if isinstance(entry, dict) else ():
        if key not in own and key in {*ParhamiKwai.model_fields, *Dally.model_fields}:
            raise ValueError(f"{entry['model']} has no key '{key}'; it takes {', '.join(own)}")
    return entry


class ParhamiKwai(NetworkChoice):
    """Latency of the sweep's networks under contention (Parhami & Kwai 2004).

    It is computed for every message length, switch delay and rate on every network chosen.
    """

    model: Literal["parhami-kwai-2004"] = Field(description="virtual cut-through, contention; of the sweep's networks")
    message_bits: Positives = Field(description="bits of a message: a number, or several")
    switch_delay: Positives = Field((3.0,), description="cycles from a channel into the next: a number, or several")
    constant: Literal["pins", "bisection", "wiring_volume"] = Field(
        "pins",
        description=(
            "cost that is equal for all networks and determines the width of their channels: pins;"
            " wires across the middle; length of all wires"
        ),
    )
    budget: Positive | None = Field(
        None,
        description=(
            "amount of it per node: pins (96), wires across the middle in both directions (1), pitches of wire (96)"
        ),
    )
    pins: Positive | None = Field(None, description="another name for the budget of constant pins")
    placement: str | None = Field(
        None,
        description="with constant wiring_volume: placement of the nodes, as in layout;"
        " null: folded, straight for a mesh",
    )
    rates: Rates = Field((), description="messages per node and cycle: a number, several, or {from, to, step}")
    of_saturation: Rates = Field(
        (),
        description=(
            "the same as fractions of each network's saturation rate as printed: a number, several, or {from, to, step}"
        ),
    )
    skip_unsuitable: bool = Field(
        False, description="leave out networks that the model does not fit instead of refusing the sweep"
    )

    @model_validator(mode="before")
    @classmethod
    def _its_keys(cls, entry: Any) -> Any:
        return _of_its_model(cls, entry)

    @model_validator(mode="after")
    def _some_rate(self) -> ParhamiKwai:
        if self.rates == () and self.of_saturation == ():
            raise ValueError(
                "expected rates or of_saturation, got neither; add for example of_saturation:"
                " {from: 0, to: 0.95, count: 20}"
            )
        return self

    @model_validator(mode="after")
    def _one_cost(self) -> ParhamiKwai:
        assert self.constraint
        return self

    @property
    def constraint(self) -> Constraint:
        """What its networks have alike. Raises ValueError for keys that contradict each other."""
        return constraint(self.constant, budget=self.budget, pins=self.pins, placement=self.placement)


class Dally(Section):
    """Latency of unidirectional k-ary n-cubes of constant bisection width (Dally 1990).

    It is computed for every dimension of every number of nodes.
    """

    model: Literal["dally-1990"] = Field(
        description="constant bisection width, no contention; of k-ary n-cubes, which need not be among the sweep's"
    )
    nodes: Sizes = Field(description="number of nodes of the cubes: a number, or several")
    message_bits: Positives = Field(description="bits of a message: a number, or several")
    wire_delay: Annotated[
        tuple[WireDelay, ...],
        Field(min_length=1, strict=False),
        BeforeValidator(listed, json_schema_input_type=WireDelay | Annotated[list[WireDelay], Field(min_length=1)]),
    ] = Field(("constant",), description="growth of the cycle with the longest wire: one of these, or several")
    locality: Annotated[
        tuple[Annotated[float, Field(gt=0, le=1)], ...],
        Field(min_length=1, strict=False),
        BeforeValidator(
            _numbers,
            json_schema_input_type=Annotated[float, Field(gt=0, le=1)]
            | Annotated[list[Annotated[float, Field(gt=0, le=1)]], Field(min_length=1)],
        ),
    ] = Field((1.0,), description="mean distance relative to uniform traffic: a number, or several")
    radices: Literal["real", "whole"] = Field(
        "real", description="real: k = N^(1/n), as in the paper; whole: whole radices, mixed if necessary"
    )

    @model_validator(mode="before")
    @classmethod
    def _its_keys(cls, entry: Any) -> Any:
        return _of_its_model(cls, entry)


def _latency_model(entry: Any) -> str | None:
    name = entry.get("model") if isinstance(entry, dict) else getattr(entry, "model", None)
    return f"<{name}>" if name in ("parhami-kwai-2004", "dally-1990") else None


Latency = Annotated[
    Annotated[ParhamiKwai, Tag("<parhami-kwai-2004>")] | Annotated[Dally, Tag("<dally-1990>")],
    Discriminator(
        _latency_model,
        custom_error_type="entry",
        custom_error_message="expected a mapping with model: parhami-kwai-2004 or model: dally-1990",
    ),
]
