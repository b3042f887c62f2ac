"""Algorithms on as many spanning trees as fit the links; the data flow through the trees in pieces.

Further algorithms in this module ignore the links: messages between two ranks are spread over all shortest paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from torusweep_kernels.cuts import least_ratio_cut, strength
from torusweep_kernels.trees import Trees, hops_from, pack_trees, shortest_path_trees

from torusweep.collectives.operations import alike, channels_of, has_switches
from torusweep.collectives.rings import order_of_ranks
from torusweep.collectives.schedule import ALL, Schedule, Transfers, all_reduced, check_transfers, mirrored, schedule
from torusweep.errors import BadInput, Refused
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import Topology

MOST_GROWN = 1_000_000_000  # pairs of node and channel of a network, if trees out of one root are packed; a minute
MOST_PACKED = 300  # nodes of a network, if trees are packed whose paths need not be shortest; 256 take some seconds
ROOT = -1  # the parent of a root


def gather_trees(topology: Topology) -> Schedule:
    """All-gather on trees out of every rank.

    Trees of shortest paths are used if they attain the optimum, and otherwise any trees that attain it. Unless each
    node has a terminal, the algorithm uses binary trees of messages between ranks.
    """
    if has_switches(topology):
        return _gather_between_ranks(topology)
    channels = channels_of(topology)
    nodes = topology.nodes
    best = least_ratio_cut(channels, np.ones(nodes, np.int64), orbits(topology).representatives)
    rate = Fraction(best.capacity, best.weight)
    units = np.full(nodes, rate.numerator)
    check_transfers(nodes * (nodes - 1))
    scaled = channels._replace(capacity=channels.capacity * rate.denominator)
    trees = shortest_path_trees(scaled, units)
    if trees is None:
        _check_size(topology)
        trees = pack_trees(scaled, units)
    return down_trees("all_gather", nodes, trees, nodes * rate.numerator)


def broadcast_trees(topology: Topology, root: int) -> Schedule:
    """Broadcast on as many trees out of the root as there are disjoint paths from the root to every other terminal."""
    if has_switches(topology):
        return _broadcast_between_ranks(topology, root, double=True)
    channels = channels_of(topology)
    nodes = topology.nodes
    if nodes * len(channels.to) > MOST_GROWN:
        raise Refused(
            f"trees on {topology.spelling}: expected at most {MOST_GROWN:,} pairs of node and channel, got"
            f" {nodes * len(channels.to):,}"
        )
    source = np.zeros(nodes, np.int64)
    source[root] = 1
    width = least_ratio_cut(channels, source, np.delete(np.arange(nodes), root)).capacity
    return down_trees("broadcast", nodes, pack_trees(channels, source * width), width)


def broadcast_tree(topology: Topology, root: int) -> Schedule:
    """Broadcast on one tree of shortest paths."""
    if has_switches(topology):
        return _broadcast_between_ranks(topology, root, double=False)
    channels = channels_of(topology)
    distance = hops_from(channels, np.array([root]))[0]
    tail = np.repeat(np.arange(topology.nodes), np.diff(channels.first))
    parent = np.full((1, topology.nodes), ROOT, np.int32)
    nearer = np.flatnonzero((distance[tail] + 1 == distance[channels.to]) & (channels.capacity > 0))
    parent[0, channels.to[nearer]] = tail[nearer]
    return down_trees("broadcast", topology.nodes, Trees(np.array([root], np.int32), np.ones(1, np.int64), parent), 1)


def all_reduce_trees(topology: Topology) -> Schedule:
    """All-reduce on undirected trees: sums go up to the middle of each tree, and the total comes back down.

    There are as many trees as the strength of a network with bidirectional links allows, so they attain the optimum. If
    a reduce-scatter and an all-gather attain it, too, their shorter trees are used.
    """
    if has_switches(topology):
        down = _broadcast_between_ranks(topology, int(order_of_ranks(topology)[0]), double=True)
        return all_reduced(mirrored(down), down)
    channels = channels_of(topology)
    nodes, roots = topology.nodes, orbits(topology).representatives
    halves = least_ratio_cut(channels, np.ones(nodes, np.int64), roots)
    if len(roots) == 1 and alike(topology):
        enough = Fraction(int(channels.capacity.sum()) // 2, nodes - 1)  # Mader 1971; see `optimum`
    else:
        _check_size(topology)
        found = strength(channels)
        enough = Fraction(found.trees, found.links)
    if Fraction(nodes * halves.capacity, 2 * halves.weight) >= enough:
        gathering = gather_trees(topology)
        return all_reduced(mirrored(gathering), gathering)
    _check_size(topology)
    units = np.zeros(nodes, np.int64)
    units[0] = 2 * found.trees
    trees = pack_trees(channels._replace(capacity=found.entering), units)
    down = down_trees("broadcast", nodes, from_the_middle(trees), 2 * found.trees)
    return all_reduced(mirrored(down), down)


def _check_size(topology: Topology) -> None:
    if topology.nodes > MOST_PACKED:
        raise Refused(
            f"trees on {topology.spelling}: expected at most {MOST_PACKED} nodes, where trees of shortest paths do not"
            f" attain the optimum, got {topology.nodes:,}"
        )


def down_trees(operation: str, nodes: int, trees: Trees, units: int) -> Schedule:
    """Make the schedule in which each tree has a chunk, which goes down the tree by one level per step."""
    check_transfers(len(trees.root) * (nodes - 1))
    depth = np.zeros(trees.parent.shape, np.int32)
    rows = np.arange(len(trees.root))[:, None]
    above = trees.parent
    while (above != ROOT).any():
        depth += above != ROOT
        above = np.where(above == ROOT, ROOT, trees.parent[rows, above])
    transfers = Transfers()
    tree, node = np.nonzero(trees.parent != ROOT)
    transfers.add(depth[tree, node] - 1, trees.parent[tree, node], node, tree)
    everyone = np.arange(nodes, dtype=np.int32)
    return schedule(operation, everyone, (units, trees.units), (trees.root, ALL), transfers, pipelined=True)


def from_the_middle(trees: Trees) -> Trees:
    """Root each tree at the middle of one of its longest paths, with the same links. Trees need not span all nodes."""
    parents, roots = trees.parent.copy(), trees.root.copy()
    for number, parent in enumerate(trees.parent):
        beside: list[list[int]] = [[] for _ in parent]
        for node, above in enumerate(parent.tolist()):
            if above != ROOT:
                beside[node].append(above)
                beside[above].append(node)
        _, far = _levels(beside, int(roots[number]))
        before, end = _levels(beside, far)
        path = [end]
        while before[path[-1]] != ROOT:
            path.append(before[path[-1]])
        roots[number] = path[len(path) // 2]
        parents[number], _ = _levels(beside, int(roots[number]))
    return Trees(roots, trees.units, parents)


def _levels(beside: list[list[int]], root: int) -> tuple[list[int], int]:
    """Return (parent of each node in a tree from `root`, node reached last); `beside` has each node's neighbours."""
    before, queue = [ROOT] * len(beside), [root]
    for node in queue:
        for other in beside[node]:
            if other != before[node]:
                before[other] = node
                queue.append(other)
    return before, queue[-1]


def _broadcast_between_ranks(topology: Topology, root: int, *, double: bool) -> Schedule:
    """Broadcast down a binary tree of messages between ranks or, if `double`, down two with half of the data each.

    No rank but the root passes on data in both trees, so each rank sends as much as it receives.
    Source: Sanders, Speck & Träff 2009 (two-tree broadcast).
    """
    order = order_of_ranks(topology)
    order = np.roll(order, -int(np.flatnonzero(order == root)[0]))
    ranks = len(order)
    one = _in_order(ranks)
    parents = [one]
    if double:
        # places in the other tree: but for the root's, mirrored if the ranks are odd in number, else moved by one
        place = np.arange(ranks - 1, 0, -1) if ranks % 2 else np.roll(np.arange(1, ranks), 1)
        of_place = np.append(0, place)
        parents.append(np.append(ROOT, np.argsort(of_place)[one[place]]))
    return down_trees("broadcast", ranks, _of_ranks([order] * len(parents), parents), len(parents))


def _gather_between_ranks(topology: Topology) -> Schedule:
    """All-gather down a binary tree out of every rank, rotated so that a rank has each place in one of the trees."""
    order = order_of_ranks(topology)
    ranks = len(order)
    check_transfers(ranks * (ranks - 1))
    parent = _in_order(ranks)
    return down_trees(
        "all_gather", ranks, _of_ranks([np.roll(order, -by) for by in range(ranks)], [parent] * ranks), ranks
    )


def _in_order(ranks: int) -> np.ndarray:
    """int64[R]: the parent of each place in a binary tree with root 0, whose leaves are the odd places.

    A subtree consists of consecutive places, so ranks at the same switch send mostly to each other.
    """
    place = np.arange(ranks)
    low = place & -place
    above = (place - low) | (low << 1)
    parent = np.where(above < ranks, above, place - low)
    parent[0] = ROOT
    return parent


def _of_ranks(orders: Sequence[np.ndarray], parents: Sequence[np.ndarray]) -> Trees:
    """Turn trees of places into trees of ranks; `orders` has, for each tree, the rank in each place."""
    found = np.full((len(orders), len(orders[0])), ROOT, np.int32)
    for row, order, parent in zip(found, orders, parents):
        row[order[1:]] = order[parent[1:]]
    return Trees(np.array([order[0] for order in orders], np.int32), np.ones(len(orders), np.int64), found)


def direct(topology: Topology) -> Schedule:
    """All-gather in one step: each rank sends its part to all others."""
    ranks = len(topology.terminals)
    check_transfers(ranks * (ranks - 1))
    source, destination = _pairs(ranks)
    transfers = Transfers()
    transfers.add(0, source, destination, source)
    everyone = np.arange(ranks, dtype=np.int32)
    return schedule("all_gather", everyone, (ranks, np.ones(ranks, np.int64)), (everyone, ALL), transfers)


def direct_all_to_all(topology: Topology) -> Schedule:
    """All-to-all in one step: each rank sends every other rank the part for it."""
    ranks = len(topology.terminals)
    check_transfers(ranks * (ranks - 1))
    source, destination = _pairs(ranks)
    transfers = Transfers()
    transfers.add(0, source, destination, source * ranks + destination)
    ends = np.repeat(np.arange(ranks), ranks), np.tile(np.arange(ranks), ranks)
    everyone = np.arange(ranks, dtype=np.int32)
    return schedule("all_to_all", everyone, (ranks, np.ones(ranks * ranks, np.int64)), ends, transfers)


def direct_broadcast(topology: Topology, root: int) -> Schedule:
    """Broadcast in one step: the root sends everything to all others."""
    ranks = len(topology.terminals)
    transfers = Transfers()
    transfers.add(0, root, np.delete(np.arange(ranks), root), 0)
    everyone = np.arange(ranks, dtype=np.int32)
    return schedule("broadcast", everyone, (1, np.ones(1, np.int64)), (root, ALL), transfers)


def recursive_doubling(topology: Topology) -> Schedule:
    """All-gather in one step per bit: ranks whose numbers differ in that bit exchange all data that they have.

    Source: Thakur, Rabenseifner & Gropp 2005. In reverse it is recursive halving, a reduce-scatter.
    """
    ranks = _power_of_2(topology)
    check_transfers(ranks * (ranks - 1))
    transfers, everyone = Transfers(), np.arange(ranks, dtype=np.int32)
    for bit in range(ranks.bit_length() - 1):
        held = (everyone >> bit << bit)[:, None] + np.arange(1 << bit)
        transfers.add(bit, everyone[:, None], (everyone ^ (1 << bit))[:, None], held)
    return schedule("all_gather", everyone, (ranks, np.ones(ranks, np.int64)), (everyone, ALL), transfers)


def recursive_doubling_all_reduce(topology: Topology) -> Schedule:
    """All-reduce in one step per bit: ranks whose numbers differ in that bit exchange their whole sums.

    Source: Thakur, Rabenseifner & Gropp 2005.
    """
    ranks = _power_of_2(topology)
    transfers, everyone = Transfers(), np.arange(ranks, dtype=np.int32)
    for bit in range(ranks.bit_length() - 1):
        transfers.add(bit, everyone, everyone ^ (1 << bit), 0)
    found = schedule("all_reduce", everyone, (1, np.ones(1, np.int64)), (ALL, ALL), transfers)
    return found._replace(reduces=np.ones(len(found.step), bool))


def _pairs(ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (sources, destinations) of all ordered pairs of different ranks."""
    source, destination = np.nonzero(~np.eye(ranks, dtype=bool))
    return source, destination


def _power_of_2(topology: Topology) -> int:
    ranks = len(topology.terminals)
    if ranks & (ranks - 1):
        raise BadInput(power_of_2_expected(ranks))
    return ranks


def power_of_2_expected(ranks: int) -> str:
    return f"expected a power of 2 terminals, got {ranks:,}"
