"""Bandwidths and latencies of links in graph files and in other libraries' graphs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import igraph
import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.interchange import FORMATS, export
from torusweep.networks.families import build

HOLD_ALL = ("graphml", "networkx-json", "parquet")
NETWORKS = [
    "with_links(dragonfly(a=4, p=2, h=2), bandwidths=[1, '25/12'], latencies=[1, 10])",
    "with_links(torus(radices=[4, 3]), bandwidths=[0.5, 2])",
    "with_links(hyperx(radices=[3, 2], widths=[1, 3]), latencies=[4, 1])",
    "with_links(directed_torus(k=4, n=2), bandwidths=['1/3', 1], latencies=[7])",
    "faulty(with_links(torus(k=4, n=2), bandwidths=[1, 2], latencies=[1, 9]), links=3, nodes=1)",
    "with_links(fat_tree(k=2, n=3), bandwidths=[1, 4], latencies=[2, 20])",
]


def same(one, other):
    assert np.array_equal(one.link_class[one.ports >= 0], other.link_class[other.ports >= 0])
    for name in ("ports", "terminals", "bandwidth", "latency"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None and b is None) or np.array_equal(a, b), name
    assert one.plan.bandwidths == other.plan.bandwidths
    assert one.plan.latencies == other.plan.latencies
    assert one.plan.classes == other.plan.classes


@pytest.mark.parametrize("style", HOLD_ALL)
@pytest.mark.parametrize("spelling", NETWORKS)
def test_read_back_to_the_identical_network(spelling, style):
    topology = build(spelling)
    written = export(topology, style, f"a{FORMATS[style].suffix}")
    same(build(str(written.files[0])), topology)
    assert [note for note in written.notes if "how the network is made" not in note] == []


def numbers_in(path):
    """{(source, target): (bandwidth, latency)} by readers that are not ours."""
    if path.endswith(".parquet"):
        rows = pq.read_table(path).to_pylist()
    else:
        graph = (
            nx.read_graphml(path, node_type=int)
            if path.endswith(".graphml")
            else nx.node_link_graph(json.loads(Path(path).read_text()), edges="edges")
        )
        rows = [{"source": min(u, v), "target": max(u, v), **data} for u, v, data in graph.edges(data=True)]
    return {(row["source"], row["target"]): (row["bandwidth"], row["latency"]) for row in rows}


@pytest.mark.parametrize("style", HOLD_ALL)
def test_other_readers_find_the_numbers(style):
    topology = build(NETWORKS[0])
    (path,) = export(topology, style, f"a{FORMATS[style].suffix}").files
    found = numbers_in(str(path))
    assert len(found) == topology.links
    for (u, v), numbers in found.items():
        assert numbers == ((1.0, 1) if u // 4 == v // 4 else (25 / 12, 10))


def test_files_of_networks_without_such_links_do_not_change():
    for style in HOLD_ALL[:2]:
        (path,) = export(build("torus(k=4, n=2)"), style, f"a{FORMATS[style].suffix}").files
        assert "bandwidth" not in path.read_text()
        assert "latency" not in path.read_text()


def test_booksim_has_the_latencies():
    topology = build("with_links(mesh(radices=[3, 2]), bandwidths=[1, 2], latencies=[1, 30])")
    written = export(topology, "booksim", "out")
    lines = Path("out/network.anynet").read_text().splitlines()
    assert lines[0] == "router 0 node 0 router 1 1 router 3 30"
    assert "vc_buf_size = 65;" in Path("out/booksim.cfg").read_text()  # 2 + 30 + 1 + 1 and 1 + 30 back
    lost = [note.split()[2] for note in written.notes if note.startswith("not held")]
    assert lost == ["port", "link", "bandwidths", "how"]
    again = build("out/network.anynet")
    for u, v, port in zip(*(part.tolist() for part in again.arcs)):
        assert again.latency[u, port] == (1 if abs(u - v) == 1 else 30)


def test_formats_without_them_say_so():
    topology = build("with_links(torus(k=4, n=2), bandwidths=[1, 2], latencies=[1, 9])")
    for style in ("edgelist", "sst", "caminos"):
        notes = " ".join(export(topology, style, f"out-{style}").notes)
        assert "bandwidths of links" in notes
        assert "latencies of links" in notes


KEYS = "".join(
    f'<key id="{name}" for="edge" attr.name="{name}" attr.type="{kind}"/>'
    for name, kind in (("bandwidth", "double"), ("latency", "long"))
)


def graphml_of(*edges):
    lines = []
    for u, v, numbers in edges:
        data = "".join(f'<data key="{name}">{number}</data>' for name, number in numbers.items())
        lines.append(f'<edge source="{u}" target="{v}">{data}</edge>')
    nodes = "".join(f'<node id="{node}"/>' for node in range(4))
    graph = f'<graph edgedefault="undirected">{nodes}{"".join(lines)}</graph>'
    Path("b.graphml").write_text(f"<graphml>{KEYS}{graph}</graphml>")
    return "b.graphml"


def test_links_of_equal_numbers_are_a_class():
    topology = build(
        graphml_of((0, 1, {"bandwidth": 2.5}), (1, 2, {"latency": 7}), (2, 3, {"bandwidth": 2.5}), (3, 0, {}))
    )
    assert topology.plan.classes == (
        "link, 1 flits a cycle, 1 cycles",
        "link, 1 flits a cycle, 7 cycles",
        "link, 5/2 flits a cycle, 1 cycles",
    )
    assert topology.plan.bandwidths == (1, 1, Fraction(5, 2))
    assert topology.plan.latencies == (1, 7, 1)
    assert topology.bandwidth[0].tolist() == [2.5, 1.0]  # to nodes 1 and 3
    assert topology.latency[2].tolist() == [7, 1]


def test_links_that_are_all_alike_are_one_class():
    topology = build(graphml_of(*((u, (u + 1) % 4, {"bandwidth": 4, "latency": 3}) for u in range(4))))
    assert (topology.plan.classes, topology.plan.bandwidths, topology.plan.latencies) == (("link",), (4,), (3,))


BAD = [
    ([(0, 1, {"bandwidth": 0})], "flits a cycle above 0 as bandwidth"),
    ([(0, 1, {"bandwidth": "nan"})], "flits a cycle above 0 as bandwidth"),
    ([(0, 1, {"bandwidth": "much"})], "flits a cycle above 0 as bandwidth"),
    ([(0, 1, {"latency": 0})], "cycles of 1"),
    ([(0, 1, {"latency": 2000000000})], "cycles of 1"),
    ([(0, 1, {"latency": 1.5})], "a whole number"),
    ([(0, 1, {"bandwidth": 2}), (1, 0, {"bandwidth": 3})], "between nodes 0 and 1"),
]


@pytest.mark.parametrize(("edges", "says"), BAD)
def test_wrong_numbers_are_refused_in_one_line(edges, says):
    with pytest.raises(BadInput, match=says) as refusal:
        build(graphml_of(*edges))
    assert "\n" not in str(refusal.value)
    assert "b.graphml" in str(refusal.value)


def test_wrong_numbers_in_json_and_parquet():
    link = {"source": 0, "target": 1, "bandwidth": -1}
    Path("c.json").write_text(json.dumps({"nodes": [{"id": 0}, {"id": 1}], "links": [link]}))
    with pytest.raises(BadInput, match=r"c\.json.*flits a cycle above 0"):
        build("c.json")
    pq.write_table(pa.table({"source": [0], "target": [1], "bandwidth": [0.0]}), "c.parquet")
    with pytest.raises(BadInput, match=r"c\.parquet.*flits a cycle above 0"):
        build("c.parquet")
    widths = pa.array([2.5, None])
    pq.write_table(pa.table({"source": [0, 1], "target": [1, 2], "bandwidth": widths}), "c.parquet")
    assert build("c.parquet").bandwidth.tolist() == [[2.5, 0], [2.5, 1], [1, 0]]


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph, nx.DiGraph])
def test_attributes_of_networkx(kind):
    graph = kind()
    graph.add_edge("a", "b", bandwidth=2, latency=5)
    graph.add_edge("b", "c", bandwidth=0.25)
    graph.add_edge("c", "a", weight=3)
    network = ts.network(graph)
    found = {
        (u, v): (network.topology.bandwidth[u, p], network.topology.latency[u, p])
        for u, v, p in zip(*(part.tolist() for part in network.topology.arcs))
    }
    expected = {(0, 1): (2, 5), (1, 2): (0.25, 1), (2, 0): (1, 1)}
    if not graph.is_directed():
        expected |= {(v, u): numbers for (u, v), numbers in expected.items()}
    assert found == expected
    assert "weight not used" in " ".join(network.topology.plan.notes)
    assert "1 link without bandwidth, taken as 1" in " ".join(network.topology.plan.notes)  # its weight is none
    again = ts.network(network.to_networkx())
    assert np.array_equal(again.topology.bandwidth, network.topology.bandwidth)
    assert np.array_equal(again.topology.latency, network.topology.latency)


def test_attributes_of_igraph():
    graph = igraph.Graph([(0, 1), (1, 2)])
    graph.es["latency"] = [4, 1]
    assert ts.network(graph).topology.latency.tolist() == [[4, 0], [4, 1], [1, 0]]


@pytest.mark.parametrize(
    ("name", "value"), [("bandwidth", "fast"), ("bandwidth", -2), ("latency", 1.5), ("latency", True)]
)
def test_wrong_attributes_are_refused(name, value):
    graph = nx.path_graph(3)
    graph.edges[0, 1][name] = value
    with pytest.raises(BadInput, match=f"attribute {name} of links"):
        ts.network(graph)


def test_parallel_links_of_different_numbers_are_refused():
    graph = nx.MultiGraph([(0, 1), (0, 1)])
    graph.edges[0, 1, 0]["latency"] = 9
    with pytest.raises(BadInput, match="between nodes 0 and 1"):
        ts.network(graph)


@pytest.mark.parametrize("style", ["graphml", "networkx-json", "parquet"])
@pytest.mark.parametrize(
    "network",
    [
        'with_links(torus(radices=[4, 3]), bandwidths=["100 Gb/s", "12.5 GB/s"], latencies=["5 ns", "0.02 us"])',
        'with_links(torus(radices=[4, 3]), bandwidths=["333 Mb/s", "1.25 Gb/s"])',
        'with_links(mesh(k=3, n=2), latencies=["3 ns"])',
        "units.edges",
    ],
)
def test_units_are_read_back(style, network):
    Path("units.edges").write_text("a b 100Gb/s 5ns\nb c 400Gb/s 15ns\n")
    topology = build(network)
    (file,) = export(topology, style).files
    back = build(str(file)).plan
    assert (back.rate, back.tick) == (topology.plan.rate, topology.plan.tick)
    tail, head, port = topology.arcs
    for name in ("bandwidths", "latencies"):
        kinds = getattr(topology.plan, name) or (1,) * (1 + topology.link_class.max())
        again = build(str(file))
        others = getattr(back, name) or (1,) * (1 + again.link_class.max())
        at = {(t, h): others[again.link_class[t, p]] for t, h, p in zip(*map(list, again.arcs))}
        assert {(t, h): kinds[topology.link_class[t, p]] for t, h, p in zip(tail, head, port)} == at
