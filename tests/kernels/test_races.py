"""No kernel has a data race, leaves its arrays, or does what C++ does not define: every CUDA source under sanitizers.

For ThreadSanitizer, accesses are ordered only where CUDA orders them (race_shim.h). The results are compared, too.
Mutated sources show that reports are made, also where the results stay right.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torusweep_kernels import backend, cuda
from torusweep_kernels.annealing import Goal, anneal_chains
from torusweep_kernels.distance import Task, all_pairs_distance, many_distances
from torusweep_kernels.distance import gpu as distance_gpu
from torusweep_kernels.lattices import measure_lattices
from torusweep_kernels.loads import SPLITS, minimal_loads
from torusweep_kernels.loads import gpu as loads_gpu
from torusweep_kernels.pairs import draw_pairs, pair_tables
from torusweep_kernels.router import Router, gpu_state, simulate
from torusweep_kernels.router import gpu as router_gpu
from torusweep_kernels.routes import route_flows
from torusweep_kernels.walks import RandomPackets, Searches, sampled_walks, shortest_walks

from tests.kernels import fake_cupy, oracle, racing
from tests.kernels.quotients import start
from tests.kernels.router_cases import Routes, random_case, torus_wiring, uniform, with_detours, with_messages

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parent.parent.parent / "kernels" / "torusweep_kernels"
TRIVIAL = '#include "{shim}"\nstatic void run_kernel(const char*, void**) {{}}\n'
Arrays = list[np.ndarray]
Case = Callable[[str], Arrays]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs are kept."""
    made = tmp_path_factory.getbasetemp().parent / "races"
    made.mkdir(exist_ok=True)
    return made


@pytest.fixture(scope="module", params=[racing.THREAD, racing.MEMORY], ids=["races", "memory"])
def sanitizer(request: pytest.FixtureRequest, folder: Path) -> racing.Sanitizer:
    """Each of them; skips where it cannot be had."""
    return usable(request.param, folder)


@cache
def usable(sanitizer: racing.Sanitizer, folder: Path) -> racing.Sanitizer:
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip(f"needs {sanitizer.name} on 64-bit Linux and x86; this machine is another")
    source, program = folder / "trivial.cpp", folder / "trivial"
    source.write_text(TRIVIAL.format(shim=racing.SHIM))
    try:
        racing.build(sanitizer, source, program, folder)
        racing.ran(sanitizer, program, "/dev/null", "/dev/null")
    except (fake_cupy.CompileException, OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"needs {sanitizer.name} of {' '.join(sanitizer.command)}: {str(error)[:500]}")
    return sanitizer


@contextmanager
def sanitized(
    folder: Path, sanitizer: racing.Sanitizer, mutated: Callable[[str], str] = str, **device: Any
) -> Iterator[list[str]]:
    """A GPU of few threads, several blocks each; gives the reports."""
    with pytest.MonkeyPatch.context() as patch:
        cupy, found = racing.module(folder, sanitizer, mutated, **device)
        patch.setitem(sys.modules, "cupy", cupy)
        patch.setattr(cuda, "THREADS", 32)
        patch.setattr(cuda, "RESIDENT", 64)
        patch.setattr(cuda, "AHEAD", 4)
        with_gaps(patch)
        backend.gpu_count.cache_clear()
        try:
            yield found
        finally:
            backend.gpu_count.cache_clear()


def with_gaps(patch: pytest.MonkeyPatch) -> None:
    """Between the arrays of the router's states, which are one array on the device, there is room that is forbidden.

    Not where states are copied to shared memory, which copies that room, too."""
    patch.setattr(gpu_state, "GAP", 64)
    patch.setattr(racing, "gaps", {})
    init = router_gpu.Round.__init__

    def made(held: router_gpu.Round, *how: Any) -> None:
        init(held, *how)
        racing.gaps.pop(held.state.data.ptr, None)  # of an array that had this address before
        if router_gpu.IN_SHARED:
            return
        experiments, words = held.state.shape
        begins = [*(part.begin for part in held.parts.values()), 8 * words][1:]
        ends = [part.end for part in held.parts.values()]
        racing.gaps[held.state.data.ptr] = [
            (8 * words * e + end, 8 * words * e + begin) for e in range(experiments) for end, begin in zip(ends, begins)
        ]

    patch.setattr(router_gpu.Round, "__init__", made)


# --- cases: each kernel, small, with more items than threads where threads have strides ------------


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


def many(backend: str) -> Arrays:
    tasks = []
    for nodes in (20, 45, 150):
        sources = np.arange(0, nodes, 3)
        removed = np.where(sources[:, None] % 2 == 0, (sources[:, None] + 7) % nodes, -1)
        # two barriers more a level where nodes are removed
        tasks += [Task(ports(nodes), sources, sources % 3, None, some, True) for some in (removed, None)]
    return [np.asarray(array) for found in many_distances(tasks, backend=backend) for array in found]


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


def routes(backend: str) -> Arrays:
    way = Routes(4, 3)
    first, last = np.random.default_rng(6).integers(0, 12, (2, 700))
    packets = oracle.torus(4, 3), first, way.row(first, last), way.direction, way.hops
    return [route_flows(*packets, groups=groups, first=4, backend=backend) for groups in (None, 3)]


def lattices(backend: str) -> Arrays:
    forms = np.array([[[40, 7], [0, 3]], [[64, 1], [0, 2]], [[5, 4], [0, 1]], [[1, 0], [0, 1]]])
    return [array for some in (True, False) for array in measure_lattices(forms, loads=some, backend=backend)]


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
    "distance, many": ("distance/search.cu", many, 1),
    "loads": ("loads/flows.cu", loads, 1),
    "loads from rows": ("loads/flows.cu", loads_from_rows, 1),
    "loads, wide": ("loads/wide.cu", loads_of_wide_numbers, 1),
    "walks": ("walks/walks.cu", walks, 1),
    "pairs": ("pairs/pairs.cu", pairs, 1),
    "many walks": ("walks/walks.cu", many_walks, 1),
    "random walks": ("walks/walks.cu", random_walks, 1),
    "routes": ("routes/runs.cu", routes, 1),
    "lattices": ("lattices/measure.cu", lattices, 1),
    "annealing": ("annealing/anneal.cu", annealing, 1),
    "router": ("router/router.cu", router, 1),
    "router of several blocks": ("router/router.cu", router_of_blocks, 9),
}


def test_every_source_is_run() -> None:
    assert {source for source, *_ in CASES.values()} == {str(path.relative_to(ROOT)) for path in ROOT.glob("*/*.cu")}


@pytest.mark.parametrize("name", CASES)
def test_no_kernel_is_reported(name: str, folder: Path, sanitizer: racing.Sanitizer) -> None:
    _, case, multiprocessors = CASES[name]
    expected = case("numba")
    with sanitized(folder, sanitizer, multiprocessors=multiprocessors) as found:
        arrays = case("cupy")
    assert found == []
    assert [array.tobytes() for array in arrays] == [array.tobytes() for array in expected]


class Mutation:
    """A source's text with something taken away that orders accesses: (case, text, instead, which of its places)."""

    def __init__(self, case: str, old: str, new: str, place: int | None = None) -> None:
        self.case, self.old, self.new, self.place = case, old, new, place

    def __call__(self, code: str) -> str:
        pieces = code.split(self.old)
        assert len(pieces) > 1, f"{self.old!r} is no more in the source"
        if self.place is None:
            return self.new.join(pieces)
        before, after = pieces[: self.place + 1], pieces[self.place + 1 :]
        return self.old.join(before) + self.new + self.old.join(after)


BARRIER = "__syncthreads();"
MUTATIONS = {
    "a level's sums not doubled": Mutation("distance, many", "gained + level % 2 * LANES;", "gained;"),
    "no barrier before removed nodes": Mutation("distance, many", f"continue;\n        {BARRIER}", "continue;"),
    "last levels stored plainly": Mutation(
        "distance, many", "store_relaxed(last + __ffs(reached) - 1, level)", "last[__ffs(reached) - 1] = level"
    ),
    "happened stored plainly": Mutation("distance", "store_relaxed(happened, 1)", "*happened = 1"),
    "bits of sources set plainly": Mutation(
        "distance",
        "atomicOr((unsigned int*)(rows + (node << shift)) + lane / 32, 1u << lane % 32)",
        "((unsigned int*)(rows + (node << shift)))[lane / 32] |= 1u << lane % 32",
    ),
    "news of sources told plainly": Mutation(
        "distance",
        "atomicOr((unsigned int*)was + item / 4, 1u << 8 * (item % 4))",
        "((unsigned int*)was)[item / 4] |= 1u << 8 * (item % 4)",
    ),
    "news of this level asked for": Mutation(
        "distance", "[was](unsigned int from) { return was[from]; }", "[is](unsigned int from) { return is[from]; }"
    ),
    "news stored beside those of the level before": Mutation(
        "distance", "next[item] = got;", "const_cast<Piece*>(old)[item] = got;"
    ),
    "pieces read counted plainly": Mutation(
        "distance", "atomicAdd(room + counters, found.read)", "room[counters] += found.read"
    ),
    "new bits added plainly": Mutation(
        "distance", "atomicAdd(gained + i, (unsigned long long)room[i])", "gained[i] += room[i]"
    ),
    "new bits of a block added plainly": Mutation(
        "distance", "atomicAdd(room, found.x + found.y)", "*room += found.x + found.y"
    ),
    "new bits of a block's groups added plainly": Mutation(
        "distance", "atomicAdd(room + counter[2 * piece], found.x)", "room[counter[2 * piece]] += found.x"
    ),
    "no barrier before new bits are added": Mutation("distance", BARRIER, "", 0),
    "no barrier after new bits are added": Mutation("distance", "__syncthreads_or(found.any)", "found.any"),
    "lanes of a block joined plainly": Mutation(
        "distance",
        "atomicOr(lanes + 4 * piece, (unsigned int)found.lanes.x)",
        "lanes[4 * piece] |= (unsigned int)found.lanes.x",
    ),
    "lanes joined plainly": Mutation("distance", "atomicOr(news + i, lanes[i])", "news[i] |= lanes[i]"),
    "lanes read plainly": Mutation("distance", "(unsigned int)relaxed((const int*)news + i)", "news[i]"),
    "bits of a lane added plainly": Mutation(
        "distance",
        "atomicAdd(pairs + (i & ((1u << shift) - 1u)) * LANES + (i >> shift), room[i])",
        "pairs[(i & ((1u << shift) - 1u)) * LANES + (i >> shift)] += room[i]",
    ),
    "bits of a block's lane added plainly": Mutation(
        "distance", "atomicAdd(room + (bit << shift) + piece, x)", "room[(bit << shift) + piece] += x"
    ),
    "no barrier after bits of a lane are added": Mutation("distance", BARRIER, "", 1),
    "no barrier before a root": Mutation("loads", BARRIER, "", 0),
    "no barrier between levels of loads": Mutation("loads", BARRIER, "", 1),
    "no barrier between levels inwards": Mutation("loads", BARRIER, "", 2),
    "no barrier between levels inwards, from rows": Mutation("loads from rows", BARRIER, "", 2),
    "no barrier before nodes are added": Mutation("loads", BARRIER, "", 3),
    "nodes added while they are read": Mutation("loads", "(tile + 1) % 2 * LANES", "tile % 2 * LANES"),
    "nodes found at two levels in turn": Mutation("loads", "(level + 2) % 3", "(level + 1) % 3"),
    "nodes found counted plainly": Mutation("loads", "atomicAdd(added, 1u)", "(*added)++"),
    "nodes found read plainly": Mutation("loads", "relaxed(word) & bit", "*word & bit"),
    "nodes found stored plainly": Mutation("loads", "atomicOr(word, bit) & bit", "!(*word |= bit)"),
    "distances of loads stored plainly": Mutation(
        "loads", "store_relaxed(distance + node, level)", "distance[node] = level"
    ),
    "distances of loads read plainly": Mutation("loads", "relaxed(own.distance + nearer)", "own.distance[nearer]"),
    "the most paths stored plainly": Mutation("loads", "if (most > 1) atomicMax(", "task.most[lane] = most; (void)("),
    "wide distances read plainly": Mutation("loads, wide", "relaxed(word) == NONE", "*word == NONE"),
    "wide distances stored plainly": Mutation(
        "loads, wide", "atomicCAS(word, NONE, level) == NONE", "(*word = level) == level"
    ),
    "distances of walks read plainly": Mutation("walks", "relaxed(far + other)", "far[other]"),
    "nodes of walks found plainly": Mutation(
        "walks", "atomicCAS(far + other, -2, level) == -2", "(far[other] = level) > 0"
    ),
    "places in the queue of walks taken plainly": Mutation("walks", "atomicAdd(size, 1u)", "(*size)++"),
    "no barrier before the first level of walks": Mutation("walks", BARRIER, "", 0),
    "no barrier before a level's sums of walks": Mutation("walks", BARRIER, "", 1),
    "no barrier between levels of walks": Mutation("walks", BARRIER, "", 2),
    "too many paths told plainly": Mutation("many walks", "store_relaxed(too_many, 1)", "*too_many = 1"),
    "packets counted plainly": Mutation("walks", "atomicAdd(counter + channel, 1ull)", "++counter[channel]"),
    "random packets counted plainly": Mutation(
        "random walks", "atomicAdd(counter + channel, 1ull)", "++counter[channel]"
    ),
    "random packets without a path counted plainly": Mutation(
        "random walks", "atomicAdd(unreachable + own, 1ull)", "++unreachable[own]"
    ),
    "changes of flow added plainly": Mutation("routes", "atomicAdd(own + slot, each)", "own[slot] += each"),
    "no barrier between levels of a lattice": Mutation("lattices", BARRIER, "", 3),
    "no barrier between sums of a lattice": Mutation("lattices", BARRIER, "", 6),
    "no barrier before the first level of a graph": Mutation("annealing", BARRIER, "", 0),
    "no barrier between levels of a graph": Mutation("annealing", BARRIER, "", 1),
    "no barrier after an accepted move": Mutation(
        "annealing", f"}}\n        {BARRIER}\n        if (here >= best_energy)", "}\n        if (here >= best_energy)"
    ),
    "no fences": Mutation("router of several blocks", "__threadfence();", ""),
    "credits back in the same cycle": Mutation("router", "credits(t + credit_delay + back[in(i)])", "credits(t)"),
    "deliveries counted plainly": Mutation(
        "router", "atomicSub(&experiment().undelivered, 1)", "--experiment().undelivered"
    ),
    "no barrier of the blocks": Mutation(
        "router of several blocks", f"        {BARRIER}\n        int next", "        int next"
    ),
    "no fence before a block arrives": Mutation(
        "router of several blocks",
        "            __threadfence();\n            if (atomicAdd(arrived",
        "            if (atomicAdd(arrived",
    ),
    "no fence before a cycle begins": Mutation(
        "router of several blocks", "arrived = 0;\n                __threadfence();", "arrived = 0;"
    ),
    "no barrier after states are copied": Mutation("router", f"round.bytes);\n            {BARRIER}", "round.bytes);"),
    "no fence after a cycle begins": Mutation(
        "router of several blocks", "__nanosleep(20);\n                __threadfence();", "__nanosleep(20);"
    ),
    "blocks that do not wait for a cycle": Mutation(
        "router of several blocks",
        "while ((next = *(volatile int*)begun) <= t)",
        "while ((next = *(volatile int*)begun) < t)",
    ),
    "blocks counted plainly": Mutation("router of several blocks", "atomicAdd(arrived, 1)", "(*arrived)++"),
    "threads that do not wait for their block": Mutation(
        "router of several blocks",
        "return __syncthreads_or(next != NEVER);",
        "return next != NEVER || threadIdx.x > 0;",
    ),
}

# a source that leaves an array, or computes what C++ does not define: (mutation, words of the report)
OVERFLOW, POISON = "heap-buffer-overflow", "use-after-poison"
WRONG = {
    "a channel too many of a level": (
        Mutation("distance", "link < start[node + 1]", "link <= start[node + 1]"), OVERFLOW,
    ),
    "a node too many of a graph": (
        Mutation("distance, many", "node = thread; node < size;", "node = thread; node <= size;", 0), OVERFLOW,
    ),
    "a word too many of shared memory": (
        Mutation("distance, many", "i < 2 * size + 3 * LANES", "i < 2 * size + 3 * LANES + 1"), OVERFLOW,
    ),
    "a channel too many of a load": (
        Mutation("loads", "arc < toward.start[node + 1]", "arc <= toward.start[node + 1]"), OVERFLOW,
    ),
    "a lane too many of loads": (Mutation("loads", "lane < part.end", "lane <= part.end"), OVERFLOW),
    "a node too many of a root": (
        Mutation("loads", "node < nodes; node += threads) own", "node <= nodes; node += threads) own"), OVERFLOW,
    ),
    "a lane too many of totals": (Mutation("loads", "first + row >= lanes", "first + row > lanes"), OVERFLOW),
    "a share too many of loads": (
        Mutation("loads", "share < finished; ++share", "share < finished + 2; ++share"), OVERFLOW,
    ),
    "a row too many of walks": (Mutation("walks", "node < nodes; node", "node <= nodes; node"), OVERFLOW),
    "a link too many of walks": (Mutation("walks", "link < start[node + 1]", "link <= start[node + 1]"), OVERFLOW),
    "a queue behind the last one": (Mutation("walks", "queue + (long long)blockIdx.x", "queue + gridDim.x"), OVERFLOW),
    "a limit that no unsigned int holds": (
        Mutation("walks", "(sum * share < most ? sum * share : most)", "(sum * share * 2)"), "outside the range",
    ),
    "a pair too many": (Mutation("pairs", "item < (unsigned int)packets", "item <= (unsigned int)packets"), OVERFLOW),
    "a sum before the first of a choice": (Mutation("pairs", "place > 0 && cdf", "cdf"), OVERFLOW),
    "the end of the next source's pairs": (
        Mutation("pairs", "t.reduced_start[source + 1]", "t.reduced_start[source + 2]"), OVERFLOW,
    ),
    "rows of the next destination": (
        Mutation("random walks", "(long long)target * nodes", "(target + 1ll) * nodes"), OVERFLOW,
    ),
    "changes behind the last group": (
        Mutation("routes", "% (unsigned int)groups * (long long)slots", "% (groups + 1u) * (long long)slots"), OVERFLOW,
    ),
    "a packet too many": (Mutation("routes", "packet < packets", "packet <= packets"), OVERFLOW),
    "the degree of the next lattice": (Mutation("lattices", "degree[block]", "degree[block + 1]"), OVERFLOW),
    "the next port of a graph": (
        Mutation("annealing", "graph.ports[port % graph.d *", "graph.ports[(port % graph.d + 1) *"), OVERFLOW,
    ),
    "a node too many of the router": (
        Mutation("router", "router.node < network.nodes", "router.node <= network.nodes"), POISON,
    ),
    "a node too many of a router's sums": (
        Mutation("router", "[(long long)which * nodes + node]", "[(long long)which * nodes + node + 1]"), POISON,
    ),
    "a shift too far": (Mutation("distance", "plane[digit].x >> bit", "plane[digit].x >> (bit + 1)"), "shift exponent"),
    "a row's news too many": (Mutation("distance", "was + item / 4", "was + item"), OVERFLOW),
    "a word too many of a row": (Mutation("distance", "i < 4u << shift", "i <= 4u << shift"), OVERFLOW),
    "a lane too many of distances": (
        Mutation("distance", "i < (unsigned int)LANES << shift", "i <= (unsigned int)LANES << shift"), OVERFLOW,
    ),
    "a number too large": (
        Mutation("distance", "happened + level + 1)", "happened + (level + 2147483647 - 2147483646))"),
        "signed integer overflow",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_orders_accesses_is_missed(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported(MUTATIONS[name], usable(racing.THREAD, folder), folder, monkeypatch)


@pytest.mark.parametrize("name", WRONG)
def test_what_keeps_to_its_arrays_is_missed(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation, report = WRONG[name]
    found = reported(mutation, usable(racing.MEMORY, folder), folder, monkeypatch)
    assert report in found[0]


def reported(
    mutation: Mutation, sanitizer: racing.Sanitizer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """A mutated program may be wrong, or never end: only the report counts."""
    monkeypatch.setattr(racing, "SECONDS", 20)
    _, case, multiprocessors = CASES[mutation.case]
    found: list[str] = []
    try:
        with sanitized(folder, sanitizer, mutation, multiprocessors=multiprocessors) as found:
            case("cupy")
    except (AssertionError, subprocess.TimeoutExpired):
        assert found, "it failed without a report"
    assert found
    return found
