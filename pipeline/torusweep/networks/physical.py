"""Convert between bytes, flits, cycles, seconds and bits a second, which no other module does.

A network may have two units (`Plan`): `rate`, in bits a second, is the bandwidth of a link that carries one flit a
cycle; `tick`, in seconds, is a latency of 1. `Clock` is the clock of a simulation, whose flits have whole bytes, and
`LinkSpeed` gives the time of a transfer that is not simulated. Both are made from the same units, so they agree.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from torusweep.networks.topology import NO_PORT, Plan, Topology
from torusweep.quantities import bandwidth_of, rate, seconds_of, time

FLIT_BYTES = 4  # Cámara et al. 2010, sec. 6.1: phits of 4 bytes
BANDWIDTH, LATENCY = "50GB/s", "1us"  # defaults for networks that give none
MOST_FLIT_BYTES = 1 << 20
MOST_ROUNDING = 0.05  # relative rounding error of a link's latency above which a note is given
CYCLES_PER_MICROSECOND = 1000  # for the times of a trace, if cycles have no length


class Clock(NamedTuple):
    """The clock of a simulation.

    flit_bytes  bytes of a flit
    cycle       seconds of a cycle; None if neither the network nor the user gives it
    latency     number of cycles that a link's latency of 1 stands for
    rate        bits a second of a link that carries one flit a cycle; None if the network has no such unit
    """

    flit_bytes: int = FLIT_BYTES
    cycle: Fraction | None = None
    latency: Fraction = Fraction(1)
    rate: Fraction | None = None

    def flits(self, size: float) -> int:
        """Return the number of flits of a message of `size` bytes, at least one."""
        return max(1, -int(-size // self.flit_bytes))

    def cycles(self, nanoseconds: int) -> int:
        """Convert nanoseconds to whole cycles, rounded up. A cycle of unknown length counts as 1 ns."""
        cycle = Fraction(1, 10**6 * CYCLES_PER_MICROSECOND) if self.cycle is None else self.cycle
        of_one = Fraction(1, 10**9) / cycle
        return -(-nanoseconds * of_one.numerator // of_one.denominator)

    def with_cycles(self, per_microsecond: int | None) -> Clock:
        """Return the clock with the given number of cycles per microsecond; unchanged for None."""
        return self if per_microsecond is None else self._replace(cycle=Fraction(1, 10**6 * per_microsecond))

    def of_link(self, latency: int) -> int:
        """Return the number of cycles that a link of the given latency takes, rounded to the nearest, at least one."""
        return max(1, int(latency * self.latency + Fraction(1, 2)))

    def over_links(self, topology: Topology) -> np.ndarray | None:
        """Return int32[N, P], the whole cycles that each link takes, 0 = no channel; None if all links take 1."""
        latency = topology.latency
        if self.latency == 1:
            return latency
        if latency is None:
            latency = (topology.ports != NO_PORT).astype(np.int32)
        different, place = np.unique(latency, return_inverse=True)
        cycles = [self.of_link(value) if value else 0 for value in different.tolist()]
        return np.array(cycles, np.int32)[place].reshape(latency.shape)

    def __str__(self) -> str:
        """Describe the clock, as in 'a cycle is 0.32 ns, a flit of 4 bytes at 100 Gb/s'; empty if `cycle` is None."""
        if self.cycle is None:
            return ""
        flit = "" if self.rate is None else f", a flit of {self.flit_bytes:,} bytes at {rate(self.rate)}"
        return f"a cycle is {time(self.cycle)}{flit}"


UNSAID = Clock()


def clock_of(plan: Plan, flit_bytes: int | None = None, most_cycles: int | None = None, longest: int = 1) -> Clock:
    """Make the clock of a network. If it has a rate, a cycle is a flit's time on a link of that rate, else a tick.

    flit_bytes   bytes of a flit; by default 4, doubled (with a rate) until the longest link takes at most most_cycles
    most_cycles  largest number of cycles that a link may take; None for any number
    longest      latency of the longest link, in the unit of `Topology.latency`
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
    """Return flits a cycle over each host's own links: (float64[N] sent, float64[N] received); 0 for other nodes.

    Returns None if nodes with terminals also forward packets: then each terminal has one flit a cycle.
    """
    if not topology.plan.hosts_end:
        return None
    tail, head, port = topology.arcs
    width = np.ones(len(tail)) if topology.bandwidth is None else topology.bandwidth[tail, port]
    hosts = np.bincount(topology.terminals, minlength=topology.nodes) > 0
    sent, received = (np.where(hosts, np.bincount(end, width, topology.nodes), 0.0) for end in (tail, head))
    return sent, received


def terminal_rates(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Return flits a cycle of each terminal: (float64[T] sent, float64[T] received).

    The terminals of a host that forwards no packets share the rate of its links; each other terminal has 1.
    """
    at, rates = topology.terminals, host_rates(topology)
    if rates is None:
        return np.ones(len(at)), np.ones(len(at))
    sharing = np.bincount(at, minlength=topology.nodes)[at]
    return rates[0][at] / sharing, rates[1][at] / sharing


class LinkSpeed(NamedTuple):
    """The bandwidth and latencies that determine the time of a transfer.

    bandwidth  bytes a second, in each direction, of a link that carries one flit a cycle
    latency    seconds of each hop or step, whichever the caller counts; with a tick, software time of each step
    tick       seconds that a link's latency of 1 stands for; None if the network gives no such time
    """

    bandwidth: float
    latency: float
    tick: float | None = None

    def wait(self, hops: int, steps: int, cycles: int) -> float:
        """Return the seconds that consecutive messages wait for latencies.

        hops           number of hops, each of which takes `latency` if there is no tick
        steps, cycles  if there is a tick: number of steps, and the sum of the latencies of the messages' links
        """
        return hops * self.latency if self.tick is None else cycles * self.tick + steps * self.latency


def tick_of(plan: Plan) -> Fraction | None:
    """Return the seconds that a link's latency of 1 stands for; None if the network gives no such time.

    In a network with a rate but no tick, latencies count cycles of the network's clock.
    """
    return plan.tick or (clock_of(plan).cycle if plan.latencies or plan.link_latencies else None)


def unit_of(plan: Plan, bandwidth: str | None = None) -> float:
    """Return the bytes a second of a link that carries one flit a cycle.

    The text `bandwidth` decides, else the network, else 50 GB/s. Raises BadInput if the text is not a bandwidth.
    """
    if bandwidth is None and plan.rate is not None:
        return float(plan.rate / 8)
    return bandwidth_of(bandwidth or BANDWIDTH)


def waiting_of(plan: Plan, latency: str | None = None) -> tuple[float, float | None]:
    """Return (latency, tick) for `LinkSpeed`. Raises BadInput if the text `latency` is not a time."""
    tick = tick_of(plan)
    return seconds_of(latency or (LATENCY if tick is None else "0")), None if tick is None else float(tick)


def remarks_on(plan: Plan, bandwidth: str | None) -> list[str]:
    """Return a note for the user if the given bandwidth replaces the network's own; otherwise no note."""
    if plan.rate is None or unit_of(plan) == unit_of(plan, bandwidth):
        return []
    return [f"the links' own unit is {rate(plan.rate)} for a flit a cycle; times are for the given {bandwidth}"]


def remarks_on_clock(topology: Topology, clock: Clock, *, asked: bool) -> list[str]:
    """Return notes for the user on a simulation's clock: longer flits for long links, and coarsely rounded latencies.

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
    """Return the bytes of the shortest flit with which the longest link takes at most `most_cycles` cycles."""
    return ceil(longest * clock.latency * clock.flit_bytes / most_cycles)
