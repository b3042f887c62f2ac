"""Search for Hamiltonian cycles: a single one, or several that divide the links among them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import scipy
from torusweep_kernels.cuts import Channels

SEED = 1  # of the searches, so that every run finds the same rings
ROTATIONS = 400  # per node, until a search for a single ring gives up
MOVES = 200_000  # about the number of channels that a search for a one-way ring visits, beside two tries per node
TRIES = 40  # packings that are tried on a small network
PATIENCE = 40  # rotations or exchanges per node, in place of ROTATIONS, in a search for several rings
MOST_TRIED = 20_000  # channels of the rings of all tries together
MOST_RINGS = 64  # of a packing
Widths = list[dict[int, int]]  # for each node, head → number of links that no ring uses yet


def packed_rings(channels: Channels, *, directed: bool) -> list[list[int]]:
    """Find rings through all nodes that together use no link more often than its capacity; [] if none are found.

    Returns the random packing with the most rings. The number of rings is at most half the number of links at a node
    or, if directed, the number of links into a node and out of it.
    """
    widths = channels.capacity
    nodes = len(channels.first) - 1
    tail = np.repeat(np.arange(nodes), np.diff(channels.first))
    most = _most(tail, channels.to, widths, nodes) // (1 if directed else 2)
    if most > MOST_RINGS:
        widths = np.minimum(widths, 1)
        most = min(MOST_RINGS, _most(tail, channels.to, widths, nodes) // (1 if directed else 2))
    if nodes < 3 or not most:
        return []
    draw, best = random.Random(SEED), list[list[int]]()
    search: Callable[[Widths, random.Random, int], list[int] | None] = directed_ring if directed else rotated
    for _ in range(max(1, min(TRIES, MOST_TRIED // (nodes * most)))):
        left: Widths = [{} for _ in range(nodes)]
        for node, head, width in zip(tail.tolist(), channels.to.tolist(), widths.tolist()):
            if width:
                left[node][head] = width
        rings: list[list[int]] = []
        while len(rings) < most and (order := search(left, draw, PATIENCE if best or rings else ROTATIONS)) is not None:
            rings.append(order)
            for one, other in zip(order, [*order[1:], order[0]]):
                for node, head in ((one, other),) if directed else ((one, other), (other, one)):
                    left[node][head] -= 1
                    if not left[node][head]:
                        del left[node][head]
        best = max(best, rings, key=len)
        if len(best) in (0, most):
            break
    return best


def _most(tail: np.ndarray, head: np.ndarray, widths: np.ndarray, nodes: int) -> int:
    """Return the least total width of channels that leave a single node, or that enter a single node."""
    return min(int(np.bincount(end, widths, nodes).min()) for end in (tail, head))


def rotated(neighbours: Sequence[dict[int, int]], draw: random.Random, patience: int = ROTATIONS) -> list[int] | None:
    """Find a Hamiltonian cycle by Pósa's rotations; None if the search gives up."""
    nodes = len(neighbours)
    if nodes < 3 or min(sum(widths.values()) for widths in neighbours) < 2:
        return None
    heads = list(map(list, neighbours))
    path, place = [0], {0: 0}
    for _ in range(patience * nodes):
        end = path[-1]
        if len(path) == nodes and path[0] in neighbours[end]:
            return path
        fresh = [head for head in heads[end] if head not in place]
        if fresh:
            # to the neighbour that has the fewest ways on, so that it is not left behind
            ways = [sum(head not in place for head in heads[node]) for node in fresh]
            least = min(ways)
            head = draw.choice([node for node, number in zip(fresh, ways) if number == least])
            place[head] = len(path)
            path.append(head)
            continue
        pivot = draw.choice(heads[end])
        start = place[pivot] + 1
        path[start:] = path[start:][::-1]
        for position in range(start, len(path)):
            place[path[position]] = position
    return None


def directed_ring(heads: Sequence[dict[int, int]], draw: random.Random, patience: int = ROTATIONS) -> list[int] | None:
    """Find a Hamiltonian cycle of one-way links; None if there is none, or the search gives up.

    Cycles that cover all nodes are a perfect matching of tails and heads. Exchanging links along an alternating cycle
    gives another cover, which is kept if it has no more cycles. One with equally many is kept, too, to avoid dead ends.
    """
    nodes = len(heads)
    listed = [(tail, head) for tail, others in enumerate(heads) for head in others]
    if nodes < 2 or len(listed) < nodes:
        return None
    tails, ends = np.array(listed).T
    # the matching that is found depends on the order of the nodes
    shuffled = np.array(draw.sample(range(nodes), nodes))
    graph = scipy.sparse.csr_array((np.ones(len(tails), np.int8), (shuffled[tails], ends)), shape=(nodes, nodes))
    matched = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="column")[shuffled]
    if (matched < 0).any():
        return None
    following: list[int] = matched.tolist()
    count = len(_cycles(following))
    for _ in range(min(patience * nodes, MOVES // len(listed) + 2 * nodes)):
        if count == 1:
            return _cycles(following)[0]
        tail, head = draw.choice(listed)
        if following[tail] == head:
            continue
        other = _exchanged(heads, following, tail, head, draw)
        if other is not None and (number := len(_cycles(other))) <= count:
            following, count = other, number
    return None


def _exchanged(
    heads: Sequence[dict[int, int]], following: Sequence[int], tail: int, head: int, draw: random.Random
) -> list[int] | None:
    """Put the link tail → head into a cover by a shortest alternating cycle; None if there is no such cycle."""
    owner = {node: before for before, node in enumerate(following)}
    goal, begin = following[tail], owner[head]
    came: dict[int, tuple[int, int]] = {begin: (-1, -1)}  # tail that needs another head → (tail before, head it takes)
    queue = [begin]
    for node in queue:
        for way in draw.sample(list(heads[node]), len(heads[node])):
            if way == following[node] or way == head:
                continue
            if way == goal:
                found, at, takes = list(following), node, way
                found[tail] = head
                while at >= 0:
                    found[at], (at, takes) = takes, came[at]
                return found
            after = owner[way]
            if after not in came and after != tail:
                came[after] = (node, way)
                queue.append(after)
    return None


def _cycles(following: Sequence[int]) -> list[list[int]]:
    """Return the cycles of a permutation; `following` has the element that follows each element."""
    seen, found = [False] * len(following), []
    for start in range(len(following)):
        if seen[start]:
            continue
        order, node = [], start
        while not seen[node]:
            seen[node] = True
            order.append(node)
            node = following[node]
        found.append(order)
    return found
