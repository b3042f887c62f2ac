"""Edge connectivity of a block of networks, compiled by Numba: minimum cuts along the channels of a spanning tree."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.cuts.cpu import least_cut, ways_back
from torusweep_kernels.threads import in_threads

SHARES = 8  # parts of a block for each thread
MOST = 2**62  # links of a node; visits of channels


def edge_connectivity(ports: np.ndarray, works: np.ndarray, capacity: np.ndarray, threads: int) -> np.ndarray:
    """Return int64[B] as `torusweep_kernels.blocks.edge_connectivity`. works: bool[B, N]; capacity: int32[B, N, P]."""
    found = np.empty(len(ports), np.int64)
    size = max(1, -(-len(ports) // (threads * SHARES)))

    def some(first: int) -> None:
        own = slice(first, first + size)
        _connectivity(ports[own], works[own], capacity[own], found[own])

    in_threads(some, range(0, len(ports), size), threads)
    return found


@cached
def _connectivity(ports, works, capacity, found):
    nodes, width = ports.shape[1:]
    links = np.zeros((nodes, nodes), np.int64)
    first = np.zeros(nodes + 1, np.int64)
    to, between = np.empty(2 * nodes * width, np.int32), np.empty(2 * nodes * width, np.int64)
    parent, queue = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    tails, heads = np.empty(2 * nodes, np.int64), np.empty(2 * nodes, np.int64)
    for place in range(len(ports)):
        links[:] = 0
        for tail in range(nodes):
            for port in range(width):
                head = ports[place, tail, port]
                if head >= 0 and head != tail:
                    links[tail, head] += capacity[place, tail, port]
        listed = 0
        alive, root, least, symmetric = 0, -1, MOST, True
        for tail in range(nodes):
            leaving, entering = 0, 0
            for head in range(nodes):
                out, into = links[tail, head], links[head, tail]
                leaving += out
                entering += into
                if out or into:
                    to[listed], between[listed] = head, out
                    listed += 1
                    symmetric &= out == into
            first[tail + 1] = listed
            if works[place, tail]:
                alive += 1
                root = tail if root < 0 else root
                least = min(least, leaving, entering)
        found[place] = 0
        if alive < 2 or _tree(root, first, to, between, parent, queue) < alive:
            continue
        if least > 1:
            pairs = 0
            for node in range(nodes):
                if works[place, node] and node != root:
                    tails[pairs], heads[pairs] = parent[node], node
                    pairs += 1
                    if not symmetric:
                        tails[pairs], heads[pairs] = node, parent[node]
                        pairs += 1
            back = ways_back(first, to[:listed])
            least = least_cut(first, to[:listed], between[:listed], back, tails[:pairs], heads[:pairs], least, MOST)[0]
        found[place] = least


@cached
def _tree(root, first, to, between, parent, queue):
    """Set the parents in a breadth-first tree of channels with capacity. Return the number of nodes in the tree."""
    parent[:] = -1
    parent[root] = root
    queue[0] = root
    begin, end = 0, 1
    while begin < end:
        node = queue[begin]
        begin += 1
        for channel in range(first[node], first[node + 1]):
            if between[channel] and parent[to[channel]] < 0:
                parent[to[channel]] = node
                queue[end] = to[channel]
                end += 1
    return end
