"""Spanning trees out of every node that share a network's channels: packings of arborescences (Edmonds 1973)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels.cuts import Channels


class Trees(NamedTuple):
    """K spanning trees, all of whose channels lead away from the root.

    root    int32[K]     root of each tree, ascending
    units   int64[K]     how often each tree is used
    parent  int32[K, N]  parent of each node; −1 for the root
    """

    root: np.ndarray
    units: np.ndarray
    parent: np.ndarray


def hops_from(channels: Channels, roots: np.ndarray) -> np.ndarray:
    """Return int32[R, N]: hops from each root to each node; −1 where there is no path."""
    from torusweep_kernels.trees import cpu

    return cpu.distances(channels.first, channels.to, channels.capacity, np.ascontiguousarray(roots, np.int64))


def shortest_path_trees(channels: Channels, units: np.ndarray) -> Trees | None:
    """Return trees of shortest paths, `units[r]` from each root r, that use no channel more often than its capacity.

    channels  no parallel channels; a channel's capacity is how often it may be used
    units     int64[N] ≥ 0
    returns   None if no choice of shortest paths fits

    In a tree of shortest paths each node chooses its parent among the neighbours nearer to the root, independently of
    the other nodes, and a channel is used only by the choices of its head. So each node's choices for all roots are
    a flow from roots to the channels that enter the node.
    Raises ValueError if some node is not reached from a root.
    """
    from torusweep_kernels.trees import cpu

    units = np.ascontiguousarray(units, np.int64)
    roots = np.flatnonzero(units)
    distance = hops_from(channels, roots)
    if (distance < 0).any():
        raise ValueError("shortest_path_trees: expected paths from every root to every node, got a network in parts")
    share, fits = cpu.share_parents(*channels, roots, units, distance)
    if not fits:
        return None
    found = [_trees_of(channels, int(root), int(units[root]), share[i]) for i, root in enumerate(roots)]
    return Trees(*(np.concatenate(parts) for parts in zip(*found)))


def _trees_of(channels: Channels, root: int, units: int, share: np.ndarray) -> Trees:
    """Return one root's trees. share int64[N, J]: units for which each node's j-th leaving channel leads to its parent.

    At each node, the shares are put one after another; unit t takes the channel in whose share it falls.
    """
    ends = np.cumsum(share, axis=1)
    starts = np.unique(ends)
    starts = np.append(0, starts[(starts > 0) & (starts < units)])
    nodes = np.arange(len(share))
    parent = np.empty((len(starts), len(share)), np.int32)
    for place, start in enumerate(starts):
        choice = np.minimum((ends <= start).sum(axis=1), channels.first[1:] - channels.first[:-1] - 1)
        parent[place] = channels.to[channels.first[nodes] + choice]
    parent[:, root] = -1
    return Trees(np.full(len(starts), root, np.int32), np.diff(starts, append=units), parent)


def pack_trees(channels: Channels, units: np.ndarray) -> Trees:
    """Return `units[r]` spanning trees from each root r that together use no channel more often than its capacity.

    channels  no parallel channels; a channel's capacity is how often it may be used
    units     int64[N] ≥ 0

    Such trees exist if every set of nodes S can be entered as often as there are trees with a root outside:
    c(δ⁻S) ≥ Σ_{r ∉ S} units[r] (Edmonds 1973). A tree grows channel by channel. A channel is taken only if the
    rest can still be packed, which a maximum flow into its head decides (Bérczi & Frank 2010; Zhao et al. 2023,
    ForestColl, does the same). All units of a root grow together as long as they can.
    Raises ValueError if the trees cannot be packed.
    """
    from torusweep_kernels.trees import cpu

    units = np.ascontiguousarray(units, np.int64)
    capacity, waiting = channels.capacity.copy(), units.copy()
    found = []
    for root in np.flatnonzero(units):
        while waiting[root]:
            taken, parent = cpu.grow(channels.first, channels.to, channels.back, capacity, waiting, root)
            if not taken:
                raise ValueError(f"pack_trees: expected cuts as wide as their trees, got none left at root {root}")
            found.append((root, taken, parent))
    if not found:
        return Trees(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros((0, len(units)), np.int32))
    roots, taken, parents = zip(*found)
    return Trees(np.array(roots, np.int32), np.array(taken, np.int64), np.array(parents))
