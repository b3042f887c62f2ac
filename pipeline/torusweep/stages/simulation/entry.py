"""What a configuration may say under `simulation`: routers, routings, traffics and loads, all of their combinations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from torusweep.stages.entry import Choice, Rates, Spellings, Spread, listed


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
        description="a preset as 'torusweep simulate --help' lists them, or several: what is not given below",
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
        description="a rule as 'torusweep deadlock --help' lists them, or several; null: the first that cannot lock up",
    )
    virtual_channels: Wholes | None = Field(
        None, description="of every channel, at most 16: a number, or several; null: the router's"
    )
    buffer_flits: Wholes | None = Field(
        None, description="of a virtual channel: a number, or several; null: the router's, or what the switching needs"
    )
    packet_flits: Wholes | None = Field(None, description="of a packet: a number, or several; null: the router's")
    switching: Literal["wormhole", "virtual-cut-through", "store-and-forward"] | None = Field(
        None, description="how packets move; null: the router's"
    )
    input_speedup: Wholes | None = Field(
        None,
        description=(
            "virtual channels of an input port that may send in the same cycle, at most 16: a number, or several;"
            " null: the router's"
        ),
    )
    traffic: Spellings = Field(
        ("uniform",), description="who sends to whom: a pattern as 'torusweep loads --help' lists them, or several"
    )
    injection: Spellings | None = Field(
        None,
        description=(
            "when packets are generated: bernoulli, poisson or bursts(cycles=100, peak=1), or several;"
            " null: the router's"
        ),
    )
    source_queue: int | None = Field(
        None, ge=0, le=2**30, description="packets that a source queue holds; null: the router's, or any number"
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
            tuple[Literal["consecutive", "random"], ...], Field(min_length=1, strict=False), BeforeValidator(listed)
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
        None, gt=0, le=1, description="find saturation, too, to so many flits per terminal and cycle; null: not sought"
    )
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, le=2**63 - 1)], ...], Field(min_length=1, strict=False)] = Field(
        (0,), description="of the random packets: every load is simulated with each, and its row is about all together"
    )
    cycles: int | None = Field(
        None, ge=1, le=2**30, description="length of a run; null: 10,000, of a workload as many as it takes"
    )
    warm_up: int | None = Field(
        None, ge=0, le=2**30, description="cycles at its beginning that do not count; null: detected"
    )
    allow_deadlock: bool = Field(False, description="simulate also what might deadlock")

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
