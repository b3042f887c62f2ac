"""Minimum cuts between nodes that are near each other, by augmenting paths, and which pairs of nodes suffice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Channels(NamedTuple):
    """A network's channels by their tails, each with its reverse channel.

    first     int64[N + 1]  channels first[u] … first[u + 1] − 1 leave node u
    to        int32[E]      their heads, ascending for each node
    capacity  int64[E]      links; 0 if only the reverse channel exists
    back      int64[E]      the reverse channel
    """

    first: np.ndarray
    to: np.ndarray
    capacity: np.ndarray
    back: np.ndarray


def both_ways(first: np.ndarray, to: np.ndarray, capacity: np.ndarray) -> Channels:
    """The channels of a network, with a reverse channel of capacity 0 where there is none."""
    from torusweep_kernels.cuts import cpu

    return Channels(first, to, capacity, cpu.ways_back(first, to))


class LeastCut(NamedTuple):
    """links: the minimum cut, at most `enough`; pairs: searched pairs; looks: visits of channels."""

    links: int
    pairs: int
    looks: int


def least_cut(channels: Channels, tails: np.ndarray, heads: np.ndarray, *, enough: int, looks: int) -> LeastCut:
    """The least number of links whose removal leaves some head without a path from its tail; at most `enough`.

    tails, heads  int[K], K ≥ 1 pairs of two nodes each
    looks         the search ends after the pair with which its visits of channels exceed this

    A minimum cut has as many links as there are link-disjoint paths (Menger 1927; Ford & Fulkerson 1956). Augmenting
    paths are searched breadth first from both nodes at once, so that a search between near nodes stays near them. A
    pair's search ends when it has found as many paths as the least cut so far has links.
    """
    from torusweep_kernels.cuts import cpu

    pairs = np.ascontiguousarray(tails, np.int64), np.ascontiguousarray(heads, np.int64)
    return LeastCut(*cpu.least_cut(*channels, *pairs, enough, looks))


def dominating_set(
    first: np.ndarray, to: np.ndarray, into: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(members int32[M], cluster int32[N]): a dominating set in both directions, in order of nodes.

    Every node is a member, or it has a channel to a member and one from a member.

    first, to     int64[N + 1], int32[E]  channels first[u] … first[u + 1] − 1 lead from node u to `to`
    into, origin  int64[N + 1], int32[E]  channels into[v] … into[v + 1] − 1 lead to node v from `origin`
    cluster       place in `members` of the first member that is the node, or a neighbour in either direction

    The set is chosen greedily, by the nodes' numbers.
    """
    from torusweep_kernels.cuts import cpu

    return cpu.dominating_set(first, to, into, origin)


def spanning_tree(first: np.ndarray, to: np.ndarray, cluster: np.ndarray, clusters: int) -> np.ndarray:
    """int32[clusters]: each cluster's parent in a breadth-first tree from cluster 0; −1 = root or not reached.

    first, to  int64[N + 1], int32[E]  channels first[u] … first[u + 1] − 1 lead from node u to `to`
    cluster    int32[N]                of each node, 0 … clusters − 1; a channel joins those of its ends
    """
    from torusweep_kernels.cuts import cpu

    return cpu.spanning_tree(first, to, cluster, clusters)
