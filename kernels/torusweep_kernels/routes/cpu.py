"""Compiled version of `torusweep_kernels.routes`: each thread takes a share of the packets."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.routes.reference import Lines
from torusweep_kernels.routes.task import Task
from torusweep_kernels.threads import in_threads, thread_count

FEW = 2**12  # the fewest packets for which a thread is started


def flows(task: Task, lines: Lines, threads: int | None) -> tuple[np.ndarray, int | None]:
    """Compiled version of `route_flows`: (flow int64[G, N, D], the first packet that cannot go on, or None).

    A thread follows the packets of one group, or a share of them. Its changes fit the cache, and it adds to no
    other group.
    """
    threads = thread_count(threads)
    nodes, directions = task.next.shape
    where = lines._replace(place=lines.place.ravel()), np.uint64(nodes), np.uint64(directions)
    packets = Packets(task.start.view(np.uint32), task.row.view(np.uint32), task.amount, task.stride)
    runs = task.direction.view(np.uint8), task.hops
    shares = max(1, min(-(-threads // task.groups), task.packets // task.groups // FEW))
    cuts = [task.packets * share // shares for share in range(shares + 1)]
    parts = [(group, *cut) for group in range(task.groups) for cut in pairwise(cuts)]
    flow = np.zeros((task.groups, *task.next.shape), np.int64)
    begins = lines.place[:, :, 0]

    def of_part(part: tuple[int, int, int]) -> tuple[int, np.ndarray | None]:
        group, low, high = part
        change, first = np.zeros(len(lines.node), np.int64), low + (group - task.first - low) % task.groups
        stranded = follow(*where, packets, *runs, (first, high, task.groups), change)
        if shares > 1:
            return stranded, change
        flow[group] = np.cumsum(change, out=change)[begins]
        return stranded, None

    found = in_threads(of_part, parts, threads)
    for (group, *_), (_, change) in zip(parts, found):
        if change is not None:
            flow[group] += np.cumsum(change, out=change)[begins]
    return flow, min((stranded for stranded, _ in found if stranded >= 0), default=None)


def ends(task: Task, threads: int | None) -> tuple[np.ndarray, int | None]:
    """Return the last node of each packet's route, int32[B], and the first packet that cannot go on, or None."""
    threads = thread_count(threads)
    end, shares = np.empty(task.packets, np.int32), max(1, min(threads, task.packets // FEW))
    cuts = [task.packets * share // shares for share in range(shares + 1)]
    routes = task.next, task.start.view(np.uint32), task.row.view(np.uint32), task.direction, task.hops
    found = in_threads(lambda part: arrive(*routes, part, end), list(pairwise(cuts)), threads)
    return end, min((stranded for stranded in found if stranded >= 0), default=None)


class Packets(NamedTuple):
    """Packets as uint32[B] start and row (Numba checks signed indices). Packet b stands for amount[b·stride]."""

    start: np.ndarray
    row: np.ndarray
    amount: np.ndarray
    stride: int


@cached
def follow(lines, nodes, directions, packets, direction, hops, which, change):
    """Add to change int64[S] where the flow of the packets range(*which) changes.

    lines: `Lines`, with places as uint32[N·D·2]; direction uint8[R, L], hops int16[R, L].
    Returns the first packet that cannot go on, or −1.
    """
    place, node = lines.place, lines.node
    start, row, amount, stride = packets
    for packet in range(which[0], which[1], which[2]):
        at = np.uint64(start[packet])
        route = np.uint64(row[packet])
        each = amount[packet * stride]
        for run in range(hops.shape[1]):
            left = np.uint64(hops[route, run])
            while left > 0:
                entry = np.uint64(2) * (at * directions + np.uint64(direction[route, run]))
                slot = np.uint64(place[entry])
                steps = min(left, np.uint64(place[entry + np.uint64(1)]))
                change[slot] += each
                change[slot + steps] -= each
                at = np.uint64(node[slot + steps])
                if at >= nodes:
                    return packet
                left -= steps
    return -1


@cached
def arrive(next, start, row, direction, hops, which, end):
    """Set end int32[B] of the packets which[0] … which[1] − 1, followed hop by hop.

    start, row: as in `Packets`. Returns the first packet that cannot go on, or −1.
    """
    for packet in range(which[0], which[1]):
        at = np.uint64(start[packet])
        route = np.uint64(row[packet])
        for run in range(hops.shape[1]):
            heading = np.uint64(direction[route, run])
            for _ in range(hops[route, run]):
                there = next[at, heading]
                if there < 0:
                    return packet
                at = np.uint64(there)
        end[packet] = at
    return -1
