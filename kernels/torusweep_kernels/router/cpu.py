"""The simulation on the CPU, compiled by Numba: experiments side by side in threads, or several threads to a large
one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock

from torusweep_kernels.compile import thread_count
from torusweep_kernels.router.cycle import advance
from torusweep_kernels.router.deadlock import deadlock
from torusweep_kernels.router.outcome import Outcome, joined
from torusweep_kernels.router.records import EJECTED, INJECTED, LEFT
from torusweep_kernels.router.state import fixed_of, live_of
from torusweep_kernels.router.task import Experiment, Simulated, Task
from torusweep_kernels.threads import in_threads

SHARE = 128  # nodes, at least: with fewer, meeting every cycle takes more than it gains
MOST_SHARES = 64  # numbered in a byte, with a wheel for each pair


def simulated(task: Task, threads: int | None, progress: Callable[[float], None] | None = None) -> Simulated:
    """See `torusweep_kernels.router.simulate`."""
    threads = thread_count(threads)
    experiments = task.experiments
    if not experiments:
        return joined(task, [])
    more = _added_up(progress, len(experiments))
    shares = max(1, min(threads // len(experiments), task.nodes // SHARE, MOST_SHARES))
    return joined(task, in_threads(lambda experiment: outcome(task, experiment, shares, more), experiments, threads))


def outcome(task: Task, experiment: Experiment, shares: int, more: Callable[[float], None]) -> Outcome:
    """The outcome of one experiment.

    shares   of its nodes, a thread for each
    more     called with the part of the experiment that was simulated since the last call
    """
    shares = shares if experiment.messages is None else 1  # any node may generate any message
    fixed, live = fixed_of(task, experiment, shares), live_of(task, experiment, shares)
    t, stalled = 0, -1
    waiting: list[tuple[int, int, int]] = []
    left, reported = live.number[:, LEFT], 0.0  # a view, of each share
    packets = max(int(left.sum()), 1)
    while t < task.cycles and not waiting and left.sum() > 0:
        # cycles up to the next multiple of `stall`
        stop = min(t + task.stall, task.cycles)
        t = max(in_threads(partial(advance, fixed, live, t=t, stop=stop), range(shares), shares))
        if t % task.stall == 0:
            waiting, stalled = deadlock(task, experiment, live.state(task.vcs), live.travel, t)
        before, reported = reported, max(t / task.cycles, 1 - int(left.sum()) / packets)
        more(reported - before)
    more(1 - reported)
    in_flight = int(live.stored.sum()) + live.under_way(fixed.arriving)
    moved = int(live.number[:, INJECTED].sum()), int(live.number[:, EJECTED].sum())
    flits, entered, delivered = (
        live.channels["flits"].copy(),
        live.packets["entered"].copy(),
        live.packets["delivered"].copy(),
    )
    generated = live.messages["generated"][:-1].copy()
    return Outcome(
        entered,
        delivered,
        flits,
        live.occupancy.sum(axis=0)[: task.vcs],
        generated,
        t,
        stalled,
        waiting,
        *moved,
        in_flight,
    )


def _added_up(progress: Callable[[float], None] | None, experiments: int) -> Callable[[float], None]:
    """What to tell how much more of an experiment is done, from any thread."""
    if progress is None:
        return lambda more: None
    lock, done = Lock(), 0.0

    def tell(more: float) -> None:
        nonlocal done
        with lock:
            done += more
            progress(min(done / experiments, 1.0))

    return tell
