"""Runs of the simulator: a call of the kernel simulates experiments with one setup and several loads and seeds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from torusweep_kernels.backend import GpuLost, gpu_count
from torusweep_kernels.router import Batch, Detours, Simulated, simulate, state_bytes

from torusweep.errors import BadInput, Refused
from torusweep.networks.names import name_of
from torusweep.networks.topology import default_memory
from torusweep.quantities import counted
from torusweep.questions.how import How
from torusweep.questions.simulation.injection import NUMBER_BITS
from torusweep.questions.simulation.packets import (
    Completion,
    Generator,
    Packets,
    completion_of,
    join_messages,
    route_words,
    workload_packets,
)
from torusweep.questions.simulation.routes import Draws, RouteRows, choosing_routes, routes_of
from torusweep.questions.simulation.setup import Setup
from torusweep.questions.simulation.statistics import Run
from torusweep.questions.stage import attempt
from torusweep.routing.faults import unrouted
from torusweep.routing.forms import SourceRouting

PACKET_BYTES = 160  # bytes of a packet while its route is drawn; later about 30
DETOUR_BYTES = 160  # bytes of each detour of a packet while it is drawn; later 4

USUALLY = How()
TOGETHER = 2**26  # bytes of packets and routers that points simulated together may take; with more, a CPU is slower
TOGETHER_ON_GPU = 2**29  # the same on a GPU: hundreds of experiments, since a block of threads runs each


class Experiment(NamedTuple):
    """One run of the simulator.

    load          flits per cycle per terminal; None: the run sends packets_each packets, or the setup's workload
    seed          seed of the random numbers
    packets_each  packets of every terminal, all generated in cycle 0
    """

    load: float | None
    seed: int
    packets_each: int = 0


class Outcome(NamedTuple):
    """The outcome of one experiment.

    run         the times of its packets
    use         float64[N, P]  flits per cycle over each channel during measurement
    occupancy   float64[V]     flits in the buffers of all virtual channels with the same number
    stalled     cycle since which a cyclic wait has blocked packets, −1 = no deadlock
    waiting     the channels of the cyclic wait, in order
    completion  completion of a workload's messages; None without a workload
    """

    run: Run
    use: np.ndarray
    occupancy: np.ndarray
    stalled: int
    waiting: list[str]
    completion: Completion | None = None


def run(
    setup: Setup, experiments: Sequence[Experiment], how: How = USUALLY, progress: Callable[[float], None] | None = None
) -> list[Outcome]:
    """Return the outcome of each experiment, which depends only on the experiment and the setup.

    how        contains the limit on the memory of packets and routers
    progress   called with the number of simulated experiments; an experiment in progress counts as a fraction
    Raises Refused if a single experiment does not fit into memory, BadInput for a load that cannot be injected.
    """
    done: list[Outcome] = []
    for group in groups_of(setup, experiments, how):
        before, size = len(done), len(group)
        part = None if progress is None else lambda share, before=before, size=size: progress(before + share * size)
        done += _run_group([(setup, one) for one in group], how, part)
        if progress is not None:
            progress(len(done))
    return done


def likeness(setup: Setup) -> Hashable:
    """Return a key that is equal for setups whose experiments may share a call of the kernel, with one wiring."""
    parameters = setup.parameters
    return id(setup.wiring), setup.router, setup.cycles, parameters.warm_up, setup.workload is None


def run_many(
    requests: Sequence[tuple[Setup, Sequence[Experiment]]], how: How = USUALLY
) -> Iterator[list[Outcome] | Exception]:
    """Yield what `run` would return or raise for each of several similar setups (`likeness`).

    Experiments that fit into memory together run in lockstep, in one call of the kernel.
    """
    most = TOGETHER_ON_GPU if how.backend in ("auto", "cupy") and gpu_count() else TOGETHER
    limit = min(most, default_memory() if how.memory is None else how.memory)
    sizes = [sum(bytes_of(setup, experiments)) for setup, experiments in requests]
    place = 0
    while place < len(requests):
        end, taken = place + 1, sizes[place]
        while end < len(requests) and taken + sizes[end] <= limit:
            end, taken = end + 1, taken + sizes[end]
        yield from _run_together(requests[place:end], how)
        place = end


def _run_together(
    requests: Sequence[tuple[Setup, Sequence[Experiment]]], how: How
) -> Iterator[list[Outcome] | Exception]:
    if len(requests) > 1:
        try:
            found = iter(_run_group([(setup, one) for setup, some in requests for one in some], how))
        except GpuLost as lost:  # no later call of this process would work
            yield from [lost] * len(requests)
            return
        except Exception:  # of one setup, or of their common demand: run them one by one, so that each has its own
            pass
        else:
            yield from ([next(found) for _ in some] for _, some in requests)
            return
    for setup, some in requests:
        yield attempt(partial(run, setup, some, how))


def groups_of(setup: Setup, experiments: Sequence[Experiment], how: How) -> list[list[Experiment]]:
    """Divide experiments into successive groups that fit into memory. Raises Refused if one alone does not fit."""
    memory = default_memory() if how.memory is None else how.memory
    groups: list[list[Experiment]] = []
    free = 0
    for one, needed in zip(experiments, bytes_of(setup, experiments)):
        if needed > memory:
            subject = "its packets" if one.load is None else f"{setup.cycles:,} cycles"
            raise Refused(
                f"simulation of {setup.topology.spelling}: {subject} need about {needed / 2**30:.1f} GiB;"
                f" the limit is {memory / 2**30:.1f} GiB: choose fewer cycles or packets, a lower load or a smaller"
                " network"
            )
        if not groups or needed > free:
            groups.append([])
            free = memory
        groups[-1].append(one)
        free -= needed
    return groups


def bytes_of(setup: Setup, experiments: Sequence[Experiment]) -> list[int]:
    """Return the approximate memory, in bytes, of each experiment."""
    detours = 0 if setup.choosing is None else 1 + setup.choosing.later
    shortest = setup.lengths.shortest if setup.workload is None else 1
    routers = state_bytes(setup.wiring, setup.router, packets=1, runs=1, shortest=shortest, detours=detours)
    routers += 8 * setup.topology.ports.size  # 8 bytes count the flits of a channel
    of_packet = PACKET_BYTES + DETOUR_BYTES * detours
    return [int(of_packet * _packets(setup, one) * 1.1) + routers for one in experiments]


def _packets(setup: Setup, one: Experiment) -> float:
    """Return the expected number of packets of an experiment."""
    terminals, workload = len(setup.topology.terminals), setup.workload
    if workload is not None:
        return float((-(-workload.flits // setup.flits)).sum() + len(workload.flits) + len(workload.waits))
    if one.load is None:
        return one.packets_each * terminals
    return one.load * terminals * setup.cycles / setup.lengths.mean


def _run_group(
    experiments: Sequence[tuple[Setup, Experiment]], how: How, progress: Callable[[float], None] | None = None
) -> list[Outcome]:
    """Return the outcomes of experiments with similar setups (`likeness`), from one call of the kernel."""
    generated = [_generated(setup, one, how.backend) for setup, one in experiments]

    def draws(purpose: int) -> np.ndarray:
        words = [
            route_words(packets.number, purpose, one.seed, how.backend)
            for packets, (_, one) in zip(generated, experiments)
        ]
        return np.concatenate(words, axis=1)

    source, destination, time = (
        np.concatenate([getattr(packets, name) for packets in generated]) for name in ("source", "destination", "time")
    )
    setup, one = experiments[0]
    rows, detours = _routes(setup, source, destination, draws)
    before = np.concatenate([[0], np.cumsum([len(packets.time) for packets in generated])])
    batch = Batch(
        first=np.stack([packets.first + begin for packets, begin in zip(generated, before)]).astype(np.int64),
        time=time,
        row=rows.row,
        length=np.concatenate([packets.length for packets in generated]),
        destination=destination,
        messages=join_messages([packets.messages for packets in generated if packets.messages is not None], before[:-1])
        if setup.workload
        else None,
        detours=detours,
    )
    try:
        found = simulate(
            *(setup.wiring, setup.router, rows.direction, rows.hops, rows.phase, batch),
            cycles=setup.cycles,
            measure_from=_measure_from(setup, one),
            backend=how.backend,
            threads=how.threads,
            progress=progress,
        )
    except ValueError as refusal:
        raise BadInput(f"simulation of {setup.topology.spelling}: {refusal}") from None
    return [_outcome(*experiments[e], generated[e], found, batch, e) for e in range(len(experiments))]


def _outcome(setup: Setup, one: Experiment, packets: Packets, found: Simulated, batch: Batch, e: int) -> Outcome:
    """Return the outcome of experiment number `e` of a batch."""
    own = slice(int(batch.first[e, 0]), int(batch.first[e, -1]))
    stalled, delivered = int(found.stalled[e]), found.delivered[own]
    end = setup.cycles if stalled < 0 else int(found.ran[e])
    if one.load is None:  # the run ends with the last delivery
        end = max(int(found.ran[e]), int(delivered.max(initial=0)) + 1)
    time, local, local_length, completion = packets.time, packets.local, packets.local_length, None
    # in an incomplete batch, local packets do not count: delivered in cycle 0, they would inflate the accepted load
    if one.packets_each and (delivered < 0).any():
        local, local_length = local[:0], local_length[:0]
    if batch.messages is not None:
        completion = completion_of(packets, found.generated[slice(*batch.messages.first[e : e + 2])], delivered)
        sent = completion.sent[packets.number >> NUMBER_BITS]
        time = np.where(sent < 0, end, sent)  # a message that is never sent does not count
    done = Run(
        time, found.entered[own], delivered, local, local_length, packets.length, len(setup.topology.terminals), end
    )
    use = found.flits[e] / max(end - _measure_from(setup, one), 1)
    waiting = [] if stalled < 0 else [channel_words(setup, *channel) for channel in found.waiting[e]]
    return Outcome(done, use, found.occupancy[e], stalled, waiting, completion)


def _routes(
    setup: Setup, source: np.ndarray, destination: np.ndarray, draws: Draws
) -> tuple[RouteRows, Detours | None]:
    """Draw a route for every packet, and detours that a packet may choose instead; None if there are no detours."""
    choosing = setup.choosing
    if choosing is None:
        return routes_of(setup.routing, source, destination, draws), None
    found = choosing_routes(choosing, source, destination, draws)
    rows = RouteRows(found.direction, found.hops, found.phase, found.row)
    return rows, Detours(found.detour, choosing.view, choosing.threshold) if found.detour.shape[1] else None


def _generated(setup: Setup, one: Experiment, backend: str) -> Packets:
    injection = str(setup.parameters.injection)
    if setup.workload is not None:
        placement = str(setup.parameters.placement)
        packets = workload_packets(setup.workload, setup.topology, placement, setup.flits, one.seed, backend)
        _expect_routes(setup, packets)
        return packets
    generator = Generator(
        setup.topology, setup.traffic, lengths=setup.lengths, seed=one.seed, injection=injection, backend=backend
    )
    return generator.each(one.packets_each) if one.load is None else generator.at_load(one.load, setup.cycles)


def _expect_routes(setup: Setup, packets: Packets) -> None:
    """Raise BadInput for a message between nodes without a route: messages that depend on it would never be sent."""
    nodes = setup.topology.nodes
    pairs = np.unique(packets.source.astype(np.int64) * nodes + packets.destination)
    broken = pairs[np.isin(pairs, np.concatenate(unrouted(setup.routing)))]
    if len(broken):
        one, other = (name_of(setup.topology, node) for node in divmod(int(broken[0]), nodes))
        others = f", nor for {counted(len(broken) - 1, 'other pair')}" if len(broken) > 1 else ""
        raise BadInput(
            f"routing {setup.parameters.routing} on {setup.topology.spelling}: expected a route for every message of"
            f" the workload, got none from {one} to {other}{others}; choose a routing that reaches all"
        )


def _measure_from(setup: Setup, one: Experiment) -> int:
    """Return the cycle from which channels count flits: the end of a given warm-up, or half of a run at a load."""
    if one.load is None:
        return 0
    warm_up = setup.parameters.warm_up
    return setup.cycles // 2 if warm_up is None else warm_up


def channel_words(setup: Setup, node: int, port: int, channel: int) -> str:
    """Describe a virtual channel in words: node, its digits, direction, virtual channel."""
    radices, digits, rest = setup.topology.plan.radices, [], int(node)
    for side in radices:
        rest, digit = divmod(rest, side)
        digits.append(str(digit))
    where = f"to {setup.topology.ports[node, port]}"
    if isinstance(setup.routing, SourceRouting):
        moves = setup.routing.moves
        d = int(np.flatnonzero(moves.port[node] == port)[0])
        where = f"{moves.names[d // 2]}{'-' if d % 2 else '+'}"
    return f"{node} ({','.join(digits)}) {where} vc{channel}"
