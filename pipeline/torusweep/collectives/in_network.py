"""All-reduce with sums in switches: every node adds the flits that come up a tree, and copies the sum on its way down.

Trees span the terminals, through switches if needed, and use each of their links once in each direction. A linear
program shares the links among trees; while it improves the result, the cheapest tree at the program's prices is added
(column generation). A heuristic finds the cheapest tree (Mehlhorn 1988), so the result can be attained but is no bound.
On networks without switches that tree is a minimum spanning tree, and the result is exact.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from torusweep_kernels.trees import Trees

from torusweep.collectives.operations import has_switches
from torusweep.collectives.rings import ONE_WAY
from torusweep.collectives.schedule import Schedule, all_reduced, mirrored
from torusweep.collectives.trees import ROOT, all_reduce_trees, down_trees, from_the_middle
from torusweep.errors import BadInput, Refused
from torusweep.networks.links import flit_matrix
from torusweep.networks.topology import Topology

MOST_NODES = 1024  # of a network with switches; about a minute
MOST_ROUNDS = 300  # solutions of the linear program, beside one per node
PAYS = 1e-9  # least relative saving in price for which a tree is added
FEW = 2520  # most equal parts of the data that are tried, to give every tree a whole number of parts
MANY = 1 << 30  # otherwise, parts for the tree with the most data
Tree = tuple[int, ...]  # numbers of the tree's links, ascending


class SharedLinks(NamedTuple):
    """Bidirectional links.

    one, other  int64[E]  nodes at the ends; one < other
    room        int64[E]  flits that fit each direction
    """

    one: np.ndarray
    other: np.ndarray
    room: np.ndarray


class Packing(NamedTuple):
    """Trees that share the links of a network.

    links   the network's links
    trees   trees that span the terminals
    share   float64[T] flits of each tree, in the cycles of `flit_matrix`
    part    int64[N]   set of each node; each set has a terminal, and the links between the sets limit the trees
    """

    links: SharedLinks
    trees: list[Tree]
    share: np.ndarray
    part: np.ndarray


def trees_in_network(topology: Topology) -> Schedule:
    """All-reduce up and then down as many trees as fit the links. Trees span the terminals; all nodes are ranks.

    If each node has a terminal, these are the trees of `all_reduce_trees`.
    """
    if topology.directed:
        raise BadInput(ONE_WAY)
    if not has_switches(topology):
        return all_reduce_trees(topology)
    links, found, share, _ = packing_of(topology)
    parts = _in_parts(share)
    used = np.flatnonzero(parts)
    rooted = [_parents(links, topology.nodes, found[place]) for place in used.tolist()]
    trees = Trees(np.array([root for root, _ in rooted], np.int32), parts[used], np.array([each for _, each in rooted]))
    down = down_trees("broadcast", topology.nodes, from_the_middle(trees), int(parts.sum()))
    return all_reduced(mirrored(down), down)


@lru_cache(maxsize=2)  # used for the bound, and for the algorithm
def packing_of(topology: Topology) -> Packing:
    """Find trees that together carry the most flits. Raises Refused for a network of more than `MOST_NODES` nodes."""
    if topology.nodes > MOST_NODES:
        raise Refused(
            f"trees_in_network on {topology.spelling}: expected at most {MOST_NODES:,} nodes, got {topology.nodes:,}"
        )
    matrix = scipy.sparse.triu(flit_matrix(topology)[0]).tocoo()
    links = SharedLinks(matrix.row.astype(np.int64), matrix.col.astype(np.int64), matrix.data)
    members = np.unique(topology.terminals)
    trees, share, price = packed(links, topology.nodes, members)
    return Packing(links, trees, share, _parts(links, topology.nodes, members, price))


def packed(links: SharedLinks, nodes: int, members: np.ndarray) -> tuple[list[Tree], np.ndarray, np.ndarray]:
    """Solve the linear program: (trees that span the members, float64[T] flits of each, float64[E] price of each link).

    members   int[M] nodes, ascending, connected by the links
    """
    known = dict.fromkeys(_from_each(links, nodes, members))
    most = min(links.room[(links.one == node) | (links.other == node)].sum() for node in members.tolist())
    while True:
        trees = list(known)
        place = np.concatenate([np.array(tree, np.int64) for tree in trees])
        column = np.repeat(np.arange(len(trees)), [len(tree) for tree in trees])
        takes = scipy.sparse.csr_array((np.ones(len(place)), (place, column)), shape=(len(links.one), len(trees)))
        solved = scipy.optimize.linprog(-np.ones(len(trees)), A_ub=takes, b_ub=links.room, method="highs-ds")
        assert solved.status == 0, solved.message
        price = np.maximum(-solved.ineqlin.marginals, 0.0)
        if -solved.fun >= most * (1 - PAYS) or len(trees) > nodes + MOST_ROUNDS:
            return trees, solved.x, price
        tree = _cheapest(links, nodes, members, price)
        if tree in known or price[list(tree)].sum() > 1 - PAYS:
            return trees, solved.x, price
        known[tree] = None


def _from_each(links: SharedLinks, nodes: int, members: np.ndarray) -> Iterator[Tree]:
    """Yield, for every node that reaches all members, a tree of shortest paths from that node to the members."""
    numbers = np.arange(1, len(links.one) + 1)
    graph = scipy.sparse.csr_array((numbers, (links.one, links.other)), shape=(nodes, nodes))
    graph = (graph + graph.T).tocsr()
    for root in range(nodes):
        order, before = scipy.sparse.csgraph.breadth_first_order(graph, root, directed=False)
        wanted = np.zeros(nodes, bool)
        wanted[members] = True
        if wanted[order].sum() < len(members):
            continue
        tree = []
        for node in order[:0:-1].tolist():
            if wanted[node]:
                wanted[before[node]] = True
                tree.append(int(graph[node, before[node]]) - 1)
        yield tuple(sorted(tree))


def _cheapest(links: SharedLinks, nodes: int, members: np.ndarray, price: np.ndarray) -> Tree:
    """Return a tree that spans the members for at most twice the least total price (Mehlhorn 1988)."""
    least = max(float(price.max()), 1.0) * 1e-12  # keeps links of price 0 in the sparse graph
    graph = scipy.sparse.csr_array((price + least, (links.one, links.other)), shape=(nodes, nodes))
    away, before, nearest = scipy.sparse.csgraph.dijkstra(
        graph, directed=False, indices=members, min_only=True, return_predecessors=True
    )
    of_pair = {pair: place for place, pair in enumerate(zip(links.one.tolist(), links.other.tolist()))}
    between = np.flatnonzero((nearest[links.one] != nearest[links.other]) & np.isfinite(away[links.one]))
    length = away[links.one[between]] + price[between] + away[links.other[between]]
    group = {int(member): int(member) for member in members}

    def leader(member: int) -> int:
        while group[member] != member:
            group[member] = member = group[group[member]]
        return member

    tree = set()
    for place in between[np.argsort(length, kind="stable")].tolist():
        ends = int(links.one[place]), int(links.other[place])
        first, second = (leader(int(nearest[end])) for end in ends)
        if first == second:
            continue
        group[first] = second
        tree.add(place)
        for node in ends:
            while node != nearest[node]:
                above = int(before[node])
                tree.add(of_pair[min(node, above), max(node, above)])
                node = above
    return tuple(sorted(tree))


def _parts(links: SharedLinks, nodes: int, members: np.ndarray, price: np.ndarray) -> np.ndarray:
    """int64[N]: the set of each node, which is that of its nearest member by price. Links of price 0 join members."""
    graph = scipy.sparse.csr_array((price + PAYS, (links.one, links.other)), shape=(nodes, nodes))
    nearest = scipy.sparse.csgraph.dijkstra(
        graph, directed=False, indices=members, min_only=True, return_predecessors=True
    )[2]
    kept = price <= PAYS
    free = scipy.sparse.csr_array((np.ones(kept.sum()), (links.one[kept], links.other[kept])), shape=(nodes, nodes))
    joined = scipy.sparse.csgraph.connected_components(free, directed=False)[1]
    return np.unique(joined[nearest], return_inverse=True)[1]


def _parents(links: SharedLinks, nodes: int, tree: Tree) -> tuple[int, np.ndarray]:
    """Return (root of the tree, int32[N] parent of each node). The root and nodes outside the tree have `ROOT`."""
    beside: dict[int, list[int]] = {}
    for place in tree:
        one, other = int(links.one[place]), int(links.other[place])
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    root, parent = min(beside), np.full(nodes, ROOT, np.int32)
    waiting = deque([root])
    while waiting:
        node = waiting.popleft()
        for other in beside[node]:
            if other != parent[node]:
                parent[other] = node
                waiting.append(other)
    return root, parent


def _in_parts(share: np.ndarray) -> np.ndarray:
    """int64[T]: whole numbers in the proportions of `share`; exact if a total of at most `FEW` parts suffices."""
    scale = np.arange(1, FEW + 1)[:, None] / share.sum()
    off = np.abs(share * scale - np.rint(share * scale)).max(axis=1)
    exact = np.flatnonzero(off < 1e-7)
    return np.rint(share * scale[exact[0]] if len(exact) else share * (MANY / share.max())).astype(np.int64)
