"""Breadth-first search as a textbook has it, and networks to try it on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def distances(
    ports: Sequence[Sequence[int]],
    sources: Sequence[int],
    groups: Sequence[int],
    counted: Sequence[bool] | None = None,
    removed: Sequence[Iterable[int]] | None = None,
) -> tuple[list[list[int]], list[int]]:
    """(histogram per group, trailing zero columns trimmed; eccentricity per source)."""
    pairs: dict[tuple[int, int], int] = {}
    eccentricities = []
    for i, source in enumerate(sources):
        gone = set() if removed is None else set(removed[i])
        hops = {source: 0}
        frontier = [source]
        while frontier:
            following = []
            for node in frontier:
                for other in ports[node]:
                    if other != -1 and other not in hops and other not in gone:
                        hops[other] = hops[node] + 1
                        following.append(other)
            frontier = following
        reached = [distance for node, distance in hops.items() if counted is None or counted[node]]
        for distance in reached:
            pairs[groups[i], distance] = pairs.get((groups[i], distance), 0) + 1
        eccentricities.append(max(reached, default=0))
    depth = max((distance for _, distance in pairs), default=0)
    return [
        [pairs.get((group, distance), 0) for distance in range(depth + 1)]
        for group in range(max(groups, default=-1) + 1)
    ], eccentricities


def torus(*radices: int) -> np.ndarray:
    """int32[N, 2n]: a_i + 1 and a_i − 1 in every dimension, x fastest."""
    index = np.arange(int(np.prod(radices)))
    columns, step = [], 1
    for radix in radices:
        digit = index // step % radix
        columns += [index + ((digit + turn) % radix - digit) * step for turn in (1, -1)]
        step *= radix
    return np.stack(columns, axis=1).astype(np.int32)


def torus_less_links(*radices: int, links: int, seed: int = 0) -> np.ndarray:
    """`torus` without some links, in both directions, at random."""
    ports = torus(*radices)
    rng = np.random.default_rng(seed)
    for node, port in zip(rng.choice(len(ports), links, replace=False), rng.integers(0, ports.shape[1], links)):
        other = ports[node, port]
        if other >= 0:
            ports[other, port ^ 1] = ports[node, port] = -1
    return ports


def torus_histogram(*radices: int) -> list[int]:
    """Nodes at each distance from one node of a torus: the product of its rings' generating functions."""
    total = np.ones(1, dtype=object)
    for radix in radices:
        ring = np.zeros(radix // 2 + 1, dtype=object)
        for offset in range(radix):
            ring[min(offset, radix - offset)] += 1
        total = np.convolve(total, ring)
    return total.tolist()


def table(successors: Sequence[Iterable[int]]) -> np.ndarray:
    """int32[N, d]: lists of successors as ports, padded with −1."""
    rows = [list(row) for row in successors]
    ports = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int32)
    for node, row in enumerate(rows):
        ports[node, : len(row)] = row
    return ports


def drawn(
    seed: int, nodes: int, degree: int, lanes: int, groups: int, *, counted: bool, removed: int
) -> dict[str, Any]:
    """A random network with one-way, repeated and missing links, and a random task on it."""
    rng = np.random.default_rng(seed)
    task: dict[str, Any] = {
        "ports": np.where(rng.random((nodes, degree)) < 0.3, -1, rng.integers(0, nodes, (nodes, degree)))
    }
    task["sources"] = rng.integers(0, nodes, lanes)
    task["groups"] = rng.integers(0, groups, lanes)
    task["counted"] = rng.random(nodes) < 0.6 if counted else None
    if removed:
        gone = rng.integers(-1, nodes, (lanes, removed))
        task["removed"] = np.where(gone == task["sources"][:, None], -1, gone)
    return task
