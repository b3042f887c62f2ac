"""Find the choices of a head: output VCs that its route and the virtual-channel rule allow, and the room each needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels.router.task import AHEAD, AXIS, PATH, REST, WORMHOLE, Experiment, Task


class Travel(NamedTuple):
    """Progress of the M packets of an experiment on their routes. Packet 0 is the batch's packet `Experiment.begin`.

    left     int16[M, L]  remaining hops in each run of the packet's route
    crossed  int64[M]     a bit for each run, each axis in this phase, or the path: whether a dateline was crossed
    stage    int8[M]      phase of the last hop, −1 at the source
    going    int8[M]      direction of the last hop, −1 at the source
    row      int32[M]     the packet's present route: the route in the batch, or a detour that the packet has taken
    """

    left: np.ndarray
    crossed: np.ndarray
    stage: np.ndarray
    going: np.ndarray
    row: np.ndarray


class Choices(NamedTuple):
    """K choices for each of H heads. Among choices with equal credits the first is preferred; adaptive VCs come first.

    y     int64[H, K]  output VC, −1 = not allowed
    run   int64[H, K]  run to which the output VC belongs
    need  int64[H, K]  credits that the output VC must have
    """

    y: np.ndarray
    run: np.ndarray
    need: np.ndarray


def at_source(task: Task, experiment: Experiment) -> Travel:
    row = task.batch.row[experiment.begin : experiment.end].copy()
    stage, going = (np.full(len(row), -1, np.int8) for _ in range(2))
    return Travel(task.hops[row], np.zeros(len(row), np.int64), stage, going, row)


def choices(task: Task, experiment: Experiment, travel: Travel, x: np.ndarray, packet: np.ndarray) -> Choices:
    """Return the choices of packets int[H] that have hops left, at the fronts of the input VCs x int[H]."""
    node = x // (task.inputs * task.vcs)
    row = travel.row[packet]
    length = task.batch.length[experiment.begin + packet].astype(np.int64)[:, None]
    to_go = travel.left[packet] > 0
    run = to_go.argmax(axis=1)
    direction = task.direction[row, run]
    vc = np.arange(task.escape)
    first, last = columns(task, travel, x, packet, row, run)
    low, behind = (
        task.low[task.phase[row, run]].astype(np.int64).transpose(2, 1, 0)[:, :, :, None]
    )  # by column, then head
    within = (low <= vc) & (vc < behind)
    allowed = np.where((first == 0)[:, None], within[0], False) | np.where((last == 1)[:, None], within[1], False)
    channel = node * task.ports + task.wiring.port_of[node, direction]
    y = np.where(allowed, channel[:, None] * task.vcs + vc, -1)
    need = np.broadcast_to(np.where(task.switching == WORMHOLE, 0, length), y.shape)
    if task.router.bubble:
        goes_on = (travel.going[packet] == direction)[:, None] & ((x % task.vcs)[:, None] == vc)
        need = np.where(goes_on, need, need + experiment.longest)
    runs = np.broadcast_to(run[:, None], y.shape)
    if not task.router.adaptive:
        return Choices(y, runs, need)
    vc = np.arange(task.escape, task.vcs)
    left = travel.left[packet]
    any_run = np.argsort(-left, axis=1, kind="stable")
    port = task.wiring.port_of[node[:, None], np.take_along_axis(task.direction[row], any_run, axis=1)]
    any_y = ((node * task.ports)[:, None] + port)[:, :, None] * task.vcs + vc
    any_y = np.where(np.take_along_axis(left, any_run, axis=1)[:, :, None] > 0, any_y, -1).reshape(
        len(x), left.shape[1] * len(vc)
    )
    any_need = np.broadcast_to(np.where(task.switching == WORMHOLE, task.buffer, length), any_y.shape)
    return Choices(
        np.hstack([any_y, y]), np.hstack([any_run.repeat(len(vc), axis=1), runs]), np.hstack([any_need, need])
    )


def columns(
    task: Task, travel: Travel, x: np.ndarray, packet: np.ndarray, row: np.ndarray, run: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last column, [H] each, of the rule's classes that each next hop in these runs may use."""
    node, direction = x // (task.inputs * task.vcs), task.direction[row, run]
    still = task.until[node, direction] < travel.left[packet, run]
    if task.memory == REST:
        column = (~still).astype(np.int64)
        return column, column
    after, bit = crossed_after(task, travel, node, packet, row, run)
    past = (after & bit) != 0
    column = (past | still if task.memory == AHEAD else past).astype(np.int64)
    if not task.wiring.balanced:
        return column, column
    begins = travel.left[packet, run] == task.hops[row, run]
    low, behind = task.low[task.phase[row, run], 1].astype(np.int64).T
    keeps = (low <= x % task.vcs) & (x % task.vcs < behind)
    either = ~past & ~still
    return np.where(either & ~begins & keeps, 1, column), np.where(either & (begins | keeps), 1, column)


def crossed_after(
    task: Task, travel: Travel, node: np.ndarray, packet: np.ndarray, row: np.ndarray, run: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each packet's bits of crossed datelines after its next hop, and the bit of its run; [H] each."""
    direction = task.direction[row, run]
    bit = np.int64(1) << {AXIS: direction.astype(np.int64) >> 1, PATH: 0 * run}.get(task.memory, run)
    before = travel.crossed[packet]
    if task.memory == AXIS:
        before = np.where(travel.stage[packet] == task.phase[row, run], before, 0)
    return np.where(task.wiring.wrap[node, direction], before | bit, before), bit


def go(
    task: Task, experiment: Experiment, travel: Travel, node: np.ndarray, packet: np.ndarray, run: np.ndarray
) -> None:
    """Let each packet take one hop of the given run."""
    row = travel.row[packet]
    travel.crossed[packet] = crossed_after(task, travel, node, packet, row, run)[0]
    travel.left[packet, run] -= 1
    travel.stage[packet] = task.phase[row, run]
    travel.going[packet] = task.direction[row, run]
