"""Nodes are called as the user's file or graph calls them, whatever is asked: paths beside those of networkx."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas
import pytest
import torusweep as ts
from torusweep.errors import BadInput

from tests.faults.command_line import torusweep

HERE = Path(__file__).parent
Graph = Any


def loaded(network: str, demand: str) -> set[tuple[str, str]]:
    """The names of the ends of each channel that the command says to be loaded."""
    said = torusweep("loads", network, "--traffic", f'demand(path="{demand}")', "--channels")
    assert said.status == 0, said.err
    rows = csv.DictReader(io.StringIO(said.out))
    return {(row["from_name"], row["to_name"]) for row in rows if float(row["load"]) > 0}


def test_numbers_from_one():
    assert loaded(f"{HERE}/one.edges", f"{HERE}/one.csv") == {("1", "2")}


def test_names():
    assert loaded(f"{HERE}/nm.edges", f"{HERE}/nm.csv") == {("cpu", "dram")}


def as_json(graph: Graph, path: Path) -> None:
    path.write_text(json.dumps(nx.node_link_data(graph, edges="edges")))


def as_parquet(graph: Graph, path: Path) -> None:
    pandas.DataFrame([(str(u), str(v)) for u, v in graph.edges], columns=["source", "target"]).to_parquet(path)


WRITERS: dict[str, Callable[[Graph, Path], None]] = {
    ".edges": lambda graph, path: nx.write_edgelist(graph, path, data=False),
    ".adj": lambda graph, path: nx.write_adjlist(graph, path),
    ".graphml": nx.write_graphml,
    ".json": as_json,
    ".parquet": as_parquet,
}
KINDS = {  # names of 12 nodes
    "gaps": lambda place: 7 * place + 3,
    "numbers, shuffled": lambda place: (5 * place + 4) % 12,
    "from 100, shuffled": lambda place: 100 + (7 * place + 5) % 12,
    "texts": lambda place: f"chip{chr(97 + place)}",
}


def drawn(kind: str, seed: int) -> Graph:
    """A connected graph, its nodes in an order that is not that of their names."""
    tree = nx.random_labeled_tree(12, seed=seed)
    tree.add_edges_from(random.Random(seed).sample(list(nx.non_edges(tree)), 2))
    graph = nx.Graph()
    graph.add_nodes_from(map(KINDS[kind], range(12)))
    graph.add_edges_from((KINDS[kind](u), KINDS[kind](v)) for u, v in tree.edges)
    return graph


def pair_of_one_path(graph: Graph) -> list[Any]:
    """A longest shortest path that is the only one between its ends."""
    ways = [list(nx.all_shortest_paths(graph, u, v)) for u in graph for v in graph if u != v]
    return max((paths[0] for paths in ways if len(paths) == 1), key=len)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_demand_goes_where_networkx_says(tmp_path: Path, kind: str, suffix: str):
    graph = drawn(kind, len(kind))
    path, demand = tmp_path / f"g{suffix}", tmp_path / "demand.csv"
    WRITERS[suffix](graph, path)
    way = pair_of_one_path(graph)
    demand.write_text(f"source,destination,demand\n{way[0]},{way[-1]},1\n")
    network = ts.network(path)
    found = network.loads(traffic=f'demand(path="{demand}")')
    used = {(str(one.tail), str(one.head)) for one in found.busiest(100) if one.load}
    assert used == {(str(u), str(v)) for u, v in pairwise(way)}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "texts"])
def test_a_file_and_an_object_are_numbered_alike(tmp_path: Path, kind: str, suffix: str):
    graph = drawn(kind, 3)
    WRITERS[suffix](graph, tmp_path / f"g{suffix}")
    file, memory = ts.network(tmp_path / f"g{suffix}"), ts.network(graph)
    assert memory.labels == tuple(sorted(graph))
    assert list(map(str, file.labels or range(12))) == list(map(str, memory.labels))
    assert np.array_equal(np.sort(file.ports, axis=1), np.sort(memory.ports, axis=1))


def test_names_in_graphml_are_in_the_order_of_the_object(tmp_path: Path):
    graph = drawn("texts", 5)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    file, memory = ts.network(tmp_path / "g.graphml"), ts.network(graph)
    assert file.labels == memory.labels == tuple(graph)
    assert np.array_equal(file.ports, memory.ports)


def test_tuples(tmp_path: Path):
    graph = nx.grid_2d_graph(3, 3)
    as_json(graph, tmp_path / "g.json")
    (tmp_path / "d.csv").write_text('source,destination,demand\n"(0, 0)","(0, 2)",1\n')
    for network in (ts.network(graph), ts.network(tmp_path / "g.json")):
        found = network.loads(traffic=f'demand(path="{tmp_path}/d.csv")')
        used = {(str(one.tail), str(one.head)) for one in found.busiest(9) if one.load}
        assert used == {("(0, 0)", "(0, 1)"), ("(0, 1)", "(0, 2)")}


def test_ids_of_terminals_in_anynet(tmp_path: Path):
    (tmp_path / "g.anynet").write_text("router 0 node 10 router 1\nrouter 1 node 5 node 7\n")
    (tmp_path / "d.csv").write_text("source,destination,demand\n10,7,1\n")
    found = ts.network(tmp_path / "g.anynet").loads(traffic=f'demand(path="{tmp_path}/d.csv")')
    assert [(one.tail, one.head) for one in found.busiest(9) if one.load] == [(0, 1)]


def test_routes_are_written_and_read_by_name(tmp_path: Path):
    graph = drawn("texts", 7)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    said = torusweep("routes", f"{tmp_path}/g.graphml", "--routing", "up_down", "-o", f"{tmp_path}/routes.csv")
    assert said.status == 0
    rows = pandas.read_csv(tmp_path / "routes.csv")
    assert all(graph.has_edge(row.at, row.to) for row in rows.itertuples())
    network = ts.network(tmp_path / "g.graphml")
    there, back = (network.loads(routing=name) for name in ("up_down", f'table(path="{tmp_path}/routes.csv")'))
    assert np.allclose(there.load, back.load)


def test_a_function_routes_by_name():
    graph = drawn("from 100, shuffled", 2)
    hop = {u: {v: way[1] for v, way in nx.single_source_shortest_path(graph, u).items() if v != u} for u in graph}
    found = ts.network(graph).loads(routing=lambda at, destination: hop[at][destination])
    expected = dict.fromkeys([*graph.edges, *(tuple(reversed(ends)) for ends in graph.edges)], 0.0)
    for u in graph:
        for v in graph:
            way, at = [], u
            while at != v:
                way.append((at, hop[at][v]))
                at = hop[at][v]
            for ends in way:
                expected[ends] += 1 / 12
    assert {(one.tail, one.head): pytest.approx(one.load) for one in found.busiest(999)} == expected


def test_messages_by_name(tmp_path: Path):
    """The same messages on the same line, once with names and once with the numbers of a mesh."""
    (tmp_path / "m.csv").write_text("message,source,destination,flits\na,cpu,dsp,64\n")
    (tmp_path / "n.csv").write_text("message,source,destination,flits\na,0,3,64\n")
    line = ts.network("mesh(radices=[4])")
    expected = line.simulate(workload=f"{tmp_path}/n.csv", routing="minimal").rows[0]["delivery_time"]
    named = ts.network(HERE / "nm.edges")
    for name in ("m", "n"):
        found = named.simulate(workload=f"{tmp_path}/{name}.csv", routing="minimal")
        assert found.rows[0]["delivery_time"] == expected
    with pytest.raises(
        BadInput, match="source: expected a node as the network's file or graph names it, 1, 2, 3, …, got 0"
    ):
        ts.network(HERE / "one.edges").simulate(workload=f"{tmp_path}/n.csv")


@pytest.mark.parametrize("format", ["graphml", "networkx-json", "parquet", "edgelist"])
@pytest.mark.parametrize("kind", KINDS)
def test_exports_keep_names(tmp_path: Path, kind: str, format: str):
    network = ts.network(drawn(kind, 4))
    (path,) = network.export(
        format, tmp_path / f"g.{format.replace('networkx-', '').replace('edgelist', 'edges')}"
    ).files
    read = ts.network(path)
    links = {frozenset((str(u), str(v))) for u, v in drawn(kind, 4).edges}
    names = read.labels or range(12)
    assert {frozenset((str(names[u]), str(names[v]))) for u, v, _ in zip(*read.arcs)} == links
    if format != "edgelist":
        assert tuple(map(str, names)) == tuple(map(str, network.labels))


def test_a_name_that_is_not_there(tmp_path: Path):
    (tmp_path / "d.csv").write_text("source,destination,demand\n1,2,1\n2,5,1\n")
    said = torusweep("loads", f"{HERE}/one.edges", "--traffic", f'demand(path="{tmp_path}/d.csv")')
    assert (said.status, said.out) == (2, "")
    assert (
        "destination: expected nodes with a terminal as the network's file or graph names them, 1, 2, 3, …, got 5 in"
        " row 2" in said.err
    )


def test_roots_and_answers_of_a_collective():
    said = torusweep("collective", f"{HERE}/one.edges", "broadcast", "--root", "4", "--json")
    rows = json.loads(said.out)
    direct = next(row for row in rows if row["algorithm"] == "direct")
    assert direct["busiest_link_names"] == ["4", "3"]
    assert rows[0]["cut_node_names"] is not None
    assert "4 → 3" in torusweep("collective", f"{HERE}/one.edges", "broadcast", "--root", "4").out


def test_a_hot_spot_by_its_number():
    found = ts.network(HERE / "one.edges").loads(traffic="hot_spot(node=4, percent=100)")
    assert {(one.tail, one.head) for one in found.busiest(9) if one.load} == {(1, 2), (2, 3), (3, 4)}


def test_nodes_by_names_that_are_texts(tmp_path: Path):
    """A square: a, b c, d, e. The node beside a root or hot spot is what a plain look at the file says."""
    (tmp_path / "square.csv").write_text('source,target\na,"b c"\n"b c",d\nd,e\ne,a\n')
    square = ts.network(tmp_path / "square.csv")
    hot = square.loads(traffic='hot_spot(node="b c", percent=100)')
    assert {(one.tail, one.head) for one in hot.busiest(9) if one.load} == {
        ("a", "b c"),
        ("d", "b c"),
        ("e", "a"),
        ("e", "d"),
    }
    named, numbered = (square.loads(f"up_down(root={root})").load for root in ('"d"', "2"))
    assert (named == numbered).all()
    assert not (named == square.loads("up_down").load).all()
    said = torusweep(
        "collective", f"{tmp_path}/square.csv", "broadcast", "--root", "b c", "--algorithm", "tree", "--json"
    )
    assert json.loads(said.out)[0]["root"] == 1
    said = torusweep("collective", f"{tmp_path}/square.csv", "broadcast", "--root", "f")
    assert "expected a node as the network's file or graph names it, a, b c, d, …, got f" in said.err


def test_a_simulation_chooses_a_root_that_works(tmp_path: Path):
    (tmp_path / "square.csv").write_text('source,target\na,"b c"\n"b c",d\nd,e\ne,a\n')
    rows = ts.network(f'without({tmp_path}/square.csv, nodes=["a"])').simulate([0.1], cycles=2000).rows
    assert [row["routing"] for row in rows] == ['up_down(root="b c")']
    assert ts.network("without(torus(k=4, n=2), nodes=[0])").simulate([0.1], cycles=2000).rows[0]["lost_pairs"] == 0


def test_a_cycle_of_a_deadlock_is_named(tmp_path: Path):
    (tmp_path / "ring.edges").write_text("11 12\n12 13\n13 14\n14 15\n15 16\n16 11\n")
    said = torusweep("deadlock", f"{tmp_path}/ring.edges", "--json")
    row = json.loads(said.out)
    assert all(f"({11 + int(channel.split()[0])})" in channel for channel in row["cycle"])
