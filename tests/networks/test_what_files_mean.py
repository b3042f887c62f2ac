"""What files of known tools mean: comment signs, counts, missing numbers, what is not read; and advice that works.

Expected links are written by hand, or are those of a graph of networkx that the library itself wrote.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.topology import Topology

from tests.networks.test_file_formats import arcs_by_name, arcs_of

pytestmark = pytest.mark.usefixtures("in_a_temporary_folder")

SHARP = """\
switchguid=0x0001(0001)
Switch	41 "S-0001"		# "leaf-1" enhanced port 0 lid 1 lmc 0
[1]	"H-0011"[1](0011) 		# "nodeA mlx5_0" lid 11 4xHDR
[2]	"H-0012"[1](0012) 		# "nodeB mlx5_0" lid 12 4xHDR
[31]	"S-0003"[1] 		# "spine-1" lid 3 4xHDR
[41]	"H-00a0"[1](00a0) 		# "Mellanox Technologies Aggregation Node" lid 100 4xHDR

switchguid=0x0002(0002)
Switch	41 "S-0002"		# "leaf-2" enhanced port 0 lid 2 lmc 0
[1]	"H-0013"[1](0013) 		# "nodeC mlx5_0" lid 13 4xHDR
[2]	"H-0014"[1](0014) 		# "nodeD mlx5_0" lid 14 4xHDR
[31]	"S-0003"[2] 		# "spine-1" lid 3 4xHDR
[41]	"H-00a1"[1](00a1) 		# "{description}" lid 101 4xHDR

switchguid=0x0003(0003)
Switch	41 "S-0003"		# "spine-1" enhanced port 0 lid 3 lmc 0
[1]	"S-0001"[31] 		# "leaf-1" lid 1 4xHDR
[2]	"S-0002"[31] 		# "leaf-2" lid 2 4xHDR
"""
LIDS: dict[str | int, int] = {11: 11, 12: 12, 13: 13, 14: 14, "a0": 100, "a1": 101}  # of adapters
for number, name, switch, port in (
    *((11, "nodeA mlx5_0", 1, 1), (12, "nodeB mlx5_0", 1, 2), (13, "nodeC mlx5_0", 2, 1), (14, "nodeD mlx5_0", 2, 2)),
    *(("a0", "Mellanox Technologies Aggregation Node", 1, 41), ("a1", "{description}", 2, 41)),
):
    SHARP += (
        f'\ncaguid=0x00{number}\nCa	1 "H-00{number}"		# "{name}"\n'
        f'[1](00{number}) 	"S-000{switch}"[{port}]		# lid {LIDS[number]} lmc 0 "leaf-{switch}" lid {switch} 4xHDR\n'
    )
RING = "2 4\n1 3\n2 4\n1 3\n"
GEPHI = "Source,Target,Type,Id,Label,timeset,Weight\n" + "".join(
    f"{u},{v},{{}},{place},,,1.0\n" for place, (u, v) in enumerate(["ab", "bc", "cd", "da"])
)


def written(name: str, content: str | bytes, options: str = "") -> str:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return f'graph(path="{name}"{options})'


def both(*links: str) -> Counter[tuple[str, str]]:
    """Links without direction, as "a b"."""
    return arcs_of(nx.MultiGraph([tuple(link.split()) for link in links]))


def one_way(*links: str) -> Counter[tuple[str, str]]:
    return Counter(tuple(link.split()) for link in links)


def bandwidths(topology: Topology) -> dict[frozenset[str], Fraction]:
    """Of each link without direction, by the names of its ends."""
    names = topology.plan.names or range(topology.nodes)
    width = topology.plan.bandwidths or (Fraction(1),) * 128
    return {
        frozenset((str(names[u]), str(names[v]))): width[topology.link_class[u, port]]
        for u, v, port in zip(*(part.tolist() for part in topology.arcs))
    }


SWITCHED = both("h1 sw#1", "h2 sw#2", "x sw#1", "x sw#2")
CYCLE = both("1 2", "2 3", "3 4", "4 1")
PATH = both("0 1", "1 2", "2 3", "3 4")
SIGNS = "# and % within a field read as part of it"
LISTED = "h1 sw#1\nh2 sw#2\nx sw#1\nx sw#2\n"

# file | contents | parameters | links, by the names of their ends | what notes say
MEANT: list[tuple[str, str | bytes, str, Counter[tuple[str, str]], tuple[str, ...]]] = [
    # quotes and signs of comments
    ("hash4.csv", 'source,target\n"h1","sw#1"\n"h2","sw#2"\n"x","sw#1"\n"x","sw#2"\n', "", SWITCHED, ()),
    ("hash3.csv", 'source,target,latency\n"h1","sw#1",1\nh2,sw#2,1 # b\nx,sw#1,1\nx,sw#2,1\n', "", SWITCHED, (SIGNS,)),
    ("quoted.edges", LISTED.replace("sw#1", '"sw#1"').replace("sw#2", "'sw#2'"), "", SWITCHED, ()),
    ("hash2.edges", LISTED, "", SWITCHED, (f"{SIGNS}, as in sw#1: a comment begins after a blank",)),
    ("sign.adj", "x sw#1 sw#2\nh1 sw#1 # last\nh2 sw#2\n", "", SWITCHED, (SIGNS,)),
    ("end.edges", "a b # c d\n# e f\n% g h\nb c % d\n", "", both("a b", "b c"), ()),
    ("braces.edges", "a b {'name': 'x # y', 'bandwidth': 2}\nb c {'bandwidth': 2}\n", "", both("a b", "b c"),
     ("data of links not read: name",)),
    ("named.edges", "O'Brien \"d{1}\"\n'a b' O'Brien\n", "", Counter({
        ("O'Brien", "d{1}"): 1, ("d{1}", "O'Brien"): 1, ("a b", "O'Brien"): 1, ("O'Brien", "a b"): 1}), ()),
    ("frame.csv", ",sw#1,b\nsw#1,0,1\nb,1,0\n", "", both("sw#1 b"), (SIGNS,)),
    ("a.gml", 'graph [ node [ id 1 label "s#1" ] node [ id 2 label "t;%" ] edge [ source 1 target 2 ] ]', "",
     both("s#1 t;%"), ()),
    ("a.net", '*Vertices 2\n1 "s#1"\n2 "t%2"\n*Edges\n1 2\n', "", both("s#1 t%2"), ()),
    ("a.dot", 'graph { "s#1" -- "t//2"; // "x" -- "y"\n }', "", both("s#1 t//2"), ()),
    # counts in the first line
    ("metis-ring.graph", "4 4\n" + RING, "", CYCLE, ('read as metis, as its suffix says; format="edgelist" fits',)),
    ("ringc.graph", "% a ring\n4 4\n" + RING, "", CYCLE, ('read as metis',)),
    ("plain.txt", "4 3\n2 3 4\n1\n1\n1\n", "", both("1 2", "1 3", "1 4"), ()),
    ("alone.metis", "4 2\n2\n1 3\n2\n\n", "", both("1 2", "2 3"), ()),
    ("weighted.graph", "3 2 011 1\n7 2 4\n7 1 4 3 5\n7 2 5\n", ', weights="latency"', both("1 2", "2 3"),
     ("METIS not read: weights of nodes",)),
    ("sizes.graph", "3 2 100\n9 2\n9 1 3\n9 2\n", "", both("1 2", "2 3"), ("METIS not read: sizes of nodes",)),
    ("chaco.graph", "3 2 100\n3 2\n2 1 3\n1 2\n", "", both("1 2", "2 3"), ("read as its node, as in Chaco",)),
    ("nm.edges", "5 4\n0 1\n1 2\n2 3\n3 4\n", ", header=true", PATH, ()),
    ("nm.edges", "5 4\n0 1\n1 2\n2 3\n3 4\n", ", header=false", PATH + both("5 4"), ()),
    ("n.edges", "5\n0 1\n1 2\n2 3\n3 4\n", "", PATH, ("first line read as counts: 5 nodes, 4 links",)),
    ("w.edges", "5 4\n0 1 2\n1 2 2\n2 3 2\n3 4 2\n", ', weights="latency"', PATH, ("first line read as counts",)),
    ("five.edges", "9 4\n0 1\n1 2\n2 3\n3 4\n", ", header=true", PATH, ()),
    ("names.edges", "4 2\na b\nb c\n", "", both("a b", "b c"), ("first line read as counts", "1 of 4 nodes left out")),
    ("head.csv", "left,right\na,b\nb,c\n", ", header=true", both("a b", "b c"), ()),
    ("more.col", "p edge 3 1\ne 1 2\ne 2 3\n", "", both("1 2", "2 3"), ("the line p says 1 links, the file lists 2",)),
    ("twice.col", "p edge 3 2\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n", "", both("1 2", "2 3"), ("listed from both ends",)),
    ("snap.txt", "# Undirected graph: x\n# Nodes: 4 Edges: 2\n0\t1\n1\t2\n", "", both("0 1", "1 2"),
     ("its comment says 4 nodes, its links name 3",)),
    # Gephi's tables; the columns of a table without units and with tabs; an edge list with units that is not ns-3's
    ("gephid.csv", GEPHI.replace("{}", "Directed"), "", one_way("a b", "b c", "c d", "d a"), ("columns not read: Id",)),
    ("gephiu.csv", GEPHI.replace("{}", "Undirected"), "", both("a b", "b c", "c d", "d a"), ("columns not read: Id",)),
    ("kind.csv", "source,target,Type\na,b,fibre\nb,c,copper\n", "", both("a b", "b c"), ("columns not read: Type",)),
    ("says.csv", "u,v,directed\na,b,true\nb,c,True\n", "", one_way("a b", "b c"), ()),
    ("tabs.csv", "source\ttarget\tbandwidth\tlabel\na\tb b\t2\t\n", "", Counter([("a", "b b"), ("b b", "a")]), ()),
    ("rates.edges", "0 1 50Gbps 5ns\n1 2 50Gbps 5ns\n", "", both("0 1", "1 2"), ("1 flit a cycle is 50 Gb/s",)),
    # ns-3
    ("ns.txt", "3 1 2\n2\n0 2 8Gb/s 1us 0.000\n1 2 1GB/s 1us 0.01\n", "", both("0 2", "1 2"),
     ("ns-3 not read: error rates",)),
    # sections
    ("gap.net", '*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n\n*Edges\n1 2\n\n2 3\n', "", both("a b", "b c"), ()),
    ("part.net", "*Vertices 3\n*Edges\n1 2\n2 3\n*Partition x\n*Vertices 3\n1\n2\n1\n", "", both("1 2", "2 3"),
     ("sections not read: *Partition",)),
    ("sub.dot", "graph { edge [bandwidth=2]; subgraph { a -- b } b -- c }", "", both("a b", "b c"), ()),
    ("flow.max", "p max 3 2\nn 1 s\na 1 2 4\na 2 3 4\n", "", one_way("1 2", "2 3"), ("DIMACS not read: lines n",)),
    ("cost.dimacs", "p min 2 1\na 1 2 0 4 9\n", "", one_way("1 2"), ("DIMACS not read: least flows, costs",)),
    ("gaps.csv", ",a,b\na,,1\nb,1,\n", "", both("a b"), ("2 empty entries of the matrix read as no link",)),
    # contents before suffixes
    ("net.adj", "0 1 0 1\n1 0 1 0\n" * 2, "", both("0 1", "1 2", "2 3", "3 0"), ('format="adjlist" fits',)),
    ("cubic.adj", "0 1 2 3\n1 4 5 0\n2 4 5 0\n3 4 5 0\n", "", both(*(f"{u} {v}" for u in "123" for v in "045")), ()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "options", "links", "notes"), MEANT, ids=[row[0] for row in MEANT])
def test_a_file_means_what_its_tool_means(name, content, options, links, notes):
    topology = build(written(name, content, options))
    assert arcs_by_name(topology) == links
    said = "\n".join(topology.plan.notes)
    for note in notes:
        assert note in said
    unexpected = [note for note in topology.plan.notes if "not read" in note and not any(one in note for one in notes)]
    assert unexpected == []


def test_counts_bring_nodes_without_links():
    assert build(written("five.edges", "9 4\n0 1\n1 2\n2 3\n3 4\n", ", header=true")).nodes == 9
    assert build(written("alone.metis", "4 2\n2\n1 3\n2\n\n")).nodes == 4


def test_attributes_of_links_hold_within_subgraphs():
    topology = build(written("sub.dot", "graph { edge [bandwidth=2]; subgraph { edge [bandwidth=3] a -- b } b -- c }"))
    assert bandwidths(topology) == {frozenset("ab"): 3, frozenset("bc"): 2}


@pytest.mark.parametrize("description", ["Mellanox Technologies Aggregation Node", "Quantum 2", "SHARP AN"])
def test_aggregation_nodes_are_devices(description):
    """Told by their descriptions, or by a port beyond those of cables. Of 4 hosts, 2 a leaf: distances 2, 4, 4."""
    network = ts.network(written("sharp.ibnet", SHARP.replace("{description}", description)))
    topology = network.topology
    hosts = [topology.plan.names[node] for node in topology.terminals.tolist()]
    assert hosts == [f"node{letter} mlx5_0" for letter in "ABCD"]
    assert network.static().mean_distance_distinct == pytest.approx(10 / 3)
    assert topology.plan.hosts_end
    assert any(note.startswith("2 aggregation nodes of SHARP read as devices") for note in topology.plan.notes)
    assert {"leaf-1", "spine-1"} <= set(topology.plan.names)


# the port of each switch that leads to each LID
TABLES_OF_SWITCHES = {
    "leaf-1": {11: 1, 12: 2, 13: 31, 14: 31, 100: 41, 101: 31},
    "leaf-2": {11: 31, 12: 31, 13: 1, 14: 2, 100: 31, 101: 41},
    "spine-1": {11: 1, 12: 1, 13: 2, 14: 2, 100: 1, 101: 2},
}


def test_forwarding_tables_lead_past_aggregation_nodes():
    """Each host sends to itself over 0 links, to its neighbour over 2, to two over 4: 2.5 on average."""
    Path("sharp.ibnet").write_text(SHARP.replace("{description}", "Aggregation Node"))
    text = ""
    for number, (switch, ports) in enumerate(TABLES_OF_SWITCHES.items(), 1):
        text += f"Unicast lids [0x0-0x65] of switch Lid {number} guid 0x{number:016x} ({switch}):\n  Lid  Out\n"
        text += "".join(
            f"0x{lid:04x} {port:03d} : (Channel Adapter portguid 0x1: 'x')\n" for lid, port in ports.items()
        )
    Path("lfts.txt").write_text(text)
    network, routing = ts.network("sharp.ibnet"), 'table(path="lfts.txt")'
    assert network.loads(routing=routing).mean_hops == pytest.approx(2.5)
    assert network.deadlock(routing=routing).acyclic


# file | contents | parameters | words that refuse it
REFUSED: list[tuple[str, str | bytes, str, str]] = [
    ("nodes.csv", "Id,Label,timeset\na,A,\nb,B,\n", "", "expected a table of links, got Gephi's table of nodes"),
    ("open.csv", 'source,target\n"a,b\n', "", "open.csv:2: expected a closing quote"),
    ("semi.edges", "; links\n0 1\n", "", "semi.edges:1: expected comments that begin with # or %"),
    ("slash.adj", "// links\n0 1\n", "", "slash.adj:1: expected comments that begin with # or %"),
    ("mixed.csv", GEPHI.replace("{}", "Directed", 1).replace("{}", "Undirected"), "", "got both; write an undirected"),
    ("untold.csv", GEPHI.replace("{}", "Directed", 1).replace("{}", ""), "", "expected a direction in every row"),
    ("three.edges", "5 4\n0 1\n1 2\n", ", header=true", "expected 4 links after the first line, as it says, got 2"),
    ("few.edges", "2 2\n0 1\n1 2\n", ", header=true", "expected 2 nodes, as the first line says, got node 2"),
    ("a.graph", "4 5\n" + RING, "", "expected 5 links, as the first line says, each at both its nodes, got 8"),
    ("b.graph", "4 4\n2 4\n1 3\n2 4\n", "", "expected 4 lines of neighbours, as the first line says, got 3"),
    ("c.graph", "3 2\n2\n1\n2 2\n", "", "expected each link at both of its nodes"),
    ("d.graph", "2 1 001\n2 5\n1 6\n", "", "expected each link at both of its nodes, and alike"),
    ("e.graph", "2 1\n2\n7\n", "", "e.graph:3: expected neighbours 1 … 2, got '7'"),
    ("f.graph", "2 1 7\n2\n1\n", "", "expected a format of up to three digits 0 or 1"),
    ("cut.col", "p edge 3 3\ne 1 2\ne 2 3\n", "", "expected 3 links, as the line p says, got 2"),
    ("cut.txt", "# Directed graph: x\n# Nodes: 3 Edges: 9\n0 1\n1 2\n", "", "9 links, as its comment says, got 2"),
    ("cut.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n", "", "cut.mtx: expected a matrix"),
    ("two.net", "*Network A\n*Vertices 2\n*Edges\n1 2\n*Network B\n*Vertices 2\n*Edges\n1 2\n", "", "got 2; keep one"),
    ("ragged.edges", "0 1 5\n1 2\n", "", "ragged.edges:2: expected two nodes and a weight (a number), as on the lines"),
    ("h.gml", "graph [ ]", ", header=true", 'expected header for an edge list only, got gml; leave it out'),
    ("none.edges", "0 1\n1 2\n", ', weights="cost"', "expected a file with weights of links, got none"),
    ("ring.txt", "4 4\n" + RING, "", 'got contents that fit format="metis" and format="edgelist"'),
    ("spoilt.gml", "a b\nb c\n", "", '; if it is not gml, say format="edgelist"'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "options", "words"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_does_not_fit_is_refused(name, content, options, words):
    with pytest.raises(BadInput) as refusal:
        build(written(name, content, options))
    assert words in str(refusal.value)
    assert str(refusal.value).startswith(name)
    assert "\n" not in str(refusal.value)


# --- missing and unknown numbers, and what is not read, in every format that has attributes -----------------


def as_csv(graph: nx.Graph) -> str:
    nx.to_pandas_edgelist(graph).to_csv("a.csv", index=False)
    return "a.csv"


def as_parquet(graph: nx.Graph) -> str:
    rows = [{"source": u, "target": v, **data} for u, v, data in graph.edges(data=True)]
    pq.write_table(pa.Table.from_pylist(rows, schema=_schema(rows)), "a.parquet")
    return "a.parquet"


def _schema(rows: list[dict[str, Any]]) -> pa.Schema:
    """Every column of any row; texts where any value is one."""
    kinds = {key: pa.float64() for row in rows for key in row}
    for row in rows:
        kinds |= {key: pa.string() for key, value in row.items() if isinstance(value, str)}
    return pa.schema(kinds)


def as_json(graph: nx.Graph) -> str:
    Path("a.json").write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
    return "a.json"


def as_dot(graph: nx.Graph) -> str:
    def data(given: dict[str, Any]) -> str:
        return " [" + ", ".join(f'{key}="{value}"' for key, value in given.items()) + "]" if given else ""

    lines = [f"{key}={value}" for key, value in graph.graph.items()]
    lines += [f'"{node}"{data(given)}' for node, given in graph.nodes(data=True)]
    lines += [f'"{u}" -- "{v}"{data(given)}' for u, v, given in graph.edges(data=True)]
    Path("a.dot").write_text("graph {\n" + ";\n".join(lines) + "\n}")
    return "a.dot"


def by_networkx(write: Any, name: str) -> Any:
    def written_as(graph: nx.Graph) -> str:
        write(graph, name)
        return name

    return written_as


ATTRIBUTES = {
    "csv": as_csv,
    "parquet": as_parquet,
    "json": as_json,
    "dot": as_dot,
    "graphml": by_networkx(nx.write_graphml, "a.graphml"),
    "gexf": by_networkx(nx.write_gexf, "a.gexf"),
    "gml": by_networkx(nx.write_gml, "a.gml"),
    "edgelist": by_networkx(nx.write_edgelist, "a.edges"),
}
TABLES = ("csv", "parquet", "edgelist")  # of links, which hold no other data


def ring(**values: Any) -> nx.Graph:
    """A ring of four with an attribute of links, which the last link has not."""
    graph = nx.cycle_graph(["a", "b", "c", "d"])
    for name, value in values.items():
        nx.set_edge_attributes(graph, dict.fromkeys(list(graph.edges)[:-1], value), name)
    return graph


@pytest.mark.parametrize("format", ATTRIBUTES)
def test_a_missing_number_is_noted_or_refused(format):
    write = ATTRIBUTES[format]
    topology = build(write(ring(bandwidth=2.0)))
    assert "1 link without bandwidth, taken as 1 flit a cycle" in topology.plan.notes
    assert Counter(bandwidths(topology).values()) == {2: 3, 1: 1}
    with pytest.raises(BadInput, match=r"expected a bandwidth of every link, got 1 link without"):
        build(write(ring(bandwidth="2 Gb/s")))
    with pytest.raises(BadInput, match="expected a weight of every link, got 1 link without"):
        build(f'graph(path="{write(ring(weight=2.0))}", weights="cost")')


@pytest.mark.parametrize("format", ATTRIBUTES)
@pytest.mark.parametrize("unknown", ["N/A", "-", "none", "nan", "?"])
def test_an_unknown_number_is_refused(format, unknown):
    graph = ring(bandwidth="2.0")
    graph.edges["d", "a"]["bandwidth"] = unknown
    with pytest.raises(BadInput, match="bandwidth"):
        build(ATTRIBUTES[format](graph))


def test_null_and_nan():
    """A null of Parquet is missing; null and NaN of JSON, and NaN of Parquet, are no numbers."""
    links = {"source": [0, 1, 2, 3], "target": [1, 2, 3, 0]}
    for values, said in (([2.0, 2.0, None, 2.0], None), ([2.0, 2.0, float("nan"), 2.0], "got nan")):
        sink = io.BytesIO()
        pq.write_table(pa.table({**links, "bandwidth": values}), sink)
        spelling = written("bw.parquet", sink.getvalue())
        if said is None:
            assert "1 link without bandwidth, taken as 1 flit a cycle" in build(spelling).plan.notes
            continue
        with pytest.raises(BadInput, match=said):
            build(spelling)
    for value in ("null", "NaN"):
        text = '{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, "bandwidth": VALUE}]}'
        with pytest.raises(BadInput, match=f"got {value}"):
            build(written("a.json", text.replace("VALUE", value)))


@pytest.mark.parametrize("format", [name for name in ATTRIBUTES if name not in TABLES])
def test_nodes_without_a_number_of_terminals_are_noted(format):
    graph = nx.path_graph(["a", "b", "c"])
    nx.set_node_attributes(graph, {"a": 2, "c": 1}, "terminals")
    topology = build(ATTRIBUTES[format](graph))
    names = topology.plan.names
    assert [names[node] for node in topology.terminals.tolist()] == ["a", "a", "c"]
    assert "1 node without a number of terminals, taken as 0" in topology.plan.notes


@pytest.mark.parametrize("format", ATTRIBUTES)
def test_one_note_names_what_is_not_read(format):
    graph = nx.cycle_graph(["a", "b", "c"])
    nx.set_edge_attributes(graph, "red", "colour")
    nx.set_edge_attributes(graph, 3, "lanes")
    if format not in TABLES:
        nx.set_node_attributes(graph, 7, "floor")
    if format not in (*TABLES, "gexf"):
        graph.graph["region"] = "north"
    notes = [note for note in build(ATTRIBUTES[format](graph)).plan.notes if "not read" in note]
    assert len(notes) == 1
    named = {"colour", "lanes"} | ({"floor"} if format not in TABLES else set())
    named |= {"region"} if format not in (*TABLES, "gexf") else set()
    assert set(re.findall(r"\b(?:colour|lanes|floor|region)\b", notes[0])) == named


# --- weights -----------------------------------------------------------------------------------------------

OSPF = (
    '<graphml><key id="w" for="edge" attr.name="weight" attr.type="int"/><graph edgedefault="undirected"><node id="0"/>'
    '<node id="1"/><node id="2"/><edge source="0" target="1"><data key="w">1</data></edge><edge source="1" target="2">'
    '<data key="w">1</data></edge><edge source="0" target="2"><data key="w">10</data></edge></graph></graphml>'
)


def test_what_weights_mean_is_what_was_said():
    """1, 1 and 10 as bandwidths, as latencies, as costs, as nothing."""
    Path("ospf.graphml").write_text(OSPF)
    plan = {by: build(f'graph(path="ospf.graphml", weights="{by}")') for by in ("bandwidth", "latency", "cost", "none")}
    assert sorted(bandwidths(plan["bandwidth"]).values()) == [1, 1, 10]
    assert sorted(plan["latency"].latency[plan["latency"].ports >= 0].tolist()) == [1, 1, 1, 1, 10, 10]
    cost = plan["cost"]
    assert cost.weight is not None
    assert {(u, v): cost.weight[u, p] for u, v, p in zip(*(part.tolist() for part in cost.arcs))} == {
        **{(0, 1): 1, (1, 0): 1, (1, 2): 1, (2, 1): 1},
        **{(0, 2): 10, (2, 0): 10},
    }
    assert plan["none"].weight is None
    assert not plan["none"].plan.bandwidths


def test_graphs_in_memory_miss_numbers_alike():
    network = ts.network(ring(bandwidth=2.0))
    assert "1 link without bandwidth, taken as 1 flit a cycle" in network.notes
    with pytest.raises(BadInput, match="expected a bandwidth of every link, got 1 link without"):
        ts.network(ring(bandwidth="2 Gb/s"))
