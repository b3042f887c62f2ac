"""Graph files in the formats of other tools, each written by the tool or library itself: what is read, what refused.

The networks are compared with the graphs of networkx and igraph that were written, by the names of their nodes.
"""

from __future__ import annotations

import io
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from torusweep.errors import BadInput
from torusweep.interchange import export
from torusweep.networks.families import FAMILIES, build
from torusweep.networks.readers import FORMATS, SUFFIXES, format_of
from torusweep.networks.topology import Topology

from tests.networks.tool_files import FILES

pytestmark = pytest.mark.usefixtures("in_a_temporary_folder")

CASES = Path(__file__).parent / "cases"


def arcs_by_name(topology: Topology) -> Counter[tuple[str, str]]:
    """How many links there are between each two nodes, called as answers call them; both directions of a link."""
    names = topology.plan.names or range(topology.nodes)
    tail, head, port = topology.arcs
    times = np.ones(len(tail), int) if topology.capacity is None else topology.capacity[tail, port]
    found: Counter[tuple[str, str]] = Counter()
    for u, v, number in zip(tail.tolist(), head.tolist(), times.tolist()):
        found[str(names[u]), str(names[v])] += number
    return found


def arcs_of(graph: nx.Graph) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for u, v in graph.edges():
        found[str(u), str(v)] += 1
        if not graph.is_directed():
            found[str(v), str(u)] += 1
    return found


PETERSEN = nx.petersen_graph()
NAMED = nx.relabel_nodes(nx.path_graph(4), dict(enumerate(["leaf one", "spine-2", "été", "n3"])))
ONE_WAY = nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3)])
SPARSE = nx.empty_graph(9)
SPARSE.add_edge(0, 5)
DOUBLE = nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c")])
LARGE = nx.cycle_graph(70)


def from_igraph(write: str, name: str, **how: Any) -> Callable[[nx.Graph], str]:
    def written(graph: nx.Graph) -> str:
        nodes = list(graph)
        same = igraph.Graph(
            len(nodes), [(nodes.index(u), nodes.index(v)) for u, v in graph.edges()], graph.is_directed()
        )
        same.vs["name"] = list(map(str, nodes))
        getattr(same, write)(name, **how)
        return name

    return written


def from_networkx(write: Callable[..., None], name: str, **how: Any) -> Callable[[nx.Graph], str]:
    def written(graph: nx.Graph) -> str:
        write(graph, name, **how)
        return name

    return written


def saved(save: Callable[[str, Any], None], name: str) -> Callable[[nx.Graph], str]:
    """A matrix: its nodes are numbers."""

    def written(graph: nx.Graph) -> str:
        save(name, nx.to_numpy_array(graph, dtype=int))
        return name

    return written


def written_as_snap(graph: nx.Graph) -> str:
    kind = "Directed" if graph.is_directed() else "Undirected"
    lines = [f"# {kind} graph: ../../data/output/my.txt", "# FromNodeId\tToNodeId"]
    Path("snap.txt").write_text("\n".join([*lines, *(f"{u}\t{v}" for u, v in graph.edges()), ""]))
    return "snap.txt"


def by_pandas(graph: nx.Graph) -> str:
    nx.to_pandas_adjacency(graph, dtype=int).to_csv("frame.csv")
    return "frame.csv"


def by_pandas_as_links(name: str) -> Callable[[nx.Graph], str]:
    def written(graph: nx.Graph) -> str:
        frame = nx.to_pandas_edgelist(graph)
        if name.endswith("parquet"):
            frame.to_parquet(name)
        else:
            frame.to_csv(name, index=False)
        return name

    return written


def as_igraph_calls(graph: nx.Graph) -> nx.Graph:
    """The ids of igraph's GraphML."""
    return nx.relabel_nodes(graph, {node: f"n{place}" for place, node in enumerate(graph)})


def as_node_link(graph: nx.Graph) -> str:
    Path("a.json").write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
    return "a.json"


# format | what writes it | graphs
READ: list[tuple[str, Callable[[nx.Graph], str], list[nx.Graph]]] = [
    ("gml", from_networkx(nx.write_gml, "a.gml"), [PETERSEN, NAMED, ONE_WAY, SPARSE, DOUBLE]),
    ("gml", from_igraph("write_gml", "b.gml"), [PETERSEN, NAMED, ONE_WAY, SPARSE, DOUBLE]),
    ("pajek", from_networkx(nx.write_pajek, "a.net"), [PETERSEN, NAMED, ONE_WAY, SPARSE, DOUBLE]),
    ("pajek", from_igraph("write_pajek", "b.net"), [PETERSEN, NAMED, ONE_WAY, SPARSE, DOUBLE]),
    ("dot", from_igraph("write_dot", "a.dot"), [PETERSEN, NAMED, ONE_WAY, SPARSE, DOUBLE]),
    ("gexf", from_networkx(nx.write_gexf, "a.gexf"), [PETERSEN, NAMED, ONE_WAY, SPARSE]),
    ("gexf", from_networkx(nx.write_gexf, "a.xml", version="1.1draft"), [PETERSEN, ONE_WAY]),
    ("graph6", from_networkx(nx.write_graph6, "a.g6", header=False), [PETERSEN, SPARSE, LARGE]),
    ("graph6", from_networkx(nx.write_graph6, "a.txt"), [PETERSEN, LARGE]),
    ("graph6", from_networkx(nx.write_sparse6, "a.s6"), [PETERSEN, SPARSE, LARGE, nx.MultiGraph([(0, 1), (0, 1)])]),
    ("matrix-market", saved(lambda name, m: scipy.io.mmwrite(name, scipy.sparse.coo_array(m)), "a.mtx"), [PETERSEN]),
    ("matrix-market", saved(lambda name, m: scipy.io.mmwrite(name, m), "b.mtx"), [PETERSEN, SPARSE]),
    ("npy", saved(np.save, "a.npy"), [PETERSEN, SPARSE, LARGE]),
    ("npz", saved(np.savez, "a.npz"), [PETERSEN]),
    ("npz", saved(lambda name, m: scipy.sparse.save_npz(name, scipy.sparse.csr_array(m)), "b.npz"), [PETERSEN, SPARSE]),
    ("matrix", saved(lambda name, m: np.savetxt(name, m, delimiter=",", fmt="%d"), "a.csv"), [PETERSEN, LARGE]),
    ("matrix", saved(np.savetxt, "b.txt"), [PETERSEN, nx.complete_graph(3)]),
    ("matrix", by_pandas, [PETERSEN, NAMED, nx.relabel_nodes(nx.path_graph(2), {0: "a", 1: "b"})]),
    ("snap", written_as_snap, [PETERSEN, ONE_WAY]),
    ("edgelist", from_igraph("write_ncol", "a.ncol", weights=None), [PETERSEN, nx.path_graph(4)]),
    ("edgelist", from_networkx(nx.write_edgelist, "plain.txt", data=False), [PETERSEN]),
    ("edgelist", by_pandas_as_links("links.csv"), [PETERSEN, NAMED]),
    ("parquet", by_pandas_as_links("links.parquet"), [PETERSEN, NAMED]),
    ("adjlist", from_networkx(nx.write_adjlist, "a.adjlist"), [PETERSEN, nx.path_graph(4)]),
    ("graphml", from_networkx(nx.write_graphml, "a.graphml"), [PETERSEN, NAMED, ONE_WAY, SPARSE]),
    ("graphml", from_igraph("write_graphml", "b.graphml"), [as_igraph_calls(g) for g in (PETERSEN, ONE_WAY, SPARSE)]),
    ("networkx-json", as_node_link, [PETERSEN, NAMED, ONE_WAY, SPARSE]),
]
CASES_READ = [(*row[:2], graph) for row in READ for graph in row[2]]


@pytest.mark.parametrize(("name", "write", "graph"), CASES_READ, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES_READ)])
def test_what_a_library_wrote_is_the_graph(name, write, graph):
    path = write(graph)
    assert format_of(Path(path)) == name
    topology = build(path)
    assert arcs_by_name(topology) == arcs_of(graph)
    assert topology.directed == graph.is_directed()
    assert topology.nodes == (len(graph) if name != "edgelist" else len(set(sum(graph.edges(), ()))))


def test_dimacs_of_igraph():
    """A flow: arcs with capacities, nodes from 1."""
    graph = igraph.Graph([(0, 1), (1, 2), (0, 2)], directed=True)
    graph.write_dimacs("a.max", 0, 2, capacity=[4, 1, 2])
    topology = build("a.max")
    assert arcs_by_name(topology) == {("1", "2"): 1, ("2", "3"): 1, ("1", "3"): 1}
    width = {topology.link_class[u, p]: width for u, p, width in ((0, 0, 4), (1, 0, 1), (0, 1, 2))}
    assert {kind: topology.plan.bandwidths[kind] for kind in width} == width


def test_other_dimacs():
    Path("a.col").write_text("c a colouring\np edge 4 3\ne 1 2\ne 2 3\ne 3 4\n")
    assert arcs_by_name(build("a.col")) == arcs_of(nx.path_graph([1, 2, 3, 4]))
    Path("road.gr").write_text("c roads\np sp 3 2\na 1 2 7\na 2 3 9\n")
    assert build('graph(path="road.gr", weights="latency")').plan.latencies == (7, 9)
    with pytest.raises(BadInput, match=r'road\.gr: .* got weight, which may mean either; say weights="bandwidth"'):
        build("road.gr")


def test_dot_of_graphviz():
    """Ports, chains, subgraphs, defaults, comments and quotes, by the grammar of graphviz.org/doc/info/lang.html."""
    Path("a.gv").write_text(
        'digraph "my net" { rankdir=LR; node [shape=box] edge [bandwidth=2]\n'
        "// comment\n# include\n/* and\nthis */\n"
        'a:p0:n -> b -> "c d" [latency=3]; subgraph cluster_0 { label="x"; e; f } -> {g h}\n lone; }\n'
    )
    topology = build("a.gv")
    expected = [("a", "b"), ("b", "c d"), ("e", "g"), ("e", "h"), ("f", "g"), ("f", "h")]
    assert arcs_by_name(topology) == Counter(expected)
    assert topology.nodes == 8
    assert topology.plan.names == ("a", "b", "c d", "e", "f", "g", "h", "lone")
    assert sorted(topology.plan.latencies) == [1, 3]
    assert set(topology.plan.bandwidths) == {2}


def test_our_export_to_astra_sim_is_read_back():
    """Hosts are nodes 0 … T − 1 there, and node v of ours is switch T + v."""
    torus = build("torus(k=4, n=2)")
    export(torus, "astra-sim", "out")
    topology = build("out/topology.txt")
    assert topology.nodes == 32
    assert topology.terminals.tolist() == list(range(16))
    links = [(u, v) for u, v in arcs_by_name(topology) if int(u) >= 16 and int(v) >= 16]
    tail, head, _ = torus.arcs
    assert Counter(links) == Counter((str(u + 16), str(v + 16)) for u, v in zip(tail.tolist(), head.tolist()))
    assert all(arcs_by_name(topology)[str(t), str(t + 16)] == 1 for t in range(16))


def test_ns3_with_rates_and_delays():
    """Case c7: 4 hosts, 3 switches, 400 Gb/s and 5 µs to a host, 10 Gb/s and 30 ms between switches."""
    topology = build(str(CASES / "c7.txt"))
    assert (topology.nodes, topology.links, topology.terminals.tolist()) == (7, 6, [0, 1, 2, 3])
    kind = topology.link_class[0, 0]
    other = topology.link_class[6, 0]
    assert topology.plan.bandwidths[kind] / topology.plan.bandwidths[other] == Fraction(400, 10)
    assert Fraction(topology.plan.latencies[other], topology.plan.latencies[kind]) == Fraction(30_000, 5)
    assert "1 flit a cycle is 10 Gb/s" in topology.plan.notes
    assert "a cycle is 5 µs" in topology.plan.notes


def test_parallel_links_of_ns3():
    Path("p.txt").write_text("3 1 3\n2\n0 2 100Gbps 1us 0\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n")
    assert arcs_by_name(build("p.txt")) == {("0", "2"): 2, ("2", "0"): 2, ("1", "2"): 1, ("2", "1"): 1}


def test_slurm():
    Path("topology.conf").write_text(
        "# two leaves\nSwitchName=s0 Nodes=tux[0-2,08]\nSwitchName=s1 Nodes=login,gpu[1-2]\n"
        "SwitchName=top Switches=s[0-1] LinkSpeed=100\n"
    )
    topology = build("topology.conf")
    below = {"s0": ["tux0", "tux1", "tux2", "tux08"], "s1": ["login", "gpu1", "gpu2"], "top": ["s0", "s1"]}
    assert arcs_by_name(topology) == arcs_of(nx.Graph([(s, n) for s, nodes in below.items() for n in nodes]))
    names = topology.plan.names
    assert {names[node] for node in topology.terminals.tolist()} == {*below["s0"], *below["s1"]}


FABRIC = """\
#
# Topology file: generated on Tue Jun  5 14:15:10 2007
#
vendid=0x8f1
devid=0x5a06
sysimgguid=0x5442ba00003000
switchguid=0x5442ba00003080(5442ba00003080)
Switch  24 "S-005442ba00003080"         # "leaf" base port 0 lid 6 lmc 0
[22]    "H-0008f10403961354"[1](8f10403961355)         # "host1 HCA-1" lid 4 4xEDR
[10]    "S-0008f10400410015"[1]         # "spine" lid 3 4xHDR
[8]     "S-0008f10400410015"[2]         # "spine" lid 3 4xHDR

vendid=0x8f1
switchguid=0x8f10400410015(8f10400410015)
Switch  8 "S-0008f10400410015"         # "spine" base port 0 lid 3 lmc 0
[1]     "S-005442ba00003080"[10]         # "leaf" lid 6 4xHDR
[2]     "S-005442ba00003080"[8]         # "leaf" lid 6 4xHDR

vendid=0x2c9
caguid=0x8f10403961354
Ca      2 "H-0008f10403961354"          # "host1 HCA-1"
[1](8f10403961355)      "S-005442ba00003080"[22]                # lid 4 lmc 1 "leaf" lid 6 4xEDR
"""


def test_ibnetdiscover():
    """As the man page shows it: each link is listed at both of its ends; two go from leaf to spine."""
    Path("fabric.txt").write_text(FABRIC)
    topology = build("fabric.txt")
    host = "host1 HCA-1"
    assert arcs_by_name(topology) == {
        **{("leaf", host): 1, (host, "leaf"): 1},
        **{("leaf", "spine"): 2, ("spine", "leaf"): 2},
    }
    assert [topology.plan.names[node] for node in topology.terminals.tolist()] == [host]
    assert set(topology.plan.bandwidths) == {1, 2}
    assert "1 flit a cycle is 100 Gb/s" in topology.plan.notes


def test_weights_are_asked_for_and_ones_are_not():
    graph = nx.Graph([(0, 1, {"weight": 2.5}), (1, 2, {"weight": 1})])
    nx.write_pajek(graph, "a.net")
    nx.write_weighted_edgelist(graph, "a.txt")
    nx.write_gexf(graph, "a.gexf")
    np.save("a.npy", nx.to_numpy_array(graph))
    for path in ("a.net", "a.txt", "a.gexf", "a.npy"):
        with pytest.raises(BadInput, match=rf'^{path}: .*say weights="bandwidth"') as refusal:
            build(path)
        assert "\n" not in str(refusal.value)
        assert set(build(f'graph(path="{path}", weights="bandwidth")').plan.bandwidths) == {Fraction(5, 2), 1}
        assert build(f'graph(path="{path}", weights="none")').plan.bandwidths == ()
    nx.write_weighted_edgelist(nx.path_graph(3), "b.txt")
    nx.write_pajek(nx.path_graph(3), "b.net")
    assert build("b.net").plan.bandwidths == ()


@pytest.mark.parametrize("write", [from_networkx(nx.write_gml, "a.gml"), from_networkx(nx.write_gexf, "a.gexf"),
                                   from_networkx(nx.write_graphml, "a.graphml"),
                                   from_networkx(nx.write_edgelist, "a.edges")])  # fmt: skip
def test_units_in_attributes(write):
    """400 Gb/s beside 50 GB/s are equal; 100 Gb/s is a quarter; 1.5 µs and 500 ns are 3 and 1 of 500 ns."""
    graph = nx.Graph()
    graph.add_edge("a", "b", bandwidth="400 Gb/s", latency="1.5 us")
    graph.add_edge("b", "c", bandwidth="50GB/s", latency="500 ns")
    graph.add_edge("c", "d", bandwidth="100000 Mb/s", latency="500ns")
    topology = build(write(graph))
    at = {name: place for place, name in enumerate(topology.plan.names)}
    of = {}
    for u, v in (("a", "b"), ("b", "c"), ("c", "d")):
        port = topology.ports[at[u]].tolist().index(at[v])
        kind = topology.link_class[at[u], port]
        of[u, v] = topology.plan.bandwidths[kind], topology.plan.latencies[kind]
    assert of == {("a", "b"): (4, 3), ("b", "c"): (4, 1), ("c", "d"): (1, 1)}
    assert {"1 flit a cycle is 100 Gb/s", "a cycle is 500 ns"} <= set(topology.plan.notes)


def pickled(path: str) -> None:
    np.save(path, np.array([{"a": 1}], object), allow_pickle=True)


# file | contents, or what writes it | words that refuse it
REFUSED: list[tuple[str, Any, str]] = [
    ("a.npy", lambda: pickled("a.npy"), "got: pickled objects, which are not read for safety"),
    ("a.npz", lambda: np.savez("a.npz", a=np.eye(3), b=np.eye(3)), "expected one array, a matrix or links int[E, 2]"),
    ("b.npz", b"PK\x03\x04 no archive", "expected arrays of NumPy, got: File is not a zip file"),
    (
        "b.npy",
        lambda: np.save("b.npy", np.ones((2, 3))),
        "got 2×3",
    ),
    (
        "c.npy",
        lambda: np.save("c.npy", np.array([[0, np.nan, 1]] * 3)),
        "expected entries of 0 or more in the matrix, got nan",
    ),
    (
        "d.npy",
        lambda: np.save("d.npy", np.triu(np.ones((3, 3)), 1)),
        "expected a symmetric matrix",
    ),
    ("e.npy", lambda: np.save("e.npy", np.array([[0, -1]])), "expected nodes 0 … 2⁶², got -1 … 0"),
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 9 1\n",
        "expected a matrix in the Matrix Market",
    ),
    (
        "b.mtx",
        "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 0\n",
        "expected a matrix of numbers, got complex",
    ),
    ("a.gml", "graph [ node [ id 1 ] edge [ source 1 target 2 ] ]", "a.gml: Unknown target node id found in an edge"),
    ("b.gml", "graph [ node [ id 1 label ", "b.gml: Parse error in GML file, line 1"),
    ("a.net", "*Vertices 3\n*Arcs\n1 2\n*Edges\n2 3\n", "expected arcs or edges, got both; list each edge as two arcs"),
    ("b.net", "*Vertices 2\n*Edges\n1 9\n", "b.net: Invalid vertex ID (9) in Pajek file"),
    ("c.net", "*Vertices 99999999999\n", "nodes are more than this machine's memory can hold"),
    ("a.dot", "graph { a -> b }", "a.dot:1: expected '->' in a digraph, '--' in a graph, got '->'"),
    ("b.dot", "graph {\n a -- ;\n}", "b.dot:2: expected a name, got ';'"),
    ("c.dot", "digraph {\n a -> b", "c.dot:2: expected a name, got 'the end'"),
    (
        "e.dot",
        "graph {\n {a b} = x; a -- b }",
        "e.dot:2: expected a statement, or the end of the graph, after a subgraph",
    ),
    ("f.dot", "graph { subgraph s {} = x; a -- b }", "after a subgraph, got '='"),
    ("d.dot", "graph { a } graph { b }", "expected one graph, got 'graph'"),
    ("a.g6", "I?h]@eOWG\nDqK\n", "expected one graph, got 2; keep one line"),
    ("b.g6", "Iabc\n", "expected 45 bits for 10 nodes, got 18"),
    ("c.g6", "I\x01\n", "expected graph6, digraph6 or sparse6, got other characters"),
    (
        "a.gexf",
        '<gexf><graph><edges><edge source="a" target="b"/></edges></graph></gexf>',
        "expected a listed node, got 'a'",
    ),
    ("b.gexf", "<gexf><graph>", "b.gexf:1: expected well-formed XML"),
    ("c.gexf", '<!DOCTYPE g [<!ENTITY x "y">]><gexf></gexf>', "expected GEXF without entity declarations"),
    ("a.col", "p edge 2 1\ne 1 3\n", "a.col:2: expected nodes 1 … 2, got 'e 1 3'"),
    ("b.col", "p edge 2 1\nx 1 2\n", "b.col:2: expected a line of DIMACS"),
    ("a.txt", "0,1,0\n1,0,1,0\n0,1,0\n", "expected a graph file; say format="),
    ("b.txt", "0 1 0 1\n1 0 1\n0 1 0 1\n1 0 1 0\n", "expected a graph file; say format="),
    ("c.csv", ",a,b\na,0,1\nc,1,0\n", "expected the same names before the lines as above the columns"),
    ("d.csv", "0,1,1,1\n1,0,x,1\n1,1,0,1\n1,1,1,0\n", "expected two nodes"),
    ("ns.txt", "3 1 2\n2\n0 2 1Gbps 1us 0\n", "expected 2 links, as its first line says, got 1"),
    ("nt.txt", "3 1 1\n2\n0 7 1Gbps 1us 0\n", "nt.txt:3: expected two nodes below 3, a rate and a delay"),
    (
        "t.conf",
        "BlockName=b1 Nodes=n[0-3]\n",
        "t.conf:1: expected a tree or rings of Slurm, got topology/block, which names nodes",
    ),
    ("u.conf", "SwitchName=s Nodes=n[3-0]\n", "u.conf:1: expected numbers as in node[0-3,7], got 'n[3-0]'"),
    ("w.conf", "SwitchName=s Nodes=n[0-999999999]\n", "w.conf:1"),
    ("ib.txt", FABRIC.replace('"[2]  ', '"[1]  '), "expected one neighbour at each port"),
    (
        "units.csv",
        "source,target,bandwidth\n0,1,100 Gb/s\n1,2,5\n",
        "units.csv:3: bandwidth: expected a unit for every link, as 100 Gb/s, or for none, got 5",
    ),
    (
        "odd.csv",
        "# rates\n\nsource,target,bandwidth\n0,1,1 Gb/s\n\n1,2,100 furlongs\n2,0,1 parsec\n",
        "odd.csv:6: bandwidth: expected a bandwidth such as 100 Gb/s, got '100 furlongs'",
    ),
    (
        "none.csv",
        "source,target,bandwidth\n0,1,100 Gb/s\n1,2,0 Gb/s\n",
        "none.csv:3: bandwidth: expected a bandwidth above 0",
    ),
    ("back.csv", "source,target,latency\n0,1,\n1,2,-1\n", "back.csv:3: latency: expected whole numbers"),
    ("braces.el", "# x\na b {}\nb c {'latency': 'x'}\n", "braces.el:3: latency: expected whole numbers"),
    ("slashes.el", "// links\n0 1\n", "slashes.el:1: expected comments that begin with # or %, got one"),
    ("slashes.txt", "0 1\n // links: 1 nodes: 2\n", "slashes.txt:2: expected comments that begin with # or %, got one"),
    ("slow.csv", "source,target,latency\n0,1,0 ns\n", "latency: expected more than 0 for every link"),
    (
        "flat.csv",
        "0,1,5,7\n1,2,5,7\n",
        "flat.csv:1: expected 2 numbers, as many as there are lines, got 4; a list of links",
    ),
    ("flat.edges", "0 1 5 7\n1 2 5 7\n", "flat.edges:1: expected two nodes, got 4 fields"),
    ("a.adjlist", "0 1 2\n1 two\n", "a.adjlist:2: expected a node's number (0 … 2⁶²), got 'two'"),
    ("a.json", "[1, 2]", "a.json"),
    ("a.graphml", "<graphml><graph>", "a.graphml:1: expected <graph> with the attribute edgedefault"),
    ("a.parquet", b"PAR1 and then nothing", "a.parquet"),
    ("a.anynet", "router 0 node 0 switch 1\n", "a.anynet:1: expected 'router' or 'node' and a number"),
    ("s.txt", "# Directed graph: a\n0 1\n1 x\n", "s.txt:3: expected a node's number"),
    ("two.edges", "0 1 100Gb/s\n1 2\n", "two.edges:2: expected bandwidth with a unit, as on the lines before"),
    ("words.doc", "Dear Sir or Madam\n", 'expected a graph file; say format="…", one of edgelist'),
]


@pytest.mark.parametrize(("name", "content", "words"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_is_refused(name, content, words):
    if callable(content):
        content()
    else:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput) as refusal:
        build(name)
    said = str(refusal.value)
    assert said.startswith(name)
    assert words in said
    assert "\n" not in said


def test_a_triangle_of_a_matrix_is_read_where_it_is_said_how():
    np.save("a.npy", np.triu(np.ones((3, 3)), 1))
    assert arcs_by_name(build('graph(path="a.npy", directed=true)')) == Counter([("0", "1"), ("0", "2"), ("1", "2")])
    assert arcs_by_name(build('graph(path="a.npy", directed=false)')) == arcs_of(nx.complete_graph(3))


def test_links_of_numpy():
    np.save("links.npy", np.array(PETERSEN.edges))
    assert arcs_by_name(build("links.npy")) == arcs_of(PETERSEN)


# written by programs that are not here: each in their own form, in a test of its own
IN_THEIR_OWN_TESTS = {"anynet", "dimacs", "metis", "ns3", "ibnetdiscover"} | {file.format for file in FILES}


def test_every_format_is_written_by_its_tool():
    assert {row[0] for row in READ} | IN_THEIR_OWN_TESTS == FORMATS.keys()


def test_formats_have_readers_and_their_suffixes_are_told_apart():
    assert {name for name in FORMATS if name not in re.findall(r"[\w-]+", FAMILIES["graph"].__doc__)} == set()
    assert len(SUFFIXES) == sum(len(format.suffixes.split()) for format in FORMATS.values())
    for path, name in (("x.edges", "graphml"), ("x.csv", "gml"), ("x.dat", "matrix-market")):
        {"graphml": nx.write_graphml, "gml": nx.write_gml}.get(
            name, lambda g, p: Path(p).write_text("%%MatrixMarket matrix coordinate real general\n1 1 0\n")
        )(PETERSEN, path)
        assert format_of(Path(path)) == name


SEEDS = [
    b'graph [ node [ id 1 label "a" ] node [ id 2 ] edge [ source 1 target 2 bandwidth "1 Gb/s" ] ]',
    b'*Vertices 3\n1 "a"\n2 "b"\n*Edges\n1 2 1.0\n2 3\n*Matrix\n',
    b'strict digraph g { a:p -> {b c} [x="y"]; subgraph s { d } e [name=f] }',
    b">>graph6<<IheA@GUAo\n",
    b":I`ES@obGkqegW~\n",
    b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
    b"%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n",
    b'<gexf><graph defaultedgetype="directed"><nodes><node id="0"/></nodes><edges/></graph></gexf>',
    b"p sp 3 2\na 1 2 7\na 2 3 9\n",
    b"3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n",
    b"SwitchName=s0 Nodes=n[0-3,07],x\nSwitchName=t Switches=s0\n",
    FABRIC.encode(),
    b"# Directed graph (each unordered pair of nodes is saved once)\n0\t1\n1 2\n",
    b",a,b\na,0,1\nb,1,0\n",
    b"0 1 1\n1 0 1\n1 1 0\n",
    b"0 1 2.5\n1 2 3\n",
    b"% metis\n3 2 011 1\n7 2 4\n7 1 4 3 5\n7 2 5\n",
    b"4 4\n0 1\n1 2\n2 3\n3 0\n",
    b'Source,Target,Type,Weight\n"a#b",b,Directed,1.0\nb,"c",Directed,2\n',
]
for array in (np.eye(3)[::-1], np.array([[0, 1], [1, 2]])):
    SEEDS.append((lambda buffer: (np.save(buffer, array), buffer.getvalue())[1])(io.BytesIO()))
    SEEDS.append((lambda buffer: (np.savez(buffer, array), buffer.getvalue())[1])(io.BytesIO()))
SEEDS += [file.text.encode() for file in FILES]


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """A file with bytes changed, removed, repeated or put in."""
    content = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 12)))
        other = draw(st.sampled_from(SEEDS))
        cut = draw(st.integers(0, len(other)))
        put = draw(st.one_of(st.binary(max_size=4), st.just(bytes(other[cut : cut + 9])), st.sampled_from(
            [b"9" * 9, b"-1", b"0", b"\n", b" ", b'"', b"[", b"]", b"{", b"}", b"nan", b"1e400", b"\xff", b"\0"]
        )))  # fmt: skip
        content[start:end] = put
    return bytes(content)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spoilt(), st.sampled_from([".txt", ".csv", ".gml", ".net", ".dot", ".g6", ".mtx", ".npy", ".npz", ".gexf"]))
@example(SEEDS[0], ".txt")
def test_any_file_is_read_or_refused_in_one_line(content, suffix):
    path = Path(f"fuzz{suffix}")
    path.write_bytes(content)
    try:
        topology = build(f'graph(path="{path}", weights="none")')
    except BadInput as refusal:
        said = str(refusal)
        assert "\n" not in said
        assert re.search(r"\bfuzz\.", said)
        assert len(said) < 700
    else:
        assert topology.nodes > 0


@pytest.mark.parametrize("content", [b"\n" * 65_536, b" " * 65_536, b"/*" * 32_768, b"<" * 65_536, b"graph" * 13_000])
def test_the_beginning_of_a_file_is_looked_at_once(content):
    """Not once for each of its lines, which took many seconds."""
    Path("long.txt").write_bytes(content)
    start = time.process_time()
    format_of(Path("long.txt"))
    assert time.process_time() - start < 1


def test_graph6_and_sparse6_of_all_small_sizes():
    """Padding depends on the number of nodes: powers of 2 have a rule of their own in sparse6."""
    for n in range(2, 34):
        graph = nx.gnm_random_graph(n, min(n, n * (n - 1) // 2), seed=n)
        graph.add_edge(n - 2, n - 1)
        nx.write_sparse6(graph, "a.s6")
        nx.write_graph6(graph, "a.g6")
        for path in ("a.s6", "a.g6"):
            topology = build(path)
            assert (topology.nodes, arcs_by_name(topology)) == (n, arcs_of(graph)), (n, path)


def test_digraph6():
    """The example of nauty's description of the formats."""
    Path("a.d6").write_text("&DI?AO?\n")
    topology = build("a.d6")
    assert topology.nodes == 5
    assert arcs_by_name(topology) == Counter([("0", "2"), ("0", "4"), ("3", "1"), ("3", "4")])
