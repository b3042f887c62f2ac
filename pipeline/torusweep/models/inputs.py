"""The models' inputs, computed for one network: distances, channel loads, and the cost of channel width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torusweep.errors import BadInput
from torusweep.models.normalisation import BISECTION, WIRING_VOLUME, Constraint
from torusweep.models.table import ModelInputs, network_of, width_of
from torusweep.networks.links import channel_matrix, surviving_network
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import Plan, Topology
from torusweep.stages.layout.placements import canonical, default_placement
from torusweep.stages.layout.record import layout_record
from torusweep.stages.loads.channels import record_of
from torusweep.stages.loads.exact import exact_loads
from torusweep.stages.static.bisection import bisection_bounds
from torusweep.stages.static.connectivity import components
from torusweep.stages.static.distances import terminal_distances

Record = dict[str, Any]


def static_of(topology: Topology, constraint: Constraint, *, backend: str = "auto") -> Record:
    """Those columns of `static` that the models need; of the bisection's bounds only where it is held constant.

    Raises ValueError for a network that the models do not fit.
    """
    check_links(topology.spelling, topology.plan)
    survivors = surviving_network(topology)
    images, matrix = proved_symmetries(survivors), channel_matrix(survivors)
    hops = terminal_distances(
        survivors, orbits_under(survivors.nodes, images), use_symmetry=True, backend=backend, threads=None
    )
    found = {
        "topology": topology.spelling,
        "nodes": survivors.nodes,
        "terminals": len(survivors.terminals),
        "connected": components(survivors, matrix) == 1,
        "directed": survivors.directed,
        "degree_max": int(survivors.degrees.max(initial=0)),
        "mean_distance": hops.mean,
    }
    network_of(found)  # refused before the longer work
    if constraint.norm != BISECTION:
        return found
    bounds = bisection_bounds(survivors, matrix, images, edge_connectivity=None)
    return {**found, "bisection_lower": bounds.lower, "bisection_upper": bounds.upper}


def check_links(spelling: str, plan: Plan) -> None:
    """Raise ValueError for links of other bandwidths or latencies than the models assume."""
    if plan.bandwidths or plan.latencies:
        raise ValueError(
            f"{spelling}: expected links of one flit a cycle and one cycle, which the models assume, got other ones;"
            " choose the network without them"
        )


def placement_of(constraint: Constraint, family: str) -> str | None:
    """The placement of a network whose wires a constraint counts, canonical; None where it counts none."""
    if constraint.norm != WIRING_VOLUME:
        return None
    return canonical(constraint.placement or default_placement(family))


def width_measured(topology: Topology, constraint: Constraint, static: Record) -> float:
    """Bits of its channels under a constraint.

    Raises BadInput if the placement does not fit the network, ValueError if it costs nothing.
    """
    return width_of(
        constraint, static, None if constraint.placement is None else layout_record(topology, constraint.placement)
    )


def with_loads(
    topology: Topology, static: Record, *, backend: str = "auto", progress: Callable[[float], None] | None = None
) -> tuple[ModelInputs, str]:
    """(network, '') with the loads of uniform traffic on minimal routes; or (network, why they are unknown)."""
    try:
        loads = exact_loads(topology, routing="minimal", traffic="uniform", backend=backend, progress=progress)
    except BadInput as refusal:
        return network_of(static), str(refusal)
    return network_of(static, record_of(loads)), ""
