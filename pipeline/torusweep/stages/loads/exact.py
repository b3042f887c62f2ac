"""Exact expected loads of channels."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import Any

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.routing import GivenRouting, LayeredRouting, Routing, TableRouting
from torusweep.routing import routing as routing_on
from torusweep.routing.tables.as_table import table_of
from torusweep.stages.loads.channels import ChannelLoads
from torusweep.stages.loads.collectives import collective
from torusweep.stages.loads.layered import layered_flows, shortest_hops
from torusweep.stages.loads.source import source_flows
from torusweep.stages.loads.table import table_flows
from torusweep.traffic import GivenTraffic, Traffic
from torusweep.traffic import traffic as pattern_on

MAX_STRETCH_NODES = 5000  # without symmetry, larger networks have no stretch: it needs all shortest paths


def exact_loads(
    topology: Topology,
    *,
    routing: str | GivenRouting = "minimal",
    traffic: str | GivenTraffic = "uniform",
    backend: str = "auto",
    use_symmetry: bool = True,
    as_table: bool = False,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> ChannelLoads:
    """Expected load of every channel: exact sums, rounded once, and then divided by the channel's links.

    routing        a routing's spelling (torusweep.routing), or a given one
    traffic        a pattern's spelling (torusweep.traffic), or a given matrix
    use_symmetry   follow one node of each orbit where routing and traffic allow it; the loads are the same
    as_table       follow the routing as a table of its next hops, the one that `torusweep routes` writes; the loads are
                   the same
    progress       receives the share of the work that is done
    Raises BadInput where the routing or the pattern is unknown, one of them does not fit the network, or
    some traffic has no path to its destination; Refused where there are too many pairs to follow.
    """
    spelled, pattern = pattern_on(traffic, topology)
    canonical, form = routing_on(routing, topology)
    if as_table:
        form = table_of(form)

    def flows(matrix: Traffic, report: Callable[[float], None] | None = None) -> tuple[np.ndarray, float]:
        at_nodes = matrix.at_nodes(topology.terminals, topology.nodes)
        return _flows(form, at_nodes, use_symmetry=use_symmetry, backend=backend, threads=threads, progress=report)

    try:
        load, hops = flows(pattern, progress)
        busiest = [float(topology.load_of(flows(phase.traffic)[0]).max(initial=0.0)) for phase in pattern.phases]
        shortest = hops
        if not (isinstance(form, LayeredRouting) and form.plain):
            known = (use_symmetry and pattern.symmetric) or topology.nodes <= MAX_STRETCH_NODES
            at_nodes = pattern.at_nodes(topology.terminals, topology.nodes)
            options: dict[str, Any] = {"use_symmetry": use_symmetry, "backend": backend, "threads": threads}
            shortest = shortest_hops(topology, at_nodes, **options) if known else 0.0
    except BadInput as refusal:
        raise type(refusal)(f"routing {canonical} on {topology.spelling}, traffic {spelled}: {refusal}") from None
    return ChannelLoads(
        topology,
        canonical,
        spelled,
        topology.load_of(load),
        hops / len(topology.terminals),
        float(pattern.received().max()),
        collective=collective(pattern.phases, busiest) if pattern.phases else None,
        stretch=hops / shortest if shortest else None,
        form=form,
    )


def _flows(routing: Routing, traffic: Traffic, **options: Any) -> tuple[np.ndarray, float]:
    """(float64[N, P] flits over every channel, hops of all flits)."""
    if isinstance(routing, LayeredRouting):
        load, lost = layered_flows(routing, traffic, **options)
        if lost:
            raise BadInput(
                f"{lost / traffic.sent().sum():.3g} of the traffic has no path to its destination;"
                " choose a connected network ('torusweep describe' counts its components)"
            )
    elif isinstance(routing, TableRouting):
        load = table_flows(routing, traffic, progress=options["progress"])
    else:
        load = source_flows(routing, traffic, **options)
    return load, fsum(load.ravel().tolist())
