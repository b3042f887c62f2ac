"""The task of all three implementations of loads, and the network's channels sorted by either end."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

BLOCK = 16  # roots that the CPU searches from at once


class Channels:
    """Cache that calls for one network share: its arcs, and their copy on a GPU.

    A caller that makes several calls for a network makes one cache, and gives it to each call.
    """

    def __init__(self) -> None:
        self.network: tuple[np.ndarray, np.ndarray | None, bool] | None = None  # ports, capacity, inward
        self.arcs: Any = None  # (towards the root, away from it)
        self.copies: dict[int, Any] = {}  # device number → arrays there

    def of(self, task: Task) -> Channels:
        """Return this cache with the arcs of the task, which are derived anew if they belonged to another network."""
        if self.network is None or not same_network(self.network, (task.ports, task.capacity, task.how.inward)):
            capacity = None if task.capacity is None else task.capacity.copy()
            self.network = task.ports.copy(), capacity, task.how.inward
            self.arcs, self.copies = derived(task), {}
        return self


def same_network(
    one: tuple[np.ndarray, np.ndarray | None, bool], other: tuple[np.ndarray, np.ndarray | None, bool]
) -> bool:
    (ports, capacity, inward), (others, another, way) = one, other
    if inward != way or not np.array_equal(ports, others):
        return False
    return capacity is another if capacity is None or another is None else np.array_equal(capacity, another)


class Ways(NamedTuple):
    """How traffic flows.

    by_hops  whether it splits equally over next hops instead of over paths
    inward   whether it flows to the roots instead of from the roots
    exact    whether numbers have twice the digits of float64
    """

    by_hops: bool
    inward: bool
    exact: bool = False


class Task(NamedTuple):
    """The arguments of `minimal_loads`, after its checks: ports int32[N, P], roots int32[R], weights float64[R], how,
    demand float64[N] or float64[R, N], capacity int32[N, P] | None, order int64[R]: the order in which roots are
    summed, channels: a cache that several calls share.
    """

    ports: np.ndarray
    roots: np.ndarray
    weights: np.ndarray
    how: Ways
    demand: np.ndarray
    capacity: np.ndarray | None
    order: np.ndarray
    channels: Channels | None = None

    @property
    def nodes(self) -> int:
        return self.ports.shape[0]

    def block(self, first: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (roots int32[B], weights float64[B], demand float64[B or 1, N]) from number `first` of `order` on."""
        places = self.order[first : first + size]
        return (
            self.roots[places],
            self.weights[places],
            self.demand[places] if self.demand.ndim == 2 else self.demand[None],
        )


class Arcs(NamedTuple):
    """The channels at each node, in node and port order.

    start     int64[N+1]        the channels of node v are start[v] … start[v+1] − 1
    node      int32[A]          node at the other end of each channel
    channel   int64[A]          place of each channel in ports.ravel()
    capacity  float64[A] | None number of parallel links of each channel
    """

    start: np.ndarray
    node: np.ndarray
    channel: np.ndarray
    capacity: np.ndarray | None


class Totals(NamedTuple):
    """Sums over nodes in their order, the same on all backends, float64[R] each: demand delivered, demand without a
    path and demand × distance. most_paths: the largest number of paths to a node.
    """

    delivered: np.ndarray
    unreachable: np.ndarray
    hops: np.ndarray
    most_paths: np.ndarray


def arcs(task: Task) -> tuple[Arcs, Arcs]:
    """Return (arcs towards the root, arcs away from it) at each node, from the cache if that has them."""
    return derived(task) if task.channels is None else task.channels.of(task).arcs


def derived(task: Task) -> tuple[Arcs, Arcs]:
    """Derive (arcs towards the root, arcs away from it) at each node.

    If traffic starts at the roots, arcs away from a root have the direction of the channels; if it ends at the roots,
    they have the opposite direction.
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
    return (out, into) if task.how.inward else (into, out)
