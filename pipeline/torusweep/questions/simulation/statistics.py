"""Loads and latencies with confidence intervals, from the times at which packets were generated, entered and arrived.

The measurement window reaches from the end of the warm-up to the end of the run; packets delivered in it
count. The window is divided into batches of equal duration, and the variance of their means gives the intervals (batch
means). In a short run these means depend on each other, are skewed, and still contain some warm-up. An interval
that treats them as independent would then be too narrow: see `half_width`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.special when it is first used
from torusweep_kernels.router import REFUSED

BATCHES = 20  # batches of one run's window
PARTS = 60  # parts of one run's window, which are joined into batches
LARGER = (10, 5)  # numbers of batches with which every interval is computed as well
CORRELATED = ((0.2, (4, 3)), (0.4, (2,)))  # (least correlation of successive batches, further numbers of batches)
MOST_CORRELATION = 0.8  # largest correlation that is corrected for; above it, the largest batches decide
MSER_BATCH = 5  # packets of a batch of MSER-5
MAX_MSER_BATCHES = 1000  # with more packets, batches grow
MIN_ACCEPTED = 0.98  # share of the generated load below which a network is saturated
CONFIDENCE = 0.95
BINS_PER_DOUBLING = 16  # bins of the histogram per doubling of the latency


class Run(NamedTuple):
    """The packets of one experiment, all arrays in the same order. Times are cycles.

    time       int32[M]   when each packet was generated
    entered    int32[M]   when its head left the source queue; −1: never; −2 (REFUSED): the queue was full
    delivered  int32[M]   when its tail was ejected; −1: never
    local      int64[L]   when packets to their own source were generated; they arrive at once, without a latency
    local_flits  int16[L] lengths of these local packets, flits
    flits      int16[M]   length of each packet, flits
    terminals  int        number of terminals
    end        int        number of cycles that count: the requested cycles, or the cycles until a deadlock
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
    """A mean and the half-width of its 95 % confidence interval. The half-width is None without data or variance, or
    if a run's window is shorter than 20 mean latencies.
    """

    mean: float | None
    half_width: float | None


class Figures(NamedTuple):
    """Results of several runs at one load. Latencies are in cycles, loads in flits per cycle per terminal.

    warm_up          longest warm-up of the runs
    packets          packets delivered in the windows, without local packets
    refused          packets generated in the windows while the source queue was full
    generated        generated load, including local and refused packets
    accepted         accepted load, including local packets
    network, total   latency until the tail arrives: network, from the packet's entry; total, from its generation
    quantiles        50 % and 99 % quantiles of the total latency; None without packets
    histogram        (lower end, packets) of the non-empty bins of the total latency
    saturated        True if accepted < 0.98 × generated with 95 % confidence. None if accepted is less without this
                     confidence, or with fewer generated packets than there are batches. Otherwise False
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
    """Return the results of runs that differ only in their seeds.

    warm_up   cycles excluded from measurement; None: detected for each run by MSER-5
    Raises ValueError if the warm-up is as long as a run.
    """
    warm = [mser5(run) if warm_up is None else warm_up for run in runs]
    if any(begin >= run.end for begin, run in zip(warm, runs)):
        raise ValueError(
            f"figures: expected a warm-up shorter than the run, got {max(warm)} of {min(run.end for run in runs)}"
            " cycles"
        )
    windows = [_window(run, begin) for run, begin in zip(runs, warm)]
    cycles = np.concatenate(
        [np.full(BATCHES, (run.end - begin) / BATCHES * run.terminals) for run, begin in zip(runs, warm)]
    )
    width = (cycles * BATCHES / PARTS).repeat(PARTS // BATCHES).reshape(len(runs), PARTS)
    flits, generated, packets, network_sum, total_sum = (
        np.array([window[column] for window in windows]) for column in range(5)
    )
    total = np.concatenate([window.total for window in windows])
    sent = sum(int(((run.time >= begin) & (run.time < run.end)).sum()) for run, begin in zip(runs, warm))
    lacking = (flits - MIN_ACCEPTED * generated).reshape(-1, PARTS // BATCHES).sum(axis=1)
    lag = _ratio(lacking, cycles)
    shortest = min(run.end - begin for run, begin in zip(runs, warm))
    saturated = lag[0] < 0 and ((sent >= BATCHES and lag[0] + _student(len(cycles), CONFIDENCE) * lag[1] < 0) or None)
    # at a saturated load, latencies grow with the run, however long it is
    long_enough = saturated is True or not len(total) or shortest >= BATCHES * total.mean()
    return Figures(
        warm_up=max(warm),
        packets=len(total),
        refused=sum(
            int(((run.entered == REFUSED) & (run.time >= begin) & (run.time < run.end)).sum())
            for run, begin in zip(runs, warm)
        ),
        generated=_estimate(generated, width, over=cycles.sum()),
        accepted=_estimate(flits, width, over=cycles.sum()),
        network=_estimate(network_sum, packets, long_enough),
        total=_estimate(total_sum, packets, long_enough),
        quantiles=None if not len(total) else _quantiles(total),
        histogram=histogram(total),
        saturated=saturated,
    )


def mser5(run: Run) -> int:
    """Return the end of the warm-up in cycles: the truncation with the least marginal standard error of mean latency.

    The observations are total latencies in the order of delivery, in batches of five packets. Longer runs have larger
    batches, so that there are at most 1000. At most half of the batches are truncated.
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
    """Return (lower end, packets) of the non-empty bins: a bin per cycle up to 32, then 16 bins per doubling."""
    if not len(latency):
        return []
    shift = np.maximum(np.frexp(np.maximum(latency, 1).astype(np.float64))[1] - 1 - int(np.log2(BINS_PER_DOUBLING)), 0)
    lower, packets = np.unique(latency >> shift << shift, return_counts=True)
    return list(zip(lower.tolist(), packets.tolist()))


class _Window(NamedTuple):
    """Flits delivered and generated, packets delivered and sums of latencies for each part, and all total latencies."""

    flits: np.ndarray
    generated: np.ndarray
    packets: np.ndarray
    network_sum: np.ndarray
    total_sum: np.ndarray
    total: np.ndarray


def _window(run: Run, begin: int) -> _Window:
    length = run.end - begin

    def parts(cycle: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        inside = (cycle >= begin) & (cycle < run.end)
        part = (cycle[inside].astype(np.int64) - begin) * PARTS // length
        return np.bincount(part, None if weight is None else weight[inside], minlength=PARTS)

    local = parts(run.local, run.local_flits)
    total, network = run.delivered - run.time, run.delivered - run.entered
    inside = (run.delivered >= begin) & (run.delivered < run.end)
    return _Window(
        flits=parts(run.delivered, run.flits) + local,
        generated=parts(run.time, run.flits) + local,
        packets=parts(run.delivered),
        network_sum=parts(run.delivered, network),
        total_sum=parts(run.delivered, total),
        total=total[inside],
    )


def _ratio(value: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return (Σ value / Σ weight, its standard error) over batches: the ratio estimator."""
    mean = value.sum() / weight.sum()
    variance = ((value - mean * weight) ** 2).sum() / (len(value) - 1) / len(value)
    return float(mean), float(np.sqrt(variance) / weight.mean())


def _estimate(
    value: np.ndarray, weight: np.ndarray, long_enough: bool = True, over: float | None = None
) -> MeanEstimate:
    """Estimate a mean from the parts, [R, PARTS], of all runs, with an interval if batches are `long_enough`."""
    if not weight.sum():
        return MeanEstimate(None, None)
    mean = float(value.sum() / (weight.sum() if over is None else over))
    filled = weight.reshape(-1, PARTS // BATCHES).any(axis=1)
    if not long_enough or np.count_nonzero(filled) < 2 or not value.any():  # no variance to estimate
        return MeanEstimate(mean, None)
    return MeanEstimate(mean, half_width(value, weight))


def half_width(value: np.ndarray, weight: np.ndarray) -> float:
    """Return half the width of a 95 % confidence interval for Σ value / Σ weight over successive parts of windows.

    value, weight   [R, 60] for R runs that differ only in their seeds

    The result is the largest half-width by batch means with 20, 10 and 5 batches per run, each with its Student's t.
    With 20 batches, it is corrected for skewness and for the correlation of successive means (lag 1), as in N-Skart. If
    means are correlated, larger batches down to two also count, as they show whether a mean still moves; since all runs
    fill alike, batches of the same time are then joined. Source: Law and Kelton 1984 (batch means); Tafazzoli, Steiger
    and Wilson 2011 (N-Skart: corrections); Marriott and Pope 1954 (bias of the correlation).
    """
    together = value.sum(axis=0, keepdims=True), weight.sum(axis=0, keepdims=True)
    means = _deviations(*together, BATCHES)
    squares = float((means**2).sum())
    observed = float((means[1:] * means[:-1]).sum()) / squares * BATCHES / (BATCHES - 1) if squares else 0.0
    correlation = observed + (1 + 3 * max(observed, 0.0)) / BATCHES
    widths = [_width(value, weight, number) for number in LARGER]
    for least, numbers in CORRELATED:
        widths += [_width(*together, number) for number in numbers if correlation > least]
    kept = min(max(correlation, 0.0), MOST_CORRELATION)
    return float(max(_width(value, weight, BATCHES, skewed=True) * np.sqrt((1 + kept) / (1 - kept)), *widths))


def _deviations(value: np.ndarray, weight: np.ndarray, batches: int) -> np.ndarray:
    """Return value − mean · weight of each batch, float64[R · batches]. The sum over all batches is 0."""
    return (value - value.sum() / weight.sum() * weight).reshape(len(value) * batches, -1).sum(axis=1)


def _width(value: np.ndarray, weight: np.ndarray, batches: int, skewed: bool = False) -> float:
    """Return the half-width for independent batches. skewed: whether to correct for their skewness (Willink 2005)."""
    deviations = _deviations(value, weight, batches)
    number, square = len(deviations), float((deviations**2).mean())
    if not square:
        return 0.0
    quantile = _student(number, (1 + CONFIDENCE) / 2)
    skew = float((deviations**3).mean()) / square**1.5 / (6 * np.sqrt(number))
    if skewed and abs(skew) > 1e-9:
        ends = (np.cbrt(1 + 6 * skew * (end - skew)) - 1 for end in (quantile, -quantile))
        quantile = max(quantile, *(abs(end / (2 * skew)) for end in ends))
    return float(quantile * np.sqrt(square / (number - 1)) / (weight.sum() / number))


def _student(batches: int, probability: float) -> float:
    return float(scipy.special.stdtrit(batches - 1, probability))


def _quantiles(latency: np.ndarray) -> tuple[int, int]:
    median, tail = np.quantile(latency, (0.5, 0.99), method="inverted_cdf")
    return int(median), int(tail)
