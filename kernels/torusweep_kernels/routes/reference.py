"""The specification: all packets of a block take a hop at a time; the same code for NumPy and CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep_kernels.backend import host
from torusweep_kernels.routes.lines import Lines
from torusweep_kernels.routes.task import Task

BLOCK = 2**20  # packets of a block; sums of this many 32-bit halves of amounts are exact in float64
HALF = 2**32


def flows(task: Task, lines: Lines | None = None, threads: int | None = None) -> tuple[np.ndarray, int | None]:
    """(flow int64[G, N, D], the first packet that cannot go on | None); see `route_flows`."""
    flow, _, stranded = followed(task, np)
    return flow, stranded


def followed(task: Task, xp: Any) -> tuple[np.ndarray, np.ndarray, int | None]:
    """(flow int64[G, N, D], where each packet arrives int32[B], the first that cannot go on | None); see
    `route_flows`."""
    directions = task.next.shape[1]
    leads_to, direction, hops = (xp.asarray(array) for array in (task.next.ravel(), task.direction, task.hops))
    flow, ends = xp.zeros(task.groups * task.next.size, np.int64), []
    for first in range(0, task.packets, BLOCK):
        block = slice(first, first + BLOCK)
        at, route = xp.asarray(task.start[block]).copy(), xp.asarray(task.row[block])
        group = (task.first + first + xp.arange(len(at))) % task.groups
        amount = xp.asarray(task.amount[block] if task.stride else np.repeat(task.amount, len(at)))
        for run in range(hops.shape[1]):
            left, heading = hops[route, run], direction[route, run]
            going = xp.flatnonzero((left > 0) & (at >= 0))
            while len(going):
                channel = at[going].astype(np.int64) * directions + heading[going]
                place = group[going] * task.next.size + channel
                low, high = (
                    xp.bincount(place, weights=half[going].astype(np.float64), minlength=len(flow))
                    for half in (amount % HALF, amount // HALF)
                )
                flow += high.astype(np.int64) * HALF + low.astype(np.int64)
                at[going] = leads_to[channel]
                left[going] -= 1
                going = xp.flatnonzero((left > 0) & (at >= 0))
        stranded = xp.flatnonzero(at < 0)
        if len(stranded):
            return host(flow), host(at), first + int(stranded[0])
        ends.append(host(at))
    return host(flow).reshape(task.groups, *task.next.shape), np.concatenate([task.start[:0], *ends]), None
