"""Write networks in the formats of graph libraries: GraphML, node-link JSON, edge lists, Parquet.

GraphML holds the properties of links as data, which networkx, igraph and Gephi also read.

Source: http://graphml.graphdrawing.org, the primer; the keys are those of `torusweep.networks.families.graph_graphml`.
SST's Merlin reads the number of terminals of a node from the key `endpoints`.

Node-link JSON is written as networkx.node_link_data(graph, edges="edges") makes it. An edge list has two nodes per
line, as networkx.write_edgelist(data=False) writes it; a .csv file has commas and a heading.

Source: the documentation of networkx 3.6, reading and writing graphs, "JSON" and "Edge List"; the properties of links
and nodes in JSON are those of `torusweep.networks.families.graph_json`.

Parquet has a row for each link; it suits pandas, Polars, DuckDB and Spark, and networks of millions of links.

Source: ours; the columns and the file's metadata are those of `torusweep.networks.families.graph_parquet`.
"""

from __future__ import annotations

import json
from io import SEEK_END, BytesIO
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
import pyarrow.csv

from torusweep.errors import printable
from torusweep.interchange.formats import Format, are_words, ids_of, in_node_order, links_of, one_each, terminal_counts
from torusweep.networks.names import column_of
from torusweep.networks.topology import Topology
from torusweep.tables.parquet import parquet
from torusweep.tables.store import publish

GRAPHML_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""
EDGE_LIST_HEADING = b"source,target\n"  # Arrow would put the names in quotes


def graphml_text(topology: Topology) -> str:
    """Return a network as the text of a GraphML document."""
    links, ids = links_of(topology), ids_of(topology)
    if not in_node_order(topology) and any(
        node.split() != [node] for node in ids
    ):  # a list of terminals has blanks between the nodes' names
        ids = list(map(str, range(topology.nodes)))
    numbers = links.numbers()
    of_graph = {
        "name": printable(topology.spelling),
        "ports": str(topology.ports.shape[1]),
        "classes": json.dumps(topology.plan.classes),
    }
    if not in_node_order(topology):
        of_graph["terminals"] = " ".join(ids[node] for node in topology.terminals.tolist())
    keys = [("graph", name, "string") for name in of_graph]
    keys += [("node", "endpoints", "long"), *(("edge", name, _type(column)) for name, column in numbers.items())]
    lines = [f'<key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>' for of, name, kind in keys]
    lines.append(f'<graph edgedefault="{"directed" if topology.directed else "undirected"}">')
    lines += [f'<data key="{name}">{escape(value)}</data>' for name, value in of_graph.items()]
    lines += [
        f'<node id={quoteattr(node)}><data key="endpoints">{count}</data></node>'
        for node, count in zip(ids, terminal_counts(topology).tolist())
    ]
    form = "".join(f'<data key="{name}">%s</data>' for name in numbers)
    quoted = list(map(quoteattr, ids))
    ends = ([quoted[node] for node in column.tolist()] for column in (links.source, links.target))
    rows = zip(*ends, *(column.tolist() for column in numbers.values()))
    lines += [f"<edge source=%s target=%s>{form}</edge>" % row for row in rows]
    return GRAPHML_HEAD + "\n".join([*lines, "</graph>", "</graphml>", ""])


def _type(column: np.ndarray) -> str:
    """Return the GraphML type of a column of links' properties."""
    return {"U": "string", "f": "double"}.get(column.dtype.kind, "long")


def write_graphml(topology: Topology, path: Path) -> list[Path]:
    """Write a network as a GraphML document, and return the file's path in a list."""
    publish(path, graphml_text(topology).encode())
    return [path]


GRAPHML = Format(
    "XML of networkx, igraph, Gephi and yEd",
    ".graphml",
    frozenset({"ports", "classes", "parallel", "directions", "terminals", "terminal order", "isolated nodes"})
    | {"bandwidths", "latencies", "units", "names"},
    write_graphml,
    lambda files: f"torusweep describe {files[0]}",
)


def node_link_text(topology: Topology) -> str:
    """Return a network as the text of a node-link JSON document, with a line for each node and link."""
    links, names = links_of(topology), topology.plan.names or range(topology.nodes)
    ids = [json.dumps(name) if isinstance(name, int | str) else json.dumps(str(name)) for name in names]
    numbers = links.numbers()
    graph = {"name": topology.spelling, "ports": topology.ports.shape[1], "classes": list(topology.plan.classes)}
    if not in_node_order(topology):
        graph["terminals"] = [names[node] for node in topology.terminals.tolist()]
    nodes = [f'{{"id": {node}, "endpoints": {count}}}' for node, count in zip(ids, terminal_counts(topology).tolist())]
    form = "".join(f', "{name}": %s' for name in numbers)
    ends = ([ids[node] for node in column.tolist()] for column in (links.source, links.target))
    rows = zip(*ends, *(map(json.dumps, column.tolist()) for column in numbers.values()))
    edges = [f'{{"source": %s, "target": %s{form}}}' % row for row in rows]
    head = f'"directed": {json.dumps(topology.directed)}, "multigraph": false, "graph": {json.dumps(graph)}'
    separator = ",\n"
    return f'{{{head},\n"nodes": [\n{separator.join(nodes)}\n],\n"edges": [\n{separator.join(edges)}\n]}}\n'


def write_node_link(topology: Topology, path: Path) -> list[Path]:
    """Write a network as a node-link JSON document, and return the file's path in a list."""
    publish(path, node_link_text(topology).encode())
    return [path]


NODE_LINK = Format(
    'node-link JSON: networkx.node_link_graph(data, edges="edges")',
    ".json",
    GRAPHML.holds,
    write_node_link,
    lambda files: f"torusweep describe {files[0]}",
)


def write_edge_list(topology: Topology, path: Path) -> list[Path]:
    """Write an edge list, in which parallel links have a line each; return the file's path in a list.

    Nodes without names are numbered as a reader numbers them: nodes without links are left out.
    """
    ends = np.stack(links_of(topology).repeated())
    names = topology.plan.names if are_words(topology) else None
    source, target = ends if names is not None else np.unique(ends, return_inverse=True)[1].reshape(ends.shape)
    table = pa.table({"source": column_of(names, source), "target": column_of(names, target)})
    with_commas = path.suffix.lower() == ".csv"
    options = pyarrow.csv.WriteOptions(
        include_header=False, delimiter="," if with_commas else " ", quoting_style="none"
    )
    sink = BytesIO(EDGE_LIST_HEADING if with_commas else b"")
    sink.seek(0, SEEK_END)
    pyarrow.csv.write_csv(table, sink, options)
    publish(path, sink.getvalue())
    return [path]


EDGE_LIST = Format(
    "two nodes per line; networkx, igraph and nearly every other tool read it",
    ".edges",
    frozenset({"parallel", "names"}),
    write_edge_list,
    lambda files: f"torusweep describe {files[0]}",
    words=True,
)


def write_parquet(topology: Topology, path: Path) -> list[Path]:
    """Write a network's links as Parquet, with nodes, directions, ports, classes and terminals as JSON metadata."""
    links = links_of(topology)
    table = pa.table({"source": links.source, "target": links.target, **links.numbers()})
    about = {
        "nodes": topology.nodes,
        "directed": topology.directed,
        "ports": topology.ports.shape[1],
        "classes": list(topology.plan.classes),
        "network": topology.spelling,
    }
    if topology.plan.names is not None:
        about["names"] = [name if isinstance(name, int) else str(name) for name in topology.plan.names]
    if not one_each(topology):
        about["terminals"] = topology.terminals.tolist()
    publish(path, parquet(table, {key: json.dumps(value) for key, value in about.items()}))
    return [path]


PARQUET = Format(
    "a row for each link: pandas, Polars, DuckDB, Spark; the smallest file",
    ".parquet",
    GRAPHML.holds,
    write_parquet,
    lambda files: f"torusweep describe {files[0]}",
)
