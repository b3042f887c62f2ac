"""Outcomes of experiments, and snapshots in which deadlock is detected, for all three implementations.

A deadlock is a circular wait of packets for buffers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels.router.choices import Travel, choices
from torusweep_kernels.router.task import Experiment, Simulated, Task


class Snapshot(NamedTuple):
    """The state of every input VC x and output VC y (numbered as in `Task`) after a cycle, for deadlock detection.

    front    int32[X]  packet at the front, −1 = none
    active   bool[X]   whether the packet holds an output VC, or is being ejected here
    out      int32[X]  output VC that the packet holds, −1 = none
    count    int32[X]  flits here; in an injection VC all flits not yet sent
    moved    int32[X]  last cycle in which a flit left, or a packet came to the front
    credits  int32[Y]  credits of the sender
    holder   int32[Y]  input VC whose packet holds the output VC, −1 = none
    """

    front: np.ndarray
    active: np.ndarray
    out: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count
    moved: np.ndarray
    credits: np.ndarray
    holder: np.ndarray

    @classmethod
    def empty(cls, task: Task) -> Snapshot:
        inputs, outputs = task.nodes * task.inputs * task.vcs, task.nodes * task.ports * task.vcs
        none, nowhere, nobody = (
            np.full(inputs, -1, np.int32),
            np.full(inputs, -1, np.int32),
            np.full(outputs, -1, np.int32),
        )
        zero, still = np.zeros((2, inputs), np.int32)
        return cls(none, np.zeros(inputs, bool), nowhere, zero, still, np.full(outputs, task.buffer, np.int32), nobody)


class Outcome(NamedTuple):
    """The results of one experiment, as in `Simulated`. occupancy int64[V] is summed over channels and cycles;
    injected, ejected and in_flight are numbers of flits.
    """

    entered: np.ndarray
    delivered: np.ndarray
    flits: np.ndarray
    occupancy: np.ndarray
    generated: np.ndarray
    ran: int
    stalled: int
    waiting: list[tuple[int, int, int]]
    injected: int
    ejected: int
    in_flight: int


def joined(task: Task, outcomes: list[Outcome]) -> Simulated:
    """Join the outcomes of all experiments into one result. Checks that no flit was lost or duplicated."""
    for number, one in enumerate(outcomes):
        if one.injected != one.ejected + one.in_flight:
            raise AssertionError(
                f"experiment {number}: {one.injected} flits injected, {one.ejected} ejected, {one.in_flight} in flight"
            )
    channels = max(1, int((task.land >= 0).sum()))
    measured = [max(1, one.ran - task.measure_from) for one in outcomes]
    number = len(outcomes)
    return Simulated(
        entered=np.concatenate([np.zeros(0, np.int32), *(one.entered for one in outcomes)]),
        delivered=np.concatenate([np.zeros(0, np.int32), *(one.delivered for one in outcomes)]),
        flits=np.array([one.flits for one in outcomes], np.int64).reshape(number, task.nodes, task.ports),
        occupancy=np.array([one.occupancy / channels / cycles for one, cycles in zip(outcomes, measured)]).reshape(
            number, task.vcs
        ),
        generated=np.concatenate([np.zeros(0, np.int32), *(one.generated for one in outcomes)]),
        ran=np.array([one.ran for one in outcomes], np.int64),
        stalled=np.array([one.stalled for one in outcomes], np.int64),
        waiting=[one.waiting for one in outcomes],
    )


def deadlock(
    task: Task, experiment: Experiment, snapshot: Snapshot, travel: Travel, t: int
) -> tuple[list[tuple[int, int, int]], int]:
    """Return a cyclic wait as (node, port, VC) of channels, and the last cycle in which anything in it moved; ([], −1)
    if there is none.

    A search is made only if the front of some channel's VC has not moved in the last `stall` cycles before t. An input
    VC can go on if its packet is leaving the network, or may use an output VC whose buffer is not full, or lacks room
    only until what is under way arrives; or one whose buffer's front can go on. A VC that cannot go on by any of
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
