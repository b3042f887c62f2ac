"""Read graphs in JSON: Cytoscape, JSON Graph Format, NetJSON, vis.js, D3, MiniEdit; otherwise networkx's format.

The keys of a file show its format, whatever their order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.families.graph_json import node_link, parse_json
from torusweep.networks.families.graph_listing import SHOWN, Listing, named
from torusweep.networks.families.graph_numbers import known_names
from torusweep.networks.readers.draft import Draft

NOT_NETWORKS = {  # key of the document → what such a file is, and what to do instead
    "lldp": "lldpcli's list of one host's neighbours; join the lists of all hosts as a list of links: host switch",
    "objects": "a drawing by Graphviz (-Tjson); give the file in DOT that it was made from",
    "adjacency": "networkx's adjacency_data; write networkx.node_link_data",
    "children": "a tree of networkx or D3; write networkx.node_link_data",
    "traceEvents": "a trace of events, which is no network; `torusweep simulate NETWORK --workload` takes traces",
}
Json = dict[str, Any]


def json_graph(path: Path) -> Listing:
    """Read a graph in JSON, in the format that its keys show. `node_link` reads networkx's format and all others."""
    document = parse_json(path)
    if not isinstance(document, dict):
        return node_link(path)
    _refuse_others(path, document)
    graph = _single_graph(document)
    nodes, links = document.get("nodes"), document.get("links", document.get("edges"))
    if "elements" in document:
        return _cytoscape(path, document)
    if isinstance(graph, dict) and "nodes" in graph and "nodes" not in document:
        return _jgf(path, graph)
    if isinstance(document.get("graphs"), list):
        _refuse(path, f"expected one graph, got {len(document['graphs'])}; keep one a file")
    if document.get("type") == "NetworkGraph":
        return _netjson(path, document)
    if {"hosts", "switches", "links"} <= document.keys():
        return _miniedit(path, document)
    if {"from", "to"} <= (first := _keys_of_first(links)) and "source" not in first:
        return _plain(path, nodes, links, ("from", "to"), ("id",))
    if isinstance(nodes, list) and nodes and not any(isinstance(node, dict) and "id" in node for node in nodes):
        return _plain(path, nodes, links, ("source", "target"), ("key", "name"))
    return node_link(path)


def _refuse_others(path: Path, document: Json) -> None:
    """Raise BadInput for JSON whose keys show that it is not a network."""
    if "elements" in document or ("nodes" in document and document.keys() & {"links", "edges"}):
        return
    for key, what in NOT_NETWORKS.items():
        if key in document:
            _refuse(path, f"expected a network in JSON, got {what}")


def _single_graph(document: Json) -> Any:
    """Return the graph of a document, or the only graph in its list of graphs; None if there is none."""
    graph = document.get("graph", document.get("graphs"))
    return graph[0] if isinstance(graph, list) and len(graph) == 1 and "graphs" in document else graph


def _keys_of_first(links: Any) -> set[str]:
    return {*links[0]} if isinstance(links, list) and links and isinstance(links[0], dict) else set()


def _cytoscape(path: Path, document: Json) -> Listing:
    """Read JSON of Cytoscape.js and Cytoscape's .cyjs: nodes and edges whose data have id, source and target.

    Files of networkx's cytoscape_data say whether links are directed. Cytoscape's own files do not say, although
    Cytoscape draws an edge from its source to its target. Source: js.cytoscape.org, "Elements JSON"; networkx,
    readwrite/json_graph/cytoscape.py.
    """
    elements = document["elements"]
    if isinstance(elements, dict):
        groups = [elements.get("nodes", []), elements.get("edges", [])]
    else:
        every = [(_data(path, element), element) for element in _objects(path, "elements", elements)]
        groups = [[element for data, element in every if ("source" in data) == edge] for edge in (False, True)]
    nodes, edges = ([_data(path, one) for one in _objects(path, "elements", group)] for group in groups)
    nested = [node for node in nodes if node.get("parent") is not None]
    draft = Draft(path, directed=_flag(path, "directed", document.get("directed", False)))
    draft.left |= {"parents of nodes": None} if nested else {}
    return _of_objects(draft, nodes, edges, ("source", "target"), drop={"id", "source", "target", "parent"})


def _data(path: Path, element: Json) -> Json:
    data = element.get("data")
    if not isinstance(data, dict):
        _refuse(path, "expected data of every element of Cytoscape, got none")
    return data


def _jgf(path: Path, graph: Json) -> Listing:
    """Read the JSON Graph Format: nodes, as a mapping (version 2) or a list, and edges with source and target.

    Source: jsongraphformat.info, version 2; written from its manual, without example files.
    """
    if "hyperedges" in graph:
        _refuse(path, "expected edges between two nodes, got hyperedges of the JSON Graph Format")
    nodes = graph["nodes"]
    if isinstance(nodes, dict):
        nodes = [{"id": name} for name in nodes]
    draft = Draft(path, directed=_flag(path, "directed", graph.get("directed", True)))
    edges = [
        {**_mapping(path, "metadata", edge.get("metadata", {})), **edge}
        for edge in _objects(path, "edges", graph.get("edges", []))
    ]
    kinds = {edge.get("directed", draft.directed) for edge in edges}
    if kinds - {draft.directed}:
        _refuse(path, "expected edges that are directed like the graph, got others")
    drop = {"id", "source", "target", "directed", "metadata"}
    return _of_objects(draft, _objects(path, "nodes", nodes), edges, ("source", "target"), drop=drop)


def _netjson(path: Path, document: Json) -> Listing:
    """Read NetJSON's NetworkGraph: nodes by id, and links, undirected unless a link's two directions differ in cost.

    Source: netjson.org, RFC, NetworkGraph; written from this text, without example files.
    """
    nodes, links = (_objects(path, key, document.get(key)) for key in ("nodes", "links"))
    listed = {(str(link.get("source")), str(link.get("target"))) for link in links}
    draft = Draft(path, directed=all((target, source) in listed for source, target in listed))
    draft.left |= dict.fromkeys(sorted(document.keys() & {"protocol", "version", "metric", "router_id"}))
    return _of_objects(draft, nodes, links, ("source", "target"), drop={"id", "source", "target"}, costs=True)


def _plain(path: Path, nodes: Any, links: Any, ends: tuple[str, str], keys: tuple[str, ...]) -> Listing:
    """Read vis.js (ends from and to), graphology (nodes by key), and D3 (nodes without ids, by place or name).

    A vis.js link is directed if its arrows are "to"; a graphology link is directed unless it says undirected.
    """
    objects = _objects(path, "nodes", nodes)
    key = next((key for key in keys if all(key in node for node in objects)), "")
    edges = [
        {**_mapping(path, "attributes", link.get("attributes", {})), **link}
        for link in _objects(path, "links or edges", links)
    ]
    draft = Draft(path, directed=_is_directed(path, key, edges))
    if key != "id" and all(type(link.get(end)) is int for link in edges for end in ends):
        names = [str(node.get(key, place)) for place, node in enumerate(objects)]
        names = names if len(set(names)) == len(names) else [*map(str, range(len(names)))]
        if any(not 0 <= link[end] < len(names) for link in edges for end in ends):
            _refuse(path, f"expected places of nodes, 0 … {len(names) - 1}, as {' and '.join(ends)} of links")
        edges = [{**link, **{end: names[link[end]] for end in ends}} for link in edges]
        objects = [{**node, "id": name} for node, name in zip(objects, names)]
    elif key:
        objects = [{**node, "id": node[key]} for node in objects]
    drop = {"id", "key", "name", "arrows", "undirected", "attributes", *ends}
    return _of_objects(draft, objects, edges, ends, drop=drop)


def _is_directed(path: Path, key: str, edges: list[Json]) -> bool:
    """Return whether links are directed, by `arrows` in vis.js or `undirected` in graphology. Refuses a mixture."""
    kinds: set[bool | None]
    if key == "key":
        kinds = {not _flag(path, "undirected", link.get("undirected", False)) for link in edges}
    else:
        kinds = {{"": False, "to": True}.get(str(link.get("arrows", ""))) for link in edges}
    if len(kinds) > 1 or None in kinds:
        _refuse(path, "expected every link directed, or none, got both; write an undirected one as two, there and back")
    return kinds == {True}


def _miniedit(path: Path, document: Json) -> Listing:
    """Read MiniEdit's file for Mininet: hosts, which forward no packets, switches, and links with bw (Mb/s) and delay.

    Source: Mininet: MiniEdit (loadTopology), and its class TCIntf, whose bw is in Mb/s.
    """
    draft = Draft(path)
    for kind in ("hosts", "switches", "controllers"):
        for node in _objects(path, kind, document.get(kind, [])):
            name = _mapping(path, "opts", node.get("opts", {})).get("hostname")
            if not isinstance(name, str):
                _refuse(path, f"expected the hostname of each of {kind}, got none")
            if kind == "controllers":
                draft.left[kind] = None
            else:
                draft.declare(name, 1, host=kind == "hosts")
    for link in _objects(path, "links", document["links"]):
        tail, head = (draft.known(_name(path, link.get(end)), 1) for end in ("src", "dest"))
        options = _mapping(path, "opts", link.get("opts", {}))
        speed, delay = (options.get(name) or None for name in ("bw", "delay"))
        draft.link(tail, head, 1, bandwidth=None if speed is None else f"{speed} Mb/s", latency=delay)
        draft.left |= dict.fromkeys(f"{name} of links" for name in options if name not in ("bw", "delay"))
    return draft.listing(hosts_end=True)


def _of_objects(
    draft: Draft, nodes: list[Json], links: list[Json], ends: tuple[str, str], *, drop: set[str], costs: bool = False
) -> Listing:
    """Read nodes by their ids, and links with their known numeric attributes and, if `costs` is true, their costs."""
    path = draft.path
    for node in nodes:
        draft.declare(_name(path, node.get("id")), 1)
    with named(path):
        called = known_names(dict.fromkeys(key for link in links for key in link if key not in drop), draft.notes)
    called |= {"cost": "cost"} if costs and any(link.get("cost") is not None for link in links) else {}
    for link in links:
        tail, head = (draft.known(_name(path, link.get(end)), 1) for end in ends)
        draft.link(tail, head, 1, **{known: link.get(key) for known, key in called.items()})
    draft.left |= dict.fromkeys(f"{key} of nodes" for node in nodes for key in node if key not in drop)
    draft.left |= dict.fromkeys(
        f"{key} of links" for link in links for key in link if key not in {*drop, *called.values()}
    )
    return draft.listing()


def _objects(path: Path, key: str, value: Any) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        _refuse(path, f"expected a list of objects as {key}, got {_kind(value)}")
    return value


def _mapping(path: Path, key: str, value: Any) -> Json:
    if not isinstance(value, dict):
        _refuse(path, f"expected an object as {key}, got {_kind(value)}")
    return value


def _flag(path: Path, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        _refuse(path, f"expected true or false as {key}, got {_kind(value)}")
    return value


def _name(path: Path, value: Any) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        _refuse(path, f"expected a number or a name as a node, got {_kind(value)}")
    return str(value)


def _kind(value: Any) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return "nothing" if value is None else one_line(printable(value), SHOWN)


def _refuse(path: Path, reason: str) -> NoReturn:
    raise BadInput(f"{printable(path)}: {reason}")
