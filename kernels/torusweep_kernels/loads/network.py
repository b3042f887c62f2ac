"""The task of all three implementations, and its channels by either end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Task(NamedTuple):
    """The arguments of `minimal_loads`, after its checks.

    ports int32[N, P], roots int32[R], weights float64[R], inward: whether traffic flows to the roots and splits over
    next hops, demand float64[N] or float64[R, N], capacity int32[N, P] | None, order int64[R]: the order in which roots
    are summed"""

    ports: np.ndarray
    roots: np.ndarray
    weights: np.ndarray
    inward: bool
    demand: np.ndarray
    capacity: np.ndarray | None
    order: np.ndarray

    @property
    def nodes(self) -> int:
        return self.ports.shape[0]

    def block(self, first: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(roots int32[B], weights float64[B], demand float64[B or 1, N]) from number `first` on, in `order`."""
        places = self.order[first : first + size]
        return (
            self.roots[places],
            self.weights[places],
            self.demand[places] if self.demand.ndim == 2 else self.demand[None],
        )


class Arcs(NamedTuple):
    """The channels at each node, in node and port order.

    start     int64[N+1]        the channels of node v are start[v] … start[v+1] − 1
    node      int32[A]          the other end
    channel   int64[A]          place in ports.ravel()
    capacity  float64[A] | None parallel links
    """

    start: np.ndarray
    node: np.ndarray
    channel: np.ndarray
    capacity: np.ndarray | None


class Totals(NamedTuple):
    """Per root, float64[R] each: demand delivered and not deliverable, demand × distance, the largest number of
    paths to a node. Sums are over nodes in their order, on all backends."""

    delivered: np.ndarray
    unreachable: np.ndarray
    hops: np.ndarray
    most_paths: np.ndarray


def arcs(task: Task) -> tuple[Arcs, Arcs]:
    """(arcs towards the root, arcs away from it) at each node.

    Where traffic starts at the roots, arcs away from a root have the direction of the channels; where it ends at the
    roots, the opposite direction.
    """
    flat = task.ports.ravel()
    channel = np.flatnonzero(flat >= 0)
    tail, head = (channel // max(task.ports.shape[1], 1)).astype(np.int32), flat[channel]
    capacity = None if task.capacity is None else task.capacity.ravel()[channel].astype(np.float64)

    def by(own: np.ndarray, other: np.ndarray, order: np.ndarray | slice) -> Arcs:
        start = np.zeros(task.nodes + 1, np.int64)
        np.cumsum(np.bincount(own, minlength=task.nodes), out=start[1:])
        return Arcs(start, other[order], channel[order], None if capacity is None else capacity[order])

    out, into = by(tail, head, slice(None)), by(head, tail, np.argsort(head, kind="stable"))
    return (out, into) if task.inward else (into, out)
