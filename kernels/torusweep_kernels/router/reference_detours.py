"""The choice of a packet between what is left of its route and a detour; the text of `torusweep_kernels.router`."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.router.choices import Travel
from torusweep_kernels.router.task import Task


def takes_detour(
    task: Task, travel: Travel, node: int, packet: int, detour: int, credits: np.ndarray, seen: np.ndarray
) -> bool:
    """Whether a packet at a node takes the route in row `detour`.

    credits, seen   int[Y]: of every output VC, now and at the end of the last cycle
    """
    row, left, ahead = int(travel.row[packet]), travel.left[packet], task.hops[detour]
    if task.sees_all:
        own, other = (_along(task, node, *route, seen) for route in ((row, left), (detour, ahead)))
        return own > other + task.threshold
    own, other = _first(task, node, row, left), _first(task, node, detour, ahead)
    occupied = [
        sum(
            task.buffer - int(credits[channel * task.vcs + vc])
            for vc in (vcs if own[0] == other[0] else range(task.vcs))
        )
        for channel, vcs in (own, other)
    ]
    return occupied[0] * int(left.sum()) > occupied[1] * int(ahead.sum()) + task.threshold


def _first(task: Task, node: int, row: int, left: np.ndarray) -> tuple[int, range]:
    """The first channel of what is left of a route, and the VCs that it may use there before a dateline."""
    run = int((left > 0).argmax())
    channel = node * task.ports + int(task.wiring.port_of[node, task.direction[row, run]])
    low, behind = task.low[task.phase[row, run], 0].tolist()
    return channel, range(low, behind)


def _along(task: Task, node: int, row: int, left: np.ndarray, credits: np.ndarray) -> int:
    """Flits that occupy the channels of what is left of a route."""
    occupied = 0
    for direction, hops in zip(task.direction[row].tolist(), left.tolist()):
        for _ in range(hops):
            channel = node * task.ports + int(task.wiring.port_of[node, direction])
            own = slice(channel * task.vcs, (channel + 1) * task.vcs)
            occupied += task.vcs * task.buffer - int(credits[own].sum())
            node = int(task.next[node, direction])
    return occupied
