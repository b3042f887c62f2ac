"""Computations that gpu_check compares and times: small ones that reach every branch of a kernel, and large ones.

A case makes its arrays when it first runs, in the process that runs it. They come from arithmetic and random numbers,
so that nothing but the kernels, the networks and the routings is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from torusweep.networks.blocks import Block, block_of_run
from torusweep.networks.families import build
from torusweep.networks.seed_runs import SeedRun
from torusweep.questions.search.wanted import Wanted, random_graph
from torusweep_kernels import cuda
from torusweep_kernels.annealing import BLOCK, Quotient, anneal_chains
from torusweep_kernels.backend import array_module
from torusweep_kernels.blocks import measure_networks
from torusweep_kernels.distance import all_pairs_distance
from torusweep_kernels.loads import SPLITS, minimal_loads
from torusweep_kernels.pairs import Tables, draw_pairs, pair_tables
from torusweep_kernels.router import Batch, Router, simulate
from torusweep_kernels.threads import thread_count
from torusweep_kernels.walks import RandomPackets, Searches, sampled_walks, shortest_walks

from tests.kernels.router_cases import Routes, random_case, torus_wiring, with_messages

Answer = tuple[np.ndarray, ...]


class Case(NamedTuple):
    """A computation.

    run: (backend, threads) → the arrays to compare. beside: what it is compared with, None = with nothing, because a
    CPU takes too long. estimate: seconds on an H200, None = no estimate.
    """

    kernel: str
    name: str
    run: Callable[[str, int | None], Answer]
    beside: str | None = "numpy"
    estimate: float | None = None


def large_case(case: Case, estimate: float | None = None) -> Case:
    """Compared with Numba: the specification would take too long."""
    return case._replace(beside="numba", estimate=estimate)


# --- distances ----------------------------------------------------------------------------------


def distance(spelling: str, sources: int | None = None) -> Case:
    """All pairs, or those of the first sources."""

    @cache
    def made() -> tuple[np.ndarray, np.ndarray]:
        ports = build(spelling).ports
        return ports, np.arange(len(ports) if sources is None else sources, dtype=np.int32)

    def run(backend: str, threads: int | None) -> Answer:
        ports, some = made()
        return (all_pairs_distance(ports, some, some % 3, backend=backend, threads=threads).histogram,)

    return Case("distance", spelling if sources is None else f"{spelling}, {sources:,} sources", run)


def random_distance(nodes: int, degree: int) -> Case:
    """A random graph: permutations, so that every node has as many channels in as out."""

    @cache
    def made() -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(1)
        return np.stack([rng.permutation(nodes) for _ in range(degree)], axis=1), np.arange(nodes)

    def run(backend: str, threads: int | None) -> Answer:
        ports, every = made()
        return (all_pairs_distance(ports, every, np.zeros_like(every), backend=backend, threads=threads).histogram,)

    return Case("distance", f"random {degree}-regular, {nodes} nodes", run)


def cut_distance(nodes: int, removed: int) -> Case:
    """Missing channels, removed nodes, nodes that do not count, eccentricities."""

    def run(backend: str, threads: int | None) -> Answer:
        rng, sources = np.random.default_rng(2), np.arange(nodes)
        ports = rng.integers(-1, nodes, (nodes, 3))
        gone = rng.integers(-1, nodes, (nodes, removed))
        found = all_pairs_distance(
            ports,
            sources,
            sources % 5,
            counted=rng.random(nodes) < 0.7,
            removed=np.where(gone == sources[:, None], -1, gone) if removed else None,
            eccentricity=True,
            backend=backend,
            threads=threads,
        )
        return found.histogram, np.asarray(found.eccentricity)

    return Case("distance", f"{nodes} nodes cut at random, {removed} removed, eccentricities", run)


def halved(spelling: str, room: int) -> Case:
    """In so many bytes of memory: blocks must be halved until they fit."""
    whole = distance(spelling)

    def run(backend: str, threads: int | None) -> Answer:
        if backend != "cupy":
            return whole.run(backend, threads)
        pool, widths, within = array_module("cupy").get_default_memory_pool(), [], []
        first = cuda.halve_until_it_fits

        def counted(width: int, search: Callable[[int], Any]) -> Any:
            if within:  # the levels launched at once, which are halved by themselves
                return first(width, search)
            within.append(True)
            try:
                return first(width, lambda some: (widths.append(some), search(some))[1])
            finally:
                within.clear()

        pool.free_all_blocks()
        pool.set_limit(size=pool.total_bytes() + room)
        try:
            with patch.object(cuda, "halve_until_it_fits", counted):
                answer = whole.run(backend, threads)
        finally:
            pool.set_limit(size=0)
        if len(widths) < 2:
            raise AssertionError(f"expected a width that does not fit into {room:,} bytes, got {widths}")
        return answer

    return Case("distance", f"{spelling}, halved until it fits {room:,} bytes", run, "numba")


# --- loads, packets, walks -----------------------------------------------------------------------


def loads(spelling: str, split: str, capacity: bool = False, exact: bool = False) -> Case:
    """Demands are no whole numbers, so that totals show the order in which they were added."""

    def run(backend: str, threads: int | None) -> Answer:
        ports, rng = build(spelling).ports, np.random.default_rng(1)
        demand, links = rng.random(len(ports)), rng.integers(1, 4, ports.shape, np.int32)
        found = minimal_loads(
            ports,
            np.arange(len(ports)),
            split=split,
            exact=exact,
            demand=demand,
            capacity=links if capacity else None,
            backend=backend,
            threads=threads,
        )
        return found.load, np.array([found.delivered, found.unreachable, found.hops])

    return Case("loads", f"{spelling}, {split}{', parallel links' * capacity}{', exact' * exact}", run)


def pairs(nodes: int, packets: int, entries: int) -> Case:
    """Packets of weights that differ; some pairs have more than the product, some less."""

    @cache
    def made() -> Tables:
        rng = np.random.default_rng(1)
        weight, common = rng.random((2, nodes))
        where = np.unique(rng.integers(0, nodes * nodes, entries))
        row, column = where // nodes, where % nodes
        return pair_tables(weight, common, row, column, rng.uniform(-1, 1, len(where)) * weight[row] * common[column])

    def run(backend: str, threads: int | None) -> Answer:
        return draw_pairs(made(), 2**32 - packets // 2, packets, 1, backend=backend, threads=threads)

    return Case("pairs", f"{packets:,} packets of {nodes:,} nodes, {entries:,} entries", run)


def walks(spelling: str, packets: int, split: str, cut: float = 0) -> Case:
    """cut: the share of channels that are missing, so that some packets have no path. Then channels are parallel."""

    @cache
    def made() -> tuple[np.ndarray, ...]:
        rng, ports = np.random.default_rng(1), build(spelling).ports
        ports = np.where(rng.random(ports.shape) < cut, -1, ports)
        start, destination = rng.integers(0, len(ports), (2, packets), np.int32)
        return ports, start, destination, (np.arange(packets) % 32).astype(np.int32)

    def run(backend: str, threads: int | None) -> Answer:
        links = np.random.default_rng(2).integers(1, 4, made()[0].shape, np.int32) if cut else None
        how: dict[str, Any] = {"split": split, "capacity": links, "backend": backend, "threads": threads}
        found = shortest_walks(*made(), groups=32, seed=1, **how)
        return found.count, found.unreachable

    return Case("walks", f"{spelling}, {packets:,} packets, {split}{', cut' if cut else ''}", run)


def random_walks(spelling: str, packets: int, split: str, rounds: int = 1) -> Case:
    """Packets of uniform traffic, drawn where they walk, in so many calls that share their searches."""

    @cache
    def made() -> tuple[np.ndarray, RandomPackets]:
        ports = build(spelling).ports
        every = np.ones(len(ports))
        return ports, RandomPackets(pair_tables(every, every, *np.zeros((3, 0), np.int32)))

    def run(backend: str, threads: int | None) -> Answer:
        ports, traffic = made()
        searches, share = Searches(), packets // rounds
        how: dict[str, Any] = {"groups": 32, "seed": 1, "split": split, "backend": backend, "threads": threads}
        found = [
            sampled_walks(ports, traffic, share, first=turn * share, searches=searches, **how) for turn in range(rounds)
        ]
        return sum(one.count for one in found), sum(one.unreachable for one in found)

    name = f"{spelling}, {packets:,} random packets, {split}{f', {rounds} rounds' * (rounds > 1)}"
    return Case("walks", name, run)


# --- the router ---------------------------------------------------------------------------------


def network(radices: tuple[int, ...], load: float, cycles: int, experiments: int) -> Case:
    """A torus, dimension order, 2 virtual channels of 8 flits, uniform packets of 4 flits at this load in flits a node
    and cycle.
    """
    flits = 4

    @cache
    def made() -> tuple[Any, ...]:
        way, nodes, rng = Routes(*radices), int(np.prod(radices)), np.random.default_rng(1)
        owner = np.repeat(np.arange(experiments), rng.binomial(nodes * cycles, load / flits, experiments))
        source, moment = rng.integers(0, nodes, len(owner)), rng.integers(0, cycles, len(owner))
        order = np.lexsort((moment, source, owner))
        source, moment = source[order], moment[order]
        destination = (source + rng.integers(1, nodes, len(source))) % nodes
        first = np.searchsorted(owner * nodes + source, np.arange(experiments)[:, None] * nodes + np.arange(nodes + 1))
        packets = Batch(first, moment, way.row(source, destination), np.full(len(source), flits, np.int16), destination)
        return torus_wiring(*radices), Router(2, 8), *way.arrays, packets

    def run(backend: str, threads: int | None) -> Answer:
        how: dict[str, Any] = {"cycles": cycles, "stall": 500, "backend": backend, "threads": threads}
        return simulate(*made(), measure_from=cycles // 2, **how)[:-1]

    name = f"torus {'×'.join(map(str, radices))}, load {load:g}, {cycles:,} cycles × {experiments}"
    return Case("router", name, run)


# where an experiment is simulated: constants of router.gpu
PLACES = {
    "in shared memory": {"IN_SHARED": True},
    "in the device's memory": {"IN_SHARED": False},
    "several blocks": {"THREADS": 1, "SHARED_THREADS": 3},
}


def random_network(seed: int, place: str = "in shared memory") -> Case:
    """Two experiments on a random network, adaptive or not; with messages for even seeds, with refusals for odd ones.

    place: of PLACES.
    """

    def run(backend: str, threads: int | None) -> Answer:
        wiring, router, way, packets = random_case(seed)
        if seed % 2 == 0:
            packets = with_messages(seed, len(wiring.to), packets)
        else:
            router = router._replace(source_queue=1)
        with patch.multiple("torusweep_kernels.router.gpu", **PLACES[place]) if backend == "cupy" else patch.dict({}):
            found = simulate(wiring, router, *way, packets, cycles=80, stall=20, backend=backend, threads=threads)
        return tuple(np.asarray(array) for array in found[:-1])

    what = "messages" if seed % 2 == 0 else "refusals"
    return Case("router", f"random network {seed}, {what}, {place}", run)


# --- batches of networks ------------------------------------------------------------------------


def blocks(spelling: str, networks: int) -> Case:
    """A network less two links, as often: distances and exact loads."""

    @cache
    def made() -> Block:
        return block_of_run(SeedRun(f"faulty({spelling}, links=2", 0, networks - 1))

    def run(backend: str, threads: int | None) -> Answer:
        some = made()
        found = measure_networks(some.ports, some.terminals, some.capacity, backend=backend, threads=threads)
        assert found.load is not None
        assert found.hops is not None
        return (*found[:3], found.load, found.hops)

    return Case("blocks", f"{networks:,} of {spelling} less two links", run)


def search(nodes: int, degree: int, chains: int, blocks: int) -> Case:
    """Chains of a search, so many blocks of moves each."""

    wanted = Wanted(nodes, degree, seed=1)

    @cache
    def made() -> list[Quotient]:
        return [random_graph(wanted, number) for number in range(chains)]

    def run(backend: str, threads: int | None) -> Answer:
        temperatures = np.geomspace(nodes / 4, nodes / 200, blocks)
        how: dict[str, Any] = {"chains": range(chains), "backend": backend, "threads": threads or thread_count(None)}
        found = anneal_chains(made(), temperatures, wanted.goal, **how)
        numbers = [(one.energy, one.best_energy, one.best_diameter, one.moves, one.accepted) for one in found]
        return np.array(numbers), *(array for one in found for array in (*one.graph[1:], *one.best[1:]))

    name = f"{chains} chains of {nodes} nodes, degree {degree}, {chains * blocks * BLOCK:,} moves"
    return Case("annealing", name, run)


# --- which --------------------------------------------------------------------------------------


def small() -> Iterator[Case]:
    yield distance("torus(radices=[7, 5, 3])")
    yield loads("torus(radices=[6, 5])", "paths")
    yield walks("torus(radices=[6, 5])", 2000, "paths")
    yield pairs(30, 2000, 200)
    yield network((6, 5), 0.4, 300, 3)
    yield blocks("torus(radices=[6, 5])", 20)
    yield search(40, 4, 3, 2)
    yield random_walks("torus(radices=[6, 5])", 2000, "paths", 2)
    yield cut_distance(300, 0)
    yield cut_distance(300, 2)
    yield blocks("hyperx(radices=[3, 4], terminals=2, widths=[2, 1])", 20)
    yield from (loads("torus(radices=[6, 5])", split, capacity=True) for split in SPLITS)
    yield from (loads("torus(radices=[6, 5])", split, exact=True) for split in SPLITS)
    yield from (walks("torus(radices=[6, 5])", 2000, split, cut=0.3) for split in SPLITS)
    yield from (random_network(seed, place) for place in PLACES for seed in (2, 3))
    yield from (random_network(seed) for seed in (0, 1))
    yield halved("torus(k=20, n=3)", 6 * 2**20)


def large() -> Iterator[Case]:
    """The estimates: docs of gpu_check."""
    yield large_case(distance("torus(k=32, n=3)"), 8e-3)
    yield large_case(loads("torus(k=16, n=3)", "paths"), 3e-3)
    yield large_case(walks("torus(k=16, n=3)", 10**7, "paths"), 12 * 10**7 / (20 * 1.3e8))
    yield large_case(random_walks("torus(k=16, n=3)", 83_333_333, "paths", 5), 0.1)
    yield large_case(network((8, 8), 0.3, 2000, 512), 64 * 2000 * 512 / 1e9)
    yield large_case(network((16, 16, 16), 0.15, 1000, 64), 4096 * 1000 * 64 / 1e9)
    yield large_case(random_distance(32_768, 6))
    yield large_case(search(256, 8, 256, 16), 256 * 16 * BLOCK / 2e7)
    yield large_case(blocks("torus(k=4, n=2)", 10**5), 0.02)
    yield large_case(blocks("torus(k=8, n=2)", 10**5), 0.1)
    yield large_case(pairs(4096, 10**8, 10**5))
    yield large_case(distance("torus(k=16, n=3)"))
    yield large_case(network((64, 32, 32), 0.04, 1000, 1), 1000 / 1e5)
    yield large_case(search(1024, 5, 132, 4), 132 * 4 * BLOCK / 1.6e6)
    yield large_case(loads("torus(k=32, n=3)", "paths", exact=True), 0.1)


def largest() -> Iterator[Case]:
    """Of 10¹² pairs the GPU computes a part first, in case that the whole does not end in time."""
    yield distance("torus(k=100, n=3)", sources=20 * 256)._replace(beside=None, estimate=24 * 20 * 256 / 10**6)
    yield distance("torus(k=100, n=3)")._replace(beside=None, estimate=24)
