"""Expected loads, without sampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.collectives import collective
from pipeline.errors import BadInput
from pipeline.loads.channels import ChannelLoads
from pipeline.loads.layered import layered_flows
from pipeline.loads.source import source_flows
from pipeline.routing import LayeredRouting, Routing
from pipeline.routing import routing as routing_on
from pipeline.topology import Topology
from pipeline.traffic import Traffic
from pipeline.traffic import traffic as pattern_on


def exact_loads(
    topology: Topology,
    *,
    routing: str = "minimal",
    traffic: str = "uniform",
    backend: str = "auto",
    use_symmetry: bool = True,
    threads: int | None = None,
) -> ChannelLoads:
    """Expected load of every channel.

    routing        a routing's spelling (pipeline.routing)
    traffic        a pattern's spelling (pipeline.traffic)
    use_symmetry   start from one node of each orbit where routing and traffic allow it: changes only the way, and the
                   last digits of a sum
    Raises BadInput where the routing or the pattern is unknown, one of them does not fit the network, or
    some traffic has no path to its destination.
    """
    spelled, pattern = pattern_on(traffic, topology)
    canonical, form = routing_on(routing, topology)
    capacity = np.maximum(topology.capacity, 1) if topology.capacity is not None else 1

    def flows(matrix: Traffic) -> tuple[np.ndarray, float]:
        return _flows(form, matrix.at_nodes(topology.terminals, topology.nodes), use_symmetry=use_symmetry, backend=backend, threads=threads)

    try:
        load, hops = flows(pattern)
        busiest = [float((flows(phase.traffic)[0] / capacity).max(initial=0.0)) for phase in pattern.phases]
    except BadInput as refusal:
        raise type(refusal)(f"routing {canonical} on {topology.spelling}, traffic {spelled}: {refusal}") from None
    return ChannelLoads(
        topology,
        canonical,
        spelled,
        load / capacity,
        hops / len(topology.terminals),
        float(pattern.received().max()),
        collective=collective(pattern.phases, busiest) if pattern.phases else None,
    )


def _flows(routing: Routing, traffic: Traffic, *, use_symmetry: bool, backend: str, threads: int | None) -> tuple[np.ndarray, float]:
    """(float64[N, P] flits over every channel, hops of all flits)."""
    how: dict[str, Any] = {"use_symmetry": use_symmetry, "backend": backend, "threads": threads}
    if isinstance(routing, LayeredRouting):
        load, hops, lost = layered_flows(routing, traffic, **how)
        if lost:
            raise BadInput(
                f"{lost / traffic.sent().sum():.3g} of the traffic has no path to its destination;"
                " choose a connected network ('torusweep describe' counts its components)"
            )
        return load, hops
    load = source_flows(routing, traffic, **how)
    return load, float(load.sum())
