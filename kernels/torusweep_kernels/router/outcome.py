"""What both compiled implementations return: snapshots for deadlock detection, and outcomes of experiments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels.router.task import Simulated, Task


class Snapshot(NamedTuple):
    """The state of every input VC x and output VC y (`Task`) after a cycle, for deadlock detection.

    front    int32[X]  packet at the front, −1 = none
    active   bool[X]   the packet holds an output VC, or is being ejected here
    out      int32[X]  the output VC that it holds, −1 = none
    count    int32[X]  flits here; in an injection VC all flits not yet sent
    moved    int32[X]  last cycle in which a flit left, or a packet came to the front
    credits  int32[Y]  credits of the sender
    holder   int32[Y]  input VC whose packet holds it, −1 = none
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
    """Of one experiment, as in `Simulated`; occupancy int64[V] is a sum over channels and cycles, injected, ejected and
    in_flight count flits."""

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
    """The outcomes of all experiments as one result. Checks that no flit was lost or duplicated."""
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
