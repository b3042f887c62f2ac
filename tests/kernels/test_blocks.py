"""Blocks of networks: beside breadth-first search in Python, fractions and connectivity of networkx; backends beside
each other."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep.networks.families import build
from torusweep.networks.links import channel_matrix, link_orbits, surviving_network
from torusweep.networks.symmetry import orbits_under
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.static.connectivity import components
from torusweep.questions.static.connectivity import edge_connectivity as of_stage
from torusweep_kernels.blocks import Block, cpu, edge_connectivity, gpu, measure_networks, reference
from torusweep_kernels.distance import all_pairs_distance
from torusweep_kernels.loads import minimal_loads

from tests.kernels import loads_oracle, oracle


@st.composite
def blocks(draw: st.DrawFn) -> dict[str, np.ndarray | None]:
    """Some networks of one size: links of one direction, parallel ones, loops, nodes without links or terminals."""
    networks, nodes, width = draw(st.integers(1, 3)), draw(st.integers(1, 7)), draw(st.integers(0, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    ports = rng.integers(-1, nodes, (networks, nodes, width))
    most = draw(st.sampled_from([None, 1, 3]))  # alike or not
    terminals = None if most is None else rng.integers(0, most + 1, (networks, nodes))
    capacity = rng.integers(1, 4, ports.shape) if draw(st.booleans()) else None
    return {"ports": ports, "terminals": terminals, "capacity": capacity}


@settings(max_examples=25, deadline=None, derandomize=True)
@given(blocks())
def test_numbers_are_those_of_a_plain_search_and_of_fractions(block):
    found = measure_networks(**block, threads=1)
    ports = block["ports"]
    for place, rows in enumerate(ports.tolist()):
        own = [1] * len(rows) if block["terminals"] is None else block["terminals"][place].tolist()
        histogram = [0] * found.histogram.shape[1]
        for source, times in enumerate(own):
            rings, _ = oracle.distances(rows, [source] * len(rows), range(len(rows)), None, None)
            reached = dict.fromkeys(range(len(rings[0])), 0)
            hops = loads_oracle.hops_to(turned(rows), source)
            for node, distance in enumerate(hops):
                if distance is not None:
                    reached[distance] = reached.get(distance, 0) + own[node]
            for distance, number in reached.items():
                if number * times:
                    histogram[distance] += number * times
            farthest = max((d for d, number in reached.items() if number), default=0)
            assert found.eccentricity[place, source] == (farthest if times else -1)
        assert found.histogram[place].tolist() == histogram
        assert found.connected[place] == strongly_connected(rows, own)
        check_loads(rows, own, None if block["capacity"] is None else block["capacity"][place].tolist(), found, place)


def turned(rows):
    return [[tail for tail, heads in enumerate(rows) if node in heads] for node in range(len(rows))]


def strongly_connected(rows, own):
    graph = networkx.DiGraph([(tail, head) for tail, heads in enumerate(rows) for head in heads if head >= 0])
    graph.add_nodes_from(node for node, number in enumerate(own) if number)
    return not graph or networkx.is_strongly_connected(graph)


def check_loads(rows, own, capacity, found, place):
    width = len(rows[0])
    capacity = capacity or [[1] * width for _ in rows]
    total = sum(own)
    expected = [[Fraction(0)] * width for _ in rows]
    for source, sends in enumerate(own):
        for target, receives in enumerate(own):
            if sends and receives:
                share = sum([1 / total] * receives)  # as float64
                path = loads_oracle.over_paths(rows, capacity, source, target) or {}
                for (node, port), part in path.items():
                    expected[node][port] += part * Fraction(sends * share)
    rounded = [[float(load) for load in row] for row in expected]
    assert found.load[place].tolist() == rounded
    assert found.hops[place] == float(sum(Fraction(load) for row in rounded for load in row))


def same(found: Block, expected: Block) -> None:
    for name, ours, theirs in zip(found._fields, found, expected, strict=True):
        assert (ours is None) == (theirs is None), name
        if ours is not None and theirs is not None:
            assert (ours.dtype, ours.shape, ours.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes()), name


@settings(max_examples=25, deadline=None, derandomize=True)
@given(blocks())
def test_backends_and_threads_agree_to_the_bit(block):
    expected = measure_networks(**block, backend="numpy")
    for threads in (1, 2):
        same(measure_networks(**block, backend="numba", threads=threads), expected)
    without = measure_networks(**block, loads=False)
    assert without.load is None
    assert without.hops is None
    for ours, theirs in zip(without[:3], expected[:3]):
        assert ours.tobytes() == theirs.tobytes()


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(block=blocks(), loads=st.booleans(), backwards=st.booleans())
def test_cuda_agrees_to_the_bit(as_cupy, block, loads, backwards):
    expected = measure_networks(**block, loads=loads, backend="numpy")
    as_cupy(backwards=backwards)
    same(measure_networks(**block, loads=loads, backend="cupy"), expected)


@pytest.mark.parametrize("pairs", [1, 300, 10**6])
def test_cuda_with_some_roots_at_once(as_cupy, monkeypatch, pairs):
    """One root, several and a rest, all; more items than threads."""
    ports = np.stack([build(f"random_regular(nodes=70, degree=3, seed={seed})").ports for seed in range(3)])
    monkeypatch.setattr(gpu, "PAIRS", pairs)
    monkeypatch.setattr(gpu, "MOST_THREADS", 64)
    as_cupy()
    same(measure_networks(ports, backend="cupy"), measure_networks(ports, backend="numba"))


def test_cuda_where_a_block_shares_little(as_cupy, monkeypatch):
    """Loads one by one; and distances, too, by the specification."""
    ports = np.stack([build(f"random_regular(nodes=600, degree=3, seed={seed})").ports for seed in range(2)])
    expected = measure_networks(ports, backend="numba")
    as_cupy(shared=45_000)
    same(measure_networks(ports, backend="cupy"), expected)
    few = ports[:, :40] % 40
    expected = measure_networks(few, backend="numba")
    monkeypatch.setattr(gpu, "NUMBERED", 0)
    same(measure_networks(few, backend="cupy"), expected)


# rings, parallel links, switches without terminals, failed nodes, one direction, several terminals a node
FAMILIES = (
    "torus(k=4, n=2)",
    "torus(k=5, n=2)",
    "torus(k=4, n=3)",
    "torus(radices=[7, 11])",
    "mesh(k=3, n=2)",
    "kautz(d=2, k=3)",
    "directed_torus(k=4, n=2)",
    "pruned_torus(k=4, n=3)",
    "dragonfly(a=4, h=2, p=2)",
    "fat_tree(k=2, n=3)",
    "xgft(down=[3, 2], up=[1, 2])",
    "hyperx(radices=[3, 4], terminals=2, widths=[2, 1])",
    "hamming_mesh(board=[2, 2], boards=[2, 3])",
    "ccc(n=3)",
    "random_regular(nodes=100, degree=5, seed=2)",
    "faulty(torus(k=4, n=2), links=3, nodes=2, seed=4)",
    "faulty(dragonfly(a=4, h=2, p=2), nodes=1, links=2)",
)


@cache
def arrays(spelling):
    topology = build(spelling)
    terminals = np.bincount(topology.terminals, minlength=topology.nodes)
    capacity = None if topology.capacity is None else topology.capacity[None]
    return topology, {"ports": topology.ports[None], "terminals": terminals[None], "capacity": capacity}


@pytest.mark.parametrize("spelling", FAMILIES)
def test_loads_are_those_of_the_stage_to_the_bit(spelling):
    topology, block = arrays(spelling)
    found = measure_networks(**block)
    alone = exact_loads(topology)
    assert topology.load_of(found.load[0]).tobytes() == alone.load.tobytes()
    assert found.hops[0] / len(topology.terminals) == alone.mean_hops


def test_a_network_of_many_channels_takes_its_loads_alone(monkeypatch):
    ports = np.stack([oracle.torus(8, 8), oracle.torus(8, 8)])
    ports[1, 5, 0] = -1
    expected = measure_networks(ports)
    monkeypatch.setattr(cpu, "MOST_CHANNELS", 255)
    assert cpu.measure(reference.Task(ports.astype(np.int32), None, None, True), 1)[-1].all()
    same(measure_networks(ports), expected)


@pytest.mark.parametrize("squares", [31, 34, 70])
def test_more_paths_than_sums_are_exact_for(squares):
    """2³³ and more between all pairs, or on the way to one node, or more than a node's state can hold."""
    ports = diamonds(squares)
    found = measure_networks(ports[None])
    exact = minimal_loads(ports, np.arange(len(ports)), np.full(len(ports), 1 / len(ports)), exact=True, inward=True)
    assert found.load[0].tobytes() == exact.load.tobytes()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(blocks(), st.booleans())
def test_edge_connectivity_is_that_of_networkx(block, both_ways):
    ports = block["ports"]
    if both_ways and ports.size:  # each link once, or as often as it is drawn, and back
        block["capacity"] = None
        drawn = np.full((*ports.shape[:2], 2 * ports.shape[1] * ports.shape[2]), -1)
        for network, tail, port in np.argwhere(ports >= 0):
            head = ports[network, tail, port]
            drawn[network, tail, 2 * (tail * ports.shape[2] + port)] = head
            drawn[network, head, 2 * (tail * ports.shape[2] + port) + 1] = tail
        block["ports"] = ports = drawn
    found = edge_connectivity(**block, threads=2)
    for place, rows in enumerate(ports.tolist()):
        graph = networkx.DiGraph()
        graph.add_nodes_from(node for node in range(len(rows)) if own_terminals(block, place, node))
        for tail, heads in enumerate(rows):
            for port, head in enumerate(heads):
                if head >= 0:
                    graph.add_nodes_from([tail, head])
                    if head != tail:
                        times = 1 if block["capacity"] is None else int(block["capacity"][place, tail, port])
                        before = graph.get_edge_data(tail, head, {"capacity": 0})["capacity"]
                        graph.add_edge(tail, head, capacity=before + times)
        every = list(graph)
        expected = min((networkx.minimum_cut_value(graph, s, t) for s in every for t in every if s != t), default=0)
        assert found[place] == expected


def own_terminals(block, place, node):
    return block["terminals"] is None or block["terminals"][place, node] > 0


@pytest.mark.parametrize("spelling", FAMILIES)
def test_edge_connectivity_is_that_of_the_table(spelling):
    topology, block = arrays(spelling)
    own = surviving_network(topology)
    matrix, nodes = channel_matrix(own), orbits_under(own.nodes, [])
    links, connected = link_orbits(own, [], nodes), components(own, matrix) == 1
    assert edge_connectivity(**block)[0] == of_stage(own, matrix, nodes, links, connected=connected)[0]


def diamonds(number):
    """int32[N, 4]: a chain of squares, whose ends are joined by 2^number shortest paths."""
    links = []
    for square in range(number):
        first = 3 * square
        links += [(first, first + 1), (first, first + 2), (first + 1, first + 3), (first + 2, first + 3)]
    ports = np.full((3 * number + 1, 4), -1, np.int32)
    used = np.zeros(len(ports), int)
    for pair in links:
        for tail, head in (pair, pair[::-1]):
            ports[tail, used[tail]] = head
            used[tail] += 1
    return ports


def test_a_network_in_a_block_and_alone():
    ports = np.stack([build(f"random_regular(nodes=70, degree=3, seed={seed})").ports for seed in range(20)])
    together = measure_networks(ports, threads=2)
    for place in range(len(ports)):
        alone = measure_networks(ports[place : place + 1])
        width = alone.histogram.shape[1]
        assert (alone.histogram[0] == together.histogram[place, :width]).all()
        assert not together.histogram[place, width:].any()
        assert alone.load[0].tobytes() == together.load[place].tobytes()
        everyone = np.arange(70)
        plain = all_pairs_distance(ports[place], everyone, everyone * 0, eccentricity=True)
        assert plain.histogram[0].tolist() == alone.histogram[0].tolist()
        assert plain.eccentricity.tolist() == alone.eccentricity[0].tolist()


def test_paths_beyond_float64(as_cupy):
    as_cupy()
    ports = diamonds(60)
    capacity = np.where(ports >= 0, 2**20, 1)
    for backend in ("numpy", "numba", "cupy"):
        with pytest.raises(OverflowError, match=r"expected at most 1\.8e308 shortest paths"):
            measure_networks(ports[None], None, capacity[None], backend=backend)


def test_nothing():
    for shape in ((0, 4, 2), (2, 0, 3)):
        found = measure_networks(np.zeros(shape, np.int32))
        assert (found.load.shape, found.histogram.shape) == (shape, (shape[0], 1))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"ports": np.zeros((3, 2), np.int32)}, r"ports of shape \[B, N, P\], got \(3, 2\)"),
        ({"ports": np.full((1, 3, 2), 3)}, r"ports of -1 … 2, got 3 … 3"),
        ({"ports": np.zeros((1, 3, 2), int), "terminals": np.ones((1, 2), int)}, r"terminals of shape \(1, 3\)"),
        ({"ports": np.zeros((1, 2, 2), int), "terminals": np.full((1, 2), -1)}, r"terminals of 0 …"),
        ({"ports": np.zeros((1, 2, 2), int), "capacity": np.zeros((1, 2, 2), int)}, "capacity ≥ 1"),
        ({"ports": np.zeros((1, 2, 2), int), "threads": 0}, "threads ≥ 1"),
    ],
)
def test_refusals(given, expected):
    with pytest.raises(ValueError, match=f"^measure_networks: expected {expected}"):
        measure_networks(**given)
