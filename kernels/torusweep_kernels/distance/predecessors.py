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


def same_degree(start: np.ndarray) -> int:
    """The number of arcs at each node if all nodes have as many, else 0; start int64[N+1] as in `by_head`."""
    many = np.diff(start)
    return int(many[0]) if len(many) and (many == many[0]).all() else 0
