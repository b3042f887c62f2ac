"""Our kernels beside the limits of the processor: loops that do only one part of a kernel's work.

How often the kernel does this part is counted exactly; the loop does a sample of it, in as many threads. Its ratio is
the share of our time that this part alone takes. The greatest ratio shows what bounds the kernel; the README names what
takes the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numba
import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path
from torusweep.networks.families import build
from torusweep_kernels.distance import all_pairs_distance
from torusweep_kernels.loads import minimal_loads
from torusweep_kernels.loads.network import BLOCK
from torusweep_kernels.loads.reference import order
from torusweep_kernels.router.state import layout
from torusweep_kernels.threads import in_threads
from torusweep_kernels.walks import shortest_walks
from torusweep_kernels.walks.reference import HOPS

from benchmarks.native import call, distances, library
from benchmarks.network import FLITS, Case
from benchmarks.networks import random_regular
from benchmarks.race import Race

LINE = 64  # bytes
FIRST_CACHE = 2**14  # bytes that every first-level cache holds
SAMPLE = 2**27  # bytes that a loop reads in a turn, about
PLACES = 2**14  # random ones, used again and again with other signs
GROUPS, PACKETS = 32, 10**7
# records of the simulator that one hop of a flit touches: port, VC, output VC, channel, the VC where it lands and the
# output VC to which its credit returns
RECORDS = 6


class Loop(NamedTuple):
    """run: in all threads; done: how much of its work that is."""

    run: Callable[[], object]
    done: float


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    if library("limits") is None or library("peak") is None:
        return
    many = threads or numba.config.NUMBA_NUM_THREADS
    torus, random4 = build("torus(k=16, n=3)").ports, random_regular(4096, 4)
    cases = {
        "torus 16³": torus,
        "torus 32³": build("torus(k=32, n=3)").ports,
        "random 6-regular, 32768": random_regular(32768, 6),
    }
    for case, ports in cases.items():
        yield distance(case, ports, many)
    for case, ports in {"torus 16³": torus, "random 4-regular, 4096": random4}.items():
        yield loads(case, ports, many)
        yield walks(case, ports, many)
    for spelling, vcs, load, cycles in (("torus(k=8, n=2)", 2, 0.3, 3_000), ("torus(k=16, n=3)", 2, 0.3, 300)):
        yield network(spelling, vcs, load, cycles, many)


def race(
    kernel: str,
    case: str,
    ports: np.ndarray,
    ours: Callable[[], object],
    work: float,
    unit: str,
    loops: dict[str, tuple[Loop, float]],
) -> Race:
    """loops: each with how much of its work the kernel does."""
    contenders = {"torusweep": ours, **{f"only {name}": loop.run for name, (loop, _) in loops.items()}}
    share = {f"only {name}": loop.done / all_of_it for name, (loop, all_of_it) in loops.items()}
    return Race("limits", f"{kernel}, {case}", len(ports), contenders, work, unit, share, lambda *_: None)


def distance(case: str, ports: np.ndarray, threads: int) -> Race:
    nodes, degree = ports.shape
    everyone, one_group = np.arange(nodes, dtype=np.int32), np.zeros(nodes, np.int32)
    rows = distances(ports, threads)[1]  # ours rests its tiles by the same rule
    loops = {
        "OR, popcount, store": (or_rows(degree, threads), rows),
        f"copying {size(nodes * LINE)}": (
            copying(nodes, threads),
            rows,
        ),  # each row once, since a torus has its neighbours' near by
    }
    if case.startswith("random"):
        loops[f"gathering rows from {size(nodes * LINE)}"] = gathering_rows(nodes, threads), degree * rows
    return race(
        "distance",
        case,
        ports,
        lambda: all_pairs_distance(ports, everyone, one_group, backend="numba", threads=threads),
        nodes**2,
        "pairs",
        loops,
    )


def loads(case: str, ports: np.ndarray, threads: int) -> Race:
    nodes, degree = ports.shape
    everyone = np.arange(nodes, dtype=np.int32)
    hops = all_distances(ports)[order(ports, everyone)].reshape(-1, BLOCK, nodes)
    visits = int((np.diff(np.sort(hops, axis=1), axis=1) > 0).sum()) + nodes * len(
        hops
    )  # a node is visited once for each distance
    rows = degree * (2 * visits + nodes * len(hops))  # of 16 numbers: counted forward, carried backward, added to links
    loops = {f"adding rows from {size(128 * nodes)}": (adding(nodes, degree, threads), rows)}
    return race(
        "loads",
        case,
        ports,
        lambda: minimal_loads(ports, everyone, backend="numba", threads=threads),
        nodes**2,
        "pairs",
        loops,
    )


def walks(case: str, ports: np.ndarray, threads: int) -> Race:
    nodes, degree = ports.shape
    start, destination = np.random.default_rng(1).integers(0, nodes, (2, PACKETS), dtype=np.int32)
    group = (np.arange(PACKETS) % GROUPS).astype(np.int32)
    lengths = all_distances(ports)[destination, start]
    hops, words = int(lengths.sum()), HOPS * int((-(-lengths // HOPS)).sum())
    loops = {
        "drawing": (drawing(threads), words),
        f"gathering from {size(4 * nodes * degree)}": (gathering(nodes * degree, threads), hops),
        f"counting in {size(4 * GROUPS * nodes * degree)}": (counting(GROUPS * nodes * degree, threads), hops),
    }

    def ours() -> object:
        return shortest_walks(ports, start, destination, group, groups=GROUPS, backend="numba", threads=threads)

    return race("walks", case, ports, ours, hops, "hops", loops)


def network(spelling: str, vcs: int, load: float, cycles: int, threads: int) -> Race:
    """An experiment for each thread."""
    case = Case(spelling, vcs)
    batch = case.packets(load, cycles, range(threads))
    hops = case.seconds(batch, cycles, threads)[1]
    shapes = layout(case.wiring, case.router, 0, 1, FLITS, 0, 0)
    state = sum(
        int(np.prod(shape)) * np.dtype(dtype).itemsize
        for shape, dtype in (shapes[name] for name in ("vcs", "outs", "ports", "channels"))
    )
    loops = {f"touching records in {size(state)}": (gathering(state // 4, threads), RECORDS * hops)}
    return race(
        "network",
        f"{spelling}, {load:.0%}",
        case.wiring.to,
        lambda: case.seconds(batch, cycles, threads),
        hops,
        "flits' hops",
        loops,
    )


def all_distances(ports: np.ndarray) -> np.ndarray:
    """int64[N, N] of an undirected graph, by SciPy."""
    graph = csr_matrix(
        (np.ones(ports.size), (np.repeat(np.arange(len(ports)), ports.shape[1]), ports.ravel())),
        (len(ports), len(ports)),
    )
    return shortest_path(graph, unweighted=True).astype(np.int64)


# --- loops of limits.c --------------------------------------------------------------------------


def loop(threads: int, done: float, name: str, *arguments: Callable[[], np.ndarray] | int) -> Loop:
    """A C function in every thread, on arrays of its own; done: by one of them."""
    function = getattr(library("limits"), name)
    own = [[some if isinstance(some, int) else some() for some in arguments] for _ in range(threads)]
    return Loop(
        lambda: in_threads(lambda thread: call(function, *own[thread]), range(threads), threads), threads * done
    )


def lines(bytes_: int) -> np.ndarray:
    """uint8[bytes_] of zeros, on a cache line."""
    raw = np.zeros(bytes_ + LINE, np.uint8)
    return raw[-raw.ctypes.data % LINE :][:bytes_]


def places() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 2**32, PLACES, np.uint32)


def copying(rows: int, threads: int) -> Loop:
    times = max(1, SAMPLE // (LINE * rows))
    return loop(threads, rows * times, "copy", lambda: lines(LINE * rows), lambda: lines(LINE * rows), rows, times)


def gathering_rows(rows: int, threads: int) -> Loop:
    times = SAMPLE // (LINE * PLACES)
    return loop(threads, PLACES * times, "gather_vectors", lambda: lines(LINE * rows), rows, places, PLACES, times)


def or_rows(degree: int, threads: int) -> Loop:
    rows = SAMPLE // LINE // (degree + 2)
    return loop(threads, rows, "or_rows", lambda: lines(FIRST_CACHE), FIRST_CACHE // LINE, degree, rows)


def adding(nodes: int, degree: int, threads: int) -> Loop:
    times = SAMPLE // (2 * LINE * PLACES)
    return loop(
        threads,
        PLACES // degree * degree * times,
        "add_rows",
        lambda: lines(128 * nodes),
        nodes,
        places,
        PLACES,
        degree,
        times,
    )


def gathering(numbers: int, threads: int) -> Loop:
    times = SAMPLE // (16 * PLACES)
    return loop(threads, PLACES * times, "gather", lambda: lines(4 * numbers), numbers, places, PLACES, times)


def counting(numbers: int, threads: int) -> Loop:
    times = SAMPLE // (16 * PLACES)
    return loop(threads, PLACES * times, "increment", lambda: lines(4 * numbers), numbers, places, PLACES, times)


def drawing(threads: int) -> Loop:
    many, times = 256, 2**16
    return loop(threads, 4 * many * times, "philox", lambda: np.empty(4 * many, np.uint32), many, times)


def size(bytes_: int) -> str:
    return f"{bytes_ / 2**20:.2g} MiB" if bytes_ >= 2**20 else f"{bytes_ / 2**10:.0f} KiB"
