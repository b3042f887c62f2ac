"""The simulation on the CPU, compiled by Numba: experiments side by side in threads."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numba

from kernels.distance.threads import in_threads
from kernels.network.live import EJECTED, INJECTED, LEFT, fixed_of, live_of
from kernels.network.outcome import Outcome, joined
from kernels.network.steps import advance
from kernels.network.task import Experiment, Simulated, Task
from kernels.network.waits import deadlock


def simulated(task: Task, threads: int | None, progress: Callable[[float], None] | None = None) -> Simulated:
    """See `kernels.network.simulate`."""
    threads = threads or numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set by its import
    experiments = task.experiments
    if not experiments:
        return joined(task, [])
    more = _added_up(progress, len(experiments))
    return joined(task, in_threads(lambda experiment: outcome(task, experiment, more), experiments, threads))


def outcome(task: Task, experiment: Experiment, more: Callable[[float], None]) -> Outcome:
    """more: is told what share of the experiment has been simulated since it was told last."""
    fixed, live, wiring = fixed_of(task, experiment), live_of(task, experiment), task.wiring
    what = wiring.port_of, wiring.wrap, task.until, task.low, task.direction, task.hops, task.phase
    t, stalled = 0, -1
    waiting: list[tuple[int, int, int]] = []
    packets, share = max(int(live.number[LEFT]), 1), 0.0
    while t < task.cycles and not waiting and live.number[LEFT] > 0:
        # cycles up to the next multiple of `stall`
        t = int(advance(fixed, *live, *what, t, min(t + task.stall, task.cycles)))
        if t % task.stall == 0:
            waiting, stalled = deadlock(task, experiment, live.state(task.vcs), live.travel, t)
        before, share = share, max(t / task.cycles, 1 - int(live.number[LEFT]) / packets)
        more(share - before)
    more(1 - share)
    in_flight = int(live.stored.sum() + live.arrivals[:, 0].sum())
    moved = int(live.number[INJECTED]), int(live.number[EJECTED])
    flits, entered, delivered = live.channels["flits"].copy(), live.packets["entered"].copy(), live.packets["delivered"].copy()
    generated = live.messages["generated"][:-1].copy()
    return Outcome(entered, delivered, flits, live.occupancy, generated, t, stalled, waiting, *moved, in_flight)


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
