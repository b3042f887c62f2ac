"""Channel loads under one traffic pattern, and the rows of the table `channel_loads`.

The channel loads of each phase give the time and the bandwidth of a collective operation.

Times are in cycles per flit of message, for messages so long that bandwidth dominates: they do not include the
latency of the steps. Bandwidths are in flits per cycle per terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from torusweep.networks.physical import terminal_rates
from torusweep.networks.topology import Topology
from torusweep.questions.loads.columns import CHANNEL_LOADS, CHANNEL_NAMES, CHANNEL_RATES
from torusweep.tables.columns import arrow_schema
from torusweep.traffic import Phase, Traffic
from torusweep.traffic.given import NOTHING, Lost

ROUNDING = 1e-12  # relative rounding error of a load, and of a sum of loads


class PhaseTime(NamedTuple):
    """The time of one phase of a collective operation.

    name, volume, steps       as in `Phase`
    max_channel_load          load of the busiest channel
    cycles_per_flit           cycles per flit of message, limited by channels
    terminal_cycles_per_flit  cycles per flit of message, limited by channels and terminals
    """

    name: str
    volume: float
    steps: int
    max_channel_load: float
    cycles_per_flit: float
    terminal_cycles_per_flit: float


class CollectiveLoads(NamedTuple):
    """The time and the bandwidths of a collective operation, which is a sequence of phases.

    cycles_per_flit       time of all phases, if channels carry at most one flit per cycle
    algorithm_bandwidth   1 / cycles_per_flit: message length divided by time
    bus_bandwidth         2 (N − 1)/N · algorithm_bandwidth: the least data that a terminal must send, divided by time
    terminal_…            the same quantity if each terminal also sends and receives at most one flit per cycle
    """

    phases: tuple[PhaseTime, ...]
    cycles_per_flit: float
    algorithm_bandwidth: float
    bus_bandwidth: float
    terminal_cycles_per_flit: float
    terminal_algorithm_bandwidth: float
    terminal_bus_bandwidth: float


def collective(phases: Sequence[Phase], max_loads: Sequence[float]) -> CollectiveLoads:
    """Return the time and the bandwidths of an all-reduce, given the maximum channel load of each phase.

    phases     Traffic.phases, in sequence
    max_loads  flits per cycle over each phase's busiest channel, at one flit per cycle per terminal on average
    Raises ValueError if `phases` and `max_loads` have different lengths.
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
    """Return the time of a phase: until the busiest channel or terminal has carried all its flits."""
    terminal = max(load, float(phase.traffic.received().max()), float(phase.traffic.sent().max()))
    return PhaseTime(phase.name, phase.volume, phase.steps, load, phase.volume * load, phase.volume * terminal)


class MaximumEstimate(NamedTuple):
    """The accuracy of a maximum load that was estimated from sampled packets.

    stderr      standard error of the maximum load, from batches of packets
    low         another estimate: the channel with the largest load on one half of the packets is measured on the other
                half. It is biased downwards, while the maximum load is biased upwards
    low_stderr  standard error of low
    packets     number of sampled packets
    seed        seed of the sample
    """

    stderr: float
    low: float
    low_stderr: float
    packets: int
    seed: int


class Channel(NamedTuple):
    """A channel from node `tail` to node `head`, named as in the graph, and its load at 1 flit/cycle/terminal."""

    tail: Any
    head: Any
    load: float
    link_class: str


class Bounds(NamedTuple):
    """Bounds for a network, routing and traffic: the columns with these names in the table `loads`.

    worst_permutation  int32[T], not a column: terminal s sends to terminal worst_permutation[s]; None: not sought
    """

    cut_links: int | None
    effective_cut_links: float | None
    capacity: float | None
    capacity_minimal: float | None
    worst_case_saturation_load: float | None
    bounds_method: str
    worst_permutation: np.ndarray | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """The fields that are columns, by name."""
        return {name: value for name, value in self._asdict().items() if name != "worst_permutation"}


NO_BOUNDS = Bounds(None, None, None, None, None, "")


class ChannelRates(NamedTuple):
    """Traffic over each channel and the channel's capacity, float64[A], in bits per second, as in `Topology.arcs`."""

    carried: np.ndarray
    capacity: np.ndarray

    @property
    def percent(self) -> np.ndarray:
        """Traffic over each channel in percent of its capacity, float64[A]."""
        return 100 * self.carried / self.capacity

    @property
    def over(self) -> int:
        """Number of channels whose traffic exceeds their capacity."""
        return int((self.percent > 100 * (1 + ROUNDING)).sum())


@dataclass(frozen=True, eq=False)
class ChannelLoads:
    """The load of every channel under one routing and traffic pattern.

    For a block, `topology` is its `BlockNumbers`, and numbers are arrays with an entry for each network.
    routing, traffic   canonical spellings
    load        float64[N, P]: load of each port's channel, divided by its bandwidth; 0 for ports without a channel
    mean_hops   mean hops per injected flit; a flit to its own source counts with 0 hops, or with Valiant's detour
    ejected     flits per cycle to the busiest terminal, divided by what it can receive, if terminals send 1 on average
    sent        flits per cycle from the busiest terminal, divided by what it can send, if terminals send 1 on average
    estimate    accuracy of sampled loads; None if the loads are exact
    collective  times of a collective operation; None for other traffic or sampled loads
    stretch     mean_hops divided by the mean over shortest paths; None if not computed, or if no flit moves
    lost        the pairs without a route, whose traffic is left out
    rate        bits per second that a terminal sends on average; None if not specified
    senders     number of multicast senders, which send one flit per cycle each; None if traffic is not multicast
    """

    topology: Topology
    routing: str
    traffic: str
    load: np.ndarray
    mean_hops: float
    ejected: float
    sent: float
    estimate: MaximumEstimate | None = None
    collective: CollectiveLoads | None = None
    stretch: float | None = None
    lost: Lost = NOTHING
    rate: float | None = None
    senders: int | None = None

    @property
    def injected(self) -> float:
        """Flits that enter the network per cycle: 1 per terminal less lost traffic, or 1 per sender of multicast."""
        if self.senders is not None:
            return self.senders
        return len(self.topology.terminals) * (1 - self.lost.lost_traffic)

    @cached_property
    def rates(self) -> ChannelRates | None:
        """Traffic and capacity of the channels in bits per second; None if demands or links have no unit."""
        topology, unit = self.topology, self.topology.plan.rate
        if self.rate is None or unit is None:
            return None
        tail, _, port = topology.arcs
        width = np.ones(len(tail)) if topology.bandwidth is None else topology.bandwidth[tail, port]
        capacity = width * float(unit)
        return ChannelRates(self.load[tail, port] * self.rate / float(unit) * capacity, capacity)


def at_terminals(topology: Topology, traffic: Traffic) -> tuple[float, float]:
    """Return the values of `ChannelLoads.ejected` and `ChannelLoads.sent` for a traffic pattern."""
    if not topology.plan.hosts_end:
        return float(traffic.received().max()), traffic.most_sent()
    out, into = terminal_rates(topology)
    flits = (traffic.received(), into), (traffic.sent(), out)
    ejected, sent = (
        float(np.divide(part, rate, out=np.zeros(len(rate)), where=rate > 0).max()) for part, rate in flits
    )
    return ejected, sent


def channel_table(loads: ChannelLoads) -> pa.Table:
    """Return the rows of the table `channel_loads`: every channel once, ordered by node and port."""
    topology = loads.topology
    tail, head, port = topology.arcs
    kind = topology.link_class[tail, port]
    names = pa.array([topology.class_name(number) for number in range(int(kind.max(initial=-1)) + 1)], pa.string())
    columns = {
        **{
            name: pa.repeat(value, len(tail))
            for name, value in zip(
                ("topology", "routing", "traffic"), (topology.spelling, loads.routing, loads.traffic)
            )
        },
        "from": tail.astype(np.int64),
        "to": head.astype(np.int64),
        "class": names.take(pa.array(kind)),
        "load": loads.load[tail, port],
    }
    declared = list(CHANNEL_LOADS)
    if topology.plan.names is not None:
        names = pa.array(list(map(str, topology.plan.names)), pa.string())
        columns |= {f"{end}_name": names.take(pa.array(columns[end])) for end in ("from", "to")}
        declared += CHANNEL_NAMES
    if (rates := loads.rates) is not None:
        columns |= {"carried": rates.carried, "capacity": rates.capacity, "percent": rates.percent}
        declared += CHANNEL_RATES
    return pa.table(columns, schema=arrow_schema(tuple(declared)))
