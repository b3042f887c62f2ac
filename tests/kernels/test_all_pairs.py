"""All-pairs distances on every backend against closed forms, networkx and a textbook search."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import comb
from types import ModuleType
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep_kernels.distance import Distances, all_pairs_distance, cpu, gpu, level
from torusweep_kernels.distance.level import filled_up
from torusweep_kernels.distance.single_source import incoming_links

from tests.kernels import oracle

BACKENDS = ("numpy", "numba", "cupy")
NEWS = "cupy, rows with news"
AsCupy = Callable[..., ModuleType]


@pytest.fixture(params=[*BACKENDS, NEWS])
def backend(request: pytest.FixtureRequest, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every backend in turn; cupy is the fake, with few threads and narrow rows, so that there are several of
    everything, and with both methods of levels.cu."""
    if request.param.startswith("cupy"):
        as_cupy(multiprocessors=1, cache=2**12)
    if request.param == NEWS:
        use_news(monkeypatch)
    return request.param.partition(",")[0]


def use_news(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the network, and with rows as wide as they are without."""
    for name, value in (("FEWEST", 0), ("WIDE", 1), ("SPARSE", 1.0)):
        monkeypatch.setattr(gpu, name, value)


def search(ports: np.ndarray, backend: str, sources: Any = None, groups: Any = None, **options: Any) -> Distances:
    """All sources in one group unless told otherwise."""
    sources = np.arange(len(ports)) if sources is None else np.asarray(sources)
    groups = np.zeros(len(sources), np.int32) if groups is None else np.asarray(groups)
    return all_pairs_distance(ports, sources, groups, backend=backend, **options)


CLOSED_FORMS = {
    "ring of 9": (oracle.torus(9), oracle.torus_histogram(9)),
    "torus 8³": (oracle.torus(8, 8, 8), oracle.torus_histogram(8, 8, 8)),
    "torus 16×8, radix 2 twice a link": (oracle.torus(16, 8, 2), oracle.torus_histogram(16, 8, 2)),
    "hypercube 9": (np.arange(512)[:, None] ^ (1 << np.arange(9)), [comb(9, d) for d in range(10)]),
    "directed ring of 70": ((np.arange(70)[:, None] + 1) % 70, [1] * 70),
    "complete graph of 40": ((np.arange(40)[:, None] + np.arange(1, 40)) % 40, [1, 39]),
    "400 nodes without links": (np.full((400, 3), -1), [1]),
    "400 nodes without ports": (np.zeros((400, 0)), [1]),
    "one node": (np.full((1, 2), -1), [1]),
    "one node, a link to itself": (np.zeros((1, 1), int), [1]),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_forms(name: str, backend: str) -> None:
    ports, from_one = CLOSED_FORMS[name]
    found = search(ports, backend, eccentricity=True)
    assert found.histogram.tolist() == [[len(ports) * nodes for nodes in from_one]]
    assert found.histogram.dtype == np.int64
    assert found.eccentricity is not None
    assert found.eccentricity.dtype == np.int32
    assert found.eccentricity.tolist() == [len(from_one) - 1] * len(ports)


@pytest.mark.parametrize("inward", [False, True], ids=["hub to leaves", "leaves to hub"])
@pytest.mark.parametrize("leaves", [1, 63, 500])
def test_star(leaves: int, inward: bool, backend: str) -> None:
    successors: list[list[int]] = [[0]] * leaves + [[]] if inward else [list(range(1, leaves + 1))] + [[]] * leaves
    successors = [[leaves]] * leaves + [[]] if inward else successors
    found = search(oracle.table(successors), backend)
    assert found.histogram.tolist() == [[leaves + 1, leaves]]


GRAPHS = {
    "sparse, in pieces": networkx.gnp_random_graph(150, 0.012, seed=1),
    "directed, in pieces": networkx.gnp_random_graph(130, 0.015, seed=2, directed=True),
    "cubic": networkx.random_regular_graph(3, 200, seed=3),
    "hubs": networkx.barabasi_albert_graph(200, 2, seed=4),
    "tree": networkx.random_labeled_tree(100, seed=5),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_against_networkx(name: str, backend: str) -> None:
    graph = GRAPHS[name]
    nodes = graph.number_of_nodes()
    groups = np.arange(nodes) % 3
    lengths = dict(networkx.all_pairs_shortest_path_length(graph))
    expected = np.zeros((3, nodes), np.int64)
    for source, reached in lengths.items():
        for distance in reached.values():
            expected[groups[source], distance] += 1
    found = search(
        oracle.table([graph.neighbors(node) for node in range(nodes)]), backend, groups=groups, eccentricity=True
    )
    depth = found.histogram.shape[1]
    assert found.histogram.tolist() == expected[:, :depth].tolist()
    assert not expected[:, depth:].any()
    assert found.eccentricity is not None
    assert found.eccentricity.tolist() == [max(lengths[source].values()) for source in range(nodes)]


def test_a_torus_less_some_links_is_filled_up(backend: str) -> None:
    """Against networkx; nodes that lack a link get one to themselves."""
    ports = oracle.torus_less_links(6, 5, 5, links=9)
    start, tail = incoming_links(ports)
    filled, node, own = filled_up(start, tail)
    assert np.diff(filled).tolist() == [6] * 150
    assert node[own].tolist() == tail.tolist()
    assert np.delete(node, own).tolist() == np.repeat(np.arange(150), 6 - np.diff(start)).tolist() != []
    graph = networkx.DiGraph((tail, int(head)) for tail, row in enumerate(ports) for head in row[row >= 0])
    lengths = dict(networkx.all_pairs_shortest_path_length(graph))
    found = search(ports, backend, eccentricity=True)
    pairs = np.bincount([distance for reached in lengths.values() for distance in reached.values()])
    assert found.histogram.tolist() == [pairs.tolist()]
    assert found.eccentricity is not None
    assert found.eccentricity.tolist() == [max(lengths[source].values()) for source in range(150)]


def check(task: dict[str, Any], backend: str, **options: Any) -> None:
    """Both ways of counting, per word and per lane, against the textbook."""
    lists = {name: None if value is None else value.tolist() for name, value in task.items()}
    histogram, eccentricity = oracle.distances(**lists)
    for wanted in (False, True):
        found = all_pairs_distance(**task, eccentricity=wanted, backend=backend, **options)
        assert found.histogram.tolist() == histogram
        assert (None if found.eccentricity is None else found.eccentricity.tolist()) == (
            eccentricity if wanted else None
        )


TASKS = {
    "few sources": {"nodes": 300, "degree": 3, "lanes": 3, "groups": 2},
    "one word": {"nodes": 300, "degree": 3, "lanes": 64, "groups": 1},
    "a word and one lane": {"nodes": 300, "degree": 2, "lanes": 65, "groups": 1},
    "several blocks": {"nodes": 200, "degree": 3, "lanes": 1500, "groups": 2},
    "some groups empty": {"nodes": 200, "degree": 3, "lanes": 300, "groups": 400},
    "every tile partly filled": {"nodes": 97, "degree": 2, "lanes": 200, "groups": 5},
}


@pytest.mark.parametrize("removed", [0, 3], ids=["whole", "removed"])
@pytest.mark.parametrize("counted", [False, True], ids=["all count", "counted"])
@pytest.mark.parametrize("name", TASKS)
def test_random_tasks(name: str, counted: bool, removed: int, backend: str) -> None:
    check(oracle.drawn(7, **TASKS[name], counted=counted, removed=removed), backend)


@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_drawn_tasks(data: st.DataObject, as_cupy: AsCupy) -> None:
    as_cupy(multiprocessors=1)
    task = oracle.drawn(
        data.draw(st.integers(0, 10**6), "seed"),
        nodes=data.draw(st.integers(1, 40), "nodes"),
        degree=data.draw(st.integers(0, 3), "degree"),
        lanes=data.draw(st.integers(1, 150), "lanes"),
        groups=data.draw(st.sampled_from([1, 2, 60]), "groups"),
        counted=data.draw(st.booleans(), "counted"),
        removed=data.draw(st.integers(0, 2), "removed"),
    )
    for backend in BACKENDS:
        check(task, backend)
    with pytest.MonkeyPatch.context() as patch:
        use_news(patch)
        check(task, "cupy")


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_thread_counts(backend: str, threads: int) -> None:
    check(oracle.drawn(3, 260, 3, 1300, 4, counted=True, removed=1), backend, threads=threads)


@pytest.mark.parametrize("lanes", [20, 700])  # few enough for tiles that change only at later levels, and many
def test_tiles_that_all_read_from_each_other(lanes: int, backend: str) -> None:
    nodes = 40 * 32
    graph = networkx.random_regular_graph(6, nodes, seed=8)
    sources = np.arange(lanes)
    lengths = [networkx.single_source_shortest_path_length(graph, source).values() for source in sources.tolist()]
    expected = np.bincount([distance for reached in lengths for distance in reached])
    found = search(oracle.table([graph.neighbors(node) for node in range(nodes)]), backend, sources, threads=1)
    assert found.histogram.tolist() == [expected.tolist()]


@pytest.mark.parametrize("words", [1, 8])
@pytest.mark.parametrize("sides", [(64, 40), (2000,)], ids=["tiles", "more levels than lanes: a queue"])
def test_tiles_and_queue(sides: tuple[int, ...], words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "width", lambda *_: words)
    ports = oracle.torus(*sides)
    sources = np.arange(0, len(ports), 19)
    found = search(ports, "numba", sources, eccentricity=True)
    assert found.histogram.tolist() == [[len(sources) * nodes for nodes in oracle.torus_histogram(*sides)]]
    assert found.eccentricity is not None
    assert set(found.eccentricity.tolist()) == {sum(side // 2 for side in sides)}


@pytest.mark.parametrize("shallow", [0, 50, 99, 1000])
def test_blocks_of_few_levels_and_of_many(shallow: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path with one link direction, searched from its beginning and from near its end, in two groups: 101 levels, and
    31."""
    monkeypatch.setattr(cpu, "SHALLOW", shallow)
    monkeypatch.setattr(cpu, "width", lambda *_: 1)
    sources = np.repeat([0, 70], 128)
    found = search(
        oracle.table([[node + 1] for node in range(100)] + [[]]), "numba", sources, np.repeat([0, 1], 128), threads=1
    )
    assert found.histogram.tolist() == [[128] * 101, [128] * 31 + [0] * 70]


def test_more_levels_than_lanes_is_given_to_the_queue() -> None:
    ports = oracle.torus(2000)
    task = cpu.Task(ports, np.arange(100, dtype=np.int32), np.zeros(100, np.int32), None, None, False)
    network = cpu.Network(task, ports)
    (block,) = cpu.blocks(*cpu.pack(task)[:1], 8, False)
    assert network.search(block)[0] == 0


def test_tile_graph_is_given_up_where_it_would_not_pay() -> None:
    torus, random = (
        level.tile_graph(*incoming_links(ports)) for ports in (oracle.torus(32, 40), shuffled(oracle.torus(32, 40)))
    )
    assert [len(start) for start, _ in (torus, random)] == [41, 0]
    assert sorted(torus[1][torus[0][1] : torus[0][2]]) == [0, 2]


def shuffled(ports: np.ndarray) -> np.ndarray:
    """The same network with its nodes numbered at random."""
    number = np.random.default_rng(1).permutation(len(ports)).astype(np.int32)
    renumbered = np.empty_like(ports)
    renumbered[number] = number[ports]
    return renumbered


def test_calls_from_several_threads_at_once() -> None:
    ports = oracle.torus(16, 16)
    expected = [[256 * nodes for nodes in oracle.torus_histogram(16, 16)]]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: search(ports, "numba", threads=2).histogram.tolist(), range(16)))
    assert results == [expected] * 16


@pytest.mark.parametrize("eccentricity", [False, True])
def test_no_sources(backend: str, eccentricity: bool) -> None:
    for ports in (oracle.torus(4), np.zeros((0, 2))):
        found = search(ports, backend, sources=np.zeros(0, np.int32), eccentricity=eccentricity)
        assert found.histogram.tolist() == np.zeros((0, 1)).tolist()
        assert found.histogram.shape == (0, 1)
        assert (found.eccentricity is None) != eccentricity


def test_nothing_counted(backend: str) -> None:
    found = search(oracle.torus(5, 5), backend, counted=np.zeros(25, bool), eccentricity=True)
    assert found.histogram.tolist() == [[0]]
    assert found.eccentricity is not None
    assert not found.eccentricity.any()


RING = oracle.torus(6)
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "ports of one dimension": ({"ports": RING[:, 0]}, r"ports of shape \[N, d\], got \(6,\)"),
    "port outside": ({"ports": RING + 1}, "ports of -1 … 5, got 1 … 6"),
    "source outside": ({"sources": [0, 6]}, "sources of 0 … 5, got 0 … 6"),
    "negative source": ({"sources": [-1, 2]}, "sources of 0 … 5, got -1 … 2"),
    "groups of another length": ({"groups": [0]}, r"groups of shape \(2,\), one per source, got \(1,\)"),
    "negative group": ({"groups": [-1, 0]}, "groups of 0 … 2147483647, got -1 … 0"),
    "a port that 32 bits cannot hold": (
        {"ports": RING.astype(np.int64) + 2**32},
        "ports of -1 … 5, got 4294967296 … 4294967301",
    ),
    "broken numbers": ({"sources": [0.5, 1.0]}, "sources of whole numbers, got float64"),
    "counted of another length": ({"counted": np.ones(5, bool)}, r"counted bool\[6\], got bool\[5\]"),
    "counted as numbers": ({"counted": np.ones(6, int)}, r"counted bool\[6\], got int64\[6\]"),
    "removed of another length": ({"removed": [[1]]}, r"removed of shape \[2, F\], got \(1, 1\)"),
    "removed outside": ({"removed": [[1], [9]]}, "removed of -1 … 5, got 1 … 9"),
    "a source removed": ({"removed": [[1], [1]]}, "sources that are not among their own removed nodes, got source 1"),
    "no threads": ({"threads": 0}, "threads ≥ 1 or None, got 0"),
    "unknown backend": ({"backend": "abacus"}, "expected a backend of .*, got 'abacus'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_contradictions_are_refused(name: str) -> None:
    change, message = REFUSED[name]
    arguments: dict[str, Any] = {"ports": RING, "sources": [0, 1], "groups": [0, 0], "backend": "numpy", **change}
    arrays = {
        name: np.asarray(arguments.pop(name)) for name in ("ports", "sources", "groups", "removed") if name in arguments
    }
    with pytest.raises(ValueError, match=message):
        all_pairs_distance(**arrays, **arguments)
