"""Compute the cost of an algorithm on a network: exact loads of the links in each step, and the time for a size."""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np
from torusweep_kernels.loads import minimal_loads

from torusweep.collectives.axes import link_keys
from torusweep.collectives.operations import cycles_of, has_switches, hops_between
from torusweep.collectives.schedule import Schedule
from torusweep.errors import BadInput
from torusweep.networks.ends import split
from torusweep.networks.names import name_of
from torusweep.networks.physical import LinkSpeed
from torusweep.networks.topology import Topology

AT_ONCE = 1 << 24  # pairs of a step and a channel whose loads are in memory at once


class AlgorithmCost(NamedTuple):
    """The cost of an algorithm: `cycles` decides for large sizes, hops and latency for small ones.

    cycles     cycles per flit of the operation's size: the busiest channel's time in each step, summed over steps
    steps      number of successive steps
    hops       hops of the longest message in each step, summed over steps
    latency    link latencies of the slowest message in each step, summed over steps, in the unit of
               `Topology.latency`
    pipelined  whether the data go through all steps in pieces, at the same time
    load       float64[A]  flits over each channel of `Topology.arcs`, per flit of size, divided by its bandwidth
    ring       ranks in the order of the algorithm's ring, as in its schedule; None without a single ring
    """

    cycles: float
    steps: int
    hops: int
    latency: int
    pipelined: bool
    load: np.ndarray
    ring: np.ndarray | None = None

    def seconds(self, size: float, speed: LinkSpeed) -> float:
        """Return the time, in seconds, of an operation of `size` bytes.

        A step takes its slowest message's latency plus its busiest channel's time. A pipeline of D steps and P pieces
        takes P + D − 1 steps, each with 1/P of the data, for the best P. Every step counts as full; simulations with
        few pieces take less, and are compared with the time of the first piece alone.
        """
        wait, transfer = self.wait(speed), self.cycles * size / speed.bandwidth
        if not self.pipelined or self.steps < 2:
            return wait + transfer
        pieces = self.pieces(size, speed)
        return (pieces + self.steps - 1) * (wait / self.steps + transfer / pieces)

    def wait(self, speed: LinkSpeed) -> float:
        """Return the latency of all steps together, in seconds, which an operation without data would take."""
        return speed.wait(self.hops, self.steps, self.latency)

    def pieces(self, size: float, speed: LinkSpeed) -> int:
        """Return the best number of pieces for a pipelined operation of `size` bytes, at most one per byte; else 1."""
        if not self.pipelined or self.steps < 2:
            return 1
        wait = self.wait(speed) / self.steps
        if wait <= 0:
            return max(1, int(size))
        best = (self.steps - 1) * self.cycles * size / speed.bandwidth / wait
        low = isqrt(int(best))
        # P + b/P is least at √b: of whole numbers at ⌊√b⌋ up to b = P (P + 1), then at the next
        number = low if best <= low * (low + 1) else low + 1
        return max(1, min(int(size), number))


def cost_of(topology: Topology, schedule: Schedule) -> AlgorithmCost:
    """Measure a schedule. Messages to a neighbour take the channel to it; others take shortest paths (`routed`)."""
    tail, _, port = topology.arcs
    bandwidth = 1.0 if topology.bandwidth is None else topology.bandwidth[tail, port]
    step, source, destination, units = messages_of(schedule)
    keys = link_keys(topology)
    order = np.argsort(keys)
    pair = schedule.node[source].astype(np.int64) * topology.nodes + schedule.node[destination]
    place = np.minimum(np.searchsorted(keys, pair, sorter=order), len(keys) - 1)
    channel = order[place]
    near = keys[channel] == pair
    steps = schedule.steps
    busiest, total = np.zeros(steps), np.zeros(len(keys))
    hops, latency = np.zeros(steps, np.int64), np.zeros(steps, np.int64)
    np.maximum.at(hops, step[near], 1)
    np.maximum.at(latency, step[near], 1 if topology.latency is None else topology.latency[tail, port][channel[near]])
    far = _FarMessages(topology, schedule)
    rows = max(1, AT_ONCE // max(len(keys), 1))
    for first in range(0, steps, rows):
        last = min(first + rows, steps)
        load = np.zeros((last - first, len(keys)))
        own = slice(*np.searchsorted(step, [first, last]).tolist())
        direct = near[own]
        np.add.at(load, (step[own][direct] - first, channel[own][direct]), units[own][direct])
        for number in np.unique(step[own][~direct]).tolist():
            some = slice(*np.searchsorted(step, [number, number + 1]).tolist())
            away = ~near[some]
            routed, longest, slowest = far.loads(source[some][away], destination[some][away], units[some][away])
            load[number - first] += routed
            hops[number], latency[number] = max(hops[number], longest), max(latency[number], slowest)
        load /= bandwidth
        busiest[first:last] = load.max(axis=1, initial=0.0)
        total += load.sum(axis=0)
    cycles = total.max(initial=0.0) if schedule.pipelined else busiest.sum()
    scale = 1 / schedule.units
    return AlgorithmCost(
        float(cycles * scale),
        steps,
        int(hops.sum()),
        int(latency.sum()),
        schedule.pipelined,
        total * scale,
        schedule.ring,
    )


def messages_of(schedule: Schedule) -> tuple[np.ndarray, ...]:
    """Return (step, source, destination, units) of all messages, by step. Two ranks exchange one message a step."""
    ranks = len(schedule.node)
    key = (schedule.step.astype(np.int64) * ranks + schedule.source) * ranks + schedule.destination
    found, member = np.unique(key, return_inverse=True)
    units = np.bincount(member, schedule.size[schedule.chunk], len(found))
    return found // ranks // ranks, found // ranks % ranks, found % ranks, units


class _FarMessages:
    """Loads of messages between nodes that are not neighbours. Steps with equal messages are computed once."""

    def __init__(self, topology: Topology, schedule: Schedule) -> None:
        self.topology, self.node = topology, schedule.node
        self._known: dict[bytes, tuple[np.ndarray, int, int]] = {}

    def loads(self, source: np.ndarray, destination: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, int, int]:
        """Return (float64[A] units over each channel, hops of the longest message, latency of the slowest message)."""
        key = b"".join(part.tobytes() for part in (source, destination, units))
        if key not in self._known:
            ends = self.node[source], self.node[destination]
            load, hops = routed(self.topology, *ends, units)
            slowest = hops if self.topology.latency is None else slowest_path(self.topology, *ends)
            self._known[key] = load, hops, slowest
        return self._known[key]


def slowest_path(topology: Topology, source: np.ndarray, destination: np.ndarray) -> int:
    """Return the largest latency of any shortest path (in hops) from a source to its destination, int[M] each."""
    roots, row = np.unique(source, return_inverse=True)
    hops = hops_of(topology, source, destination)
    tail, head, port = topology.arcs
    assert topology.latency is not None
    latency = topology.latency[tail, port].astype(np.int64)
    if latency.min() == latency.max():
        return int(hops.max() * latency[0])
    distance = hops_between(topology, roots).copy()
    distance[np.arange(len(roots)), roots] = 0
    forwards = np.ones(len(tail), bool) if topology.ends is None else ~topology.ends[tail]
    slowest = np.zeros(distance.shape, np.int64)
    for hop in range(int(hops.max())):
        onwards = (distance[:, tail] == hop) & (distance[:, head] == hop + 1)
        place, arc = np.nonzero(onwards & (forwards | (hop == 0)))
        np.maximum.at(slowest, (place, head[arc]), slowest[place, tail[arc]] + latency[arc])
    return int(slowest[row, destination].max())


def routed(
    topology: Topology, source: np.ndarray, destination: np.ndarray, units: np.ndarray
) -> tuple[np.ndarray, int]:
    """Route messages minimally; return (float64[A] units over each channel, hops of the longest message).

    If each node has a terminal, all shortest paths share a message equally. On other networks each node splits a
    message in proportion to the bandwidth of the links that lead nearer, as switches do (weighted ECMP). Raises
    BadInput if hosts that forward nothing leave a message without a path.
    """
    tail, _, port = topology.arcs
    roots, row = np.unique(source, return_inverse=True)
    hops = int(hops_of(topology, source, destination).max())
    parted, units = split(topology), np.where(source == destination, 0, units)  # hosts that are split reach themselves
    if not has_switches(topology):
        demand = np.zeros((len(roots), topology.nodes))
        np.add.at(demand, (row, destination), units)
        demand, capacity = parted.arriving(demand), parted.channels(topology.capacity)
        found = minimal_loads(parted.ports, roots.astype(np.int32), demand=demand, capacity=capacity)
        return found.load[tail, port], hops
    nodes, row = np.unique(destination, return_inverse=True)
    demand = np.zeros((len(nodes), topology.nodes))
    np.add.at(demand, (row, source), units)
    width = topology.bandwidth
    flits = None if width is None else np.maximum(np.rint(width * float(cycles_of(topology))), 1).astype(np.int32)
    demand, roots, flits = parted.starting(demand), parted.arrive[nodes], parted.channels(flits)
    found = minimal_loads(parted.ports, roots, demand=demand, capacity=flits, split="next-hops")
    return found.load[tail, port], hops


def hops_of(topology: Topology, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
    """int32[M]: hops of each message. Raises BadInput if hosts that forward nothing leave a message without a path."""
    roots, row = np.unique(source, return_inverse=True)
    hops: np.ndarray = hops_between(topology, roots)[row, destination]
    lost = np.flatnonzero(hops < 0)
    if len(lost):
        one, other = (name_of(topology, int(nodes[lost[0]])) for nodes in (source, destination))
        raise BadInput(
            f"expected paths between all ranks that send to each other, got none from {one} to {other}, as hosts"
            " forward nothing"
        )
    return hops
