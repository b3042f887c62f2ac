"""The stage `simulation`: flit-level simulations of a network, a row for each offered load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torusweep.errors import Refused
from torusweep.questions.entry import under
from torusweep.questions.stage import Network, Options, Rows, Stage
from torusweep.routing import files_of as files_of_routing
from torusweep.stages.simulation import PRESETS, Parameters, Request, request_of, set_up, simulation_records
from torusweep.stages.simulation.columns import SIMULATION
from torusweep.stages.simulation.entry import Simulation
from torusweep.stages.simulation.together import rows_together
from torusweep.traffic import files_of as files_of_traffic
from torusweep.traffic.reach import check_reach
from torusweep.workloads import files_of as files_of_workload

if TYPE_CHECKING:
    from torusweep.charts.section import Section, Tables

LISTED = (
    *(
        "router",
        "routing",
        "vc_rule",
        "virtual_channels",
        "buffer_flits",
        "packet_flits",
        "packet_mix",
        "input_speedup",
    ),
    *("traffic", "injection", "workload", "placement"),
)  # keys of an entry that may have several values
SINGLE = ("switching", "source_queue", "cycles", "warm_up", "allow_deadlock")
MOST_COMBINATIONS = 2_000  # of one entry; it takes up to 10 ms to check one on a network
NODE_CYCLE = 1e-7  # seconds that a simulated node takes a cycle: 0.6e-7 at light load, 1.2e-7 at much
SEVERAL = 4  # times as many where ports send several flits a cycle (bluegene: 1.6e-7 to 7e-7)
WORKLOAD_CYCLES = 100_000  # that a workload takes, for want of a better estimate
SATURATION_RUNS = 15  # experiments until saturation is found


@dataclass(frozen=True)
class SimulationRequest:
    """traffic: canonical spelling; simulation: everything, the traffic included, as `Request.spelled` writes it."""

    traffic: str
    simulation: str = field(metadata={"meaning": "the request as JSON"})

    def __str__(self) -> str:
        return f"simulated, {self.simulation}"


class SimulationStage(Stage):
    name = "simulation"
    columns = SIMULATION
    Entry = Simulation
    Request = SimulationRequest
    description = "networks to simulate flit by flit; without it, none"
    distinguishing = (
        *(
            "routing",
            "vc_rule",
            "virtual_channels",
            "switching",
            "buffer_flits",
            "packet_flits",
            "packet_mix",
            "input_speedup",
        ),
        *("router", "traffic", "injection", "source_queue", "packets_each", "workload", "placement", "cycles"),
        "offered_load",
    )

    def requests(self, entry: Simulation) -> Iterator[SimulationRequest]:
        lists: dict[str, Sequence[Any]] = {name: getattr(entry, name) or (None,) for name in LISTED}
        if prod(map(len, lists.values())) > MOST_COMBINATIONS:
            raise Refused(f"expected at most {MOST_COMBINATIONS:,} combinations of the lists; give fewer values")
        single = {name: getattr(entry, name) for name in SINGLE}
        for values in product(*lists.values()):
            parameters = Parameters(**dict(zip(lists, values)), **single)
            request = Request(parameters, entry.offered(), entry.seeds, entry.saturation_precision).canonical()
            yield SimulationRequest(str(request.parameters.traffic), request.spelled())

    def check(self, network: Network, request: SimulationRequest) -> None:
        """Whether a rule that is given prevents deadlock is left to the simulation itself: that may take long."""
        parameters, loads, _, _ = request_of(request.simulation)
        check_reach(network.topology, request.traffic)
        setup = set_up(network.topology, parameters, skip_proof=True)
        with under("loads"):
            setup.check(loads)

    def files(self, request: SimulationRequest) -> list[Path]:
        parameters = request_of(request.simulation).parameters
        workload = parameters.workload
        named = files_of_traffic(request.traffic) + files_of_routing(parameters.routing)
        return named + ([] if workload is None else files_of_workload(workload))

    def row_count(self, network: Network, request: SimulationRequest) -> int:
        """A row for each load, or one for the workload or the saturation."""
        return len(request_of(request.simulation).loads) + 1

    def seconds(self, network: Network, request: SimulationRequest) -> float:
        parameters, loads, seeds, precision = request_of(request.simulation)
        workload = parameters.workload is not None
        runs = (len(loads) + (SATURATION_RUNS if precision else 0) + workload) * len(seeds)
        cycles = WORKLOAD_CYCLES if workload else parameters.cycles or 0
        speedup = parameters.input_speedup or PRESETS[parameters.router].input_speedup
        return 0.1 + NODE_CYCLE * (SEVERAL if speedup > 1 else 1) * network.plan.nodes * cycles * runs

    def rows(self, network: Network, request: SimulationRequest, options: Options) -> list[dict[str, Any]]:
        parameters, loads, seeds, precision = request_of(request.simulation)
        return simulation_records(
            network.topology,
            parameters,
            loads=loads,
            seeds=seeds,
            precision=precision,
            backend=options.backend,
            threads=options.threads,
            memory=options.memory,
        )

    def rows_of_many(
        self, points: Iterable[tuple[Network, SimulationRequest]], options: Options
    ) -> list[Rows | Exception]:
        """Each network is built once, and each routing on it proved once."""
        found: dict[int, Rows | Exception] = {}
        networks: dict[str, tuple[Network, dict[int, SimulationRequest]]] = {}
        for place, (network, request) in enumerate(points):
            networks.setdefault(network.spelling, (network, {}))[1][place] = request
        while networks:  # a network that is computed is let go
            network, requests = networks.pop(next(iter(networks)))
            spelled = [request.simulation for request in requests.values()]
            found |= zip(requests, rows_together(network, spelled, options))
        return [found[place] for place in range(len(found))]

    def section(self, tables: Tables) -> Section | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.simulation.section import section

        return section(tables)
