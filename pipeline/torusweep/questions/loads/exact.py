"""Exact expected channel loads.

For a routing table, flows are followed over its configurations. For shortest paths, flows are followed over a graph
of states, from one root of each orbit if symmetry allows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import fsum, isclose
from typing import Any

import numpy as np
from torusweep_kernels import sums
from torusweep_kernels.forwarding import Demands
from torusweep_kernels.forwarding import table_flows as flows_over
from torusweep_kernels.loads import Channels, minimal_loads, order_of_roots
from torusweep_kernels.loads.network import BLOCK as ROOTS
from torusweep_kernels.sums import rounded

from torusweep.errors import BadInput, naming
from torusweep.networks.links import channel_orbits
from torusweep.networks.symmetry import Orbits, orbits_under, proved_symmetries
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.loads.channels import ROUNDING, ChannelLoads, at_terminals, collective
from torusweep.questions.loads.source import source_flows
from torusweep.questions.loads.trees import tree_loads
from torusweep.routing import GivenRouting, Routing
from torusweep.routing import routing as routing_on
from torusweep.routing.any_network import minimal_ecmp
from torusweep.routing.faults import unrouted
from torusweep.routing.forms import LayeredRouting, TableRouting
from torusweep.routing.paths import links_of_arcs
from torusweep.routing.tables.as_table import table_of
from torusweep.routing.tables.rows import table_of_kernel
from torusweep.traffic import GivenTraffic, Traffic
from torusweep.traffic import traffic as pattern_on
from torusweep.traffic.given import delivered

BLOCK = 1 << 22  # demands at a time: 32 MiB
LAYERED_BLOCK = 1 << 23  # demands at a time: 64 MiB
# pairs of a root and a state at a time if all roots have the same demands: 20 s of two cores, to hide other passes
PAIRS = 1 << 31
MAX_STRETCH_NODES = 5000  # nodes of the largest network whose stretch is computed without symmetry


def table_flows(
    routing: TableRouting, traffic: Traffic, *, progress: Callable[[float], None] | None = None
) -> np.ndarray:
    """Return the flits over every channel, float64[N, P], for traffic between nodes.

    The loads are exact sums, rounded once (`torusweep_kernels.forwarding`). To the last bit, they do not depend on the
    order of the table's rows.
    progress   called with the share of the destinations that have been followed
    """
    topology, nodes = routing.topology, routing.topology.nodes
    table = table_of_kernel(routing)
    load, rest = np.zeros((2, topology.ports.size))
    destination, source = np.divmod(routing.entry_pair, nodes)
    goals, begins = np.unique(destination, return_index=True)
    begins = np.append(begins, len(destination))
    step = max(1, BLOCK // nodes)
    for first in range(0, len(goals), step):
        some = goals[first : first + step]
        bounds = begins[first : first + len(some) + 1]
        own = slice(bounds[0], bounds[-1])
        demand = traffic.columns(some)[np.repeat(np.arange(len(some)), np.diff(bounds)), source[own]]
        flows_over(table, Demands(some, bounds - bounds[0], routing.entry[own], demand), load, rest)
        if progress is not None:
            progress(min(1.0, (first + step) / len(goals)))
    return rounded(load, rest).reshape(topology.ports.shape)


Twice = tuple[np.ndarray, np.ndarray]  # rounded numbers, and the remainders of rounding: torusweep_kernels.sums


def layered_flows(
    routing: LayeredRouting,
    traffic: Traffic,
    *,
    use_symmetry: bool,
    backend: str,
    threads: int | None,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, float]:
    """Return the flits over every channel, float64[N, P], and the flits without a path, for traffic between nodes.

    The loads are exact sums, rounded once (`torusweep_kernels.loads.minimal_loads`).
    progress   called with the share of the roots that have been followed
    Raises BadInput if there are more shortest paths between two nodes than float64 can count.
    """
    topology = routing.topology
    images = proved_symmetries(topology) if use_symmetry and traffic.symmetric and routing.plain else []
    nodes = orbits_under(topology.nodes, images)
    try:
        flows, lost = _sum_over_roots(routing, traffic, nodes, backend, threads, progress)
    except OverflowError:
        raise BadInput(
            "expected at most 1.8e308 shortest paths between two nodes, got more;"
            " routing minimal_ecmp does not count them"
        ) from None
    if images:
        flows = _average_over_orbits(topology, images, nodes, flows)
    return sums.rounded(*flows), lost


def shortest_hops(
    topology: Topology, traffic: Traffic, *, use_symmetry: bool, backend: str, threads: int | None
) -> float:
    """Return the total hops of all flits over shortest paths: the sum of demand times distance, in float64."""
    if topology.ends is not None:
        options: dict[str, Any] = {"use_symmetry": use_symmetry, "backend": backend, "threads": threads}
        return fsum(layered_flows(minimal_ecmp(topology), traffic, **options)[0].ravel().tolist())
    images = proved_symmetries(topology) if use_symmetry and traffic.symmetric else []
    nodes = orbits_under(topology.nodes, images)
    busy = traffic.received()[nodes.representatives] > 0
    roots, sizes = nodes.representatives[busy], nodes.sizes[busy].astype(np.float64)
    hops, step, channels = 0.0, max(1, LAYERED_BLOCK // topology.nodes), Channels()
    for first in range(0, len(roots), step):
        some = slice(first, first + step)
        demand = traffic.columns(roots[some])
        part = minimal_loads(
            topology.ports,
            roots[some],
            sizes[some],
            split="next-hops",
            demand=demand,
            backend=backend,
            threads=threads,
            channels=channels,
        )
        hops += part.hops
    return hops


def channels_of_arcs(routing: LayeredRouting, flows: np.ndarray) -> np.ndarray:
    """Return flows over channels, int64[N, P], from flows over arcs between states, int64[S, Q]."""
    if routing.plain:
        return flows
    (state, arc), channel = _arcs_and_channels(routing)
    total = np.zeros(routing.topology.ports.size, flows.dtype)
    np.add.at(total, channel, flows[state, arc])
    return total.reshape(routing.topology.ports.shape)


def _exact_channels_of_arcs(routing: LayeredRouting, flows: Twice) -> Twice:
    if routing.plain:
        return flows
    (state, arc), channel = _arcs_and_channels(routing)
    ports = routing.topology.ports
    high, low = sums.grouped_sums(flows[0][state, arc], flows[1][state, arc], channel, ports.size)
    return high.reshape(ports.shape), low.reshape(ports.shape)


def _arcs_and_channels(routing: LayeredRouting) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Return (state, arc) of every arc that uses a channel, and the number of its channel, node · P + port."""
    state, arc = np.nonzero((routing.states != NO_PORT) & (routing.port != NO_PORT))
    width = routing.topology.ports.shape[1]
    return (state, arc), routing.node[state].astype(np.int64) * width + routing.port[state, arc]


def _sum_over_roots(
    routing: LayeredRouting,
    traffic: Traffic,
    nodes: Orbits,
    backend: str,
    threads: int | None,
    progress: Callable[[float], None] | None,
) -> tuple[Twice, float]:
    """Sum the flows to all destinations: follow one root of each orbit of nodes, and multiply by the orbit's size.

    Flows are followed from the destination backwards. A split by next hops depends on the destination, and so do the
    path counts that `routing.shortest_paths` gives to a table.
    """
    busy = traffic.received()[nodes.representatives] > 0
    roots, sizes = nodes.representatives[busy], nodes.sizes[busy]
    flows, lost = (np.zeros(routing.states.shape), np.zeros(routing.states.shape)), 0.0
    capacity, channels, done = links_of_arcs(routing), Channels(), 0
    step = max(1, (LAYERED_BLOCK if _scaled_demand(routing, traffic, roots) is None else PAIRS) // len(routing.states))
    if len(roots) > step:  # so that the roots of a block are near one another, not spread over a few rows of a torus
        step = -(-step // ROOTS) * ROOTS
        near = order_of_roots(routing.states, routing.finish[roots], exact=True)
        roots, sizes = roots[near], sizes[near]
    for size in np.unique(sizes):
        alike = roots[sizes == size]
        own: Twice = np.zeros(routing.states.shape), np.zeros(routing.states.shape)
        for first in range(0, len(alike), step):
            some = alike[first : first + step]
            weights, demand = _scaled_demand(routing, traffic, some) or (None, _demand(routing, traffic, some))
            part = minimal_loads(
                routing.states,
                routing.finish[some],
                weights,
                split=routing.split,
                inward=True,
                exact=True,
                demand=demand,
                capacity=capacity,
                backend=backend,
                threads=threads,
                channels=channels,
            )
            own = sums.add(*own, part.load, part.rest)
            lost += part.unreachable * size
            done += len(some)
            if progress is not None:
                progress(done / len(roots))
        flows = sums.add(*flows, *sums.times(*own, float(size)))
    return _exact_channels_of_arcs(routing, flows), lost


def _demand(routing: LayeredRouting, traffic: Traffic, destinations: np.ndarray) -> np.ndarray:
    """Return the demand from every state to each destination, float64[B, S]."""
    at_nodes = traffic.columns(destinations)
    if routing.plain:
        return at_nodes
    demand = np.zeros((len(at_nodes), len(routing.states)))
    demand[:, routing.start] = at_nodes
    return demand


def _scaled_demand(
    routing: LayeredRouting, traffic: Traffic, destinations: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return two vectors, float64[B] and float64[S], with the outer product `_demand` outside its diagonal, or None."""
    scaled = traffic.scaled_columns(destinations) if routing.plain or not traffic.own.nnz else None
    if scaled is None or routing.plain:
        return scaled
    demand = np.zeros(len(routing.states))
    demand[routing.start] = scaled[1]
    return scaled[0], demand


def _average_over_orbits(topology: Topology, images: Sequence[np.ndarray], nodes: Orbits, load: Twice) -> Twice:
    """Return the load of every channel, from the loads of flows to one root of each orbit.

    All channels of an orbit carry the same load, and the sum over the orbit does not depend on the choice of roots, so
    each channel carries the mean. The two directions of a link may differ if traffic is split by next hops.
    """
    present = topology.ports != NO_PORT
    orbit = channel_orbits(topology, images, nodes)
    sizes = np.bincount(orbit)
    total = sums.grouped_sums(load[0][present], load[1][present], orbit, len(sizes))
    averaged = np.zeros((2, *topology.ports.shape))
    for part, mean in zip(averaged, sums.divided(*total, sizes.astype(np.float64))):
        part[present] = mean[orbit]
    return averaged[0], averaged[1]


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
    """Return the expected load of every channel: an exact sum, rounded once, divided by the number of parallel links.

    routing        a routing's spelling (torusweep.routing), or a routing object
    traffic        a pattern's spelling (torusweep.traffic), or a traffic matrix
    use_symmetry   follow one node of each orbit if routing and traffic allow it; the loads are the same
    as_table       follow the table of next hops that `torusweep routes` writes for the routing; the loads are the same
    progress       called with the share of the work that is done
    Raises BadInput if the routing or the pattern is unknown or does not fit the network, or if some traffic
    has no path to its destination; Refused if there are too many pairs to follow.
    """
    spelled, pattern = pattern_on(traffic, topology, copies=True)
    canonical, form = routing_on(routing, topology)
    if as_table:
        form = table_of(form)

    def flows(matrix: Traffic, report: Callable[[float], None] | None = None) -> tuple[np.ndarray, float]:
        at_nodes = matrix.at_nodes(topology.terminals, topology.nodes)
        return _flows(form, at_nodes, use_symmetry=use_symmetry, backend=backend, threads=threads, progress=report)

    with naming(f"routing {canonical} on {topology.spelling}, traffic {spelled}"):
        pattern, lost = delivered(topology, pattern, *unrouted(form))
        trees = tree_loads(form, pattern) if pattern.multicast else None
        load, hops = flows(pattern, progress) if trees is None else (trees.load, float(trees.load.sum()))
        busiest = [float(topology.load_of(flows(phase.traffic)[0]).max(initial=0.0)) for phase in pattern.phases]
        shortest = hops
        if trees is None and not (isinstance(form, LayeredRouting) and form.plain):
            known = (use_symmetry and pattern.symmetric) or topology.nodes <= MAX_STRETCH_NODES
            at_nodes = pattern.at_nodes(topology.terminals, topology.nodes)
            options: dict[str, Any] = {"use_symmetry": use_symmetry, "backend": backend, "threads": threads}
            shortest = shortest_hops(topology, at_nodes, **options) if known else 0.0
            if isclose(hops, shortest, rel_tol=ROUNDING):
                # minimal routes have a stretch of 1, for which queries ask; one packet's detour is above 10⁻¹⁰
                shortest = hops
    found = ChannelLoads(
        topology,
        canonical,
        spelled,
        topology.load_of(load),
        0.0,
        *at_terminals(topology, pattern),
        collective=collective(pattern.phases, busiest) if pattern.phases else None,
        stretch=hops / shortest if shortest and trees is None else None,
        lost=lost,
        rate=pattern.rate,
        senders=None if trees is None else trees.senders,
    )
    return replace(found, mean_hops=hops / found.injected)


def _flows(routing: Routing, traffic: Traffic, **options: Any) -> tuple[np.ndarray, float]:
    """Return the flits over every channel, float64[N, P], and the total hops of all flits."""
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
