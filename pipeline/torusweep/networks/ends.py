"""Networks whose hosts forward nothing (`Topology.ends`): each such host is split into two nodes.

Packets start at the host's own number and end at a further node, N + i, to which all links into the host lead. No path
passes a host then: nothing leads to where its packets start, and nothing leaves where packets to it end. Searches,
linear programs and sums over shortest paths need no other change. Rows 0 … N − 1 of the ports keep their places, so
that an array of the split network's channels, cut to its first N rows, is one of the network's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from torusweep.networks.topology import NO_PORT, Topology

AT_ONCE = 1 << 22  # distances looked at together


class Split(NamedTuple):
    """A network with its hosts split into two nodes; the network itself if all its nodes forward.

    nodes   N + H, with H hosts that forward nothing
    arrive  int32[N]         the node where packets to each node end
    ports   int32[N + H, P]  the network's ports, except that links into a host lead to where its packets end
    """

    nodes: int
    arrive: np.ndarray
    ports: np.ndarray

    @property
    def staying(self) -> np.ndarray:
        """int32[N + H, P + 1]: `ports` with a link from each host's start to its end, so that it reaches itself."""
        hosts = np.flatnonzero(self.arrive != np.arange(len(self.arrive)))
        stay = np.full((self.nodes, 1), NO_PORT, np.int32)
        stay[hosts, 0] = self.arrive[hosts]
        return np.hstack([self.ports, stay])

    def channels(self, values: np.ndarray | None) -> np.ndarray | None:
        """[N + H, P]: the values of channels, [N, P], extended by rows of 1 for the hosts' ends."""
        if values is None or len(values) == self.nodes:
            return values
        return np.vstack([values, np.ones((self.nodes - len(values), values.shape[1]), values.dtype)])

    def starting(self, values: np.ndarray) -> np.ndarray:
        """[…, N + H]: values of nodes, [… , N], where packets start; 0 elsewhere."""
        found = np.zeros((*values.shape[:-1], self.nodes), values.dtype)
        found[..., : len(self.arrive)] = values
        return found

    def arriving(self, values: np.ndarray) -> np.ndarray:
        """[…, N + H]: values of nodes, [… , N], where packets end; 0 elsewhere."""
        found = np.zeros((*values.shape[:-1], self.nodes), values.dtype)
        found[..., self.arrive] = values
        return found


def split(topology: Topology) -> Split:
    """The network with every host that forwards nothing split into two nodes."""
    nodes, arrive = topology.nodes, np.arange(topology.nodes, dtype=np.int32)
    if topology.ends is None:
        return Split(nodes, arrive, topology.ports)
    hosts = np.flatnonzero(topology.ends)
    arrive[hosts] = nodes + np.arange(len(hosts))
    ports = np.full((nodes + len(hosts), topology.ports.shape[1]), NO_PORT, np.int32)
    ports[:nodes] = np.append(arrive, NO_PORT)[topology.ports]
    return Split(len(ports), arrive, ports)


def relaying(topology: Topology) -> Topology:
    """The network with hosts that forward, as the ranks of a collective operation pass data on."""
    return topology if topology.ends is None else replace(topology, plan=replace(topology.plan, hosts_end=False))


def first_forwarding(topology: Topology) -> int:
    """The first working node; if hosts do not forward, the first in the largest part of forwarding nodes."""
    if topology.ends is None:
        return int(topology.works.argmax())
    label = _labels(topology)
    size = np.bincount(label)[label]
    return int(np.where(topology.ends, 0, size).argmax())


def joined(topology: Topology, nodes: np.ndarray) -> bool:
    """Whether all of these distinct nodes, int[S], reach each other."""
    label = _labels(topology)
    if topology.ends is None:
        return not len(nodes) or not np.ptp(label[nodes])
    hosts = nodes[topology.ends[nodes]]
    reached, leading = _beside(topology, label)
    within = np.setdiff1d(label[nodes], label[hosts])
    if len(within) == 0 and len(hosts):
        within = np.unique(reached[hosts[:1]])
    one = within[0] if len(within) == 1 else NO_PORT
    if one != NO_PORT and (reached[hosts] == one).all() and (leading[hosts] == one).all():
        return True
    step = max(1, AT_ONCE // (2 * topology.nodes))
    return not any(
        np.isinf(hops_from(topology, nodes[first : first + step])[:, nodes]).any()
        for first in range(0, len(nodes), step)
    )


def hops_from(topology: Topology, nodes: np.ndarray) -> np.ndarray:
    """float64[S, N]: hops from each source, int[S], to each node; inf without a path."""
    parted, (tail, head, _) = split(topology), topology.arcs
    ends = tail, parted.arrive[head]
    links = scipy.sparse.coo_array((np.ones(len(tail), np.int8), ends), shape=(parted.nodes,) * 2).tocsr()
    hops: np.ndarray = scipy.sparse.csgraph.dijkstra(links, unweighted=True, indices=nodes)[:, parted.arrive]
    hops[np.arange(len(nodes)), nodes] = 0
    return hops


def parts(topology: Topology) -> int:
    """The number of components; of strongly connected ones in a directed network.

    Where hosts forward nothing, it is 1 if all terminals reach each other. Otherwise the components of the forwarding
    nodes count, and the hosts without a link to any of these: at least 2.
    """
    label = _labels(topology)
    if topology.ends is None:
        return int(label.max(initial=-1)) + 1
    if joined(topology, np.unique(topology.terminals)):
        return 1
    reached, leading = _beside(topology, label)
    alone = topology.ends & ((reached == NO_PORT) | (leading == NO_PORT))
    return max(2, len(np.unique(label[~topology.ends])) + int(alone.sum()))


def _labels(topology: Topology) -> np.ndarray:
    """int32[N]: the strong component of each forwarding node; each host that forwards nothing is its own."""
    tail, head, _ = topology.arcs
    if topology.ends is not None:
        through = ~(topology.ends[tail] | topology.ends[head])
        tail, head = tail[through], head[through]
    links = scipy.sparse.coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(topology.nodes,) * 2)
    found: np.ndarray = scipy.sparse.csgraph.connected_components(links, connection="strong")[1]
    return found


def _beside(topology: Topology, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int32[N] each: for every node a component that it links to, and one that links to it; −1 = none.

    The largest is chosen. Hosts that forward nothing are no components.
    """
    assert topology.ends is not None
    tail, head, _ = topology.arcs
    rank = np.bincount(label)[label]
    found = np.full((2, topology.nodes), NO_PORT, label.dtype)
    for row, own, other in zip(found, (tail, head), (head, tail)):
        forwards = ~topology.ends[other]
        own, other = own[forwards], other[forwards]
        order = np.lexsort((label[other], rank[other]))  # the last one written counts
        row[own[order]] = label[other[order]]
    return found[0], found[1]
