"""Valiant's routing through a random node: no traffic pattern is worse than two uniform patterns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal

from torusweep.errors import BadInput
from torusweep.networks.topology import Meaning, Topology
from torusweep.routing.clustering import clustering
from torusweep.routing.dimension_order import dimension_order, random_order
from torusweep.routing.forms import SourceRouting
from torusweep.routing.hierarchical import hierarchical
from torusweep.routing.lattices import minimal_by_address, routing_record

By = Annotated[
    Literal["dimension_order", "random_order", "routing_record", "hierarchical", "clustering", "minimal_by_address"]
    | None,
    Meaning(
        "routing of each half; if absent, the first of dimension_order, routing_record, hierarchical and"
        " minimal_by_address that suits the network"
    ),
]
HALVES: dict[str, Callable[[Topology], SourceRouting]] = {
    half.__name__: half
    for half in (dimension_order, random_order, routing_record, hierarchical, clustering, minimal_by_address)
}


def valiant(topology: Topology, by: By = None) -> SourceRouting:
    """Send each packet to a node chosen uniformly at random, and from there to the destination.

    The random node may be the source or the destination. Both halves use the same routing, with the
    routing's default tie at half a ring.

    Constraint: a network that the routing of the halves suits.
    Source: Valiant & Brebner 1981.
    """
    if by is not None:
        return replace(HALVES[by](topology), passes=2)
    for half in (dimension_order, routing_record, hierarchical, minimal_by_address):
        try:
            return replace(half(topology), passes=2)
        except BadInput:
            continue
    raise BadInput(
        "expected a whole network with addresses, whose halves dimension_order, routing_record, hierarchical or"
        " minimal_by_address can route, got one that suits none of them; choose minimal, which suits every network"
    )
