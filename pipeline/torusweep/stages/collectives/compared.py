"""What an operation takes on a network: bound and best known, every algorithm, and the time for sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from torusweep.collectives.algorithms import OPTIMUM, schedule_of
from torusweep.collectives.best_known import best_known
from torusweep.collectives.cost import AlgorithmCost, cost_of
from torusweep.collectives.optimum import optimum
from torusweep.counts import counted
from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.quantities import bandwidth_of, byte_range, seconds_of
from torusweep.questions.entry import under
from torusweep.stages.collectives.record import record_of
from torusweep.stages.collectives.simulation import simulated

Row = dict[str, Any]
BANDWIDTH, LATENCY = "50GB/s", "1us"


class Timing(NamedTuple):
    """sizes: bytes; bandwidth: bytes/s of a channel; latency: s of a message for each hop."""

    sizes: list[int]
    bandwidth: float
    latency: float


def timing_of(sizes: Iterable[str | int], bandwidth: str | None, latency: str | None) -> Timing | None:
    """What times are asked for; None without sizes. Raises BadInput for texts that are no quantities."""
    with under("bytes"):
        numbers = [number for size in sizes for number in byte_range(str(size))]
    for name, given in (("bandwidth", bandwidth), ("latency", latency)):
        if given is not None and not numbers:
            with under(name):
                raise BadInput("expected together with bytes, got no bytes; add bytes, as 1MiB:1GiB")
    with under("bandwidth"):
        speed = bandwidth_of(bandwidth or BANDWIDTH)
    with under("latency"):
        wait = seconds_of(latency or LATENCY)
    return Timing(numbers, speed, wait) if numbers else None


def compared(
    network: Topology,
    operation: str,
    algorithms: Sequence[str],
    *,
    every: bool,
    root: int,
    flits: int | None,
    timing: Timing | None,
    use_symmetry: bool,
) -> tuple[list[Row], dict[str, str]]:
    """(the best of all, then the algorithms, the fastest first; algorithm → why it does not suit the network).

    every   whether each algorithm must suit
    flits   of each equal part of the data in a simulation; None: none
    """
    bounds = optimum(network, operation, root=root, use_symmetry=use_symmetry)
    costs, runs, left_out = {}, {}, {}
    for algorithm in algorithms:
        try:
            schedule = schedule_of(network, operation, algorithm, root=root)
            runs[algorithm] = {} if flits is None else simulated(network, schedule, flits).columns()
        except BadInput as refusal:
            if every:
                raise
            left_out[algorithm] = str(refusal)
            continue
        costs[algorithm] = cost_of(network, schedule)
    measured = {algorithm: cost.cycles for algorithm, cost in costs.items()}
    best = best_known(network, operation, root=root, use_symmetry=use_symmetry, bounds=bounds, measured=measured)
    rows = []
    for algorithm, cost in sorted(costs.items(), key=lambda pair: pair[1].cycles):
        row = record_of(network, operation, algorithm, root, best, cost, best.method)
        rows.append(row | runs[algorithm] | _times(row, cost, timing))
    least = record_of(network, operation, OPTIMUM, root, best, None, best.method)
    return [least | _times(least, None, timing), *rows], left_out


def _times(row: Row, cost: AlgorithmCost | None, timing: Timing | None) -> Row:
    """Of each size its time and bandwidths; of the best of all (no cost) what the bound allows: no less."""
    if timing is None:
        return {}
    share = row["bus_bandwidth"] / row["algorithm_bandwidth"] if row["algorithm_bandwidth"] else None
    _, bandwidth, latency = timing
    times = []
    for number in timing.sizes:
        seconds = cost.seconds(number, bandwidth, latency) if cost else row["bound"] * number / bandwidth
        times.append(
            {
                "bytes": number,
                "seconds": seconds,
                "algorithm_bandwidth": number / seconds,
                "bus_bandwidth": None if share is None else share * number / seconds,
                "pieces": cost.pieces(number, bandwidth, latency) if cost else None,
            }
        )
    return {"bandwidth": bandwidth, "latency": latency, "times": times}


def together(network: Topology, left_out: Mapping[str, str]) -> str:
    """Why no algorithm suits a network, in a line: the reason that all have, or each its own."""
    counts = np.bincount(network.terminals, minlength=network.nodes)
    if (counts != 1).any():
        bare, several = int((counts == 0).sum()), int((counts > 1).sum())
        found = [counted(bare, "node") + " without a terminal"] * (bare > 0)
        found += [counted(several, "node") + " with several"] * (several > 0)
        return f"expected one terminal at each node, got {' and '.join(found)}; the optimum alone has no such limit"
    return "; ".join(f"{algorithm}: {reason}" for algorithm, reason in left_out.items())
