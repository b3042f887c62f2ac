"""On a machine with a GPU: every kernel against its reference bit for bit, and its times against the estimates.

    make gpu-check GPU=12      # or GPU=13: CuPy's CUDA version
    PYTHONPATH=.:pipeline:kernels python3 -m benchmarks.gpu_check      # where nothing can be installed

Prints a table in Markdown for benchmarks/README.md. Small cases are compared with NumPy, the specification. Large
cases are compared with Numba and timed: the median of three whole calls, arrays in and arrays out, checks and transfers
included. Estimates are for an H200. Those of distances and of the largest network follow from the bytes that they move
through its caches and memory; loads and walks are taken as 20 times as fast as two CPU threads, batches of networks
as 10⁹ nodes times cycles per second, and lattices as 10⁶ per second, which the host limits; moves of a search are
estimated from compiled code (benchmarks/README.md). Many small graphs have no estimate, since most of their time is
spent on the host.
The second command needs CuPy, Numba, SciPy, psutil and PyArrow; without pydantic the router is not run, and said so.
Exits with status 1 if anything differs or is not run, and with 2 if there is no GPU.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from torusweep.networks.families import build
from torusweep.routing import routing
from torusweep.routing.forms import SourceRouting
from torusweep.routing.route_table import RouteTable
from torusweep.screening.lattices import representatives
from torusweep.search.start import random_graph
from torusweep.search.wanted import Wanted
from torusweep.tables.provenance import software
from torusweep_kernels.annealing import BLOCK, anneal_chains
from torusweep_kernels.backend import array_module, device_name, gpu_count
from torusweep_kernels.distance import Task, all_pairs_distance, many_distances
from torusweep_kernels.lattices import measure_lattices
from torusweep_kernels.loads import SPLITS, minimal_loads
from torusweep_kernels.router import Batch, simulate
from torusweep_kernels.routes import route_flows
from torusweep_kernels.walks import shortest_walks

TURNS = 3
Answer = tuple[np.ndarray, ...]


class Case(NamedTuple):
    """A computation to compare and time.

    run: (backend, threads) → the arrays to compare. estimate: seconds on an H200; None = no estimate.
    alone: takes too long on a CPU, so it is not compared.
    """

    kernel: str
    name: str
    run: Callable[[str, int | None], Answer]
    estimate: float | None = None
    alone: bool = False


class Row(NamedTuple):
    """same: equal to the bit, None = not compared; seconds on the GPU and of Numba, None = not timed.

    missing: the Python module without which the case cannot run.
    """

    case: Case
    beside: str
    same: bool | None
    gpu: float | None = None
    cpu: float | None = None
    missing: str = ""


# --- cases --------------------------------------------------------------------------------------


def distance(spelling: str, estimate: float | None = None, alone: bool = False) -> Case:
    ports = build(spelling).ports
    nodes = np.arange(len(ports), dtype=np.int32)

    def run(backend: str, threads: int | None) -> Answer:
        return (all_pairs_distance(ports, nodes, nodes % 3, backend=backend, threads=threads).histogram,)

    return Case("distance", spelling, run, estimate, alone)


def many(graphs: int, least: int, most: int) -> Case:
    """Random graphs of degree 6, an answer each."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(least, most + 1, graphs).tolist()
    ports = [np.stack([rng.permutation(size) for _ in range(6)], axis=1).astype(np.int32) for size in sizes]
    tasks = [Task(some, np.arange(len(some)), np.arange(len(some)) % 3, eccentricity=True) for some in ports]

    def run(backend: str, threads: int | None) -> Answer:
        return tuple(
            array
            for found in many_distances(tasks, backend=backend, threads=threads)
            for array in found
            if array is not None
        )

    return Case("distance", f"{graphs:,} random graphs of {least} to {most} nodes", run)


def loads(spelling: str, split: str, estimate: float | None = None) -> Case:
    """Demands are no whole numbers, so that totals show the order in which they were added."""
    ports = build(spelling).ports
    nodes, demand = np.arange(len(ports), dtype=np.int32), np.random.default_rng(1).random(len(ports))

    def run(backend: str, threads: int | None) -> Answer:
        found = minimal_loads(ports, nodes, split=split, demand=demand, backend=backend, threads=threads)
        return found.load, np.array(found[1:])

    return Case("loads", f"{spelling}, {split}", run, estimate)


def routes(spelling: str, packets: int) -> Case:
    made = routing("dimension_order(tie=positive)", build(spelling))[1]
    assert isinstance(made, SourceRouting)
    table, rng = RouteTable(made), np.random.default_rng(1)
    start, destination = rng.integers(0, len(made.moves.next), (2, packets), np.int32)
    row = table.sample(start, destination, np.zeros(packets, np.uint32))

    def run(backend: str, threads: int | None) -> Answer:
        return (
            route_flows(
                made.moves.next, start, row, table.routes.direction, table.routes.hops, backend=backend, threads=threads
            ),
        )

    return Case("routes", f"{spelling}, {packets:,} packets", run)


def walks(spelling: str, packets: int, split: str, estimate: float | None = None) -> Case:
    ports = build(spelling).ports
    start, destination = np.random.default_rng(1).integers(0, len(ports), (2, packets), np.int32)
    group = (np.arange(packets) % 32).astype(np.int32)

    def run(backend: str, threads: int | None) -> Answer:
        found = shortest_walks(
            ports, start, destination, group, groups=32, seed=1, split=split, backend=backend, threads=threads
        )
        return found.count, found.unreachable

    return Case("walks", f"{spelling}, {packets:,} packets, {split}", run, estimate)


def network(
    spelling: str, load: float, cycles: int, experiments: int, estimate: float | None = None, router: str = "default"
) -> Case:
    """Uniform traffic at this load in flits per node and cycle."""

    @cache
    def made() -> Any:
        # the stages need pydantic, which not every machine with a GPU has
        from torusweep.stages.simulation.routes import routes_of
        from torusweep.stages.simulation.setup import Parameters, set_up

        setup = set_up(build(spelling), Parameters(router=router, cycles=cycles))
        nodes, rng = len(setup.wiring.to), np.random.default_rng(1)
        number = rng.binomial(nodes * cycles, load / setup.flits, experiments)
        owner = np.repeat(np.arange(experiments), number)
        source, moment = rng.integers(0, nodes, len(owner)), rng.integers(0, cycles, len(owner))
        order = np.lexsort((moment, source, owner))
        source, moment = source[order], moment[order]
        destination = (source + rng.integers(1, nodes, len(source))) % nodes
        first = np.searchsorted(owner * nodes + source, np.arange(experiments)[:, None] * nodes + np.arange(nodes + 1))
        rows = routes_of(
            setup.routing, source, destination, lambda purpose: rng.integers(0, 2**32, (4, len(source)), np.uint32)
        )
        batch = Batch(first, moment, rows.row, np.full(len(source), setup.flits, np.int16), destination)
        return setup.wiring, setup.router, rows.direction, rows.hops, rows.phase, batch

    def run(backend: str, threads: int | None) -> Answer:
        found = simulate(
            *made(),
            cycles=cycles,
            measure_from=cycles // 2,
            stall=500,
            backend=backend,
            threads=threads,
        )
        return found[:-1]

    return Case("router", f"{spelling}, {router}, load {load:g}, {cycles:,} cycles × {experiments}", run, estimate)


def lattices(nodes: int, dimensions: int, rate: float | None = None) -> Case:
    """All classes of lattices of a size. rate: lattices per second, estimated."""
    forms = np.concatenate([part.forms for part in representatives(nodes, dimensions)])

    def run(backend: str, threads: int | None) -> Answer:
        return tuple(measure_lattices(forms, backend=backend, threads=threads))

    name = f"{len(forms):,} classes of {nodes} nodes, n = {dimensions}"
    return Case("lattices", name, run, None if rate is None else len(forms) / rate)


def search(nodes: int, degree: int, chains: int, blocks: int, rate: float | None = None) -> Case:
    """Chains of a search, so many blocks of moves each. rate: moves per second, estimated."""
    wanted = Wanted(nodes, degree, seed=1)
    starts = [random_graph(wanted, number) for number in range(chains)]
    temperatures = np.geomspace(nodes / 4, nodes / 200, blocks)

    def run(backend: str, threads: int | None) -> Answer:
        how = {"chains": range(chains), "backend": backend, "threads": threads or 1}
        found = anneal_chains(starts, temperatures, wanted.goal, **how)
        numbers = [(one.energy, one.best_energy, one.best_diameter, one.moves, one.accepted) for one in found]
        return np.array(numbers), *(array for one in found for array in (*one.graph[1:], *one.best[1:]))

    moves = chains * blocks * BLOCK
    name = f"{chains} chains of {nodes} nodes, degree {degree}, {moves:,} moves"
    return Case("annealing", name, run, None if rate is None else moves / rate)


def small() -> Iterator[Case]:
    yield distance("torus(radices=[7, 5, 3])")
    yield many(20, 8, 64)
    yield from (loads("torus(radices=[6, 5])", split) for split in SPLITS)
    yield routes("torus(radices=[6, 5])", 2000)
    yield from (walks("torus(radices=[6, 5])", 2000, split) for split in SPLITS)
    yield network("torus(radices=[6, 5])", 0.4, 300, 3)
    yield network("torus(radices=[6, 5])", 0.4, 300, 3, router="bluegene")
    yield lattices(30, 3)
    yield search(40, 4, 3, 2)


def large() -> Iterator[Case]:
    yield distance("torus(k=32, n=3)", 8e-3)
    yield many(1000, 64, 512)
    yield loads("torus(k=16, n=3)", "paths", 0.13 / 20)
    yield routes("torus(k=16, n=3)", 10**7)
    yield walks("torus(k=16, n=3)", 10**7, "paths", 12 * 10**7 / (20 * 1.3e8))
    yield network("torus(k=8, n=2)", 0.3, 2000, 512, 64 * 2000 * 512 / 1e9)
    yield network("torus(k=16, n=3)", 0.15, 1000, 64, 4096 * 1000 * 64 / 1e9)
    yield network("torus(radices=[64, 32, 32])", 0.04, 1000, 1, 1000 / 1e5)
    yield lattices(512, 3, 1e6)
    yield search(256, 8, 256, 16, 2e7)
    yield search(1024, 5, 132, 4, 1.6e6)


def largest() -> Iterator[Case]:
    yield distance("torus(k=100, n=3)", 24, alone=True)


# --- comparing, timing, telling -----------------------------------------------------------------


def compared(case: Case, beside: str, threads: int | None = None) -> Row:
    one, other = case.run(beside, threads), case.run("cupy", None)
    return Row(
        case,
        beside,
        all(
            a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
            for a, b in zip(one, other, strict=True)
        ),
    )


def attempted(case: Case, run: Callable[[Case], Row]) -> Row:
    """What `run` returns, or a row that says which module the case lacks."""
    try:
        return run(case)
    except ModuleNotFoundError as error:
        return Row(case, "", None, missing=str(error.name))


def timed(case: Case, threads: int) -> Row:
    if case.alone:
        return Row(case, "", None, seconds(case, "cupy", None))
    row = compared(case, "numba", threads)  # compiles
    turns = [(seconds(case, "cupy", None), seconds(case, "numba", threads)) for _ in range(TURNS)]
    gpu, cpu = (statistics.median(some) for some in zip(*turns))
    return row._replace(gpu=gpu, cpu=cpu)


def seconds(case: Case, backend: str, threads: int | None) -> float:
    begin = time.perf_counter()
    case.run(backend, threads)
    return time.perf_counter() - begin


def table(rows: Sequence[Row], threads: int) -> str:
    head = [
        "kernel",
        "case",
        "same as",
        "GPU, s",
        f"Numba, {threads} threads, s",
        "Numba ÷ GPU",
        "estimate, s",
        "GPU ÷ estimate",
    ]
    lines = [head, ["---"] * len(head)]
    for case, beside, same, gpu, cpu, missing in rows:
        equal = "not compared" if same is None else beside if same else f"**differs from {beside}**"
        equal = f"**not run: no {missing}**" if missing else equal
        ratios = ratio(cpu, gpu), number(case.estimate), ratio(gpu, case.estimate)
        lines.append([case.kernel, case.name, equal, number(gpu), number(cpu), *ratios])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def ratio(one: float | None, other: float | None) -> str:
    return "" if one is None or other is None else f"{one / other:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2, help="of Numba")
    parser.add_argument("--large", action="store_true", help="a million nodes, too: a minute or more, on the GPU alone")
    options = parser.parse_args()
    if not gpu_count():
        print(
            "gpu-check: expected a GPU that CuPy can use, found none; run it where there is one: "
            "make gpu-check GPU=12 (or GPU=13, its CUDA version)",
            file=sys.stderr,
        )
        return 2
    print(
        f"{device_name('cupy')}, CuPy {array_module('cupy').__version__}, {time.strftime('%Y-%m-%d')}, "
        f"commit {software()['commit']}\n",
        flush=True,
    )
    rows = [attempted(case, lambda case: compared(case, "numpy")) for case in small()]
    rows += [
        attempted(case, lambda case: timed(case, options.threads))
        for cases in (large, largest)[: 1 + options.large]
        for case in cases()
    ]
    print(table(rows, options.threads))
    return int(any(row.same is False or row.missing for row in rows))


if __name__ == "__main__":
    sys.exit(main())
