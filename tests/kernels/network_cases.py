"""Networks, routes and packets to simulate, made without the pipeline."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import oracle

from kernels.network import Batch, Router, Simulated, Wiring, cpu, simulate


def torus_wiring(*radices: int, vcs: int = 2, dateline: bool = True, delay: int = 1, escape: int | None = None, memory: str = "axis") -> Wiring:
    """Port p is direction p; with a dateline, class 1 from the wrap on, else one class; the classes share all VCs (the escape's)."""
    to = oracle.torus(*radices)
    nodes, ports = to.shape
    digits = np.array(np.unravel_index(np.arange(nodes), radices[::-1])[::-1])
    wrap = np.zeros((nodes, ports), bool)
    for dimension, k in enumerate(radices):
        wrap[:, 2 * dimension], wrap[:, 2 * dimension + 1] = digits[dimension] == k - 1, digits[dimension] == 0
    classes = np.array([[0, 1]] if dateline else [[0, 0]], np.int8)
    number = 2 if dateline else 1
    own = vcs if escape is None else escape
    shares = np.array([own // number + (i < own % number) for i in range(number)])
    port_of = np.broadcast_to(np.arange(ports, dtype=np.int8), to.shape)
    return Wiring(to, port_of, wrap, np.full(to.shape, delay, np.int16), classes, memory, shares)


class Routes:
    """Dimension order on a torus, ties +: a row for each relative address."""

    def __init__(self, *radices: int) -> None:
        self.radices = radices
        relative = np.array(np.unravel_index(np.arange(np.prod(radices)), radices[::-1])[::-1]).T
        sides = np.array(radices)
        back = relative > sides // 2
        self.direction = (2 * np.arange(len(radices)) + back).astype(np.int8)
        self.hops = np.where(back, sides - relative, relative).astype(np.int16)
        self.phase = np.zeros_like(self.direction)

    def row(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        shape = self.radices[::-1]
        away = [(d - s) % k for s, d, k in zip(np.unravel_index(source, shape), np.unravel_index(destination, shape), shape)]
        return np.ravel_multi_index(away, shape)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.direction, self.hops, self.phase


def batch(nodes: int, packets: list[list[tuple[int, int, int, int, int]]]) -> Batch:
    """Of each experiment the packets as (time, source, destination, row, length), in any order."""
    first, columns = [], []
    start = 0
    for own in packets:
        rows = np.array(sorted(own, key=lambda packet: (packet[1], packet[0])), np.int64).reshape(-1, 5)
        first.append(start + np.searchsorted(rows[:, 1], np.arange(nodes + 1)))
        start += len(rows)
        columns.append(rows)
    all_rows = np.concatenate(columns)
    return Batch(np.array(first), all_rows[:, 0], all_rows[:, 3], all_rows[:, 4], all_rows[:, 2])


def uniform(routes: Routes, load: float, cycles: int, flits: int, seeds: list[int]) -> Batch:
    """Bernoulli packets to other nodes, an experiment for each seed."""
    nodes = int(np.prod(routes.radices))
    packets = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        source, time = np.nonzero(rng.random((nodes, cycles)) < load / flits)
        destination = (source + rng.integers(1, nodes, len(source))) % nodes
        packets.append(np.stack([time, source, destination, routes.row(source, destination), np.full(len(source), flits)], axis=1).tolist())
    return batch(nodes, packets)


def both(wiring: Wiring, router: Router, routes: Any, packets: Batch, **options: Any) -> Simulated:
    """The reference's outcome, after numba's has been found equal, with nodes shared out among three threads, too."""
    one = simulate(wiring, router, *routes, packets, backend="numpy", **options)
    same(one, simulate(wiring, router, *routes, packets, backend="numba", **options))
    with patch.object(cpu, "SHARE", 1):
        same(one, simulate(wiring, router, *routes, packets, backend="numba", threads=3 * max(1, len(packets.first)), **options))
    return one


def same(one: Simulated, other: Simulated) -> None:
    for name, a, b in zip(Simulated._fields, one, other):
        assert (a.dtype == b.dtype and np.array_equal(a, b)) if isinstance(a, np.ndarray) else a == b, name
