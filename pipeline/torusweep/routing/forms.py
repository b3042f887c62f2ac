"""What a routing is, as data. Whoever uses one — loads, walks, dependency graph — reads one of two forms.

*Source routing*: a packet's route is settled where it starts, as runs: so many hops in this
direction, so many in that. *Layered routing*: shortest paths in a graph of states that lies over the
network; plain minimal routing is the one whose states are the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from torusweep.networks.topology import NO_PORT, Topology


@dataclass(frozen=True, eq=False)
class Moves:
    """The directions in which packets move: direction 2i is + along axis i, 2i + 1 is −.

    topology   the network
    port       int8[N, D]   port by which a direction leaves a node, −1 = it does not lead on there
    names      of the axes; D/2 of them
    """

    topology: Topology
    port: np.ndarray
    names: tuple[str, ...]

    @cached_property
    def next(self) -> np.ndarray:
        """int32[N, D]: the node that each direction leads to, −1 = it does not lead on."""
        to = np.take_along_axis(self.topology.ports, np.maximum(self.port, 0).astype(np.int64), axis=1)
        return np.where(self.port == NO_PORT, np.int32(NO_PORT), to)

    @cached_property
    def wrap(self) -> np.ndarray:
        """bool[N, D]: leaving this node in this direction crosses the dateline of the ring.

        A direction's rings are its cycles (on a twisted torus one winds through several wraparound
        links); each has one dateline, between its lowest-numbered node and the one before it in + direction.
        """
        nodes, directions = self.port.shape
        marked = np.zeros((nodes, directions), bool)
        for d in range(directions):
            tail = np.flatnonzero(self.next[:, d] != NO_PORT)
            head = self.next[tail, d]
            links = coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(nodes, nodes))
            number, ring = connected_components(links, directed=False)
            size = np.bincount(ring, minlength=number)
            closed = np.bincount(ring[tail], minlength=number) == size  # a chain has one link fewer than nodes
            lowest = np.unique(ring, return_index=True)[1]
            at_dateline = (lowest[ring[tail]] == (tail if d % 2 else head)) & closed[ring[tail]]
            marked[tail[at_dateline], d] = True
        return marked


class Routes(NamedTuple):
    """The routes of K keys (see `SourceRouting`); rows of a key stand together, in the order of the keys.

    first      int64[K + 1]  rows first[i] … first[i + 1] − 1 are those of key i, one at least
    weight     float64[R]    share of the key's traffic that takes the row; the shares of a key sum to 1
    direction  int8[R, L]    of each run
    hops       int16[R, L]   its length; runs of 0 hops are skipped
    phase      int8[R, L]    what a virtual-channel rule may tell apart: a stage of a hierarchical route, an order of the dimensions
    """

    first: np.ndarray
    weight: np.ndarray
    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray


@dataclass(frozen=True, eq=False)
class SourceRouting:
    """Routes settled at the source, as a function of a relative address.

    moves   directions
    cell    int32[N]   numbers 0, 1, … of classes of sources: from two nodes of one cell, equal relative addresses take equal runs
    keys    int        how many keys there are; key // (keys / cells) is the source's cell
    key     (source int[…], destination int[…]) → int64[…]: cell and relative address of the destination as seen
            from the source, by array operators alone, so that NumPy and CuPy arrays pass through; broadcasts
    routes  int64[K] keys → Routes; every key that `key` gives for some pair
    passes  2: by way of a node drawn uniformly for every packet (Valiant), each half routed so; the first half has phase p,
            the second p + phases
    phases  how many phases `routes` uses: 0 … phases − 1
    separable  whether what a packet does along an axis depends on its addresses' digits there alone, each axis in one run at most
    """

    moves: Moves
    cell: np.ndarray
    keys: int
    key: Callable[[np.ndarray, np.ndarray], np.ndarray]
    routes: Callable[[np.ndarray], Routes]
    passes: int = 1
    phases: int = 1
    separable: bool = False

    @property
    def topology(self) -> Topology:
        return self.moves.topology

    @cached_property
    def regular(self) -> bool:
        """Whether one source of each cell stands for all of it.

        So it is where every link is some direction's, every direction maps cells one-to-one onto cells,
        and every key of a cell occurs from every node of it: then the sum over a cell's sources of one
        key's route loads all nodes of any cell alike, direction by direction. Checked, not declared.
        """
        cells = int(self.cell.max()) + 1
        size = np.bincount(self.cell, minlength=cells)
        followed = np.zeros(self.topology.ports.shape, bool)
        for column in self.moves.port.T:
            leaving = np.flatnonzero(column != NO_PORT)
            followed[leaving, column[leaving]] = True
        if self.keys != cells * self.topology.nodes or not np.array_equal(followed, self.topology.ports != NO_PORT):
            return False
        for d in range(self.moves.port.shape[1]):
            there = self.moves.next[:, d]
            leads = there != NO_PORT
            if len(np.unique(there[leads])) != leads.sum():
                return False
            onto = np.full(cells, -1)
            onto[self.cell[leads]] = self.cell[there[leads]]
            whole = np.bincount(self.cell[leads], minlength=cells)
            alike = (self.cell[there[leads]] == onto[self.cell[leads]]).all()
            if not alike or not np.isin(whole, (0, *size)).all() or (whole[whole > 0] != size[whole > 0]).any():
                return False
            if (size[onto[whole > 0]] != size[whole > 0]).any():
                return False
        return True


@dataclass(frozen=True, eq=False)
class LayeredRouting:
    """Shortest paths in a graph of states over the network's nodes.

    topology  the network
    states    int32[S, Q]   state reached through each arc, −1 = none
    port      int16[S, Q]   the network's port (of node[s]) that the arc takes; −1: it stays at the node, as the last step into `finish`
    node      int32[S]      the node of each state
    start     int32[N]      the state in which a packet enters the network at each node
    finish    int32[N]      the state in which it has arrived there
    extra     int           arcs of every path that stay at a node: hops = distance − extra
    split     "paths": every shortest path alike; "next-hops": at every state every arc alike that leads nearer
    """

    topology: Topology
    states: np.ndarray
    port: np.ndarray
    node: np.ndarray
    start: np.ndarray
    finish: np.ndarray
    extra: int
    split: str

    @property
    def plain(self) -> bool:
        """Whether the states are the nodes, so that every automorphism of the network keeps the routing."""
        return self.states is self.topology.ports


@dataclass(frozen=True, eq=False)
class AdaptiveRouting:
    """Any link that leads nearer, chosen on the way; and where those are taken, the next hop of another routing, on virtual channels of its own.

    escape   that routing; one route a key, and its next hop leads nearer
    """

    escape: SourceRouting

    @property
    def topology(self) -> Topology:
        return self.escape.topology


Routing = SourceRouting | LayeredRouting


def combinations(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every way to choose one of counts[i, j] ≥ 1 alternatives in each place j of each key i, int[K, n].

    returns   (first int64[K + 1], choice int64[R, n]): rows first[i] … first[i + 1] − 1 are key i's choices
    """
    ways = counts.prod(axis=1, dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(ways)])
    key = np.repeat(np.arange(len(counts)), ways)
    left = np.arange(first[-1]) - first[key]
    choice = np.empty((len(key), counts.shape[1]), np.int64)
    for place in range(counts.shape[1]):
        left, choice[:, place] = np.divmod(left, counts[key, place])
    return first, choice
