"""Routing on networks of groups: minimal, through a random group, or whichever of the two is less busy.

Minimal routing has at most one hop between groups. Valiant's routing sends each packet through a random group.

For adaptive routings, which choose between minimal and Valiant's routes, this module has the routes but not the choice.
A dependency graph contains all these routes. The choice depends on queues, so adaptive routings have no expected loads.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import Annotated, Literal, NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.dragonfly import GLOBAL, Grouped
from torusweep.networks.topology import NO_PORT, Meaning, Topology, Whole
from torusweep.routing.forms import MAX_PORTS, LayeredRouting, TableRouting, in_two_phases
from torusweep.routing.paths import steps_nearer
from torusweep.routing.tables.as_table import joined, layered_rows
from torusweep.routing.tables.rows import TableRows, table_routing

Split = Annotated[
    Literal["paths", "next_hops"],
    Meaning("paths: equal shares of all such shortest paths; next_hops: at every router, of all links on these paths"),
]
MOST_ROWS = 1 << 24  # of the table: about a minute
# states of packets; after its last hop between groups, a packet is in state BEFORE + 1
INJECTED, BEFORE, TO_GROUP = 0, 1, 4
MOST_THRESHOLD = 1 << 30
DECIDING = 3  # state of a packet on its minimal route that may still leave it


def by_group(topology: Topology, split: Split = "paths") -> LayeredRouting:
    """Take shortest paths with at most one hop between groups: to a router linked to the destination's group, and on.

    A path with two hops between groups may be shorter; minimal also takes such paths.

    Constraint: a dragonfly or megafly, at most 127 ports a router.
    Source: Kim et al. 2008, sec. 4.1 (minimal routing).
    """
    groups_of("by_group", topology)
    width = topology.ports.shape[1]
    if width > MAX_PORTS:
        raise Refused(
            f"routing by_group on {topology.spelling}: expected at most {MAX_PORTS} ports a node, got {width};"
            " choose smaller routers"
        )
    between = topology.link_class == GLOBAL
    within = (topology.ports != NO_PORT) & ~between
    return in_two_phases(topology, within, (topology.ports != NO_PORT) & between, within, split)


def groups_of(routing: str, topology: Topology) -> Grouped:
    """Return the groups of a network. Raises BadInput, which names the routing, for a network without groups."""
    shape = topology.plan.structure
    if not isinstance(shape, Grouped):
        raise BadInput(
            f"routing {routing} on {topology.spelling}: expected a dragonfly or megafly without faults, got another"
            " network; choose minimal, which suits every network"
        )
    return shape


def valiant_by_group(topology: Topology, split: Split = "paths") -> TableRouting:
    """Send each packet through a random group, on the paths of by_group both before and after it.

    The group is chosen uniformly among all groups but the source's and the destination's. The packet takes a shortest
    path to any router of the group, and goes on from there. Packets within a group, and all packets of a network of two
    groups, take by_group's paths.

    Constraint: a dragonfly or megafly, at most 127 ports a router.
    Source: Kim et al. 2008, sec. 4.1 (Valiant's algorithm with groups for nodes).
    """
    shape, minimal = check_detours("valiant_by_group", topology), by_group(topology, split)
    terminals = np.unique(topology.terminals).astype(np.int64)
    onwards = rows_onwards(minimal)
    near = near_rows(onwards, shape)
    return table_routing(topology, joined([onwards, near, *detours(minimal, shape, {INJECTED: terminals})]))


def check_detours(routing: str, topology: Topology) -> Grouped:
    """Return the groups of a network. Raises Refused if there would be too many routes through a third group.

    Raises BadInput for a network without groups.
    """
    shape = groups_of(routing, topology)
    many = len(np.unique(topology.terminals)) ** 2 * max(shape.groups - 2, 1)
    if many > MOST_ROWS:
        raise Refused(
            f"routing {routing} on {topology.spelling}: expected at most {MOST_ROWS:,} pairs of routers with a"
            f" group between, got {many:,}; choose a smaller network"
        )
    return shape


def rows_onwards(minimal: LayeredRouting) -> TableRows:
    """Return by_group's rows. The packet's state is BEFORE, and BEFORE + 1 after the hop between groups."""
    nodes = minimal.topology.nodes
    return joined(list(layered_rows(minimal, BEFORE + np.arange(3 * nodes) // nodes)))


def near_rows(onwards: TableRows, shape: Grouped) -> TableRows:
    """Return rows, in state INJECTED, for the first hop of packets that pass through no third group."""
    near = (onwards.at // shape.size == onwards.destination // shape.size) | (shape.groups == 2)
    return from_before(onwards, near, INJECTED, BEFORE)


def from_before(onwards: TableRows, chosen: np.ndarray, state: int, following: int) -> TableRows:
    """Copy the `chosen` rows, bool[R], that are in state BEFORE, and put the copies into another state.

    following   state after a hop, in place of BEFORE
    """
    assert onwards.state is not None, "layered rows with labels"
    assert onwards.following is not None, "layered rows with labels"
    assert onwards.weight is not None, "layered rows"
    some = np.flatnonzero(chosen & (onwards.state == BEFORE))
    after = onwards.following[some]
    return TableRows(
        onwards.at[some],
        onwards.destination[some],
        onwards.port[some],
        None,
        np.full(len(some), state),
        np.where(after == BEFORE, following, after),
        None,
        onwards.weight[some],
    )


class _Steps(NamedTuple):
    """Hops on shortest paths from every node to every other group, int64[A] each.

    at, group   node that the packet leaves, and group to which it goes
    port        port of the node through which it leaves
    following   state of the packet after the hop: BEFORE once it has entered the group
    weight      float64[A]  weight of the hop among all hops from the node to the group
    """

    at: np.ndarray
    group: np.ndarray
    port: np.ndarray
    following: np.ndarray
    weight: np.ndarray


def detours(minimal: LayeredRouting, shape: Grouped, drawn: dict[int, np.ndarray]) -> Iterator[TableRows]:
    """Yield the rows that lead packets, after they have chosen a random third group, into it. They enter as BEFORE.

    drawn   maps a state to the nodes, int64[·], at which packets in that state choose a group
    """
    topology = minimal.topology
    terminals = np.unique(topology.terminals).astype(np.int64)
    steps = _steps(minimal, shape)
    pair = steps.at * shape.groups + steps.group
    of_pair = np.bincount(pair, steps.weight)
    entry = steps.weight * (lcm(*of_pair[of_pair > 0].astype(np.int64).tolist()) / of_pair[pair])  # groups equally
    then = topology.ports[steps.at, steps.port] * shape.groups + steps.group
    passes = np.isin(pair, then[steps.following >= TO_GROUP])
    cases = [(np.isin(steps.at, nodes), np.full(len(pair), state), entry) for state, nodes in drawn.items()]
    for goal in range(shape.groups):
        destinations = terminals[terminals // shape.size == goal]
        useful = (steps.group != goal) & (steps.at // shape.size != goal)
        for chosen, state, weight in (*cases, (passes, TO_GROUP + steps.group, steps.weight)):
            some = np.flatnonzero(useful & chosen)
            columns = (steps.at, steps.port, state, steps.following, weight)
            at, port, before, after, share = (np.tile(column[some], len(destinations)) for column in columns)
            yield TableRows(at, np.repeat(destinations, len(some)), port, None, before, after, None, share)


def _steps(minimal: LayeredRouting, shape: Grouped) -> _Steps:
    """Return the hops of all shortest paths from every node to every other group."""
    nodes = minimal.topology.nodes
    found = [
        (step.state, step.goal, step.arc, np.where(step.then < nodes, TO_GROUP + step.goal, BEFORE), step.weight)
        for step in steps_nearer(into_groups(minimal, shape), nodes + np.arange(shape.groups))
    ]
    return _Steps(*(np.concatenate(column) for column in zip(*found)))


def into_groups(minimal: LayeredRouting, shape: Grouped) -> LayeredRouting:
    """Return shortest paths to any node of a group. States are the nodes, then the groups, each at its first node."""
    topology, ports = minimal.topology, minimal.topology.ports
    everyone, groups = np.arange(topology.nodes, dtype=np.int32), np.arange(shape.groups, dtype=np.int32)
    within = np.int32(topology.nodes) + groups
    states = np.full((topology.nodes + shape.groups, ports.shape[1]), NO_PORT, np.int32)
    between = (ports != NO_PORT) & (topology.link_class == GLOBAL)
    states[everyone] = np.where(between, within[ports // shape.size], ports)
    port = np.where(states == NO_PORT, NO_PORT, np.arange(ports.shape[1])).astype(np.int8)
    node = np.append(everyone, groups * np.int32(shape.size))
    return LayeredRouting(topology, states, port, node, everyone, within[everyone // shape.size], 0, minimal.split)


View = Annotated[
    Literal["local", "global"],
    Meaning("queues that decide: of the source's router (local), or of all routers (global); the routes are the same"),
]
Threshold = Annotated[
    int,
    Whole(
        -MOST_THRESHOLD,
        "by how much a minimal route's estimate may exceed a detour's, in flits · hops (view=global: flits)",
        MOST_THRESHOLD,
    ),
]


def ugal(topology: Topology, view: View = "local", threshold: Threshold = 0) -> TableRouting:
    """Choose, at the source of each packet between groups, the route of by_group or one of valiant_by_group.

    Constraint: a dragonfly or megafly, at most 127 ports a router.
    Source: Singh 2005; Kim et al. 2008, sec. 4.1.
    """
    shape, minimal = check_detours("ugal", topology), by_group(topology)
    return table_routing(topology, joined(list(_rows(minimal, shape, (INJECTED,)))))


def progressive(topology: Topology, threshold: Threshold = 0) -> TableRouting:
    """Like ugal with view=local, but a packet may also leave its minimal route at later routers of its source's group.

    Constraint: a dragonfly or megafly, at most 127 ports a router.
    Source: Jiang et al. 2009 (progressive adaptive routing).
    """
    shape, minimal = check_detours("progressive", topology), by_group(topology)
    return table_routing(topology, joined(list(_rows(minimal, shape, (INJECTED, DECIDING)))))


def _rows(minimal: LayeredRouting, shape: Grouped, deciding: tuple[int, ...]) -> Iterator[TableRows]:
    """Yield the rows of by_group and of detours. deciding: states in which a packet may begin a detour, in order."""
    onwards = rows_onwards(minimal)
    yield onwards
    yield near_rows(onwards, shape)
    if shape.groups > 2:
        far = onwards.at // shape.size != onwards.destination // shape.size
        later = deciding[-1] if len(deciding) > 1 else BEFORE
        for state in deciding:
            yield from_before(onwards, far, state, later)
    yield from detours(minimal, shape, dict.fromkeys(deciding, np.arange(minimal.topology.nodes)))
