"""Bound the work to compute a routing's exact loads, by its spelling and the network's plan, without any arrays."""

from __future__ import annotations

from torusweep.networks.families import family_of
from torusweep.networks.topology import Plan
from torusweep.routing.dimension_order import MAX_SIDE

ANY_NETWORK = ("minimal", "minimal_ecmp")
TORI = ("ring", "torus", "hypercube", "rt", "pt")
GRIDS = (*TORI, "mesh")
PASSES = {"dimension_order": 1, "reverse_order": 1, "valiant": 2}  # on grids; valiant by default has two of the first


def most_pairs(routing: str, topology: str, plan: Plan, *, symmetric: bool) -> int | None:
    """Upper bound of the number of node pairs whose routes exact loads follow; None if only arrays can tell.

    routing    canonical spelling; the bound is 0 for minimal and minimal_ecmp, whose loads need no single routes
    topology   canonical spelling of a network with one terminal at each node
    symmetric  whether every automorphism of the network preserves the traffic
    """
    name, _, parameters = routing.partition("(")
    family = family_of(topology)
    if name in ANY_NETWORK:
        return 0
    if name not in PASSES or (name == "valiant" and parameters):
        return None
    if family not in GRIDS or max(plan.radices) > MAX_SIDE:
        return None
    # all nodes of a torus have the same routes, so one node represents all
    destinations = max(plan.degree, 1) if symmetric and family in TORI else plan.nodes
    return PASSES[name] * plan.nodes * destinations
