"""The row of the table `static`.

Each property has a module of its own. They share the channel matrix, the proved automorphisms and their
orbits, which are computed here once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep.networks.links import channel_matrix, surviving_network
from torusweep.networks.spelling import parse
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import Topology
from torusweep.stages.static.bisection import bisection_bounds
from torusweep.stages.static.columns import STATIC
from torusweep.stages.static.connectivity import components, edge_connectivity
from torusweep.stages.static.distances import router_distances, terminal_distances
from torusweep.stages.static.fault_diameter import fault_diameter
from torusweep.stages.static.latencies import terminal_latencies
from torusweep.stages.static.route_lengths import routed_distances
from torusweep.stages.static.transitivity import decide_transitivity


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
