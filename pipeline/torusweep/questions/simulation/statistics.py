"""Loads and latencies with confidence intervals, from the times at which packets were generated, entered and arrived.

The measurement window reaches from the end of the warm-up to the end of the run; packets delivered in it count. The
window is divided into batches of equal duration, and the variance of their means gives the intervals (batch means). In
a short run these means depend on each other and are skewed, so an interval that treats them as independent would be too
narrow: see `half_width`. docs/simulation.md shows how often intervals hold the true mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.special when it is first used
from torusweep_kernels.router import REFUSED

BATCHES = 20  # batches of one run's window
PARTS = 60  # parts of one run's window, which are joined into batches
CORRELATED = ((0.2, (4, 3)), (0.4, (2,)))  # (least correlation of successive batches, further numbers of batches)
CORRECTED = -0.2, 0.8  # correlations that are corrected for; above them, the largest batches decide
FILLED = 0.2  # largest share of a run in which a network fills, if the run is stationary
MOMENTS = 10_000  # most moments of a run at which the packets in the network are counted
MIN_ACCEPTED = 0.98  # share of the generated load below which a network is saturated
CONFIDENCE, QUANTILES = 0.95, (0.5, 0.99)
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
    """A mean and the half-width of its 95 % confidence interval. The half-width is None without data or variance; that
    of a latency also if the runs are not stationary, or a window is shorter than 20 mean latencies.
    """

    mean: float | None
    half_width: float | None


class Figures(NamedTuple):
    """Results of several runs at one load. Latencies are in cycles, loads in flits per cycle per terminal.

    warm_up          warm-up of the runs, as given or detected
    stationary       whether the detected warm-up is at most a fifth of the runs; None if given, or packets stop
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
    stationary: bool | None
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

    warm_up   cycles excluded from measurement; None: the time in which the network fills (`filling`)
    Raises ValueError if the warm-up is as long as a run.
    """
    end = min(run.end for run in runs)
    begin = filling(runs) if warm_up is None else warm_up
    if begin >= end:
        raise ValueError(f"figures: expected a warm-up shorter than the run, got {begin} of {end} cycles")
    shown = warm_up is None and any((run.delivered >= end // 2).any() for run in runs)
    stationary = begin <= FILLED * end if shown else None
    windows = [_window(run, begin) for run in runs]
    cycles = np.concatenate([np.full(BATCHES, (run.end - begin) / BATCHES * run.terminals) for run in runs])
    width = (cycles * BATCHES / PARTS).repeat(PARTS // BATCHES).reshape(len(runs), PARTS)
    flits, generated, packets, network_sum, total_sum = map(np.array, zip(*(columns for columns, _ in windows)))
    total = np.concatenate([latency for _, latency in windows])
    sent = sum(int(((run.time >= begin) & (run.time < run.end)).sum()) for run in runs)
    lacking = (flits - MIN_ACCEPTED * generated).reshape(-1, PARTS // BATCHES).sum(axis=1)
    lag = _ratio(lacking, cycles)
    saturated = lag[0] < 0 and ((sent >= BATCHES and lag[0] + _student(len(cycles), CONFIDENCE) * lag[1] < 0) or None)
    # at a saturated load, latencies grow with the run, however long it is
    enough = saturated is True or (
        stationary is not False and (not len(total) or end - begin >= BATCHES * total.mean())
    )
    return Figures(
        warm_up=begin,
        stationary=stationary,
        packets=len(total),
        refused=sum(int(((run.entered == REFUSED) & (run.time >= begin) & (run.time < run.end)).sum()) for run in runs),
        generated=_estimate(generated, width, over=cycles.sum()),
        accepted=_estimate(flits, width, over=cycles.sum()),
        network=_estimate(network_sum, packets, enough),
        total=_estimate(total_sum, packets, enough),
        quantiles=tuple(np.quantile(total, QUANTILES, method="inverted_cdf").astype(int).tolist())
        if len(total)
        else None,
        histogram=histogram(total),
        saturated=saturated,
    )


def filling(runs: Sequence[Run]) -> int:
    """Return the cycle in which the runs first have as many packets under way as on average in their second half.

    Packets in source queues count. The network is empty at first. From this cycle on, it is as likely to be fuller than
    usual as emptier, so that the means are not biased. The result is at most half of the runs; 0 if no packet arrived.
    Source: Fishman 1973 (crossing the mean), of the mean over replications (Welch 1983).
    """
    end = min(run.end for run in runs)
    moments = min(end, MOMENTS)
    change = np.zeros(moments, np.int64)
    for run in runs:
        for sign, cycle in ((1, run.time[run.entered != REFUSED]), (-1, run.delivered[run.delivered >= 0])):
            change += sign * np.bincount(cycle[cycle < end].astype(np.int64) * moments // end, minlength=moments)
    under_way = np.cumsum(change)
    first = int(np.argmax(under_way >= under_way[moments // 2 :].mean()))
    arrived = any((run.delivered >= 0).any() for run in runs)
    return min(-(-(first + 1) * end // moments), end // 2) if arrived else 0


def histogram(latency: np.ndarray) -> list[tuple[int, int]]:
    """Return (lower end, packets) of the non-empty bins: a bin per cycle up to 32, then 16 bins per doubling."""
    if not len(latency):
        return []
    shift = np.maximum(np.frexp(np.maximum(latency, 1).astype(np.float64))[1] - 1 - int(np.log2(BINS_PER_DOUBLING)), 0)
    lower, packets = np.unique(latency >> shift << shift, return_counts=True)
    return list(zip(lower.tolist(), packets.tolist()))


def _window(run: Run, begin: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Return (for each part: flits delivered and generated, packets delivered, sums of latencies; total latencies)."""

    def parts(cycle: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        inside = (cycle >= begin) & (cycle < run.end)
        part = (cycle[inside].astype(np.int64) - begin) * PARTS // (run.end - begin)
        return np.bincount(part, None if weight is None else weight[inside], minlength=PARTS)

    local = parts(run.local, run.local_flits)
    flits = parts(run.delivered, run.flits) + local, parts(run.time, run.flits) + local
    total = run.delivered - run.time
    sums = (parts(run.delivered, latency) for latency in (None, run.delivered - run.entered, total))
    return [*flits, *sums], total[(run.delivered >= begin) & (run.delivered < run.end)]


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

    The half-width is that of 20 batches per run by Student's t, corrected for the correlation of successive means
    (lag 1) and for skewness. If means are correlated, the result is the largest of this and those of larger batches
    down to two, which show whether a mean still moves; as runs fill alike, batches of the same time are then joined.
    Source: Law and Kelton 1984 (batch means); Tafazzoli, Steiger and Wilson 2011 (N-Skart: corrections); Marriott and
    Pope 1954 (bias of the correlation).
    """
    together = value.sum(axis=0, keepdims=True), weight.sum(axis=0, keepdims=True)
    means = _deviations(*together, BATCHES)
    squares = float((means**2).sum())
    observed = float((means[1:] * means[:-1]).sum()) / squares * BATCHES / (BATCHES - 1) if squares else 0.0
    correlation = observed + (1 + 3 * observed) / BATCHES
    widths = [_width(*together, number) for least, some in CORRELATED if correlation > least for number in some]
    kept = float(np.clip(correlation, *CORRECTED))
    return float(max(_width(value, weight, BATCHES, skewed=True) * np.sqrt((1 + kept) / (1 - kept)), *widths, 0.0))


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
