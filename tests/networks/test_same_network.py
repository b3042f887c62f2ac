"""The same network in every format, with its lines permuted and its nodes renamed; and a format under any suffix."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy
from torusweep.errors import BadInput
from torusweep.interchange import export
from torusweep.networks.families import build
from torusweep.networks.readers import FORMATS, SUFFIXES, told_of

from tests.networks.test_file_formats import FABRIC, arcs_by_name, arcs_of
from tests.networks.test_what_files_mean import as_dot, as_parquet, bandwidths
from tests.networks.tool_files import FILES

pytestmark = pytest.mark.usefixtures("in_a_temporary_folder")


Write = Callable[[nx.Graph], str]


def by(write: Callable[..., Any], name: str, **how: Any) -> Write:
    """A function of networkx that writes a graph."""

    def written(graph: nx.Graph) -> str:
        write(graph, name, **how)
        return name

    return written


def lines(name: str, head: Callable[[nx.Graph], str], line: Callable[..., str]) -> Write:
    """A head, and a line for each link."""

    def written(graph: nx.Graph) -> str:
        body = "".join(line(u, v, data.get("bandwidth")) + "\n" for u, v, data in graph.edges(data=True))
        Path(name).write_text(head(graph) + body)
        return name

    return written


def matrix(save: Callable[[str, Any], Any], name: str) -> Write:
    """Weights are bandwidths."""

    def written(graph: nx.Graph) -> str:
        save(name, nx.to_numpy_array(graph, range(len(graph)), weight="bandwidth"))
        return name

    return written


def in_order(graph: nx.Graph) -> nx.Graph:
    same = nx.empty_graph(len(graph))
    same.add_edges_from(graph.edges)
    return same


def as_metis(graph: nx.Graph) -> str:
    rows = [" ".join(f"{v + 1} {graph.edges[u, v]['bandwidth']}" for v in graph[u]) for u in range(len(graph))]
    Path("a.graph").write_text("\n".join([f"{len(graph)} {graph.size()} 1", *rows, ""]))
    return "a.graph"


def as_pajek(graph: nx.Graph) -> str:
    place = {node: number for number, node in enumerate(graph, 1)}
    nodes = "".join(f'{number} "{node}"\n' for node, number in place.items())
    links = "".join(f"{place[u]} {place[v]} {data['bandwidth']}\n" for u, v, data in graph.edges(data=True))
    Path("a.net").write_text(f"*Vertices {len(graph)}\n{nodes}*Edges\n{links}")
    return "a.net"


def as_json(graph: nx.Graph) -> str:
    Path("a.json").write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
    return "a.json"


def exported(name: str) -> Write:
    """What `torusweep export` writes of what it read from GraphML."""

    def written(graph: nx.Graph) -> str:
        nx.write_graphml(graph, "first.graphml")
        export(build("first.graphml"), name, f"out.{name}")
        return f"out.{name}"

    return written


NUMBER = "numbers"  # nodes 0 … N − 1 only
WEIGHTS = "weights"  # bandwidths are weights, which must be said
PLAIN = "plain"  # no bandwidths
FROM_1 = "from 1"  # nodes are 1 … N
# format | writes a graph | what it does not hold
WRITERS: dict[str, tuple[Write, set[str]]] = {
    "edgelist": (by(nx.write_edgelist, "a.edges"), set()),
    "csv": (lines("a.csv", lambda g: "target,bandwidth,source\n", lambda u, v, b: f"{v},{b},{u}"), set()),
    "ncol": (lines("a.ncol", lambda g: "", lambda u, v, b: f"{u} {v} {b}"), {WEIGHTS}),
    "units": (lines("b.edges", lambda g: "", lambda u, v, b: f"{u} {v} {b}Gb/s"), set()),
    "adjlist": (by(nx.write_adjlist, "a.adjlist"), {PLAIN}),
    "snap": (lines("a.txt", lambda g: "# Undirected graph: a\n", lambda u, v, b: f"{u}\t{v}"), {PLAIN, NUMBER}),
    "graphml": (by(nx.write_graphml, "a.graphml"), set()),
    "gexf": (by(nx.write_gexf, "a.gexf"), set()),
    "gml": (by(nx.write_gml, "a.gml"), set()),
    "dot": (as_dot, set()),
    "networkx-json": (as_json, set()),
    "parquet": (as_parquet, set()),
    "pajek": (as_pajek, {WEIGHTS}),
    "metis": (as_metis, {WEIGHTS, NUMBER, FROM_1}),
    "dimacs": (
        lines(
            "a.gr",
            lambda g: f"p sp {len(g)} {2 * g.size()}\n",
            lambda u, v, b: f"a {u + 1} {v + 1} {b}\na {v + 1} {u + 1} {b}",
        ),
        {WEIGHTS, NUMBER, FROM_1},
    ),
    "graph6": (by(lambda g, name: nx.write_graph6(in_order(g), name), "a.g6"), {PLAIN, NUMBER}),
    "matrix-market": (
        matrix(lambda name, m: scipy.io.mmwrite(name, scipy.sparse.coo_array(m)), "a.mtx"),
        {WEIGHTS, NUMBER},
    ),
    "npy": (matrix(np.save, "a.npy"), {WEIGHTS, NUMBER}),
    "npz": (matrix(lambda name, m: scipy.sparse.save_npz(name, scipy.sparse.csr_array(m)), "a.npz"), {WEIGHTS, NUMBER}),
    "matrix": (matrix(np.savetxt, "b.txt"), {WEIGHTS, NUMBER}),
    "export graphml": (exported("graphml"), set()),
    "export json": (exported("networkx-json"), set()),
    "export parquet": (exported("parquet"), set()),
}


def drawn(seed: int) -> nx.Graph:
    """A connected graph of up to 11 nodes 0 … N − 1, with bandwidths 1 … 4 of its links, its lines in any order."""
    chance = random.Random(seed)
    size = chance.randint(4, 11)
    ends = {frozenset((node, chance.randrange(node))) for node in range(1, size)}
    ends |= {frozenset(chance.sample(range(size), 2)) for _ in range(size)}
    links = [tuple(chance.sample(sorted(pair), 2)) for pair in ends]
    graph = nx.Graph()
    graph.add_nodes_from(chance.sample(range(size), size))
    graph.add_edges_from((u, v, {"bandwidth": chance.randint(1, 4)}) for u, v in chance.sample(links, len(links)))
    graph.edges[links[0]]["bandwidth"], graph.edges[links[1]]["bandwidth"] = 1, 3  # not all alike
    return graph


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("seed", range(6))
def test_a_network_is_the_same_in_every_format(format, seed):
    """Links, by the names of their ends, and their bandwidths, up to the unit: the least is 1 where they have units."""
    write, lacks = WRITERS[format]
    graph = drawn(seed)
    if NUMBER not in lacks and seed % 2:
        graph = nx.relabel_nodes(graph, {node: f"n{7 * node % 11}_{node}" for node in graph})
    name = write(graph)
    topology = build(f'graph(path="{name}", weights="bandwidth")' if WEIGHTS in lacks else name)
    meant = nx.relabel_nodes(graph, {node: node + 1 for node in graph}) if FROM_1 in lacks else graph
    assert arcs_by_name(topology) == arcs_of(meant)
    if PLAIN not in lacks:
        wide = {frozenset(map(str, (u, v))): width for u, v, width in meant.edges(data="bandwidth")}
        assert bandwidths(topology) == wide


# --- a format under the suffix of any other ------------------------------------------------------------------

RING4 = "4 4\n2 4\n1 3\n2 4\n1 3\n"
SAMPLES = {
    "edgelist": "0 1\n1 2\n2 0\n0 3\n",
    "adjlist": "0 1 2\n1 2\n2 3 4 5\n",
    "graphml": '<graphml><graph edgedefault="undirected"><node id="0"/><node id="1"/><edge source="0" target="1"/>'
    "</graph></graphml>",
    "anynet": "router 0 node 0 router 1\nrouter 1 node 1\n",
    "networkx-json": '{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}',
    "gexf": '<gexf><graph><nodes><node id="0"/><node id="1"/></nodes><edges><edge source="0" target="1"/></edges>'
    "</graph></gexf>",
    "gml": "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]",
    "pajek": "*Vertices 3\n*Edges\n1 2\n2 3\n",
    "matrix-market": "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
    "dot": "graph { 0 -- 1 }",
    "graph6": "IheA@GUAo\n",
    "dimacs": "p edge 3 2\ne 1 2\ne 2 3\n",
    "matrix": "0 1 0 1\n1 0 1 0\n0 1 0 1\n1 0 1 0\n",
    "metis": "5 5\n2 5 3\n1\n1 4\n3 5\n1 4\n",
    "snap": "# Undirected graph: x\n0\t1\n1\t2\n",
    "ns3": "3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n",
    "ibnetdiscover": FABRIC,
    **{file.format: file.text for file in FILES},
}


BY_SUFFIX_ALONE = {"lgl", "sif"}  # signs that begin comments elsewhere; lines of words alone


def binary(name: str) -> bytes:
    if name == "npy":
        np.save("x.npy", nx.to_numpy_array(nx.path_graph(3)))
    elif name == "npz":
        np.savez("x.npz", nx.to_numpy_array(nx.path_graph(3)))
    else:
        pq.write_table(pa.table({"source": [0, 1], "target": [1, 2]}), "x.parquet")
    return Path(f"x.{name}").read_bytes()


@pytest.mark.parametrize("format", FORMATS)
def test_contents_tell_a_format_under_any_suffix(format):
    """Else the refusal names both, or a note, where the suffix chose."""
    content = SAMPLES[format].encode() if format in SAMPLES else binary(format)
    own = next((file.name for file in FILES if file.format == format), "own.unknown")
    Path(own).write_bytes(content)
    meant = arcs_by_name(build(f'graph(path="{own}", format="{format}", weights="none")'))
    wrong = []
    for suffix in {*SUFFIXES, ".txt", ".dat"}:
        path = Path(f"x{suffix}")
        path.write_bytes(content)
        told = told_of(path)
        if told.name == format:
            continue
        try:
            topology = build(f'graph(path="{path}", weights="none")')
        except BadInput as refusal:
            if format not in (*re.findall(r"[\w-]+", str(refusal)), *BY_SUFFIX_ALONE) and told.name is not None:
                wrong.append(str(refusal))
        else:
            named = any(f'format="{format}"' in note for note in topology.plan.notes)
            same = named or arcs_by_name(topology) == meant or format in BY_SUFFIX_ALONE
            wrong += [] if same else [f"{path}: read as {told.name}"]
    assert wrong == []


def test_every_format_has_a_sample():
    assert FORMATS.keys() - SAMPLES.keys() == {"npy", "npz", "parquet"}


def test_two_formats_that_fit_are_both_named():
    Path("ring.txt").write_text(RING4)
    with pytest.raises(BadInput, match='format="metis" and format="edgelist"'):
        build("ring.txt")
    for suffix, others in ((".graph", ("edgelist",)), (".edges", ("metis",))):
        Path(f"ring{suffix}").write_text(RING4)
        assert told_of(Path(f"ring{suffix}")).others == others
