"""What a configuration may say under `simulation`: routers, routings, traffics and loads, all of their combinations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from torusweep.questions.entry import Choice, Rates, Spellings, Spread, listed


def _several(value: Any) -> Any:
    return [value] if isinstance(value, int) and not isinstance(value, bool) else value


Whole = Annotated[int, Field(ge=1, le=10**6)]
Wholes = Annotated[
    tuple[Whole, ...],
    Field(min_length=1, strict=False),
    BeforeValidator(_several, json_schema_input_type=Whole | Annotated[list[Whole], Field(min_length=1)]),
]

MOST_LOADS = 10_000  # of an entry


class Simulation(Choice):
    """Flit-level simulation of the sweep's networks: all combinations of the lists on each one chosen, a row a load."""

    router: Spellings = Field(
        ("default",),
        description=(
            "a preset as 'torusweep simulate --help' lists them, or several: the source of values that are "
            "not given below"
        ),
    )
    routing: Spellings | None = Field(
        None,
        description=(
            "a routing as 'torusweep deadlock --help' lists them, or several;"
            " null: the router's, or the first that suits"
        ),
    )
    vc_rule: Spellings | None = Field(
        None,
        description=(
            "a rule as 'torusweep deadlock --help' lists them, or several; null: the first that cannot deadlock"
        ),
    )
    virtual_channels: Wholes | None = Field(
        None, description="virtual channels of every channel, at most 16: a number, or several; null: the router's"
    )
    buffer_flits: Wholes | None = Field(
        None,
        description=(
            "buffer of a virtual channel: a number, or several; null: the router's, or the least for the switching"
        ),
    )
    packet_flits: Wholes | None = Field(
        None, description="length of a packet: a number, or several; null: the router's"
    )
    packet_mix: Spellings | None = Field(
        None,
        description=(
            "instead of packet_flits: lengths of packets and their shares, as in 1:0.5,5:0.5, or several; null: one"
            " length"
        ),
    )
    switching: Literal["wormhole", "virtual-cut-through", "store-and-forward"] | None = Field(
        None, description="switching technique; null: the router's"
    )
    input_speedup: Wholes | None = Field(
        None,
        description=(
            "virtual channels of an input port that may send in the same cycle, at most 16: a number, or several;"
            " null: the router's"
        ),
    )
    traffic: Spellings = Field(
        ("uniform",), description="a traffic pattern as 'torusweep loads --help' lists them, or several"
    )
    injection: Spellings | None = Field(
        None,
        description=(
            "process that generates packets: bernoulli, poisson or bursts(cycles=100, peak=1), or several;"
            " null: the router's"
        ),
    )
    source_queue: int | None = Field(
        None, ge=0, le=2**30, description="capacity of a source queue in packets; null: the router's, or unlimited"
    )
    workload: Spellings | None = Field(
        None,
        description=(
            "instead of traffic and loads: messages as 'torusweep simulate --help' lists them, or several,"
            " a row each; null: none"
        ),
    )
    placement: (
        Annotated[
            tuple[Literal["consecutive", "random"], ...],
            Field(min_length=1, strict=False),
            BeforeValidator(
                listed,
                json_schema_input_type=Literal["consecutive", "random"] | list[Literal["consecutive", "random"]],
            ),
        ]
        | None
    ) = Field(
        None,
        description=(
            "of a workload's tasks on terminals: consecutive, or random, drawn anew for each seed, or both;"
            " null: consecutive"
        ),
    )
    loads: Rates = Field(
        (),
        description="offered loads, flits per terminal and cycle, above 0: a number, several, or {from, to, step}",
    )
    saturation_precision: float | None = Field(
        None,
        gt=0,
        le=1,
        description="also find saturation, within this many flits per terminal and cycle; null: do not",
    )
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, le=2**63 - 1)], ...], Field(min_length=1, strict=False)] = Field(
        (0,), description="seeds of the random packets: every load is simulated with each; a row combines all seeds"
    )
    cycles: int | None = Field(
        None, ge=1, le=2**30, description="length of a run; null: 10,000, or for a workload until it ends"
    )
    warm_up: int | None = Field(
        None, ge=0, le=2**30, description="cycles at its start that are not measured; null: detected"
    )
    allow_deadlock: bool = Field(False, description="also simulate combinations that may deadlock")

    @field_validator("loads")
    @classmethod
    def _above_0(cls, loads: Rates) -> Rates:
        if isinstance(loads, Spread):
            if loads.size() > MOST_LOADS:
                raise ValueError(f"expected at most {MOST_LOADS:,} loads, got {loads.size():,}; choose fewer")
            if not loads.lowest > 0:
                raise ValueError(f"expected loads above 0, got from {loads.lowest:g}; begin higher")
            return loads
        for number, load in enumerate(loads if isinstance(loads, tuple) else (loads,)):
            if not load > 0:
                which = f"[{number}]" if isinstance(loads, tuple) else ""
                raise ValueError(f"expected loads above 0, got loads{which} = {load:g}; choose a higher one")
        return loads

    def offered(self) -> tuple[float, ...]:
        """The loads, written out."""
        if isinstance(self.loads, Spread):
            return self.loads.numbers()
        return self.loads if isinstance(self.loads, tuple) else (self.loads,)
