"""The time and the bandwidth of a collective operation, from the channel loads of its phases.

Times are in cycles per flit of message, for messages so long that bandwidth dominates: they do not include the
latency of the steps. Bandwidths are in flits per cycle and terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torusweep.traffic import Phase


class PhaseTime(NamedTuple):
    """The time of a phase.

    name, volume, steps       as in `Phase`
    max_channel_load          of the busiest channel
    cycles_per_flit           of message, limited by channels
    terminal_cycles_per_flit  of message, limited by channels and terminals
    """

    name: str
    volume: float
    steps: int
    max_channel_load: float
    cycles_per_flit: float
    terminal_cycles_per_flit: float


class CollectiveLoads(NamedTuple):
    """The time and the bandwidths of an operation, a sequence of phases.

    cycles_per_flit       time of all phases, if channels carry at most one flit per cycle
    algorithm_bandwidth   its reciprocal: message length over time
    bus_bandwidth         2 (N − 1)/N of that: the least that each terminal must send, over time
    terminal_…            the same if each terminal also sends and receives at most one flit per cycle
    """

    phases: tuple[PhaseTime, ...]
    cycles_per_flit: float
    algorithm_bandwidth: float
    bus_bandwidth: float
    terminal_cycles_per_flit: float
    terminal_algorithm_bandwidth: float
    terminal_bus_bandwidth: float


def collective(phases: Sequence[Phase], max_loads: Sequence[float]) -> CollectiveLoads:
    """The time of an all-reduce and its bandwidths, from the maximum channel load of each phase.

    phases     Traffic.phases, in sequence
    max_loads  of each phase: flits per cycle over the busiest channel, at one flit per terminal and cycle on average
    Raises ValueError where the two have different lengths.
    Source: bus bandwidth by the convention of NVIDIA's nccl-tests (doc/PERFORMANCE.md, AllReduce).
    """
    times = tuple(_time(phase, load) for phase, load in zip(phases, max_loads, strict=True))
    terminals = len(phases[0].traffic.common)
    least = 2 * (terminals - 1) / terminals
    by_channels = sum(time.cycles_per_flit for time in times)
    with_terminals = sum(time.terminal_cycles_per_flit for time in times)
    return CollectiveLoads(
        times,
        by_channels,
        1 / by_channels,
        least / by_channels,
        with_terminals,
        1 / with_terminals,
        least / with_terminals,
    )


def _time(phase: Phase, load: float) -> PhaseTime:
    """A phase lasts until the busiest channel, or the busiest terminal, has carried all its flits."""
    terminal = max(load, float(phase.traffic.received().max()), float(phase.traffic.sent().max()))
    return PhaseTime(phase.name, phase.volume, phase.steps, load, phase.volume * load, phase.volume * terminal)
