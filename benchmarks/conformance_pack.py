"""The conformance pack of docs/conformance: its experiments, their numbers and the files that another simulator needs.

    python -m benchmarks.conformance_pack        # computes everything and writes docs/conformance (minutes)

The pack is described for readers in docs/conformance/README.md.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records

FOLDER = Path(__file__).parents[1] / "docs" / "conformance"
VIRTUAL_CHANNELS, BUFFER = 8, 8
CYCLES, WARM_UP, SEEDS = 6_000, 2_000, (1, 2)
LOW_CYCLES = 32_000  # few packets come at low load
ROUTER_CYCLES, LINK_CYCLES = 4, 1  # route, virtual channel, switch and crossbar; a link
LOW = 0.01  # flits per cycle per terminal: so few that packets hardly meet
SHARES = (0.6, 0.8, 0.9, 1.0)  # of the channel bound
FULL = 1.0
COLUMNS = ("experiment", "quantity", "offered_load", "value", "error", "tolerance", "fraction")
LARGEST_DENOMINATOR = 10**6


class Experiment(NamedTuple):
    """A network and how packets are routed on it.

    network            spelling; of a graph file, its name in FOLDER
    routing, vc_rule   spellings
    booksim            lines of BookSim2's configuration, without those that all have; {anynet} is the file's name
    same_routing       whether BookSim2 routes alike
    """

    name: str
    network: str
    routing: str
    vc_rule: str
    booksim: str
    same_routing: bool = True


GRID = "topology = {topology};\nk = {k};\nn = {n};\nrouting_function = dim_order;\nuse_noc_latency = 0;\n"
ANYNET = "topology = anynet;\nrouting_function = min;\nnetwork_file = {name}.anynet;\n"
WILL = "r05_wrap(reading=will)"
EXPERIMENTS = (
    Experiment("mesh", "mesh(k=8, n=2)", "dimension_order", "none", GRID.format(topology="mesh", k=8, n=2)),
    Experiment("torus", "torus(k=8, n=2)", "dimension_order", WILL, GRID.format(topology="torus", k=8, n=2)),
    Experiment("twisted_torus", "rtt(a=4)", "routing_record", "dateline", ANYNET.format(name="twisted_torus"), False),
    Experiment("ring", "ring(k=16)", "dimension_order", WILL, GRID.format(topology="torus", k=16, n=1)),
    Experiment("hypercube", "hypercube(n=6)", "dimension_order", "none", GRID.format(topology="mesh", k=2, n=6)),
    Experiment("random", "random.edges", "up_down", "none", ANYNET.format(name="random"), False),
)
COMMON = f"""num_vcs = {VIRTUAL_CHANNELS};
vc_buf_size = {BUFFER};
packet_size = 1;
traffic = uniform;
injection_rate_uses_flits = 1;
sim_type = latency;
seed = 1;
warmup_periods = 2;
sample_period = {CYCLES - WARM_UP};
max_samples = 4;
latency_thres = 100000.0;
stopping_thres = 0.02;
acc_stopping_thres = 0.02;
"""
# how much another simulator of the same specification may differ, as a share of the value (README.md says why)
TOLERANCES = {
    "max_channel_load": 0.0,
    "mean_hops": 0.0,
    "zero_load_latency": 0.0,
    "latency_low": 0.02,
    "latency_half": 0.05,
    "accepted": 0.10,
    "peak_accepted": 0.05,
}


class Number(NamedTuple):
    """A number of an experiment.

    offered_load  flits per cycle per terminal; None: no packets are simulated
    error         half of a 95 % confidence interval; 0: exact
    fraction      exact value as text, or ""
    """

    experiment: str
    quantity: str
    offered_load: float | None
    value: float
    error: float
    fraction: str = ""

    def row(self) -> list[str]:
        load = "" if self.offered_load is None else f"{self.offered_load:.6g}"
        tolerance = f"{TOLERANCES[self.quantity]:g}"
        return [
            *(self.experiment, self.quantity, load, f"{self.value:.8g}", f"{self.error:.2g}", tolerance, self.fraction)
        ]


def network_of(experiment: Experiment) -> Topology:
    path = FOLDER / experiment.network
    return build(f'graph(path="{path}")' if path.suffix else experiment.network)


def static_numbers(experiment: Experiment) -> list[Number]:
    """Loads and latencies without simulation."""
    topology = network_of(experiment)
    loads = exact_loads(topology, routing=experiment.routing)
    busiest = float(loads.load.max())
    hops = float(loads.load.sum()) / (topology.nodes - 1)  # of a packet to another node
    found = []
    for quantity, value in (
        ("max_channel_load", busiest),
        ("mean_hops", hops),
        ("zero_load_latency", (hops + 1) * ROUTER_CYCLES + hops * LINK_CYCLES),
    ):
        exact = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
        shown = str(exact) if abs(float(exact) - value) < 1e-12 * value else ""
        found.append(Number(experiment.name, quantity, None, value, 0.0, shown))
    return found


def offered(busiest: float) -> list[float]:
    """The loads at which it is measured what is accepted, in flits per cycle per terminal, rounded for all simulators.

    busiest  max_channel_load; no more than its inverse is carried, and no more than one flit enters at a terminal
    """
    bound = min(1 / busiest, FULL)
    return sorted({*(round(share * bound, 3) for share in SHARES), FULL})


def simulated_numbers(experiment: Experiment, loads: list[float]) -> list[Number]:
    """What is accepted at these loads, the most of it, and latencies at a low load and at half of the most."""
    name, topology = experiment.name, network_of(experiment)

    def rows(loads: list[float], cycles: int) -> list[dict[str, Any]]:
        parameters = Parameters(
            router="booksim2",
            routing=experiment.routing,
            vc_rule=experiment.vc_rule,
            virtual_channels=VIRTUAL_CHANNELS,
            buffer_flits=BUFFER,
            packet_flits=1,
            cycles=cycles,
            warm_up=WARM_UP,
        )
        return simulation_records(topology, parameters, loads=tuple(loads), seeds=SEEDS)

    accepted = [_number(name, "accepted", row, "accepted_load") for row in rows(loads, CYCLES)]
    peak = max(accepted, key=lambda number: number.value)
    (low,) = rows([LOW], LOW_CYCLES)
    (half,) = rows([round(peak.value / 2, 2)], CYCLES)
    return [
        _number(name, "latency_low", low, "total_latency"),
        _number(name, "latency_half", half, "total_latency"),
        *accepted,
        peak._replace(quantity="peak_accepted"),
    ]


def _number(name: str, quantity: str, row: dict[str, Any], column: str) -> Number:
    return Number(name, quantity, row["offered_load"], row[column], row[f"{column}_error"])


def numbers_of(experiment: Experiment) -> list[Number]:
    static = static_numbers(experiment)
    return static + simulated_numbers(experiment, offered(static[0].value))


def booksim_files(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """(name, content) of the files for BookSim2."""
    yield f"{experiment.name}.cfg", experiment.booksim + COMMON
    if "anynet" in experiment.booksim:
        yield f"{experiment.name}.anynet", anynet(network_of(experiment))


def anynet(topology: Topology) -> str:
    """A network in BookSim2's format: each link from its lower-numbered end; both ends of it have one cycle."""
    lines = []
    for node in range(topology.nodes):
        higher = sorted(int(there) for there in topology.ports[node] if there > node)
        lines.append(" ".join([f"router {node} node {node}", *(f"router {there}" for there in higher)]))
    return "\n".join(lines) + "\n"


def as_csv(numbers: list[Number]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(number.row() for number in numbers)
    return text.getvalue()


def experiments_csv() -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("experiment", "network", "nodes", "routing", "vc_rule", "booksim2_routes_alike"))
    for one in EXPERIMENTS:
        alike = "yes" if one.same_routing else "no"
        writer.writerow((one.name, one.network, network_of(one).nodes, one.routing, one.vc_rule, alike))
    return text.getvalue()


def table(numbers: list[Number]) -> str:
    """The numbers as a Markdown table, a line for each experiment."""
    lines = [
        "| experiment | busiest channel | mean hops | zero load | load 0.01 | half load | accepted at 1 | at most |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for experiment in EXPERIMENTS:
        own = [number for number in numbers if number.experiment == experiment.name]
        one = {number.quantity: number for number in own}  # of those accepted, the last: at full load
        static = one["max_channel_load"].fraction or f"{one['max_channel_load'].value:.6f}"
        cells = [experiment.name, static, *(f"{one[name].value:.4f}" for name in ("mean_hops", "zero_load_latency"))]
        cells += [f"{one[name].value:.2f} ± {one[name].error:.2f}" for name in ("latency_low",)]
        half = one["latency_half"]
        cells.append(f"{half.value:.2f} ± {half.error:.2f} at {half.offered_load:g}")
        full, peak = one["accepted"], one["peak_accepted"]
        cells.append(f"{full.value:.3f} ± {full.error:.3f}")
        cells.append(f"{peak.value:.3f} ± {peak.error:.3f} at {peak.offered_load:g}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def between_marks(text: str, name: str, content: str) -> str:
    """Text with new content between its lines <!-- name --> and <!-- /name -->."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, _, rest = text.partition(begin)
    return before + begin + content + end + rest.partition(end)[2]


def main() -> None:
    numbers = []
    for experiment in EXPERIMENTS:
        exact = numbers_of(experiment)
        numbers += [one._replace(value=float(f"{one.value:.8g}"), error=float(f"{one.error:.2g}")) for one in exact]
        print(f"{experiment.name}: {len(numbers)} numbers so far", flush=True)
        for name, content in booksim_files(experiment):
            (FOLDER / name).write_text(content)
    (FOLDER / "numbers.csv").write_text(as_csv(numbers))
    (FOLDER / "experiments.csv").write_text(experiments_csv())
    readme = FOLDER / "README.md"
    readme.write_text(between_marks(readme.read_text(), "numbers", table(numbers)))


if __name__ == "__main__":
    main()
