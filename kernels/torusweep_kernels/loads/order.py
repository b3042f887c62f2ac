"""The order in which roots are searched from and summed: near ones together, because their searches share visits."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached

BLOCK = 16  # roots that the CPU searches from at once
SINGLE = 8  # roots up to which they are searched from one by one
SHARES = 64  # the most shares of the roots; one thread sums a share


def share(roots: int) -> int:
    """Roots of a share; the last one may have fewer. It depends only on their number, and so does the order of all
    sums."""
    return 1 if roots <= SINGLE else BLOCK * -(-roots // (BLOCK * SHARES))


def order(ports: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """int64[R]: places in `roots`, in blocks of near roots."""
    if len(roots) <= SINGLE:
        return np.arange(len(roots))
    by_node = np.argsort(roots, kind="stable")
    first = np.searchsorted(roots[by_node], np.arange(len(ports) + 1))
    return gathered(ports, roots, by_node, first)


@cached
def gathered(ports, roots, by_node, first):
    """A block is the first root that is left, and those that a short breadth-first search from it meets first.

    by_node int64[R]: places in `roots` sorted by node; first int64[N+1]: place of each node's first.
    """
    nodes, width = ports.shape
    result = np.empty(len(roots), np.int64)
    left = np.diff(first) > 0
    seen = np.full(nodes, -1, np.int64)
    queue = np.empty(4 * BLOCK, np.int64)  # a farther root gains less than the start of the next block
    done = 0
    for start in range(len(roots)):
        if not left[roots[start]]:
            continue
        full = done // BLOCK * BLOCK + BLOCK
        queue[0] = roots[start]
        seen[roots[start]] = start
        begin, end = 0, 1
        while begin < end and done < full:
            node = queue[begin]
            begin += 1
            if left[node]:
                left[node] = False
                for i in range(first[node], first[node + 1]):
                    result[done] = by_node[i]
                    done += 1
            for port in range(width):
                other = ports[node, port]
                if other >= 0 and seen[other] != start and end < len(queue):
                    seen[other] = start
                    queue[end] = other
                    end += 1
    return result
