"""Read networkx's node-link JSON, with the numeric attributes of links that `torusweep export` writes."""

from __future__ import annotations

import json
from collections.abc import Hashable
from math import nan
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.families.graph_listing import (
    ABSENT,
    BANDWIDTH,
    ENDPOINTS,
    LINK_NUMBERS,
    SHOWN,
    TITLES,
    Listing,
    class_names,
    fail,
    named,
    note_names,
    note_unread,
    terminals_of,
)
from torusweep.networks.families.graph_numbers import (
    ALSO_CALLED,
    KNOWN,
    QUANTITY,
    known_names,
    note_silent,
    set_column,
    set_numbers,
)
from torusweep.networks.link_lists import MOST_BANDWIDTH

CLASSES = ("link_class", "target_link_class")  # which `Network.to_networkx` writes as names
OF_THE_GRAPH = ("ports", "classes", "terminals", *TITLES)
MOST = 2**31  # numbers of links and nodes are below this


def node_link(path: Path) -> Listing:
    """Read node-link JSON, as networkx.node_link_data makes it: lists of nodes and of links (or edges).

    Nodes are numbered in the order of the file. Links may have port, target_port, link_class, target_link_class,
    multiplicity, bandwidth, latency and weight; nodes may have endpoints or terminals; the graph may have ports,
    classes and terminals: see `torusweep.networks.families.graph_graphml`. A note names other data.
    """
    document = parse_json(path)
    if not isinstance(document, dict):
        _refuse(path, f"expected an object with nodes and links, got {_shown(document)}")
    directed = document.get("directed", False)
    if not isinstance(directed, bool):
        _refuse(path, f"expected directed to be true or false, got {_shown(directed)}")
    listing = Listing(directed=directed)
    nodes = _objects(path, document, "nodes")
    numbers = _numbers(path, nodes)
    if any(isinstance(name, str) for name in numbers):
        note_names(listing, {str(name): number for name, number in numbers.items()})
    listing.nodes, listing.names = np.arange(len(nodes)), tuple(numbers)
    links = _objects(path, document, "edges" if "edges" in document else "links")
    for place, link in enumerate(links):
        listing.link(*(_end(path, place, link, end, numbers) for end in ("source", "target")))
    with named(path):
        called = known_names(dict.fromkeys(key for link in links for key in link), listing.notes)
    for name, key in called.items():
        _set_column(path, listing, name, key, links)
    _read_graph(path, document.get("graph", {}), nodes, numbers, listing)
    _note_unread(document, nodes, links, {"source", "target", *called.values()}, listing)
    return listing


def _numbers(path: Path, nodes: list[dict[str, Any]]) -> dict[Hashable, int]:
    """Return a map from the id of each node to its number."""
    numbers: dict[Hashable, int] = {}
    for place, node in enumerate(nodes):
        if "id" not in node:
            _refuse(path, f"expected an id of every node, got none at node {place}")
        name = _name(path, node["id"])
        if name in numbers:
            _refuse(path, f"expected each node once, got {_shown(node['id'])} again")
        numbers[name] = place
    return numbers


def _end(path: Path, place: int, link: dict[str, Any], end: str, numbers: dict[Hashable, int]) -> int:
    """Return the number of the node at one end ("source" or "target") of a link."""
    if end not in link:
        _refuse(path, f"expected source and target of every link, got no {end} of link {place}")
    name = _name(path, link[end])
    if name not in numbers:
        _refuse(path, f"expected a listed node as {end} of link {place}, got {_shown(link[end])}")
    return numbers[name]


def _set_column(path: Path, listing: Listing, name: str, key: str, links: list[dict[str, Any]]) -> None:
    """Set the links' attribute `name`, which the file calls `key`. Its values are numbers, or texts with units."""
    texts = [link[key] for link in links if isinstance(link.get(key), str)]
    if any(map(QUANTITY.fullmatch, texts)):
        with named(path):
            set_numbers(listing, {name: [link.get(key) for link in links]})
    elif name in CLASSES and texts:
        listing.notes.append(f"{name} of links not read: it is text")
    elif name in LINK_NUMBERS:
        column = [_whole(path, name, link[key]) if key in link else ABSENT for link in links]
        listing.numbers[name] = np.array(column, np.int64)
    else:
        widths = [_width(path, name, link[key]) if key in link else nan for link in links]
        set_column(listing, name, np.array(widths, np.float64))


def _note_unread(
    document: dict[str, Any], nodes: list[dict[str, Any]], links: list[dict[str, Any]], read: set[str], listing: Listing
) -> None:
    """Add a note on data that are not read. The links' keys in `read`, and a multigraph's "key", are not mentioned."""
    graph = document.get("graph", {})
    keys = {"nodes", "edges" if "edges" in document else "links", "directed", "multigraph", "graph"}
    read |= {"key"} if document.get("multigraph") else set()
    of_nodes = {key: None for node in nodes for key in node if key not in ("id", *ENDPOINTS)}
    note_unread(
        listing,
        {
            "data of links": dict.fromkeys(key for link in links for key in link if key not in read),
            "data of nodes": of_nodes,
            "data of the graph": [key for key in graph if key not in OF_THE_GRAPH] if isinstance(graph, dict) else [],
            "data of the file": [key for key in document if key not in keys],
        },
        (*KNOWN, *ALSO_CALLED),
    )


def parse_json(path: Path) -> Any:
    """Parse a JSON file. Raises BadInput if it is not JSON."""
    try:
        return json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        fail(path, error.lineno, f"expected JSON, got: {one_line(error.msg)} at column {error.colno}")
    except RecursionError:
        fail(path, 1, "expected a list of nodes and one of links, got lists within lists, too deep to read")
    except ValueError as error:  # not UTF-8, or a number of thousands of digits
        fail(path, 1, f"expected JSON in UTF-8, got: {one_line(printable(error))}")


def _objects(path: Path, document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the document's list called `key`. Raises BadInput unless it is a list of objects."""
    found = document.get(key)
    if not isinstance(found, list):
        what = "nothing" if found is None else _shown(found)
        _refuse(path, f"expected a list of {key}, got {what}; networkx.node_link_data makes such files")
    for one in found:
        if not isinstance(one, dict):
            _refuse(path, f"expected {key} to be objects, got {_shown(one)}")
    return found


def _read_graph(
    path: Path, graph: Any, nodes: list[dict[str, Any]], numbers: dict[Hashable, int], listing: Listing
) -> None:
    """Read the graph's data: the number of ports of a node, the names of link classes, the nodes with terminals."""
    if isinstance(graph, list):  # pairs, as networkx before 2 wrote them
        graph = {pair[0]: pair[1] for pair in graph if isinstance(pair, list) and len(pair) == 2 and _is_text(pair[0])}
    if not isinstance(graph, dict):
        _refuse(path, f"expected graph to be an object, got {_shown(graph)}")
    if "ports" in graph:
        listing.width = _whole(path, "ports", graph["ports"])
    listing.classes = class_names(graph.get("classes"))
    if "terminals" in graph:
        if not isinstance(graph["terminals"], list):
            _refuse(path, f"expected a list of nodes as terminals, got {_shown(graph['terminals'])}")
        found = []
        for node in graph["terminals"]:
            if _name(path, node) not in numbers:
                _refuse(path, f"expected a listed node in terminals, got {_shown(node)}")
            found.append(numbers[_name(path, node)])
        listing.terminals = np.array(found, np.int64)
    elif (silent := sum(not ENDPOINTS & node.keys() for node in nodes)) < len(nodes):
        given = [next((node[key] for key in ENDPOINTS & node.keys()), 0) for node in nodes]
        counts = [_whole(path, "endpoints", value) for value in given]
        listing.terminals = terminals_of(path, np.array(counts, np.int64))
        note_silent(listing, silent)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _name(path: Path, value: Any) -> Hashable:
    """Return a node's name, a number or a text. A list, which stands for a Python tuple, becomes the tuple's text."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    if not isinstance(value, list) or any(isinstance(part, list | dict | bool) for part in value):
        _refuse(path, f"expected a number or a name as a node, got {_shown(value)}")
    return str(tuple(value))


def _whole(path: Path, name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MOST:
        _refuse(path, f"expected a whole number below 2³¹ as {name}, got {_shown(value)}")
    return value


def _width(path: Path, name: str, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= MOST_BANDWIDTH:
        what = "flits a cycle" if name == BANDWIDTH else "numbers"
        _refuse(path, f"expected {what} above 0 as {name}, got {_shown(value)}")
    return float(value)


def _shown(value: Any) -> str:
    """Format a value of the file for a message."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return one_line(printable(json.dumps(value)[: 2 * SHOWN]), SHOWN)


def _refuse(path: Path, reason: str) -> NoReturn:
    raise BadInput(f"{printable(path)}: {reason}")
