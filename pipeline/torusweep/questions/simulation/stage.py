"""The stage `simulation`: flit-level simulations of a network, with a row for each offered load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, create_model
from rich.console import Console

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.families.trees import Tree
from torusweep.networks.names import terminal_names
from torusweep.networks.physical import UNSAID, remarks_on_clock
from torusweep.networks.topology import Meaning, Number, Topology, Whole
from torusweep.quantities import counted, duration
from torusweep.questions.answer import Records
from torusweep.questions.display import value_text
from torusweep.questions.entries import field_of
from torusweep.questions.heeds import BY_WEIGHT, heeds
from torusweep.questions.how import How, cores
from torusweep.questions.parameters import NOT_SWEPT, Absent, Typed
from torusweep.questions.question import File, Question
from torusweep.questions.simulation.columns import SIMULATION
from torusweep.questions.simulation.packets import Completion
from torusweep.questions.simulation.parameters import LOAD, Loads, Parameters, RunRequest, request_of
from torusweep.questions.simulation.presets import clock_for, preset
from torusweep.questions.simulation.printed import Timed, print_simulation, timed_on
from torusweep.questions.simulation.record import PRECISION, expect_packets, rows_together, simulation_records
from torusweep.questions.simulation.setup import flit_bytes_by, set_up
from torusweep.questions.stage import LazyNetwork, NetworkChoice, Rows, numbers_of, under
from torusweep.traffic import traffic as pattern_on
from torusweep.traffic.given import check_reach
from torusweep.workloads import Workload
from torusweep.workloads import workload as workload_on
from torusweep.workloads.messages import least_cycles

if TYPE_CHECKING:
    from torusweep.charts import Drawing

TimeUnit = Literal["cycles", "ns", "us", "ms", "s"]
CUT = 2.5  # the figure's axis ends at this multiple of the largest latency below saturation
MOST_COMBINATIONS = 2_000  # of one entry; to check a combination on a network takes up to 10 ms
MOST_SEEDS = 2**63 - 1
NODE_CYCLE = 1e-7  # seconds to simulate a cycle of a node: 0.6e-7 at light load, 1.2e-7 at heavy load
SEVERAL = 4  # factor if ports send several flits per cycle (bluegene: 1.6e-7 to 7e-7)
WORKLOAD_CYCLES = 100_000  # assumed length of a workload, for want of a better estimate
SATURATION_RUNS = 15  # experiments until saturation is found
ANNOUNCED_SECONDS = 5.0  # runs that take longer are announced
PRESET = Parameters()
LOADS = (
    LOAD,
    Typed(reader="torusweep.questions.simulation.parameters:loads_of", shown="0.2|0.1,0.2|0.1:0.9:0.1"),
    NOT_SWEPT,
)
SATURATION = Meaning("also find the largest load that is accepted, by bisection"), Typed("--find-saturation"), NOT_SWEPT
TO_WITHIN = (
    Number(0, "precision of the saturation load, flits per cycle per terminal", 1, above=True),
    Absent(str(PRECISION)),
    NOT_SWEPT,
)
PACKETS_EACH = Whole(1, "packets that every terminal sends, all ready at cycle 0, instead of a load", 10**6)
SEEDS = Whole(0, "seed of the random packets; several give a mean over runs", MOST_SEEDS), Typed("--seed"), NOT_SWEPT
TIME_UNIT = (
    Meaning("unit of latencies in the text; a unit of time needs links with a bandwidth or latency in units"),
    Absent("cycles, next to µs if a cycle has a length"),
    NOT_SWEPT,
)


@dataclass(frozen=True, repr=False, eq=False)
class Simulation(Records):
    """A flit-level simulation: a row of the table `simulation` for each offered load, or one row for a workload."""

    messages: Workload | None = field(default=None, kw_only=True)
    done: Sequence[Completion] = field(default=(), kw_only=True)  # for each seed
    remarks: Sequence[str] = field(default=(), kw_only=True)
    timed: Timed = field(default=Timed(UNSAID), kw_only=True)
    columns = SIMULATION
    main = (
        *("offered_load", "accepted_load", "accepted_load_error", "network_latency", "total_latency"),
        *("total_latency_error", "p50_latency", "p99_latency", "saturated", "deadlocked", "delivery_time"),
    )

    def heading(self) -> str:
        row = self.rows[0]
        sent = row["workload"] or row["traffic"]
        found = "" if self.saturation is None else f", saturates at {value_text(self.saturation)}"
        return f"{row['topology']}, {row['routing']}, {row['vc_rule']}, {sent}{found}"

    @property
    def saturation(self) -> float | None:
        """Largest load that is not saturated, in flits per cycle per terminal; None if it was not searched for."""
        value = self.rows[0]["simulated_saturation"]
        return None if value is None else float(value)

    @cached_property
    def completions(self) -> pa.Table:
        """Cycles in which each message of a workload was sent and delivered; null if the run ended before that."""
        if self.messages is None:
            raise BadInput("completions: expected a simulation of a workload, got one of loads; simulate(workload=…)")
        names = self.messages.names or map(str, range(len(self.messages.flits)))
        sent = pa.table(
            {
                "message": pa.array(names, pa.string()),
                "source": self.messages.source,
                "destination": self.messages.destination,
                "flits": self.messages.flits,
            }
        )
        tables = []
        for seed, completion in zip(self.rows[0]["seeds"], self.done):
            table = sent.add_column(0, "seed", pa.repeat(pa.scalar(seed), sent.num_rows))
            for name, cycle in completion._asdict().items():
                table = table.append_column(name, pa.array(cycle, mask=cycle < 0))
            tables.append(table)
        return pa.concat_tables(tables)

    def print(self, console: Console, computed_by: str) -> None:
        print_simulation(console, self.rows, self.timed)

    def figure(self, *, dark: bool = False) -> Drawing:
        """Draw an Altair chart, which a notebook shows, of latency with 95 % confidence intervals over offered load.

        Raises BadInput if no row has an offered load and a latency.
        """
        # only a figure needs the drawing library, which takes long to import
        from torusweep.charts import DARK, LIGHT, Axis, config
        from torusweep.charts.drawing import Chart

        rows = [row for row in self.rows if row["offered_load"] is not None and row["total_latency"] is not None]
        if not rows:
            raise BadInput("expected loads to draw latency against, got none; simulate([0.1, 0.2, 0.3])")
        line = ", ".join(map(str, (rows[0]["topology"], rows[0]["routing"])))
        points: list[dict[str, Any]] = []
        for row in rows:
            mean, error = row["total_latency"], row["total_latency_error"]
            ends = {} if error is None else {"low": mean - error, "high": mean + error}
            points.append({**row, **ends, "line": line, "saturated": bool(row["saturated"])})
        below = [point["total_latency"] for point in points if not point["saturated"]]
        # there a saturated network's latency, which grows with the run, leaves the chart
        cut = below and max(point["total_latency"] for point in points) > CUT * max(below)
        drawn = Chart(
            x=Axis("offered_load", "offered load, flits per cycle per terminal"),
            y=Axis("total_latency", "mean latency, cycles", domain=(0, CUT * max(below)) if cut else None),
            hollow="saturated",
        ).draw(points)
        theme = DARK if dark else LIGHT
        settings = {**config(theme), "background": theme.paper}
        return drawn.properties(width=520, height=320).configure(**settings)


def simulate(
    network: Topology,
    how: How,
    load: Annotated[tuple[float, ...], *LOADS] = (),
    *,
    saturation: Annotated[bool, *SATURATION] = False,
    precision: Annotated[float, *TO_WITHIN] | None = None,
    packets_each: Annotated[int, PACKETS_EACH, NOT_SWEPT] | None = None,
    seeds: Annotated[tuple[int, ...], *SEEDS] = (0,),
    time_unit: Annotated[TimeUnit, *TIME_UNIT] | None = None,
    parameters: Parameters = PRESET,
) -> Simulation:
    """Simulate flit by flit: accepted load and latency at each offered load, and where the network saturates.

    If a routing might deadlock, it is refused; the message names a virtual-channel rule that works. Means have 95 %
    confidence intervals, by batch means.

    >>> import torusweep as ts
    >>> rows = ts.network("torus(k=4, n=2)").simulate([0.1, 0.2], cycles=2000).rows
    >>> [row["offered_load"] for row in rows]
    [0.1, 0.2]
    """
    if precision is not None and not saturation:
        with under("precision"):
            raise BadInput("expected with `saturation` only; add that, or leave it out")
    if not (load or saturation or packets_each or parameters.workload):
        raise BadInput("expected `load`, `saturation`, `packets_each` or `workload`, got none; for example `load` 0.2")
    request = RunRequest(parameters, load, seeds, (precision or PRECISION) if saturation else None)
    flit_bytes = flit_bytes_by(parameters)
    clock, messages = clock_for(network, flit_bytes), None
    with under("time_unit"):
        timed = timed_on(network, clock, time_unit)
    remarks = tuple(f"note: {remark}" for remark in remarks_on_clock(network, clock, asked=flit_bytes is not None))
    done: list[Completion] = []
    announce = None if packets_each else partial(_announce, network, how, request.canonical())
    if parameters.workload is not None:
        spelling, messages = workload_on(parameters.workload, len(network.terminals), terminal_names(network), clock)
        remarks += tuple(f"note: {spelling}: {note}" for note in messages.notes)
        announce = partial(_announce_workload, network, how, spelling, messages, len(seeds))
    runs = len(seeds) * max(len(load), 1)
    with how.progress.count("runs") if saturation else how.progress.share("simulated") as report:
        rows = simulation_records(
            network,
            parameters,
            loads=load,
            seeds=seeds,
            precision=request.precision,
            packets_each=packets_each,
            how=how,
            progress=None if report is None else lambda count: report(count if saturation else count / runs),
            completions=done,
            announce=announce,
        )
    expect_packets(network, rows)
    if parameters.routing is None:
        remarks += _remarks_on_routing(network, rows[0]["routing"])
    return Simulation(rows, messages=messages, done=done, remarks=remarks, timed=timed)


def _remarks_on_routing(network: Topology, routing: str) -> tuple[str, ...]:
    """Return a remark on the routing that was chosen by default, if another may be better."""
    shape = network.plan.structure
    if isinstance(shape, Tree) or not routing.startswith("up_down"):
        return ()
    other = "by_group" if isinstance(shape, Grouped) else "minimal"
    return (f"note: no routing is given, so up_down is taken, and much passes its root; compare {other}",)


def _announce(network: Topology, how: How, request: RunRequest) -> None:
    """Announce the expected time of the runs, if it is long."""
    at_once = len(request.seeds) * max(len(request.loads), 1)
    seconds = _seconds(network.nodes, request) / min(cores(), at_once)
    search = "the runs that find the saturation"
    runs = f"{counted(at_once, 'run')}{f' and {search}' if request.precision else ''}" if request.loads else search
    cycles = f"{request.parameters.cycles:,} cycles on {counted(network.nodes, 'node')}"
    _say_duration(how, f"{runs}, {cycles}: about", seconds)


def _announce_workload(network: Topology, how: How, spelling: str, messages: Workload, seeds: int) -> None:
    """Announce the shortest possible time of a workload, if it is long."""
    cycles = least_cycles(messages)
    runs = f"{counted(seeds, 'run')} of {spelling}, at least {cycles:,} cycles on {counted(network.nodes, 'node')}"
    _say_duration(how, f"{runs}: at least about", NODE_CYCLE * network.nodes * cycles * seeds / min(cores(), seeds))


def _say_duration(how: How, what: str, seconds: float) -> None:
    if seconds >= ANNOUNCED_SECONDS:
        how.progress.say(f"{what} {duration(seconds)} on {counted(cores(), 'core')}")


def _seconds(nodes: int, request: RunRequest) -> float:
    parameters, loads, seeds, precision = request
    workload = parameters.workload is not None
    runs = (len(loads) + (SATURATION_RUNS if precision else 0) + workload) * len(seeds)
    cycles = WORKLOAD_CYCLES if workload else parameters.cycles or 0
    speedup = parameters.input_speedup or preset(parameters.router).input_speedup
    faster = 0.5 if parameters.allow_deadlock else 1  # one that deadlocks ends
    return 2e-2 + NODE_CYCLE * (SEVERAL if speedup > 1 else 1) * faster * nodes * cycles * runs


@dataclass(frozen=True)
class SimulationRequest:
    """Traffic in its canonical spelling, and the whole request, as `RunRequest.spelled` writes it."""

    traffic: str
    simulation: str = field(metadata={"meaning": "the request as JSON"})

    def __str__(self) -> str:
        return f"simulated, {self.simulation}"

    @property
    def parameters(self) -> Parameters:
        return request_of(self.simulation).parameters


class SimulationQuestion(Question):
    name = "simulation"
    columns = SIMULATION
    ask = staticmethod(simulate)
    command = "simulate"
    heeds: ClassVar = {
        **heeds("bandwidth, direction, unit, latency, clock, terminals, terminal rate, forwarding"),
        **BY_WEIGHT,
    }
    Request = SimulationRequest
    how = ("backend",)
    written: ClassVar = {"completions": File("when messages left and arrived, as CSV or Parquet", needs="workload")}
    examples = (
        'simulate "torus(k=8, n=2)" --load 0.2 --seed 1',
        'simulate "torus(k=8, n=2)" --load 0.05:0.4:0.05',
        'simulate "torus(k=8, n=2)" --load 0.1,0.3 --routing dimension-order --vc-rule dateline',
        'simulate "pdtt(a=8)" --router bluegene --traffic uniform --find-saturation --json',
        'simulate "torus(k=8, n=2)" --load 0.8 --routing dimension-order --vc-rule none --allow-deadlock',
        'simulate "mh3dt(m=3, n=4, levels=2, q=0)" --load 0.01 --router rahman-2005',
        'simulate "hypercube(n=8)" --traffic bit-reversal --packets-each 16',
        'simulate "rtt(a=8)" --router bluegene --workload "cg(order=1400)" --placement random --seed 1 --seed 2',
        'simulate "torus(k=4, n=2)" --workload \'goal(path="app.goal", cycles_per_us=500)\'',
        'simulate "torus(k=8, n=2)" --load 0.2 --injection "bursts(cycles=200)" --source-queue 8',
    )
    description = "networks to simulate flit by flit; none if absent"

    def _entry(self) -> type[NetworkChoice]:
        """Return the fields of a configuration's entry: the router's parameters, loads, precision and seeds."""
        known = {one.name: one for one in self.parameters}
        told = "also find saturation, to this precision in flits per cycle per terminal; null: do not"
        fields: dict[str, Any] = {
            "loads": (Loads, Field((), description=f"{known['load'].meaning}: {{from, to, step}}")),
            "saturation_precision": (field_of(known["precision"], self.command)[0], Field(None, description=told)),
            "seeds": field_of(known["seeds"], self.command),
        }
        return create_model("Simulation", __base__=super()._entry(), __doc__=self.description, **fields)

    def requests(self, entry: Any) -> Iterator[SimulationRequest]:
        lists = self.values_of(entry)
        if prod(map(len, lists.values())) > MOST_COMBINATIONS:
            raise Refused(f"expected at most {MOST_COMBINATIONS:,} combinations of the lists; give fewer values")
        for values in product(*lists.values()):
            parameters = Parameters(**dict(zip(lists, values)))
            request = RunRequest(
                parameters, numbers_of(entry.loads), entry.seeds, entry.saturation_precision
            ).canonical()
            yield SimulationRequest(str(request.parameters.traffic), request.spelled())

    def check(self, network: LazyNetwork, request: SimulationRequest) -> None:
        """Check a request, except for deadlock: as a proof may take long, only the simulation itself checks it."""
        parameters, loads, _, _ = request_of(request.simulation)
        if network.plan.whole is None:  # faults may leave a routing some pairs only
            check_reach(network.topology, *pattern_on(request.traffic, network.topology))
        setup = set_up(network.topology, parameters, skip_proof=True)
        with under("loads"):
            setup.check(loads, mean=True)
        with under("loads", of_network=True):
            setup.check(loads)

    def row_count(self, network: LazyNetwork, request: SimulationRequest) -> int:
        """Return the number of rows: one for each load, for a workload, or for a search for the saturation alone."""
        return len(request_of(request.simulation).loads) or 1

    def seconds(self, network: LazyNetwork, request: SimulationRequest) -> float:
        return _seconds(network.plan.nodes, request_of(request.simulation))

    def rows(self, network: LazyNetwork, request: SimulationRequest, options: How) -> list[dict[str, Any]]:
        parameters, loads, seeds, precision = request_of(request.simulation)
        return simulation_records(
            network.topology, parameters, loads=loads, seeds=seeds, precision=precision, how=options
        )

    def rows_of_many(
        self, points: Iterable[tuple[LazyNetwork, SimulationRequest]], options: How
    ) -> list[Rows | Exception]:
        """Compute many points. Each network is built once, and each routing on it is proved once."""
        found: dict[int, Rows | Exception] = {}
        networks: dict[str, tuple[LazyNetwork, dict[int, SimulationRequest]]] = {}
        for place, (network, request) in enumerate(points):
            networks.setdefault(network.spelling, (network, {}))[1][place] = request
        while networks:  # frees each network once its points are computed
            network, requests = networks.pop(next(iter(networks)))
            spelled = [request.simulation for request in requests.values()]
            found |= zip(requests, rows_together(network, spelled, options))
        return [found[place] for place in range(len(found))]


QUESTION = SimulationQuestion()
