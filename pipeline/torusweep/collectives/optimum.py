"""Bound the time of a collective operation on a network, with the cut or linear program that proves the bound.

If a theorem attains the bound, it is the optimum; otherwise `best_known` finds the least known time.

Times are in cycles per flit of the operation's size (`operations`), for sizes so large that bandwidth decides. Each
channel carries its bandwidth; terminals send and receive on all their node's channels at once.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from torusweep_kernels.cuts import RatioCut, least_ratio_cut, strength
from torusweep_kernels.loads import minimal_loads

from torusweep.capacity import CLOSED, capacity
from torusweep.collectives.in_network import MOST_NODES, packing_of
from torusweep.collectives.operations import (
    IN_NETWORK,
    OPERATIONS,
    alike,
    channels_of,
    check_network,
    cycles_of,
    weight_of,
)
from torusweep.errors import Refused
from torusweep.networks.ends import relaying
from torusweep.networks.links import channel_matrix, flit_matrix, strengths, surviving_network
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.quantities import counted

FEW_PHASES = 3  # of the algorithm for a maximum flow out of one node, through a few channels
MOST_WORK = 2e10  # visits of channels by all maximum flows together; about a minute
TREES = "packing spanning trees (Edmonds 1973)"
SPLIT = "packing trees (Edmonds 1973; Bang-Jensen, Frank & Jackson 1995)"
PACKED = "packing undirected spanning trees (Nash-Williams 1961; Tutte 1961)"
HALVES = "reduce-scatter and all-gather"
CROSSES = "the narrowest cut, which each flit of the sum crosses"
UNKNOWN = "whether it is attained is not known"
MOST_ROUTED = 20_000  # terminals of an all-to-all over shortest paths; some seconds
MOST_STRENGTH = 30_000_000  # pairs of node and channel; some seconds


class Cut(NamedTuple):
    """A proof of a bound by the channels between two sets of nodes.

    nodes      int32[…]  the smaller of the two sets
    enters     whether the data must enter `nodes`, rather than leave
    terminals  number of terminals whose data must cross
    links      number of links in that direction
    capacity   capacity of these links, in flits per cycle
    """

    nodes: np.ndarray
    enters: bool
    terminals: int
    links: int
    capacity: Fraction


class Partition(NamedTuple):
    """A proof of an all-reduce's bound by the channels between several sets of nodes.

    part       int32[N]  set of each node, from 0; −1 for a node without a terminal
    parts      number of sets
    links      number of links between the sets, in both directions together
    capacity   capacity of these links, in flits per cycle
    """

    part: np.ndarray
    parts: int
    links: int
    capacity: Fraction


class Optimum(NamedTuple):
    """A lower bound of an operation's time, and the best known time, in cycles per flit of the size.

    attained  best known time; None if it is unknown
    proof     the cut or partition that proves the bound; None if a linear program proves it
    because   the proof of the bound in words
    by        the algorithm or theorem that attains the time, in words; "" if `because` already names it
    """

    bound: float
    attained: float | None
    proof: Cut | Partition | None
    because: str
    by: str = ""

    @property
    def met(self) -> bool:
        """Whether the attained time equals the bound, within the relative error `CLOSED` of linear programs."""
        return self.attained is not None and self.attained <= self.bound * (1 + CLOSED)

    @property
    def method(self) -> str:
        """The proof of the bound, and the algorithm that attains the bound or comes nearest, in words."""
        if self.attained is None:
            return f"no less: {self.because}; {UNKNOWN}"
        if self.met:
            return f"{self.because}; attained by {self.by}" if self.by else self.because
        return f"no less: {self.because}; best known: {self.by or self.because}"


def optimum(topology: Topology, operation: str, *, root: int = 0, use_symmetry: bool = True) -> Optimum:
    """Return a lower bound on the time of every algorithm, and the time that theorems attain.

    Ranks may send on data that they received, even ranks at hosts that forward no packets.

    root   number of the terminal that is the root of a broadcast or reduce

    Raises BadInput if fewer than two nodes have terminals, or if no path joins some of them; Refused if the network is
    too large.
    """
    check_network(topology, operation, root)
    topology = relaying(topology)
    if operation == "all_to_all":
        return _all_to_all(topology, use_symmetry=use_symmetry)
    if OPERATIONS[operation].rooted:
        return _from_root(topology, operation, root)
    if operation in ("all_reduce", IN_NETWORK):
        bounding = _all_reduce if operation == "all_reduce" else _all_reduce_in_network
        found = bounding(surviving_network(topology), use_symmetry=use_symmetry)
        return found._replace(proof=_numbered(found.proof, topology))
    return _gathered(topology, reverse=operation == "reduce_scatter", use_symmetry=use_symmetry)


def _numbered(proof: Cut | Partition | None, topology: Topology) -> Cut | Partition | None:
    """Translate the node numbers in a proof from the network without failed nodes to the whole network."""
    alive = np.flatnonzero(topology.works).astype(np.int32)
    if isinstance(proof, Cut):
        return proof._replace(nodes=alive[proof.nodes])
    if isinstance(proof, Partition):
        part = np.full(topology.nodes, -1, np.int32)
        part[alive] = proof.part
        return proof._replace(part=part)
    return proof


def _gathered(topology: Topology, *, reverse: bool, use_symmetry: bool) -> Optimum:
    """Bound an all-gather by N⁻¹ max |S| / c(δ⁺S) over sets S of terminals (Zhao et al. 2023, ForestColl, theorem 1).

    Every terminal can send to all others at the rate x = min c(δ⁺S) / w(S): trees that span the network can be packed
    if no cut is too narrow (`_attained`). With `reverse`, all channels are reversed, which bounds a reduce-scatter.
    """
    channels, weight = channels_of(topology, reverse=reverse), weight_of(topology)
    found = orbits(topology, use_symmetry=use_symmetry)
    sinks = found.representatives[weight[found.representatives] > 0]
    visits = float(len(channels.to)) * len(sinks) * topology.nodes**0.5
    _check_work(topology, visits, "choose a smaller network, or one whose nodes look alike")
    best = least_ratio_cut(channels, weight, sinks)
    ratio = Fraction(best.weight * cycles_of(topology), best.capacity) / len(topology.terminals)
    cut = _cut(topology, best, best.weight, enters=reverse)
    alone = int(np.bincount(best.inside).min()) == 1
    flows = f"{counted(best.flows, 'maximum flow')}: no cut is narrower for the data that must cross it"
    by = _attained(topology, weight)
    return Optimum(float(ratio), float(ratio) if by else None, cut, f"{'a node' if alone else 'a cut'}, {flows}", by)


def _attained(topology: Topology, weight: np.ndarray) -> str:
    """Name the packed trees that attain the bound by cuts; "" if none are known.

    Trees to all nodes can be packed, as no cut is too narrow (Edmonds 1973). They need not contain a node without a
    terminal, whose channels in and out can be joined in pairs if their numbers are equal (Bang-Jensen, Frank & Jackson
    1995). Otherwise a node may usefully copy data in some trees and not in others, and cuts do not decide.
    """
    entering, leaving = strengths(flit_matrix(topology)[0])
    bare = (weight == 0) & (entering + leaving > 0)  # failed nodes have no channels
    if not bare.any():
        return TREES
    return SPLIT if (entering == leaving)[bare].all() else ""


def _check_work(topology: Topology, visits: float, remedy: str) -> None:
    if visits > MOST_WORK:
        raise Refused(
            f"optimum of {topology.spelling}: expected at most about {MOST_WORK:.0g} visits of channels by maximum"
            f" flows, got {visits:.2g}; {remedy}"
        )


def _cut(topology: Topology, best: RatioCut, weight: int, *, enters: bool) -> Cut:
    """Return the cut around the set of nodes in `best`. Data leave this set or, if `enters`, enter it."""
    members, others = np.flatnonzero(best.inside), np.flatnonzero(~best.inside)
    inner = len(members) <= len(others)
    out = channel_matrix(topology).T if enters else channel_matrix(topology)
    links = int((out @ (~best.inside).astype(np.int64))[best.inside].sum())
    flits = Fraction(best.capacity, cycles_of(topology))
    return Cut((members if inner else others).astype(np.int32), enters == inner, weight, links, flits)


def _from_root(topology: Topology, operation: str, root: int) -> Optimum:
    """Bound a broadcast by 1 over the least number of channels whose removal cuts a terminal off from the root.

    The same number of trees out of the root can be packed (`_attained`). A reduce is a broadcast on reversed channels.
    """
    reverse = operation == "reduce"
    channels, weight = channels_of(topology, reverse=reverse), weight_of(topology)
    node = int(topology.terminals[root])
    source = np.zeros(topology.nodes, np.int64)
    source[node] = 1
    sinks = np.flatnonzero(weight)
    _check_work(topology, float(FEW_PHASES) * len(channels.to) * len(sinks), "choose a smaller network")
    best = least_ratio_cut(channels, source, sinks[sinks != node])
    cut = _cut(topology, best, 1, enters=reverse)
    method = f"the narrowest of {counted(best.flows, 'minimum cut')} between the root and another terminal"
    by, time = _attained(topology, weight), float(1 / cut.capacity)
    return Optimum(time, time if by else None, cut, method, by)


def _all_to_all(topology: Topology, *, use_symmetry: bool) -> Optimum:
    """Bound an all-to-all, which is uniform traffic, by the greatest throughput of any routing (linear programming)."""
    try:
        found = capacity(topology, "uniform", use_symmetry=use_symmetry)
    except Refused:  # too large a linear program
        pass
    else:
        return Optimum(1 / found.bound, 1 / found.throughput, None, found.method)
    terminals, weight = len(topology.terminals), weight_of(topology).astype(np.float64)
    roots = np.flatnonzero(weight).astype(np.int32)
    if terminals > MOST_ROUTED:
        raise Refused(
            f"optimum of all_to_all on {topology.spelling}: expected at most {MOST_ROUTED:,} terminals, got"
            f" {terminals:,}; choose a smaller network"
        )
    loads = minimal_loads(topology.ports, roots, weight[roots], demand=weight, capacity=topology.capacity)
    busiest = float(topology.load_of(loads.load).max()) / terminals
    present = topology.ports != NO_PORT
    flits = int(present.sum()) if topology.bandwidth is None else float(topology.bandwidth[present].sum())
    bound = loads.hops / terminals / flits
    method = "hops of shortest paths over all channels, as the linear program is too large"
    return Optimum(min(bound, busiest), busiest, None, method, "minimal routing")


def _all_reduce(topology: Topology, *, use_symmetry: bool) -> Optimum:
    """Bound an all-reduce by max (|P| − 1) / c(P) over partitions P, with c(P) flits per cycle each way between parts.

    No algorithm is faster: for each flit of the vectors, p parts need 2p − 2 one-way messages until each part knows of
    all others (Harary & Schwenk 1974), and a message occupies a channel between parts for a cycle. The bound is
    attained: c(P) / (|P| − 1) is the rate at which undirected spanning trees can be packed (Nash-Williams 1961; Tutte
    1961). Flits are added up along a tree, and the sum returns along the same links in the other direction.

    The trees need terminals at all nodes and bidirectional links. On other networks, reduce-scatter and then all-gather
    attain the sum of their times. Nodes without terminals that add up or copy flits would break the bound.
    """
    weight = weight_of(topology)
    channels = channels_of(topology)
    if topology.directed or not weight.all():
        return _bounded_all_reduce(topology, weight, use_symmetry=use_symmetry)
    if alike(topology) and len(orbits(topology, use_symmetry=use_symmetry).representatives) == 1:
        return _symmetric_all_reduce(topology)
    if topology.nodes * len(channels.to) > MOST_STRENGTH:
        raise Refused(
            f"optimum of all_reduce on {topology.spelling}: expected at most {MOST_STRENGTH:,} pairs of node and"
            f" channel, got {topology.nodes * len(channels.to):,}; choose a smaller network"
        )
    found = strength(channels)
    parts = int(found.part.max()) + 1
    time = float(Fraction(found.links * cycles_of(topology), found.trees))
    flits = Fraction(2 * (parts - 1) * found.trees, found.links * cycles_of(topology))
    partition = Partition(found.part, parts, _links_between(topology, found.part), flits)
    return Optimum(time, time, partition, _messages(topology, partition), PACKED)


def _all_reduce_in_network(topology: Topology, *, use_symmetry: bool) -> Optimum:
    """Bound an all-reduce with sums in switches by max 1 / c(S) over sets S with terminals inside and outside.

    Each flit of the sum crosses the cut in both directions, whichever node adds up. The bound of `_all_reduce` also
    holds, for partitions into sets that each have a terminal; if each node has a terminal, it is the only bound.
    """
    weight, channels = weight_of(topology), channels_of(topology)
    if weight.all():
        return _all_reduce(topology, use_symmetry=use_symmetry)
    visits = 2.0 * FEW_PHASES * len(channels.to) * int((weight > 0).sum())
    _check_work(topology, visits, "choose a smaller network")
    narrowest = _narrowest(topology, weight)
    found = Optimum(float(1 / narrowest.capacity), None, narrowest, CROSSES)
    if topology.directed or topology.nodes > MOST_NODES:
        return found
    packing, cycles = packing_of(topology), cycles_of(topology)
    found = found._replace(attained=float(cycles / packing.share.sum()), by="algorithm trees_in_network")
    parts, crossing = int(packing.part.max()) + 1, packing.part[packing.links.one] != packing.part[packing.links.other]
    flits = Fraction(2 * int(packing.links.room[crossing].sum()), cycles)
    if parts < 2 or Fraction(2 * parts - 2) / flits <= 1 / narrowest.capacity:
        return found
    partition = Partition(packing.part.astype(np.int32), parts, _links_between(topology, packing.part), flits)
    time = float((2 * parts - 2) / flits)
    return found._replace(bound=time, proof=partition, because=_messages(topology, partition))


def _symmetric_all_reduce(topology: Topology) -> Optimum:
    """Return the optimum if all nodes look alike: the partition into single nodes proves the bound (Mader 1971)."""
    nodes = topology.nodes
    flits = 2 * topology.links * (topology.plan.bandwidths or (Fraction(1),))[0]
    partition = Partition(np.arange(nodes, dtype=np.int32), nodes, 2 * topology.links, flits)
    time = float(2 * (nodes - 1) / flits)
    return Optimum(time, time, partition, f"{_messages(topology, partition)}, all nodes look alike", PACKED)


def _links_between(topology: Topology, part: np.ndarray) -> int:
    """Return the number of links between different sets, both ways together; `part`, int[N], is each node's set."""
    tail, head, port = topology.arcs
    crossing = part[tail] != part[head]
    return int(crossing.sum() if topology.capacity is None else topology.capacity[tail, port][crossing].sum())


def _messages(topology: Topology, partition: Partition) -> str:
    sets = "all nodes" if partition.parts == topology.nodes else f"a partition into {partition.parts:,} sets"
    messages, ways = 2 * partition.parts - 2, channels_in_words(partition.links, partition.capacity)
    return f"{sets}: {messages:,} messages a flit over {ways} (Harary & Schwenk 1974)"


def channels_in_words(links: int, capacity: Fraction | float) -> str:
    """Return '3 channels', or '3 channels of 4.5 flits a cycle' if they do not carry one flit each."""
    flits = "" if capacity == links else f" of {float(capacity):,.6g} flits a cycle"
    return f"{counted(links, 'channel')}{flits}"


def _bounded_all_reduce(topology: Topology, weight: np.ndarray, *, use_symmetry: bool) -> Optimum:
    scattered, gathered = (_gathered(topology, reverse=way, use_symmetry=use_symmetry) for way in (True, False))
    links, flits = (
        [int(total[weight > 0].sum()) for total in strengths(matrix)]  # out of the terminals' nodes, and into them
        for matrix in (channel_matrix(topology), flit_matrix(topology)[0])
    )
    members, few = int((weight > 0).sum()), flits.index(min(flits))
    bandwidth = Fraction(flits[few], cycles_of(topology))
    counting = float(2 * (members - 1) / bandwidth)
    part = np.where(weight > 0, np.cumsum(weight > 0) - 1, -1).astype(np.int32)
    proof = Partition(part, members, links[few], bandwidth)
    method = (
        f"{2 * members - 2:,} messages a flit over {channels_in_words(links[few], bandwidth)} (Harary & Schwenk 1974)"
    )
    attained = None if None in (gathered.attained, scattered.attained) else gathered.bound + scattered.bound
    counted_out = Optimum(counting, attained, proof, method, HALVES if attained else "")
    if counted_out.met:  # then no cut proves more
        return counted_out
    narrowest = _narrowest(topology, weight)
    if 1 / narrowest.capacity <= counting:
        return counted_out
    return counted_out._replace(bound=float(1 / narrowest.capacity), proof=narrowest, because=CROSSES)


def _narrowest(topology: Topology, weight: np.ndarray) -> Cut:
    """Return the narrowest cut that separates terminals, in either direction."""
    members = np.flatnonzero(weight)
    source = np.zeros(topology.nodes, np.int64)
    source[members[0]] = 1
    cuts = []
    for reverse in (False, True):
        best = least_ratio_cut(channels_of(topology, reverse=reverse), source, members[1:])
        cuts.append(_cut(topology, best, 1, enters=reverse))
    return min(cuts, key=lambda cut: cut.capacity)
