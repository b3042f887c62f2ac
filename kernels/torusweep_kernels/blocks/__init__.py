"""Measure many networks of one size at once: distances, loads of uniform traffic, and edge connectivity."""

from __future__ import annotations

from math import fsum
from typing import NamedTuple

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.blocks.reference import Task, shares
from torusweep_kernels.checks import check_capacity, expecting, within
from torusweep_kernels.threads import thread_count

__all__ = ["Block", "Task", "edge_connectivity", "measure_networks"]

# pairs of two nodes of a block from which auto uses a GPU for loads (estimated). Distances alone take an H200 longer
# than 16 cores at 64 to 4,096 nodes (benchmarks/README.md)
LARGE = 2 * 10**7


class Block(NamedTuple):
    """Measures of B networks of N nodes each.

    histogram     int64[B, D + 1]  ordered pairs of terminals at each distance in hops, a terminal and itself included;
                                   pairs without a path are not counted. D is the block's largest diameter
    eccentricity  int32[B, N]      distance from each node to the farthest terminal that it reaches; −1 for a node
                                   without terminals. The largest is the diameter, the least ≥ 0 the radius
    connected     bool[B]          whether every working node reaches every other; a node works if it has a link or
                                   a terminal
    load          float64[B, N, P] | None   load of each port's channel (all its parallel links together) in flits per
                                   cycle, if each terminal sends one flit per cycle in equal parts to all terminals,
                                   itself included; 0 without a channel. Flows without a path load no channel
    hops          float64[B] | None   sum of all channels' loads, which is the sum of all flits' hops; divided by
                                   the number of flits it is the mean
    """

    histogram: np.ndarray
    eccentricity: np.ndarray
    connected: np.ndarray
    load: np.ndarray | None
    hops: np.ndarray | None


def measure_networks(
    ports: np.ndarray,
    terminals: np.ndarray | None = None,
    capacity: np.ndarray | None = None,
    *,
    loads: bool = True,
    backend: str = "auto",
    threads: int | None = None,
) -> Block:
    """Compute distances and loads of many networks of one size.

    ports      int32[B, N, P]  neighbour through each port, −1 = none; links may be directed or parallel
    terminals  int32[B, N]     number of terminals of each node; None for 1 each
    capacity   int32[B, N, P]  ≥ 1, number of parallel links that each channel stands for; None for 1 each
    loads      whether to compute the loads, too, which takes ten times as long
    backend    auto, numpy, numba or cupy; results are the same to the bit. auto: cupy if there is a GPU and loads of at
               least 2·10⁷ pairs of two nodes are computed, otherwise numba
    threads    CPU threads of numba; by default all that it may use. The result does not depend on it

    Loads are those of `torusweep_kernels.loads.minimal_loads` with `exact`, to the bit: demands are spread equally over
    all shortest paths, a channel of c parallel links counts as c paths, and sums are exact and rounded once. The demand
    between two nodes is that of the traffic `uniform`: the one's number of terminals, times 1 / T for each terminal of
    the other.

    Method: distances by rows of bits, loads by Brandes's accumulation (2001). Each network is done by one thread, or by
    one block of GPU threads. A network is passed to `minimal_loads` if it has more than 2³³ shortest paths in all, or
    nodes with different numbers of terminals above 0.

    Raises ValueError for arrays that contradict each other, OverflowError where there are more shortest paths between
    two nodes than float64 can count, BackendUnavailable for cupy without a GPU.
    """
    ports = np.ascontiguousarray(ports, np.int32)
    if terminals is not None:
        terminals = np.ascontiguousarray(terminals, np.int32)
    if capacity is not None:
        capacity = np.ascontiguousarray(capacity, np.int32)
    check(ports, terminals, capacity, threads, "measure_networks")
    task = Task(ports, None if terminals is None or (terminals == 1).all() else terminals, capacity, loads)
    networks, nodes = ports.shape[:2]
    chosen = backends.resolve(backend, large=loads and networks * nodes * nodes >= LARGE)
    if not networks or not nodes:
        load = np.zeros(ports.shape) if loads else None
        hops = np.zeros(networks) if loads else None
        return Block(
            np.zeros((networks, 1), np.int64),
            np.zeros((networks, nodes), np.int32),
            np.ones(networks, bool),
            load,
            hops,
        )
    measured = backends.implementation(__name__, chosen).measure(task, thread_count(threads))
    histogram, eccentricity, connected, load, hops, alone = measured
    for place in np.flatnonzero(alone).tolist():
        assert load is not None
        assert hops is not None
        load[place], hops[place] = load_alone(task, place, chosen, threads)
    width = int(np.flatnonzero(histogram.any(axis=0)).max(initial=0)) + 1
    return Block(np.ascontiguousarray(histogram[:, :width]), eccentricity, connected, load, hops)


def edge_connectivity(
    ports: np.ndarray,
    terminals: np.ndarray | None = None,
    capacity: np.ndarray | None = None,
    *,
    threads: int | None = None,
) -> np.ndarray:
    """Return int64[B]: for each network, the least number of links whose failure disconnects some pair of nodes.

    Nodes with neither a link nor a terminal are ignored. The result is 0 if fewer than two nodes remain.

    ports, terminals, capacity, threads   as for `measure_networks`

    Method: the least cut between the two ends of each channel of a spanning tree, in both directions if links are
    directed (`torusweep_kernels.cuts.least_cut`), because every cut separates one of these pairs. The result is at most
    the least degree. Compiled by Numba; there is no GPU version.

    Raises ValueError for arrays that contradict each other.
    """
    from torusweep_kernels.blocks import connectivity

    ports = np.ascontiguousarray(ports, np.int32)
    check(ports, terminals, capacity, threads, "edge_connectivity")
    parallel = np.ones(ports.shape, np.int32) if capacity is None else np.ascontiguousarray(capacity, np.int32)
    works = np.ones(ports.shape[:2], bool)
    if terminals is not None:
        works = (terminals > 0) | (ports >= 0).any(axis=2)
        network, tail, port = np.nonzero(ports >= 0)
        works[network, ports[network, tail, port]] = True
    backends.resolve("numba")
    return connectivity.edge_connectivity(ports, works, parallel, thread_count(threads))


def load_alone(task: Task, place: int, backend: str, threads: int | None) -> tuple[np.ndarray, float]:
    """Return (float64[N, P], their sum): the loads of one network of the block, computed by `minimal_loads`."""
    from torusweep_kernels.loads import minimal_loads

    nodes = task.ports.shape[1]
    own = np.ones(nodes, np.int32) if task.terminals is None else task.terminals[place]
    roots = np.flatnonzero(own).astype(np.int32)
    found = minimal_loads(
        task.ports[place],
        roots,
        shares(own)[roots],
        inward=True,
        exact=True,
        demand=own.astype(np.float64),
        capacity=None if task.capacity is None else task.capacity[place],
        backend=backend,
        threads=threads,
    )
    return found.load, fsum(found.load.ravel().tolist())


def check(
    ports: np.ndarray, terminals: np.ndarray | None, capacity: np.ndarray | None, threads: int | None, where: str
) -> None:
    """Raise ValueError if the arrays do not agree; the message names the array and what was expected."""
    expect = expecting(where)
    expect(ports.ndim == 3, "ports of shape [B, N, P]", ports.shape)
    within(expect, "ports", ports, -1, ports.shape[1] - 1)
    if terminals is not None:
        expect(terminals.shape == ports.shape[:2], f"terminals of shape {ports.shape[:2]}", terminals.shape)
        within(expect, "terminals", terminals, 0, 2**20)
    check_capacity(expect, capacity, ports)
    expect(threads is None or threads >= 1, "threads ≥ 1 or None", threads)
