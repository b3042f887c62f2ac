"""The section `latency` of a configuration: each model's entries, with the keys that the signature declares."""

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

MOST = 10**9  # bits, rates, delays and budgets
MessageBits = Annotated[float, Number(0, "message length in bits, L", MOST, above=True), Swept(None, several=True)]


class OfBoth(TypedDict, total=False):
    """What both models take."""

    message_bits: MessageBits


class OfNetworks(TypedDict, total=False):
    """What only the model of Parhami & Kwai takes."""

    switch_delay: Annotated[
        float,
        Number(0, "cycles from one channel to the next, s", MOST, above=True),
        Absent("3"),
        Swept(3.0, several=True),
    ]
    rate: Annotated[
        float, Number(0, "messages per node and cycle, m; 0 is an empty network", MOST), Absent("0"), NOT_SWEPT
    ]
    constant: Annotated[
        Literal["pins", "bisection", "wiring_volume"],
        Meaning("the cost that all networks share; it decides the width of their channels"),
        Absent("pins"),
        Swept("pins"),
    ]
    budget: Annotated[
        float,
        Number(
            0,
            "that cost per node: pins (96 by default), wires across the middle in both directions (1), or pitches of"
            " wire (96)",
            MOST,
            above=True,
        ),
    ]
    pins: Annotated[float, Number(0, "another name for the budget of constant pins", MOST, above=True)]
    placement: Annotated[
        str, Meaning("the placement whose wires a constant wiring_volume counts"), Absent("folded, straight for a mesh")
    ]


class OfCubes(TypedDict, total=False):
    """What only the model of Dally takes."""

    nodes: Annotated[int, Whole(4, "nodes of the k-ary n-cubes", MOST_NODES), Swept(None, several=True)]
    wire_delay: Annotated[
        Literal["constant", "logarithmic", "linear"],
        Meaning("how the cycle time grows with the longest wire"),
        Absent("constant"),
        Swept("constant", several=True),
    ]
    dimension: Annotated[int, Whole(2, "dimension of the cube", 30), Absent("the best"), NOT_SWEPT]
    locality: Annotated[
        float,
        Number(0, "mean distance as a share of that of uniform traffic", 1, above=True),
        Absent("1"),
        Swept(1.0, several=True),
    ]
    radices: Annotated[
        Literal["real", "whole"],
        Meaning("whether radices are real, k = N^(1/n), or whole numbers, mixed where needed"),
        Absent("real"),
        Swept("real"),
    ]


class OfAModel(OfNetworks, OfCubes, total=False):
    """What one of the models takes."""


class ParhamiKwai(NetworkChoice):
    """Latency of the sweep's networks under contention (Parhami & Kwai 2004).

    It is computed for every message length, switch delay and rate on every network chosen.
    """

    model: Literal["parhami-kwai-2004"] = Field(description="virtual cut-through, contention; of the sweep's networks")
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
        assert self.constraint
        return self

    @property
    def constraint(self: Any) -> Constraint:
        """What its networks have alike. Raises ValueError for keys that contradict each other."""
        return constraint(self.constant, budget=self.budget, pins=self.pins, placement=self.placement)

    def columns(
        self: Any, networks: Sequence[ModelInputs], widths: Sequence[float], placements: Sequence[str | None]
    ) -> Columns:
        """Its rows, given the bits of each network's channels, and its placement where wires are the cost."""
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
    """Latency of unidirectional k-ary n-cubes of constant bisection width (Dally 1990).

    It is computed for every dimension of every number of nodes.
    """

    model: Literal["dally-1990"] = Field(
        description="constant bisection width, no contention; of k-ary n-cubes, which need not be among the sweep's"
    )

    @model_validator(mode="before")
    @classmethod
    def _its_keys(cls, entry: Any) -> Any:
        return _of_its_model(cls, entry)

    def columns(self: Any) -> Columns:
        """Its rows."""
        return dally_columns(
            self.nodes,
            message_bits=self.message_bits,
            wire_delay=self.wire_delay,
            locality=self.locality,
            whole=self.radices == "whole",
        )


def _of_its_model(kind: type[Section], entry: Any) -> Any:
    """Say of a key that only another model has which ones this model takes."""
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
    """The entry that asks for one value of each parameter, which are checked."""
    several = {one.name for one in PARAMETERS[model] if one.sweep.several}
    given = {name: (value,) if name in several else value for name, value in values.items()}
    return ENTRIES[model].model_construct(**given, **more)
