"""Deadlock detection in a snapshot: a circular wait of packets for buffers."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.router.choices import Travel, choices
from torusweep_kernels.router.outcome import Snapshot
from torusweep_kernels.router.task import Experiment, Task


def deadlock(
    task: Task, experiment: Experiment, snapshot: Snapshot, travel: Travel, t: int
) -> tuple[list[tuple[int, int, int]], int]:
    """(the cyclic wait as (node, port, VC) of channels, the last cycle in which anything in it moved); ([], −1) where
    there is none.

    Searched for where the front of some channel's VC has not moved in the last `stall` cycles before t. An input VC can
    go on where its packet is leaving the network, or may use an output VC whose buffer is not full, or lacks room only
    until what is under way arrives; or one whose buffer's front can go on. A VC that cannot go on by any of
    its choices never will.
    """
    there = np.flatnonzero(snapshot.front >= 0)
    on_channel = task.feed[there // task.vcs] >= 0
    if not (on_channel & (snapshot.moved[there] <= t - task.stall)).any():
        return [], -1
    leaving = ~(travel.left[snapshot.front[there]] > 0).any(axis=1)
    active = snapshot.active[there]
    moves = np.zeros(
        len(snapshot.front), bool
    )  # a buffer waited for has a front: where that has just left, its credit is under way
    moves[there[leaving & (~active | (snapshot.out[there] < 0))]] = True
    if task.batch.detours is not None:  # whose route computation has not ended: it may yet choose another one
        moves[there[~active & (snapshot.moved[there] + task.router.route_delay >= t)]] = True
    holding = there[active & (snapshot.out[there] >= 0)]
    requesting = there[~active & ~leaving]
    wanted = choices(task, experiment, travel, requesting, snapshot.front[requesting])
    tail = np.concatenate([holding, np.repeat(requesting, wanted.y.shape[1])])
    y = np.concatenate([snapshot.out[holding], wanted.y.ravel()])
    need = np.concatenate([np.zeros(len(holding), np.int64), wanted.need.ravel()])
    tail, y, need = tail[y >= 0], y[y >= 0], need[y >= 0]
    buffer = task.land[y // task.vcs] * np.int64(task.vcs) + y % task.vcs
    full = snapshot.count[buffer] == task.buffer
    # a free VC without flits on its link lacks room until the front of its buffer moves on
    lacks = (
        (snapshot.holder[y] < 0)
        & (snapshot.credits[y] < need)
        & (snapshot.credits[y] + snapshot.count[buffer] == task.buffer)
    )
    waits = full | lacks
    moves[tail[~waits]] = True
    tail, buffer = tail[waits], buffer[waits]
    while (freed := ~moves[tail] & moves[buffer]).any():
        moves[tail[freed]] = True
    stuck = ~moves[tail]
    tail, buffer = tail[stuck], buffer[stuck]
    if not tail.size:
        return [], -1
    follows = dict(zip(tail[::-1].tolist(), buffer[::-1].tolist()))  # of several choices, the first
    x = int(buffer[0])
    seen: dict[int, int] = {}  # in order
    while x not in seen:
        seen[x] = len(seen)
        x = follows[x]
    cycle = [y for y, place in seen.items() if place >= seen[x]]
    channels = [(int(task.feed[y // task.vcs]), y % task.vcs) for y in cycle]
    return [(c // task.ports, c % task.ports, vc) for c, vc in channels], int(snapshot.moved[cycle].max())
