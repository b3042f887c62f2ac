"""Graphs of networkx, igraph and SciPy, and arrays of links, as networks: what they keep, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import igraph
import networkx
import numpy as np
import pytest
import scipy.sparse
import torusweep as ts
from torusweep.networks.families import plan


def links_of(net: ts.Network) -> Counter[tuple[object, object]]:
    """Every arc with its number of parallel links, by the nodes' own names: a plain loop over the ports."""
    names = range(net.nodes) if net.labels is None else net.labels
    found: Counter[tuple[object, object]] = Counter()
    for node, row in enumerate(net.ports.tolist()):
        for port, there in enumerate(row):
            if there >= 0:
                times = 1 if net.topology.capacity is None else int(net.topology.capacity[node, port])
                found[names[node], names[there]] += times
    return found


def arcs_of(graph: networkx.Graph) -> Counter[tuple[object, object]]:
    """The same of a graph of networkx."""
    found: Counter[tuple[object, object]] = Counter()
    for u, v in graph.edges():
        if u != v:
            found[u, v] += 1
            if not graph.is_directed():
                found[v, u] += 1
    return found


def example(kind: type[networkx.Graph]) -> networkx.Graph:
    """Named nodes in no order, an isolated one, a loop, a repeated link in either order, an attribute."""
    graph = kind()
    graph.add_nodes_from(["d", "lonely", "a"])
    graph.add_weighted_edges_from([("a", "b", 2.0), ("b", "c", 1.0), ("c", "a", 1.0), ("d", "a", 3.0), ("b", "b", 1.0)])
    graph.add_edge("b", "a")
    graph.add_edge("a", "b")
    return graph


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph])
def test_networkx(kind: type[networkx.Graph]) -> None:
    graph = example(kind)
    net = ts.network(graph)
    assert net.labels == tuple(graph.nodes)
    assert net.directed == graph.is_directed()
    assert links_of(net) == arcs_of(graph)
    assert (np.sort(net.ports[0][net.ports[0] >= 0]) == net.ports[0][net.ports[0] >= 0]).all()
    assert "attributes of links: weight not used" in "; ".join(net.notes)
    assert "1 link from a node to itself left out" in net.notes
    back = net.to_networkx()
    assert (back.is_directed(), back.is_multigraph()) == (graph.is_directed(), net.topology.capacity is not None)
    assert list(back.nodes) == list(graph.nodes)
    assert arcs_of(back) == arcs_of(graph)
    again = ts.network(back)
    np.testing.assert_array_equal(again.ports, net.ports)
    assert links_of(again) == links_of(net)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_igraph(directed: bool, named: bool) -> None:
    links = [(0, 3), (3, 0), (1, 2), (2, 4), (4, 1), (1, 1)]
    graph = igraph.Graph(6, links, directed=directed)
    if named:
        graph.vs["name"] = list("fedcba")
    net = ts.network(graph, name="mine")
    assert (net.spelling, net.nodes, net.directed) == ("mine", 6, directed)
    assert net.labels == (tuple("fedcba") if named else None)
    names = "fedcba" if named else range(6)
    expected: Counter[tuple[object, object]] = Counter()
    for u, v in links[:-1]:
        expected[names[u], names[v]] += 1
        if not directed:
            expected[names[v], names[u]] += 1
    assert links_of(net) == expected


def test_matrices() -> None:
    graph = networkx.karate_club_graph()
    matrix = networkx.to_scipy_sparse_array(graph, weight=None)
    for form in ("csr", "coo", "csc", "lil"):
        net = ts.network(matrix.asformat(form))
        assert links_of(net) == arcs_of(graph)
        assert net.notes == ()
    weighted = networkx.to_scipy_sparse_array(graph)
    before = weighted.copy()
    net = ts.network(weighted)
    assert links_of(net) == arcs_of(graph)
    assert net.notes == ("the matrix's entries not used: all links are equal",)
    assert (before != weighted).nnz == 0
    one_way = scipy.sparse.csr_array(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]))
    assert links_of(ts.network(one_way, directed=True)) == {(0, 1): 1, (1, 2): 1, (2, 0): 1}


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "int64", "uint64", ">i4"])
def test_arrays(dtype: str) -> None:
    links = np.array([[0, 1], [1, 0], [1, 2], [1, 2], [3, 3]])
    net = ts.network(links.astype(dtype), nodes=6)
    assert (net.nodes, net.links, net.degree_max, net.spelling) == (6, 3, 3, "graph(nodes=6, links=3)")
    assert links_of(net) == {(0, 1): 1, (1, 0): 1, (1, 2): 2, (2, 1): 2}
    one_way = ts.network(links.astype(dtype), directed=True)
    assert links_of(one_way) == {(0, 1): 1, (1, 0): 1, (1, 2): 2}
    assert one_way.nodes == 4
    np.testing.assert_array_equal(ts.network(np.asfortranarray(links.astype(dtype)), nodes=6).ports, net.ports)


def test_terminals() -> None:
    net = ts.network([(0, 1), (1, 2)], terminals=np.array([2, 0, 0]))
    assert net.terminals.tolist() == [2, 0, 0]
    assert net.distances().histogram.tolist() == [5, 0, 4]
    named = ts.network(example(networkx.Graph), terminals=["b", "d"])
    assert [named.labels[place] for place in named.terminals] == ["b", "d"]  # type: ignore[index]


def test_a_network_is_the_same_however_it_is_given(tmp_path) -> None:
    """A family, its graph of networkx, its matrix, its links, and a file of them."""
    torus = ts.network("torus(k=4, n=2)")
    graph = torus.to_networkx()
    links = np.array(graph.edges())
    path = tmp_path / "torus.edges"
    networkx.write_edgelist(graph, path, data=False)
    matrix = networkx.to_scipy_sparse_array(graph, weight=None)
    expected = np.sort(torus.ports, axis=1)
    for given in (graph, links, links.tolist(), matrix, path, str(path), torus, torus.topology):
        np.testing.assert_array_equal(np.sort(ts.network(given).ports, axis=1), expected)


star = networkx.star_graph(3)
WRONG: list[tuple[object, dict[str, object], str]] = [
    (np.zeros((0, 2), int), {}, "expected links, got an empty array"),
    (networkx.Graph(), {}, "expected a graph with nodes"),
    ([], {}, "expected links, got an empty array"),
    ([(0, 1)], {"nodes": 10**12}, "nodes, which fit into"),
    ([(0, 2**31 - 2)], {}, "got 2,147,483,647; choose a smaller graph, or number its nodes without gaps"),
    (np.array([[0.0, 1.0]]), {}, "whole numbers, got float64; use array.astype(int)"),
    (np.array([[0.5, 1.0]]), {}, "whole numbers, got float64"),
    (np.array([[0.0, np.nan]]), {}, "whole numbers, got float64"),
    (np.array([["a", "b"]]), {}, "whole numbers, got <U1"),
    (np.array([[True, False]]), {}, "whole numbers, got bool"),
    ([(0, 1), (2,)], {}, "array of whole numbers"),
    ([(0, None)], {}, "whole numbers, got object"),
    (np.array([[0, 1], [-1, 2]]), {}, "between nodes 0 … 2,147,483,646, got -1 in row 1"),
    (np.array([[0, 1], [4, 2]]), {"nodes": 4}, "between nodes 0 … 3, got 4 in row 1"),
    (np.array([[0, 2**40]]), {}, "got 1,099,511,627,776"),
    (np.array([[0, 1]]), {"nodes": 2.5}, "nodes=2.5"),
    (np.zeros((2, 5), int), {}, "got int64[2, 5]; pass array.T"),
    (np.zeros((5, 5), int), {}, "scipy.sparse.csr_array(matrix)"),
    (np.zeros(4, int), {}, "got int64[4]"),
    (scipy.sparse.csr_array((3, 4)), {}, "square matrix"),
    (scipy.sparse.csr_array(np.array([[0, 1], [0, 0]])), {}, "an entry (0, 1) without (1, 0); pass directed=True"),
    (scipy.sparse.csr_array(np.array([[0, np.nan], [np.nan, 0]])), {}, "got NaN in 2 of its entries"),
    (scipy.sparse.csr_array(np.array([[0, 1j], [1j, 0]])), {}, "matrix of numbers, got complex128"),
    (star, {"nodes": 7}, "nodes=7: expected 4"),
    (star, {"directed": True}, "directed=True: expected False"),
    (star, {"terminals": ["x"]}, "terminals: expected nodes as the graph names them, got 'x'"),
    (star, {"terminals": 3}, "terminals: expected nodes as the graph names them"),
    ([(0, 1)], {"terminals": [0, 2]}, "terminals: expected terminals between nodes 0 … 1, got 2"),
    ([(0, 1)], {"terminals": [0.5]}, "terminals: expected terminals as whole numbers"),
    ([(0, 1)], {"terminals": [[0]]}, "terminals: expected an array int[T]"),
    ([(0, 1)], {"name": "torus(k=4, n=2)"}, "name='torus(k=4, n=2)': expected up to 200 printable characters"),
    ([(0, 1)], {"name": "two\nlines"}, "printable"),
    ("torus(k=4, n=2)", {"nodes": 16}, "nodes: expected with a graph in memory only"),
    ("torus(k=1, n=2)", {}, "k=1"),
    ({"a": 1}, {}, "a networkx or igraph graph, a SciPy sparse matrix, or an array of links int[E, 2], got dict"),
    (None, {}, "got NoneType"),
]


@pytest.mark.parametrize(("graph", "options", "says"), WRONG)
def test_what_is_no_network_is_refused_in_one_line(graph: object, options: dict[str, object], says: str) -> None:
    with pytest.raises(ts.BadInput) as refusal:
        ts.network(graph, **options)  # type: ignore[arg-type]
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_hub_that_makes_the_table_too_large_is_refused() -> None:
    spokes = np.column_stack([np.zeros(999_999, np.int32), np.arange(1, 1_000_000, dtype=np.int32)])
    with pytest.raises(ts.Refused, match="the busiest with 999,999 links: about 14"):
        ts.network(spokes)


def test_a_graph_in_memory_is_no_network_of_a_sweep() -> None:
    with pytest.raises(ts.BadInput, match=r"got the name of one in memory, .* write it to a file"):
        plan(ts.network([(0, 1)]).spelling)


def test_no_library_of_graphs_is_loaded_for_an_array() -> None:
    code = (
        "import sys, torusweep as ts; ts.network([(0, 1), (1, 2)]).links;"
        " print([name for name in ('networkx', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_network_without_links() -> None:
    net = ts.network([], nodes=3)
    assert (net.nodes, net.links, net.distances().histogram.tolist()) == (3, 0, [3])
    for method in ("loads", "deadlock", "layers", "routes", "capacity"):
        with pytest.raises(ts.BadInput, match="no path to"):
            getattr(net, method)()
    alone = ts.network([], nodes=1)
    assert (alone.layers().upper, alone.routes().num_rows) == (1, 0)


def test_a_network_without_terminals_is_refused_where_packets_are_sent() -> None:
    net = ts.network([(0, 1), (1, 2)], terminals=[])
    static = net.static()
    assert (static.terminals, static.diameter, static.guarantee_lower, static.guarantee_upper) == (0, 0, None, None)
    for method in ("loads", "deadlock", "layers", "routes", "capacity"):
        with pytest.raises(ts.BadInput, match="expected terminals, which send, got none"):
            getattr(net, method)()


@pytest.mark.parametrize("names", [["a", "a", "b"], [["a"], ["b"], ["c"]], [None, "a", "b"]])
def test_names_of_igraph_that_do_not_tell_nodes_apart_are_not_used(names: list[object]) -> None:
    graph = igraph.Graph([(0, 1), (1, 2)])
    graph.vs["name"] = names
    net = ts.network(graph)
    assert net.labels is None
    assert "names of nodes not used" in net.notes[0]
    assert set(net.to_networkx().edges) == {(0, 1), (1, 2)}
