"""Wiring from lists of links, for networks whose routers have several terminals or none."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from torusweep.networks.topology import NO_PORT, Whole, Wiring

Terminals = Annotated[int, Whole(1, "terminals of each router")]


class ClassLinks(NamedTuple):
    """Links of one class: int[L] ends of each; where links have a direction, from `tail` to `head`."""

    tail: np.ndarray
    head: np.ndarray
    link_class: int = 0


def terminals_of(routers: np.ndarray, each: int) -> np.ndarray:
    """int32[T]: the node of each terminal, `each` terminals at every router of int[R], those of a router in a row."""
    return np.repeat(routers, each).astype(np.int32)


def wiring_of_links(
    nodes: int, listed: list[ClassLinks], *, directed: bool = False, terminals: np.ndarray | None = None
) -> Wiring:
    """Wiring with the ports of a node in the order of their classes, then of their neighbours.

    terminals   int32[T], node of each; None: one terminal at every node
    A link that is listed again, in any class, is a parallel one. Links from a node to itself are left out.
    """
    tail = np.concatenate([links.tail for links in listed]).astype(np.int64)
    head = np.concatenate([links.head for links in listed]).astype(np.int64)
    kind = np.repeat([links.link_class for links in listed], [len(links.tail) for links in listed])
    if not directed:
        tail, head, kind = np.append(tail, head), np.append(head, tail), np.append(kind, kind)
    apart = tail != head
    tail, head, kind = tail[apart], head[apart], kind[apart]
    order = np.lexsort((kind, head, tail))
    arcs, first, parallel = np.unique((tail * nodes + head)[order], return_index=True, return_counts=True)
    kind = kind[order][first]
    by_class = np.lexsort((arcs, kind, arcs // nodes))
    tail, head, kind, parallel = (arcs // nodes)[by_class], (arcs % nodes)[by_class], kind[by_class], parallel[by_class]
    port = np.arange(len(tail)) - np.searchsorted(tail, tail)
    shape = nodes, int(port.max(initial=-1)) + 1
    ports, link_class, capacity = np.full(shape, NO_PORT, np.int32), np.zeros(shape, np.int8), np.zeros(shape, np.int32)
    ports[tail, port], link_class[tail, port], capacity[tail, port] = head, kind, parallel
    return Wiring(ports, link_class, capacity if (parallel > 1).any() else None, terminals)
