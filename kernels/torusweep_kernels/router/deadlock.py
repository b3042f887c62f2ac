"""Deadlock detection from a state: packets that wait for places which only other such packets can free."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.router.choices import Travel, choices
from torusweep_kernels.router.outcome import State
from torusweep_kernels.router.task import Experiment, Task


def deadlock(
    task: Task, experiment: Experiment, state: State, travel: Travel, t: int
) -> tuple[list[tuple[int, int, int]], int]:
    """(the cyclic wait as (node, port, VC) of channels, the last cycle in which anything in it moved); ([], −1) where
    there is none.

    Searched for where the front of some channel's VC has not moved in the last `stall` cycles before t. An input VC can
    go on where its packet is leaving the network, or may use an output VC whose buffer is not full, or lacks room only
    until what is under way arrives; or one whose buffer's front can go on. Whatever cannot go on so never
    will: a wait for *all* choices, not for one of them.
    """
    there = np.flatnonzero(state.front >= 0)
    on_channel = task.feed[there // task.vcs] >= 0
    if not (on_channel & (state.moved[there] <= t - task.stall)).any():
        return [], -1
    leaving = ~(travel.left[state.front[there]] > 0).any(axis=1)
    active = state.active[there]
    moves = np.zeros(
        len(state.front), bool
    )  # a buffer waited for has a front: where that has just left, its credit is under way
    moves[there[leaving & (~active | (state.out[there] < 0))]] = True
    holding = there[active & (state.out[there] >= 0)]
    asking = there[~active & ~leaving]
    asked = choices(task, experiment, travel, asking, state.front[asking])
    tail = np.concatenate([holding, np.repeat(asking, asked.y.shape[1])])
    y = np.concatenate([state.out[holding], asked.y.ravel()])
    need = np.concatenate([np.zeros(len(holding), np.int64), asked.need.ravel()])
    tail, y, need = tail[y >= 0], y[y >= 0], need[y >= 0]
    buffer = task.land[y // task.vcs] * np.int64(task.vcs) + y % task.vcs
    full = state.count[buffer] == task.buffer
    # a free VC without flits on its link lacks room until the front of its buffer moves on
    lacks = (state.holder[y] < 0) & (state.credits[y] < need) & (state.credits[y] + state.count[buffer] == task.buffer)
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
    return [(c // task.ports, c % task.ports, vc) for c, vc in channels], int(state.moved[cycle].max())
