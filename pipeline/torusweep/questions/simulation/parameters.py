"""The parameters of a simulation's router, packets and runs, each declared once.

In a sweep, the request for a simulation is one canonical string. On the command line and in a configuration, offered
loads are numbers, lists or ranges.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import floor, isfinite, nan
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator

from torusweep.errors import BadInput, one_line
from torusweep.networks.physical import FLIT_BYTES, MOST_FLIT_BYTES
from torusweep.networks.topology import Meaning, Number, Whole
from torusweep.questions.parameters import Absent, Spelled, Swept, parameters_of
from torusweep.questions.simulation.packets import MOST_FLITS, PLACEMENTS, Placement, lengths_of
from torusweep.questions.simulation.presets import ALL_CHANNELS, Switching
from torusweep.questions.spelled import TRAFFIC
from torusweep.questions.stage import Rates, Spread, numbers_of
from torusweep.routing import GivenRouting
from torusweep.traffic import GivenTraffic

LOAD = Number(0, "offered load, flits per cycle per terminal: a number, several, or a range", above=True)
CYCLES, MAX_CYCLES = 10_000, 1 << 30  # default lengths: of a run with traffic; of a workload, which ends earlier
MAX_BUFFER = 32_767  # flits of a virtual channel's buffer (torusweep_kernels.router)
OF_ROUTER = Absent("the preset's")

ROUTER = Spelled(
    "router preset, which supplies the parameters that are not given",
    table="torusweep.questions.simulation.presets:PRESETS",
    title="Routers (docs/simulation.md has their pipelines)",
    canonical="torusweep.questions.simulation.presets:canonical",
    called=False,
)
ROUTING = Spelled(
    "how packets are routed; see 'torusweep deadlock --help'",
    table="torusweep.questions.deadlock.routing_case:ALL_ROUTINGS",
    canonical="torusweep.questions.deadlock.routing_case:routing_spelling",
    files="torusweep.routing:files_of",
    given="torusweep.routing.tables.objects:routing_of",
)
RULE = Spelled(
    "rule for the virtual channels that packets may use; see 'torusweep deadlock --help'",
    table="torusweep.questions.deadlock.rules:RULES",
    canonical="torusweep.questions.deadlock.rules:rule_spelling",
)
MIX = Spelled(
    "mix of packet lengths, each drawn with its share, as in 1:0.5,5:0.5, instead of one length",
    canonical="torusweep.questions.simulation.packets:canonical",
)
INJECTION = Spelled(
    "process that generates packets",
    table="torusweep.questions.simulation.injection:INJECTIONS",
    title="Injection processes",
    canonical="torusweep.questions.simulation.injection:canonical",
)
WORKLOAD = Spelled(
    "messages that depend on one another, from a table or a file, instead of traffic and loads",
    table="torusweep.workloads:WORKLOADS",
    title="Workloads (docs/simulation.md explains them; NPB: the NAS benchmarks, without their computation)",
    canonical="torusweep.workloads:canonical",
    files="torusweep.workloads:files_of",
)
MOST_LOADS = 10_000  # loads of an entry, or of a range


@dataclass(frozen=True)
class Parameters:
    """Requested parameters of a simulation, without network and loads. None: the preset's value, or one that fits."""

    router: Annotated[str, ROUTER] = "default"
    routing: (
        Annotated[str | GivenRouting, ROUTING, Absent("the preset's, or the first that suits the network")] | None
    ) = None
    vc_rule: Annotated[str, RULE, Absent("the preset's, or the first without deadlock")] | None = None
    virtual_channels: (
        Annotated[
            int, Whole(1, "virtual channels of each physical channel", ALL_CHANNELS), Swept(several=True), OF_ROUTER
        ]
        | None
    ) = None
    buffer_flits: (
        Annotated[
            int,
            Whole(1, "buffer of a virtual channel, in flits", MAX_BUFFER),
            Swept(several=True),
            Absent("the preset's, or what switching and links need"),
        ]
        | None
    ) = None
    packet_flits: (
        Annotated[int, Whole(1, "length of every packet, in flits", MOST_FLITS), Swept(several=True), OF_ROUTER] | None
    ) = None
    flit_bytes: (
        Annotated[
            int,
            Whole(1, "bytes of a flit (with links in Gb/s, a cycle is the time of a flit)", MOST_FLIT_BYTES),
            Swept(several=True),
            Absent(f"{FLIT_BYTES}, or as many as long links need"),
        ]
        | None
    ) = None
    packet_mix: Annotated[str, MIX, Absent("one length")] | None = None
    switching: Annotated[Switching, Meaning("switching technique"), OF_ROUTER] | None = None
    input_speedup: (
        Annotated[
            int,
            Whole(1, "virtual channels of an input port that may send in the same cycle", ALL_CHANNELS),
            Swept(several=True),
            OF_ROUTER,
        ]
        | None
    ) = None
    traffic: Annotated[
        str | GivenTraffic, replace(TRAFFIC, meaning=f"{TRAFFIC.meaning}; see 'torusweep loads --help'", title="")
    ] = "uniform"
    injection: Annotated[str, INJECTION, OF_ROUTER] | None = None
    source_queue: (
        Annotated[
            int,
            Whole(0, "capacity of a source queue in packets; packets generated while it is full are refused", 1 << 30),
            Absent("the preset's, or no limit"),
        ]
        | None
    ) = None
    workload: Annotated[str, WORKLOAD, Absent("none")] | None = None
    placement: (
        Annotated[
            Placement,
            Meaning("how a workload's tasks are placed on terminals (random: differently for each seed)"),
            Swept(several=True),
            Absent(PLACEMENTS[0]),
        ]
        | None
    ) = None
    cycles: (
        Annotated[
            int, Whole(1, "cycles of a run", MAX_CYCLES), Absent(f"{CYCLES:,}; with a workload, until all is delivered")
        ]
        | None
    ) = None
    warm_up: (
        Annotated[
            int, Whole(0, "cycles at the beginning of a run that are not measured", MAX_CYCLES), Absent("detected")
        ]
        | None
    ) = None
    allow_deadlock: Annotated[bool, Meaning("simulate even if the routing might deadlock")] = False

    def canonical(self) -> Parameters:
        """Return the parameters in canonical spellings. Raises BadInput for a name or number that suits no network."""
        values: dict[str, Any] = {
            one.name: one.canonical(getattr(self, one.name)) for one in parameters_of(Parameters, 0)
        }
        most = (self.cycles or CYCLES) - 1
        if self.warm_up is not None and self.warm_up > most:
            raise BadInput(f"warm_up={self.warm_up}: expected 0 … {most:,}, less than a run has; choose one of these")
        self._check_workload()
        if self.packet_mix is not None and self.packet_flits not in (None, lengths_of(self.packet_mix).longest):
            raise BadInput(
                f"packet_flits={self.packet_flits}: expected none beside packet_mix={self.packet_mix}; leave out one"
            )
        if self.workload is not None:
            values["placement"] = self.placement or PLACEMENTS[0]
        values["cycles"] = self.cycles or (CYCLES if self.workload is None else MAX_CYCLES)
        return Parameters(**values)

    def _check_workload(self) -> None:
        """Refuse a placement without a workload and, with a workload, parameters that its messages determine."""
        if self.workload is None:
            if self.placement is not None:
                raise BadInput(f"placement={self.placement}: expected with a workload only; add one, or leave it out")
            return
        for name in ("traffic", "injection", "source_queue", "warm_up", "packet_mix"):
            value = getattr(self, name)
            if value != getattr(Parameters, name):
                raise BadInput(
                    f"{name}={value}: expected without a workload, whose messages fix sources, sizes and times;"
                    " leave out one of them"
                )


class RunRequest(NamedTuple):
    """A simulation request: the parameters of every run, and loads, seeds and precision as in `simulation_records`."""

    parameters: Parameters
    loads: tuple[float, ...]
    seeds: tuple[int, ...] = (0,)
    precision: float | None = None

    def canonical(self) -> RunRequest:
        """Return the request in canonical spellings. Raises BadInput for a name or number that suits no network."""
        check_numbers(self.loads, self.seeds, self.precision, workload=self.parameters.workload)
        return self._replace(parameters=self.parameters.canonical())

    def spelled(self) -> str:
        """Return the request as one line of JSON without values that are None."""
        values = {
            **asdict(self.parameters),
            "loads": self.loads,
            "seeds": self.seeds,
            "saturation_precision": self.precision,
        }
        return json.dumps({name: value for name, value in values.items() if value is not None}, sort_keys=True)


def request_of(spelled: str) -> RunRequest:
    """Return the request from the text that `RunRequest.spelled` made."""
    values = json.loads(spelled)
    loads, seeds, precision = values.pop("loads"), values.pop("seeds"), values.pop("saturation_precision", None)
    return RunRequest(Parameters(**values), tuple(loads), tuple(seeds), precision)


def check_numbers(
    loads: Sequence[float], seeds: Sequence[int], precision: float | None, *, workload: str | None = None
) -> None:
    """Raise BadInput for loads, seeds or a precision that cannot be simulated."""
    if workload is not None and (loads or precision):
        raise BadInput(
            f"workload={workload}: expected neither loads nor a precision of saturation beside a workload;"
            " leave them out"
        )
    if not (loads or precision or workload):
        raise BadInput(
            "expected loads, a precision of saturation or a workload, got none; give for example loads: [0.1, 0.2]"
        )
    if not seeds or len(set(seeds)) < len(seeds):
        raise BadInput(f"seeds={list(seeds)}: expected one or more, all different; leave out repeated ones")


def loads_of(given: Sequence[str]) -> tuple[float, ...]:
    """Return the loads of texts such as 0.1,0.2 and 0.1:0.9:0.1 (both ends included), in the given order."""
    found: list[float] = []
    for part in (part for text in given for part in text.split(",")):
        numbers = [_number(part, text) for text in part.split(":")]
        if len(numbers) == 1:
            found += numbers
            continue
        first, last, step = numbers if len(numbers) == 3 else (0.0, 0.0, 0.0)
        if not (step > 0 and first <= last and (last - first) / step < MOST_LOADS):
            raise BadInput(f"{part}: expected from:to:step, as in 0.1:0.9:0.1, of at most {MOST_LOADS:,} loads")
        steps = floor((last - first) / step * (1 + 1e-12) + 1e-12)  # rounding may not lose the last one
        found += [float(f"{first + step * number:.15g}") for number in range(steps + 1)]
    return tuple(found)


def _number(part: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise BadInput(f"{one_line(part, 60)}: expected a number, several (0.1,0.2) or a range (0.1:0.9:0.1)")
    return number


def _above_0(loads: Rates) -> Rates:
    if isinstance(loads, Spread):
        if loads.size() > MOST_LOADS:
            raise ValueError(f"expected at most {MOST_LOADS:,} loads, got {loads.size():,}; choose fewer")
        if not LOAD.contains(loads.lowest):
            raise ValueError(f"expected loads above 0, got from {loads.lowest:g}; begin higher")
        return loads
    for number, load in enumerate(numbers_of(loads)):
        if not LOAD.contains(load):
            which = f"[{number}]" if isinstance(loads, tuple) else ""
            raise ValueError(f"expected loads above 0, got loads{which} = {load:g}; choose a higher one")
    return loads


Loads = Annotated[Rates, AfterValidator(_above_0)]
