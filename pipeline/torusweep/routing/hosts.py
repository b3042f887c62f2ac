"""Check that no routing sends packets through hosts that forward nothing (`Topology.ends`)."""

from __future__ import annotations

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.names import name_of
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.forms import AdaptiveRouting, LayeredRouting, Routing, SourceRouting, TableRouting

FORWARDS_NONE = "a host that forwards nothing"
REMEDY = "choose minimal, minimal_ecmp, or up_down with a root that forwards"


def expect_hosts_end(routing: Routing | AdaptiveRouting) -> None:
    """Raise BadInput for a routing that sends some packet through a host that forwards nothing.

    Source routings and adaptive routings take no account of such hosts, and are refused on any network with one.
    """
    topology = routing.topology
    if topology.ends is None:
        return
    if isinstance(routing, SourceRouting | AdaptiveRouting):
        host = name_of(topology, int(topology.ends.argmax()))
        raise BadInput(
            f"expected a network whose nodes all forward packets, got hosts that do not, as {host}; {REMEDY}"
        )
    if isinstance(routing, LayeredRouting):
        passed = _passed(routing, topology.ends)
        if len(passed):
            raise BadInput(f"expected no route through {name_of(topology, passed[0])}, {FORWARDS_NONE}; {REMEDY}")
        return
    _check_table(routing, topology.ends)


def _passed(routing: LayeredRouting, ends: np.ndarray) -> list[int]:
    """Return the hosts from which a packet may hop on after a hop to them."""
    arcs = routing.states != NO_PORT
    hops = arcs & (routing.port != NO_PORT)
    entered = np.zeros(len(routing.states), bool)
    entered[routing.states[hops]] = True
    entered &= ends[routing.node]
    while True:  # a packet may change its state where it is
        further = np.zeros_like(entered)
        further[routing.states[(arcs & ~hops) & entered[:, None]]] = True
        if not (further & ~entered).any():
            break
        entered |= further
    found: list[int] = np.unique(routing.node[entered & hops.any(axis=1)]).tolist()
    return found


def _check_table(routing: TableRouting, ends: np.ndarray) -> None:
    goes_on = np.bincount(routing.owner, routing.port != NO_PORT, len(routing.at)) > 0
    wrong = np.flatnonzero((routing.next >= 0) & (ends[routing.at] & goes_on)[np.maximum(routing.next, 0)])
    if not len(wrong):
        return
    topology, row = routing.topology, int(wrong[0])
    at, goal = routing.owner[row], int(routing.destination[routing.owner[row]])
    here, host, there = (_named(topology, node) for node in (routing.at[at], routing.at[routing.next[row]], goal))
    raise BadInput(
        f"expected no route through {host}, {FORWARDS_NONE}, got one at {here} towards {there}; change the row"
    )


def _named(topology: Topology, node: int) -> object:
    return name_of(topology, int(node))
