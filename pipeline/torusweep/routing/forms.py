"""Three forms of a routing's data, which loads, walks and dependency graphs read.

*Source routing*: the route of a packet is determined at its source, as runs: a number of hops in one
direction, then a number of hops in another. *Layered routing*: shortest paths in a graph of states
over the network; for plain minimal routing the states are the nodes. *Table routing*: for every
node and destination, the rows of a table, from a file, a function or another routing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from torusweep.errors import BadInput
from torusweep.networks.topology import NO_PORT, Topology

MAX_PORTS = int(np.iinfo(np.int8).max)  # of a node; one more arc of a state stands for the packet's arrival


@dataclass(frozen=True, eq=False)
class Moves:
    """Directions in which packets move: direction 2i is + along axis i, and direction 2i + 1 is − along it.

    topology   the network
    port       int8[N, D]   port of each direction at each node, −1 = no link
    names      names of the D/2 axes
    whole      moves of the network without its faults, which define the datelines; None if there are no faults
    """

    topology: Topology
    port: np.ndarray
    names: tuple[str, ...]
    whole: Moves | None = None

    @cached_property
    def next(self) -> np.ndarray:
        """The node to which each direction leads, int32[N, D]; −1 = no link."""
        to = np.take_along_axis(self.topology.ports, np.maximum(self.port, 0).astype(np.int64), axis=1)
        return np.where(self.port == NO_PORT, np.int32(NO_PORT), to)

    @cached_property
    def covers_all_links(self) -> bool:
        """Whether every link of the network belongs to a direction."""
        used = np.zeros(self.topology.ports.shape, bool)
        for column in self.port.T:
            leaving = np.flatnonzero(column != NO_PORT)
            used[leaving, column[leaving]] = True
        return np.array_equal(used, self.topology.ports != NO_PORT)

    @cached_property
    def wrap(self) -> np.ndarray:
        """bool[N, D]: whether the hop from a node in a direction crosses the dateline of its ring.

        The rings of a direction are its cycles; on a twisted torus a cycle passes several wraparound links.
        The dateline of a ring is before its lowest-numbered node, in + direction.
        """
        if self.whole is not None:
            return self.whole.wrap & (self.port != NO_PORT)
        nodes, directions = self.port.shape
        marked = np.zeros((nodes, directions), bool)
        for d in range(directions):
            tail = np.flatnonzero(self.next[:, d] != NO_PORT)
            head = self.next[tail, d]
            links = scipy.sparse.coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(nodes, nodes))
            number, ring = scipy.sparse.csgraph.connected_components(links, directed=False)
            size = np.bincount(ring, minlength=number)
            closed = np.bincount(ring[tail], minlength=number) == size  # a chain has one link fewer than nodes
            lowest = np.unique(ring, return_index=True)[1]
            at_dateline = (lowest[ring[tail]] == (tail if d % 2 else head)) & closed[ring[tail]]
            marked[tail[at_dateline], d] = True
        return marked


class Routes(NamedTuple):
    """The routes of K keys (see `SourceRouting`), one per row, grouped by key in the order of the keys.

    first      int64[K + 1]  rows first[i] … first[i + 1] − 1 are the routes of key i, at least one
    weight     float64[R]    share of the traffic of the key on this route; the shares of a key sum to 1
    direction  int8[R, L]    direction of each run, as in `Moves`
    hops       int16[R, L]   number of hops of each run; runs of 0 hops are skipped
    phase      int8[R, L]    phase of each run, for virtual-channel rules: a hierarchical stage, or a dimension order
    """

    first: np.ndarray
    weight: np.ndarray
    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray


@dataclass(frozen=True, eq=False)
class SourceRouting:
    """Routes that are determined at the source, as a function of the relative address.

    moves   directions
    cell    int32[N]   class 0, 1, … of each source; nodes of the same class have the same routes by relative address
    keys    int        number of keys; key // (keys / cells) is the cell of the source
    key     (source int[…], destination int[…]) → int64[…]: number of the pair (cell of the source, relative
            address of the destination); uses array operators only, so that it takes NumPy and CuPy arrays; broadcasts
    routes  int64[K] keys → Routes, for all keys that `key` returns
    passes  1, or 2 for Valiant's routing: each packet goes to a node chosen uniformly at random, then to the
            destination. `routes` has the routes of each half; phases of the second half are larger by `phases`
    phases  number of phases that `routes` uses: 0 … phases − 1
    separable  whether the route along each axis depends on the digits of that axis only, in at most one run per axis
    lost    int64[L], ascending, source · N + destination: pairs of nodes with terminals that have no route; `routes`
            gives them a route of no hops. With two passes, `lost` includes a node paired with itself if the node
            sends itself nothing. None if every pair has a route
    """

    moves: Moves
    cell: np.ndarray
    keys: int
    key: Callable[[np.ndarray, np.ndarray], np.ndarray]
    routes: Callable[[np.ndarray], Routes]
    passes: int = 1
    phases: int = 1
    separable: bool = False
    lost: np.ndarray | None = None

    @property
    def topology(self) -> Topology:
        return self.moves.topology

    @cached_property
    def regular(self) -> bool:
        """Whether one source of each cell can represent all sources of the cell. This is verified, not declared.

        Three conditions suffice: every link belongs to a direction, every direction maps cells one-to-one
        onto cells, and every key of a cell occurs at each of its nodes. Then the routes of one key from all
        sources of a cell load all nodes of any cell equally, direction by direction.
        """
        cells = int(self.cell.max()) + 1
        size = np.bincount(self.cell, minlength=cells)
        if self.keys != cells * self.topology.nodes or not self.moves.covers_all_links:
            return False
        for d in range(self.moves.port.shape[1]):
            there = self.moves.next[:, d]
            leads = there != NO_PORT
            if len(np.unique(there[leads])) != leads.sum():
                return False
            onto = np.full(cells, -1)
            onto[self.cell[leads]] = self.cell[there[leads]]
            whole = np.bincount(self.cell[leads], minlength=cells)
            uniform = (self.cell[there[leads]] == onto[self.cell[leads]]).all()
            if not uniform or not np.isin(whole, (0, *size)).all() or (whole[whole > 0] != size[whole > 0]).any():
                return False
            if (size[onto[whole > 0]] != size[whole > 0]).any():
                return False
        return True


@dataclass(frozen=True, eq=False)
class LayeredRouting:
    """Shortest paths in a graph of states over the nodes of the network.

    topology  the network
    states    int32[S, Q]   state to which each arc leads, −1 = no arc
    port      int16[S, Q]   port of node[s] that the arc uses; −1: the packet stays at the node, as on arcs to `finish`
    node      int32[S]      node of each state
    start     int32[N]      state of a packet that enters the network at each node
    finish    int32[N]      state of a packet that has arrived at each node
    extra     int           number of arcs per path on which the packet stays at a node: hops = distance − extra
    split     what has equal shares: "paths": all shortest paths; "next-hops": in each state, all arcs that lead nearer
    lost      int64[L]      pairs of nodes, as in `SourceRouting`, whose packets take none of these paths; None for none
    """

    topology: Topology
    states: np.ndarray
    port: np.ndarray
    node: np.ndarray
    start: np.ndarray
    finish: np.ndarray
    extra: int
    split: str
    lost: np.ndarray | None = None

    @property
    def plain(self) -> bool:
        """Whether the states are the nodes. If so, every automorphism of the network preserves the routing."""
        return self.states is self.topology.ports


def in_two_phases(
    topology: Topology, first: np.ndarray, turn: np.ndarray, second: np.ndarray, split: str
) -> LayeredRouting:
    """Return shortest paths in two phases with different hops, such as up and then down.

    first, turn, second   bool[N, P]  hops of the first phase; hops that begin the second phase; hops within the second
    split                 paths or next_hops

    A packet at a node has one of three states: first phase, second phase, arrived.
    """
    nodes, width = topology.ports.shape
    every, there = np.arange(nodes, dtype=np.int32), topology.ports
    one, two, arrived = every, every + np.int32(nodes), every + np.int32(2 * nodes)
    states = np.full((3 * nodes, width + 1), NO_PORT, np.int32)
    states[one, :-1] = np.where(first, one[there], np.where(turn, two[there], NO_PORT))
    states[two, :-1] = np.where(second, two[there], NO_PORT)
    states[: 2 * nodes, -1] = np.tile(arrived, 2)
    narrow = np.int8 if width < MAX_PORTS + 1 else np.int16
    port = np.where(states == NO_PORT, NO_PORT, np.arange(width + 1)).astype(narrow)
    port[:, -1] = NO_PORT
    arcs = "next-hops" if split == "next_hops" else split
    return LayeredRouting(topology, states, port, np.tile(every, 3), one, arrived, 1, arcs)


@dataclass(frozen=True, eq=False)
class AdaptiveRouting:
    """A routing by any link that leads nearer, chosen hop by hop; if all such links are busy, by the escape's next hop.

    escape   routing of the escape virtual channels; it has one route per key, on which every hop leads nearer
    """

    escape: SourceRouting

    @property
    def topology(self) -> Topology:
        return self.escape.topology


class Headers(NamedTuple):
    """Packet headers of a table routing, which distinguish configurations with the same node and destination.

    input      int32[C]  node that the packet comes from, −1 = injected here; None if no row depends on it
    state      int32[C]  state of the packet in each configuration; packets are injected in state 0
    following  int32[R]  state of the packet after the hop of each row
    """

    input: np.ndarray | None
    state: np.ndarray
    following: np.ndarray


@dataclass(frozen=True, eq=False)
class TableRouting:
    """A routing as rows, each of which is a possible next hop.

    A configuration is all that the next hop depends on: the destination, the node, and the `headers`. The rows
    of a configuration divide its packets by their weights. A packet without a row at its destination has arrived.
    Only configurations that packets between terminals reach are kept. No configuration leads back to itself.

    topology    the network
    first       int64[N + 1]  first[d] … first[d + 1] − 1 are the configurations of packets to node d, each after
                              its predecessors
    at          int32[C]      node of each configuration
    rows        int64[C + 1]  rows[c] … rows[c + 1] − 1 are the rows of configuration c, at least one
    port        int16[R]      port that each row leads through; −1: the packet leaves the network, at its destination
    kind        int16[R]      class of the virtual channel that the packet takes on the hop, 0 … kinds − 1
    next        int32[R]      configuration after the hop, −1 = arrived
    weight      float64[R]    weight of each row, above 0
    entry_pair  int64[E]      destination · N + source, ascending: the pairs of nodes whose packets use the network
    entry       int32[E]      configuration in which the packets of each such pair are injected
    kinds       number of classes of virtual channels
    headers     headers of the configurations; None if there is one configuration for each node and destination
    lost        int64[L]      pairs, as in `SourceRouting`, that faults leave without a row at the source; any other
                              pair of terminals without a row is missing in the user's table
    """

    topology: Topology
    first: np.ndarray
    at: np.ndarray
    rows: np.ndarray
    port: np.ndarray
    kind: np.ndarray
    next: np.ndarray
    weight: np.ndarray
    entry_pair: np.ndarray
    entry: np.ndarray
    kinds: int = 1
    headers: Headers | None = None
    lost: np.ndarray | None = None

    @cached_property
    def many(self) -> np.ndarray:
        """Number of rows of each configuration, int64[C]."""
        return np.diff(self.rows)

    @cached_property
    def owner(self) -> np.ndarray:
        """int64[R]: the configuration of each row."""
        return np.repeat(np.arange(len(self.at)), self.many)

    @cached_property
    def destination(self) -> np.ndarray:
        """int64[C]: the destination node of each configuration."""
        return np.repeat(np.arange(self.topology.nodes), np.diff(self.first))

    @cached_property
    def total(self) -> np.ndarray:
        """float64[C]: the sum of the weights of each configuration's rows, added in the order of the rows."""
        return np.bincount(self.owner, self.weight, minlength=len(self.at))

    @cached_property
    def share(self) -> np.ndarray:
        """float64[R]: each row's share of its configuration's packets; exactly 1 if it is the only row."""
        return self.weight / self.total[self.owner]

    @cached_property
    def share_up_to(self) -> np.ndarray:
        """float64[R]: the cumulative share of each row in its configuration; 1 for a configuration's last row."""
        total = self.share.copy()
        several = np.flatnonzero(self.many > 1)
        for place in range(1, int(self.many.max(initial=1))):
            several = several[self.many[several] > place]
            row = self.rows[several] + place
            total[row] += total[row - 1]
        total[self.rows[1:] - 1] = 1.0
        return total

    def entries(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        """Return the configuration in which packets of each pair, int[B], start, int64[B]; −1 if already arrived.

        Raises BadInput if the table does not route a pair of different nodes.
        """
        pair = destination.astype(np.int64) * self.topology.nodes + source
        if not len(self.entry):
            return np.full(len(pair), -1)
        place = np.minimum(np.searchsorted(self.entry_pair, pair), len(self.entry) - 1)
        found = np.where(self.entry_pair[place] == pair, self.entry[place], -1)
        lost = np.flatnonzero((found < 0) & (source != destination))
        if len(lost):
            raise BadInput(
                f"expected packets between terminals, got one from node {source[lost[0]]} to {destination[lost[0]]},"
                " which the table does not route"
            )
        return found


Routing = SourceRouting | LayeredRouting | TableRouting


def port_to(topology: Topology, neighbour: np.ndarray) -> np.ndarray:
    """Return the port that leads from each node to `neighbour`, int32[N], as int8[N]; −1 = no link."""
    leads = topology.ports == neighbour.reshape(-1, 1)
    return np.where(leads.any(axis=1), leads.argmax(axis=1), NO_PORT).astype(np.int8)


def combinations(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List, for each key i, all combinations of one alternative per place; place j has counts[i, j] ≥ 1 alternatives.

    counts    int[K, n]
    returns   (first int64[K + 1], choice int64[R, n]): rows first[i] … first[i + 1] − 1 are the choices of key i
    """
    ways = counts.prod(axis=1, dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(ways)])
    key = np.repeat(np.arange(len(counts)), ways)
    left = np.arange(first[-1]) - first[key]
    choice = np.empty((len(key), counts.shape[1]), np.int64)
    for place in range(counts.shape[1]):
        left, choice[:, place] = np.divmod(left, counts[key, place])
    return first, choice
