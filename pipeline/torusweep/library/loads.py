"""Loads by the method that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torusweep.errors import BadInput, nearest
from torusweep.networks.topology import Topology
from torusweep.routing import GivenRouting
from torusweep.stages.loads import exact_loads, sampled_loads
from torusweep.stages.loads.channels import ChannelLoads
from torusweep.traffic import GivenTraffic

DEFAULT_PACKETS = 10_000_000
METHODS = ("exact", "monte-carlo", "as-table")


def loads_of(
    topology: Topology,
    routing: str | GivenRouting,
    traffic: str | GivenTraffic,
    method: str,
    sampling: Mapping[str, Any],
    backend: str,
) -> ChannelLoads:
    """The load of every channel.

    method    exact, as-table or monte-carlo
    sampling  packets, seed and relative_error of monte-carlo; None where they are not given
    Raises BadInput for another method, and for sampling where nothing is drawn.
    """
    if method not in METHODS:
        raise BadInput(f"method={method!r}: expected one of {', '.join(METHODS)}{nearest(method, METHODS)}")
    given = {name: value for name, value in sampling.items() if value is not None}
    if method != "monte-carlo":
        for name in given:
            raise BadInput(f"{name}: expected with method='monte-carlo' only; exact loads need no packets")
        as_table = method == "as-table"
        return exact_loads(topology, routing=routing, traffic=traffic, backend=backend, as_table=as_table)
    error = given.get("relative_error")
    if error is not None and not 0 < error < 1:
        raise BadInput(f"relative_error={error}: expected a number between 0 and 1")
    options: dict[str, Any] = {"packets": DEFAULT_PACKETS, **given}
    return sampled_loads(topology, routing=routing, traffic=traffic, backend=backend, **options)
