"""Minimal adaptive routing with escape channels, for deadlock analysis and simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from torusweep.errors import BadInput
from torusweep.networks.topology import Meaning, Topology
from torusweep.routing.dimension_order import dimension_order
from torusweep.routing.forms import AdaptiveRouting, SourceRouting
from torusweep.routing.routing_record import routing_record

Escape = Annotated[
    Literal["dimension_order", "routing_record"] | None,
    Meaning(
        "routing of the escape channels, ties positive;"
        " if absent, the first of dimension_order and routing_record that suits"
    ),
]
ESCAPES: dict[str, Callable[..., SourceRouting]] = {
    escape.__name__: escape for escape in (dimension_order, routing_record)
}


def adaptive(topology: Topology, escape: Escape = None) -> AdaptiveRouting:
    """Any link that leads nearer, on adaptive virtual channels, or the next hop of the escape routing, on others.

    Constraint: a network that the escape routing suits.
    Source: Duato 1993.
    """
    if escape is not None:
        return AdaptiveRouting(ESCAPES[escape](topology, tie="positive"))
    try:
        return AdaptiveRouting(dimension_order(topology, tie="positive"))
    except BadInput:
        return AdaptiveRouting(routing_record(topology, tie="positive"))
