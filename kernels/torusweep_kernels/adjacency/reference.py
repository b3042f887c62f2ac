"""Specification of `torusweep_kernels.adjacency` in NumPy, by sorting."""

from __future__ import annotations

from typing import Any

import numpy as np


def rows_of_links(links: np.ndarray, nodes: int, directed: bool, threads: int | None) -> Any:
    """Specification of `torusweep_kernels.adjacency.rows_of_links`."""
    from torusweep_kernels.adjacency import Rows, narrow

    tail, head = links.astype(np.int64).T
    loops = int((tail == head).sum())
    arcs, listed = np.unique((tail * nodes + head)[tail != head], return_counts=True)
    both, backwards = 0, arcs
    if not directed and len(arcs):
        backwards = arcs % nodes * nodes + arcs // nodes
        both = int(np.isin(arcs, backwards).sum()) // 2
        arcs, place = np.unique(np.append(arcs, backwards), return_inverse=True)
        most = np.zeros(len(arcs), np.int64)
        np.maximum.at(most, place, np.append(listed, listed))
        listed = most
    repeated = int((listed > 1).sum()) // (1 if directed else 2)
    degree = np.bincount(arcs // max(nodes, 1), minlength=nodes).astype(np.int32)
    first = np.cumsum(degree, dtype=np.int64) - degree
    parallel = listed.astype(narrow(int(listed.max()))) if repeated else None
    number = int(listed.sum()) // (1 if directed else 2)
    return Rows(first, degree, (arcs % max(nodes, 1)).astype(np.int32), parallel, number, loops, both, repeated)


def table_of_rows(rows: Any, threads: int | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Specification of `torusweep_kernels.adjacency.table_of_rows`."""
    nodes, width = len(rows.degree), int(rows.degree.max(initial=0))
    used = np.arange(width) < rows.degree[:, None]
    place = (rows.first[:, None] + np.arange(width))[used]
    ports = np.full((nodes, width), -1, np.int32)
    ports[used] = rows.to[place]
    if rows.parallel is None:
        return ports, None
    capacity = np.zeros((nodes, width), rows.parallel.dtype)
    capacity[used] = rows.parallel[place]
    return ports, capacity


def is_symmetric(ports: np.ndarray, capacity: np.ndarray | None, threads: int | None) -> bool:
    """Specification of `torusweep_kernels.adjacency.is_symmetric`."""
    tail, port = np.nonzero(ports >= 0)
    head = ports[tail, port].astype(np.int64)
    weight = np.ones(len(tail), np.int64) if capacity is None else capacity[tail, port].astype(np.int64)
    scale = int(weight.max(initial=1)) + 1
    forth = np.sort((tail * len(ports) + head) * scale + weight)
    back = np.sort((head * len(ports) + tail) * scale + weight)
    return bool(np.array_equal(forth, back))
