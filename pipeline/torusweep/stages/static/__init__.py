"""Static properties: from a topology to named numbers.

`static_record` is the row of the table `static` (records.STATIC). Each property has a module of its
own; they share the channels' matrix, the proved automorphisms and their orbits, made once here.
"""

from __future__ import annotations

from typing import Any

from torusweep.networks.links import channel_matrix
from torusweep.networks.spelling import parse
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import Topology
from torusweep.stages.static.bisection import bisection_bounds
from torusweep.stages.static.connectivity import components, edge_connectivity
from torusweep.stages.static.distances import terminal_distances
from torusweep.stages.static.faults import fault_diameter
from torusweep.stages.static.route_lengths import routed_distances
from torusweep.stages.static.survivors import surviving_network
from torusweep.stages.static.transitivity import decide_transitivity
from torusweep.tables.records import STATIC


def static_record(
    topology: Topology,
    *,
    backend: str = "auto",
    use_symmetry: bool = True,
    fault_nodes: int | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """The row of the table `static` for one network: exactly its columns, in order, as Python values without NaN.

    The values depend on the network and fault_nodes alone. backend, threads and use_symmetry change
    only the way: without use_symmetry, distances are searched from every node instead of one of each
    proved orbit, and routes followed from every node instead of one of each cell. Transitivity is a
    question about symmetry and always looks at the group; edge connectivity, the spectral bound and
    the fault diameter always use it.

    fault_nodes   node faults at a time for fault_diameter; None leaves that column null
    Raises BadInput where fault_nodes does not fit the network.
    """
    topology = surviving_network(topology)
    images = proved_symmetries(topology)
    orbits = orbits_under(topology.nodes, images)
    matrix = channel_matrix(topology)
    # refused before the long work where it does not fit
    faulted = (
        None if fault_nodes is None else fault_diameter(topology, orbits, fault_nodes, backend=backend, threads=threads)
    )
    routed = routed_distances(topology, use_symmetry=use_symmetry)
    hops = terminal_distances(topology, orbits, use_symmetry=use_symmetry, backend=backend, threads=threads)
    parts = components(topology, matrix)
    alike = decide_transitivity(topology, matrix, images)
    lambda_, lambda_method = edge_connectivity(topology, matrix, alike.nodes, alike.links, connected=parts == 1)
    width = bisection_bounds(topology, matrix, images, edge_connectivity=lambda_)
    degree_max = int(topology.degrees.max(initial=0))
    values = {
        "topology": topology.spelling,
        "family": topology.family,
        "parameters": whole_numbers(topology.spelling),
        "nodes": topology.nodes,
        "terminals": len(topology.terminals),
        "links": topology.links,
        "directed": topology.directed,
        "degree_min": int(topology.degrees.min(initial=degree_max)),
        "degree_max": degree_max,
        "diameter": hops.diameter,
        "mean_distance": hops.mean,
        "mean_distance_distinct": hops.mean_distinct,
        "connected": parts == 1,
        "components": parts,
        "cost": hops.diameter * degree_max,
        "edge_connectivity": lambda_,
        "edge_connectivity_method": lambda_method,
        "bisection_lower": width.lower,
        "bisection_upper": width.upper,
        "bisection_method": width.method,
        "vertex_transitive": alike.vertex,
        "edge_transitive": alike.edge,
        "transitivity_method": alike.method,
        "fault_nodes": fault_nodes,
        "fault_diameter": None if faulted is None else faulted.diameter,
        "fault_sets": None if faulted is None else faulted.sets,
        "fault_method": None if faulted is None else faulted.method,
        "distance_histogram": hops.histogram,
        "notes": "; ".join(topology.plan.notes),
        "routed_diameter": None if routed is None else routed.diameter,
        "routed_mean_distance": None if routed is None else routed.mean,
        "routed_cost": None if routed is None else routed.diameter * degree_max,
    }
    return {column.name: values[column.name] for column in STATIC}


def whole_numbers(spelling: str) -> dict[str, int]:
    """The whole-number parameters of a spelling's outermost network."""
    return {
        key: value
        for key, value in parse(spelling).arguments.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }


__all__ = ["static_record", "whole_numbers"]
