"""From when packets were generated, entered and arrived, to figures with confidence intervals.

What is delivered in the window of measurement counts: from the end of the warm-up to the end of the
run. The window is cut into batches of equal time, whose means are nearly independent; from their
scatter come the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from torusweep_kernels.router import REFUSED

BATCHES = 20  # of the window of one run
FEWEST = 5  # packets of a batch of MSER-5
MOST = 1000  # batches of MSER-5, beyond which they hold more packets
ENOUGH = 0.98  # of what is offered must be accepted
CONFIDENCE = 0.95
FINE = 16  # bins of the histogram to a doubling


class Run(NamedTuple):
    """What one experiment did. Times are cycles; a packet's arrays stand in one order.

    time       int32[M]   generated
    entered    int32[M]   its head left the source queue; −1 never, −2 (REFUSED) the queue was full
    delivered  int32[M]   its tail was ejected; −1 never
    local      int64[L]   packets to their own source generated, which count as delivered at once and have no latency
    flits      int, or int16[M] where none is local: length of a packet
    terminals  int
    end        int        cycles that count: all that were asked for, or those until it stood still
    """

    time: np.ndarray
    entered: np.ndarray
    delivered: np.ndarray
    local: np.ndarray
    flits: int | np.ndarray
    terminals: int
    end: int


class Estimate(NamedTuple):
    """A mean, and half the width of its 95 % confidence interval; None where there is nothing to estimate it from, or just one batch."""

    mean: float | None
    half_width: float | None


class Figures(NamedTuple):
    """Of several runs at one load together. Latencies in cycles, loads in flits per terminal and cycle.

    warm_up          longest of the runs', cycles
    packets          delivered in the windows; local ones are not among them
    refused          generated in the windows when the source queue was full
    generated, accepted   loads, local and refused packets included
    network, total   latency: from entering, from being generated, to the tail's arrival
    quantiles        of the total latency: 50 %, 99 %; None without packets
    histogram        (lower end, packets) of the total latency's bins that are not empty
    saturated        accepted < 0.98 × generated with 95 % confidence; None where it is less, but might be so by chance
    """

    warm_up: int
    packets: int
    refused: int
    generated: Estimate
    accepted: Estimate
    network: Estimate
    total: Estimate
    quantiles: tuple[int, int] | None
    histogram: list[tuple[int, int]]
    saturated: bool | None


def figures(runs: Sequence[Run], warm_up: int | None = None) -> Figures:
    """The figures of runs that differ in their seeds.

    warm_up   cycles that do not count; None: each run's own, by MSER-5
    Raises ValueError where nothing is left of a run.
    """
    warm = [mser5(run) if warm_up is None else warm_up for run in runs]
    if any(begin >= run.end for begin, run in zip(warm, runs)):
        raise ValueError(
            f"figures: expected a warm-up shorter than the run, got {max(warm)} of {min(run.end for run in runs)} cycles"
        )
    seen = [_window(run, begin) for run, begin in zip(runs, warm)]
    width = np.concatenate(
        [np.full(BATCHES, (run.end - begin) / BATCHES * run.terminals) for run, begin in zip(runs, warm)]
    )
    flits = np.concatenate([window.flits for window in seen])
    generated = np.concatenate([window.generated for window in seen])
    number = np.concatenate([window.number for window in seen])
    total = np.concatenate([window.total for window in seen])
    lag = _ratio(flits - ENOUGH * generated, width)
    return Figures(
        warm_up=max(warm),
        packets=len(total),
        refused=sum(
            int(((run.entered == REFUSED) & (run.time >= begin) & (run.time < run.end)).sum())
            for run, begin in zip(runs, warm)
        ),
        generated=_estimate(generated, width),
        accepted=_estimate(flits, width),
        network=_estimate(np.concatenate([window.network_sum for window in seen]), number),
        total=_estimate(np.concatenate([window.total_sum for window in seen]), number),
        quantiles=None if not len(total) else _quantiles(total),
        histogram=histogram(total),
        saturated=lag[0] < 0 and (lag[0] + _student(len(width), CONFIDENCE) * lag[1] < 0 or None),
    )


def mser5(run: Run) -> int:
    """The end of the warm-up, in cycles: the truncation of the latencies that makes their mean's marginal standard error least.

    Observations are total latencies in the order of delivery, in batches of five (more, where there would be
    more than 1000 batches); at most half of them is cut off.
    Source: White 1997; White, Cobb & Spratt 2000 (MSER-5).
    """
    there = np.flatnonzero((run.delivered >= 0) & (run.delivered < run.end))
    there = there[np.argsort(run.delivered[there], kind="stable")]
    size = max(FEWEST, -(-len(there) // MOST))
    many = len(there) // size
    if many < 2:
        return 0
    latency = (run.delivered[there] - run.time[there])[: many * size].reshape(many, size).mean(axis=1)
    left = many - np.arange(many // 2 + 1)  # batches left after cutting 0, 1, … off
    behind, squares = (np.cumsum(x[::-1])[::-1][: many // 2 + 1] for x in (latency, latency**2))
    spread = squares - behind**2 / left
    cut = int(np.argmin(np.maximum(spread, 0) / left**2))
    return int(run.delivered[there[cut * size]]) if cut else 0


def histogram(latency: np.ndarray) -> list[tuple[int, int]]:
    """(lower end, packets) of the bins that are not empty: one a cycle up to 32, then 16 to every doubling."""
    if not len(latency):
        return []
    shift = np.maximum(np.frexp(np.maximum(latency, 1).astype(np.float64))[1] - 1 - int(np.log2(FINE)), 0)
    lower, packets = np.unique(latency >> shift << shift, return_counts=True)
    return list(zip(lower.tolist(), packets.tolist()))


class _Window(NamedTuple):
    """Of every batch: flits delivered, flits generated, packets delivered, and their latencies' sums; and every latency."""

    flits: np.ndarray
    generated: np.ndarray
    number: np.ndarray
    network_sum: np.ndarray
    total_sum: np.ndarray
    total: np.ndarray


def _window(run: Run, begin: int) -> _Window:
    length = run.end - begin

    def batches(cycle: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        inside = (cycle >= begin) & (cycle < run.end)
        batch = (cycle[inside].astype(np.int64) - begin) * BATCHES // length
        return np.bincount(batch, None if weight is None else weight[inside], minlength=BATCHES)

    local = batches(run.local) * (run.flits if isinstance(run.flits, int) else 0)
    flits = np.broadcast_to(run.flits, run.time.shape)
    total, network = run.delivered - run.time, run.delivered - run.entered
    inside = (run.delivered >= begin) & (run.delivered < run.end)
    return _Window(
        flits=batches(run.delivered, flits) + local,
        generated=batches(run.time, flits) + local,
        number=batches(run.delivered),
        network_sum=batches(run.delivered, network),
        total_sum=batches(run.delivered, total),
        total=total[inside],
    )


def _ratio(value: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """(Σ value / Σ weight, its standard error) over batches."""
    mean = value.sum() / weight.sum()
    scatter = ((value - mean * weight) ** 2).sum() / (len(value) - 1) / len(value)
    return float(mean), float(np.sqrt(scatter) / weight.mean())


def _estimate(value: np.ndarray, weight: np.ndarray) -> Estimate:
    if not weight.sum():
        return Estimate(None, None)
    mean, error = _ratio(value, weight)
    if (
        np.count_nonzero(weight) < 2 or not value.any()
    ):  # batches that all say nothing, or but one that speaks, show no scatter
        return Estimate(mean, None)
    return Estimate(mean, _student(len(value), (1 + CONFIDENCE) / 2) * error)


def _student(batches: int, probability: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(batches - 1, probability))


def _quantiles(latency: np.ndarray) -> tuple[int, int]:
    half, most = np.quantile(latency, (0.5, 0.99), method="inverted_cdf")
    return int(half), int(most)
