"""Compute the rows of the table `availability`, one for each measure of a request.

A row has the mean and quantiles of a measure with intervals, over a sample of draws or over all combinations.
"""

from __future__ import annotations

from math import fsum, sqrt
from typing import Any, NamedTuple

import numpy as np
import scipy
from torusweep_kernels.failures import Failures

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.questions.availability.columns import AVAILABILITY
from torusweep.questions.availability.failing import Failing, check_count, failing_parts, outcomes_of
from torusweep.questions.availability.measures import MEASURES, QUANTITIES, UP_DOWN, Survivors, size_of
from torusweep.questions.availability.request import AvailabilityRequest, Draws, draws_of
from torusweep.questions.deadlock.layers import METHOD as LAYERS
from torusweep.questions.how import How

CONFIDENCE = 0.95
ROUNDING = 1e-12  # values with a smaller relative difference are equal; only the order of computation differed
QUANTILES = (0.05, 0.5, 0.95)
EXACT = "exact"
WILSON = "Wilson (mean)"
STUDENT = "Student's t (mean)"
ORDER = "order statistics (quantiles)"
HOW = {  # measure → how its value is computed for a draw
    "all_reduce": "attained by packing spanning trees, or by reduce-scatter and all-gather",
    "deadlock_free": UP_DOWN,
    "virtual_channels": f"the lowest port that leads nearer; {LAYERS}",
}
TOO_COSTLY = "not computed: a draw takes too long; name a sample of draws"
ONE_WAY = "not known: links have one direction"
INTACT = Failures(np.zeros(2, np.int64), np.zeros(0, np.int32))


class IntervalEstimate(NamedTuple):
    """An estimated number and the ends of its 95 % interval. An unknown end is None."""

    value: float
    low: float | None
    high: float | None


class Summary(NamedTuple):
    """Mean and quantiles of the values of a measure.

    mean            mean with its interval
    standard_error  standard error of the mean; None if the mean is exact, or there is a single draw
    quantiles       quantiles of 5, 50 and 95 %, with their intervals
    interval        method by which the intervals were computed
    """

    mean: IntervalEstimate
    standard_error: float | None
    quantiles: tuple[IntervalEstimate, ...]
    interval: str


def summary(values: np.ndarray, weight: np.ndarray | None, *, proportion: bool) -> Summary:
    """Return the mean and quantiles of a measure over draws of failures.

    values      float64[D]: the measure after each draw; D ≥ 1
    weight      float64[D]: probability of each draw, if the draws are all combinations; None for a random sample
    proportion  whether all values are 0 or 1

    The q-quantile is the least value x such that at least a share q of the draws has values up to x. A sample gets
    Wilson's interval (1927) for a proportion, Student's t interval for another mean (none if all values are equal), and
    order statistics for quantiles, which hold for every distribution (David & Nagaraja 2003, sec. 7.1).
    """
    order = np.argsort(values, kind="stable")
    alike = bool(values[order[-1]] - values[order[0]] <= ROUNDING * abs(values[order[-1]]))
    if weight is not None:
        mean = float(values[0]) if alike else fsum(values * weight) / fsum(weight)
        reached = np.cumsum(weight[order])
        places = [int(np.argmax(reached >= q * reached[-1] * (1 - 1e-12))) for q in QUANTILES]
        found = tuple(IntervalEstimate(float(values[order[place]]), None, None) for place in places)
        return Summary(IntervalEstimate(mean, None, None), None, found, EXACT)
    ordered, number = values[order], len(values)
    mean = float(values[0]) if alike else fsum(values) / number
    error = sqrt(fsum((values - mean) ** 2) / (number - 1) / number) if number > 1 else None
    quantiles = tuple(_quantile(ordered, q) for q in QUANTILES)
    if proportion:
        return Summary(IntervalEstimate(mean, *wilson(mean, number)), error, quantiles, f"{WILSON}, {ORDER}")
    if alike or error is None:
        return Summary(IntervalEstimate(mean, None, None), error, quantiles, ORDER)
    half = float(scipy.special.stdtrit(number - 1, (1 + CONFIDENCE) / 2)) * error
    return Summary(IntervalEstimate(mean, mean - half, mean + half), error, quantiles, f"{STUDENT}, {ORDER}")


def wilson(share: float, number: int) -> tuple[float, float]:
    """Return the 95 % interval of a probability (Wilson 1927). share: share of the `number` draws with the event."""
    z = float(scipy.special.ndtri((1 + CONFIDENCE) / 2))
    middle = share + z * z / (2 * number)
    half = z * sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    scale = 1 + z * z / number
    # rounding must not put the observed share outside the interval
    return max(0.0, min(share, (middle - half) / scale)), min(1.0, max(share, (middle + half) / scale))


def _quantile(ordered: np.ndarray, q: float) -> IntervalEstimate:
    """Return the q-quantile of sorted values, with an interval whose ends are two of the values.

    Let B be binomial with `number` trials of probability q. The value of rank r (from 1) exceeds the distribution's
    quantile with probability at most P(B < r), and is below the quantile with probability at most P(B ≥ r).
    """
    number = len(ordered)
    place = max(1, int(np.ceil(q * number * (1 - 1e-12))))
    tail = (1 - CONFIDENCE) / 2
    ranks = np.arange(1, number + 1)
    below = scipy.special.bdtr(ranks - 1, number, q)  # P(B < r)
    low = int((below <= tail).sum())  # the greatest rank whose value exceeds the quantile with at most this probability
    high = int((below < 1 - tail).sum()) + 1  # the least rank with P(B ≥ r) ≤ tail
    return IntervalEstimate(
        float(ordered[place - 1]),
        float(ordered[low - 1]) if low else None,
        float(ordered[high - 1]) if high <= number else None,
    )


Row = dict[str, Any]


def availability_rows(topology: Topology, request: AvailabilityRequest, options: How) -> list[Row]:
    """Compute a row for each quantity of each measure that the request names, in that order.

    Raises BadInput if more parts are to fail than the network has, or if it has no such parts or no terminals. Raises
    Refused if there are too many failed parts to list.
    """
    if not len(topology.terminals):
        raise BadInput(f"availability of {topology.spelling}: expected a terminal, got none; choose another network")
    failing = failing_parts(topology, request.fails)
    check_count(failing, request.fails, request.failures, topology.spelling)
    rows, size = [], size_of(topology)
    known: dict[int, Survivors] = {}
    intact = survivors(topology, failing, INTACT, options)
    every = draws_of(len(failing.names), request, request.draws)
    for name in request.measures.split(", "):
        measure, draws = MEASURES[name], every
        number = measure.draws(size, draws.number, request.sample)
        if 0 < number < draws.number:
            draws = draws_of(len(failing.names), request, number)
        if not number:
            rows += [row_of(topology, request, failing, quantity, draws, None, None) for quantity in measure.names]
            continue
        if number not in known:
            known[number] = survivors(topology, failing, draws.failures, options)
        values, before = measure.values(known[number]), measure.values(intact)
        rows += [
            row_of(topology, request, failing, quantity, draws, values[quantity], float(before[quantity][0]))
            for quantity in measure.names
        ]
    return rows


def survivors(topology: Topology, failing: Failing, failures: Failures, options: How) -> Survivors:
    """Return the draws of failures, and whether the surviving terminals of each draw reach each other."""
    outcomes, connected = outcomes_of(topology, failing, failures, options, distances=False)
    return Survivors(topology, failing, failures, outcomes.largest, connected, options)


def row_of(
    topology: Topology,
    request: AvailabilityRequest,
    failing: Failing,
    measure: str,
    draws: Draws,
    values: np.ndarray | None,
    intact: float | None,
) -> Row:
    """Return the table's row for a quantity, as Python values without NaN.

    values   float64[D]: the quantity after each draw, nan for none; None if it was not computed
    """
    quantity = QUANTITIES[measure]
    found: Row = dict.fromkeys(column.name for column in AVAILABILITY)
    found |= {
        "topology": topology.spelling,
        "fails": request.fails,
        "failures": request.failures,
        "probability": request.probability,
        "measure": measure,
        "unit": quantity.unit,
        "parts": len(failing.names),
        "draws": draws.number if values is not None else 0,
        "measured": 0,
        "intact": None if intact is None or np.isnan(intact) else intact,
        "seed": request.seed if draws.weight is None else None,
        "interval": "",
        "method": _method(measure, draws),
    }
    if values is None:
        return found | {"method": TOO_COSTLY}
    if measure == "deadlock_free" and topology.directed:
        return found | {"method": ONE_WAY}
    has = ~np.isnan(values)
    chosen = np.flatnonzero(has)
    if draws.weight is not None:
        chosen = chosen[draws.weight[chosen] > 0]
    if not len(chosen):
        return found
    weight = None if draws.weight is None else draws.weight[chosen]
    stated = summary(values[chosen], weight, proportion=quantity.proportion)
    worst = chosen[int((np.argmax if quantity.greater_is_worse else np.argmin)(values[chosen]))]
    found |= {
        "measured": len(chosen),
        "mean": stated.mean.value,
        "standard_error": stated.standard_error,
        "mean_low": stated.mean.low,
        "mean_high": stated.mean.high,
        "worst": float(values[worst]),
        "worst_parts": failing.names[draws.failed(int(worst))].reshape(-1).tolist(),
        "interval": stated.interval,
    }
    for q, estimate in zip(QUANTILES, stated.quantiles):
        name = f"q{round(100 * q):02}"
        found |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return found


def _method(measure: str, draws: Draws) -> str:
    how = HOW.get(measure)
    return draws.method if how is None else f"{draws.method}; {how}"
