"""GraphML, with the numbers of links as data that networkx, igraph and Gephi read too.

Source: http://graphml.graphdrawing.org, the primer; the keys are those of `torusweep.networks.families.graph_graphml`.
SST's Merlin takes the number of terminals of a node from its key `endpoints`.
"""

from __future__ import annotations

import json
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from torusweep.errors import printable
from torusweep.interchange.formats import Format
from torusweep.interchange.links import ids_of, in_node_order, links_of, terminal_counts
from torusweep.networks.families.graph_listing import BANDWIDTH
from torusweep.networks.topology import Topology
from torusweep.tables.store import publish

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""


def text(topology: Topology) -> str:
    """The network as a GraphML document."""
    links, ids = links_of(topology), ids_of(topology)
    if not in_node_order(topology) and any(
        node.split() != [node] for node in ids
    ):  # of which a list has blanks between
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
    keys += [("node", "endpoints", "long"), *(("edge", name, _type(name)) for name in numbers)]
    lines = [f'<key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>' for of, name, kind in keys]
    lines.append(f'<graph edgedefault="{_direction(topology)}">')
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
    return HEAD + "\n".join([*lines, "</graph>", "</graphml>", ""])


def _type(name: str) -> str:
    """The type of a link's number."""
    return "double" if name == BANDWIDTH else "long"


def write(topology: Topology, path: Path) -> list[Path]:
    """Write the document."""
    publish(path, text(topology).encode())
    return [path]


def _direction(topology: Topology) -> str:
    return "directed" if topology.directed else "undirected"


FORMAT = Format(
    "XML of networkx, igraph, Gephi and yEd",
    ".graphml",
    frozenset({"ports", "classes", "parallel", "directions", "terminals", "terminal order", "isolated nodes"})
    | {"bandwidths", "latencies", "names"},
    write,
    lambda files: f"torusweep describe {files[0]}",
)
