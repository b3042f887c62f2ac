"""Loads and latencies with confidence intervals, from the times at which packets were generated, entered and arrived.

The measurement window reaches from the end of the warm-up to the end of the run; packets delivered in it
count. The window is divided into batches of equal duration, whose means are nearly independent. Their
variance gives the intervals (batch means).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.special when it is first used
from torusweep_kernels.router import REFUSED

BATCHES = 20  # of the window of one run
MSER_BATCH = 5  # packets of a batch
MAX_MSER_BATCHES = 1000  # with more packets, batches grow
MIN_ACCEPTED = 0.98  # share of the generated load below which a network is saturated
CONFIDENCE = 0.95
BINS_PER_DOUBLING = 16  # of the histogram


class Run(NamedTuple):
    """The packets of one experiment, all arrays in the same order. Times are cycles.

    time       int32[M]   generated
    entered    int32[M]   its head left the source queue; −1 never, −2 (REFUSED) the queue was full
    delivered  int32[M]   its tail was ejected; −1 never
    local      int64[L]   generation of packets to their own source: delivered at once, without a latency
    local_flits  int16[L] their lengths
    flits      int16[M]   length
    terminals  int
    end        int        cycles that count: all requested ones, or those until a deadlock
    """

    time: np.ndarray
    entered: np.ndarray
    delivered: np.ndarray
    local: np.ndarray
    local_flits: np.ndarray
    flits: np.ndarray
    terminals: int
    end: int


class MeanEstimate(NamedTuple):
    """A mean and the half-width of its 95 % confidence interval; None without data, or without variance."""

    mean: float | None
    half_width: float | None


class Figures(NamedTuple):
    """Results of several runs at one load. Latencies in cycles, loads in flits per cycle per terminal.

    warm_up          the longest of the runs
    packets          delivered in the windows, without local ones
    refused          generated in the windows while the source queue was full
    generated        load, including local and refused packets
    accepted         load, including local packets
    network, total   latency from entry, and from generation, to the arrival of the tail
    quantiles        50 % and 99 % of the total latency; None without packets
    histogram        (lower end, packets) of the non-empty bins of the total latency
    saturated        accepted < 0.98 × generated with 95 % confidence; None where it is less without that confidence, or
                     fewer packets were generated than there are batches
    """

    warm_up: int
    packets: int
    refused: int
    generated: MeanEstimate
    accepted: MeanEstimate
    network: MeanEstimate
    total: MeanEstimate
    quantiles: tuple[int, int] | None
    histogram: list[tuple[int, int]]
    saturated: bool | None


def figures(runs: Sequence[Run], warm_up: int | None = None) -> Figures:
    """The results of runs that differ in their seeds.

    warm_up   cycles excluded from measurement; None: detected for each run by MSER-5
    Raises ValueError where the warm-up is as long as a run.
    """
    warm = [mser5(run) if warm_up is None else warm_up for run in runs]
    if any(begin >= run.end for begin, run in zip(warm, runs)):
        raise ValueError(
            f"figures: expected a warm-up shorter than the run, got {max(warm)} of {min(run.end for run in runs)}"
            " cycles"
        )
    windows = [_window(run, begin) for run, begin in zip(runs, warm)]
    width = np.concatenate(
        [np.full(BATCHES, (run.end - begin) / BATCHES * run.terminals) for run, begin in zip(runs, warm)]
    )
    flits = np.concatenate([window.flits for window in windows])
    generated = np.concatenate([window.generated for window in windows])
    packets = np.concatenate([window.packets for window in windows])
    total = np.concatenate([window.total for window in windows])
    sent = sum(int(((run.time >= begin) & (run.time < run.end)).sum()) for run, begin in zip(runs, warm))
    lag = _ratio(flits - MIN_ACCEPTED * generated, width)
    return Figures(
        warm_up=max(warm),
        packets=len(total),
        refused=sum(
            int(((run.entered == REFUSED) & (run.time >= begin) & (run.time < run.end)).sum())
            for run, begin in zip(runs, warm)
        ),
        generated=_estimate(generated, width),
        accepted=_estimate(flits, width),
        network=_estimate(np.concatenate([window.network_sum for window in windows]), packets),
        total=_estimate(np.concatenate([window.total_sum for window in windows]), packets),
        quantiles=None if not len(total) else _quantiles(total),
        histogram=histogram(total),
        saturated=lag[0] < 0 and ((sent >= BATCHES and lag[0] + _student(len(width), CONFIDENCE) * lag[1] < 0) or None),
    )


def mser5(run: Run) -> int:
    """The end of the warm-up, in cycles: the truncation that minimises the marginal standard error of the mean latency.

    The observations are total latencies in the order of delivery, in batches of five (larger ones rather than more
    than 1000 batches). At most half of them is truncated.
    Source: White 1997; White, Cobb & Spratt 2000 (MSER-5).
    """
    order = np.flatnonzero((run.delivered >= 0) & (run.delivered < run.end))
    order = order[np.argsort(run.delivered[order], kind="stable")]
    size = max(MSER_BATCH, -(-len(order) // MAX_MSER_BATCHES))
    batches = len(order) // size
    if batches < 2:
        return 0
    latency = (run.delivered[order] - run.time[order])[: batches * size].reshape(batches, size).mean(axis=1)
    left = batches - np.arange(batches // 2 + 1)  # after truncation of 0, 1, … batches
    sums, squares = (np.cumsum(x[::-1])[::-1][: batches // 2 + 1] for x in (latency, latency**2))
    deviation = squares - sums**2 / left
    cut = int(np.argmin(np.maximum(deviation, 0) / left**2))
    return int(run.delivered[order[cut * size]]) if cut else 0


def histogram(latency: np.ndarray) -> list[tuple[int, int]]:
    """(lower end, packets) of the non-empty bins: one for each cycle up to 32, then 16 for each doubling."""
    if not len(latency):
        return []
    shift = np.maximum(np.frexp(np.maximum(latency, 1).astype(np.float64))[1] - 1 - int(np.log2(BINS_PER_DOUBLING)), 0)
    lower, packets = np.unique(latency >> shift << shift, return_counts=True)
    return list(zip(lower.tolist(), packets.tolist()))


class _Window(NamedTuple):
    """For each batch: flits delivered and generated, packets delivered, sums of latencies; and all total latencies."""

    flits: np.ndarray
    generated: np.ndarray
    packets: np.ndarray
    network_sum: np.ndarray
    total_sum: np.ndarray
    total: np.ndarray


def _window(run: Run, begin: int) -> _Window:
    length = run.end - begin

    def batches(cycle: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        inside = (cycle >= begin) & (cycle < run.end)
        batch = (cycle[inside].astype(np.int64) - begin) * BATCHES // length
        return np.bincount(batch, None if weight is None else weight[inside], minlength=BATCHES)

    local = batches(run.local, run.local_flits)
    total, network = run.delivered - run.time, run.delivered - run.entered
    inside = (run.delivered >= begin) & (run.delivered < run.end)
    return _Window(
        flits=batches(run.delivered, run.flits) + local,
        generated=batches(run.time, run.flits) + local,
        packets=batches(run.delivered),
        network_sum=batches(run.delivered, network),
        total_sum=batches(run.delivered, total),
        total=total[inside],
    )


def _ratio(value: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """(Σ value / Σ weight, its standard error) over batches: the ratio estimator."""
    mean = value.sum() / weight.sum()
    variance = ((value - mean * weight) ** 2).sum() / (len(value) - 1) / len(value)
    return float(mean), float(np.sqrt(variance) / weight.mean())


def _estimate(value: np.ndarray, weight: np.ndarray) -> MeanEstimate:
    if not weight.sum():
        return MeanEstimate(None, None)
    mean, error = _ratio(value, weight)
    if np.count_nonzero(weight) < 2 or not value.any():  # no variance to estimate
        return MeanEstimate(mean, None)
    return MeanEstimate(mean, _student(len(value), (1 + CONFIDENCE) / 2) * error)


def _student(batches: int, probability: float) -> float:
    return float(scipy.special.stdtrit(batches - 1, probability))


def _quantiles(latency: np.ndarray) -> tuple[int, int]:
    median, tail = np.quantile(latency, (0.5, 0.99), method="inverted_cdf")
    return int(median), int(tail)
