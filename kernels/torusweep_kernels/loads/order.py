"""In which order roots are searched from and summed: near ones together, so that their searches have levels in
common."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached

BLOCK = 16  # roots that the CPU searches from at once
SINGLE = 8  # up to so many roots are searched from one by one
SHARES = 64  # most shares of the roots; a share's sum is one thread's work


def share(roots: int) -> int:
    """Roots a share, the last one's fewer. It depends on their number alone, and so does the order of every sum over
    them."""
    return 1 if roots <= SINGLE else BLOCK * -(-roots // (BLOCK * SHARES))


def order(ports: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """int64[R]: places in `roots`, blocks of near ones one after the other."""
    if len(roots) <= SINGLE:
        return np.arange(len(roots))
    by_node = np.argsort(roots, kind="stable")
    first = np.searchsorted(roots[by_node], np.arange(len(ports) + 1))
    return gathered(ports, roots, by_node, first)


@cached
def gathered(ports, roots, by_node, first):
    """Every block: the first root that is left, and those met soonest on a short breadth-first search from it.

    by_node int64[R]: places in `roots` sorted by node; first int64[N+1]: where each node's begin.
    """
    nodes, width = ports.shape
    result = np.empty(len(roots), np.int64)
    left = np.diff(first) > 0
    seen = np.full(nodes, -1, np.int64)
    queue = np.empty(4 * BLOCK, np.int64)  # farther than this, the distance gains less than the next start
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
