"""Runs of the simulator: one call of the kernel simulates experiments of one setup with several loads and seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from torusweep_kernels.router import Batch, Detours, simulate, state_bytes

from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import default_memory
from torusweep.routing.forms import SourceRouting
from torusweep.stages.simulation.detours import choosing_routes
from torusweep.stages.simulation.injection import NUMBER_BITS
from torusweep.stages.simulation.layered_routes import Draws
from torusweep.stages.simulation.packets import Generator, Packets, route_words
from torusweep.stages.simulation.placement import Completion, completion_of, join_messages, workload_packets
from torusweep.stages.simulation.routes import RouteRows, routes_of
from torusweep.stages.simulation.setup import Setup
from torusweep.stages.simulation.statistics import Run

PACKET_BYTES = 160  # of a packet while its route is drawn; later about 30
DETOUR_BYTES = 160  # of each detour of a packet, while it is drawn; later 4


class Experiment(NamedTuple):
    """One run.

    load          flits per terminal and cycle; None: packets_each, or the setup's workload
    seed          of its random numbers
    packets_each  packets of every terminal, all generated in cycle 0
    """

    load: float | None
    seed: int
    packets_each: int = 0


class Outcome(NamedTuple):
    """The outcome of an experiment.

    run         the times of its packets
    use         float64[N, P]  flits per cycle over each channel during measurement
    occupancy   float64[V]     flits in all buffers of a virtual channel
    stalled     the cycle since which a cyclic wait blocks packets, −1 = no deadlock
    waiting     the channels of the cyclic wait, in order
    completion  of a workload's messages
    """

    run: Run
    use: np.ndarray
    occupancy: np.ndarray
    stalled: int
    waiting: list[str]
    completion: Completion | None = None


def run(
    setup: Setup,
    experiments: Sequence[Experiment],
    *,
    backend: str = "auto",
    threads: int | None = None,
    memory: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Outcome]:
    """The outcome of each experiment, which depends only on the experiment and the setup.

    memory     limit for packets and routers in bytes; None: half of the machine's memory
    progress   receives the number of simulated experiments, a fraction for those in progress
    Raises Refused where a single experiment does not fit, BadInput for a load that cannot be injected.
    """
    done: list[Outcome] = []
    for group in _groups(setup, experiments, default_memory() if memory is None else memory):
        before, size = len(done), len(group)
        part = None if progress is None else lambda share, before=before, size=size: progress(before + share * size)
        done += _run_group(setup, group, backend, threads, part)
        if progress is not None:
            progress(len(done))
    return done


def _groups(setup: Setup, experiments: Sequence[Experiment], memory: int) -> Iterator[list[Experiment]]:
    """Groups of successive experiments that fit into memory together."""
    group: list[Experiment] = []
    group_bytes = 0
    for one in experiments:
        needed = bytes_of(setup, one)
        if needed > memory:
            subject = "its packets" if one.load is None else f"{setup.cycles:,} cycles"
            raise Refused(
                f"simulation of {setup.topology.spelling}: {subject} need about {needed / 2**30:.1f} GiB;"
                f" the limit is {memory / 2**30:.1f} GiB: choose fewer cycles or packets, a lower load or a smaller"
                " network"
            )
        if group and group_bytes + needed > memory:
            yield group
            group, group_bytes = [], 0
        group.append(one)
        group_bytes += needed
    if group:
        yield group


def bytes_of(setup: Setup, one: Experiment) -> int:
    """Approximate memory of an experiment."""
    topology, terminals, workload = setup.topology, len(setup.topology.terminals), setup.workload
    if workload is not None:
        packets = float((-(-workload.flits // setup.flits)).sum() + len(workload.flits) + len(workload.waits))
    elif one.load is None:
        packets = one.packets_each * terminals
    else:
        packets = one.load * terminals * setup.cycles / setup.lengths.mean
    shortest = setup.lengths.shortest if setup.workload is None else 1
    detours = 0 if setup.choosing is None else 1 + setup.choosing.later
    routers = state_bytes(setup.wiring, setup.router, packets=1, runs=1, shortest=shortest, detours=detours)
    of_packet = PACKET_BYTES + DETOUR_BYTES * detours
    return int(of_packet * packets * 1.1) + routers + 8 * topology.ports.size  # 8 bytes count the flits of a channel


def _run_group(
    setup: Setup,
    experiments: Sequence[Experiment],
    backend: str,
    threads: int | None,
    progress: Callable[[float], None] | None,
) -> list[Outcome]:
    generated = [_generated(setup, one, backend) for one in experiments]

    def draws(purpose: int) -> np.ndarray:
        words = [
            route_words(packets.number, purpose, one.seed, backend) for packets, one in zip(generated, experiments)
        ]
        return np.concatenate(words, axis=1)

    source, destination, time = (
        np.concatenate([getattr(packets, name) for packets in generated]) for name in ("source", "destination", "time")
    )
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
    cycles, measure_from = setup.cycles, 0 if experiments[0].load is None else _measure_from(setup)
    options: dict[str, Any] = {"backend": backend, "threads": threads, "progress": progress}
    try:
        found = simulate(
            *(setup.wiring, setup.router, rows.direction, rows.hops, rows.phase, batch),
            cycles=cycles,
            measure_from=measure_from,
            **options,
        )
    except ValueError as refusal:
        raise BadInput(f"simulation of {setup.topology.spelling}: {refusal}") from None
    outcomes = []
    for e, (one, packets) in enumerate(zip(experiments, generated)):
        own = slice(before[e], before[e + 1])
        stalled, delivered = int(found.stalled[e]), found.delivered[own]
        end = cycles if stalled < 0 else int(found.ran[e])
        if one.load is None:  # the run ends with the last delivery
            end = max(int(found.ran[e]), int(delivered.max(initial=0)) + 1)
        time, local, local_length, completion = packets.time, packets.local, packets.local_length, None
        # of an incomplete batch, local packets do not count: delivered in cycle 0, they would inflate the accepted load
        if one.packets_each and (delivered < 0).any():
            local, local_length = local[:0], local_length[:0]
        if batch.messages is not None:
            completion = completion_of(packets, found.generated[slice(*batch.messages.first[e : e + 2])], delivered)
            sent = completion.sent[packets.number >> NUMBER_BITS]
            time = np.where(sent < 0, end, sent)  # a message that is never sent does not count
        done = Run(
            time,
            found.entered[own],
            delivered,
            local,
            local_length,
            packets.length,
            len(setup.topology.terminals),
            end,
        )
        use = found.flits[e] / max(end - measure_from, 1)
        waiting = [] if stalled < 0 else [channel_words(setup, *channel) for channel in found.waiting[e]]
        outcomes.append(Outcome(done, use, found.occupancy[e], stalled, waiting, completion))
    return outcomes


def _routes(
    setup: Setup, source: np.ndarray, destination: np.ndarray, draws: Draws
) -> tuple[RouteRows, Detours | None]:
    """A route of every packet, and the detours between which and it the packet chooses."""
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
        return workload_packets(setup.workload, setup.topology, placement, setup.flits, one.seed, backend)
    generator = Generator(
        setup.topology, setup.traffic, lengths=setup.lengths, seed=one.seed, injection=injection, backend=backend
    )
    return generator.each(one.packets_each) if one.load is None else generator.at_load(one.load, setup.cycles)


def _measure_from(setup: Setup) -> int:
    """The cycle from which channels count their flits: the end of a given warm-up, or half of the run."""
    warm_up = setup.parameters.warm_up
    return setup.cycles // 2 if warm_up is None else warm_up


def channel_words(setup: Setup, node: int, port: int, channel: int) -> str:
    """A virtual channel in words: node, its digits, direction, virtual channel."""
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
