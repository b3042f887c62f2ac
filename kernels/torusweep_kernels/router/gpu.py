"""Simulate on a GPU: the cycles of router.cu, with experiments side by side.

A block simulates one experiment, on a copy of its state in shared memory if it fits. If the experiments are larger
than a block and too few to occupy the device, several blocks simulate each of them: a cooperative launch, with no more
blocks than run at once, since they wait for each other after every cycle. A launch has many cycles. The host waits for
the device, and checks for the end and for deadlock, only every `stall` cycles (at most WINDOW).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.router.gpu_state import (
    NEVER,
    SOURCE,
    at_start,
    fields,
    filled,
    layout,
    parts,
    snapshot,
    state_at_start,
    travel,
    waiting,
)
from torusweep_kernels.router.outcome import Outcome, deadlock, joined
from torusweep_kernels.router.state import size
from torusweep_kernels.router.task import Experiment, Simulated, Task

THREADS = 512  # the most threads of a block that simulates an experiment alone; also in router.cu
SHARED_THREADS = 128  # threads of a block where several simulate an experiment
WINDOW = 4096  # the most cycles between two checks
# Whether states are kept in shared memory. An estimate, which gpu_tuning measures: a multiprocessor's 512 threads have
# more state than its L1 cache holds, and every store goes through to L2. Shared memory holds some 300 nodes
IN_SHARED = True
Wait = tuple[list[tuple[int, int, int]], int]  # as `deadlock.deadlock` returns


def simulated(task: Task, threads: int | None = None, progress: Callable[[float], None] | None = None) -> Simulated:
    """GPU version of `torusweep_kernels.router.simulate`."""
    with cuda.gpu_errors("torusweep_kernels.router"):
        network = Network(task)
        free = network.gpu.free()

        def run(most: int) -> Simulated:
            return joined(
                task, [outcome for some in rounds(task, free // 2, most) for outcome in Round(network, some).outcomes()]
            )

        return cuda.halve_until_it_fits(max(map(len, rounds(task, free // 2, len(task.batch.first))), default=1), run)


def rounds(task: Task, memory: int, most: int) -> Iterator[list[Experiment]]:
    """Yield rounds of at most `most` experiments, at least one, that together fit into `memory` bytes."""
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
    """The arrays and numbers that all experiments share. The arrays' first axis is ports, their last axis is nodes."""

    def __init__(self, task: Task) -> None:
        self.task, self.gpu = task, cuda.Gpu()
        self.cupy = cupy = self.gpu.cupy
        self.advance, self.advance_in_shared = self.gpu.kernels(SOURCE, "advance", "advance_in_shared")
        wiring, router, nodes = task.wiring, task.router, task.nodes
        far, feed = task.land.reshape(nodes, task.ports), task.feed.reshape(nodes, task.inputs)[:, : task.transit]
        width, sending, back = (
            array.reshape(nodes, -1).T.astype(np.int32) for array in (task.width, task.sending, task.back)
        )
        arrays = {
            "far": turned(far, task.inputs, nodes),
            "delay": wiring.delay.T.astype(np.int32) + np.int32(router.switch_delay),
            "width": width,
            "feed": turned(feed, task.ports, nodes),
            "sending": sending,
            "back": back,
            "until": task.until,
            "low": task.low,
            "port_of": wiring.port_of,
            "wrap": wiring.wrap.view(np.uint8),
            "direction": task.direction,
            "hops": task.hops,
            "phase": task.phase,
        }
        self.arrays = {name: cupy.asarray(np.ascontiguousarray(array)) for name, array in arrays.items()}
        self.measure_from = min(task.measure_from, NEVER)
        numbers = {
            "nodes": nodes,
            "ports": task.ports,
            "inputs": task.inputs,
            "transit": task.transit,
            "vcs": task.vcs,
            "directions": wiring.port_of.shape[1],
            "runs": task.hops.shape[1],
            "escape": task.escape,
            "buffer": task.buffer,
            "switching": task.switching,
            "memory": task.memory,
            "balanced": wiring.balanced,
            "adaptive": router.adaptive,
            "bubble": router.bubble,
            "transit_first": router.transit_first,
            "ejection": router.ejection_flits,
            "single": task.sending.max() == 1 and task.width.max(initial=1) == 1,
            "route_delay": router.route_delay,
            "vc_delay": router.vc_delay,
            "switch_delay": router.switch_delay,
            "credit_delay": router.credit_delay,
            "source_queue": -1 if router.source_queue is None else min(router.source_queue, NEVER),
            "measure_from": self.measure_from,
            "has_messages": task.batch.messages is not None,
            "decisions": task.detour.shape[1],
            "sees_all": task.sees_all,
            "threshold": task.threshold,
        }
        self.struct = filled("Network", self.arrays | numbers)

    def launch(self, experiments: int, state: int, *arguments: Any) -> None:
        """Launch experiments whose states take `state` bytes each.

        Each block has one experiment, in shared memory if it fits. Several blocks share an experiment if more threads
        run then.
        """
        nodes = self.task.nodes
        if nodes > THREADS:
            share = min(-(-nodes // SHARED_THREADS), self.at_once() // experiments)
            if share * SHARED_THREADS > THREADS:
                return self.advance_together((share * experiments,), (SHARED_THREADS,), arguments)
        threads = -(-min(nodes, THREADS) // cuda.WARP) * cuda.WARP
        if IN_SHARED and state <= self.gpu.shared:
            self.advance_in_shared.max_dynamic_shared_size_bytes = state
            return self.advance_in_shared((experiments,), (threads,), arguments, shared_mem=state)
        return self.advance((experiments,), (threads,), arguments)

    @cached_property
    def advance_together(self) -> Any:
        """The kernel for several blocks per experiment, compiled only if it is needed."""
        (kernel,) = self.gpu.kernels(SOURCE, "advance", together=True)
        return kernel

    def at_once(self) -> int:
        """Return the number of blocks of SHARED_THREADS that the device runs at once."""
        registers, most = getattr(self.advance, "num_regs", None), self.gpu.registers
        if not (registers and most):
            return self.gpu.multiprocessors * max(1, THREADS // SHARED_THREADS)  # one block of THREADS always fits
        fitting = cuda.blocks_that_fit(registers, SHARED_THREADS, most, self.gpu.warps)
        return self.gpu.multiprocessors * min(fitting, cuda.BLOCKS_AT_ONCE)


def turned(index: np.ndarray, ports: int, nodes: int) -> np.ndarray:
    """Turn indices node · ports + port into port · nodes + node, and swap the array's axes; −1 stays."""
    return np.where(index < 0, -1, index % ports * nodes + index // ports).T.astype(np.int32) if ports else index.T


class Round:
    """Experiments that run together on the device."""

    def __init__(self, network: Network, experiments: list[Experiment]) -> None:
        self.network, self.task, self.experiments = network, network.task, experiments
        task, cupy = network.task, network.cupy
        packets = sum(experiment.end - experiment.begin for experiment in experiments)
        shortest = min(experiment.shortest for experiment in experiments)
        waits = np.sum([waiting(experiment) for experiment in experiments], axis=0).tolist()
        how: dict[str, Any] = {"detours": task.detour.shape[1]}
        _, of_packets = layout(task.wiring, task.router, packets, task.hops.shape[1], shortest, *waits, **how)
        self.parts, size = parts(task.wiring, task.router, shortest, **how)
        start = at_start(task, experiments, of_packets)
        self.state = cupy.zeros((len(experiments), size // 8), np.int64)
        self.state[...] = cupy.asarray(state_at_start(task, self.parts, size).view(np.int64))
        for name in ("experiment", "nodes"):
            self.columns(name)[...] = cupy.asarray(start[name].reshape(len(experiments), -1))
        self.of_packets = self.packets_at_start(of_packets["packets"], start["message"])
        for name, shape in of_packets.items():
            if name not in self.of_packets:
                self.of_packets[name] = cupy.asarray(start[name]) if name in start else cupy.zeros(*shape)
        numbers = {
            "bytes": size,
            **{f"to_{name}": part.begin for name, part in self.parts.items()},
            "arrival_slots": self.parts["arrivals"].shape[0],
            "credit_slots": self.parts["credits"].shape[0],
            "places": self.parts["queue"].shape[-1],
        }
        self.struct = filled("Round", {"states": self.state.view(np.uint8), **self.of_packets, **numbers})

    def packets_at_start(self, shape: tuple[Any, Any], message: np.ndarray) -> dict[str, Any]:
        """Return the packets' records, their hops left and their detours, made on the device so that fewer bytes are
        copied. message: int32[M], the message of each packet, or empty.
        """
        task, cupy, field = self.task, self.network.cupy, fields("Packet")
        own = slice(self.experiments[0].begin, self.experiments[-1].end)
        packets = cupy.full(shape[0], -1, shape[1])
        row = cupy.asarray(task.batch.row[own])
        for name, column in (("row", row), ("time", task.batch.time[own]), ("length", task.batch.length[own])):
            packets[:, field[name]] = cupy.asarray(column)
        if len(message):
            packets[:, field["message"]] = cupy.asarray(message)
        return {
            "packets": packets,
            "left": self.network.arrays["hops"][row],
            "detour": cupy.asarray(task.detour[own]),
        }

    def columns(self, name: str) -> Any:
        """Return an array of the experiments' states on the device: a row for each experiment, not copied."""
        part = self.parts[name]
        return self.state.view(part.dtype)[:, part.begin // part.dtype.itemsize : part.end // part.dtype.itemsize]

    def of_experiments(self, name: str) -> Any:
        """Return a view of an array of the experiments' states in its own shape, for reading."""
        return self.columns(name).reshape(len(self.experiments), *self.parts[name].shape)

    def undelivered(self) -> np.ndarray:
        """Return how many packets of every experiment are neither delivered nor refused. Waits for the device."""
        return self.columns("experiment")[:, fields("Experiment")["undelivered"]].get()

    def outcomes(self) -> list[Outcome]:
        """Run all experiments and return the outcome of each."""
        task = self.task
        waits: dict[int, Wait] = {}
        ran = np.zeros(len(self.experiments), np.int64)
        running, t = np.flatnonzero(self.undelivered() > 0), 0
        while t < task.cycles and len(running):
            stop = min(t // task.stall * task.stall + task.stall, t + WINDOW, task.cycles)
            self.run(running, t, stop)
            t = stop
            ran[running] = t
            if t % task.stall == 0:
                waits |= {e: wait for e in self.still(running, t) if (wait := self.deadlock(e, t))[0]}
            left = self.undelivered()
            running = np.array([e for e in running if left[e] > 0 and e not in waits], np.int64)
        return self.gathered(ran, waits)

    def run(self, running: np.ndarray, t: int, stop: int) -> None:
        """Launch the cycles t … stop − 1 of the running experiments."""
        network = self.network
        which = network.cupy.asarray(running.astype(np.int32))
        numbers = map(np.int32, (len(running), t, stop))
        network.launch(len(running), 8 * self.state.shape[1], network.struct, self.struct, which, *numbers)

    def still(self, running: np.ndarray, t: int) -> list[int]:
        """Return experiments that may be deadlocked: the front of some channel's VC has not moved in `stall` cycles."""
        vc = fields("Vc")
        channels = self.of_experiments("vcs")[:, : self.task.transit].reshape(len(self.experiments), -1, len(vc))
        still = (
            ((channels[..., vc["front"]] >= 0) & (channels[..., vc["moved"]] <= t - self.task.stall)).any(axis=1).get()
        )
        return running[still[running]].tolist()

    def deadlock(self, e: int, t: int) -> Wait:
        """Return the result of `outcome.deadlock` for experiment e."""
        experiment = self.experiments[e]
        begin = experiment.begin - self.experiments[0].begin
        own = slice(begin, begin + experiment.end - experiment.begin)
        now = snapshot(
            self.task, begin, *(self.of_experiments(name)[e].get() for name in ("vcs", "outs", "input_ports"))
        )
        return deadlock(
            self.task,
            experiment,
            now,
            travel(*(self.of_packets[name][own].get() for name in ("packets", "left", "crossed"))),
            t,
        )

    def gathered(self, ran: np.ndarray, waits: dict[int, Wait]) -> list[Outcome]:
        """Read the outcomes from the device, after `ran` cycles of each experiment."""
        task, vc, packet, message = self.task, *(fields(record) for record in ("Vc", "Packet", "Message"))
        arrived = {name: self.of_packets["packets"][:, packet[name]].get() for name in ("entered", "delivered")}
        messages = self.of_packets["messages"].get()
        flits, sums = self.of_experiments("flits").get().swapaxes(1, 2), self.of_experiments("sums").sum(axis=2).get()
        stored = self.of_experiments("vcs")[:, : task.transit, :, :, vc["count"]].sum(axis=(1, 2)).get()
        wires = np.bitwise_count(self.of_experiments("arrivals").get()).sum(axis=(1, 2, 3))
        undelivered = self.undelivered()
        outcomes, done = [], 0
        for e, experiment in enumerate(self.experiments):
            begin = experiment.begin - self.experiments[0].begin
            own = slice(begin, begin + experiment.end - experiment.begin)
            entered, delivered = arrived["entered"][own], arrived["delivered"][own]
            others = messages[done : done + waiting(experiment)[0]]
            done += len(others)
            generated = others[:, message["generated"]].copy()
            cycles = int(ran[e])
            if e not in waits and undelivered[e] == 0:
                last = max(int(delivered.max(initial=-1)) - task.router.switch_delay, int(generated.max(initial=-1)))
                cycles = min(last + 1, task.cycles) if len(delivered) + len(others) else 0
            generated[generated >= cycles] = -1
            occupancy = sums[e, : task.vcs] + stored[e] * max(cycles, self.network.measure_from)
            waits_for, stalled = waits.get(e, ([], -1))
            moved = int(sums[e, task.vcs]), int(sums[e, task.vcs + 1]), int(stored[e].sum()) + int(wires[e])
            outcomes.append(
                Outcome(entered, delivered, flits[e].ravel(), occupancy, generated, cycles, stalled, waits_for, *moved)
            )
        return outcomes
