"""The simulation on the CPU, compiled by Numba: experiments side by side in threads."""

from __future__ import annotations

import numba
import numpy as np

from kernels.distance.threads import in_threads
from kernels.network import steps
from kernels.network.choices import at_source
from kernels.network.outcome import Outcome, State, joined
from kernels.network.steps import BITS, EJECTED, INJECTED, LAST, LEFT, Fixed, Live, Packets
from kernels.network.task import Experiment, Simulated, Task
from kernels.network.waits import deadlock


def simulated(task: Task, threads: int | None) -> Simulated:
    """See `kernels.network.simulate`."""
    threads = threads or numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set by its import
    fixed = fixed_of(task)
    return joined(task, in_threads(lambda experiment: outcome(task, fixed, experiment), task.experiments, threads))


def outcome(task: Task, fixed: Fixed, experiment: Experiment) -> Outcome:
    packets, live = packets_of(task, experiment), live_of(task, experiment)
    travel = at_source(task, experiment)._replace(left=packets.left, crossed=packets.crossed, stage=packets.stage, going=packets.going)
    t, stalled = 0, -1
    waiting: list[tuple[int, int, int]] = []
    while t < task.cycles and not waiting and live.number[LEFT] > 0:
        t = int(steps.advance(fixed, packets, live, t, min(t + task.stall, task.cycles)))
        if t % task.stall == 0:
            waiting, stalled = deadlock(task, experiment, state_of(task, live), travel, t)
    in_flight = int(live.stored.sum() + live.arriving.sum())
    injected, ejected = int(live.number[INJECTED]), int(live.number[EJECTED])
    return Outcome(packets.entered, packets.delivered, live.flits, live.occupancy, t, stalled, waiting, injected, ejected, in_flight)


def fixed_of(task: Task) -> Fixed:
    router = task.router
    node = np.repeat(np.arange(task.nodes, dtype=np.int32), task.inputs)
    return Fixed(
        *(task.nodes, task.ports, task.inputs, task.transit, task.vcs, task.escape, task.buffer, task.switching, task.memory),
        *(router.adaptive, router.bubble, router.transit_first, router.ejection_flits),
        *(router.route_delay, router.vc_delay, router.switch_delay, router.credit_delay, task.measure_from),
        *(task.land, task.feed, node, task.wiring.delay.ravel(), task.wiring.port_of, task.wiring.wrap, task.until, task.low),
        *(task.direction, task.hops, task.phase),
    )


def packets_of(task: Task, experiment: Experiment) -> Packets:
    own = slice(experiment.begin, experiment.end)
    row, length, time = task.batch.row[own], task.batch.length[own], task.batch.time[own]
    node = np.repeat(np.arange(task.nodes, dtype=np.int32), np.diff(experiment.first))
    due = np.argsort(time, kind="stable")
    never = (np.full(len(row), -1, np.int32) for _ in range(2))
    return Packets(row, length, time, experiment.first, time[due], node[due], experiment.longest, *at_source(task, experiment), *never)


def live_of(task: Task, experiment: Experiment) -> Live:
    """Nothing under way, all buffers empty. Wheels have a power of 2 of slots, and so have the queues."""
    router, own = task.router, slice(experiment.begin, experiment.end)
    ports, channels = task.nodes * task.inputs, task.nodes * task.ports
    x, y = ports * task.vcs, channels * task.vcs
    behind = task.buffer // int(task.batch.length[own].min(initial=task.buffer)) + 1  # packets of a buffer: a part of one, and whole ones

    def wheel(longest: int, most: int) -> tuple[np.ndarray, np.ndarray]:
        slots = 1 << longest.bit_length()
        return np.empty((slots, most), np.int32), np.zeros(slots, np.int64)

    return Live(
        front=np.full(x, -1, np.int32),
        mode=np.zeros(x, np.uint8),
        out=np.full(x, -1, np.int32),
        count=np.zeros(x, np.int32),
        moved=np.zeros(x, np.int32),
        rest=np.zeros(x, np.int32),
        queue=np.empty((x, 1 << behind.bit_length()), np.int32),
        begins=np.zeros(x, np.int32),
        ends=np.zeros(x, np.int32),
        wanted=np.zeros(x, np.int32),
        allowed=np.zeros(x, np.uint16),
        need=np.zeros(x, np.int32),
        keeps=np.zeros(x, np.int8),
        run=np.zeros(x, np.int8),
        credits=np.full(y, task.buffer, np.int32),
        holder=np.full(y, -1, np.int32),
        can=np.zeros(ports, np.uint16),
        asks=np.zeros(ports, np.uint16),
        last_vc=np.full(ports, -1, np.int8),
        free=np.full(channels, 2**task.vcs - 1, np.uint16),
        last_granted=np.full(channels, -1, np.int16),
        last_sent=np.full((task.nodes, task.ports + 1), -1, np.int8),
        can_ports=np.zeros(task.nodes, np.uint64),
        ask_ports=np.zeros(task.nodes, np.uint64),
        changed=np.zeros(task.nodes, np.uint8),
        taken=experiment.first[:-1].copy(),
        **dict(zip(("arrivals", "arriving"), wheel(router.switch_delay + int(task.wiring.delay.max(initial=0)), channels))),
        **dict(zip(("returns", "returning"), wheel(router.credit_delay, ports))),
        **dict(zip(("routes", "routing"), wheel(router.route_delay, x))),
        **dict(zip(("grants", "granting"), wheel(router.vc_delay, x))),
        waking=np.empty(ports, np.int32),
        refilled=np.empty(ports, np.int32),
        stored=np.zeros(task.vcs, np.int64),
        flits=np.zeros(channels, np.int64),
        occupancy=np.zeros(task.vcs, np.int64),
        number=np.array([experiment.end - experiment.begin, 0, 0, 0, 0, 0], np.int64),
    )


def state_of(task: Task, live: Live) -> State:
    """Codes made indices."""
    out, holder = (np.where(code < 0, -1, (code >> BITS) * task.vcs + (code & LAST)) for code in (live.out, live.holder))
    return State(live.front, live.mode > 0, out, live.count, live.moved, live.credits, holder)
