"""Rows of tables as the page is given them: verdicts of deadlock, latency curves."""

from __future__ import annotations

from typing import Any

from torusweep.all_columns import DECLARED


def verdict(
    topology: str, free: str, routing: str = "dimension_order", channels: int = 1, **others: Any
) -> dict[str, Any]:
    made = {
        "topology": topology,
        "routing": routing,
        "vc_rule": "dateline",
        "virtual_channels": channels,
        "deadlock_free": free,
    }
    made |= {
        "acyclic": free == "yes",
        "argument": "acyclic (Dally & Seitz 1987)",
        "cycle": None,
        "least_virtual_channels": 2,
        "least_rule": "dateline",
    }
    return made | others


ROUTER = {
    "routing": "dimension_order",
    "vc_rule": "dateline",
    "virtual_channels": 2,
    "switching": "wormhole",
    "buffer_flits": 4,
    "packet_flits": 8,
    "router": "default",
    "injection": "bernoulli",
    "traffic": "uniform",
    "deadlocked": False,
}
EMPTY = dict.fromkeys(DECLARED["simulation"].names)


def curve(topology: str, latencies: list[float], saturated_from: int = 99, **asked: Any) -> list[dict[str, Any]]:
    """A row for each load 0.1, 0.2, …, all that is offered being accepted."""
    return [
        {
            **EMPTY,
            **ROUTER,
            "topology": topology,
            "offered_load": load / 10,
            "accepted_load": load / 10,
            "total_latency": latency,
        }
        | {"saturated": load >= saturated_from, **asked}
        for load, latency in enumerate(latencies, start=1)
    ]
