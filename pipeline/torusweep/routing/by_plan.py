"""Find what a spelling and plan show of a routing: whether it suits, and how many pairs its loads follow."""

from __future__ import annotations

from torusweep.networks.families import family_of
from torusweep.networks.topology import Plan
from torusweep.routing.dimension_order import MAX_SIDE

ANY_NETWORK = ("minimal", "minimal_ecmp")
TORI = ("ring", "torus", "hypercube", "rt", "pt")
GRIDS = (*TORI, "mesh")
PASSES = {"dimension_order": 1, "reverse_order": 1, "valiant": 2}  # over any grid; valiant by its default, the first


def most_pairs(routing: str, topology: str, plan: Plan, *, symmetric: bool) -> int | None:
    """Upper bound of the pairs whose routes exact loads follow; None if only the network's arrays can tell.

    routing    canonical spelling; 0 for a routing such as minimal, which loads follow from node to node
    topology   canonical spelling of a network with one terminal at each node
    symmetric  whether every automorphism of the network keeps the traffic
    """
    name, _, parameters = routing.partition("(")
    family = family_of(topology)
    if name in ANY_NETWORK:
        return 0
    if name not in PASSES or (name == "valiant" and parameters):
        return None
    if family not in GRIDS or max(plan.radices) > MAX_SIDE:
        return None
    # all nodes of a torus have the same routes, so that one of them represents all
    destinations = max(plan.degree, 1) if symmetric and family in TORI else plan.nodes
    return PASSES[name] * plan.nodes * destinations
