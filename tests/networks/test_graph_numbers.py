"""Graph files with ports, classes, multiplicities and terminals from other programs: JSON, GraphML, Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build, graph_listing

from tests.networks.known_graphs import FLORENCE, PETERSEN, links_of

pytestmark = pytest.mark.usefixtures("in_a_temporary_folder")


def json_file(**document: Any) -> str:
    Path("a.json").write_text(json.dumps(document))
    return "a.json"


def parquet_file(columns: dict[str, Any], **metadata: Any) -> str:
    about = {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
    pq.write_table(pa.table(columns).replace_schema_metadata(about), "a.parquet")
    return "a.parquet"


@pytest.mark.parametrize("key", ["links", "edges"])
@pytest.mark.parametrize("graph", [PETERSEN, nx.MultiGraph(PETERSEN), nx.grid_2d_graph(3, 4), FLORENCE])
def test_node_link_data_of_networkx(graph, key):
    Path("a.json").write_text(json.dumps(nx.node_link_data(graph, edges=key)))
    topology = build("a.json")
    place = {node: number for number, node in enumerate(graph)}
    assert links_of(topology) == {(place[u], place[v]) for a, b in graph.edges() for u, v in ((a, b), (b, a))}
    assert not topology.directed
    assert topology.terminals.tolist() == list(range(len(graph)))


def test_directed_json():
    graph = nx.gn_graph(12, seed=1)
    Path("a.json").write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    topology = build("a.json")
    assert topology.directed
    assert links_of(topology) == set(graph.edges)


def with_numbers() -> nx.Graph:
    """A triangle with ports the other way round, a link of three, and a terminal at two of its nodes."""
    graph = nx.Graph()
    for node, endpoints in enumerate((2, 0, 1)):
        graph.add_node(node, endpoints=endpoints)
    graph.add_edge(0, 1, port=1, target_port=0, link_class=1, multiplicity=3)
    graph.add_edge(1, 2, port=1, target_port=0, link_class=0, multiplicity=1)
    graph.add_edge(0, 2, port=0, target_port=1, link_class=2, multiplicity=1)
    return graph


@pytest.mark.parametrize(
    ("path", "write"),
    [
        ("a.json", lambda graph: Path("a.json").write_text(json.dumps(nx.node_link_data(graph, edges="edges")))),
        ("a.graphml", lambda graph: nx.write_graphml(graph, "a.graphml")),
    ],
)
def test_numbers_that_networkx_writes(path, write):
    write(with_numbers())
    topology = build(path)
    assert topology.ports.tolist() == [[2, 1], [0, 2], [1, 0]]
    assert topology.link_class.tolist() == [[2, 1], [1, 0], [0, 2]]
    assert topology.capacity is not None
    assert topology.capacity.tolist() == [[1, 3], [3, 1], [1, 1]]
    assert topology.terminals.tolist() == [0, 0, 2]
    assert (topology.links, topology.plan.notes) == (5, ())


@pytest.mark.parametrize("kind", ["long", "double"])
def test_whole_numbers_of_igraph_are_doubles(kind):
    graph = nx.Graph([(0, 1)])
    graph.edges[0, 1]["multiplicity"] = 2.0 if kind == "double" else 2
    nx.write_graphml(graph, "a.graphml")
    assert build("a.graphml").links == 2


def test_other_data_of_the_same_name_is_not_read():
    """A port that is a text is some other program's."""
    graph = nx.Graph([(0, 1)])
    graph.edges[0, 1]["port"] = "eth0"
    nx.write_graphml(graph, "a.graphml")
    topology = build("a.graphml")
    assert topology.links == 1
    assert topology.plan.notes == ("port of links not read: its type is not numeric",)


@pytest.mark.parametrize(
    ("columns", "links", "directed"),
    [
        ({"source": [0, 1], "target": [1, 2]}, {(0, 1), (1, 0), (1, 2), (2, 1)}, None),
        ({"u": [7, 3], "v": [3, 100], "w": [1.5, 2.5]}, {(0, 1), (1, 0), (0, 2), (2, 0)}, None),
        ({"src": ["b", "a"], "dst": ["a", "c"]}, {(0, 1), (1, 0), (1, 2), (2, 1)}, None),
        ({"from": [0, 1], "to": [1, 2]}, {(0, 1), (1, 2)}, True),
    ],
)
def test_parquet_of_other_programs(columns, links, directed):
    path = parquet_file(columns)
    topology = build(path if directed is None else f'graph(path="{path}", directed=true)')
    assert links_of(topology) == links


def test_parallel_links_in_parquet():
    rows = {"source": [0, 0, 1, 2], "target": [1, 1, 2, 1], "multiplicity": [1, 2, None, 5]}
    topology = build(parquet_file(rows))
    # 0–1 is listed twice, with one and two links; 1–2 from both ends, where the larger number counts
    assert topology.capacity is not None
    assert topology.capacity.tolist() == [[3, 0], [3, 5], [5, 0]]


def test_nodes_and_terminals_in_metadata():
    topology = build(parquet_file({"source": [0], "target": [2]}, nodes=4, terminals=[3, 0, 0], directed=True))
    assert (topology.nodes, topology.directed, topology.terminals.tolist()) == (4, True, [3, 0, 0])


@pytest.mark.parametrize(
    ("columns", "note"),
    [
        ({"port": [0, 0]}, "port numbers not read: links have no target_port"),
        ({"port": [0, None], "target_port": [0, 1]}, "port numbers not read: 1 link without port"),
    ],
)
def test_ports_that_are_incomplete_are_not_read(columns, note):
    topology = build(parquet_file({"source": [0, 1], "target": [1, 2], **columns}))
    assert topology.plan.notes == (note,)
    assert links_of(topology) == {(0, 1), (1, 0), (1, 2), (2, 1)}


def test_two_ports_to_one_neighbour_are_parallel_links():
    rows = {"source": [0, 0], "target": [1, 1], "port": [0, 1], "target_port": [0, 1]}
    topology = build(parquet_file(rows))
    assert topology.links == 2
    assert topology.plan.notes[0].startswith("port numbers not read: two links join the same nodes")


NODES = [{"id": 0}, {"id": 1}, {"id": 2}]
PAIR = {"source": 0, "target": 1}
FIRST = {"port": 1, "target_port": 0}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ([], "expected an object with nodes and links, got a list"),
        ({"links": []}, "expected a list of nodes, got nothing"),
        ({"nodes": NODES}, "expected a list of links, got nothing"),
        ({"nodes": [{"id": 0}, 3], "links": []}, "expected nodes to be objects, got 3"),
        ({"nodes": [{"id": 0}, {}], "links": []}, "expected an id of every node, got none at node 1"),
        ({"nodes": [{"id": 0}, {"id": True}], "links": []}, "expected a number or a name as a node, got true"),
        ({"nodes": [{"id": 1}, {"id": 1}], "links": []}, "expected each node once, got 1 again"),
        ({"nodes": [{"id": {}}], "links": []}, "expected a number or a name as a node, got an object"),
        ({"nodes": NODES, "links": [{"source": 0}]}, "got no target of link 0"),
        (
            {"nodes": NODES, "links": [{"source": 0, "target": "x"}]},
            'expected a listed node as target of link 0, got "x"',
        ),
        ({"nodes": NODES, "links": [], "directed": 1}, "expected directed to be true or false, got 1"),
        ({"nodes": NODES, "links": [PAIR | {"port": "a"}]}, 'expected a whole number below 2³¹ as port, got "a"'),
        ({"nodes": NODES, "links": [PAIR | {"multiplicity": 0}]}, "expected multiplicities of 1 or more"),
        ({"nodes": NODES, "links": [PAIR | {"multiplicity": 2**31 - 1}] * 2}, "below 2³¹ in all, got"),
        ({"nodes": NODES, "links": [], "graph": {"terminals": [5]}}, "expected a listed node in terminals, got 5"),
        (
            {
                "nodes": NODES,
                "links": [PAIR | {"port": 1, "target_port": 0}, {**PAIR, "target": 2, "port": 1, "target_port": 0}],
            },
            "expected one link at each port of a node, got another at port 1 of node 0",
        ),
        (
            {"nodes": NODES, "links": [PAIR | {"port": 2**30, "target_port": 0}]},
            "expected at most 1,048,576 ports of a node, got 1,073,741,825",
        ),
        (
            {"nodes": NODES, "links": [PAIR | {"port": 0, "target_port": 0, "link_class": 128}]},
            "expected link classes of 0 … 127, got 128",
        ),
    ],
)
def test_json_that_is_refused(document, reason):
    Path("a.json").write_text(json.dumps(document))
    with pytest.raises(BadInput) as refusal:
        build("a.json")
    assert "a.json: " in str(refusal.value)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"nodes": [\n3,}', "a.json:2: expected JSON, got: Expecting value at column 3"),
        (b"\xff\xfe\xfa", "a.json:1: expected JSON in UTF-8"),
        (b"[" * 100_000, "a.json:1: expected a list of nodes and one of links, got lists within lists"),
        (b'{"nodes": ' + b"9" * 5000 + b"}", "a.json:1: expected JSON in UTF-8, got: Exceeds the limit"),
    ],
)
def test_json_that_is_none(content, reason):
    Path("a.json").write_bytes(content)
    with pytest.raises(BadInput, match=r"a\.json:") as refusal:
        build("a.json")
    assert reason in str(refusal.value)


@pytest.mark.parametrize(
    ("columns", "metadata", "reason"),
    [
        ({"a": [1]}, {}, "expected the columns source and target, got a"),
        ({"source": [0, None], "target": [1, 2]}, {}, "source: expected a node in every row, got 1 row without"),
        ({"source": [0, -1], "target": [1, 2]}, {}, "source: expected numbers of nodes, 0 … 2⁶², got -1"),
        ({"source": [[0]], "target": [[1]]}, {}, "expected ends that are numbers or texts"),
        ({"source": [0], "target": [1], "port": [-3]}, {}, "port: expected numbers of 0 or more, got -3"),
        ({"source": [0], "target": [5]}, {"nodes": 5}, "metadata nodes: expected more than the largest node, 5, got 5"),
        ({"source": [0], "target": [1]}, {"nodes": 10**18}, "metadata nodes: expected 0 … "),
        ({"source": [0], "target": [1]}, {"nodes": "x"}, "metadata nodes: expected JSON, got x"),
        ({"source": [0], "target": [1]}, {"directed": 2}, "metadata directed: expected true or false, got 2"),
        ({"source": [0], "target": [1]}, {"terminals": [7]}, "metadata terminals: expected nodes of the file, got 7"),
        ({"source": [0], "target": [1]}, {"terminals": [-1]}, "metadata terminals: expected nodes of the file, got -1"),
        ({"source": [0], "target": [1]}, {"terminals": ["a"]}, "metadata terminals: expected a list of numbers"),
    ],
)
def test_parquet_that_is_refused(columns, metadata, reason):
    path = parquet_file(columns, **metadata)
    with pytest.raises(BadInput) as refusal:
        build(path)
    assert "a.parquet: " in str(refusal.value)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_no_parquet():
    Path("a.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BadInput, match=r"a\.parquet: expected a Parquet file of links, got: "):
        build("a.parquet")
    with pytest.raises(BadInput, match=r"^none\.parquet: no such file"):
        build("none.parquet")


def test_numbers_that_stand_for_more_than_memory_are_refused(monkeypatch):
    """A few bytes of JSON, or equal rows of Parquet."""
    monkeypatch.setattr(graph_listing, "default_memory", lambda: 64_000)
    with pytest.raises(Refused, match="more than 1,000 endpoints are more than this machine's memory can hold"):
        build(json_file(nodes=[{"id": 0, "endpoints": 2**30}], links=[]))
    monkeypatch.setattr("torusweep.networks.families.graph_parquet.default_memory", lambda: 1 << 20)
    rows = np.zeros(100_000, np.int64)
    with pytest.raises(Refused, match="100,000 rows of 2 columns are more than"):
        build(parquet_file({"source": rows, "target": rows + 1}))


GRAPHML = (
    '<graphml>\n<key id="m" for="edge" attr.name="multiplicity" attr.type="long"/>\n'
    '<key id="p" for="graph" attr.name="ports" attr.type="string"/>\n'
    '<key id="t" for="graph" attr.name="terminals" attr.type="string"/>\n'
    '<graph edgedefault="undirected">\n{}<node id="a"/><node id="b"/>\n'
    '<edge source="a" target="b">\n<data key="m">{}</data></edge></graph></graphml>\n'
)


@pytest.mark.parametrize(
    ("data", "multiplicity", "line", "reason"),
    [
        ("", "1.5", 8, "expected a whole number below 10¹⁰ as multiplicity, got '1.5'"),
        ("", "-1", 8, "got '-1'"),
        ('<data key="p">x</data>', "1", 6, "expected the number of ports of a node, got 'x'"),
        ('<data key="t">a c</data>', "1", 6, "expected a declared node, got 'c'"),
    ],
)
def test_graphml_numbers_that_are_refused(data, multiplicity, line, reason):
    Path("a.graphml").write_text(GRAPHML.format(data, multiplicity))
    with pytest.raises(BadInput) as refusal:
        build("a.graphml")
    assert f"a.graphml:{line}: " in str(refusal.value)
    assert reason in str(refusal.value)


def test_terminals_of_graphml_in_their_order():
    Path("a.graphml").write_text(GRAPHML.format('<data key="t">b a b</data>', "2"))
    topology = build("a.graphml")
    assert topology.terminals.tolist() == [1, 0, 1]
    assert topology.links == 2


def test_a_graph_without_any_terminal_is_refused(tmp_path):
    path = tmp_path / "switches.json"
    path.write_text(
        '{"nodes": [{"id": 0, "terminals": 0}, {"id": 1, "terminals": 0}], "links": [{"source": 0, "target": 1}]}'
    )
    with pytest.raises(BadInput, match="expected a terminal at some node, got none"):
        build(f'graph(path="{path}")')
