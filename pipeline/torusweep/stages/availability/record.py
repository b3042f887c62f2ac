"""The rows of the table `availability`: one for each measure of a request."""

from __future__ import annotations

from typing import Any

import numpy as np
from torusweep_kernels.failures import Failures, after_failures

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.questions.how import How
from torusweep.stages.availability.columns import AVAILABILITY
from torusweep.stages.availability.draws import Draws, draws_of
from torusweep.stages.availability.measures import MEASURES, QUANTITIES, UP_DOWN, Survivors, size_of
from torusweep.stages.availability.parts import Failing, check_count, failing_parts
from torusweep.stages.availability.request import AvailabilityRequest
from torusweep.stages.availability.statistics import QUANTILES, summary
from torusweep.stages.deadlock.layers import METHOD as LAYERS

Row = dict[str, Any]
HOW = {  # measure → how its value of a draw is computed
    "all_reduce": "attained by packing spanning trees, or by reduce-scatter and all-gather",
    "deadlock_free": UP_DOWN,
    "virtual_channels": f"the lowest port that leads nearer; {LAYERS}",
}
TOO_COSTLY = "not computed: a draw takes too long; name a sample of draws"
ONE_WAY = "not known: links have one direction"
INTACT = Failures(np.zeros(2, np.int64), np.zeros(0, np.int32))


def availability_rows(topology: Topology, request: AvailabilityRequest, options: How) -> list[Row]:
    """A row for each quantity of each measure of the request, in the order of the measures.

    Raises BadInput where more parts shall fail than the network has, or it has no such parts, or no terminals; Refused
    where there are too many failed parts to list.
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
    """The draws, and after which of them all surviving terminals, at least one, reach each other."""
    network, parts, _ = failing
    outcomes = after_failures(
        network, parts, failures, distances=False, backend=options.backend, threads=options.threads
    )
    connected = (outcomes.surviving > 0) & (outcomes.surviving == outcomes.largest)
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
    """The row of a quantity, as Python values without NaN.

    values   float64[D] of the draws, nan where there is none; None: not computed
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
