"""Loads on the CPU, compiled by Numba: each thread takes shares of the roots."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from torusweep_kernels.distance.predecessors import same_degree
from torusweep_kernels.loads.lanes import Rows, Side, Starts, accumulate
from torusweep_kernels.loads.network import Arcs, Task, Totals, arcs
from torusweep_kernels.loads.order import BLOCK, SINGLE, share
from torusweep_kernels.sums import add
from torusweep_kernels.threads import thread_count

FEW = 4  # if less than one node in so many has demand from a root, its search ends with the farthest of these
SCRATCH = 2**30  # the most bytes of a thread's rows; above it roots are searched from one by one


def loads(task: Task, threads: int | None) -> tuple[np.ndarray, np.ndarray | None, Totals]:
    """(load float64[N·P], what rounding left of it if exact, totals per root); see `minimal_loads`."""
    threads = thread_count(threads)
    number, exact = len(task.roots), task.how.exact
    toward, away = arcs(task)
    sides = compiled(toward), compiled(away)
    width = 1 if number <= SINGLE or (33 if exact else 25) * BLOCK * task.nodes > SCRATCH else BLOCK
    size = share(number)
    scratch: list[tuple[Rows, np.ndarray | None]] = []  # append and pop are atomic

    def of_share(first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        roots, weights, demand = task.block(first, size)
        rows, rest = scratch.pop() if scratch else buffers(task.nodes, width, exact)
        sparse = FEW * np.count_nonzero(demand) < demand.size
        wanted = np.empty(task.nodes, np.uint16) if sparse else None
        starts = Starts(roots.astype(np.uint32), weights, demand)
        result = accumulate(*sides, starts, task.how.by_hops, rows, rest, wanted, (0,) * width)
        scratch.append((rows, rest))
        return result

    load, left, of_root = np.zeros(len(away.node)), np.zeros(len(away.node)), np.empty((len(Totals._fields), number))
    with ThreadPoolExecutor(threads) as pool:
        firsts = range(0, number, size)
        of_all = (
            map if threads == 1 or len(firsts) == 1 else pool.map
        )  # giving a share to a thread takes as long as the work of a small one
        for first, (partial, low, totals) in zip(firsts, of_all(of_share, firsts)):
            if exact:
                load, left = add(load, left, partial, low)
            else:
                load += partial
            of_root[:, first : first + size] = totals
    by_port, rest = np.zeros((2, task.ports.size))
    by_port[away.channel], rest[away.channel] = load, left
    return by_port, rest if exact else None, Totals(*of_root)


def compiled(side: Arcs) -> Side:
    """The arcs as `accumulate` takes them."""
    return Side(side.start, side.node.astype(np.uint32), side.capacity, same_degree(side.start))


def buffers(nodes: int, width: int, exact: bool) -> tuple[Rows, np.ndarray | None]:
    """Scratch memory of W lanes, aligned to cache lines, and if exact the rest of `unit`."""
    line, doubles = 64, 3 if exact else 2
    raw = np.empty((8 * doubles + 4) * nodes * width + (doubles + 1) * line, np.uint8)
    first = -raw.ctypes.data % line
    size = -(-8 * nodes * width // line) * line
    count, unit, *rest = (raw[first + i * size :][: 8 * nodes * width].view(np.float64) for i in range(doubles))
    distance = raw[first + doubles * size :][: 4 * nodes * width].view(np.int32)
    return Rows(np.empty((2, nodes), np.uint16), count, unit, distance), rest[0] if exact else None
