"""Minimal routing on networks of groups: at most one hop between groups."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.dragonfly import GLOBAL, Grouped
from torusweep.networks.topology import NO_PORT, Meaning, Topology
from torusweep.routing.forms import LayeredRouting

Split = Annotated[
    Literal["paths", "next_hops"],
    Meaning("paths: all such shortest paths equally; next_hops: at every router, all links on such paths equally"),
]
MAX_PORTS = int(np.iinfo(np.int8).max)


def by_group(topology: Topology, split: Split = "paths") -> LayeredRouting:
    """The shortest paths with one hop between groups at most: to a router with a link to the group, over it, and on.

    Two hops between groups may be a shorter path; such paths are what minimal also takes.

    Constraint: a dragonfly or megafly, at most 127 ports a router.
    Source: Kim et al. 2008, sec. 4.1 (minimal routing).
    """
    groups_of("by_group", topology)
    nodes, width = topology.ports.shape
    if width > MAX_PORTS:
        raise Refused(
            f"routing by_group on {topology.spelling}: expected at most {MAX_PORTS} ports a node, got {width};"
            " choose smaller routers"
        )
    everyone = np.arange(nodes, dtype=np.int32)
    there = topology.ports
    between = topology.link_class == GLOBAL
    before, behind, arrived = everyone, everyone + np.int32(nodes), everyone + np.int32(2 * nodes)
    states = np.full((3 * nodes, width + 1), NO_PORT, np.int32)
    states[before, :-1] = np.where(there == NO_PORT, NO_PORT, np.where(between, behind[there], before[there]))
    states[behind, :-1] = np.where((there == NO_PORT) | between, NO_PORT, behind[there])
    states[: 2 * nodes, -1] = np.tile(arrived, 2)
    port = np.where(states == NO_PORT, NO_PORT, np.arange(width + 1)).astype(np.int8)
    port[:, -1] = NO_PORT
    arcs = "next-hops" if split == "next_hops" else split
    return LayeredRouting(topology, states, port, np.tile(everyone, 3), before, arrived, 1, arcs)


def groups_of(routing: str, topology: Topology) -> Grouped:
    """The groups of a network. Raises BadInput, which names the routing, for a network without any."""
    shape = topology.plan.structure
    if not isinstance(shape, Grouped):
        raise BadInput(
            f"routing {routing} on {topology.spelling}: expected a dragonfly or megafly without faults, got another"
            " network; choose minimal, which suits every network"
        )
    return shape
