"""Compute integer flows of packets on source routes: loads of oblivious routings, exact or by Monte Carlo."""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import expecting, within
from torusweep_kernels.routes.task import Task, most_passes

SUMS = 2**63  # exceeds int64


def route_flows(
    next: np.ndarray,
    start: np.ndarray,
    row: np.ndarray,
    direction: np.ndarray,
    hops: np.ndarray,
    amount: np.ndarray | None = None,
    *,
    groups: int | None = None,
    first: int = 0,
    backend: str = "auto",
    threads: int | None = None,
) -> np.ndarray:
    """Return the flow that leaves every node in every direction: int64[N, D], or for each group int64[G, N, D].

    next       int32[N, D]   node that each direction leads to, −1 = none; several nodes may lead to one
    start      int32[B]      node where each packet starts
    row        int32[B]      route of each packet: a row of `direction` and `hops`
    direction  int8[R, L]    direction of each run; ignored if the run has 0 hops
    hops       int16[R, L]   length of each run, ≥ 0; runs of 0 hops are skipped
    amount     int64[B]      ≥ 0, weight of each packet; None for 1
    groups     G ≥ 1: packet b is in group (first + b) modulo G, first ≥ 0; None for no groups
    backend    numpy: the specification; auto, numba and cupy: compiled for the CPU, since routes are drawn there
    threads    CPU threads of numba; by default all that it may use

    Method: the nodes along a direction are laid out as lines (rings or chains). A run adds its amount where it starts
    and subtracts it after its end; prefix sums of these are the flows. The cost of a run depends on the line ends that
    it crosses, not on its hops. Memory: about 32 bytes per node and direction, and up to 16 more per group and per
    thread; none grows with packets × L.

    Raises ValueError for arrays that contradict each other, and for a packet whose route takes a direction that leads
    nowhere (it names the first such packet); OverflowError if flows could exceed int64: the sum of all amounts,
    times the number of times that a route may pass a channel, must be below 2⁶³;
    `torusweep_kernels.backend.BackendUnavailable` for cupy without a GPU.
    """
    expect = expecting("route_flows")
    expect(groups is None or groups >= 1, "groups ≥ 1 or None", groups)
    expect(first >= 0, "first ≥ 0", first)
    expect(threads is None or threads >= 1, "threads ≥ 1 or None", threads)
    number = 1 if groups is None else groups
    task = checked("route_flows", next, start, row, direction, hops, amount)
    task = task._replace(groups=number, first=first % number)
    chosen = backends.resolve_on_cpu(backend)
    from torusweep_kernels.routes.reference import lines

    laid = lines(task.next)
    total, passes = task.total, task.hops.shape[1] * int(task.hops.max(initial=0))
    if total * passes >= SUMS:
        passes = most_passes(task, laid.shortest_cycle)
        if total * passes >= SUMS:
            raise OverflowError(
                f"route_flows: expected amounts whose sum, times the {passes} passes of a channel that a route may"
                " make, is below 2^63;"
                f" got a sum of {total}; scale the amounts down, or call with fewer packets"
            )
    flow, stranded = backends.implementation(__name__, chosen).flows(task, laid, threads)
    if stranded is not None:
        raise ValueError(dead_end("route_flows", task, stranded))
    return flow[0] if groups is None else flow


def route_ends(
    next: np.ndarray,
    start: np.ndarray,
    row: np.ndarray,
    direction: np.ndarray,
    hops: np.ndarray,
    threads: int | None = None,
) -> np.ndarray:
    """Return the last node of each packet's route, int32[B], followed hop by hop, for checks.

    Arguments and errors are those of `route_flows`.
    """
    task = checked("route_ends", next, start, row, direction, hops, None)
    from torusweep_kernels.routes import cpu

    end, stranded = cpu.ends(task, threads)
    if stranded is not None:
        raise ValueError(dead_end("route_ends", task, stranded))
    return end


def checked(name: str, next: Any, start: Any, row: Any, direction: Any, hops: Any, amount: Any) -> Task:
    """Return the task with its arrays converted to the expected dtypes. Raises ValueError that names a wrong array."""
    expect = expecting(name)
    next, start, row, direction, hops = map(np.asarray, (next, start, row, direction, hops))
    shape = (1,) if amount is None else start.shape
    amount = np.ones(1, np.int64) if amount is None else np.asarray(amount)
    for what, array in (
        ("next", next),
        ("start", start),
        ("row", row),
        ("direction", direction),
        ("hops", hops),
        ("amount", amount),
    ):
        expect(array.dtype.kind in "iu" or not array.size, f"whole numbers in {what}", array.dtype)
    expect(next.ndim == 2, "next of shape [N, D]", next.shape)
    expect(start.ndim == 1, "start of shape [B]", start.shape)
    expect(row.shape == start.shape, f"row of shape {start.shape}, one per packet", row.shape)
    expect(direction.ndim == 2, "direction of shape [R, L]", direction.shape)
    expect(hops.shape == direction.shape, f"hops of shape {direction.shape}, one per run", hops.shape)
    expect(amount.shape == shape, f"amount of shape {start.shape}, one per packet", amount.shape)
    nodes, directions = next.shape
    expect(
        next.size <= 2**30 and len(start) < 2**31,
        "at most 2^30 nodes × directions and 2^31 − 1 packets",
        f"{next.size} and {len(start)}",
    )
    within(expect, "next", next, -1, nodes - 1)
    within(expect, "start", start, 0, nodes - 1)
    within(expect, "row", row, 0, len(hops) - 1)
    within(expect, "hops", hops, 0, 2**15 - 1)
    within(expect, "amount", amount, 0, 2**63 - 1)
    if direction.size and (int(direction.min()) < 0 or int(direction.max()) >= directions):
        within(expect, "direction", direction[hops > 0], 0, directions - 1)
    types = np.int32, np.int32, np.int32, np.int8, np.int16, np.int64
    arrays = next, start, row, direction, hops, amount
    next, start, row, direction, hops, amount = (
        np.ascontiguousarray(array, dtype) for array, dtype in zip(arrays, types)
    )
    return Task(next, start, row, direction, hops, amount)


def dead_end(name: str, task: Task, packet: int) -> str:
    """Return the error message for a packet whose route takes a missing direction."""
    at, row = int(task.start[packet]), int(task.row[packet])
    for direction, hops in zip(task.direction[row].tolist(), task.hops[row].tolist()):
        for _ in range(hops):
            before, at = at, int(task.next[at, direction])
            if at < 0:
                where = f"direction {direction} does not lead on from node {before}"
                got = f"packet {packet} (start {task.start[packet]}, row {row})"
                return f"{name}: expected routes that lead on, got {got}: {where}"
    raise AssertionError(f"packet {packet} arrives")
