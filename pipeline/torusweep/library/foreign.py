"""Turn graphs of other libraries into networks: networkx, igraph, SciPy's sparse matrices, arrays of links.

A graph of networkx or igraph implies that its module is already loaded, so recognising it imports nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy

from torusweep.errors import BadInput, one_line
from torusweep.networks.families.graph_listing import ENDPOINTS, Listing, terminals_of
from torusweep.networks.families.graph_numbers import in_units, known_names, note_missing, whole_of
from torusweep.networks.link_lists import LinkKinds, link_kinds, network_of_links
from torusweep.networks.names import names_or_none, order_of_names
from torusweep.networks.topology import Topology

LONGEST_NAME = 200
LINK_DATA = {"bandwidth", "latency"}  # attributes of links that are read
KINDS = (
    "a spelling such as 'rtt(a=4)', the path of a graph file, a networkx or igraph graph, a SciPy sparse matrix, or an"
    " array of links int[E, 2]"
)


class Listed(NamedTuple):
    """A graph as a list of links.

    links     int32[E, 2] or int64[E, 2]: the two nodes of each link, 0 … N − 1
    directed  whether links have one direction; None if the graph does not say
    labels    the graph's own names of its nodes, in the order of their numbers; None if it has only numbers
    notes     remarks on what the network leaves out
    kinds     bandwidths and latencies of the links; None if all links are alike
    terminals   int32[T]: node of each terminal; None if the graph does not say
    """

    links: np.ndarray
    nodes: int
    directed: bool | None
    labels: tuple[Any, ...] | None = None
    notes: tuple[str, ...] = ()
    kinds: LinkKinds | None = None
    terminals: np.ndarray | None = None


def network_of(
    graph: object,
    nodes: int | None = None,
    directed: bool | None = None,
    terminals: object = None,
    name: str | None = None,
) -> tuple[Topology, tuple[Any, ...] | None]:
    """Return the network of a graph in memory, and the labels of its nodes (None if they are numbers).

    nodes      number of nodes of an array of links; by default one more than the largest number in the array
    directed   whether links have one direction; by default as the graph says; arrays and matrices are undirected
    terminals  nodes with a terminal, by the graph's names; a node named twice has two. By default the attribute
               terminals (or endpoints) of each networkx node says how many; without it every node has one
    Raises BadInput if `graph` is no graph, Refused if it is too large.
    """
    listed = _listed(graph, nodes, directed)
    if nodes is not None and nodes != listed.nodes:
        raise BadInput(f"nodes={nodes}: expected {listed.nodes}, as the graph has; leave it out")
    if directed is not None and listed.directed is not None and directed != listed.directed:
        raise BadInput(f"directed={directed}: expected {listed.directed}, as the graph says; leave it out")
    if not listed.nodes:
        raise BadInput("expected a graph with nodes, got an empty one")
    topology = network_of_links(
        listed.links,
        listed.nodes,
        directed=bool(listed.directed if directed is None else directed),
        terminals=listed.terminals if terminals is None else _terminals(terminals, listed),
        name=None if name is None else checked_name(name),
        notes=listed.notes,
        kinds=listed.kinds,
        names=None if listed.labels is None else names_or_none(listed.labels),
    )
    return topology, listed.labels


def to_networkx(topology: Topology, labels: Sequence[Any] | None = None) -> Any:
    """Return a networkx graph, directed if the network is, and a multigraph if links are parallel.

    Each node has the attribute terminals, their number. Links have the attribute link_class; also bandwidth (flits per
    cycle, of each parallel link) and latency (cycles), unless all links have 1.
    Raises BadInput if networkx is not installed.
    """
    try:
        import networkx
    except ImportError:
        raise BadInput("to_networkx: expected networkx, which is not installed; pip install networkx") from None
    several = topology.capacity is not None
    kind_of_graph = f"{'Multi' if several else ''}{'Di' if topology.directed else ''}Graph"
    graph = getattr(networkx, kind_of_graph)(name=topology.spelling)
    names = range(topology.nodes) if labels is None else labels
    terminals = np.bincount(topology.terminals, minlength=topology.nodes).tolist()
    graph.add_nodes_from((name, {"terminals": number}) for name, number in zip(names, terminals))
    tail, head, port = topology.arcs
    keep = slice(None) if topology.directed else tail < head
    tail, head, port = tail[keep], head[keep], port[keep]
    times = np.ones(len(tail), np.int64) if topology.capacity is None else topology.capacity[tail, port]
    kind = [topology.class_name(number) for number in topology.link_class[tail, port].tolist()]
    own: list[dict[str, Any]] = [{"link_class": name} for name in kind]
    for data, number in zip(own, topology.link_class[tail, port].tolist()):
        if topology.plan.bandwidths:
            data["bandwidth"] = float(topology.plan.bandwidths[number])
        if topology.plan.latencies:
            data["latency"] = topology.plan.latencies[number]
    for u, v, data, number in zip(tail.tolist(), head.tolist(), own, times.tolist()):
        for _ in range(number):
            graph.add_edge(names[u], names[v], **data)
    return graph


def checked_name(name: str) -> str:
    """Return a network's name for tables. Raises BadInput if it could be mistaken for a spelling or a file."""
    if not (
        isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable() and not set(name) & set("()/\\")
    ):
        raise BadInput(
            f"name={one_line(repr(name), 60)}: expected up to {LONGEST_NAME} printable characters without ( ) / \\,"
            " which spellings and paths have; choose another name"
        )
    return name


def _listed(graph: object, nodes: int | None, directed: bool | None) -> Listed:
    if _is_of(graph, "networkx", "Graph"):
        return _of_networkx(graph)
    if _is_of(graph, "igraph", "Graph"):
        return _of_igraph(graph)
    if scipy.sparse.issparse(graph):
        return _of_matrix(graph, bool(directed))
    if isinstance(graph, np.ndarray | list | tuple):
        return _of_array(graph, nodes)
    raise BadInput(f"expected {KINDS}, got {one_line(type(graph).__qualname__, 60)}")


def _is_of(graph: object, library: str, kind: str) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(graph, getattr(module, kind, ()))


def _of_networkx(graph: Any) -> Listed:
    labels = tuple(graph)
    order = order_of_names(labels)
    labels = labels if order is None else tuple(labels[place] for place in order.tolist())
    number = {label: place for place, label in enumerate(labels)}
    ends = (number[end] for link in graph.edges() for end in link)
    links = np.fromiter(ends, np.int32, 2 * graph.number_of_edges()).reshape(-1, 2)
    attributes: set[str] = set()
    for *_, data in graph.edges(data=True):
        attributes.update(data)
    notes: list[str] = []
    called = known_names((name for name in attributes if isinstance(name, str)), notes)
    called = {known: name for known, name in called.items() if known in LINK_DATA}
    kinds = _kinds(
        {known: [data.get(name) for *_, data in graph.edges(data=True)] for known, name in called.items()}, notes
    )
    if not graph.is_directed():
        links.sort(axis=1)  # parallel links may be listed in both orders
    notes += _unused(attributes - set(called.values()))
    terminals = _endpoints(graph, labels, notes)
    return Listed(links, len(labels), bool(graph.is_directed()), labels, tuple(notes), kinds, terminals)


def _endpoints(graph: Any, labels: tuple[Any, ...], notes: list[str]) -> np.ndarray | None:
    """Return int32[T], the node of each terminal, by an attribute of the nodes; None if no node has the attribute.

    If only some nodes have the attribute, `notes` gets a note with the number of the other nodes.
    """
    given = [
        next((graph.nodes[label][key] for key in ENDPOINTS if key in graph.nodes[label]), None) for label in labels
    ]
    if all(value is None for value in given):
        return None
    if silent := given.count(None):
        notes.append(f"{silent:,} of {len(given):,} nodes have no attribute terminals, and no terminal")
    counts = [0 if value is None else whole_of("endpoints of nodes", value) for value in given]
    return terminals_of(Path("graph"), np.array(counts, np.int64)).astype(np.int32)


def _of_igraph(graph: Any) -> Listed:
    links = np.array(graph.get_edgelist(), np.int32).reshape(-1, 2)
    if not graph.is_directed():
        links.sort(axis=1)
    labels = tuple(graph.vs["name"]) if "name" in graph.vs.attributes() else None
    units: list[str] = []
    kinds = _kinds({name: graph.es[name] for name in graph.es.attributes() if name in LINK_DATA}, units)
    notes = (*units, *_unused(set(graph.es.attributes()) - LINK_DATA))
    if labels is not None and not _are_names(labels):
        labels, notes = None, (*notes, "names of nodes not used: they are not all different texts or numbers")
    return Listed(links, graph.vcount(), bool(graph.is_directed()), labels, notes, kinds)


def _kinds(columns: dict[str, list[Any]], notes: list[str]) -> LinkKinds | None:
    """Return link classes for the links' bandwidths and latencies, which are numbers, texts with units, or None.

    Returns None if all links are alike. `notes` gets what the units stand for, and the missing values.
    """
    if not columns:
        return None
    numbers: dict[str, np.ndarray] = {}
    said = Listing()
    for name, given in columns.items():
        whole = name == "latency"
        column = in_units(said, name, given)
        if column is not given:
            column = [value if value is None else int(value) if whole else float(value) for value in column]
        for value in column:
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            if value is not None and not (number and 0 < value < 2**31 and (not whole or value == int(value))):
                what = "whole numbers of cycles" if whole else "flits a cycle above 0"
                raise BadInput(f"attribute {name} of links: expected {what}, got {one_line(repr(value), 60)}")
        note_missing(name, column.count(None), name in said.units, notes)
        absent = -1 if whole else np.nan
        filled = [absent if value is None else value for value in column]
        numbers[name] = np.array(filled, np.int64 if whole else np.float64)
    links = len(next(iter(columns.values())))
    found = link_kinds(np.zeros(links, np.int64), ("link",), numbers.get("bandwidth"), numbers.get("latency"))
    notes.extend(said.notes)
    found = found._replace(rate=said.units.get("bandwidth"), tick=said.units.get("latency"))
    return found if any(found[2:]) else None


def _are_names(labels: tuple[Any, ...]) -> bool:
    """Return whether the labels are all different, hashable and not None, as nodes of networkx must be."""
    try:
        return len(set(labels)) == len(labels) and None not in labels
    except TypeError:
        return False


def _of_matrix(matrix: Any, directed: bool) -> Listed:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise BadInput(f"expected a square matrix, a row and a column for each node, got {_shape(matrix)}")
    if matrix.dtype.kind not in "biuf":
        raise BadInput(f"expected a matrix of numbers, got {matrix.dtype}")
    entries = matrix.tocoo(copy=True)
    entries.sum_duplicates()
    if unknown := int(np.isnan(entries.data).sum()):
        raise BadInput(f"expected numbers in the matrix, got NaN in {unknown:,} of its entries; remove them")
    row, column, there = entries.row, entries.col, entries.data != 0
    links = np.column_stack([row[there], column[there]])
    notes = _unused(["the matrix's entries"] if (entries.data[there] != 1).any() else [], what="")
    if not directed:
        transposed = links[:, ::-1]
        order, other = np.lexsort(links.T), np.lexsort(transposed.T)
        differ = (links[order] != transposed[other]).any(axis=1)
        if differ.any():
            tail, head = _alone(links)
            raise BadInput(
                f"expected a symmetric matrix, whose links have both directions, got an entry ({tail}, {head}) without"
                f" ({head}, {tail}); pass directed=True, or matrix + matrix.T"
            )
        links = links[links[:, 0] <= links[:, 1]]
    return Listed(np.ascontiguousarray(links), matrix.shape[0], None, None, notes)


def _alone(links: np.ndarray) -> tuple[int, int]:
    """Return the first entry of an asymmetric link matrix that has no mirror image."""
    present = set(map(tuple, links.tolist()))
    return next((tail, head) for tail, head in links.tolist() if (head, tail) not in present)


def _of_array(given: np.ndarray | Sequence[object], nodes: int | None) -> Listed:
    links = _array(given, "links")
    if links.shape == (0,):
        links = links.reshape(0, 2)  # an empty list
    if links.ndim != 2 or links.shape[1] != 2:
        remedy = "pass array.T" if links.ndim == 2 and links.shape[0] == 2 else "two numbers for each link"
        if links.ndim == 2 and links.shape[0] == links.shape[1] > 2:
            remedy = "for a matrix, pass scipy.sparse.csr_array(matrix)"
        raise BadInput(f"expected an array of links int[E, 2], got {_shape(links)}; {remedy}")
    if not len(links) and nodes is None:
        raise BadInput("expected links, got an empty array; pass nodes= for a network without links")
    links = _whole(links, "links", nodes)
    return Listed(links, int(links.max()) + 1 if nodes is None else nodes, None)


def _array(given: object, what: str) -> np.ndarray:
    try:
        array = np.asarray(given)
    except (ValueError, TypeError, OverflowError) as error:
        raise BadInput(f"expected {what} as an array of whole numbers, got: {one_line(error)}") from None
    return array.astype(np.int64) if not array.size and array.dtype == np.float64 else array


def _whole(array: np.ndarray, what: str, nodes: int | None) -> np.ndarray:
    """Return an array of node numbers as int32 or int64. Raises BadInput if any is not whole, or out of range."""
    if array.dtype.kind not in "iu":
        remedy = "use array.astype(int)" if _is_whole(array) else "number the nodes 0 … N − 1"
        raise BadInput(f"expected {what} as whole numbers, got {array.dtype}; {remedy}")
    if nodes is not None and not (isinstance(nodes, int | np.integer) and nodes >= 0):
        raise BadInput(f"nodes={one_line(repr(nodes), 60)}: expected a whole number, 0 or more")
    if array.size:
        low, high = int(array.min()), int(array.max())
        most = 2**31 - 2 if nodes is None else int(nodes) - 1
        if low < 0 or high > most:
            wrong = low if low < 0 else high
            row = int(np.argwhere(array == wrong)[0][0])
            raise BadInput(f"expected {what} between nodes 0 … {most:,}, got {wrong:,} in row {row:,}")
    return np.ascontiguousarray(array, np.int32 if array.dtype.itemsize <= 4 and array.dtype != np.uint32 else np.int64)


def _is_whole(array: np.ndarray) -> bool:
    """Return whether an array of floats has only whole numbers."""
    return array.dtype.kind == "f" and bool(np.isfinite(array).all()) and bool((array == np.rint(array)).all())


def _terminals(given: object, listed: Listed) -> np.ndarray:
    if listed.labels is None:
        array = _array(given, "terminals")
        if array.ndim != 1:
            raise BadInput(f"terminals: expected an array int[T], got {_shape(array)}")
        try:
            return _whole(array, "terminals", listed.nodes).astype(np.int32)
        except BadInput as wrong:
            raise BadInput(f"terminals: {wrong}") from None
    number = {label: place for place, label in enumerate(listed.labels)}
    try:
        named = list(given)  # type: ignore[call-overload]  # caught below
        return np.array([number[label] for label in named], np.int32)
    except (KeyError, TypeError) as error:
        raise BadInput(f"terminals: expected nodes as the graph names them, got {one_line(error, 60)}") from None


def _unused(attributes: Iterable[str], what: str = "attributes of links: ") -> tuple[str, ...]:
    names = sorted(map(str, attributes))
    if not names:
        return ()
    shown = ", ".join(one_line(name, 40) for name in names[:5]) + (", …" if len(names) > 5 else "")
    return (f"{what}{shown} not used: all links are equal",)


def _shape(array: Any) -> str:
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"
