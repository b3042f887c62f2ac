"""Flows of routes on the CPU, compiled by Numba: shares of the packets side by side in threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from torusweep_kernels.compile import cached, thread_count
from torusweep_kernels.routes.lines import Lines
from torusweep_kernels.routes.task import Task
from torusweep_kernels.threads import in_threads

FEW = 2**12  # packets that a thread is worth


def flows(task: Task, lines: Lines, threads: int | None) -> tuple[np.ndarray, int | None]:
    """(flow int64[N, D], the first packet that cannot go on | None); see `route_flows`."""
    threads = thread_count(threads)
    nodes, directions = task.next.shape
    where = lines.place.ravel(), lines.node, np.uint64(nodes), np.uint64(directions)
    what = (
        *(
            array.view(unsigned)
            for array, unsigned in ((task.start, np.uint32), (task.row, np.uint32), (task.direction, np.uint8))
        ),
        task.hops,
    )
    shares = max(1, min(threads, task.packets // FEW))

    def of_share(part: tuple[int, int]) -> tuple[np.ndarray, int]:
        change = np.zeros(len(lines.node), np.int64)
        return change, follow(*where, *what, task.amount, task.stride, *part, change)

    parts = in_threads(of_share, list(pairwise(task.packets * share // shares for share in range(shares + 1))), threads)
    total = parts[0][0]
    for change, _ in parts[1:]:
        total += change
    stranded = [packet for _, packet in parts if packet >= 0]
    return np.cumsum(total, out=total)[lines.place[:, :, 0]], stranded[0] if stranded else None


@cached
def follow(place, node, nodes, directions, start, row, direction, hops, amount, stride, first, last, change):
    """Add to change int64[S] what the packets first … last − 1 add and subtract in each slot; the first that cannot go on, or −1.

    place uint32[N·D·2], node uint32[S]: see `Lines`; start and row uint32[B], direction uint8[R, L]: unsigned, since
    Numba checks signed indices; hops int16[R, L]; packet b stands for amount[b·stride].
    """
    for packet in range(first, last):
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
