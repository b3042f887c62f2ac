"""Convert between bytes, flits, cycles, seconds and bits a second. No other module does.

A network has two units, one or none (`Plan`): `rate`, the bits a second of a link that carries a flit a cycle, and
`tick`, the seconds that a link's latency of 1 stands for. `Clock` is the clock of a simulation, whose flits have whole
bytes; `LinkSpeed` gives the time of a transfer where nothing is simulated. Both are made from the same two numbers,
so they agree.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from torusweep.networks.topology import NO_PORT, Plan, Topology
from torusweep.quantities import bandwidth_of, rate, seconds_of, time

FLIT_BYTES = 4  # Cámara et al. 2010, sec. 6.1: phits of 4 bytes
BANDWIDTH, LATENCY = "50GB/s", "1us"  # of networks that say none
MOST_FLIT_BYTES = 1 << 20
MOST_ROUNDING = 0.05  # of a link's latency in whole cycles, without a note
CYCLES_PER_MICROSECOND = 1000  # of a trace's times, where no cycle has a length


class Clock(NamedTuple):
    """The clock of a simulation.

    flit_bytes  bytes of a flit
    cycle       seconds of a cycle; None if neither the network nor the user says
    latency     cycles that a link's latency of 1 stands for
    rate        bits a second of a link that carries a flit a cycle; None if the network does not say
    """

    flit_bytes: int = FLIT_BYTES
    cycle: Fraction | None = None
    latency: Fraction = Fraction(1)
    rate: Fraction | None = None

    def flits(self, size: float) -> int:
        """The flits of a message of this many bytes, at least one."""
        return max(1, -int(-size // self.flit_bytes))

    def cycles(self, nanoseconds: int) -> int:
        """Whole cycles of a time, rounded up."""
        cycle = Fraction(1, 10**6 * CYCLES_PER_MICROSECOND) if self.cycle is None else self.cycle
        of_one = Fraction(1, 10**9) / cycle
        return -(-nanoseconds * of_one.numerator // of_one.denominator)

    def with_cycles(self, per_microsecond: int | None) -> Clock:
        """The clock with this many cycles a microsecond; unchanged for None."""
        return self if per_microsecond is None else self._replace(cycle=Fraction(1, 10**6 * per_microsecond))

    def of_link(self, latency: int) -> int:
        """Whole cycles over a link of this latency, to the nearest; at least one."""
        return max(1, int(latency * self.latency + Fraction(1, 2)))

    def over_links(self, topology: Topology) -> np.ndarray | None:
        """int32[N, P]: whole cycles over each link, 0 = no channel; None = 1 everywhere."""
        latency = topology.latency
        if self.latency == 1:
            return latency
        if latency is None:
            latency = (topology.ports != NO_PORT).astype(np.int32)
        different, place = np.unique(latency, return_inverse=True)
        cycles = [self.of_link(value) if value else 0 for value in different.tolist()]
        return np.array(cycles, np.int32)[place].reshape(latency.shape)

    def __str__(self) -> str:
        """'a cycle is 0.32 ns, a flit of 4 bytes at 100 Gb/s'; empty where no cycle has a length."""
        if self.cycle is None:
            return ""
        flit = "" if self.rate is None else f", a flit of {self.flit_bytes:,} bytes at {rate(self.rate)}"
        return f"a cycle is {time(self.cycle)}{flit}"


UNSAID = Clock()


def clock_of(plan: Plan, flit_bytes: int | None = None, most_cycles: int | None = None, longest: int = 1) -> Clock:
    """The clock of a network. With a rate, a cycle is the time of a flit on a link of rate 1, otherwise a tick.

    flit_bytes   bytes of a flit; by default 4, with a rate doubled until the longest link takes few enough cycles
    most_cycles  cycles that a link may take; None for any number
    longest      latency of the longest link, as `Topology.latency` has it
    """
    if plan.rate is None:
        return Clock(flit_bytes or FLIT_BYTES, plan.tick)
    size = flit_bytes or FLIT_BYTES
    while True:
        cycle = 8 * size / plan.rate
        found = Clock(size, cycle, Fraction(1) if plan.tick is None else plan.tick / cycle, plan.rate)
        if flit_bytes or plan.tick is None or most_cycles is None or found.of_link(longest) <= most_cycles:
            return found
        size *= 2


def host_rates(topology: Topology) -> tuple[np.ndarray, np.ndarray] | None:
    """(float64[N] sent, float64[N] received): flits a cycle of each host's own links; 0 for other nodes.

    None if nodes with terminals also forward: then a terminal has a flit a cycle.
    """
    if not topology.plan.hosts_end:
        return None
    tail, head, port = topology.arcs
    width = np.ones(len(tail)) if topology.bandwidth is None else topology.bandwidth[tail, port]
    hosts = np.bincount(topology.terminals, minlength=topology.nodes) > 0
    sent, received = (np.where(hosts, np.bincount(end, width, topology.nodes), 0.0) for end in (tail, head))
    return sent, received


def terminal_rates(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """(float64[T] sent, float64[T] received): flits a cycle of each terminal.

    The terminals of a host that only ends packets share what its links carry; any other has one flit a cycle.
    """
    at, rates = topology.terminals, host_rates(topology)
    if rates is None:
        return np.ones(len(at)), np.ones(len(at))
    sharing = np.bincount(at, minlength=topology.nodes)[at]
    return rates[0][at] / sharing, rates[1][at] / sharing


class LinkSpeed(NamedTuple):
    """Bandwidth and latencies from which the time of a transfer follows.

    bandwidth  bytes a second of a link that carries a flit a cycle, in each direction
    latency    seconds of each hop or step, whichever the question counts; with a tick, the software's part of each step
    tick       seconds that a link's latency of 1 stands for; None: the links say no time
    """

    bandwidth: float
    latency: float
    tick: float | None = None

    def wait(self, hops: int, steps: int, cycles: int) -> float:
        """Seconds that consecutive messages wait: for the latencies of their links, or for hops without a tick.

        cycles  summed latencies of their links
        """
        return hops * self.latency if self.tick is None else cycles * self.tick + steps * self.latency


def tick_of(plan: Plan) -> Fraction | None:
    """Seconds that a link's latency of 1 stands for; None if the network does not say.

    In a network with a rate, latencies in cycles count cycles of its clock.
    """
    return plan.tick or (clock_of(plan).cycle if plan.latencies or plan.link_latencies else None)


def unit_of(plan: Plan, bandwidth: str | None = None) -> float:
    """Bytes a second of a link that carries a flit a cycle: the user's, else the network's, else 50 GB/s.

    Raises BadInput for a text that is no bandwidth.
    """
    if bandwidth is None and plan.rate is not None:
        return float(plan.rate / 8)
    return bandwidth_of(bandwidth or BANDWIDTH)


def waiting_of(plan: Plan, latency: str | None = None) -> tuple[float, float | None]:
    """(latency, tick) of `LinkSpeed`. Raises BadInput for a text that is no time."""
    tick = tick_of(plan)
    return seconds_of(latency or (LATENCY if tick is None else "0")), None if tick is None else float(tick)


def remarks_on(plan: Plan, bandwidth: str | None) -> list[str]:
    """Notes for the user on a bandwidth that replaces the network's own."""
    if plan.rate is None or unit_of(plan) == unit_of(plan, bandwidth):
        return []
    return [f"the links' own unit is {rate(plan.rate)} for a flit a cycle; times are for {bandwidth}, as asked for"]


def remarks_on_clock(topology: Topology, clock: Clock, *, asked: bool) -> list[str]:
    """Notes for the user on a simulation's clock: flits lengthened for long links, and coarsely rounded latencies.

    asked  whether the user gave the length of a flit
    """
    found = []
    if clock.latency != 1 and clock.cycle is not None and topology.plan.tick is not None:
        latencies = [1] if topology.latency is None else sorted(set(np.unique(topology.latency).tolist()) - {0})
        errors = {one: abs(float(clock.of_link(one) / (one * clock.latency)) - 1) for one in latencies}
        worst = max(errors, key=lambda one: errors[one])
        if errors[worst] > MOST_ROUNDING:
            exact, whole = worst * topology.plan.tick, clock.of_link(worst) * clock.cycle
            found.append(f"latencies are whole cycles: {time(exact)} is {time(whole)}; a smaller flit_bytes is finer")
    if clock.flit_bytes > FLIT_BYTES and not asked:
        found.append(
            f"a flit has {clock.flit_bytes:,} bytes: with a shorter one the longest link would take too many cycles"
        )
    return found


def least_flit(clock: Clock, longest: int, most_cycles: int) -> int:
    """Bytes of the shortest flit for which the longest link takes at most `most_cycles` cycles."""
    return ceil(longest * clock.latency * clock.flit_bytes / most_cycles)
