"""Bound the capacity by a first-order method where a linear program is too large; whole numbers prove both bounds.

The primal-dual hybrid gradient method alternates small steps of the flows to all roots and of the channels' prices
(Chambolle & Pock 2011, with the step sizes of Pock & Chambolle 2011). Its results need not be trusted. The prices are
rounded to whole lengths, and the flows to whole parts of a flit; flits that a flow lacks take a shortest path. These
whole numbers prove the bounds.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, log2, nextafter
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import scipy  # loads scipy.sparse when it is first used

from torusweep.capacity import Commodities, Throughput, distances, gather, meeting, minimal_distances, usable_arcs
from torusweep.errors import Refused
from torusweep.networks.topology import Topology
from torusweep.traffic import GivenTraffic
from torusweep.traffic import traffic as pattern_on

LONGEST = 24  # most bits of a length
BITS = 60  # most bits of sums of lengths or parts of flits
FIRST_CHECK, GROWTH = 100, 1.15  # steps until bounds are first computed, and factor from one time to the next
SHARPNESS = 60.0  # of the first prices: exp(60 · (load / largest load − 1))
BALANCE = 0.25  # ratio between the steps of flows and prices, relative to their first sizes
EXACT = 2.0**-50  # relative difference from whole parts of a flit up to which a demand counts as whole


class Proof(NamedTuple):
    """Whole numbers that prove both bounds.

    scale   number of parts in a flit
    flow    int64[A, K]  parts per cycle over each channel to each root; at least `scale` times the demand leaves
            each node
    length  int64[A]     length ≥ 0 of each channel
    lower   Fraction     throughput of the flow
    upper   Fraction     throughput that no routing exceeds, by the lengths
    """

    scale: int
    flow: np.ndarray
    length: np.ndarray
    lower: Fraction
    upper: Fraction


def bracket(
    topology: Topology,
    traffic: str | GivenTraffic,
    *,
    routes: str = "all",
    use_symmetry: bool = True,
    gap: float,
    minutes: float,
) -> tuple[Throughput, Proof]:
    """Bound the `capacity` up to a relative gap, or as closely as the time allows; return (bounds, their proof).

    minutes  time limit of the steps
    The float64 values of demands and bandwidths are taken as exact. Both bounds are then exact fractions, which are
    rounded outwards to float64. Raises BadInput and Refused where `gather` does.
    """
    canonical, pattern = pattern_on(traffic, topology)
    flows = gather(topology, canonical, pattern.at_nodes(topology.terminals, topology.nodes), use_symmetry=use_symmetry)
    proof, steps = approach(flows, routes, gap=gap, until=monotonic() + 60 * minutes)
    over = loads_of(flows, proof.flow) / room_of(flows) / proof.scale
    throughput, bound = nextafter(float(proof.lower), 0), nextafter(float(proof.upper), inf)
    tail, _, port = topology.arcs
    load, length = np.zeros(topology.ports.shape), np.zeros(topology.ports.shape)
    load[tail, port] = over[flows.orbit]
    length[tail, port] = proof.length / float(flows.capacity @ proof.length)
    left = bound / throughput - 1
    method = f"first-order method (roots: {len(flows.roots):,}, steps: {steps:,}); {meeting(left)}"
    return Throughput(throughput, bound, left, load, length, method), proof


def approach(flows: Commodities, routes: str, *, gap: float, until: float) -> tuple[Proof, int]:
    """Take steps until the bounds are within `gap`, or until a time of `monotonic`; return (best proof, steps taken).

    At least one step is taken. The flow to a root stands for all roots of its orbit; the unit is the greatest demand.
    The prices of the orbits of channels sum to 1; the price of a node for a root is the value of a flit to that root.
    """
    nodes, roots = flows.demand.shape[1], np.arange(len(flows.roots))
    best = Proofs(flows, routes)
    net = best.net.astype(np.float32)
    leaving, entering, back = net.maximum(0), (-net).maximum(0), net.T.tocsr()
    nearer = (flows.hops[:, flows.tail] == flows.hops[:, flows.head] + 1).T & np.isfinite(flows.hops[:, flows.tail]).T
    demand = (flows.demand * flows.weights[:, None]).T
    unit = demand.max()
    demand = (demand / unit).astype(np.float32)
    room = room_of(flows) / flows.capacity.mean()

    flow = _spread(flows.hops.T, nearer, flows.tail, leaving, entering, demand)
    load = np.bincount(flows.orbit, flow.sum(axis=1)) / room
    weight = np.exp(SHARPNESS * (load / load.max() - 1))
    weight /= weight.sum()
    length = best.whole(weight / room)
    price = np.where(flows.demand > 0, best.away(length[flows.orbit]), 0).T
    price = (price * ((weight / room).max() / length.max())).astype(np.float32)
    away = float(flows.hops[flows.demand > 0].mean()) / room.sum()  # what a flit is worth where all prices are equal
    balance = BALANCE * float(flow.mean()) / away
    ends = np.bincount(np.concatenate([flows.tail, flows.head]), minlength=nodes).clip(1)
    flow_step = (balance / (2 + 1 / room))[flows.orbit].astype(np.float32)[:, None]
    price_step = (1 / (balance * ends)).astype(np.float32)[:, None]
    weight_step = 1 / (balance * len(roots) * (np.bincount(flows.orbit) / room).max())

    best.lower(np.ones(len(room)))
    mean, mean_weight = flow.astype(np.float64), weight.copy()
    taken, step, check = 1, 0, 0  # steps of the means, all steps, steps at the next check
    while True:
        late = monotonic() >= until
        if step >= check or late:
            best.lower(mean_weight / taken / room)
            best.raise_to(mean * (unit / taken) / flows.weights)
            if best.gap <= gap or late:
                return best.proof, step
            if step and 2 * taken > step:  # the means forget the first half of the way
                mean[:], mean_weight[:], taken = 0, 0, 0
            check = int(step * GROWTH) + FIRST_CHECK
        moved = back @ price
        moved -= (weight / room)[flows.orbit].astype(np.float32)[:, None]
        moved *= flow_step
        moved += flow
        np.maximum(moved, 0, out=moved)
        if routes != "all":
            moved *= nearer
        ahead = 2 * moved - flow
        flow = moved
        rest = demand - net @ ahead
        rest[flows.roots, roots] = 0
        rest *= price_step
        price += rest
        weight = _on_simplex(weight + weight_step * np.bincount(flows.orbit, ahead.sum(axis=1)) / room)
        mean += flow
        mean_weight += weight
        taken, step = taken + 1, step + 1


class Proofs:
    """The best proof found so far of a lower and an upper bound, for given commodities and routes."""

    def __init__(self, flows: Commodities, routes: str) -> None:
        self.flows, self.routes = flows, routes
        self.usable = usable_arcs(flows, routes) if routes == "minimal" else None
        self.capacity = [Fraction(one) for one in flows.capacity.tolist()]
        self.room = [Fraction(0)] * (int(flows.orbit.max()) + 1)
        for orbit, one in zip(flows.orbit.tolist(), self.capacity):
            self.room[orbit] += one
        self.next = _next_channels(flows)
        self.far = int(flows.hops[flows.demand > 0].max()) + 1  # no path of fewest hops has more channels
        every = self.far * float(flows.weights.sum()) * flows.demand.shape[1]
        self.longest = 2.0 ** max(0, min(LONGEST, int(BITS - log2(every))))
        each, column = np.ones(len(flows.tail), np.int64), np.arange(len(flows.tail))
        shape = (flows.demand.shape[1], len(flows.tail))
        out, into = (scipy.sparse.csr_array((each, (end, column)), shape=shape) for end in (flows.tail, flows.head))
        self.net = out - into  # what leaves each node, less what enters it
        sizes, self.size = np.unique(flows.demand, return_inverse=True)
        self.sizes = [Fraction(one) for one in sizes.tolist()]
        self.proof = Proof(1, np.zeros(0, np.int64), np.zeros(0, np.int64), Fraction(0), Fraction(0))

    @property
    def gap(self) -> float:
        lower, upper = self.proof.lower, self.proof.upper
        return float(upper / lower) - 1 if lower and upper else inf

    def away(self, length: np.ndarray) -> np.ndarray:
        """float64[K, N]: least length of a permitted path from every node to each root, for whole lengths."""
        if self.usable is not None:
            return minimal_distances(self.flows, self.usable, length)
        return distances(self.flows.tail, self.flows.head, length, self.flows.roots, self.flows.demand.shape[1])

    def whole(self, price: np.ndarray) -> np.ndarray:
        """int64[O]: lengths in whole numbers, in proportion to the prices of the orbits of channels."""
        return np.rint(price * (self.longest / price.max())).astype(np.int64)

    def lower(self, price: np.ndarray) -> None:
        """Lower the upper bound if lengths in proportion to the orbits' prices ≥ 0 prove less (`proved_bound`)."""
        flows = self.flows
        length = self.whole(price)[flows.orbit]
        away = np.where(flows.demand > 0, self.away(length.astype(np.float64)), 0).astype(np.int64)
        far = np.zeros(len(self.sizes), np.int64)
        np.add.at(far, self.size.reshape(-1), (away * flows.weights.astype(np.int64)[:, None]).reshape(-1))
        needed = sum((one * int(all_) for one, all_ in zip(self.sizes, far)), Fraction(0))
        offered = sum((one * int(long) for one, long in zip(self.capacity, length)), Fraction(0))
        if needed and (not self.proof.upper or offered / needed < self.proof.upper):
            self.proof = self.proof._replace(length=length, upper=offered / needed)

    def raise_to(self, flow: np.ndarray) -> None:
        """Raise the lower bound if a flow, float64[A, K] ≥ 0, proves a larger one after rounding and completion."""
        flows, roots = self.flows, np.arange(len(self.flows.roots))
        nodes = flows.demand.shape[1]
        sent = float((flow @ flows.weights).sum()) + float(flows.weights @ flows.demand.sum(axis=1))
        bits = int(BITS - log2(self.far * sent * nodes))
        if bits < 0:
            raise Refused(
                f"bounds of {nodes:,} nodes: expected sums below 2^{BITS}, got more; choose a smaller network"
            )
        scale = nodes << bits
        parts = np.rint(flow * scale).astype(np.int64) * np.isfinite(flows.hops[:, flows.head]).T  # none gets stuck
        wanted = flows.demand * scale
        near = np.rint(wanted)
        wanted = np.where(abs(wanted - near) <= EXACT * wanted, near, np.ceil(wanted)).astype(np.int64)
        missing = wanted.T.copy()
        missing -= self.net @ parts
        missing[flows.roots, roots] = 0
        self._carry(missing, parts)
        over = loads_of(flows, parts)
        busiest = max(Fraction(int(load)) / room for load, room in zip(over, self.room))
        if scale / busiest > self.proof.lower:
            self.proof = self.proof._replace(scale=scale, flow=parts, lower=scale / busiest)

    def _carry(self, missing: np.ndarray, parts: np.ndarray) -> None:
        """Send the positive entries of `missing`, int64[N, K], by shortest paths; add them to `parts`, int64[A, K]."""
        hops = np.where(np.isfinite(self.flows.hops), self.flows.hops, 0).astype(np.int64).T.reshape(-1)
        order = np.argsort(hops, kind="stable")
        starts = np.searchsorted(hops[order], np.arange(hops.max() + 2))
        for level in range(int(hops.max()), 0, -1):
            node, k = np.divmod(order[starts[level] : starts[level + 1]], missing.shape[1])
            short = missing[node, k] > 0
            node, k = node[short], k[short]
            arc, flits = self.next[node, k], missing[node, k]
            parts[arc, k] += flits
            np.add.at(missing, (self.flows.head[arc], k), flits)


def room_of(flows: Commodities) -> np.ndarray:
    """float64[O]: capacity of all channels of each orbit together, in flits per cycle."""
    return np.bincount(flows.orbit, flows.capacity)


def loads_of(flows: Commodities, parts: np.ndarray) -> np.ndarray:
    """int64[O]: parts per cycle over all channels of each orbit, from `parts`, int64[A, K], by channel and root."""
    over = np.zeros(int(flows.orbit.max()) + 1, np.int64)
    np.add.at(over, flows.orbit, parts @ flows.weights.astype(np.int64))
    return over


def _next_channels(flows: Commodities) -> np.ndarray:
    """int32[N, K]: a channel out of each node that leads one hop nearer to each root; −1 if there is none."""
    found = np.full((flows.demand.shape[1], len(flows.roots)), -1, np.int32)
    for arc, (tail, head) in enumerate(zip(flows.tail.tolist(), flows.head.tolist())):
        found[tail, flows.hops[:, tail] == flows.hops[:, head] + 1] = arc
    return found


def _spread(
    hops: np.ndarray, nearer: np.ndarray, tail: np.ndarray, leaving: Any, entering: Any, demand: np.ndarray
) -> np.ndarray:
    """float32[A, K]: flow of the demand if every node splits it equally over all channels that lead nearer."""
    ways = leaving @ nearer.astype(np.float32)
    flow, waiting = np.zeros(nearer.shape, np.float32), demand.copy()
    for level in range(int(hops[np.isfinite(hops)].max()), 0, -1):
        sent = nearer * np.where(hops == level, waiting / np.maximum(ways, 1), 0).astype(np.float32)[tail]
        flow += sent
        waiting += entering @ sent
    return flow


def _on_simplex(weight: np.ndarray) -> np.ndarray:
    """Project weights to the nearest weights ≥ 0 with sum 1 (Held, Wolfe & Crowder 1974)."""
    falling = np.sort(weight)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(weight) + 1)
    return np.maximum(weight - excess[np.flatnonzero(falling > excess)[-1]], 0)
