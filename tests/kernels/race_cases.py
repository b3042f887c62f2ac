"""A small case of each kernel, with more items than threads where threads have strides: what the sanitizers run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from torusweep_kernels.annealing import Goal, anneal_chains
from torusweep_kernels.blocks import gpu as blocks_gpu
from torusweep_kernels.blocks import measure_networks
from torusweep_kernels.distance import all_pairs_distance
from torusweep_kernels.distance import gpu as distance_gpu
from torusweep_kernels.loads import SPLITS, minimal_loads
from torusweep_kernels.loads import gpu as loads_gpu
from torusweep_kernels.pairs import draw_pairs, pair_tables
from torusweep_kernels.router import Router, simulate
from torusweep_kernels.router import gpu as router_gpu
from torusweep_kernels.walks import RandomPackets, Searches, sampled_walks, shortest_walks

from tests.kernels import oracle
from tests.kernels.quotients import start
from tests.kernels.router_cases import Routes, random_case, torus_wiring, uniform, with_detours, with_messages

Arrays = list[np.ndarray]
Case = Callable[[str], Arrays]


def ports(nodes: int = 60) -> np.ndarray:
    """Two ports: links of one direction, some missing, so that not all nodes are reached."""
    return np.random.default_rng(nodes).integers(-1, nodes, (nodes, 2))


def distances(backend: str) -> Arrays:
    """Lists of predecessors, three groups, all options; then a table, several blocks of one group; then counts of each
    lane. All of it by both methods."""
    rng = np.random.default_rng(2)
    random, torus = rng.integers(-1, 40, (40, 4)), oracle.torus(5, 3)
    sources, often = np.arange(40), np.arange(200) % 15
    removed = np.where(rng.random((40, 1)) < 0.5, (sources[:, None] + 7) % 40, -1)
    options = {"counted": rng.random(40) < 0.8, "eccentricity": True, "removed": removed}
    found = []
    for fewest in (0, 10**6):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (("WIDEST", 2), ("WIDE", 1), ("FEWEST", fewest), ("SPARSE", 1.0)):
                patch.setattr(distance_gpu, name, value)
            found += all_pairs_distance(random, sources, sources % 3, backend=backend, **options)
            patch.setattr(distance_gpu, "WIDEST", 1)
            found += all_pairs_distance(torus, often, np.zeros(200, int), backend=backend)
            patch.setattr(distance_gpu, "ROWS_OF_TALLY", 1)  # so that several blocks count the same lanes
            found += all_pairs_distance(random, sources, sources, backend=backend)
    return [np.asarray(array) for array in found if array is not None]


def loads(backend: str) -> Arrays:
    nodes = 70  # two tiles of totals
    demand = np.random.default_rng(3).random((nodes, nodes))
    return [
        np.asarray(array)
        for split, exact in product(SPLITS, (False, True))
        for array in minimal_loads(
            ports(nodes), np.arange(nodes), demand=demand, split=split, exact=exact, backend=backend
        )._replace(rest=None)
    ]


def loads_from_rows(backend: str) -> Arrays:
    """Counts are read from rows in global memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loads_gpu, "GATHERING", 10**9)
        return loads(backend)


def loads_of_wide_numbers(backend: str) -> Arrays:
    """Distances are in global memory, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loads_gpu, "MOST_NARROW", 0)
        return loads(backend)


def walks(backend: str) -> Arrays:
    first, last = np.random.default_rng(4).integers(0, 60, (2, 500))
    groups = {"group": np.arange(500) % 3, "groups": 3}
    return [
        np.asarray(array)
        for split in SPLITS
        for array in shortest_walks(ports(), first, last, split=split, seed=5, backend=backend, **groups)
    ]


def traffic() -> Any:
    """A product that is reduced, and pairs of their own."""
    rng = np.random.default_rng(7)
    weight, common = rng.random((2, 60))
    where = rng.choice(3600, 400, replace=False)
    row, column = where // 60, where % 60
    return pair_tables(weight, common, row, column, rng.uniform(-1, 1, 400) * weight[row] * common[column])


def pairs(backend: str) -> Arrays:
    return [np.stack(draw_pairs(traffic(), 2**32 - 100, 500, 5, backend=backend))]


def many_walks(backend: str) -> Arrays:
    """More paths to the destination than a double counts, from two nodes each of a level."""
    ends = np.arange(80) // 2 * 2
    ladder = np.stack([ends + 2, ends + 3], axis=1) % 80
    ladder[-2:] = -1
    links = np.full(ladder.shape, 2**30)
    with pytest.raises(OverflowError):
        shortest_walks(ladder, np.zeros(5, int), np.full(5, 79), capacity=links, backend=backend)
    return []


def random_walks(backend: str) -> Arrays:
    """Drawn where they walk, since the rows of all nodes are kept."""
    how = {"groups": 3, "seed": 5, "first": 2**32 - 100, "searches": Searches()}
    found = sampled_walks(ports(), RandomPackets(traffic()), 500, backend=backend, **how)
    return [np.asarray(array) for array in found]


def blocks(backend: str) -> Arrays:
    """Several roots at once and a rest, links of one direction and parallel ones, nodes without terminals."""
    rng = np.random.default_rng(6)
    drawn = rng.integers(-1, 45, (3, 45, 2))
    terminals, capacity = rng.integers(0, 2, (3, 45)), rng.integers(1, 3, drawn.shape)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("PAIRS", 300), ("MOST_THREADS", 64)):
            patch.setattr(blocks_gpu, name, value)
        for options in ({}, {"terminals": terminals, "capacity": capacity}, {"loads": False}):
            found += measure_networks(drawn, backend=backend, **options)
    return [array for array in found if array is not None]


def annealing(backend: str) -> Arrays:
    starts = [start(40, 4, 2, seed) for seed in range(2)]
    found = anneal_chains(starts, np.full(1, 2.0), Goal(4, 16, 0), chains=range(2), backend=backend)
    numbers = [(one.energy, one.best_energy, one.best_diameter, one.moves, one.accepted) for one in found]
    return [np.array(numbers), *(array for one in found for array in (*one.graph[1:], *one.best[1:]))]


def router(backend: str) -> Arrays:
    """Saturated, so that all credits are used; and messages; a bounded source queue; a network that may deadlock.

    Some of each in shared memory, others in the device's."""
    cases = [(torus_wiring(4, 3), Router(2, 4), Routes(4, 3).arrays, uniform(Routes(4, 3), 0.6, 40, 3, [1, 2]))]
    for seed in (0, 1, 3, 2):
        wiring, some, way, packets = random_case(seed)
        packets = with_messages(seed, len(wiring.to), packets) if seed % 2 == 0 else packets
        some = some if seed % 2 == 0 else some._replace(source_queue=1)
        cases.append((wiring, some, way, packets))
    cases += [with_detours(seed) for seed in (1, 2)]  # one of each view
    found = []
    for number, (wiring, some, way, packets) in enumerate(cases):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(router_gpu, "IN_SHARED", number % 2 == 1)
            found.append(simulate(wiring, some, *way, packets, cycles=80, stall=20, backend=backend))
    return [np.asarray(array) for one in found for array in one[:-1]]


def router_of_blocks(backend: str) -> Arrays:
    """Several blocks for an experiment, which wait for each other; on the CPU it is the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(router_gpu, "THREADS", 1)
        patch.setattr(router_gpu, "SHARED_THREADS", 3)
        wiring, some, way, packets = random_case(2)
        packets = with_messages(2, len(wiring.to), packets)
        return [np.asarray(array) for array in simulate(wiring, some, *way, packets, cycles=60, backend=backend)[:-1]]


# its source, the case, the multiprocessors of the GPU
CASES: dict[str, tuple[str, Case, int]] = {
    "distance": ("distance/levels.cu", distances, 1),
    "loads": ("loads/flows.cu", loads, 1),
    "loads from rows": ("loads/flows.cu", loads_from_rows, 1),
    "loads, wide": ("loads/wide.cu", loads_of_wide_numbers, 1),
    "walks": ("walks/walks.cu", walks, 1),
    "pairs": ("pairs/pairs.cu", pairs, 1),
    "many walks": ("walks/walks.cu", many_walks, 1),
    "random walks": ("walks/walks.cu", random_walks, 1),
    "blocks": ("blocks/measure.cu", blocks, 1),
    "annealing": ("annealing/anneal.cu", annealing, 1),
    "router": ("router/router.cu", router, 1),
    "router of several blocks": ("router/router.cu", router_of_blocks, 9),
}
