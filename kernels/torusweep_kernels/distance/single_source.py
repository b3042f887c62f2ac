"""Search breadth first from one source with a queue, for few sources and for networks of very large diameter.

The module also orders the nodes to search from: near nodes together, because their searches share visits.
"""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached


@cached
def breadth_first(ports, source, removed, counted, seen, mark, queue, counts):
    """Count the nodes at each distance from one source. Return the number of levels.

    ports int32[N, d]; removed int32[F], −1 = none; counted bool[N] or None for all; seen int32[N]: scratch in which no
    element equals `mark` yet; queue int32[N]: scratch; counts int64[N]: receives the counted nodes per distance.
    """
    for node in removed:
        if node >= 0:
            seen[node] = mark
    seen[source] = mark
    queue[0] = source
    begin, end, level = 0, 1, 0
    while begin < end:
        new = 0
        last = end
        for i in range(begin, last):
            node = queue[i]
            if counted is None or counted[node]:
                new += 1
            for port in range(ports.shape[1]):
                other = ports[node, port]
                if other >= 0 and seen[other] != mark:
                    seen[other] = mark
                    queue[end] = other
                    end += 1
        counts[level] = new
        level += 1
        begin = last
    return level


@cached
def incoming_links(ports):
    """Return the links by their heads, as `reference.predecessors` does, but by counting instead of sorting."""
    nodes, width = ports.shape
    start = np.zeros(nodes + 1, np.int64)
    for node in range(nodes):
        for port in range(width):
            if ports[node, port] >= 0:
                start[ports[node, port] + 1] += 1
    start = np.cumsum(start)
    place = start[:-1].copy()
    predecessor = np.empty(start[-1], np.int32)
    for node in range(nodes):
        for port in range(width):
            other = ports[node, port]
            if other >= 0:
                predecessor[place[other]] = node
                place[other] += 1
    return start, predecessor


def near_order(ports: np.ndarray, roots: np.ndarray, block: int, *, even: bool = False) -> np.ndarray:
    """Return int64[R]: places in `roots`, in blocks of `block` near roots. ports int32[N, d], roots int32[R].

    even   whether to take roots an even number of hops apart where a block's surroundings have no odd cycle, as in a
           torus or mesh: their distances to a node differ by even numbers, so that fewer of them are different
    """
    by_node = np.argsort(roots, kind="stable")
    first = np.searchsorted(roots[by_node], np.arange(len(ports) + 1))
    # a farther root gains less than the start of the next block
    return gathered(ports, roots, by_node, first, block, np.empty((8 if even else 4) * block, np.int64), even)


@cached
def gathered(ports, roots, by_node, first, block, queue, even):
    """Order the roots by blocks: the first root that is left, and those that a short breadth-first search meets first.

    by_node int64[R]: places in `roots` sorted by node; first int64[N+1]: each node's first place in it; queue: scratch.
    """
    nodes, width = ports.shape
    result = np.empty(len(roots), np.int64)
    left = np.diff(first) > 0
    seen = np.full(nodes, -1, np.int64)  # twice the root searched from, plus 1 at an odd depth
    done = 0
    for start in range(len(roots)):
        if not left[roots[start]]:
            continue
        full = done // block * block + block
        queue[0] = roots[start]
        seen[roots[start]] = 2 * start
        begin, end, odd_cycle = 0, 1, False
        while begin < end:
            node = queue[begin]
            begin += 1
            for port in range(width):
                other = ports[node, port]
                if other < 0:
                    continue
                if seen[other] >> 1 != start:
                    if end < len(queue):
                        seen[other] = seen[node] ^ 1
                        queue[end] = other
                        end += 1
                elif seen[other] == seen[node]:
                    odd_cycle = True
        every = odd_cycle or not even
        for i in range(end):
            node = queue[i]
            if done < full and left[node] and (every or seen[node] & 1 == 0):
                left[node] = False
                for k in range(first[node], first[node + 1]):
                    result[done] = by_node[k]
                    done += 1
    return result
