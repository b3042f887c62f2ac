"""Flit-level simulation: cycles per second, on one thread beside BookSim2 on another machine, and on several threads.

On several threads, batches and large networks are timed. On one thread, the networks are tori with dimension order,
wormhole switching, datelines, one cycle each for route, VC, switch and link, packets of 16 flits and buffers of 8.
Traffic is uniform and Bernoulli, at 30, 60 and 90 % of the capacity that the busiest channel sets (8/k flits per node
and cycle). Times on one thread are CPU times, which other processes disturb less than they disturb wall times.

BookSim2's figures are those of its own build on a virtual CPU of an AMD EPYC, at about 30, 60 and 90 % of saturation.
It is not a Python package, so it does not run here; the calibration loops of `machine.py` show how the machines differ.
Beyond saturation, a simulator that delivers less has less to do: compare the time per hop of a flit, too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from torusweep.networks.families import build
from torusweep.questions.deadlock.rules import vc_rule
from torusweep.routing import routing
from torusweep.routing.forms import SourceRouting
from torusweep.routing.paths import RouteTable
from torusweep_kernels.router import Batch, Router, Wiring, simulate

from benchmarks.race import Row

FLITS, BUFFER = 16, 8
SHARES = (0.3, 0.6, 0.9)
# topology, capacity, VCs, BookSim2's cycles/s, cycles of ours
CASES = (
    ("torus(k=8, n=2)", 1.0, 2, (41_000, 22_000, 14_000), 40_000),
    ("torus(k=16, n=3)", 0.5, 2, (87, 56, 30), 1_000),
    ("torus(k=16, n=3)", 0.5, 4, (55, 32, 22), 1_000),
)


class Case:
    """A network to simulate: wiring, and routes with their table."""

    def __init__(self, spelling: str, vcs: int) -> None:
        topology = build(spelling)
        made = routing("dimension_order(tie=positive)", topology)[1]
        assert isinstance(made, SourceRouting)
        rule = vc_rule("dateline", made)[1]
        self.nodes, self.table, self.router = (
            topology.nodes,
            RouteTable(made),
            Router(vcs, BUFFER, route_delay=1, vc_delay=1),
        )
        delay = np.ones(topology.ports.shape, np.int16)
        classes, shares = rule.within(vcs), rule.shares(vcs)
        self.wiring = Wiring(
            topology.ports, made.moves.port, made.moves.wrap, delay, classes, rule.memory, shares, balanced=True
        )

    def packets(self, load: float, cycles: int, seeds: range) -> Batch:
        """Uniform traffic, an experiment a seed."""
        parts = []
        first: list[np.ndarray] = []
        begin = 0
        for seed in seeds:
            rng = np.random.default_rng(seed)
            number = int(rng.binomial(self.nodes * cycles, load / FLITS))
            source, moment = rng.integers(0, self.nodes, number, np.int32), rng.integers(0, cycles, number, np.int32)
            order = np.lexsort((moment, source))
            source, moment = source[order], moment[order]
            destination = (source + rng.integers(1, self.nodes, number, np.int32)) % self.nodes
            row = self.table.sample(source, destination, np.zeros(number, np.uint32))
            first.append(begin + np.searchsorted(source, np.arange(self.nodes + 1)))
            parts.append((moment, row, np.full(number, FLITS), destination))
            begin += number
        moments, rows, lengths, destinations = map(np.concatenate, zip(*parts))
        return Batch(np.array(first), moments, rows, lengths, destinations)

    def seconds(
        self, batch: Batch, cycles: int, threads: int, clock: Callable[[], float] = time.process_time
    ) -> tuple[float, int, float]:
        """(seconds, hops of flits, flits accepted per node and cycle)."""
        begin = clock()
        routes = self.table.routes
        found = simulate(
            self.wiring,
            self.router,
            routes.direction,
            routes.hops,
            routes.phase,
            batch,
            cycles=cycles,
            backend="numba",
            threads=threads,
        )
        passed = clock() - begin
        accepted = (found.delivered >= 0).sum() * FLITS / cycles / self.nodes / len(found.ran)
        return passed, int(found.flits.sum()), float(accepted)


def rows(turns: int, threads: int) -> Iterator[Row]:
    """Rows like those of `race.rows`. BookSim2's seconds and ratios are of its own machine, for as many cycles."""
    for spelling, capacity, vcs, peer, cycles in CASES:
        case = Case(spelling, vcs)
        for share, other in zip(SHARES, peer):
            batch = case.packets(share * capacity, cycles, range(1))
            case.seconds(batch, 2, 1)  # compiles
            taken = [case.seconds(batch, cycles, 1) for _ in range(turns)]
            seconds, hops, accepted = statistics.median(turn[0] for turn in taken), taken[0][1], taken[0][2]
            name = f"{spelling}, {vcs} VCs, {share:.0%} of capacity"
            note = f"{accepted / (share * capacity):.0%} accepted, {seconds / hops * 1e9:.0f} ns a flit's hop"
            ratios = [cycles / other / turn[0] for turn in taken]
            yield row(name, case.nodes, "torusweep", seconds, cycles, [1.0], note)
            yield row(name, case.nodes, "BookSim2, elsewhere", cycles / other, cycles, ratios)
    for spelling, experiments, cycles in (
        ("torus(k=8, n=2)", 64, 3_000),
        ("torus(k=8, n=3)", 1, 4_000),
        ("torus(k=16, n=3)", 1, 1_000),
    ):
        case = Case(spelling, 2)
        batch = case.packets(0.3 if experiments > 1 else 0.15, cycles, range(experiments))
        case.seconds(batch, 2, threads)
        pairs = [
            (
                case.seconds(batch, cycles, threads, time.perf_counter)[0],
                case.seconds(batch, cycles, 1, time.perf_counter)[0],
            )
            for _ in range(turns)
        ]
        several, one = (statistics.median(times) for times in zip(*pairs))
        name = f"{experiments} experiment{'s' * (experiments > 1)} of {spelling}, {threads} threads"
        yield row(name, case.nodes, "torusweep", several, experiments * cycles, [1.0])
        yield row(
            name,
            case.nodes,
            "torusweep, one thread",
            one,
            experiments * cycles,
            [alone / both for both, alone in pairs],
        )


def row(
    name: str, nodes: int, contender: str, seconds: float, cycles: int, ratios: Sequence[float], note: str = ""
) -> Row:
    measured = {
        "seconds": seconds,
        "rate": cycles / seconds,
        "ratio": statistics.median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
    }
    return {
        "benchmark": "network",
        "case": name,
        "nodes": nodes,
        "contender": contender,
        "unit": "cycles/s",
        "note": note,
        **measured,
    }
