"""Compiled version of `torusweep_kernels.walks`: packets are sorted by destination, and threads take shares of the
destinations.

The compiled steps sort packets by destination, search backwards from each destination, and walk its packets.

The packets of a tile walk in lockstep: four hops are drawn for all of them, then done hop by hop. Packets are
independent, so the processor overlaps dozens of memory accesses. No branch depends on a packet: an arrived packet
stays at its node and is not counted; after four hops, arrived packets are removed from the tile.

The width is a tuple with an element for each port, so that loops over ports are unrolled, or an array of this length.
Indices are unsigned, because Numba checks signed ones.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels.compile import cached, njit
from torusweep_kernels.distance.single_source import incoming_links
from torusweep_kernels.philox.cpu import philox4x32
from torusweep_kernels.threads import in_threads, thread_count
from torusweep_kernels.walks.reference import HOPS, MOST, SCALE, STREAM, Task, too_many_paths

TILE = 256  # packets of a tile
philox = njit(inline="always")(
    philox4x32.py_func
)  # inlined into the loop, so that a vector instruction handles eight counters
ZERO, ONE = np.uint64(0), np.uint64(1)
GREATEST = np.uint32(MOST - 1)
PIECE = 2**16  # the most packets of a job, all to one destination: those of a hot spot are divided among threads
SHARES = 32  # shares for each thread, taken one after another, because they differ in work
UNROLLED = 12  # the most ports for which code is compiled with constant width


class Network(NamedTuple):
    """The network in the form that the compiled searches and walks read.

    heads                           uint32[N·P]  node that each port leads to; a missing port leads to its own node
    predecessor_start, predecessor  int64[N+1], int32[A]: links by their heads, from `incoming_links`
    by_paths                        as in `Task`
    """

    heads: np.ndarray
    predecessor_start: np.ndarray
    predecessor: np.ndarray
    by_paths: bool


class Jobs(NamedTuple):
    """Packets sorted by destination: job j walks rows bound[j] … bound[j+1] − 1 to node destination[j].

    destination int64[J], bound int64[J+1], rows uint32[B, 3]: each packet's start, its place in the task's arrays, and
    its group
    """

    destination: np.ndarray
    bound: np.ndarray
    rows: np.ndarray


class Tree(NamedTuple):
    """Shortest paths to one destination: distance int32[N], −2 = not reached; count float64[N] of paths and limit
    uint32[N·P] of draws, for nodes that are reached; queue uint32[A+1]: scratch.
    """

    distance: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count
    limit: np.ndarray
    queue: np.ndarray


class Counter(NamedTuple):
    """The first packet's number (low and high word), the stream (the counter's last word), and the key's two words."""

    low: np.uint32
    high: np.uint32
    stream: np.uint32
    key0: np.uint32
    key1: np.uint32


@cached
def tally(destination, nodes):
    """Return int64[N]: the number of packets to each node. destination int32[B]."""
    number = np.zeros(nodes, np.int64)
    for i in range(len(destination)):
        number[np.uint32(destination[i])] += 1
    return number


@cached
def spread(start, destination, group, cycle, low, high, place, rows):
    """Set rows[place[d]++] to start, number and group of each packet low … high − 1, where d is its destination.

    start, destination int32[B]; group int32[B] | None: None = packet i is in group (a + i) modulo b, where cycle is the
    two uint64 (a, b); place int64[N]: where the next packet to each node goes; rows uint32[B, 3].
    """
    own = (cycle[0] + np.uint64(low)) % cycle[1]
    for i in range(low, high):
        node = np.uint32(destination[i])
        row = place[node]
        place[node] = row + 1
        if group is not None:
            own = np.uint64(group[i])
        rows[row, 0], rows[row, 1], rows[row, 2] = start[i], i, own
        own = own + ONE if own + ONE < cycle[1] else ZERO


@njit  # inlined by LLVM: if Numba inlines it, the choices become branches
def weight(network, capacity, tree, channel, nearer):
    """Return the weight by which a channel shares its node's draws; 0 unless the channel leads nearer."""
    other = np.uint64(network.heads[channel])
    beyond = tree.count[other] if network.by_paths else 1.0
    if capacity is not None:
        beyond *= capacity[channel]
    return beyond if tree.distance[other] == nearer else 0.0


@cached
def search(network, capacity, destination, tree, width):
    """Find distances to a node, and divide each node's draws among its ports. Returns False for too many paths.

    capacity float64[N·P] or None; sets `tree`.
    """
    distance, count, limit, queue = tree
    ports = np.uint64(len(width))
    distance[:] = -2  # −2 + 1 is not a distance either
    distance[destination], count[destination], queue[0] = 0, 1.0, destination
    begin, end = np.uint64(0), ONE
    while begin < end:
        node = np.uint64(queue[begin])
        begin += ONE
        farther = distance[node] + 1
        for i in range(network.predecessor_start[node], network.predecessor_start[node + ONE]):
            other = np.uint64(network.predecessor[np.uint64(i)])
            before = distance[other]
            queue[end] = other  # kept if the node is new
            distance[other] = farther if before < 0 else before
            end += np.uint64(before < 0)
    most = 0.0
    for i in range(ONE, end):
        node = np.uint64(queue[i])
        nearer, row = distance[node] - 1, node * ports
        total = 0.0
        for p in range(len(width)):
            total += weight(network, capacity, tree, row + np.uint64(p), nearer)
        count[node] = total
        most = max(most, total)
        share = SCALE / total
        total = 0.0
        for p in range(len(width)):
            total += weight(network, capacity, tree, row + np.uint64(p), nearer)
            limit[row + np.uint64(p)] = np.uint32(np.int64(min(total * share, float(MOST))))
    return most < np.inf


@cached
def draw(number, packets, counter, block, draws):
    """Draw four hops, draws uint32[4, TILE], for packets first + number uint32[TILE]; first = low + 2³² · high."""
    low, high, stream, key0, key1 = counter
    for i in range(packets):
        word = np.uint64(number[i]) + np.uint64(low)
        c0, c1, c2, c3 = philox(
            np.uint32(word), np.uint32(np.uint64(high) + (word >> np.uint64(32))), block, stream, key0, key1
        )
        draws[0, i], draws[1, i] = min(c0, GREATEST), min(c1, GREATEST)
        draws[2, i], draws[3, i] = min(c2, GREATEST), min(c3, GREATEST)


@cached
def step(heads, limit, destination, draws, packets, node, base, passed, width):
    """Move every packet that has not arrived by one hop. node uint32[TILE]: each packet's node; base uint64[TILE]: the
    first counter of each packet's group.
    """
    ports = np.uint64(len(width))
    for i in range(packets):
        at, drawn = node[i], draws[i]
        channel = np.uint64(at) * ports
        row = channel
        for p in range(len(width) - 1):
            channel += np.uint64(drawn >= limit[row + np.uint64(p)])
        head = heads[channel]
        moves = at != destination
        passed[base[i] + channel] += np.int32(moves)
        node[i] = head if moves else at


@cached
def walk(network, capacity, jobs, counter, passed, unreachable, width):
    """Walk the packets of some jobs. Returns False if there are too many paths.

    capacity float64[N·P] or None; adds to passed int32[G·N·P] and unreachable int64[G].
    """
    heads, rows, bound = network.heads, jobs.rows, jobs.bound
    nodes = len(network.predecessor_start) - 1
    distance, queue = np.empty(nodes, np.int32), np.empty(len(network.predecessor) + 1, np.uint32)
    tree = Tree(distance, np.zeros(nodes), np.empty(len(heads), np.uint32), queue)
    node, number, base = np.empty(TILE, np.uint32), np.empty(TILE, np.uint32), np.empty(TILE, np.uint64)
    draws = np.empty((HOPS, TILE), np.uint32)
    before = -1
    for job in range(len(jobs.destination)):
        target = jobs.destination[job]
        if target != before and not search(network, capacity, target, tree, width):
            return False
        before = target
        destination = np.uint32(target)
        for tile in range(bound[job], bound[job + 1], TILE):
            packets = np.uint64(0)
            for i in range(np.uint64(tile), np.uint64(min(tile + TILE, bound[job + 1]))):
                hops = distance[rows[i, 0]]
                node[packets], number[packets] = rows[i, 0], rows[i, 1]
                base[packets] = np.uint64(rows[i, 2]) * np.uint64(len(heads))
                packets += np.uint64(hops > 0)
                unreachable[rows[i, 2]] += hops < 0
            block = 0
            while packets:
                draw(number, packets, counter, block, draws)
                for word in range(HOPS):
                    step(heads, tree.limit, destination, draws[word], packets, node, base, passed, width)
                block += 1
                left = np.uint64(0)
                for i in range(packets):
                    node[left], number[left], base[left] = node[i], number[i], base[i]
                    left += np.uint64(node[i] != destination)
                packets = left
    return True


def walks(task: Task, threads: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Compiled version of `shortest_walks`: (count int64[G·N·P], unreachable int64[G])."""
    threads = thread_count(threads)
    jobs = by_destination(task, threads)
    capacity = None if task.capacity is None else task.capacity.ravel()
    predecessor_start, predecessor = incoming_links(task.ports)
    network = Network(task.heads.astype(np.uint32).ravel(), predecessor_start, predecessor, task.by_paths)
    words = Counter(*map(np.uint32, (task.first % 2**32, task.first // 2**32, STREAM, *task.key)))
    width: Any = (0,) * task.width if task.width <= UNROLLED else np.empty(task.width)
    counters: list[tuple[np.ndarray, np.ndarray]] = []  # append and pop are atomic

    def of_share(share: np.ndarray) -> bool:
        counter = (
            counters.pop()
            if counters
            else (np.zeros(task.groups * task.ports.size, np.int32), np.zeros(task.groups, np.int64))
        )
        low, high = share[0], share[-1] + 1
        own = Jobs(jobs.destination[low:high], jobs.bound[low : high + 1], jobs.rows)
        fine = walk(network, capacity, own, words, *counter, width)
        counters.append(counter)
        return bool(fine)

    shares = np.array_split(np.arange(len(jobs.destination)), min(len(jobs.destination), SHARES * threads))
    if not all(in_threads(of_share, shares, threads)):
        raise too_many_paths()
    count, unreachable = np.zeros(task.groups * task.ports.size, np.int64), np.zeros(task.groups, np.int64)
    for passed, stranded in counters:
        count += passed
        unreachable += stranded
    return count, unreachable


def by_destination(task: Task, threads: int) -> Jobs:
    """Sort the packets by destination (counting sort). The order of packets to one destination does not matter."""
    packets = len(task.start)
    cuts = np.linspace(0, packets, threads + 1).astype(np.int64)
    parts = list(pairwise(cuts))
    tallies = np.array(in_threads(lambda part: tally(task.destination[part[0] : part[1]], task.nodes), parts, threads))
    place = np.cumsum(tallies.T.ravel()).reshape(task.nodes, threads).T - tallies  # by node, then by part
    rows = np.empty((packets, 3), np.uint32)
    cycle = np.uint64(task.first % task.groups), np.uint64(task.groups)
    in_threads(
        lambda i: spread(task.start, task.destination, task.group, cycle, *parts[i], place[i].copy(), rows),
        range(threads),
        threads,
    )
    number = tallies.sum(axis=0)
    pieces = -(-number // PIECE)
    last = np.cumsum(pieces)
    within = np.arange(last[-1]) - np.repeat(last - pieces, pieces)
    destination = np.repeat(np.arange(task.nodes), pieces)
    bound = np.append((np.cumsum(number) - number)[destination] + PIECE * within, packets)
    return Jobs(destination, bound, rows)
