"""Bound the throughput that a network guarantees under every admissible traffic; all bounds are proved.

Traffic is admissible if no terminal sends or receives more than one flit per cycle. The worst such traffic is a
permutation of the terminals, since admissible traffic is dominated by a convex combination of permutations (Birkhoff &
von Neumann). Three numbers are bounded here:

- from below, what two-phase routing guarantees: every packet first goes to a node drawn at random, whatever its
  destination (Valiant 1982; with chosen odds of that node: Kodialam, Lakshman & Sengupta 2006);
- from above, what any oblivious routing guarantees, by lengths of the channels;
- from above, what any routing at all guarantees, by the capacity under single patterns of traffic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.optimize when it is first used

from torusweep.capacity import MAX_FLOWS, Throughput, capacity, distances, gather, proved_loads, solve, usable_arcs
from torusweep.capacity.bounds import best_half, heaviest
from torusweep.errors import BadInput, Refused
from torusweep.networks.ends import split
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import Topology
from torusweep.traffic import GivenTraffic, Traffic
from torusweep.traffic.demands import traffic_of_matrix

WORST = "worst"
MAX_MATCHING = 2048  # nodes, or terminals if nodes have different numbers of them; such a matching takes some seconds
SMALL_PROGRAM = 60_000  # flows of a permutation's linear program, which takes some seconds; several are solved
STARTS, ROUNDS = 4, 6  # permutations from which better ones are sought, and steps of such a search
MET = 1e-6  # relative gap up to which two bounds count as equal


class Permuted(NamedTuple):
    """A permutation of terminals, and a throughput that no routing exceeds under it.

    bound        flits per cycle per terminal: Σ bandwidth · length ÷ Σ distance
    destination  int32[T]    terminal s sends everything to terminal destination[s]
    length       float64[A]  lengths of the channels, in the order of `Topology.arcs`
    """

    bound: float
    destination: np.ndarray
    length: np.ndarray


class Guarantee(NamedTuple):
    """Bounds of the throughput that is guaranteed under every admissible traffic, in flits per cycle per terminal.

    lower      guaranteed by two-phase routing
    oblivious  no oblivious routing guarantees more
    upper      no routing guarantees more
    odds       float64[N]  chance of each node to be the intermediate node of two-phase routing
    worst      the permutation with the least bound found; None if the network is too large for matchings
    length     float64[A]  lengths of the channels that prove `oblivious`; None if they prove no more than `upper`
    how        how `lower`, `oblivious` and `upper` were found, in words
    """

    lower: float
    oblivious: float
    upper: float
    odds: np.ndarray
    worst: Permuted | None
    length: np.ndarray | None
    how: tuple[str, str, str]


class Metric:
    """Distances between nodes by lengths of the channels. Paths do not lead through hosts that forward nothing."""

    def __init__(self, topology: Topology) -> None:
        self.parted, (self.tail, self.head, self.port) = split(topology), topology.arcs
        bandwidth = topology.bandwidth
        self.bandwidth = np.ones(len(self.tail)) if bandwidth is None else bandwidth[self.tail, self.port]
        self.nodes, self.place = np.unique(topology.terminals, return_inverse=True)

    def between(self, length: np.ndarray) -> np.ndarray:
        """float64[M, N]: distance from every node to each node with terminals, for channel lengths float64[A]."""
        ends = self.parted.arrive[self.nodes]
        found = distances(self.tail, self.parted.arrive[self.head], length, ends, self.parted.nodes)
        found = found[:, : len(self.parted.arrive)]
        found[np.arange(len(self.nodes)), self.nodes] = 0
        return found

    def bound(self, length: np.ndarray, destination: np.ndarray, away: np.ndarray) -> float:
        """Return a throughput that no routing exceeds under a permutation, from the lengths that its flits must travel.

        length       float64[A]  length of each channel
        destination  int32[T]    terminal s sends everything to terminal destination[s]
        away         distances that `between` returns for these lengths
        """
        needed = float(away[self.place[destination], self.nodes[self.place]].sum())
        return float(self.bandwidth @ length) / needed if needed else np.inf


def guarantee(topology: Topology, uniform: Throughput, *, use_symmetry: bool = True) -> Guarantee:
    """Bound the throughput that is guaranteed under every admissible traffic.

    uniform        capacity under uniform traffic, which is admissible
    use_symmetry   as in `capacity`

    Raises BadInput if no traffic crosses a channel, Refused if hosts forward nothing and the program is too large.
    """
    if not np.isfinite(uniform.throughput):
        raise BadInput(f"capacity of {topology.spelling} under {WORST}: expected several nodes with terminals, got one")
    metric = Metric(topology)
    lower, odds, lengths, by_phases = two_phase(topology, uniform, use_symmetry)
    lengths = [uniform.length[metric.tail, metric.port], *lengths]
    upper, worst, by_patterns = uniform.bound, None, "uniform traffic"
    for found in permutations(topology, metric, lengths):
        if worst is None or found.bound < worst.bound:
            worst = found
        if found.bound < upper * (1 - MET):
            upper, by_patterns = found.bound, "a permutation"
        if upper <= lower * (1 + MET):
            break
    oblivious, by_lengths, proof = upper, by_patterns, None
    if not topology.directed and topology.ends is None:
        for length in [alike(topology, length) for length in lengths]:
            if (least := oblivious_bound(topology, metric, length)) < oblivious * (1 - MET):
                oblivious, by_lengths, proof = least, "lengths of the channels", length
    how = by_phases, by_lengths, by_patterns
    # rounding may raise `lower` above
    return Guarantee(min(lower, oblivious), oblivious, upper, odds, worst, proof, how)


def alike(topology: Topology, length: np.ndarray) -> np.ndarray:
    """float64[A]: lengths of a two-way network's channels, float64[A], as the mean of both directions."""
    tail, head, _ = topology.arcs
    both = np.empty_like(length)
    both[np.lexsort((head, tail))] = (length[np.lexsort((head, tail))] + length[np.lexsort((tail, head))]) / 2
    return both


def oblivious_bound(topology: Topology, metric: Metric, length: np.ndarray) -> float:
    """Return an upper bound of the throughput that an oblivious routing of a two-way network can guarantee.

    The channels have lengths float64[A] ≥ 0, equal in both directions. Let d(s, t) be the distance by these lengths, T
    the number of terminals, p_v the number of terminals at node v, and D(v) = Σ_t p_t d(v, t). The bound is

        Σ_c bandwidth_c · (length_c + |D(tail of c) − D(head of c)| / T) ÷ (2/T) Σ_st p_s p_t d(s, t)

    For a channel c = (u, v), let s send p_s p_t max(0, d(s, v) − d(s, u) + d(u, t) − d(v, t)) flits to t. Divided by
    T · (length_c + |D(u) − D(v)| / T), this traffic is admissible, so it loads c at most as much as the worst traffic
    does. Along any path from s to t, the maxima add up to 2 d(s, t) or more.
    """
    many, terminals = np.bincount(metric.place), len(metric.place)
    away = metric.between(length)
    total = np.nan_to_num(many @ away, posinf=0.0)  # channels that no terminal reaches add their lengths alone
    steps = length + np.abs(total[metric.tail] - total[metric.head]) / terminals
    return float(metric.bandwidth @ steps) * terminals / float(2 * many @ away[:, metric.nodes] @ many)


def two_phase(
    topology: Topology, uniform: Throughput, use_symmetry: bool
) -> tuple[float, np.ndarray, list[np.ndarray], str]:
    """Return the guarantee of the best two-phase routing, the odds of intermediate nodes, lengths, and the method.

    A flit from s to t goes to node v with chance q_v, then to t. Under every admissible traffic, the flits between two
    nodes u, v are then at most p_u q_v + q_u p_v at one flit per cycle per terminal. A linear program minimises the
    largest channel load over q and the flows. Its prices are the lengths. If all nodes look alike, equal odds are best,
    and guarantee half of the capacity under uniform traffic. If the program is too large, intermediate nodes are drawn
    uniformly by terminals, which guarantees at least that half. If no node can be intermediate, because hosts forward
    nothing, the routes of uniform traffic guarantee its capacity over T: each pair of terminals has 1/T of a flit.
    """
    half = uniform.throughput / 2
    nodes = orbits_under(topology.nodes, proved_symmetries(topology) if use_symmetry else [])
    many = np.bincount(topology.terminals, minlength=topology.nodes).astype(np.float64)
    relays = joined(topology) & ~((many > 0) & topology.plan.hosts_end)
    if not relays.any():
        return uniform.throughput / len(topology.terminals), 0 * many, [], "the routes of uniform traffic"
    if len(nodes.representatives) == 1:
        return half, many / many.sum(), [], "two-phase routing (all nodes alike: half of what uniform traffic reaches)"
    ends = ((many > 0) | relays).astype(np.float64)
    pairs = scipy.sparse.csr_array((len(ends),) * 2)
    if topology.plan.hosts_end:  # not all intermediate nodes reach each other, as paths may lead through hosts alone
        hosts, between = (scipy.sparse.csr_array(part[:, None], dtype=np.float64) for part in (many > 0, relays))
        ends, pairs = np.zeros(len(ends)), scipy.sparse.csr_array(hosts @ between.T + between @ hosts.T)
    flows = gather(topology, WORST, Traffic(ends, ends, pairs, True), use_symmetry=use_symmetry)
    usable = usable_arcs(flows, "all")
    if len(usable.arc) > MAX_FLOWS:
        if topology.plan.hosts_end:
            raise Refused(
                f"capacity of {topology.spelling} under {WORST}: expected a linear program of at most {MAX_FLOWS:,}"
                f" flows, got {len(usable.arc):,}; choose a smaller network"
            )
        return half, many / many.sum(), [], "Valiant's routing (half of what uniform traffic reaches)"
    origin = np.arange(flows.demand.shape[1])
    origin[split(topology).arrive] = np.arange(topology.nodes)
    roots, n = origin[flows.roots], len(origin)
    k, node = (part.ravel() for part in np.meshgrid(np.arange(len(roots)), np.arange(topology.nodes), indexing="ij"))
    from_relay, to_relay = relays[node] * many[roots[k]], relays[roots[k]] * many[node]
    places = np.tile(k * n + node, 2), np.concatenate([nodes.member[node], nodes.member[roots[k]]])
    values = np.concatenate([from_relay, to_relay]) * np.tile(node != flows.roots[k], 2)
    shape = (len(roots) * n, len(nodes.sizes))
    demand = scipy.sparse.csr_array(scipy.sparse.coo_array((values, places), shape=shape))
    sizes = np.bincount(nodes.member, relays)
    sums = scipy.sparse.csr_array(sizes[None].astype(np.float64))
    found = solve(flows, usable, demand=demand, sums=sums, totals=np.ones(1))
    odds = found.odds / (sizes @ found.odds)
    over = proved_loads(flows._replace(demand=(demand @ odds).reshape(-1, n)), usable, found.flow)
    length = (np.maximum(found.price, 0) / np.bincount(flows.orbit, flows.capacity))[flows.orbit]
    odds = np.where(relays, odds[nodes.member], 0.0)
    return float(1 / over.max()), odds, [length], f"two-phase routing (linear program, {len(usable.arc):,} flows)"


def joined(topology: Topology) -> np.ndarray:
    """bool[N]: whether each node reaches every terminal (any, if hosts forward), and is reached from it."""
    parted, (tail, head, _) = split(topology), topology.arcs
    head, ones = parted.arrive[head], np.ones(len(tail))
    some = topology.terminals[:1] if topology.ends is None else np.unique(topology.terminals)
    there = distances(tail, head, ones, parted.arrive[some], parted.nodes)
    back = distances(head, tail, ones, some, parted.nodes)
    return np.asarray(np.isfinite(there + back).all(axis=0)[: topology.nodes])


def permutations(topology: Topology, metric: Metric, lengths: list[np.ndarray]) -> Iterator[Permuted]:
    """Yield permutations, each with a throughput that no routing exceeds under it, from several starts.

    Each start is a set of channel lengths: `lengths`, hops, the channels of the best known bisection, or one class of
    links alone. The permutation with the largest total distance is found; its capacity gives new lengths, which give
    the next permutation, and so on. Other starts shift the groups that a class of links joins by one. All bounds are
    proved.
    """
    if len(metric.place if np.ptp(np.bincount(metric.place)) else metric.nodes) > MAX_MATCHING:
        return
    kind = topology.link_class[metric.tail, metric.port]
    half = best_half(topology)
    starts = [*lengths, np.ones(len(kind)), (half[metric.tail] != half[metric.head]).astype(np.float64)]
    starts += [(kind == one).astype(np.float64) for one in np.unique(kind)]
    found = [one for length in starts if (one := _farthest(metric, length)) is not None]
    yield from found
    groups = [_shift(topology, metric, kind != own) for own in np.unique(kind)]
    shifted = [destination for destination in groups if destination is not None]
    tried: set[bytes] = set()
    first = sorted(found, key=lambda one: one.bound)
    for destination in [*shifted, *(one.destination for one in first)][: STARTS + len(shifted)]:
        best = np.inf
        for _ in range(ROUNDS):
            if destination.tobytes() in tried:
                break
            tried.add(destination.tobytes())
            solved = _capacity(topology, metric, destination)
            if solved is None:
                break
            length = solved.length[metric.tail, metric.port]
            yield Permuted(solved.bound, destination, length)
            again = _farthest(metric, length)
            if again is None or solved.bound >= best * (1 - MET):
                break
            yield again
            best, destination = solved.bound, again.destination


def _farthest(metric: Metric, length: np.ndarray) -> Permuted | None:
    """Return the permutation with the largest total distance, and its bound; None if all distances are 0."""
    away = metric.between(length)
    if not away[:, metric.nodes].any():
        return None
    destination = heaviest(away[:, metric.nodes].T, metric.place)
    return Permuted(metric.bound(length, destination, away), destination, length)


def _shift(topology: Topology, metric: Metric, kept: np.ndarray) -> np.ndarray | None:
    """Return the permutation that shifts the groups of nodes joined by the kept channels, bool[A], by one.

    None if there is one group, or groups have different numbers of terminals.
    """
    links = (np.ones(int(kept.sum()), np.int8), (metric.tail[kept], metric.head[kept]))
    graph = scipy.sparse.coo_array(links, shape=(topology.nodes,) * 2)
    group = scipy.sparse.csgraph.connected_components(graph, directed=False)[1][topology.terminals]
    _, group, many = np.unique(group, return_inverse=True, return_counts=True)
    if len(many) < 2 or np.ptp(many):
        return None
    terminals = np.argsort(group, kind="stable").reshape(len(many), -1)
    destination = np.empty(len(group), np.int32)
    destination[terminals] = np.roll(terminals, -1, axis=0)
    return destination


def _capacity(topology: Topology, metric: Metric, destination: np.ndarray) -> Throughput | None:
    """Return the capacity under a permutation; None if its linear program would be large."""
    if len(metric.nodes) * len(metric.tail) > SMALL_PROGRAM:
        return None
    pairs = (np.ones(len(destination)), (np.arange(len(destination)), destination))
    matrix = scipy.sparse.csr_array(scipy.sparse.coo_array(pairs, shape=(len(destination),) * 2))
    return capacity(topology, GivenTraffic(WORST, traffic_of_matrix(topology, matrix)))
