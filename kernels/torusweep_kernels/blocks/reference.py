"""Specification of `measure_networks`: levels of all networks, roots and nodes at once, with NumPy or CuPy.

Nodes are found by their distance to each root, and their shortest paths to it are counted: paths(v) = Σ paths(w) over
the channels from v to a nearer node w. Then, from the farthest level inwards, unit(v) = demand(v) / paths(v) + Σ
unit(u) over the channels from a farther node u to v. The channel from v to w carries unit(v) · paths(w).
"""

from __future__ import annotations

from math import fsum
from typing import Any, NamedTuple, NoReturn

import numpy as np

from torusweep_kernels import sums
from torusweep_kernels.backend import host

SCRATCH = 2**27  # bytes of the arrays of the networks that are measured at once
BYTES = 80  # of a pair of two nodes


class Task(NamedTuple):
    """The arguments of `measure_networks`, after its checks.

    ports int32[B, N, P], terminals int32[B, N] | None, capacity int32[B, N, P] | None, loads
    """

    ports: np.ndarray
    terminals: np.ndarray | None
    capacity: np.ndarray | None
    loads: bool

    def part(self, first: int, size: int) -> Task:
        """Return the task for networks first … first + size − 1."""
        own = slice(first, first + size)
        return Task(
            self.ports[own],
            None if self.terminals is None else self.terminals[own],
            None if self.capacity is None else self.capacity[own],
            self.loads,
        )


Measured = tuple[np.ndarray, np.ndarray, np.ndarray, "np.ndarray | None", "np.ndarray | None", np.ndarray]


def shares(terminals: np.ndarray) -> np.ndarray:
    """Return float64[…, N]: each terminal's share of flits for a node, 1 / T for each of the node's `terminals`.

    They are added up in the way of `torusweep.traffic.matrix.Traffic.at_nodes`. terminals: int32[…, N].
    """
    total = np.maximum(terminals.sum(axis=-1, keepdims=True, dtype=np.int64), 1)
    share = np.zeros(terminals.shape)
    for number in range(int(terminals.max(initial=0))):
        share = np.where(terminals > number, share + 1 / total, share)
    return share


def measure(task: Task, threads: int | None = None, xp: Any = np) -> Measured:
    """Return (histogram int64[B, N + 1], eccentricity, connected, load, hops, alone bool[B]: loads still missing)."""
    networks, nodes, width = task.ports.shape
    size = max(1, SCRATCH // (BYTES * nodes * nodes + 100 * nodes * width))
    parts = [measure_some(task.part(first, size), xp) for first in range(0, networks, size)]
    histogram, eccentricity, connected = (np.concatenate([part[i] for part in parts]) for i in range(3))
    load = np.concatenate([part[3] for part in parts]) if task.loads else None
    hops = np.array([total_of(of_network) for of_network in load]) if load is not None else None
    return histogram, eccentricity, connected, load, hops, np.zeros(networks, bool)


def total_of(load: np.ndarray) -> float:
    """Return the sum of all loads, rounded once."""
    return fsum(load.ravel().tolist())


def measure_some(task: Task, xp: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return histogram, eccentricity, connected and load of networks whose arrays fit in memory together."""
    networks, nodes, _ = task.ports.shape
    given = np.ones((networks, nodes), np.int32) if task.terminals is None else task.terminals
    terminals = xp.asarray(given.astype(np.int64))
    heads = xp.asarray(np.where(task.ports < 0, nodes, task.ports))  # row `nodes` of each network stays unreached
    links = xp.asarray(np.ones(task.ports.shape) if task.capacity is None else task.capacity.astype(np.float64))
    network = xp.arange(networks)[:, None]
    distance = xp.full(
        (networks, nodes + 1, nodes), -2, np.int32
    )  # from node to root; −2: no path, −2 + 1 is no distance either
    distance[:, xp.arange(nodes), xp.arange(nodes)] = 0
    paths = xp.where(distance == 0, 1.0, 0.0)
    level = 0
    with np.errstate(over="ignore"):  # too many paths: found below
        while bool((distance == level).any()):
            level += 1
            ways, found = xp.zeros((networks, nodes, nodes)), xp.zeros((networks, nodes, nodes), bool)
            for port in range(heads.shape[2]):
                there = heads[:, :, port]
                nearer = distance[network, there] == level - 1
                ways = ways + xp.where(nearer, paths[network, there] * links[:, :, port, None], 0.0)
                found |= nearer
            found &= distance[:, :nodes] < 0
            distance[:, :nodes][found] = level
            paths[:, :nodes][found] = ways[found]
    histogram = xp.zeros((networks, nodes + 1), np.int64)
    pairs = terminals[:, :, None] * terminals[:, None, :]
    for hops in range(level):
        histogram[:, hops] = xp.where(distance[:, :nodes] == hops, pairs, 0).sum(axis=(1, 2))
    there = xp.where(terminals[:, None, :] > 0, distance[:, :nodes], 0).max(axis=2)
    eccentricity = xp.where(terminals > 0, there, -1).astype(np.int32)
    linked = xp.zeros((networks, nodes + 1), bool)
    for port in range(heads.shape[2]):
        linked[:, :nodes] |= heads[:, :, port] < nodes
        linked[network, heads[:, :, port]] = True
    works = linked[:, :nodes] | (terminals > 0)
    apart = (distance[:, :nodes] < 0) & works[:, :, None] & works[:, None, :]
    answers = host(histogram), host(eccentricity), host(~apart.any(axis=(1, 2)))
    if not task.loads:
        return *answers, None
    demand = xp.asarray(given.astype(np.float64)[:, :, None] * shares(given)[:, None, :])
    return *answers, loads_of(heads, links, distance, paths, demand, level, xp)


def loads_of(heads: Any, links: Any, distance: Any, paths: Any, demand: Any, level: int, xp: Any) -> np.ndarray:
    """Return float64[B, N, P] from distance, paths [B, N + 1, N] and demand [B, N, N], of each node to each root."""
    networks, nodes, width = heads.shape
    network = xp.arange(networks)[:, None]
    if bool((paths > np.finfo(np.float64).max).any()):
        refuse_paths()
    into, tails = feeders(heads, xp)
    divisor = xp.where(paths[:, :nodes] > 0, paths[:, :nodes], 1.0)
    unit, rest = sums.divided(xp.where(distance[:, :nodes] >= 0, demand, 0.0), xp.zeros(demand.shape), divisor)
    flat = xp.concatenate([links.reshape(networks, -1), xp.zeros((networks, 1))], axis=1)
    for hops in range(level - 1, 0, -1):
        high, low = xp.zeros((2, *demand.shape))
        for place in range(into.shape[2]):
            tail, channel = tails[:, :, place], into[:, :, place]
            farther = (distance[network, tail] == hops) & (channel < flat.shape[1] - 1)[:, :, None]
            tail = xp.minimum(tail, nodes - 1)
            parallel = flat[network, channel][:, :, None]
            more = sums.times(
                xp.where(farther, unit[network, tail], 0.0), xp.where(farther, rest[network, tail], 0.0), parallel
            )
            high, low = sums.add(high, low, *more)
        here = distance[:, :nodes] == hops - 1
        unit, rest = sums.add(unit, rest, xp.where(here, high, 0.0), xp.where(here, low, 0.0))
    load = xp.zeros((2, networks, nodes, width))
    for root in range(nodes):
        ways = paths[network[:, :, None], heads, root]
        nearer = distance[network[:, :, None], heads, root] == distance[:, :nodes, root, None] - 1
        nearer &= heads < nodes
        each = sums.times(*sums.times(unit[:, :, root, None], rest[:, :, root, None], ways), links)
        load = xp.stack(sums.add(*load, *(xp.where(nearer, part, 0.0) for part in each)))
    return sums.rounded(*host(load))


def refuse_paths() -> NoReturn:
    """Raise OverflowError because two nodes have too many shortest paths."""
    raise OverflowError(
        "measure_networks: expected at most 1.8e308 shortest paths between two nodes, got more;"
        " minimal_loads with next-hops has no such limit"
    )


def feeders(heads: Any, xp: Any) -> tuple[Any, Any]:
    """Return int64[B, N, Q] twice: the channels v · P + port into each node (N · P = none), and their tails v."""
    networks, nodes, width = heads.shape
    number = nodes * width
    flat = heads.reshape(networks, number)
    order = xp.argsort(flat, axis=1, kind="stable")
    head = xp.take_along_axis(flat, order, axis=1)
    counts = (head[:, None, :] == xp.arange(nodes)[:, None]).sum(axis=2)
    first = xp.cumsum(counts, axis=1) - counts
    most = int(counts.max())
    into = xp.full((networks, nodes, most), number, np.int64)
    for place in range(most):
        at = xp.minimum(first + place, number - 1)
        into[:, :, place] = xp.where(place < counts, xp.take_along_axis(order, at, axis=1), number)
    return into, xp.where(into < number, into // max(width, 1), nodes)
