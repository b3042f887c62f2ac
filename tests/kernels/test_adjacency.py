"""Lists of links: neighbours, tables of ports and symmetry, against plain loops and on both backends."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep_kernels.adjacency import WIDE, is_symmetric, rows_of_links, table_of_rows

BACKENDS = ("numpy", "numba")


def plain(links: list[tuple[int, int]], nodes: int, directed: bool) -> list[dict[int, int]]:
    """Neighbour → parallel links, for every node, as the docstring says."""
    listed = Counter((u, v) for u, v in links if u != v)
    found: list[dict[int, int]] = [{} for _ in range(nodes)]
    for u, v in listed:
        found[u][v] = listed[u, v] if directed else max(listed[u, v], listed[v, u])
        if not directed:
            found[v][u] = found[u][v]
    return found


def table(links: np.ndarray, nodes: int, directed: bool, backend: str, threads: int = 2):
    rows = rows_of_links(links, nodes, directed=directed, backend=backend, threads=threads)
    return rows, *table_of_rows(rows, backend=backend, threads=threads)


graphs = st.integers(1, 12).flatmap(
    lambda nodes: st.tuples(
        st.just(nodes), st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=40)
    )
)


@settings(max_examples=40, deadline=None)
@given(graphs, st.booleans(), st.sampled_from([np.int32, np.int64]))
def test_neighbours_are_those_of_a_plain_loop(graph, directed, dtype):
    nodes, links = graph
    expected = plain(links, nodes, directed)
    array = np.array(links, dtype).reshape(-1, 2)
    for backend in BACKENDS:
        rows, ports, capacity = table(array, nodes, directed, backend)
        assert ports.dtype == np.int32
        for node, own in enumerate(expected):
            there = [v for v in ports[node].tolist() if v >= 0]
            assert there == sorted(own)
            assert ports[node].tolist() == there + [-1] * (ports.shape[1] - len(there))
            if capacity is not None:
                assert capacity.dtype == np.int8
                assert capacity[node].tolist() == [own.get(v, 0) for v in ports[node].tolist()]
        arcs = sum(sum(own.values()) for own in expected)
        assert rows.links == (arcs if directed else arcs // 2)
        assert (capacity is None) == all(m == 1 for own in expected for m in own.values())
        assert rows.loops == sum(u == v for u, v in links)
        pairs = {(u, v) for u, v in links if u != v}
        assert rows.both == (0 if directed else sum((v, u) in pairs for u, v in pairs) // 2)


@settings(max_examples=40, deadline=None)
@given(graphs, st.booleans(), st.integers(0, 2**32 - 1))
def test_symmetry_is_that_of_the_channels(graph, shuffled, seed):
    """A directed list has a table with or without reverse channels; the ports may be in any order."""
    nodes, links = graph
    random = np.random.default_rng(seed)
    links = links + [(v, u) for u, v in links if random.random() < 0.9]
    _, ports, capacity = table(np.array(links, np.int32).reshape(-1, 2), nodes, True, "numpy")
    arcs = Counter((u, v) for u, v in links if u != v)
    symmetric = all(arcs[u, v] == arcs[v, u] for u, v in arcs)
    if shuffled:
        order = random.permuted(np.tile(np.arange(ports.shape[1]), (nodes, 1)), axis=1)
        ports = np.take_along_axis(ports, order, axis=1)
        capacity = None if capacity is None else np.take_along_axis(capacity, order, axis=1)
    for backend in BACKENDS:
        assert is_symmetric(ports, capacity, backend=backend, threads=3) == symmetric


@pytest.mark.parametrize(("times", "dtype"), [(127, np.int8), (128, np.int32)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_of_parallel_links_are_as_narrow_as_they_may_be(times: int, dtype: type, backend: str):
    links = np.array([[0, 1]] * times + [[1, 2]], np.int32)
    _, _, capacity = table(links, 3, False, backend)
    assert capacity.dtype == dtype
    assert capacity.tolist() == [[times, 0], [times, 1], [1, 0]]


@pytest.mark.parametrize("directed", [True, False])
def test_rows_that_merging_shortens_become_the_table_in_place(directed: bool):
    """A ring, each of whose nodes has eight neighbours; a link that is listed twice makes one row the longest."""
    node = np.arange(300)
    links = np.concatenate([np.stack([node, (node + step) % 300], 1) for step in (1, 7, 20, 33)] + [[[5, 6]]])
    results = [table(links.astype(np.int32), 300, directed, backend) for backend in BACKENDS]
    (_, ports, capacity), (rows, found, other) = results
    assert found.tolist() == ports.tolist()
    assert other.tolist() == capacity.tolist()
    assert np.shares_memory(found, rows.to)


def test_several_threads_and_long_rows():
    """A hub with more arcs than are sorted by insertion, and more links and nodes than one thread takes."""
    random = np.random.default_rng(3)
    nodes = 20_000
    links = np.concatenate([random.integers(0, nodes, (150_000, 2)), [[0, v] for v in range(1, nodes, 200)]])
    links = random.permuted(links, axis=0).astype(np.int32)
    same = [
        table(links, nodes, False, backend, threads) for backend, threads in (("numpy", 1), ("numba", 1), ("numba", 4))
    ]
    for rows, ports, capacity in same[1:]:
        assert rows[4:] == same[0][0][4:]
        np.testing.assert_array_equal(rows.degree, same[0][0].degree)
        np.testing.assert_array_equal(ports, same[0][1])
        np.testing.assert_array_equal(capacity, same[0][2])
    ports = same[0][1].copy()
    for threads in (1, 4):
        assert is_symmetric(ports, same[0][2], backend="numba", threads=threads)
    ports[nodes - 1, 0] = (ports[nodes - 1, 0] + 1) % (nodes - 1)
    for backend in BACKENDS:
        assert not is_symmetric(ports, None, backend=backend, threads=4)


@pytest.mark.parametrize(
    ("links", "nodes", "says"),
    [
        (np.zeros((2, 3), np.int32), 4, "shape"),
        (np.zeros((2, 2)), 4, "int32 or int64"),
        (np.array([[0, 4]], np.int32), 4, "links of 0 … 3"),
        (np.array([[-1, 0]], np.int64), 4, "links of 0 … 3"),
        (np.zeros((2, 2), np.int32).T[:, ::-1], 4, "one after the other"),
        (np.zeros((0, 2), np.int32), 2**31, "nodes"),
    ],
)
def test_wrong_lists_are_refused(links, nodes, says):
    with pytest.raises(ValueError, match=says):
        rows_of_links(links, nodes, directed=False)


@pytest.mark.parametrize("shuffled", [False, True])
def test_symmetry_of_wide_tables(shuffled):
    """More ports than are compared row by row, ascending or in any order."""
    random = np.random.default_rng(5)
    nodes = 600
    links = random.integers(0, nodes, (40_000, 2)).astype(np.int32)
    _, ports, capacity = table(links, nodes, False, "numpy")
    assert ports.shape[1] > WIDE
    if shuffled:
        order = random.permuted(np.tile(np.arange(ports.shape[1]), (nodes, 1)), axis=1)
        ports, capacity = np.take_along_axis(ports, order, axis=1), np.take_along_axis(capacity, order, axis=1)
    wrong = capacity.copy()
    wrong[7, np.flatnonzero(ports[7] >= 0)[3]] += 1
    for backend in ("numpy", "numba", "auto"):
        assert is_symmetric(ports, capacity, backend=backend, threads=2)
        assert not is_symmetric(ports, wrong, backend=backend, threads=2)
