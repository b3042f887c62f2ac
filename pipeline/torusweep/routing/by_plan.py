"""Which routings suit a network, as far as its spelling and plan show, and the pairs that their loads then follow."""

from __future__ import annotations

from torusweep.networks.families import family_of
from torusweep.networks.topology import Plan
from torusweep.routing.dimension_order import MAX_SIDE

ANY_NETWORK = ("minimal", "minimal_ecmp")
TORI = ("ring", "torus", "hypercube", "rt", "pt")
GRIDS = (*TORI, "mesh")
PASSES = {"dimension_order": 1, "reverse_order": 1, "valiant": 2}  # over any grid; valiant by its default, the first


def most_pairs(routing: str, topology: str, plan: Plan, *, symmetric: bool) -> int | None:
    """Pairs of nodes whose routes are followed for exact loads, at most; None where only the network's arrays can tell.

    routing    canonical spelling; one that loads follow from node to node, as minimal, has no such pairs: 0
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
