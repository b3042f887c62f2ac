"""Entries of the section `latency` of a configuration: a class for each model, whose keys the parameters declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict

from pydantic import Discriminator, Field, Tag, model_validator

from torusweep.networks.topology import Meaning, Number, Whole
from torusweep.questions.entries import entry_of
from torusweep.questions.latency.normalisation import Constraint, constraint
from torusweep.questions.latency.table import (
    DALLY,
    MODELS,
    PARHAMI_KWAI,
    Columns,
    ModelInputs,
    dally_columns,
    parhami_kwai_columns,
)
from torusweep.questions.parameters import NOT_SWEPT, Absent, Swept, parameters_of
from torusweep.questions.stage import MOST_NODES, NetworkChoice, Rates, Section, numbers_of

MOST = 10**9  # upper limit of bits, rates, delays and budgets
MessageBits = Annotated[float, Number(0, "message length in bits, L", MOST, above=True), Swept(None, several=True)]


class OfBoth(TypedDict, total=False):
    """Parameters that both models accept."""

    message_bits: MessageBits


class OfNetworks(TypedDict, total=False):
    """Parameters that only the model of Parhami & Kwai accepts."""

    switch_delay: Annotated[
        float,
        Number(0, "switch delay s: cycles from a channel to the next one", MOST, above=True),
        Absent("3"),
        Swept(3.0, several=True),
    ]
    rate: Annotated[
        float, Number(0, "rate m: messages per node and cycle; 0 for an empty network", MOST), Absent("0"), NOT_SWEPT
    ]
    constant: Annotated[
        Literal["pins", "bisection", "wiring_volume"],
        Meaning("cost that is equal for all networks; it decides the width of their channels"),
        Absent("pins"),
        Swept("pins"),
    ]
    budget: Annotated[
        float,
        Number(
            0,
            "the cost per node, equal for all networks: pins (96 by default), wires across the middle in both"
            " directions (1 by default), or pitches of wire (96 by default)",
            MOST,
            above=True,
        ),
    ]
    pins: Annotated[float, Number(0, "another name for the budget of constant pins", MOST, above=True)]
    placement: Annotated[
        str, Meaning("placement by which wiring_volume counts wires"), Absent("folded, or straight for a mesh")
    ]


class OfCubes(TypedDict, total=False):
    """Parameters that only the model of Dally accepts."""

    nodes: Annotated[int, Whole(4, "number of nodes of the k-ary n-cubes", MOST_NODES), Swept(None, several=True)]
    wire_delay: Annotated[
        Literal["constant", "logarithmic", "linear"],
        Meaning("how the cycle time grows with the longest wire"),
        Absent("constant"),
        Swept("constant", several=True),
    ]
    dimension: Annotated[int, Whole(2, "dimension of the cube", 30), Absent("the best"), NOT_SWEPT]
    locality: Annotated[
        float,
        Number(0, "mean distance relative to that of uniform traffic", 1, above=True),
        Absent("1"),
        Swept(1.0, several=True),
    ]
    radices: Annotated[
        Literal["real", "whole"],
        Meaning("real: every radix is N^(1/n); whole: radices are whole numbers, mixed if necessary"),
        Absent("real"),
        Swept("real"),
    ]


class OfAModel(OfNetworks, OfCubes, total=False):
    """Parameters that only one of the two models accepts."""


class ParhamiKwai(NetworkChoice):
    """Latency of the sweep's networks with contention, by the model of Parhami & Kwai 2004.

    A row is computed for every message length, switch delay and rate, on every chosen network.
    """

    model: Literal["parhami-kwai-2004"] = Field(description="virtual cut-through, contention; for the sweep's networks")
    rates: Rates = Field((), description="messages per node and cycle: a number, several, or {from, to, step}")
    of_saturation: Rates = Field(
        (),
        description=(
            "rates as fractions of each network's printed saturation rate: a number, several, or {from, to, step}"
        ),
    )
    skip_unsuitable: bool = Field(
        False, description="leave out networks to which the model does not apply, instead of refusing the sweep"
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
        assert self.constraint
        return self

    @property
    def constraint(self: Any) -> Constraint:
        """The cost that is equal for the entry's networks. Raises ValueError for keys that contradict each other."""
        return constraint(self.constant, budget=self.budget, pins=self.pins, placement=self.placement)

    def columns(
        self: Any, networks: Sequence[ModelInputs], widths: Sequence[float], placements: Sequence[str | None]
    ) -> Columns:
        """Return the entry's rows as columns. widths: bits of each network's channels; placements: see `Constraint`."""
        return parhami_kwai_columns(
            networks,
            widths,
            message_bits=self.message_bits,
            switch_delay=self.switch_delay,
            constraint=self.constraint,
            placements=placements,
            rates=numbers_of(self.rates),
            of_saturation=numbers_of(self.of_saturation),
        )


class Dally(Section):
    """Latency of unidirectional k-ary n-cubes of constant bisection width, by the model of Dally 1990.

    A row is computed for every possible number of dimensions of each number of nodes.
    """

    model: Literal["dally-1990"] = Field(
        description="model without contention for k-ary n-cubes, which need not be among the sweep's networks"
    )

    @model_validator(mode="before")
    @classmethod
    def _its_keys(cls, entry: Any) -> Any:
        return _of_its_model(cls, entry)

    def columns(self: Any) -> Columns:
        """Return the entry's rows as columns."""
        return dally_columns(
            self.nodes,
            message_bits=self.message_bits,
            wire_delay=self.wire_delay,
            locality=self.locality,
            whole=self.radices == "whole",
        )


def _of_its_model(kind: type[Section], entry: Any) -> Any:
    """Raise ValueError if an entry has a key that only the other model has; the message lists this model's keys."""
    own = [field.alias or name for name, field in kind.model_fields.items()]
    for key in entry if isinstance(entry, dict) else ():
        if key not in own and any(key in other.model_fields for other in ENTRIES.values()):
            raise ValueError(f"{entry['model']} has no key '{key}'; it takes {', '.join(own)}")
    return entry


def _model_of(entry: Any) -> str | None:
    name = entry.get("model") if isinstance(entry, dict) else getattr(entry, "model", None)
    return f"<{name}>" if name in MODELS else None


PARAMETERS = {
    PARHAMI_KWAI: (*parameters_of(OfBoth, 0), *parameters_of(OfNetworks, 0)),
    DALLY: (*parameters_of(OfBoth, 0), *parameters_of(OfCubes, 0)),
}
ENTRIES: Mapping[str, Any] = {
    model: entry_of(
        base,
        [one for one in PARAMETERS[model] if not one.sweep.never],
        "latency",
        title=base.__name__,
        meaning=base.__doc__ or "",
    )
    for model, base in ((PARHAMI_KWAI, ParhamiKwai), (DALLY, Dally))
}
Entry: Any = Annotated[
    Annotated[ENTRIES[PARHAMI_KWAI], Tag(f"<{PARHAMI_KWAI}>")] | Annotated[ENTRIES[DALLY], Tag(f"<{DALLY}>")],
    Discriminator(
        _model_of,
        custom_error_type="entry",
        custom_error_message=f"expected a mapping with model: {' or model: '.join(MODELS)}",
    ),
]


def entry_with(model: str, values: Mapping[str, Any], **more: Any) -> Any:
    """Make a model's entry from one checked value for each parameter. more: further keys of the entry, as rates."""
    several = {one.name for one in PARAMETERS[model] if one.sweep.several}
    given = {name: (value,) if name in several else value for name, value in values.items()}
    return ENTRIES[model].model_construct(**given, **more)
