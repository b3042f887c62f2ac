"""Split each host that forwards no packets (`Topology.ends`) into two nodes.

Packets start at the host's own number, and end at an additional node, N + i, to which all links into the host lead. So
no path passes through a host: no link leads to the node where its packets start, and no link leaves the node where
packets to it end. Searches, linear programs and sums over shortest paths need no other change. Rows 0 … N − 1 of the
ports keep their places: the first N rows of an array of the split network's channels are the original network's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from torusweep.networks.topology import NO_PORT, Topology

AT_ONCE = 1 << 22  # distances computed at a time


class Split(NamedTuple):
    """A network with its hosts split into two nodes each. If all nodes forward packets, the network is unchanged.

    nodes   N + H, where H is the number of hosts that forward nothing
    arrive  int32[N]         the node at which packets to each node end
    ports   int32[N + H, P]  the network's ports, except that links into a host lead to the node where its packets end
    """

    nodes: int
    arrive: np.ndarray
    ports: np.ndarray

    @property
    def staying(self) -> np.ndarray:
        """int32[N + H, P + 1]: `ports` and one more port, a link from each host's start node to its end node."""
        hosts = np.flatnonzero(self.arrive != np.arange(len(self.arrive)))
        stay = np.full((self.nodes, 1), NO_PORT, np.int32)
        stay[hosts, 0] = self.arrive[hosts]
        return np.hstack([self.ports, stay])

    def channels(self, values: np.ndarray | None) -> np.ndarray | None:
        """Extend values per channel, [N, P], to [N + H, P], with rows of 1 for the nodes where packets to hosts end."""
        if values is None or len(values) == self.nodes:
            return values
        return np.vstack([values, np.ones((self.nodes - len(values), values.shape[1]), values.dtype)])

    def starting(self, values: np.ndarray) -> np.ndarray:
        """Spread values per node, […, N], to […, N + H]: each value to the node where packets start, 0 elsewhere."""
        found = np.zeros((*values.shape[:-1], self.nodes), values.dtype)
        found[..., : len(self.arrive)] = values
        return found

    def arriving(self, values: np.ndarray) -> np.ndarray:
        """Spread values per node, […, N], to […, N + H]: each value to the node where packets end, 0 elsewhere."""
        found = np.zeros((*values.shape[:-1], self.nodes), values.dtype)
        found[..., self.arrive] = values
        return found


def split(topology: Topology) -> Split:
    """Split every host that forwards nothing into two nodes."""
    nodes, arrive = topology.nodes, np.arange(topology.nodes, dtype=np.int32)
    if topology.ends is None:
        return Split(nodes, arrive, topology.ports)
    hosts = np.flatnonzero(topology.ends)
    arrive[hosts] = nodes + np.arange(len(hosts))
    ports = np.full((nodes + len(hosts), topology.ports.shape[1]), NO_PORT, np.int32)
    ports[:nodes] = np.append(arrive, NO_PORT)[topology.ports]
    return Split(len(ports), arrive, ports)


def relaying(topology: Topology) -> Topology:
    """Return the network with hosts that forward packets, as the ranks of a collective operation do."""
    return topology if topology.ends is None else replace(topology, plan=replace(topology.plan, hosts_end=False))


def first_forwarding(topology: Topology) -> int:
    """Return the first working node or, if hosts do not forward, the first of the largest component of other nodes."""
    if topology.ends is None:
        return int(topology.works.argmax())
    label = _labels(topology)
    size = np.bincount(label)[label]
    return int(np.where(topology.ends, 0, size).argmax())


def joined(topology: Topology, nodes: np.ndarray) -> bool:
    """Return whether each of the given distinct nodes, int[S], can reach all others."""
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
    """Return float64[S, N]: hops from each source, int[S], to each node; inf if there is no path."""
    parted, (tail, head, _) = split(topology), topology.arcs
    ends = tail, parted.arrive[head]
    links = scipy.sparse.coo_array((np.ones(len(tail), np.int8), ends), shape=(parted.nodes,) * 2).tocsr()
    hops: np.ndarray = scipy.sparse.csgraph.dijkstra(links, unweighted=True, indices=nodes)[:, parted.arrive]
    hops[np.arange(len(nodes)), nodes] = 0
    return hops


def parts(topology: Topology) -> int:
    """Return the number of connected components; in a directed network, of strongly connected components.

    If hosts forward nothing, the number is 1 if all terminals reach each other. Otherwise it is the number of
    components of the forwarding nodes, plus the number of hosts without a link to them or from them, and at least 2.
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
    """int32[N]: strongly connected component of each node. A host that forwards nothing is a component by itself."""
    tail, head, _ = topology.arcs
    if topology.ends is not None:
        through = ~(topology.ends[tail] | topology.ends[head])
        tail, head = tail[through], head[through]
    links = scipy.sparse.coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(topology.nodes,) * 2)
    found: np.ndarray = scipy.sparse.csgraph.connected_components(links, connection="strong")[1]
    return found


def _beside(topology: Topology, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two int32[N]: for every node a component that it links to, and one that links to it; −1 = none.

    If there are several, the largest is chosen. Hosts that forward nothing do not count as components.
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
