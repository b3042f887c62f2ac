"""Readers of text formats: edge list, adjacency list, BookSim2's anynet; and the tables of all formats.

Each reader returns a `Listing` with the node numbers of the file. Errors name the file and the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.families.graph_listing import ABSENT, HEADINGS, LARGEST, SHOWN, Listing, fail, note_names
from torusweep.networks.names import names_or_none


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
            fail(
                path,
                line,
                f"expected two nodes, got {len(words)} fields;"
                " weights are not read, isolated nodes go into an adjacency list",
            )
        listing.link(numbered(path, line, words[0]), numbered(path, line, words[1]))
    note_names(listing, names)
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
        listing.name(node)
        for other in others:
            listing.link(node, other)
    note_names(listing, names)
    return listing


def anynet(path: Path) -> Listing:
    """Read BookSim2's anynet: `router 0 node 0 node 1 router 1 15 router 2`; a number after an id is a latency.

    Routers become nodes and BookSim2's nodes become terminals, both in the order of their ids; terminal t
    is at node terminals[t]. As in BookSim2, every link has both directions and a repeated link is the same link. Links
    between routers have their latencies.
    """
    listing = Listing(directed=False, parallel=False)
    router_of: dict[int, int] = {}
    latencies: list[int] = []
    unused = False
    for line, words in _lines(path):
        (kind, head, _), *others = _parse_ends(path, line, words)
        if kind == "router":
            listing.name(head)
        for other_kind, other, cycles in others:
            if kind == other_kind == "node":
                fail(path, line, f"expected a router at one end, got node {head} and node {other}")
            if kind == other_kind:
                listing.link(head, other)
                latencies.append(ABSENT if cycles is None else cycles)
                continue
            unused |= cycles is not None
            node, router = (head, other) if kind == "node" else (other, head)
            if router_of.setdefault(node, router) != router:
                fail(
                    path,
                    line,
                    f"expected each node on one router, got node {node} on routers {router_of[node]} and {router}",
                )
            listing.name(router)
    if not router_of:
        raise BadInput(
            f"{printable(path)}: expected at least one node, as in 'router 0 node 0 router 1',"
            " got routers only, so that nothing sends"
        )
    listing.terminals = [router_of[node] for node in sorted(router_of)]
    listing.terminal_names = names_or_none(sorted(router_of))
    if any(cycles != ABSENT for cycles in latencies):
        listing.numbers["latency"] = np.array(latencies, np.int64)
    if unused:
        listing.notes.append("latencies between nodes and routers not used: those between routers are")
    return listing


# name of a format → "module:function" of its reader, imported when a file is read: not every network needs Arrow
READERS: dict[str, str] = {
    name: f"torusweep.networks.families.{place}"
    for name, place in {
        "edgelist": "graph_formats:edge_list",
        "adjlist": "graph_formats:adjacency_list",
        "graphml": "graph_graphml:graphml",
        "anynet": "graph_formats:anynet",
        "networkx-json": "graph_json:node_link",
        "parquet": "graph_parquet:parquet_links",
    }.items()
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
    ".json": "networkx-json",
    ".parquet": "parquet",
}


def _parse_ends(path: Path, line: int, words: list[str]) -> list[tuple[str, int, int | None]]:
    """('router' or 'node', id, cycles of the link to it or None) of each end in a line of anynet."""
    ends: list[tuple[str, int, int | None]] = []
    position = 0
    while position < len(words):
        kind = words[position].lower()
        if kind not in ("router", "node") or position + 1 == len(words):
            fail(
                path,
                line,
                f"expected 'router' or 'node' and a number, got {' '.join(words[position : position + 2])!r}",
            )
        end, cycles = _number(path, line, words[position + 1]), None
        position += 2
        if position < len(words) and words[position][0].isdigit() and ends:
            cycles = _number(path, line, words[position])
            position += 1
        ends.append((kind, end, cycles))
    return ends


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, words) of every line that is neither empty nor a comment."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if b"\0" in raw:
                fail(path, number, "expected text, got a NUL byte: this is a binary file")
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                fail(
                    path,
                    number,
                    f"expected UTF-8 text, got byte 0x{raw[error.start]:02x} at position {error.start + 1}",
                )
            words = text.partition("#")[0].partition("%")[0].replace(",", " ").split()
            if words:
                yield number, words


def _number(path: Path, line: int, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 19 and int(word) < LARGEST):
        fail(path, line, f"expected a node's number (0 … 2⁶²), got {word[:40]!r}")
    return int(word)


def _is_name(word: str) -> bool:
    return word[0].isalpha() or word[0] in "_\"'"


def _numbering(names: dict[str, int]) -> Callable[[Path, int, str], int]:
    """A function that numbers names in the order in which they come."""

    def number(path: Path, line: int, word: str) -> int:
        if not word.isprintable():
            fail(path, line, f"expected a node's name of printable characters, got {one_line(word, SHOWN)!r}")
        return names.setdefault(word, len(names))

    return number
