"""Find minimum cuts between nearby nodes (by augmenting paths), and cuts with the least ratio of capacity to weight."""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

import numpy as np


class Channels(NamedTuple):
    """A network's channels, sorted by their tails, each with its reverse channel.

    first     int64[N + 1]  channels first[u] … first[u + 1] − 1 leave node u
    to        int32[E]      head of each channel, ascending for each tail
    capacity  int64[E]      number of links; 0 if only the reverse channel exists
    back      int64[E]      number of the reverse channel
    """

    first: np.ndarray
    to: np.ndarray
    capacity: np.ndarray
    back: np.ndarray


def both_ways(first: np.ndarray, to: np.ndarray, capacity: np.ndarray) -> Channels:
    """Return the channels with each one's reverse, which must be listed (with capacity 0 if it does not exist)."""
    from torusweep_kernels.cuts import cpu

    return Channels(first, to, capacity, cpu.ways_back(first, to))


class LeastCut(NamedTuple):
    """The result of `least_cut`: links of a minimum cut (at most `enough`), pairs searched, and channels visited."""

    links: int
    pairs: int
    looks: int


def least_cut(channels: Channels, tails: np.ndarray, heads: np.ndarray, *, enough: int, looks: int) -> LeastCut:
    """Return the least number of links (at most `enough`) whose removal leaves some head without a path from its tail.

    tails, heads  int[K], K ≥ 1 pairs of distinct nodes
    looks         limit on channel visits: the search ends after the pair that exceeds it

    A minimum cut has as many links as there are link-disjoint paths (Menger 1927; Ford & Fulkerson 1956). Augmenting
    paths are searched breadth first from both nodes at once, so that a search between near nodes stays near them. A
    pair's search ends when it has found as many paths as the least cut so far has links.
    """
    from torusweep_kernels.cuts import cpu

    pairs = np.ascontiguousarray(tails, np.int64), np.ascontiguousarray(heads, np.int64)
    return LeastCut(*cpu.least_cut(*channels, *pairs, enough, looks))


class RatioCut(NamedTuple):
    """A set of nodes (`inside`, bool[N]), the capacity that leaves the set, its weight, and the number of flows."""

    capacity: int
    weight: int
    inside: np.ndarray
    flows: int


def least_ratio_cut(channels: Channels, weight: np.ndarray, sinks: np.ndarray) -> RatioCut:
    """Return the set S of nodes with the least ratio c(δ⁺S) / w(S) of its leaving capacity to its weight.

    weight  int[N] ≥ 0     weight of each node; w(S) > 0
    sinks   int[K], K ≥ 1  at least one of these nodes is not in S

    Every sink can receive `capacity / weight` units per cycle from each unit of weight elsewhere, all at once, and no
    greater rate suits all sinks. Method: for each sink, a maximum flow at the rate of the best cut so far. If it does
    not carry everything, its minimum cut is better (Dinkelbach 1967). All arithmetic is in whole numbers.
    """
    from torusweep_kernels.cuts import flow

    sinks = np.ascontiguousarray(sinks, np.int64)
    found = flow.least_ratio_cut(*channels, np.ascontiguousarray(weight, np.int64), sinks)
    return RatioCut(int(found[0]), int(found[1]), found[2], int(found[3]))


class Strength(NamedTuple):
    """The strength trees / links of a graph: the most spanning trees that can be packed per use of a link.

    trees, links  int, without a common factor
    part          int32[N]  each node's part in a partition with `trees / links` crossing links for each part but one,
                  which proves that no more trees can be packed
    entering      int64[E]  how often each channel leads away from node 0, in 2 · trees trees that use a link 2 · links
                  times for each unit of capacity; the two directions of a link have 2 · links together
    """

    trees: int
    links: int
    part: np.ndarray
    entering: np.ndarray


def strength(channels: Channels) -> Strength:
    """Return the strength of a connected undirected graph: min c(P) / (|P| − 1) over partitions P into ≥ 2 parts.

    c(P) is the capacity of links between parts. As many spanning trees can be packed (Nash-Williams 1961; Tutte 1961).
    Method: by a maximum flow for each node, find the partition that most violates the least ratio so far, until no
    partition violates it (Cunningham 1985).

    channels  both directions of every link, of the same capacity
    """
    from torusweep_kernels.cuts import flow as kernel

    first, to, capacity, back = channels
    nodes = len(first) - 1
    part = np.arange(nodes, dtype=np.int32)
    drained = kernel.with_drain(first, to, back)
    tail = np.repeat(np.arange(nodes), np.diff(first))
    while True:
        crossing = int(capacity[part[tail] != part[to]].sum()) // 2
        parts = len(np.unique(part))
        common = gcd(crossing, parts - 1)
        trees, links = crossing // common, (parts - 1) // common
        y, narrower = kernel.truncate(first, to, back, capacity, drained, trees, links)
        if int(y.sum()) >= -2 * trees:
            break
        part = narrower
    # Frank's orientation: units that enter each node, so that every set without node 0 is entered 2 · trees times
    y[0] += 2 * trees
    wanted = links * np.bincount(tail, capacity, nodes).astype(np.int64) - y
    entering = kernel.orient(first, to, back, drained, links * capacity, wanted)
    return Strength(trees, links, np.unique(part, return_inverse=True)[1].astype(np.int32), entering)


def dominating_set(
    first: np.ndarray, to: np.ndarray, into: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (members int32[M], cluster int32[N]): a set of nodes, ascending, that dominates in both directions.

    Every node is a member, or has a channel to a member and a channel from a member.

    first, to     int64[N + 1], int32[E]  channels first[u] … first[u + 1] − 1 lead from node u to `to`
    into, origin  int64[N + 1], int32[E]  channels into[v] … into[v + 1] − 1 lead to node v from `origin`
    cluster       index in `members` of the first member that is the node or its neighbour in either direction

    Nodes are taken greedily in the order of their numbers.
    """
    from torusweep_kernels.cuts import cpu

    return cpu.dominating_set(first, to, into, origin)


def spanning_tree(first: np.ndarray, to: np.ndarray, cluster: np.ndarray, clusters: int) -> np.ndarray:
    """Return int32[clusters]: each cluster's parent in a breadth-first tree from cluster 0; −1 = root or not reached.

    first, to  int64[N + 1], int32[E]  channels first[u] … first[u + 1] − 1 lead from node u to `to`
    cluster    int32[N]                cluster of each node, 0 … clusters − 1; a channel joins its ends' clusters
    """
    from torusweep_kernels.cuts import cpu

    return cpu.spanning_tree(first, to, cluster, clusters)
