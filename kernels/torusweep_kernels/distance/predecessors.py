"""Predecessors of every node, for kernels in which a node pulls from its in-neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np


def predecessors(ports: Any, xp: Any = np) -> tuple[Any, Any]:
    """(start int64[N+1], predecessor int32[A]): node v is reached by one link from predecessor[start[v] : start[v+1]].

    ports int32[N, d]. Rows have any length, so that a hub costs only its links.
    """
    flat = ports.ravel()
    present = xp.flatnonzero(flat >= 0)
    return by_head((present // max(ports.shape[1], 1)).astype(np.int32), flat[present], ports.shape[0], xp)


def by_head(tail: Any, head: Any, nodes: int, xp: Any) -> tuple[Any, Any]:
    """(start int64[N+1], int32[A]): the arcs' tails sorted by head; start[v] is the place of the first arc to v.

    tail, head   int32[A]
    """
    start = xp.zeros(nodes + 1, np.int64)
    start[1:] = xp.cumsum(xp.bincount(head, minlength=nodes))
    return start, tail[xp.argsort(head, kind="stable")]


def table(start: Any, predecessor: Any, most: int, xp: Any) -> Any:
    """int32[k, N]: column v has the predecessors of node v, filled up with N; None where it would have no row or more
    than `most`, or be more than half empty.

    start int64[N+1], predecessor int32[A] as in `predecessors`
    """
    nodes, arcs = len(start) - 1, len(predecessor)
    rows = int((start[1:] - start[:-1]).max())
    if not 0 < rows <= most or not rows * nodes <= min(2 * arcs, 2**31 - 1):
        return None
    start = start.astype(np.int32)
    place = start[:-1] + xp.arange(rows, dtype=np.int32)[:, None]
    there = place < start[1:]
    return xp.where(there, predecessor[xp.where(there, place, 0)], nodes).astype(np.int32)


def same_degree(start: np.ndarray) -> int:
    """The number of arcs at each node if all nodes have as many, else 0; start int64[N+1] as in `by_head`."""
    many = np.diff(start)
    return int(many[0]) if len(many) and (many == many[0]).all() else 0
