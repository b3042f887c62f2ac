"""The simulation on the CPU, compiled by Numba: experiments side by side in threads."""

from __future__ import annotations

import numba

from kernels.distance.threads import in_threads
from kernels.network.live import EJECTED, INJECTED, LEFT, fixed_of, live_of
from kernels.network.outcome import Outcome, joined
from kernels.network.steps import advance
from kernels.network.task import Experiment, Simulated, Task
from kernels.network.waits import deadlock


def simulated(task: Task, threads: int | None) -> Simulated:
    """See `kernels.network.simulate`."""
    threads = threads or numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set by its import
    experiments = task.experiments
    return joined(task, in_threads(lambda experiment: outcome(task, experiment), experiments, threads) if experiments else [])


def outcome(task: Task, experiment: Experiment) -> Outcome:
    fixed, live, wiring = fixed_of(task, experiment), live_of(task, experiment), task.wiring
    what = wiring.port_of, wiring.wrap, task.until, task.low, task.direction, task.hops, task.phase
    t, stalled = 0, -1
    waiting: list[tuple[int, int, int]] = []
    while t < task.cycles and not waiting and live.number[LEFT] > 0:
        # cycles up to the next multiple of `stall`
        t = int(advance(fixed, *live, *what, t, min(t + task.stall, task.cycles)))
        if t % task.stall == 0:
            waiting, stalled = deadlock(task, experiment, live.state(task.vcs), live.travel, t)
    in_flight = int(live.stored.sum() + live.arrivals[:, 0].sum())
    moved = int(live.number[INJECTED]), int(live.number[EJECTED])
    flits, entered, delivered = live.channels["flits"].copy(), live.packets["entered"].copy(), live.packets["delivered"].copy()
    generated = live.messages["generated"][:-1].copy()
    return Outcome(entered, delivered, flits, live.occupancy, generated, t, stalled, waiting, *moved, in_flight)
