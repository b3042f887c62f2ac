"""Any spelling of a network, any graph file: refused in a line, or the right number of nodes and links."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from tests.faults.command_line import settled, torusweep
from tests.faults.inputs.any_bytes import CHANGES, Properties, changed, mixed

# --- topologies ----------------------------------------------------------------------------------

NAMES = [
    "ring",
    "torus",
    "mesh",
    "hypercube",
    "pruned_torus",
    "directed_torus",
    "rtt",
    "pt",
    "twisted_torus",
    "lattice",
    "ccc",
    "mh3dt",
    "graph",
    "x",
]
VALUES = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "-1",
    "1e308",
    "nan",
    "true",
    "[2, 3]",
    "[[2, 0], [0, 2]]",
    "{1: {0: 2}}",
    '"a\\u0000b"',
    '"\\ud800"',
    "split",
]
ARGUMENTS = st.tuples(
    st.sampled_from(["k", "n", "a", "m", "radices", "matrix", "twists", "levels", "q", "path", "links", "x"]),
    st.sampled_from(VALUES),
)
SPELLINGS = st.recursive(
    st.tuples(st.sampled_from(NAMES), st.lists(ARGUMENTS.map("=".join), max_size=3)).map(
        lambda parts: f"{parts[0]}({', '.join(parts[1])})"
    ),
    lambda inner: st.tuples(inner, st.lists(ARGUMENTS.map("=".join), max_size=2)).map(
        lambda parts: f"faulty({', '.join([parts[0], *parts[1]])})"
    ),
    max_leaves=2,
)


def a_topology(spelling: str) -> None:
    assume(not spelling.startswith("-"))  # an option
    said = torusweep("describe", spelling, "--json")
    if settled(said):
        record = json.loads(said.out, parse_constant=pytest.fail)
        assert json.loads(torusweep("describe", record["topology"], "--json").out) == record, (
            "the canonical spelling is another network"
        )
        assert sum(record["distance_histogram"]) <= record["terminals"] ** 2


# --- graph files ---------------------------------------------------------------------------------


def a_graph(content: bytes) -> None:
    for suffix in ("edges", "adjlist", "graphml", "anynet", "json", "parquet"):
        Path(f"any.{suffix}").write_bytes(content)
        said = torusweep("describe", f'graph(path="any.{suffix}")', "--json")
        if settled(said) and suffix == "edges":
            record = json.loads(said.out)
            if not content.lstrip().startswith(b"<"):  # XML is told by its contents, and has properties of its own
                assert (record["nodes"], record["links"], record["components"]) == plainly(content)


def plainly(content: bytes) -> tuple[int, int, int]:
    """(nodes, links, components) of an edge list, by a plain loop and networkx."""
    times: Counter[tuple[str, str]] = Counter()
    graph = nx.Graph()
    named = False
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        words = line.decode().split("#")[0].split("%")[0].replace(",", " ").split()
        if words:
            words = words[:2] if words[2:] and words[2].startswith("{") else words
            if not graph:  # the first line decides
                named = not all(word[0].isdigit() for word in words)
            tail, head = (word if named else str(int(word)) for word in words)
            graph.add_edge(tail, head)
            times[tail, head] += tail != head
    links = sum(max(times[tail, head], times[head, tail]) for tail, head in graph.edges if tail != head)
    return len(graph), links, nx.number_connected_components(graph)


PAIRS = st.lists(st.tuples(*[st.integers(0, 7) | st.integers(0, 2**62 - 1)] * 2), min_size=1, max_size=12)
EDGES = PAIRS.map(lambda pairs: "".join(f"{tail} {head}\n" for tail, head in pairs).encode())
# node-link JSON of anything, and of something close to a graph
SMALL = st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["a", "b", "\ud800", 1e308, 2**40])
NODES = st.dictionaries(st.sampled_from(["id", "endpoints", "x"]), SMALL, max_size=3)
LINKS = st.dictionaries(
    st.sampled_from(["source", "target", "port", "target_port", "link_class", "multiplicity"]), SMALL, max_size=6
)
DOCUMENTS = st.dictionaries(
    st.sampled_from(["nodes", "links", "edges", "graph", "directed"]),
    SMALL
    | st.lists(NODES | LINKS | SMALL, max_size=5)
    | st.dictionaries(st.sampled_from(["terminals", "ports", "classes"]), SMALL | st.lists(SMALL, max_size=3)),
    max_size=5,
).map(lambda document: json.dumps(document).encode())
# GraphML with the data that torusweep reads
KEYED = st.lists(
    st.sampled_from(
        [
            '<node id="a"/>',
            '<node id="b"><data key="endpoints">{}</data></node>',
            '<edge source="a" target="b"><data key="port">{}</data><data key="target_port">{}</data></edge>',
            '<edge source="b" target="a"><data key="multiplicity">{}</data></edge>',
            '<data key="terminals">{}</data>',
            '<data key="ports">{}</data>',
            '<data key="classes">{}</data>',
        ]
    ),
    max_size=6,
).flatmap(
    lambda parts: st.lists(
        st.sampled_from(["0", "1", "2.0", "-1", "a", "a b", "[1", '["x"]', "9" * 12, ""]), min_size=8, max_size=8
    ).map(lambda values: KEYS + "".join(part.format(*values) for part in parts) + "</graph></graphml>")
)
KEYS = "<graphml>" + "".join(
    f'<key id="{name}" for="{of}" attr.name="{name}" attr.type="long"/>'
    for of, names in (
        ("edge", ("port", "target_port", "multiplicity")),
        ("node", ("endpoints",)),
        ("graph", ("terminals", "ports", "classes")),
    )
    for name in names
)
KEYS += '<graph edgedefault="undirected">'
GRAPHS = (
    EDGES
    | DOCUMENTS
    | KEYED.map(str.encode)
    | mixed(
        *(
            b"0",
            b"1",
            b"2",
            b"-1",
            b"1.5",
            b"9223372036854775807",
            b",",
            b"#",
            b"\xef\xbb\xbf",
            b"\r",
            b"router ",
            b"node ",
            "²".encode(),
        ),
        *(
            b"<graphml>",
            b'<graph edgedefault="directed">',
            b'<node id="a"/>',
            b'<edge source="a" target="b"/>',
            b"</graph>",
            b"</graphml>",
        ),
        *(b'<!DOCTYPE x [<!ENTITY y "z">]>', b"&y;", b'<?xml version="1.0" encoding="utf-16"?>'),
        *(b'{"nodes": [', b'{"id": ', b'], "links": [', b'{"source": 0, "target": 1', b"}", b"]", b"[" * 3000),
    )
)
GRAPH_TABLE = io.BytesIO()
TRIANGLE = pa.table({"source": [0, 1, 2], "target": [1, 2, 0], "port": [0, 0, 0], "target_port": [1, 1, 1]})
ABOUT = {"nodes": "4", "directed": "false", "ports": "2", "terminals": "[0, 3, 1]", "classes": '["x"]'}
pq.write_table(TRIANGLE.replace_schema_metadata(ABOUT), GRAPH_TABLE)


def damaged_graph(changes: list[tuple[int, int]]) -> None:
    """As `damaged_demands`: what a checksum of another program does not cover may be read otherwise."""
    Path("any.parquet").write_bytes(changed(GRAPH_TABLE.getvalue(), changes))
    settled(torusweep("describe", "any.parquet", "--json"))


PROPERTIES: Properties = {
    "topology": (SPELLINGS | st.text(max_size=40).filter(lambda text: "\x00" not in text), a_topology, 1),
    "graph": (GRAPHS, a_graph, 1),
    "damaged graph": (CHANGES, damaged_graph, 1),
}
