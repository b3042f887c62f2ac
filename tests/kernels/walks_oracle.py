"""One packet after the other, as the definitions read: its own draws, networkx's distances, paths counted in whole
numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import networkx
import numpy as np

WORD = 2**32


def philox(counter: Sequence[int], key: Sequence[int]) -> list[int]:
    """Philox4x32-10 in whole numbers (Salmon et al. 2011, section 3.3)."""
    a, b, c, d = counter
    k, m = key
    for _ in range(10):
        left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = right // WORD ^ b ^ k, right % WORD, left // WORD ^ d ^ m, left % WORD
        k, m = (k + 0x9E3779B9) % WORD, (m + 0xBB67AE85) % WORD
    return [a, b, c, d]


class Network:
    """Ports and their weights. capacity: parallel links of each port, 1 by default."""

    def __init__(self, ports: np.ndarray, split: str, capacity: np.ndarray | None = None) -> None:
        self.ports, self.split = ports.tolist(), split
        self.capacity = np.ones(ports.shape, int).tolist() if capacity is None else capacity.tolist()
        backwards = networkx.DiGraph((head, node) for node, row in enumerate(self.ports) for head in row if head >= 0)
        backwards.add_nodes_from(range(len(ports)))
        self.hops = cache(lambda target: networkx.single_source_shortest_path_length(backwards, target))
        self.weights = cache(self._weights)
        self.paths = cache(self._paths)

    def _weights(self, node: int, target: int) -> list[int]:
        """Of each port: 0 unless it leads nearer."""
        hops = self.hops(target)
        beyond = {"next-hops": lambda head: 1, "paths": lambda head: self.paths(head, target)}[self.split]
        links = zip(self.ports[node], self.capacity[node])
        return [c * beyond(head) if head >= 0 and hops.get(head, -2) == hops[node] - 1 else 0 for head, c in links]

    def _paths(self, node: int, target: int) -> int:
        return 1 if node == target else sum(self.weights(node, target))

    def way(self, start: int, target: int, number: int, seed: int) -> list[tuple[int, int]] | None:
        """(node, port) of every hop; None where there is no path."""
        if start not in self.hops(target):
            return None
        hops: list[tuple[int, int]] = []
        node = start
        while node != target:
            words = philox((number % WORD, number // WORD, len(hops) // 4, 0), (seed % WORD, seed // WORD))
            draw = min(words[len(hops) % 4], WORD - 2)
            weights = self.weights(node, target)
            share = WORD / sum(weights)
            port, reached = 0, weights[0]
            while draw >= int(min(reached * share, WORD - 1)):
                port += 1
                reached += weights[port]
            hops.append((node, port))
            node = self.ports[node][port]
        return hops


def walks(
    ports: np.ndarray,
    start: np.ndarray,
    destination: np.ndarray,
    group: np.ndarray,
    *,
    groups: int,
    first: int,
    seed: int,
    split: str,
    capacity: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(count int64[G, N, P], unreachable int64[G])."""
    network = Network(ports, split, capacity)
    count, unreachable = np.zeros((groups, *ports.shape), np.int64), np.zeros(groups, np.int64)
    for i, (source, target, own) in enumerate(zip(start.tolist(), destination.tolist(), group.tolist())):
        way = network.way(source, target, first + i, seed)
        if way is None:
            unreachable[own] += 1
        for node, port in way or []:
            count[own, node, port] += 1
    return count, unreachable
