"""Of the models' parts: Parhami & Kwai's queue state by state and their latency as it is printed, D90's best cube."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from torusweep.questions.latency import dally
from torusweep.questions.latency import parhami_kwai as pk
from torusweep.questions.latency.parhami_kwai import Floats


def waiting(arrivals: pk.Arrivals) -> Floats:
    """Σ_{i≥2} (i-1) r(i) = E[A(A-1)] / (2(1-ρ)): packets in a channel's buffer, in closed form."""
    return arrivals.pairs / (2 * (1 - arrivals.mean))


def states_for(arrivals: pk.Arrivals, tail: float) -> int:
    """How many states hold all but `tail` of the contenders' distribution, for each of the queues.

    The packets left over after a slot follow Lindley's recursion, so i of them or more have a
    probability of z^-i at most, z > 1 the root of Σ q(i) z^i = z (Kingman 1964); a slot adds inputs + 1 at most.
    """
    # log z, from below: the excess of the cumulant is convex, and negative up to the root
    decay = np.full(arrivals.inputs.shape, 1e-12)
    above = np.full(arrivals.inputs.shape, 40.0)
    for _ in range(80):
        middle = np.sqrt(decay * above)
        growth = np.expm1(middle)
        below = arrivals.inputs * np.log1p(arrivals.through * growth) + np.log1p(arrivals.local * growth) < middle
        decay, above = np.where(below, middle, decay), np.where(below, above, middle)
    return int(np.ceil(arrivals.inputs + 2 - np.log(tail) / decay).max())


def mean_latency(
    rate: npt.ArrayLike,
    degree: npt.ArrayLike,
    flits: npt.ArrayLike,
    mean_distance: npt.ArrayLike,
    switch_delay: npt.ArrayLike,
    *,
    directed: npt.ArrayLike,
) -> Floats:
    """T = [F + s(Δ-1)] (1-p_w) + T_c cycles, as printed: all channels equally busy. inf from saturation on (ρ ≥ 1)."""
    busy = pk.utilization(rate, degree, flits, mean_distance)
    through = pk.cut_through_probability(busy, degree, flits, mean_distance, directed=directed)
    return pk.uncontended(flits, mean_distance, switch_delay) * through + pk.contention_delay(
        busy, degree, flits, mean_distance, directed=directed
    )


def best_dimension(
    nodes: int, message_bits: float, *, delay: str = "constant", locality: float = 1.0, whole: bool = False
) -> tuple[int, float]:
    """(n, cycles): the dimension of least wormhole latency, the lowest of several, among 2 … log2 N.

    whole   whole radices only (`whole_radices`); dimensions that have none are passed over
    """
    found = {
        n: float(dally.wormhole(design, message_bits, delay=delay, locality=locality))
        for n, design in dally.designs(nodes, whole=whole)
    }
    best = min(found, key=lambda n: (found[n], n))
    return best, found[best]
