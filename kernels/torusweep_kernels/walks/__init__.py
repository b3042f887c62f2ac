"""Packets on random shortest paths: the exact number of packets that pass each channel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import Expect, check_capacity, expecting, within
from torusweep_kernels.loads import SPLITS
from torusweep_kernels.pairs import draw_pairs
from torusweep_kernels.walks.reference import RandomPackets, Searches, Task

__all__ = ["RandomPackets", "Searches", "Walks", "sampled_walks", "shortest_walks"]

MOST_PACKETS = 2**31 - 1  # packets of a call: a thread's counts fit 32 bits
LARGE = 2**22  # packets of a call from which auto uses a GPU (estimated: benchmarks/README.md)


class Walks(NamedTuple):
    """Counts of packets.

    count        int64[G, N, P]  number of packets of each group that pass each port's channel
    unreachable  int64[G]        number of packets without a path to their destination; they pass no channel
    """

    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count
    unreachable: np.ndarray


def shortest_walks(
    ports: np.ndarray,
    start: np.ndarray,
    destination: np.ndarray,
    group: np.ndarray | None = None,
    *,
    groups: int = 1,
    first: int = 0,
    seed: int = 0,
    split: str = "paths",
    capacity: np.ndarray | None = None,
    backend: str = "auto",
    threads: int | None = None,
    searches: Searches | None = None,
) -> Walks:
    """Walk every packet over a random shortest path, and count the packets that pass each channel.

    ports        int32[N, P]  neighbour through each port, −1 = none; links may be directed, parallel, or lead to
                              their own node
    start        int32[B]     node where each packet starts; B < 2³¹
    destination  int32[B]     destination of each packet; a packet to its own start passes no channel
    group        int32[B]     group of each packet, 0 … groups − 1; None: its number modulo `groups`. Groups serve as
                              samples, for standard errors
    first        ≥ 0, number of the first packet, first + B ≤ 2⁶⁴; packet i of the array is number first + i
    seed         0 … 2⁶⁴ − 1
    split        "paths"      every shortest path is equally likely; a channel of c parallel links counts as c paths
                 "next-hops"  at every node, every link that leads nearer is equally likely (ECMP)
    capacity     int32[N, P]  ≥ 1, number of parallel links that each channel stands for; None for 1
    backend      auto, numpy, numba or cupy; counts are the same. auto: cupy for 2²² packets and more if there is a
                 GPU, otherwise numba
    threads      CPU threads of numba; by default all that it may use. The result does not depend on it
    searches     cache that several calls for this network share: a GPU then searches only once, if the
                 rows of all nodes fit in half of its free memory and most nodes are destinations

    The expected count is the load that `torusweep_kernels.loads.minimal_loads` returns for the packets as demand.

    Hop h of packet i is decided by word h mod 4 of Philox4x32-10 with counter (i mod 2³², ⌊i / 2³²⌋, ⌊h / 4⌋, 0) and
    key (seed mod 2³², ⌊seed / 2³²⌋). A packet's path therefore does not depend on the others, and the counts of parts
    of the packets add up to the counts of all. A node's ports divide the draws in port order: the first p + 1 ports get
    the draws below ⌊(their weight) · (2³² ÷ weight of all ports)⌋, in float64, at most 2³² − 1. The weight of a port
    that leads nearer is its capacity, with "paths" times the number of paths from the node that it leads to. A draw of
    2³² − 1 counts as 2³² − 2. Each port's probability is thereby off by less than 2⁻³¹.

    Memory: 12 bytes per packet; 4·P + 16 bytes per node and thread; 4 bytes per count and thread. There is a search per
    destination that occurs. Memory is never N², except for a GPU with `searches`: 4·P + 4 bytes per pair of nodes.

    Raises ValueError for arrays that contradict each other, OverflowError if "paths" meets more shortest paths to a
    destination than float64 can count (1.8·10³⁰⁸), `torusweep_kernels.backend.BackendUnavailable` for cupy without a
    GPU, `torusweep_kernels.backend.GpuOutOfMemory` if not even one destination's rows fit.
    """
    ports, start, destination = (np.asarray(array) for array in (ports, start, destination))
    group, capacity = (None if array is None else np.asarray(array) for array in (group, capacity))
    expect = expecting("shortest_walks")
    expect(start.ndim == 1, "start of shape [B]", start.shape)
    expect(destination.shape == start.shape, f"destination of shape {start.shape}, one per packet", destination.shape)
    if group is not None:
        expect(group.shape == start.shape, f"group of shape {start.shape}, one per packet", group.shape)
    check(expect, ports, len(start), groups, first, seed, split, capacity, threads)
    within(expect, "start", start, 0, len(ports) - 1)
    within(expect, "destination", destination, 0, len(ports) - 1)
    if group is not None:
        within(expect, "group", group, 0, groups - 1)
    chosen = backends.resolve(backend, large=len(start) >= LARGE)
    how = groups, first, key_of(seed), split == "paths", weights_of(capacity), searches
    task = Task(as_int32(ports), as_int32(start), as_int32(destination), as_int32(group), *how)
    return walked(task, chosen, threads)


def sampled_walks(
    ports: np.ndarray,
    packets: RandomPackets,
    number: int,
    *,
    groups: int = 1,
    first: int = 0,
    seed: int = 0,
    split: str = "paths",
    capacity: np.ndarray | None = None,
    backend: str = "auto",
    threads: int | None = None,
    searches: Searches | None = None,
) -> Walks:
    """Walk the packets first … first + number − 1 of a random traffic. Returns what `shortest_walks` returns for the
    pairs that `torusweep_kernels.pairs.draw_pairs` draws with the same seed.

    A GPU with `searches` draws each packet where it walks: no packets are stored or copied. The arrays of
    `packets` may not change between calls with the same `searches`.

    packets  the traffic and the nodes from which packets are drawn
    number   < 2³¹, number of packets; packet i is in group i modulo `groups`
    The other arguments, memory and errors are those of `shortest_walks`.
    """
    expect = expecting("sampled_walks")
    ports, capacity = np.asarray(ports), None if capacity is None else np.asarray(capacity)
    check(expect, ports, number, groups, first, seed, split, capacity, threads)
    tables, start, finish = packets
    for name, nodes in (("start", start), ("finish", finish)):
        every = np.arange(tables.nodes) if nodes is None else np.asarray(nodes)
        expect(every.shape == (tables.nodes,), f"{name} of shape ({tables.nodes},)", every.shape)
        within(expect, name, every, 0, len(ports) - 1)
    searched = searches is not None and searches.rows is not None  # by a GPU, which has the most of its work behind it
    chosen = backends.resolve(backend, large=searched or number >= LARGE)
    how = groups, first, key_of(seed), split == "paths", weights_of(capacity), searches
    if chosen == "cupy":
        nothing = np.empty(0, np.int32)
        return walked(Task(as_int32(ports), nothing, nothing, None, *how, packets, number), chosen, threads)
    source, destination = draw_pairs(tables, first, number, seed, backend=chosen, threads=threads)
    source = source if start is None else as_int32(start[source])
    destination = destination if finish is None else as_int32(finish[destination])
    return walked(Task(as_int32(ports), source, destination, None, *how), chosen, threads)


def walked(task: Task, chosen: str, threads: int | None) -> Walks:
    """Return the counts of the implementation for a resolved backend."""
    if not task.packets:
        count, unreachable = np.zeros(task.groups * task.ports.size, np.int64), np.zeros(task.groups, np.int64)
    else:
        count, unreachable = backends.implementation(__name__, chosen).walks(task, threads)
    return Walks(count.reshape(task.groups, *task.ports.shape), unreachable)


def as_int32(array: np.ndarray | None) -> Any:
    return None if array is None else np.ascontiguousarray(array, np.int32)


def key_of(seed: int) -> tuple[int, int]:
    return seed % 2**32, seed // 2**32


def weights_of(capacity: np.ndarray | None) -> np.ndarray | None:
    return None if capacity is None else np.ascontiguousarray(capacity, np.float64)


def check(
    expect: Expect,
    ports: np.ndarray,
    packets: int,
    groups: int,
    first: int,
    seed: int,
    split: str,
    capacity: np.ndarray | None,
    threads: int | None,
) -> None:
    """Raise ValueError for a wrong argument other than the packets; the message names it and what was expected."""
    expect(split in SPLITS, f"split of {', '.join(SPLITS)}", repr(split))
    expect(ports.ndim == 2, "ports of shape [N, P]", ports.shape)
    expect(0 <= packets <= MOST_PACKETS, f"at most {MOST_PACKETS} packets a call", packets)
    expect(groups >= 1, "groups ≥ 1", groups)
    expect(first >= 0 and first + packets <= 2**64, f"first of 0 … 2⁶⁴ − {packets}", first)
    expect(0 <= seed < 2**64, "seed of 0 … 2⁶⁴ − 1", seed)
    expect(threads is None or threads >= 1, "threads ≥ 1 or None", threads)
    within(expect, "ports", ports, -1, len(ports) - 1)
    check_capacity(expect, capacity, ports)
