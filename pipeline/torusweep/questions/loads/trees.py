"""Loads of multicast traffic: each flit crosses once every channel on the routes to its destinations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.names import name_of
from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import Routing, TableRouting
from torusweep.routing.tables.as_table import table_of
from torusweep.traffic import Traffic

MOST_PAIRS = 1 << 24  # pairs of terminals whose routes are followed: seconds
BLOCK = 1 << 26  # pairs of a sender and a channel at a time: 64 MiB


class Trees(NamedTuple):
    """Loads of multicast: flits over every channel, float64[N, P], if each of the `senders` sends 1 flit per cycle."""

    load: np.ndarray
    senders: int


def tree_loads(routing: Routing, traffic: Traffic) -> Trees:
    """Return the loads of multicast. A channel carries a sender's flit once if a route to some destination uses it.

    traffic   traffic between terminals
    Raises BadInput if a pair has several routes; Refused if there are too many pairs to follow.
    """
    topology = routing.topology
    terminals = topology.terminals.astype(np.int64)
    if traffic.own.nnz > MOST_PAIRS:
        raise Refused(
            f"expected at most {MOST_PAIRS:,} pairs of a sender and a destination, got {traffic.own.nnz:,}; choose"
            " smaller groups"
        )
    table = table_of(routing)
    senders = np.flatnonzero(traffic.sent())
    total = np.zeros(topology.ports.size)
    step = max(1, BLOCK // max(topology.ports.size, 1))
    for first in range(0, len(senders), step):
        some = senders[first : first + step]
        row, destination, _ = traffic.pairs(some)
        total += _used(table, row, terminals[some[row]], terminals[destination], len(some)).sum(axis=0)
    return Trees(total.reshape(topology.ports.shape), len(senders))


def _used(table: TableRouting, flit: np.ndarray, source: np.ndarray, destination: np.ndarray, flits: int) -> np.ndarray:
    """Return bool[F, N · P]: whether the routes of each flit 0 … F − 1 use each channel."""
    topology = table.topology
    used = np.zeros((flits, topology.ports.size), bool)
    at = table.entries(source, destination)
    while len(on := np.flatnonzero(at >= 0)):
        flit, at, source, destination = flit[on], at[on], source[on], destination[on]
        several = np.flatnonzero(table.many[at] > 1)
        if len(several):
            one, other = (name_of(topology, int(nodes[several[0]])) for nodes in (source, destination))
            raise BadInput(
                f"expected one route for each pair, which makes a tree, got several from {one} to {other}; choose a"
                " routing that divides no packets, such as dimension_order(tie=positive), or a table of next nodes"
            )
        row = table.rows[at]
        leads = table.port[row] != NO_PORT
        used[flit[leads], table.at[at[leads]] * np.int64(topology.ports.shape[1]) + table.port[row[leads]]] = True
        at = table.next[row]
    return used
