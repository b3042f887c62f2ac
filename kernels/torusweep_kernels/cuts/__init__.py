"""Minimum cuts between pairs of near nodes, by augmenting paths searched from both ends; and which pairs suffice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Channels(NamedTuple):
    """A network's channels by the node that they leave, each with its reverse channel.

    first     int64[N + 1]  channels first[u] … first[u + 1] − 1 leave node u
    to        int32[E]      their heads, ascending for each node
    capacity  int64[E]      links; 0 for a channel of which only the reverse exists
    back      int64[E]      the reverse channel
    """

    first: np.ndarray
    to: np.ndarray
    capacity: np.ndarray
    back: np.ndarray


def both_ways(first: np.ndarray, to: np.ndarray, capacity: np.ndarray) -> Channels:
    """Channels of a network in which each one has its reverse, if only of capacity 0."""
    from torusweep_kernels.cuts import cpu

    return Channels(first, to, capacity, cpu.ways_back(first, to))


class LeastCut(NamedTuple):
    """links: the least cut, at most `enough`; pairs: pairs that were searched; looks: visits of channels."""

    links: int
    pairs: int
    looks: int


def least_cut(channels: Channels, tails: np.ndarray, heads: np.ndarray, *, enough: int, looks: int) -> LeastCut:
    """The least number of links whose removal leaves some head without a path from its tail; at most `enough`.

    tails, heads  int[K], K ≥ 1 pairs of two nodes each
    looks         about how many channels the search may visit: it ends after the pair that exceeds this

    Links are counted by paths that share none (Menger 1927; Ford & Fulkerson 1956). A path is searched breadth first
    from both nodes at once, over what earlier ones left free, so that near nodes are joined by what lies near them;
    and no more paths are looked for than the least cut so far has links.
    """
    from torusweep_kernels.cuts import cpu

    pairs = np.ascontiguousarray(tails, np.int64), np.ascontiguousarray(heads, np.int64)
    return LeastCut(*cpu.least_cut(*channels, *pairs, enough, looks))


def dominating(
    first: np.ndarray, to: np.ndarray, into: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(members int32[M], cluster int32[N]): nodes, in order, such that every node leads to one or is one, and so that
    one leads to it.

    first, to     int64[N + 1], int32[E]  channels first[u] … first[u + 1] − 1 lead from node u to `to`
    into, origin  int64[N + 1], int32[E]  and channels into[v] … into[v + 1] − 1 to node v, from `origin`
    cluster       the place in `members` of the first member that dominates the node, itself or by a channel either way

    Greedily, by the nodes' numbers.
    """
    from torusweep_kernels.cuts import cpu

    return cpu.dominating(first, to, into, origin)


def spanning(first: np.ndarray, to: np.ndarray, cluster: np.ndarray, clusters: int) -> np.ndarray:
    """int32[clusters]: each cluster's parent in a breadth-first tree out of cluster 0; −1 for that, and for those not
    reached.

    first, to  int64[N + 1], int32[E]  channels first[u] … first[u + 1] − 1 lead from node u to `to`
    cluster    int32[N]                of each node, 0 … clusters − 1; a channel joins those of its ends
    """
    from torusweep_kernels.cuts import cpu

    return cpu.spanning(first, to, cluster, clusters)
