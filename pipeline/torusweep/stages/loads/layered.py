"""Exact flows of shortest paths over a graph of states, from one root of each orbit where symmetry allows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from torusweep_kernels.loads import Channels, minimal_loads

from torusweep.errors import BadInput
from torusweep.networks.links import channel_orbits
from torusweep.networks.symmetry import Orbits, orbits_under, proved_symmetries
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import LayeredRouting
from torusweep.traffic import Traffic

BLOCK = 1 << 23  # demands at a time: 64 MiB


def layered_flows(
    routing: LayeredRouting,
    traffic: Traffic,
    *,
    use_symmetry: bool,
    backend: str,
    threads: int | None,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, float, float]:
    """(float64[N, P] flits over every channel, hops of all flits, flits without a path) for traffic between the nodes.

    progress   receives the share of the roots that have been followed
    Raises BadInput where there are more shortest paths between two nodes than float64 can count.
    """
    topology = routing.topology
    images = proved_symmetries(topology) if use_symmetry and traffic.symmetric and routing.plain else []
    nodes = orbits_under(topology.nodes, images)
    try:
        flows, hops, lost = _sum_over_roots(routing, traffic, nodes, backend, threads, progress)
    except OverflowError:
        raise BadInput(
            "expected at most 1.8e308 shortest paths between two nodes, got more;"
            " routing minimal_ecmp does not count them"
        ) from None
    if images:
        flows = _average_over_orbits(topology, images, nodes, flows)
    return flows, hops, lost


def channels_of_arcs(routing: LayeredRouting, flows: np.ndarray) -> np.ndarray:
    """[N, P]: flows over channels, from flows over arcs between states, [S, Q], summed in their order."""
    if routing.plain:
        return flows
    topology = routing.topology
    state, arc = np.nonzero((routing.states != NO_PORT) & (routing.port != NO_PORT))
    channel = routing.node[state].astype(np.int64) * topology.ports.shape[1] + routing.port[state, arc]
    total = np.zeros(topology.ports.size, flows.dtype)
    np.add.at(total, channel, flows[state, arc])
    return total.reshape(topology.ports.shape)


def arc_capacity(routing: LayeredRouting) -> np.ndarray | None:
    """int32[S, Q]: the number of parallel links of every arc between states; None = 1 everywhere."""
    capacity = routing.topology.capacity
    if capacity is None or routing.plain:
        return capacity
    return np.where(routing.port == NO_PORT, np.int32(1), capacity[routing.node[:, None], routing.port])


def _sum_over_roots(
    routing: LayeredRouting,
    traffic: Traffic,
    nodes: Orbits,
    backend: str,
    threads: int | None,
    progress: Callable[[float], None] | None,
) -> tuple[np.ndarray, float, float]:
    """The flows of all roots, one for each orbit of nodes, weighted by the size of the orbit.

    A split by paths is followed from the sources. A split by next hops depends on the destination and is followed
    backwards from there.
    """
    from_sources = routing.split == "paths"
    near, far = (routing.start, routing.finish) if from_sources else (routing.finish, routing.start)
    busy = (traffic.sent() if from_sources else traffic.received())[nodes.representatives] > 0
    roots, weights = nodes.representatives[busy], nodes.sizes[busy].astype(np.float64)
    flows, hops, lost = np.zeros(routing.states.shape), 0.0, 0.0
    capacity, step = arc_capacity(routing), max(1, BLOCK // len(routing.states))
    channels = Channels()
    for first in range(0, len(roots), step):
        block = slice(first, first + step)
        demand = traffic.rows(roots[block]) if from_sources else traffic.columns(roots[block])
        if not routing.plain:
            at_nodes, demand = demand, np.zeros((len(demand), len(routing.states)))
            demand[:, far] = at_nodes
        part = minimal_loads(
            routing.states,
            near[roots[block]],
            weights[block],
            split=routing.split,
            demand=demand,
            capacity=capacity,
            backend=backend,
            threads=threads,
            channels=channels,
        )
        flows += part.load
        hops += part.hops - routing.extra * part.delivered
        lost += part.unreachable
        if progress is not None:
            progress(min(1.0, (first + step) / len(roots)))
    return channels_of_arcs(routing, flows), hops, lost


def _average_over_orbits(
    topology: Topology, images: Sequence[np.ndarray], nodes: Orbits, load: np.ndarray
) -> np.ndarray:
    """The load of every channel, from the loads that one root of each orbit causes.

    All channels of an orbit carry the same load, and the sum over the orbit does not depend on the choice of roots;
    each channel therefore carries the mean. The two directions of a link may differ (split by next hops).
    """
    present = topology.ports != NO_PORT
    orbit = channel_orbits(topology, images, nodes)
    order = np.argsort(orbit, kind="stable")  # by orbit: NumPy then sums each pairwise, without loss of digits
    first = np.searchsorted(orbit[order], np.arange(orbit.max(initial=-1) + 1))
    mean = np.add.reduceat(load[present][order], first) / np.diff(first, append=len(order))
    averaged = np.zeros_like(load)
    averaged[present] = mean[orbit]
    return averaged
