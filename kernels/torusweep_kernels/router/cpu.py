"""Simulate on the CPU, compiled by Numba: a thread for each experiment, or several threads for a large one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock

from torusweep_kernels.router.cycle import advance
from torusweep_kernels.router.outcome import Outcome, deadlock, joined
from torusweep_kernels.router.records import EJECTED, INJECTED, LEFT
from torusweep_kernels.router.state import constants_of, state_of
from torusweep_kernels.router.task import Experiment, Simulated, Task
from torusweep_kernels.threads import in_threads, thread_count

SHARE = 128  # the fewest nodes of a share: with fewer, synchronising every cycle costs more than it saves
MOST_SHARES = 64  # a share's number is a byte, and each pair of shares has a wheel


def simulated(task: Task, threads: int | None, progress: Callable[[float], None] | None = None) -> Simulated:
    """Compiled version of `torusweep_kernels.router.simulate`."""
    threads = thread_count(threads)
    experiments = task.experiments
    if not experiments:
        return joined(task, [])
    more = _added_up(progress, len(experiments))
    shares = max(1, min(threads // len(experiments), task.nodes // SHARE, MOST_SHARES))
    return joined(task, in_threads(lambda experiment: outcome(task, experiment, shares, more), experiments, threads))


def outcome(task: Task, experiment: Experiment, shares: int, more: Callable[[float], None]) -> Outcome:
    """Simulate one experiment and return its outcome.

    shares   number of shares of the experiment's nodes; a thread runs each share
    more     called with the fraction of the experiment that was simulated since the last call
    """
    shares = (
        shares if experiment.messages is None else 1
    )  # messages of different nodes release each other within a cycle
    fixed, state = constants_of(task, experiment, shares), state_of(task, experiment, shares)
    t, stalled = 0, -1
    waiting: list[tuple[int, int, int]] = []
    left, reported = state.number[:, LEFT], 0.0  # a view: packets left in each share
    packets = max(int(left.sum()), 1)
    while t < task.cycles and not waiting and left.sum() > 0:
        # run to the next multiple of `stall`
        stop = min(t + task.stall, task.cycles)
        t = max(in_threads(partial(advance, fixed, state, t=t, stop=stop), range(shares), shares))
        if t % task.stall == 0:
            waiting, stalled = deadlock(task, experiment, state.snapshot(task.vcs), state.travel, t)
        before, reported = reported, max(t / task.cycles, 1 - int(left.sum()) / packets)
        more(reported - before)
    more(1 - reported)
    in_flight = int(state.stored.sum()) + state.under_way(fixed.arriving)
    moved = int(state.number[:, INJECTED].sum()), int(state.number[:, EJECTED].sum())
    flits, entered, delivered = (
        state.channels["flits"].copy(),
        state.packets["entered"].copy(),
        state.packets["delivered"].copy(),
    )
    generated = state.messages["generated"][:-1].copy()
    return Outcome(
        entered,
        delivered,
        flits,
        state.occupancy.sum(axis=0)[: task.vcs],
        generated,
        t,
        stalled,
        waiting,
        *moved,
        in_flight,
    )


def _added_up(progress: Callable[[float], None] | None, experiments: int) -> Callable[[float], None]:
    """Return a callback for experiments in any thread, which adds up their fractions and reports the sum."""
    if progress is None:
        return lambda more: None
    lock, done = Lock(), 0.0

    def tell(more: float) -> None:
        nonlocal done
        with lock:
            done += more
            progress(min(done / experiments, 1.0))

    return tell
