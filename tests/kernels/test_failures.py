"""Draws of failures: the reference against networkx, Numba against the reference, draws against their definition."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import networkx
import numpy as np
import pytest
from torusweep_kernels.failures import Failures, Network, Parts, after_failures, draw_failures

RANDOM = np.random.default_rng(27)


def network_of(graph: networkx.Graph, terminals: list[int]) -> tuple[Network, Parts, list[tuple[int, int]]]:
    """A graph whose links fail, its parts, and the link of each part; parallel links are parts of their own."""
    nodes, directed = graph.number_of_nodes(), graph.is_directed()
    counts = Counter((a, b) if directed else (min(a, b), max(a, b)) for a, b in graph.edges())
    neighbours = [sorted(set(graph.successors(v)) if directed else set(graph.neighbors(v))) for v in range(nodes)]
    width = max(map(len, neighbours)) + 1
    ports, capacity = np.full((nodes, width), -1, np.int32), np.zeros((nodes, width), np.int32)
    place = {}
    for node, others in enumerate(neighbours):
        for port, other in zip(RANDOM.permutation(width), others):
            ports[node, port] = other
            capacity[node, port] = counts[node, other] if directed else counts[min(node, other), max(node, other)]
            place[node, other] = node * width + port
    links = sorted(counts.elements())
    member = [[place[a, b]] if directed else [place[a, b], place[b, a]] for a, b in links]
    parts = Parts(np.arange(len(links) + 1) * (1 if directed else 2), np.array(member).reshape(-1), False)
    return Network(ports, capacity, np.array(terminals), directed), parts, links


def blocks_of(nodes: int, size: int) -> Parts:
    """The last one has what is left."""
    return Parts(np.append(np.arange(nodes // size) * size, nodes), np.arange(nodes), True)


def oracle(graph: networkx.Graph, terminals: list[int]) -> tuple[int, int, int, int]:
    """(surviving, largest, hops, diameter) of what is left, by networkx."""
    left = [node for node in graph if terminals[node]]
    parts = (networkx.strongly_connected_components if graph.is_directed() else networkx.connected_components)(graph)
    largest = max((sum(terminals[node] for node in part) for part in parts), default=0)
    hops, diameter = 0, 0
    for source in left:
        for other, length in networkx.single_source_shortest_path_length(graph, source).items():
            if terminals[other]:
                hops += terminals[source] * terminals[other] * length
                diameter = max(diameter, length)
    return sum(terminals[node] for node in left), largest, hops, diameter


def multigraph() -> networkx.MultiGraph:
    graph = networkx.MultiGraph(networkx.cycle_graph(7))
    graph.add_edges_from([(0, 1), (0, 1), (2, 5), (2, 5), (3, 6)])
    return graph


GRAPHS = {
    "ring": (networkx.cycle_graph(9), [1] * 9),
    "switches": (networkx.complete_bipartite_graph(4, 6), [0] * 4 + [3] * 6),
    "unequal": (networkx.petersen_graph(), [0, 1, 2, 3, 1, 0, 1, 5, 1, 0]),
    "parallel": (multigraph(), [1] * 7),
    "one way": (networkx.DiGraph([(v, (v * 2 + d) % 12) for v in range(12) for d in (0, 1, 5)]), [1] * 12),
    "no terminal": (networkx.path_graph(4), [0] * 4),
    "wide": (networkx.circulant_graph(140, [1, 12]), [1] * 140),
}
for graph, _ in GRAPHS.values():
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_survivors_of_link_failures_are_those_of_networkx(name: str, backend: str):
    graph, terminals = GRAPHS[name]
    network, parts, links = network_of(graph, terminals)
    draws = 3 if name == "wide" else 12
    failures = draw_failures(len(links), draws, probability=0.25, seed=3)
    found = after_failures(network, parts, failures, backend=backend)
    for draw in range(draws):
        left = graph.copy()
        left.remove_edges_from(links[part] for part in failures.part[failures.start[draw] : failures.start[draw + 1]])
        assert tuple(int(column[draw]) for column in found) == oracle(left, terminals)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("size", [1, 2])
def test_survivors_of_node_failures_are_those_of_networkx(name: str, backend: str, size: int):
    graph, terminals = GRAPHS[name]
    network = network_of(graph, terminals)[0]
    parts = blocks_of(len(terminals), size)
    draws = 3 if name == "wide" else 12
    failures = draw_failures(len(parts.start) - 1, draws, probability=0.3, seed=5)
    found = after_failures(network, parts, failures, backend=backend)
    for draw in range(draws):
        left = graph.copy()
        for part in failures.part[failures.start[draw] : failures.start[draw + 1]].tolist():
            left.remove_nodes_from(parts.member[parts.start[part] : parts.start[part + 1]].tolist())
        assert tuple(int(column[draw]) for column in found) == oracle(left, terminals)


def test_all_pairs_of_links_of_a_cube_by_name():
    """Every combination, which leaves the compiled network as it was for the next one."""
    graph = networkx.convert_node_labels_to_integers(networkx.hypercube_graph(3))
    network, parts, links = network_of(graph, [1] * 8)
    pairs = list(combinations(range(len(links)), 2))
    failures = Failures(np.arange(len(pairs) + 1) * 2, np.array(pairs, np.int32).reshape(-1))
    found = after_failures(network, parts, failures, backend="numba", threads=2)
    for draw, pair in enumerate(pairs):
        left = graph.copy()
        left.remove_edges_from(links[part] for part in pair)
        assert tuple(int(column[draw]) for column in found) == oracle(left, [1] * 8)


def test_threads_and_distances_do_not_change_the_rest():
    graph, terminals = GRAPHS["wide"]
    network, parts, links = network_of(graph, terminals)
    failures = draw_failures(len(links), 200, count=60, seed=1)
    whole = after_failures(network, parts, failures, threads=1)
    for threads in (2, 3):
        for one, other in zip(whole, after_failures(network, parts, failures, threads=threads)):
            np.testing.assert_array_equal(one, other)
    quick = after_failures(network, parts, failures, distances=False)
    np.testing.assert_array_equal(quick.largest, whole.largest)
    np.testing.assert_array_equal(quick.surviving, whole.surviving)
    assert (quick.hops == -1).all()
    assert (quick.diameter == -1).all()
    assert 0 < (whole.largest < whole.surviving).sum() < 200, "an example in which all draws are alike tests little"


@pytest.mark.parametrize("seed", [0, 2**63 + 5])
@pytest.mark.parametrize("first", [0, 2**32 - 3])
@pytest.mark.parametrize("amount", [{"count": 0}, {"count": 7}, {"probability": 0.2}, {"probability": 1.0}])
def test_draws_are_equal_to_the_bit(seed: int, first: int, amount: dict):
    one, other = (
        draw_failures(23, 6, seed=seed, first=first, backend=backend, **amount) for backend in ("numpy", "numba")
    )
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


@pytest.mark.parametrize("amount", [{"count": 5}, {"probability": 0.1}])
def test_a_draw_depends_on_its_number_and_the_seed_alone(amount: dict):
    whole = draw_failures(40, 50, seed=9, **amount)
    part = draw_failures(40, 20, seed=9, first=30, **amount)
    np.testing.assert_array_equal(whole.part[whole.start[30] :], part.part)
    other = draw_failures(40, 50, seed=10, **amount)
    assert whole.part.tolist() != other.part.tolist()


def sets_of(failures: Failures) -> list[frozenset[int]]:
    return [frozenset(failures.part[a:b].tolist()) for a, b in zip(failures.start, failures.start[1:])]


def test_failures_of_a_draw_are_nested():
    for few, many in (({"count": 3}, {"count": 9}), ({"probability": 0.05}, {"probability": 0.3})):
        fewer, more = (sets_of(draw_failures(30, 100, seed=2, **amount)) for amount in (few, many))
        assert all(one <= other for one, other in zip(fewer, more))


def test_every_combination_is_as_likely():
    """20,000 draws of 2 of 6 parts: χ² of the 15 combinations, whose 99.99 % quantile is 42.6 with 14 degrees."""
    drawn = sets_of(draw_failures(6, 20_000, count=2, seed=4))
    assert all(len(one) == 2 for one in drawn)
    seen = Counter(drawn)
    assert len(seen) == 15
    expected = 20_000 / 15
    assert sum((number - expected) ** 2 / expected for number in seen.values()) < 42.6


def test_parts_fail_independently():
    """20,000 draws of 4 parts with probability 0.3: χ² of the 16 sets, whose 99.99 % quantile is 44.3."""
    seen = Counter(sets_of(draw_failures(4, 20_000, probability=0.3, seed=4)))
    expected = {size: 20_000 * 0.3**size * 0.7 ** (4 - size) for size in range(5)}
    every = [frozenset(some) for size in range(5) for some in combinations(range(4), size)]
    assert sum((seen[one] - expected[len(one)]) ** 2 / expected[len(one)] for one in every) < 44.3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"count": 1, "probability": 0.5}, "count or probability, got both"),
        ({}, "count or probability, got neither"),
        ({"count": 6}, "count of 0 … 5"),
        ({"probability": 1.5}, "probability of 0 … 1"),
        ({"count": 1, "seed": -1}, "seed of 0"),
    ],
)
def test_wrong_draws_are_refused(arguments: dict, says: str):
    with pytest.raises(ValueError, match=says):
        draw_failures(5, 3, **arguments)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"member": np.array([0, 99])}, "members of 0 … "),
        ({"start": np.array([0, 3])}, "the start of parts rising from 0 to 2"),
        ({"part": np.array([4], np.int32)}, "failed parts of 0 … 0"),
        ({"terminals": np.ones(3, np.int64)}, "terminals of shape"),
    ],
)
def test_arrays_that_contradict_each_other_are_refused(changed: dict, says: str):
    given = {
        "member": np.array([0, 1]),
        "start": np.array([0, 2]),
        "part": np.array([0], np.int32),
        "terminals": np.ones(2, np.int64),
    } | changed
    network = Network(np.array([[1], [0]], np.int32), None, given["terminals"], False)
    with pytest.raises(ValueError, match=says):
        after_failures(
            network, Parts(given["start"], given["member"], False), Failures(np.array([0, 1]), given["part"])
        )
