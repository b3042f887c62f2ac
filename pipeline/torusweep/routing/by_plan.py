"""Bound the work of computing a routing's exact loads, from its spelling and the network's plan, without arrays."""

from __future__ import annotations

from torusweep.networks.families import family_of
from torusweep.networks.families.algebra import box
from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.families.low_diameter import Hamming
from torusweep.networks.topology import Plan
from torusweep.routing.dimension_order import MAX_SIDE, MOST_DIRECTIONS
from torusweep.routing.forms import MAX_PORTS
from torusweep.routing.groups import MOST_ROWS

ANY_NETWORK = ("minimal", "minimal_ecmp")
PASSES = {"dimension_order": 1, "reverse_order": 1, "valiant": 2}  # on grids; valiant by default has two of the first


def most_pairs(routing: str, topology: str, plan: Plan, *, symmetric: bool) -> int | None:
    """Return an upper bound of the number of node pairs whose routes exact loads follow; None if only arrays can tell.

    routing    canonical spelling; the bound is 0 for routings whose loads need no single routes
    topology   canonical spelling of a network that joins all nodes (Plan.joined)
    symmetric  whether every automorphism of the network preserves the traffic, or every terminal sends to one other
    """
    name, _, parameters = routing.partition("(")
    shape, few = plan.structure, plan.degree <= MAX_PORTS
    if isinstance(shape, Grouped) and name == "valiant_by_group":
        few &= plan.nodes**2 * max(shape.groups - 2, 1) <= MOST_ROWS
    if name in ANY_NETWORK or (isinstance(shape, Grouped) and name in ("by_group", "valiant_by_group") and few):
        return 0
    if name not in PASSES or (name == "valiant" and parameters):
        return None
    if isinstance(shape, Hamming):
        few = 2 * sum(side // 2 for side in shape.sides) <= MOST_DIRECTIONS
        return PASSES[name] * plan.nodes**2 if few else None
    torus = shape == box(plan.radices)
    if not (torus or family_of(topology) == "mesh") or not 2 <= min(plan.radices) <= max(plan.radices) <= MAX_SIDE:
        return None
    # all nodes of a torus have the same routes, so one node represents all
    few = symmetric and torus
    return PASSES[name] * (max(plan.nodes * max(plan.degree, 1), plan.terminals or 0) if few else plan.nodes**2)
