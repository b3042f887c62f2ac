"""How long a collective operation takes, and the bandwidth that it reaches, from the loads of its phases.

Times are in cycles per flit of message, of messages so long that only bandwidth counts: the latency
of each step is left out. Bandwidths are in flits per cycle and terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torusweep.traffic import Phase


class PhaseTime(NamedTuple):
    """name, volume, steps: as in `Phase`; the busiest channel's load; cycles per flit of message, by channels and with terminals."""

    name: str
    volume: float
    steps: int
    max_channel_load: float
    cycles_per_flit: float
    terminal_cycles_per_flit: float


class Collective(NamedTuple):
    """An operation as the sequence of its phases.

    cycles_per_flit       time of all phases, where only channels are limited to one flit per cycle
    algorithm_bandwidth   its reciprocal: message over time
    bus_bandwidth         2 (N − 1)/N of that: what each terminal must send at least, over time
    terminal_…            the same where each terminal sends, and receives, one flit per cycle at most too
    """

    phases: tuple[PhaseTime, ...]
    cycles_per_flit: float
    algorithm_bandwidth: float
    bus_bandwidth: float
    terminal_cycles_per_flit: float
    terminal_algorithm_bandwidth: float
    terminal_bus_bandwidth: float


def collective(phases: Sequence[Phase], max_loads: Sequence[float]) -> Collective:
    """The time of an all-reduce and its bandwidths, from the largest channel load of each of its phases.

    phases     Traffic.phases, one after the other
    max_loads  of each: flits per cycle over the busiest channel, at one flit sent per terminal and cycle in the mean
    Raises ValueError where they are not as many.
    Source: bus bandwidth by the convention of NVIDIA's nccl-tests (doc/PERFORMANCE.md, AllReduce).
    """
    times = tuple(_time(phase, load) for phase, load in zip(phases, max_loads, strict=True))
    terminals = len(phases[0].traffic.common)
    least = 2 * (terminals - 1) / terminals
    by_channels = sum(time.cycles_per_flit for time in times)
    with_terminals = sum(time.terminal_cycles_per_flit for time in times)
    return Collective(
        times,
        by_channels,
        1 / by_channels,
        least / by_channels,
        with_terminals,
        1 / with_terminals,
        least / with_terminals,
    )


def _time(phase: Phase, load: float) -> PhaseTime:
    """A phase lasts until the busiest channel, or the busiest terminal, has passed on all its flits."""
    terminal = max(load, float(phase.traffic.received().max()), float(phase.traffic.sent().max()))
    return PhaseTime(phase.name, phase.volume, phase.steps, load, phase.volume * load, phase.volume * terminal)
