"""Compute all-pairs distances by breadth-first search from many sources at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import expecting
from torusweep_kernels.distance.reference import Task

LARGE = 2 * 10**8  # (source, node) pairs of a call from which auto uses a GPU (estimated: benchmarks/README.md)


class Distances(NamedTuple):
    """Distances in hops.

    histogram     int64[G, D+1]     (source, node) pairs of each group at each distance; pairs without a path are not
                                    counted; D is the largest distance
    eccentricity  int32[S] | None   largest distance from each source to a counted node that it reaches; 0 if none
    """

    histogram: np.ndarray
    eccentricity: np.ndarray | None


def all_pairs_distance(
    ports: np.ndarray,
    sources: np.ndarray,
    groups: np.ndarray,
    *,
    counted: np.ndarray | None = None,
    removed: np.ndarray | None = None,
    eccentricity: bool = False,
    backend: str = "auto",
    threads: int | None = None,
) -> Distances:
    """Compute distances from every source to every node, as a histogram for each group of sources.

    ports         int32[N, d]   neighbour through each port, −1 = none; links may be parallel or directed
    sources       int32[S]      nodes to start from; a node may occur several times
    groups        int32[S]      row of the histogram of each source, 0 … G−1; G = the largest + 1
    counted       bool[N]       nodes that count as destinations; None for all. Paths may lead through other nodes
    removed       int32[S, F]   for each source, nodes that are removed with their links; −1 = none
    eccentricity  whether to return the eccentricities
    backend       auto, numpy, numba or cupy; the result is the same to the bit. auto: cupy from 2·10⁸ pairs on if
                  there is a GPU, otherwise numba
    threads       CPU threads; by default all that Numba may use

    Method: bit-parallel breadth-first search in pull form: a bit for each source, a row of 64-bit words for each node,
    one OR for each link and level (Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", VLDB
    2014). Memory for each node: two rows of 512 bits per thread (numba), three rows of 1024 bits per thread (numpy),
    two or three rows of at most 4096 bits (cupy), fewer bits for large networks; also the links by their heads, as
    lists, so that a hub costs only its links. Numba uses a queue for few sources, and for thousands of levels. On a
    GPU, near sources are searched from together, and if few rows change in a level, only these are read.

    Raises ValueError for arrays that contradict each other, `torusweep_kernels.backend.BackendUnavailable` for cupy
    without a GPU, `torusweep_kernels.backend.GpuOutOfMemory` if the GPU's memory is too small for the network.
    """
    task = checked(Task(ports, sources, groups, counted, removed, eccentricity), threads, "all_pairs_distance")
    return searched(task, backends.resolve(backend, large=pairs(task) >= LARGE), threads)


def nodes_by_distance(ports: np.ndarray, source: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes that `source` reaches, nearest first (int32[R]), and how many there are at each distance.

    ports  int32[N, d], neighbour through each port, −1 = none
    returns  int32[R], which includes `source`; int64[D+1]

    A plain search with a queue, for distances to single nodes. Raises ValueError if the source is no node.
    """
    from torusweep_kernels.distance.single_source import breadth_first

    expecting("nodes_by_distance")(0 <= source < len(ports), f"a source of 0 … {len(ports) - 1}", source)
    queue, counts = np.empty(len(ports), np.int32), np.empty(len(ports), np.int64)
    seen, none = np.full(len(ports), -1, np.int32), np.zeros(0, np.int32)
    levels = breadth_first(ports, source, none, None, seen, 0, queue, counts)
    return queue[: counts[:levels].sum()], counts[:levels]


def pairs(task: Task) -> int:
    """Return the number of (source, node) pairs of a task."""
    return len(task.sources) * len(task.ports)


def searched(task: Task, backend: str, threads: int | None) -> Distances:
    """Compute the distances of a checked task with a resolved backend."""
    if not len(task.sources):
        return nothing(task)
    return Distances(*backends.implementation(__name__, backend).distances(task, threads))


def nothing(task: Task) -> Distances:
    """Return the distances of a task without sources."""
    return Distances(np.zeros((0, 1), np.int64), np.zeros(0, np.int32) if task.eccentricity else None)


def checked(task: Task, threads: int | None, where: str) -> Task:
    """Return the task with arrays of the right types. Raises ValueError, beginning with `where`, if they are wrong."""
    check(*task[:5], threads, where)
    ports, sources, groups = (np.ascontiguousarray(array, np.int32) for array in task[:3])
    counted = None if task.counted is None else np.ascontiguousarray(task.counted)
    removed = None if task.removed is None else np.ascontiguousarray(task.removed, np.int32)
    return Task(ports, sources, groups, counted, removed, task.eccentricity)


def check(
    ports: np.ndarray,
    sources: np.ndarray,
    groups: np.ndarray,
    counted: np.ndarray | None,
    removed: np.ndarray | None,
    threads: int | None,
    where: str,
) -> None:
    """Raise ValueError if the arrays do not agree; the message names the array and what was expected."""
    expect = expecting(where)
    for name, array in (("ports", ports), ("sources", sources), ("groups", groups), ("removed", removed)):
        expect(
            array is None or not array.size or array.dtype.kind in "iu",
            f"{name} of whole numbers",
            "" if array is None else array.dtype,
        )
    expect(ports.ndim == 2, "ports of shape [N, d]", ports.shape)
    nodes = len(ports)
    expect(sources.ndim == 1, "sources of shape [S]", sources.shape)
    expect(groups.shape == sources.shape, f"groups of shape {sources.shape}, one per source", groups.shape)
    expect(threads is None or threads >= 1, "threads ≥ 1 or None", threads)
    limits = (
        ("ports", ports, -1, nodes),
        ("sources", sources, 0, nodes),
        ("groups", groups, 0, 2**31),
        ("removed", removed, -1, nodes),
    )
    for name, array, low, end in limits:
        if array is not None and array.size:
            least, greatest = array.min(), array.max()
            expect(low <= least and greatest < end, f"{name} of {low} … {end - 1}", f"{least} … {greatest}")
    if counted is not None:
        expect(
            counted.shape == (nodes,) and counted.dtype == np.bool_,
            f"counted bool[{nodes}]",
            f"{counted.dtype}{list(counted.shape)}",
        )
    if removed is not None:
        expect(
            removed.ndim == 2 and len(removed) == len(sources), f"removed of shape [{len(sources)}, F]", removed.shape
        )
        own = np.flatnonzero((removed == sources[:, None]).any(axis=1))
        expect(
            not len(own),
            "sources that are not among their own removed nodes",
            f"source {sources[own[0]]}, removed" if len(own) else "",
        )


__all__ = ["Distances", "Task", "all_pairs_distance", "nodes_by_distance"]
