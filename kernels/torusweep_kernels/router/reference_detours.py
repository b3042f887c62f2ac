"""The choice of a packet between what is left of its route and a detour; the text of `torusweep_kernels.router`."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.router.choices import Travel
from torusweep_kernels.router.task import Task


def takes_detour(task: Task, travel: Travel, node: int, packet: int, detour: int, occupied: np.ndarray) -> bool:
    """Whether a packet at a node takes the route in row `detour`; occupied int64[Y]: flits, by output VC."""
    row, left, ahead = int(travel.row[packet]), travel.left[packet], task.hops[detour]
    own, other = (_channels(task, node, *route) for route in ((row, left), (detour, ahead)))
    of_channel = occupied.reshape(-1, task.vcs)
    if task.sees_all:
        return bool(of_channel[own].sum() > of_channel[other].sum() + task.threshold)
    shared = own[0] == other[0]
    flits = [
        int(of_channel[first, _vcs(task, *route) if shared else slice(None)].sum())
        for first, route in ((own[0], (row, left)), (other[0], (detour, ahead)))
    ]
    return flits[0] * len(own) > flits[1] * len(other) + task.threshold


def _channels(task: Task, node: int, row: int, left: np.ndarray) -> list[int]:
    """The channels of what is left of a route."""
    found = []
    for direction in np.repeat(task.direction[row], left).tolist():
        found.append(node * task.ports + int(task.wiring.port_of[node, direction]))
        node = int(task.next[node, direction])
    return found


def _vcs(task: Task, row: int, left: np.ndarray) -> slice:
    """The VCs that the next hop of a route may use before a dateline."""
    low, behind = task.low[task.phase[row, int((left > 0).argmax())], 0].tolist()
    return slice(low, behind)
