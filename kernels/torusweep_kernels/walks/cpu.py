"""Walks on the CPU, compiled by Numba: packets are sorted by destination, and threads take shares of the
destinations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from torusweep_kernels.distance.single_source import incoming_links
from torusweep_kernels.threads import in_threads, thread_count
from torusweep_kernels.walks.steps import Counter, Jobs, Network, spread, tally, walk
from torusweep_kernels.walks.task import STREAM, Task, too_many_paths

PIECE = 2**16  # the most packets of a job, all to one destination: those of a hot spot are divided among threads
SHARES = 32  # shares for each thread, taken one after another, because they differ in work
UNROLLED = 12  # the most ports for which code is compiled with constant width


def walks(task: Task, threads: int | None) -> tuple[np.ndarray, np.ndarray]:
    """(count int64[G·N·P], unreachable int64[G]); see `shortest_walks`."""
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
    """Counting sort; the order of packets to the same destination does not matter."""
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
