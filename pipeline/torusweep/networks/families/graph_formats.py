"""Readers of four graph formats: edge list, adjacency list, GraphML, BookSim2's anynet.

Each reader returns a `Listing` with the node numbers of the file. Errors name the file and the line.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from torusweep.errors import BadInput, one_line, printable

CHUNK = 2**16  # bytes of GraphML read at a time
LONGEST_TAG = 2**20  # bytes of GraphML
HEADINGS = {("source", "target"), ("source", "destination"), ("from", "to"), ("src", "dst"), ("u", "v")}
SHOWN = 60  # characters of a wrong name that a message repeats
LARGEST = 2**62  # node number; they are stored as int64


@dataclass
class Listing:
    """Contents of a graph file, with the node numbers of the file.

    tails, heads  ends of each link as listed
    nodes         nodes that the file names; repeats are allowed, and the ends of links may be left out
    terminals     node of each terminal; None: one terminal at every node
    directed      whether links have one direction; None: the format does not say
    parallel      whether a repeated link is a second, parallel link
    """

    tails: array = field(default_factory=lambda: array("q"))
    heads: array = field(default_factory=lambda: array("q"))
    nodes: array = field(default_factory=lambda: array("q"))
    terminals: list[int] | None = None
    directed: bool | None = None
    parallel: bool = True
    notes: list[str] = field(default_factory=list)

    def link(self, tail: int, head: int) -> None:
        self.tails.append(tail)
        self.heads.append(head)


def edge_list(path: Path) -> Listing:
    """Read an edge list: two nodes per line, separated by blanks or a comma; '#' and '%' begin comments.

    Nodes are numbers, or names if the first line has one. The data that networkx writes behind an edge, in braces, is
    not read; a first line `source,target` is the heading of a CSV file.
    """
    listing = Listing()
    numbered: Callable[[Path, int, str], int] = _number
    names: dict[str, int] = {}
    first = True
    for line, words in _lines(path):
        if len(words) > 2 and words[2].startswith("{"):
            del words[2:]
        if first:
            first = False
            if tuple(word.lower() for word in words) in HEADINGS:
                first = True
                continue
            if any(_is_name(word) for word in words[:2]):
                numbered = _numbering(names)
        if len(words) != 2:
            _fail(
                path,
                line,
                f"expected two nodes, got {len(words)} fields;"
                " weights are not read, isolated nodes go into an adjacency list",
            )
        listing.link(numbered(path, line, words[0]), numbered(path, line, words[1]))
    _note_names(listing, names)
    return listing


def adjacency_list(path: Path) -> Listing:
    """Read an adjacency list: a node and its neighbours per line; a link may be listed at one end or at both.

    Nodes are numbers, or names if the first line has one.
    """
    listing = Listing()
    numbered: Callable[[Path, int, str], int] | None = None
    names: dict[str, int] = {}
    for line, words in _lines(path):
        if numbered is None:
            numbered = _numbering(names) if any(map(_is_name, words)) else _number
        node, *others = (numbered(path, line, word) for word in words)
        listing.nodes.append(node)
        for other in others:
            listing.link(node, other)
    _note_names(listing, names)
    return listing


def anynet(path: Path) -> Listing:
    """Read BookSim2's anynet: `router 0 node 0 node 1 router 1 15 router 2`; a number after an id is a latency.

    Routers become nodes and BookSim2's nodes become terminals, both in the order of their ids; terminal t
    is at node terminals[t]. As in BookSim2, every link has both directions and a repeated link is the same link.
    """
    listing = Listing(directed=False, parallel=False)
    router_of: dict[int, int] = {}
    latencies = False
    for line, words in _lines(path):
        ends, timed = _parse_ends(path, line, words)
        latencies |= timed
        (kind, head), others = ends[0], ends[1:]
        if kind == "router":
            listing.nodes.append(head)
        for other_kind, other in others:
            if kind == other_kind == "node":
                _fail(path, line, f"expected a router at one end, got node {head} and node {other}")
            if kind == other_kind:
                listing.link(head, other)
                continue
            node, router = (head, other) if kind == "node" else (other, head)
            if router_of.setdefault(node, router) != router:
                _fail(
                    path,
                    line,
                    f"expected each node on one router, got node {node} on routers {router_of[node]} and {router}",
                )
            listing.nodes.append(router)
    if not router_of:
        raise BadInput(
            f"{printable(path)}: expected at least one node, as in 'router 0 node 0 router 1',"
            " got routers only, so that nothing sends"
        )
    listing.terminals = [router_of[node] for node in sorted(router_of)]
    if latencies:
        listing.notes.append("the file's link latencies are not used: distances are in hops")
    return listing


def graphml(path: Path) -> Listing:
    """Read the nodes (numbered in the order of the file) and edges of GraphML; data, ports and keys are ignored.

    Entity declarations, nested graphs and hyperedges are errors; no other file is read.
    """
    listing = Listing()
    numbers: dict[str, int] = {}
    edges: list[tuple[str, str, int]] = []
    graphs = 0
    parser = expat.ParserCreate()

    def fail(reason: str) -> NoReturn:
        _fail(path, parser.CurrentLineNumber, reason)

    def attribute(name: str, attributes: dict[str, str], key: str) -> str:
        if key not in attributes:
            fail(f"expected <{name}> with the attribute {key}")
        return attributes[key]

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal graphs
        name = name.rpartition(":")[2]
        if name == "graph":
            graphs += 1
            if graphs > 1:
                fail("expected one graph, got another or a nested one")
            listing.directed = attribute(name, attributes, "edgedefault") == "directed"
        elif name == "node":
            label = attribute(name, attributes, "id")
            if label in numbers:
                fail(f"expected each node once, got {one_line(label, SHOWN)!r} again")
            numbers[label] = len(numbers)
        elif name == "edge":
            if attributes.get("directed", str(listing.directed).lower()) != str(listing.directed).lower():
                fail("expected every edge directed, or none, got an edge that differs from the graph's edgedefault")
            edges.append(
                (attribute(name, attributes, "source"), attribute(name, attributes, "target"), parser.CurrentLineNumber)
            )
        elif name == "hyperedge":
            fail("expected edges, got a hyperedge, which is not a link between two nodes")

    def entity(*_: object) -> None:
        fail("expected GraphML without entity declarations, which are not read for safety")

    parser.StartElementHandler = start
    parser.EntityDeclHandler = entity
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                parser.Parse(chunk, False)
                # the parser reads an unfinished tag again with every chunk
                if file.tell() - parser.CurrentByteIndex > LONGEST_TAG:
                    fail(f"expected tags of at most {LONGEST_TAG // 2**20} MiB, got a longer one; shorten it")
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        _fail(path, error.lineno, f"expected well-formed XML, got: {expat.ErrorString(error.code)}")
    except (LookupError, ValueError) as error:  # raised by Python for an unknown encoding
        _fail(path, 1, f"expected an encoding that is known, got: {error}")
    if not graphs:
        raise BadInput(f"{printable(path)}: expected a <graph> element, got none")
    for source, target, line in edges:
        unknown = next((end for end in (source, target) if end not in numbers), None)
        if unknown is not None:
            _fail(path, line, f"expected a declared node, got {one_line(unknown, SHOWN)!r}")
        listing.link(numbers[source], numbers[target])
    listing.nodes.extend(range(len(numbers)))
    return listing


READERS: dict[str, Callable[[Path], Listing]] = {
    "edgelist": edge_list,
    "adjlist": adjacency_list,
    "graphml": graphml,
    "anynet": anynet,
}
SUFFIXES = {
    ".edges": "edgelist",
    ".edgelist": "edgelist",
    ".el": "edgelist",
    ".csv": "edgelist",
    ".adj": "adjlist",
    ".adjlist": "adjlist",
    ".graphml": "graphml",
    ".xml": "graphml",
    ".anynet": "anynet",
}


def _parse_ends(path: Path, line: int, words: list[str]) -> tuple[list[tuple[str, int]], bool]:
    """Return (('router' or 'node', id) pairs, whether there are latencies) of a line of anynet."""
    ends: list[tuple[str, int]] = []
    timed = False
    position = 0
    while position < len(words):
        kind = words[position].lower()
        if kind not in ("router", "node") or position + 1 == len(words):
            _fail(
                path,
                line,
                f"expected 'router' or 'node' and a number, got {' '.join(words[position : position + 2])!r}",
            )
        ends.append((kind, _number(path, line, words[position + 1])))
        position += 2
        if position < len(words) and words[position][0].isdigit() and len(ends) > 1:
            _number(path, line, words[position])
            timed = True
            position += 1
    return ends, timed


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, words) of every line that is neither empty nor a comment."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if b"\0" in raw:
                _fail(path, number, "expected text, got a NUL byte: this is a binary file")
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                _fail(
                    path,
                    number,
                    f"expected UTF-8 text, got byte 0x{raw[error.start]:02x} at position {error.start + 1}",
                )
            words = text.partition("#")[0].partition("%")[0].replace(",", " ").split()
            if words:
                yield number, words


def _number(path: Path, line: int, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 19 and int(word) < LARGEST):
        _fail(path, line, f"expected a node's number (0 … 2⁶²), got {word[:40]!r}")
    return int(word)


def _is_name(word: str) -> bool:
    return word[0].isalpha() or word[0] in "_\"'"


def _numbering(names: dict[str, int]) -> Callable[[Path, int, str], int]:
    """A function that numbers names in the order in which they come."""

    def number(path: Path, line: int, word: str) -> int:
        if not word.isprintable():
            _fail(path, line, f"expected a node's name of printable characters, got {one_line(word, SHOWN)!r}")
        return names.setdefault(word, len(names))

    return number


def _note_names(listing: Listing, names: dict[str, int]) -> None:
    if names:
        some = ", ".join(f"{number} is {one_line(name, 20)}" for name, number in islice(names.items(), 3))
        more = ", …" if len(names) > 3 else ""
        listing.notes.append(f"named nodes numbered in the order of the file: {some}{more}")


def _fail(path: Path, line: int, reason: str) -> NoReturn:
    raise BadInput(f"{printable(path)}:{line}: {reason}")
