"""Node-link JSON, as networkx.node_link_data(graph, edges="edges") makes it.

Source: the documentation of networkx 3.6, reading and writing graphs, "JSON"; the numbers of links and nodes are those
of `torusweep.networks.families.graph_json`.
"""

from __future__ import annotations

import json
from pathlib import Path

from torusweep.interchange.formats import Format
from torusweep.interchange.graphml import FORMAT as GRAPHML
from torusweep.interchange.links import in_node_order, links_of, terminal_counts
from torusweep.networks.topology import Topology
from torusweep.tables.store import publish


def text(topology: Topology) -> str:
    """The network as a JSON document, a line for each node and link."""
    links, names = links_of(topology), topology.plan.names or range(topology.nodes)
    ids = [json.dumps(name) if isinstance(name, int | str) else json.dumps(str(name)) for name in names]
    numbers = links.numbers()
    graph = {"name": topology.spelling, "ports": topology.ports.shape[1], "classes": list(topology.plan.classes)}
    if not in_node_order(topology):
        graph["terminals"] = [names[node] for node in topology.terminals.tolist()]
    nodes = [f'{{"id": {node}, "endpoints": {count}}}' for node, count in zip(ids, terminal_counts(topology).tolist())]
    form = "".join(f', "{name}": %s' for name in numbers)
    ends = ([ids[node] for node in column.tolist()] for column in (links.source, links.target))
    rows = zip(*ends, *(column.tolist() for column in numbers.values()))
    edges = [f'{{"source": %s, "target": %s{form}}}' % row for row in rows]
    head = f'"directed": {json.dumps(topology.directed)}, "multigraph": false, "graph": {json.dumps(graph)}'
    separator = ",\n"
    return f'{{{head},\n"nodes": [\n{separator.join(nodes)}\n],\n"edges": [\n{separator.join(edges)}\n]}}\n'


def write(topology: Topology, path: Path) -> list[Path]:
    """Write the document."""
    publish(path, text(topology).encode())
    return [path]


FORMAT = Format(
    'node-link JSON: networkx.node_link_graph(data, edges="edges")',
    ".json",
    GRAPHML.holds,
    write,
    lambda files: f"torusweep describe {files[0]}",
)
