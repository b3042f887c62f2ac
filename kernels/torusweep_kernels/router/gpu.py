"""The simulation on a GPU: the cycles of router.cu, experiments side by side.

A block simulates one experiment, many cycles in a launch. If the experiments are larger than a block and too few to
occupy the device, several blocks simulate each of them, one cycle a launch. The host waits for the device, and checks
for the end and for deadlock, only every `stall` cycles (at most WINDOW).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.router.deadlock import deadlock
from torusweep_kernels.router.gpu_state import (
    NEVER,
    SOURCE,
    at_start,
    fields,
    layout,
    snapshot,
    travel,
    waiting,
)
from torusweep_kernels.router.outcome import Outcome, joined
from torusweep_kernels.router.state import size
from torusweep_kernels.router.task import Experiment, Simulated, Task

THREADS = 512  # the most threads of a block that simulates an experiment alone; also in router.cu
SHARED_THREADS = 128  # threads of a block where several simulate an experiment
WINDOW = 4096  # the most cycles between two checks
Wait = tuple[list[tuple[int, int, int]], int]  # as `deadlock.deadlock` returns


def simulated(task: Task, threads: int | None = None, progress: Callable[[float], None] | None = None) -> Simulated:
    """See `torusweep_kernels.router.simulate`."""
    with cuda.gpu_errors("torusweep_kernels.router"):
        network = Network(task)
        free = network.gpu.free()

        def run(most: int) -> Simulated:
            return joined(
                task, [outcome for some in rounds(task, free // 2, most) for outcome in Round(network, some).outcomes()]
            )

        return cuda.halve_until_it_fits(max(map(len, rounds(task, free // 2, len(task.batch.first))), default=1), run)


def rounds(task: Task, memory: int, most: int) -> Iterator[list[Experiment]]:
    """Experiments that fit into so many bytes together, at most so many; at least one."""
    some: list[Experiment] = []
    taken = 0
    for one in task.experiments:
        how = one.end - one.begin, task.hops.shape[1], one.shortest, *waiting(one)
        shapes = layout(task.wiring, task.router, *how, detours=task.detour.shape[1])
        needed = sum(map(size, shapes))
        if some and (taken + needed > memory or len(some) == most):
            yield some
            some, taken = [], 0
        some.append(one)
        taken += needed
    if some:
        yield some


class Network:
    """The arrays on the device that all experiments share. Their first axis is ports, their last one nodes."""

    def __init__(self, task: Task) -> None:
        self.task, self.gpu = task, cuda.Gpu()
        self.cupy = cupy = self.gpu.cupy
        (self.advance,) = self.gpu.kernels(SOURCE, "advance")
        wiring, router, nodes = task.wiring, task.router, task.nodes
        far, feed = task.land.reshape(nodes, task.ports), task.feed.reshape(nodes, task.inputs)[:, : task.transit]
        far, feed = turned(far, task.inputs, nodes), turned(feed, task.ports, nodes)
        delay = wiring.delay.T.astype(np.int32) + np.int32(router.switch_delay)
        routes = task.direction, task.hops, task.phase
        width, sending, back = (
            array.reshape(nodes, -1).T.astype(np.int32) for array in (task.width, task.sending, task.back)
        )
        arrays = (
            far,
            delay,
            width,
            feed,
            sending,
            back,
            task.until,
            task.low,
            wiring.port_of,
            wiring.wrap.view(np.uint8),
            *routes,
        )
        self.arrays = [cupy.asarray(np.ascontiguousarray(array)) for array in arrays]
        self.measure_from = min(task.measure_from, NEVER)
        of_network = nodes, task.ports, task.inputs, task.transit, task.vcs, wiring.port_of.shape[1], task.hops.shape[1]
        manner = (
            task.escape,
            task.buffer,
            task.switching,
            task.memory,
            wiring.balanced,
            router.adaptive,
            router.bubble,
            router.transit_first,
        )
        single = task.sending.max() == 1 and task.width.max(initial=1) == 1
        delays = (
            router.ejection_flits,
            single,
            router.route_delay,
            router.vc_delay,
            router.switch_delay,
            router.credit_delay,
        )
        source_queue = -1 if router.source_queue is None else min(router.source_queue, NEVER)
        rest = (
            *(source_queue, self.measure_from, task.batch.messages is not None),
            *(task.detour.shape[1], task.sees_all, task.threshold),
        )
        self.numbers = [np.int32(number) for number in (*of_network, *manner, *delays, *rest)]


def turned(index: np.ndarray, ports: int, nodes: int) -> np.ndarray:
    """Indices node · ports + port turned into port · nodes + node, with the array's axes swapped; −1 stays."""
    return np.where(index < 0, -1, index % ports * nodes + index // ports).T.astype(np.int32) if ports else index.T


class Round:
    """Experiments that run together on the device."""

    def __init__(self, network: Network, experiments: list[Experiment]) -> None:
        self.network, self.task, self.experiments = network, network.task, experiments
        task, cupy = network.task, network.cupy
        packets = [experiment.end - experiment.begin for experiment in experiments]
        shortest = min(experiment.shortest for experiment in experiments)
        waits = np.sum([waiting(experiment) for experiment in experiments], axis=0).tolist()
        how = sum(packets), task.hops.shape[1], shortest, *waits
        shapes, of_packets = layout(task.wiring, task.router, *how, detours=task.detour.shape[1])
        self.of_experiment = {
            name: cupy.zeros((len(experiments), *shape), dtype) for name, (shape, dtype) in shapes.items()
        }
        vc, out = fields("Vc"), fields("Out")
        for name in ("front", "out"):
            self.of_experiment["vcs"][..., vc[name]] = -1
        self.of_experiment["outs"][..., out["holder"]] = -1
        self.of_experiment["outs"][..., out["credits"]] = task.buffer
        start = at_start(task, experiments, shapes | of_packets)
        self.of_experiment["nodes"] = cupy.asarray(start["nodes"])
        self.of_packets = {
            name: cupy.asarray(start[name]) if name in start else cupy.zeros(*of_packets[name]) for name in of_packets
        }
        self.longest = cupy.asarray(np.array([experiment.longest for experiment in experiments], np.int32))
        self.undelivered = cupy.asarray(np.array(packets, np.int32))
        self.slots = (
            *(np.int32(shapes[name][0][0]) for name in ("arrivals", "credits")),
            np.int32(shapes["queue"][0][-1]),
        )

    def outcomes(self) -> list[Outcome]:
        """The outcome of every experiment."""
        task = self.task
        waits: dict[int, Wait] = {}
        ran = np.zeros(len(self.experiments), np.int64)
        running, t = np.flatnonzero(self.undelivered.get() > 0), 0
        while t < task.cycles and len(running):
            stop = min(t // task.stall * task.stall + task.stall, t + WINDOW, task.cycles)
            self.run(running, t, stop)
            t = stop
            ran[running] = t
            if t % task.stall == 0:
                waits |= {e: wait for e in self.still(running, t) if (wait := self.deadlock(e, t))[0]}
            left = self.undelivered.get()
            running = np.array([e for e in running if left[e] > 0 and e not in waits], np.int64)
        return self.gathered(ran, waits)

    def run(self, running: np.ndarray, t: int, stop: int) -> None:
        """Launch the cycles t … stop − 1."""
        network, nodes = self.network, self.task.nodes
        shared = nodes > THREADS and len(running) < network.gpu.multiprocessors
        threads = SHARED_THREADS if shared else -(-min(nodes, THREADS) // 32) * 32
        blocks = -(-nodes // threads) if shared else 1
        kept = *self.of_experiment.values(), *self.of_packets.values(), self.undelivered
        which = network.cupy.asarray(running.astype(np.int32)), np.int32(blocks)
        what = *network.arrays, self.longest, *kept, *network.numbers, *self.slots, *which
        for begin in range(t, stop) if shared else (t,):
            end = begin + 1 if shared else stop
            network.advance((blocks * len(running),), (threads,), (*what, np.int32(begin), np.int32(end)))

    def still(self, running: np.ndarray, t: int) -> list[int]:
        """Experiments that may be deadlocked: some front of a channel's VC has not moved in the last `stall` cycles."""
        vc = fields("Vc")
        channels = self.of_experiment["vcs"][:, : self.task.transit].reshape(len(self.experiments), -1, len(vc))
        still = (
            ((channels[..., vc["front"]] >= 0) & (channels[..., vc["moved"]] <= t - self.task.stall)).any(axis=1).get()
        )
        return running[still[running]].tolist()

    def deadlock(self, e: int, t: int) -> Wait:
        """See `deadlock.deadlock`."""
        experiment = self.experiments[e]
        begin = experiment.begin - self.experiments[0].begin
        own = slice(begin, begin + experiment.end - experiment.begin)
        now = snapshot(
            self.task, begin, *(self.of_experiment[name][e].get() for name in ("vcs", "outs", "input_ports"))
        )
        return deadlock(
            self.task,
            experiment,
            now,
            travel(*(self.of_packets[name][own].get() for name in ("packets", "left", "crossed"))),
            t,
        )

    def gathered(self, ran: np.ndarray, waits: dict[int, Wait]) -> list[Outcome]:
        """The outcomes, read from the device after `ran` cycles."""
        task, vc, packet, message = self.task, *(fields(record) for record in ("Vc", "Packet", "Message"))
        packets, messages = self.of_packets["packets"].get(), self.of_packets["messages"].get()
        flits, sums = self.of_experiment["flits"].get().swapaxes(1, 2), self.of_experiment["sums"].sum(axis=2).get()
        stored = self.of_experiment["vcs"][:, : task.transit, :, :, vc["count"]].sum(axis=(1, 2)).get()
        wires = np.bitwise_count(self.of_experiment["arrivals"].get()).sum(axis=(1, 2, 3))
        undelivered = self.undelivered.get()
        outcomes, done = [], 0
        for e, experiment in enumerate(self.experiments):
            begin = experiment.begin - self.experiments[0].begin
            own = packets[begin : begin + experiment.end - experiment.begin]
            entered, delivered = own[:, packet["entered"]].copy(), own[:, packet["delivered"]].copy()
            others = messages[done : done + waiting(experiment)[0]]
            done += len(others)
            generated = others[:, message["generated"]].copy()
            cycles = int(ran[e])
            if e not in waits and undelivered[e] == 0:
                last = max(int(delivered.max(initial=-1)) - task.router.switch_delay, int(generated.max(initial=-1)))
                cycles = min(last + 1, task.cycles) if len(own) + len(others) else 0
            generated[generated >= cycles] = -1
            occupancy = sums[e, : task.vcs] + stored[e] * max(cycles, self.network.measure_from)
            waits_for, stalled = waits.get(e, ([], -1))
            moved = int(sums[e, task.vcs]), int(sums[e, task.vcs + 1]), int(stored[e].sum()) + int(wires[e])
            outcomes.append(
                Outcome(entered, delivered, flits[e].ravel(), occupancy, generated, cycles, stalled, waits_for, *moved)
            )
        return outcomes
