"""Bounds for the table `loads`: the capacity under the best routing, and the worst permutation of this one."""

from __future__ import annotations

import numpy as np

from torusweep.capacity import best_half, capacity, effective_bisection, worst_permutation
from torusweep.counts import counted
from torusweep.errors import Refused
from torusweep.networks.topology import Topology
from torusweep.routing import GivenRouting
from torusweep.routing import routing as routing_on
from torusweep.stages.loads.channels import Bounds, ChannelLoads
from torusweep.stages.loads.shares import pair_shares, representative_channels
from torusweep.traffic import GivenTraffic
from torusweep.traffic import traffic as pattern_on

MAX_MATCHING_NODES = 1024  # a matching of a thousand nodes takes about a second
MAX_SHARES = 1 << 27  # of pairs in channels: 1 GiB


def bounds_of(
    loads: ChannelLoads,
    *,
    routing: str | GivenRouting | None = None,
    traffic: str | GivenTraffic | None = None,
    use_symmetry: bool = True,
) -> Bounds:
    """The capacity by linear programming, the worst permutation, and the effective width of the narrowest known cut.

    routing, traffic  of the loads; None: those that the loads have, their traffic by its spelling

    A bound that is too large to compute is None; bounds_method says why.
    """
    topology = loads.topology
    traffic = traffic or loads.traffic
    if routing is None:
        routing = loads.routing if loads.form is None else GivenRouting(loads.routing, loads.form)
    matrix = pattern_on(traffic, topology)[1].at_nodes(topology.terminals, topology.nodes)
    use = effective_bisection(topology, loads.load, matrix, best_half(topology))
    best, method = _capacity(topology, traffic, "all", use_symmetry)
    minimal, minimal_method = _capacity(topology, traffic, "minimal", use_symmetry)
    worst, worst_method = _worst(topology, routing)
    method = f"any routing: {method}; minimal: {minimal_method}; worst permutation: {worst_method}"
    return Bounds(use.links, use.effective, best, minimal, worst, method)


def _capacity(
    topology: Topology, traffic: str | GivenTraffic, routes: str, use_symmetry: bool
) -> tuple[float | None, str]:
    try:
        found = capacity(topology, traffic, routes=routes, use_symmetry=use_symmetry)
    except Refused as refusal:
        return None, str(refusal)
    return (found.throughput if np.isfinite(found.throughput) else None), found.method


def _worst(topology: Topology, routing: str | GivenRouting) -> tuple[float | None, str]:
    nodes = topology.nodes
    if not np.array_equal(topology.terminals, np.arange(nodes)):
        return None, "sought only where every node is a terminal"
    form = routing_on(routing, topology)[1]
    channels = representative_channels(form)
    if not len(channels):
        return None, "there are no channels"
    if nodes > MAX_MATCHING_NODES or len(channels) * nodes**2 > MAX_SHARES:
        most = f"at most {MAX_MATCHING_NODES:,} nodes, and {MAX_SHARES:,} shares of pairs in channels"
        return None, f"expected {most}, got {nodes:,} and {len(channels) * nodes**2:,}; choose a smaller network"
    shares = pair_shares(form, channels)
    worst = worst_permutation(
        shares,
        capacity=None if topology.bandwidth is None else topology.bandwidth.reshape(-1)[channels],
    )
    return 1 / worst.load, f"matchings of greatest weight for {counted(len(channels), 'channel')} (Towles & Dally 2002)"
