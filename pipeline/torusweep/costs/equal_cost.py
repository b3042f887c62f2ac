"""Networks beside each other at equal cost: throughput, latency and price of each, and the Pareto front of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from torusweep.screening.front import front

Record = Mapping[str, Any]
EQUAL = 9  # decimals; loads that differ only by rounding are equal


def throughput(loads: Record) -> float | None:
    """Flits a cycle and terminal that links and terminals carry; None where nothing is sent over links."""
    found = loads["terminal_saturation_load"]
    return None if loads["saturation_load"] is None else float(min(1.0, found))


def equal_cost(static: Iterable[Record], loads: Iterable[Record], cost: Iterable[Record]) -> list[dict[str, Any]]:
    """The rows of the table `equal_cost`: one for each network, cost model and traffic, by these, the cheapest first.

    static, loads, cost   rows of these tables; networks in parts, without a row of one, or of unknown mean latency are
                          left out

    Of several routings the one of the greatest throughput counts; of equal ones minimal, then the first by name. Of
    several packings the cheapest counts.
    """
    distances: dict[str, Record] = {}
    for row in static:
        if row["connected"] and row["latency_mean"] is not None:
            distances.setdefault(row["topology"], row)
    best: dict[str, dict[str, tuple[float, bool, str, float]]] = {}  # by topology and traffic
    for row in loads:
        carried = throughput(row)
        if carried is not None:
            name, own = row["routing"], best.setdefault(row["topology"], {})
            candidate = (-round(carried, EQUAL), name != "minimal", name, carried)
            own[row["traffic"]] = min(own.get(row["traffic"], candidate), candidate)
    cheapest: dict[tuple[str, str], Record] = {}  # by topology and model
    for row in cost:
        if row["cost_per_terminal"] is not None:
            key = row["topology"], row["cost_model"]
            cheapest[key] = min(cheapest.get(key, row), row, key=lambda row: (row["cost_per_terminal"], row["packing"]))
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for (topology, model), row in cheapest.items():
        if topology in distances:
            for traffic, (_, _, routing, carried) in best.get(topology, {}).items():
                price = row["cost_per_terminal"]
                groups.setdefault((model, traffic), []).append(
                    {
                        "topology": topology,
                        "cost_model": model,
                        "packing": row["packing"],
                        "traffic": traffic,
                        "routing": routing,
                        "terminals": row["terminals"],
                        "cost_per_terminal": price,
                        "currency": row["currency"],
                        "mean_distance": distances[topology]["mean_distance"],
                        "latency": distances[topology]["latency_mean"],
                        "throughput": carried,
                        "saturation_per_cost": carried / price if price else None,
                    }
                )
    return [row for key in sorted(groups) for row in _with_front(groups[key])]


def _with_front(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of one model and traffic, the cheapest first, with whether each is on the front."""
    rows.sort(key=lambda row: (row["cost_per_terminal"], row["topology"]))
    values = [[-round(row["throughput"], EQUAL), row["latency"], row["cost_per_terminal"]] for row in rows]
    on_front = set(front(np.array(values)).tolist())
    return [{**row, "on_front": place in on_front} for place, row in enumerate(rows)]
