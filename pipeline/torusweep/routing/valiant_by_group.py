"""Valiant's routing on networks of groups: by way of a group drawn for every packet."""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import NamedTuple

import numpy as np

from torusweep.errors import Refused
from torusweep.networks.families.dragonfly import GLOBAL, Grouped
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing.by_group import Split, by_group, groups_of
from torusweep.routing.forms import LayeredRouting, TableRouting
from torusweep.routing.shortest_paths import steps_nearer
from torusweep.routing.tables.as_table import joined, layered_rows
from torusweep.routing.tables.rows import TableRows, table_routing

MOST_ROWS = 1 << 24  # of the table: about a minute
# states of packets; behind its last hop between groups, a packet is in BEFORE + 1
INJECTED, BEFORE, TO_GROUP = 0, 1, 4


def valiant_by_group(topology: Topology, split: Split = "paths") -> TableRouting:
    """To a group drawn uniformly for every packet, then on to the destination, both by the paths of by_group.

    The group is neither the source's nor the destination's, which would leave the direct path. The packet takes a
    shortest path to any router of the group, and goes on from there. Packets within a group, and all packets of
    a network of two groups, take by_group's paths.

    Constraint: a dragonfly or megafly, at most 127 ports a router.
    Source: Kim et al. 2008, sec. 4.1 (Valiant's algorithm with groups for nodes).
    """
    shape, minimal = check_detours("valiant_by_group", topology), by_group(topology, split)
    terminals = np.unique(topology.terminals).astype(np.int64)
    onwards = rows_onwards(minimal)
    near = near_rows(onwards, shape)
    return table_routing(topology, joined([onwards, near, *detours(minimal, shape, {INJECTED: terminals})]))


def check_detours(routing: str, topology: Topology) -> Grouped:
    """The structure of a network of groups; Refused where there are too many routes by way of a group to list.

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
    """The rows of by_group, in states BEFORE and, behind the hop between groups, BEFORE + 1; all columns but two."""
    nodes = minimal.topology.nodes
    return joined(list(layered_rows(minimal, BEFORE + np.arange(3 * nodes) // nodes)))


def near_rows(onwards: TableRows, shape: Grouped) -> TableRows:
    """First rows, in state INJECTED, of packets without a group between: within a group, or where there are two."""
    near = (onwards.at // shape.size == onwards.destination // shape.size) | (shape.groups == 2)
    return from_before(onwards, near, INJECTED, BEFORE)


def from_before(onwards: TableRows, chosen: np.ndarray, state: int, following: int) -> TableRows:
    """Copies of those rows of state BEFORE that are `chosen`, bool[R], in another state.

    following   the state after a hop that leads to BEFORE
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
    """Hops on the way to a group between, int64[A] each, but for the last one.

    at, group   a node and the group that the packet goes to
    port        of the node
    following   state of the packet after the hop
    weight      float64[A]  of all hops of the node and the group
    """

    at: np.ndarray
    group: np.ndarray
    port: np.ndarray
    following: np.ndarray
    weight: np.ndarray


def detours(minimal: LayeredRouting, shape: Grouped, drawn: dict[int, np.ndarray]) -> Iterator[TableRows]:
    """The rows of packets from where they draw a group between until they enter it, in state BEFORE.

    drawn   by the state of the packets that draw: int64[·], the nodes where they do
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
    """The hops of all shortest paths from every node to every other group."""
    nodes = minimal.topology.nodes
    found = [
        (step.state, step.goal, step.arc, np.where(step.then < nodes, TO_GROUP + step.goal, BEFORE), step.weight)
        for step in steps_nearer(into_groups(minimal, shape), nodes + np.arange(shape.groups))
    ]
    return _Steps(*(np.concatenate(column) for column in zip(*found)))


def into_groups(minimal: LayeredRouting, shape: Grouped) -> LayeredRouting:
    """Shortest paths to any node of a group: the states are the nodes, then the groups, each at its first node."""
    topology, ports = minimal.topology, minimal.topology.ports
    everyone, groups = np.arange(topology.nodes, dtype=np.int32), np.arange(shape.groups, dtype=np.int32)
    within = np.int32(topology.nodes) + groups
    states = np.full((topology.nodes + shape.groups, ports.shape[1]), NO_PORT, np.int32)
    between = (ports != NO_PORT) & (topology.link_class == GLOBAL)
    states[everyone] = np.where(between, within[ports // shape.size], ports)
    port = np.where(states == NO_PORT, NO_PORT, np.arange(ports.shape[1])).astype(np.int8)
    node = np.append(everyone, groups * np.int32(shape.size))
    return LayeredRouting(topology, states, port, node, everyone, within[everyone // shape.size], 0, minimal.split)
