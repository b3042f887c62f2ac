"""The conformance pack in BookSim2, beside the recorded numbers of docs/conformance.

    python -m benchmarks.conformance            # runs `booksim` of the PATH on every experiment and prints a table
    python -m benchmarks.conformance --record   # and writes it to docs/conformance/booksim2.csv and README.md
    python -m benchmarks.conformance --only ring --only mesh

The exit status is 1 where a number lies outside its tolerance, and 2 where there is no `booksim`.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

from torusweep.networks.topology import Topology
from torusweep.questions.loads.exact import exact_loads

from benchmarks.conformance_pack import (
    EXPERIMENTS,
    FOLDER,
    FULL,
    LINK_CYCLES,
    ROUTER_CYCLES,
    TOLERANCES,
    Experiment,
    between_marks,
    network_of,
)

TERMINAL_CYCLES = 3  # BookSim2: the channels from and to a terminal, and a virtual channel to leave the network
LONGEST = 200.0  # seconds of a run
DEADLOCK = "Possible network deadlock"
HEAD = (
    "experiment",
    "quantity",
    "offered_load",
    "torusweep",
    "expected",
    "booksim2",
    "difference",
    "tolerance",
    "verdict",
)


class Recorded(NamedTuple):
    """A line of numbers.csv."""

    quantity: str
    offered_load: str
    value: float


class Compared(NamedTuple):
    """A number of both; `expected` is ours as BookSim2 counts it (its terminals' channels, packets to themselves)."""

    experiment: str
    quantity: str
    offered_load: str
    ours: float
    expected: float
    theirs: float | None
    verdict: str

    @property
    def difference(self) -> float | None:
        return None if self.theirs is None else self.theirs / self.expected - 1

    def row(self) -> list[str]:
        theirs = "" if self.theirs is None else f"{self.theirs:.6g}"
        difference = "" if self.difference is None else f"{self.difference:+.1%}"
        tolerance = f"{TOLERANCES[self.quantity]:.0%}"
        ours, expected = f"{self.ours:.6g}", f"{self.expected:.6g}"
        return [*self[:2], self.offered_load, ours, expected, theirs, difference, tolerance, self.verdict]


def recorded(experiment: Experiment) -> list[Recorded]:
    with open(FOLDER / "numbers.csv", newline="", encoding="utf-8") as file:
        return [
            Recorded(row["quantity"], row["offered_load"], float(row["value"]))
            for row in csv.DictReader(file)
            if row["experiment"] == experiment.name
        ]


def routes_of_anynet(topology: Topology) -> list[list[int]]:
    """For each router, the next one towards each destination, as BookSim2's anynet finds it (AnyNet::route).

    Dijkstra's algorithm from each router: of several nearest routers, the lowest-numbered is next; a route is kept
    unless another is shorter.
    """
    following = []
    for start in range(topology.nodes):
        distance, before = {start: 0}, {start: start}
        left = set(range(topology.nodes))
        while left:
            nearest = min(left, key=lambda node: (distance.get(node, topology.nodes), node))
            left.remove(nearest)
            for there in sorted(int(one) for one in topology.ports[nearest] if one >= 0):
                if distance[nearest] + 1 < distance.get(there, topology.nodes):
                    distance[there], before[there] = distance[nearest] + 1, nearest
        first = []
        for node in range(topology.nodes):
            while before[node] != start:
                node = before[node]
            first.append(node)
        following.append(first)
    return following


def busiest_channel(following: list[list[int]]) -> Fraction:
    """The load of the busiest channel under uniform traffic, in flits a cycle at one flit per cycle per terminal."""
    load: dict[tuple[int, int], int] = {}
    for source in range(len(following)):
        for destination in range(len(following)):
            at = source
            while at != destination:
                there = following[at][destination]
                load[at, there] = load.get((at, there), 0) + 1
                at = there
    return Fraction(max(load.values()), len(following))


def compared(experiment: Experiment, booksim: str) -> Iterator[Compared]:
    """Run an experiment in BookSim2."""
    topology = network_of(experiment)
    numbers = recorded(experiment)
    hops = next(number.value for number in numbers if number.quantity == "mean_hops")
    own_hops = hops
    if not experiment.same_routing:
        own_hops = float(exact_loads(topology, routing="minimal").load.sum()) / (topology.nodes - 1)
    others = (topology.nodes - 1) / topology.nodes  # share of the packets that are not to their own source
    peak = next(number.offered_load for number in numbers if number.quantity == "peak_accepted")
    best: float | None = 0.0
    for number in numbers:
        if number.quantity == "accepted" and number.offered_load not in (peak, f"{FULL:g}"):
            continue  # a run each takes long
        expected = number.value
        verdict = "" if experiment.same_routing else "other routes"
        if number.quantity.startswith("latency"):
            longer = (own_hops - hops) * (ROUTER_CYCLES + LINK_CYCLES)
            to_itself = ROUTER_CYCLES + TERMINAL_CYCLES
            expected = others * (number.value + longer + TERMINAL_CYCLES) + (1 - others) * to_itself
            theirs = simulated(booksim, experiment, number.offered_load, "Packet latency average", latency=True)
            if number.quantity == "latency_low":
                verdict = ""
        elif number.quantity == "accepted":
            theirs = simulated(booksim, experiment, number.offered_load, "Accepted flit rate average", latency=False)
            best = None if theirs is None or best is None else max(best, theirs)
        elif number.quantity == "peak_accepted":
            theirs = best
        else:
            continue
        if theirs is None:
            verdict = "no end"
        elif not verdict:
            inside = abs(theirs / expected - 1) <= TOLERANCES[number.quantity]
            verdict = "within" if inside else "outside"
        row = Compared(experiment.name, number.quantity, number.offered_load, number.value, expected, theirs, verdict)
        print(*row.row(), file=sys.stderr, flush=True)
        yield row


def simulated(booksim: str, experiment: Experiment, load: str, what: str, *, latency: bool) -> float | None:
    """A mean that BookSim2 prints; None where it reports a deadlock, or does not end in time."""
    length = [] if latency else ["sim_type=throughput", "max_samples=2"]
    command = [booksim, f"{experiment.name}.cfg", f"injection_rate={float(load)}", *length]
    try:
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return None
    if DEADLOCK in done.stdout + done.stderr:
        return None
    overall = done.stdout.partition("Overall Traffic Statistics")[2]
    found = re.search(rf"{what}\s*= ([0-9.e+-]+)", overall)
    if found is None:  # its status says nothing: it is 255 after a run that ended as it should
        raise RuntimeError(f"{' '.join(command)}: expected its statistics, got none: {done.stderr[-200:]}")
    return float(found[1])


def record(rows: list[list[str]]) -> None:
    """Write lines into booksim2.csv and README.md, in place of all earlier lines of their experiments."""
    path = FOLDER / "booksim2.csv"
    kept: list[list[str]] = []
    if path.exists():
        with open(path, newline="", encoding="utf-8") as file:
            kept = list(csv.reader(file))[1:]
    new = {row[0] for row in rows}
    of_experiment = {experiment.name: place for place, experiment in enumerate(EXPERIMENTS)}
    rows = sorted([*rows, *(row for row in kept if row[0] not in new)], key=lambda row: of_experiment[row[0]])
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *rows])
    readme = FOLDER / "README.md"
    readme.write_text(between_marks(readme.read_text(), "comparison", markdown(rows)))


def markdown(rows: list[list[str]]) -> str:
    lines = [
        "| experiment | quantity | offered | torusweep | as BookSim2 counts | BookSim2 | difference | tolerance | |",
        "|---|---|--:|--:|--:|--:|--:|--:|---|",
    ]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [experiment.name for experiment in EXPERIMENTS]
    parser.add_argument("--only", action="append", choices=names, help="one experiment; may be repeated")
    parser.add_argument("--record", action="store_true", help="write docs/conformance/booksim2.csv and README.md")
    options = parser.parse_args()
    booksim = shutil.which("booksim")
    if booksim is None:
        print(
            "benchmarks.conformance: expected BookSim2's program `booksim` on the PATH, got none; build it from"
            " github.com/booksim/booksim2 (make in its folder src), and add that folder to the PATH",
            file=sys.stderr,
        )
        return 2
    chosen = [experiment for experiment in EXPERIMENTS if experiment.name in (options.only or names)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        parts = threads.map(lambda experiment: list(compared(experiment, booksim)), chosen)
        rows = [row for part in parts for row in part]
    print(markdown([row.row() for row in rows]), end="")
    for experiment in chosen:
        if not experiment.same_routing:
            load = busiest_channel(routes_of_anynet(network_of(experiment)))
            print(f"{experiment.name}: busiest channel of anynet's routes: {load} = {float(load):.4f}")
    if options.record:
        record([row.row() for row in rows])
    return int(any(row.verdict == "outside" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
