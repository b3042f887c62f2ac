"""Loads on the CPU, compiled by Numba: each thread takes shares of the roots."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from torusweep_kernels.distance.predecessors import same_degree
from torusweep_kernels.loads.lanes import Rows, Side, accumulate
from torusweep_kernels.loads.network import Arcs, Task, Totals, arcs
from torusweep_kernels.loads.order import BLOCK, SINGLE, share
from torusweep_kernels.threads import thread_count

FEW = 4  # if less than one node in so many has demand from a root, its search ends with the farthest of these
SCRATCH = 2**30  # the most bytes of a thread's rows; above it roots are searched from one by one


def loads(task: Task, threads: int | None) -> tuple[np.ndarray, Totals]:
    """(load float64[N·P], totals per root); see `minimal_loads`."""
    threads = thread_count(threads)
    number = len(task.roots)
    toward, away = arcs(task)
    sides = compiled(toward), compiled(away)
    width = 1 if number <= SINGLE or 25 * BLOCK * task.nodes > SCRATCH else BLOCK
    size = share(number)
    scratch: list[Rows] = []  # append and pop are atomic

    def of_share(first: int) -> tuple[np.ndarray, np.ndarray]:
        roots, weights, demand = task.block(first, size)
        rows = scratch.pop() if scratch else buffers(task.nodes, width)
        sparse = len(demand) == len(roots) and FEW * np.count_nonzero(demand) < demand.size
        wanted = np.empty(task.nodes, np.uint16) if sparse else None
        result = accumulate(*sides, roots.astype(np.uint32), weights, demand, task.inward, rows, wanted, (0,) * width)
        scratch.append(rows)
        return result

    load, of_root = np.zeros(len(away.node)), np.empty((len(Totals._fields), number))
    with ThreadPoolExecutor(threads) as pool:
        firsts = range(0, number, size)
        of_all = (
            map if threads == 1 or len(firsts) == 1 else pool.map
        )  # giving a share to a thread takes as long as the work of a small one
        for first, (partial, totals) in zip(firsts, of_all(of_share, firsts)):
            load += partial
            of_root[:, first : first + size] = totals
    by_port = np.zeros(task.ports.size)
    by_port[away.channel] = load
    return by_port, Totals(*of_root)


def compiled(side: Arcs) -> Side:
    """The arcs as `accumulate` takes them."""
    return Side(side.start, side.node.astype(np.uint32), side.capacity, same_degree(side.start))


def buffers(nodes: int, width: int) -> Rows:
    """Scratch memory of W lanes, aligned to cache lines."""
    line = 64
    raw = np.empty(20 * nodes * width + 3 * line, np.uint8)
    first = -raw.ctypes.data % line
    size = -(-8 * nodes * width // line) * line
    count, unit = (raw[first + i * size :][: 8 * nodes * width].view(np.float64) for i in (0, 1))
    return Rows(
        np.empty((2, nodes), np.uint16), count, unit, raw[first + 2 * size :][: 4 * nodes * width].view(np.int32)
    )
