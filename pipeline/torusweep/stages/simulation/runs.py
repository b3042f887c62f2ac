"""Experiments of one setup, run together: loads and seeds side by side in one call of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from torusweep_kernels.router import Batch, simulate, state_bytes

from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import default_memory
from torusweep.routing.forms import SourceRouting
from torusweep.stages.simulation.injection import NUMBERED
from torusweep.stages.simulation.packets import Generator, Packets, route_words
from torusweep.stages.simulation.placement import Completion, completed, placed, together
from torusweep.stages.simulation.routes import routes_of
from torusweep.stages.simulation.setup import Setup
from torusweep.stages.simulation.statistics import Run

PACKET_BYTES = 160  # that a packet takes while its route is drawn; afterwards about 30


class Experiment(NamedTuple):
    """One run: a load, in flits per terminal and cycle, or so many packets of every terminal at once, or the setup's workload; and a seed."""

    load: float | None
    seed: int
    packets_each: int = 0


class Outcome(NamedTuple):
    """run: when its packets were generated and arrived; use: float64[N, P], flits per cycle over each channel while measuring;
    occupancy: float64[V], flits in all buffers of a virtual channel; stalled: the cycle since which the packets of a cyclic wait did
    not move, −1 = there is none; waiting: its channels, in order; completion: of a workload's messages."""

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
    """Every experiment's outcome, which depends on it and the setup alone.

    memory     bytes that packets and routers may take; half the machine's where None
    progress   is told how many experiments have been simulated, those under way by their share
    Raises Refused where a single experiment does not fit, BadInput for a load that cannot be injected.
    """
    done: list[Outcome] = []
    for group in _fitting(setup, experiments, default_memory() if memory is None else memory):
        before, many = len(done), len(group)
        part = None if progress is None else lambda share, before=before, many=many: progress(before + share * many)
        done += _together(setup, group, backend, threads, part)
        if progress is not None:
            progress(len(done))
    return done


def _fitting(setup: Setup, experiments: Sequence[Experiment], memory: int) -> Iterator[list[Experiment]]:
    """Groups of experiments that fit into memory together."""
    group: list[Experiment] = []
    taken = 0
    for one in experiments:
        needed = bytes_of(setup, one)
        if needed > memory:
            raise Refused(
                f"simulation of {setup.topology.spelling}: {'its packets' if one.load is None else f'{setup.cycles:,} cycles'} need about"
                f" {needed / 2**30:.1f} GiB; the limit is {memory / 2**30:.1f} GiB: choose fewer cycles or packets, a lower load or a smaller network"
            )
        if group and taken + needed > memory:
            yield group
            group, taken = [], 0
        group.append(one)
        taken += needed
    if group:
        yield group


def bytes_of(setup: Setup, one: Experiment) -> int:
    """Bytes that an experiment takes, about."""
    topology, terminals = setup.topology, len(setup.topology.terminals)
    if setup.workload is not None:
        packets = float(
            (-(-setup.workload.flits // setup.flits)).sum() + len(setup.workload.flits) + len(setup.workload.waits)
        )
    else:
        packets = (
            one.packets_each * terminals if one.load is None else one.load * terminals * setup.cycles / setup.flits
        )
    shortest = setup.flits if setup.workload is None else 1
    routers = state_bytes(setup.wiring, setup.router, packets=1, runs=1, shortest=shortest)
    return int(PACKET_BYTES * packets * 1.1) + routers + 8 * topology.ports.size  # of the channels, their flits


def _together(
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
    rows = routes_of(setup.routing, source, destination, draws)
    before = np.concatenate([[0], np.cumsum([len(packets.time) for packets in generated])])
    batch = Batch(
        first=np.stack([packets.first + begin for packets, begin in zip(generated, before)]).astype(np.int64),
        time=time,
        row=rows.row,
        length=np.concatenate([packets.length for packets in generated]),
        destination=destination,
        messages=together([packets.messages for packets in generated if packets.messages is not None], before[:-1])
        if setup.workload
        else None,
    )
    cycles, measured = setup.cycles, 0 if experiments[0].load is None else _measured_from(setup)
    how: dict[str, Any] = {
        "cycles": cycles,
        "measure_from": measured,
        "backend": backend,
        "threads": threads,
        "progress": progress,
    }
    try:
        found = simulate(setup.wiring, setup.router, rows.direction, rows.hops, rows.phase, batch, **how)
    except ValueError as refusal:
        raise BadInput(f"simulation of {setup.topology.spelling}: {refusal}") from None
    outcomes = []
    for e, (one, packets) in enumerate(zip(experiments, generated)):
        own = slice(before[e], before[e + 1])
        stalled, delivered = int(found.stalled[e]), found.delivered[own]
        end = cycles if stalled < 0 else int(found.ran[e])
        if one.load is None:  # it ends when all is delivered
            end = max(int(found.ran[e]), int(delivered.max(initial=0)) + 1)
        time, local, completion = packets.time, packets.local, None
        if (
            one.packets_each and (delivered < 0).any()
        ):  # all at once in cycle 0, they would pass for what the network carried until it was stopped
            local = local[:0]
        if batch.messages is not None:
            completion = completed(packets, found.generated[slice(*batch.messages.first[e : e + 2])], delivered)
            sent = completion.sent[packets.number >> NUMBERED]
            time = np.where(sent < 0, end, sent)  # what is never sent does not count
        done = Run(
            time,
            found.entered[own],
            delivered,
            local,
            setup.flits if completion is None else packets.length,
            len(setup.topology.terminals),
            end,
        )
        use = found.flits[e] / max(end - measured, 1)
        waiting = [] if stalled < 0 else [shown(setup, *channel) for channel in found.waiting[e]]
        outcomes.append(Outcome(done, use, found.occupancy[e], stalled, waiting, completion))
    return outcomes


def _generated(setup: Setup, one: Experiment, backend: str) -> Packets:
    injection = str(setup.parameters.injection)
    if setup.workload is not None:
        return placed(setup.workload, setup.topology, str(setup.parameters.placement), setup.flits, one.seed, backend)
    generator = Generator(
        setup.topology, setup.traffic, flits=setup.flits, seed=one.seed, injection=injection, backend=backend
    )
    return generator.each(one.packets_each) if one.load is None else generator.at_load(one.load, setup.cycles)


def _measured_from(setup: Setup) -> int:
    """The cycle from which flits over channels are counted: after a warm-up that is given, or in the second half."""
    given = setup.parameters.warm_up
    return setup.cycles // 2 if given is None else given


def shown(setup: Setup, node: int, port: int, channel: int) -> str:
    """A virtual channel as people read it: node, its digits, direction, virtual channel."""
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
