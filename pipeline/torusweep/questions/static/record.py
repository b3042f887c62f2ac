"""The row of the table `static`.

Each property has a module of its own. They share the channel matrix, the proved automorphisms and their
orbits, which are computed here once.

Path lengths of the routing that a network's own paper defines are measured here, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torusweep.networks.links import channel_matrix, surviving_network
from torusweep.networks.spelling import parse
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import Topology
from torusweep.questions.static.bisection import bisection_bounds
from torusweep.questions.static.columns import STATIC
from torusweep.questions.static.connectivity import components, decide_transitivity, edge_connectivity
from torusweep.questions.static.distances import router_distances, terminal_distances, terminal_latencies
from torusweep.questions.static.fault_diameter import fault_diameter
from torusweep.routing import ROUTINGS, SourceRouting, own_routing

MAX_PAIRS = 1 << 27  # half a minute on a core; with more pairs the columns are null
BLOCK = 1 << 16  # pairs at a time, whose routes fit into cache


class RoutedNumbers(NamedTuple):
    """Path lengths over all N² pairs, in hops, including 0 hops from a node to itself."""

    diameter: int
    mean: float


def routed_distances(topology: Topology, *, use_symmetry: bool) -> RoutedNumbers | None:
    """Longest and mean path of the network's own routing; None if it has none, or for more than MAX_PAIRS pairs.

    For a regular routing (`SourceRouting.regular`, checked), the routes of one source of each cell are followed;
    without use_symmetry, or for other routings, those of every source. The limit counts the pairs of one source
    of each cell in either case. Every node of such a network is a terminal.
    """
    name = own_routing(topology.family)
    if name is None:
        return None
    routing = ROUTINGS[name](
        topology, tie="positive"
    )  # both directions of a tie are equally long; positive needs no signs
    assert isinstance(routing, SourceRouting)
    nodes = topology.nodes
    representatives, sizes = np.unique(routing.cell, return_index=True, return_counts=True)[1:]
    if len(representatives) * nodes > MAX_PAIRS:
        return None
    if not (use_symmetry and routing.regular):
        representatives, sizes = np.arange(nodes), np.ones(nodes, np.int64)
    longest, total = 0, 0
    for start in range(0, len(representatives) * nodes, BLOCK):
        source, destination = np.divmod(np.arange(start, min(start + BLOCK, len(representatives) * nodes)), nodes)
        hops = routing.routes(routing.key(representatives[source], destination)).hops.sum(axis=1, dtype=np.int64)
        longest = max(longest, int(hops.max()))
        total += int((hops * sizes[source]).sum())
    return RoutedNumbers(longest, total / nodes**2)


def static_record(
    topology: Topology,
    *,
    backend: str = "auto",
    use_symmetry: bool = True,
    fault_nodes: int | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """The row of the table `static` for one network, as Python values without NaN.

    use_symmetry  search distances from one node of each proved orbit, and follow routes from one node of each cell,
                  instead of from every node. Transitivity, edge connectivity, the spectral bound and the fault diameter
                  use the symmetries in any case
    fault_nodes   number of node faults for fault_diameter; None leaves that column null

    The values depend only on the network and fault_nodes, not on backend, threads or use_symmetry.
    Raises BadInput where fault_nodes does not fit the network.
    """
    topology = surviving_network(topology)
    images = proved_symmetries(topology)
    orbits = orbits_under(topology.nodes, images)
    matrix = channel_matrix(topology)
    # first, so that a refusal precedes the long work
    faulted = (
        None if fault_nodes is None else fault_diameter(topology, orbits, fault_nodes, backend=backend, threads=threads)
    )
    routed = routed_distances(topology, use_symmetry=use_symmetry)
    hops = terminal_distances(topology, orbits, use_symmetry=use_symmetry, backend=backend, threads=threads)
    routers = router_distances(topology, hops, orbits, use_symmetry=use_symmetry, backend=backend, threads=threads)
    cycles = terminal_latencies(topology, hops, orbits, use_symmetry=use_symmetry)
    parts = components(topology, matrix)
    transitivity = decide_transitivity(topology, matrix, images)
    connectivity, connectivity_method = edge_connectivity(
        topology, matrix, transitivity.nodes, transitivity.links, connected=parts == 1
    )
    width = bisection_bounds(topology, matrix, images, edge_connectivity=connectivity)
    degree_max = int(topology.degrees.max(initial=0))
    values = {
        "topology": topology.spelling,
        "family": topology.family,
        "parameters": whole_numbers(topology.spelling) if "(" in topology.spelling else {},  # a graph may have a name
        "nodes": topology.nodes,
        "terminals": len(topology.terminals),
        "links": topology.links,
        "directed": topology.directed,
        "degree_min": int(topology.degrees.min(initial=degree_max)),
        "degree_max": degree_max,
        "ports_max": int((topology.degrees + np.bincount(topology.terminals, minlength=topology.nodes)).max(initial=0)),
        "diameter": hops.diameter,
        "mean_distance": hops.mean,
        "mean_distance_distinct": hops.mean_distinct,
        "connected": parts == 1,
        "components": parts,
        "cost": hops.diameter * degree_max,
        "edge_connectivity": connectivity,
        "edge_connectivity_method": connectivity_method,
        "bisection_lower": width.lower,
        "bisection_upper": width.upper,
        "bisection_method": width.method,
        "vertex_transitive": transitivity.vertex,
        "edge_transitive": transitivity.edge,
        "transitivity_method": transitivity.method,
        "fault_nodes": fault_nodes,
        "fault_diameter": None if faulted is None else faulted.diameter,
        "fault_sets": None if faulted is None else faulted.sets,
        "fault_method": None if faulted is None else faulted.method,
        "distance_histogram": hops.histogram,
        "notes": "; ".join(topology.plan.notes),
        "routed_diameter": None if routed is None else routed.diameter,
        "routed_mean_distance": None if routed is None else routed.mean,
        "routed_cost": None if routed is None else routed.diameter * degree_max,
        "router_diameter": routers.diameter,
        "router_mean_distance": routers.mean_distinct,
        "latency_diameter": None if cycles is None else cycles.diameter,
        "latency_mean": None if cycles is None else cycles.mean,
    }
    return {column.name: values[column.name] for column in STATIC}


def whole_numbers(spelling: str) -> dict[str, int]:
    """The integer parameters of a spelling's outermost network."""
    return {
        key: value
        for key, value in parse(spelling).arguments.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }
