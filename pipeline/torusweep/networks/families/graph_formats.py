"""Read text formats: edge list, adjacency list, BookSim2's anynet.

Each reader returns a `Listing` with the node numbers of the file. Errors name the file and the line.
"""

from __future__ import annotations

import re
from array import array
from ast import literal_eval
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.families.graph_listing import ABSENT, Listing, ends_of, named, note_names, note_unread
from torusweep.networks.families.graph_numbers import ALSO_CALLED, KNOWN, WEIGHT, known_names, meaning_of, set_numbers
from torusweep.networks.families.graph_tables import is_name, links_of_table, node_number, numbering
from torusweep.networks.names import names_or_none
from torusweep.networks.readers.fields import (
    NUMBER,
    SHOWN,
    check_quotes,
    delimiter_of,
    fail,
    fields_of,
    notes_on_signs,
    refuse,
    text_lines,
    words_of,
)
from torusweep.networks.readers.first_line import FirstLine, counts_of

# lines with nothing but two numbers, as in most files, and networkx's empty braces
PLAIN = re.compile(rb"(?:[ \t]*[0-9]{1,18}[ \t,]+[0-9]{1,18}[ \t]*(?:\{\}[ \t]*)?\r?\n)+")
PLAIN_BYTES = 1 << 20  # largest file that is read whole


def edge_list(path: Path, header: bool | None = None) -> Listing:
    """Read an edge list: two nodes per line, separated by blanks or a comma; '#' and '%' begin comments.

    A third field is a weight or, with a unit (100Gb/s, 5 ns), a bandwidth or a latency; a line may have both of these.
    Nodes are numbers, or names if the first line has a name. Names with blanks are in quotes or, like
    Python's tuples, in parentheses. networkx writes data in braces after an edge; numeric attributes in them are read
    (`torusweep.networks.families.graph_numbers`). A first line `source,target` is the heading of a table, which may
    have other columns (`torusweep.networks.families.graph_tables`).

    header  whether the first line has counts of nodes and links, or names of columns, instead of a link; by default
            whether it can be nothing but counts
    """
    if header is None and (plain := _plain(path)) is not None:
        return plain
    counts = counts_of(path, header)
    links, inside = _Links(path), list[str]()  # fields with # or %
    delimiter: str | None = None
    skipped = counts.line if counts is not None else 0
    for line, text in text_lines(path, inside):
        if line <= skipped:
            continue
        check_quotes(path, line, text)
        if links.opening is None and header is not False:
            mark = delimiter_of(text)
            fields = fields_of(text, mark)
            if (places := _ends_of_heading(path, line, fields)) is not None:
                if len(fields) > 2:
                    return links_of_table(path, fields, places, line, mark)
                delimiter = mark
                continue
            if header and counts is None and not skipped:
                skipped = line
                continue
        links.add(line, text, *_words(text, delimiter))
    if links.opening is not None and header is None:
        _expect_link(path, *links.opening, links.listing, links.names)
    listing = links.listed()
    listing.notes += notes_on_signs(inside)
    if counts is not None:
        _note_counts(listing, counts, header)
    note_names(listing, links.names)
    return listing


def _plain(path: Path) -> Listing | None:
    """Read a short file that has only pairs of numbers, by a faster way; None if the file may have anything else."""
    if path.stat().st_size > PLAIN_BYTES or not PLAIN.fullmatch(content := path.read_bytes()):
        return None
    ends = np.array(content.translate(None, b"{}").replace(b",", b" ").split()).astype(np.int64)
    return Listing(ends[::2], ends[1::2]) if ends[0] < 2 or ends[1] != len(ends) // 2 - 1 else None


def _ends_of_heading(path: Path, line: int, fields: list[str]) -> list[int] | None:
    """Return the columns of a link's two ends if the line is the heading of a table; None if it is not a heading."""
    places = ends_of(fields)
    if places is None and {"id", "label"} <= {field.lower() for field in fields}:
        fail(path, line, "expected a table of links, got Gephi's table of nodes; export its table of edges")
    return places


def _words(text: str, delimiter: str | None) -> tuple[list[str], str]:
    """Split a line into words, at `delimiter` if it is a table's row, and the data in braces after the words."""
    words, braces = words_of(text)
    if delimiter is not None and delimiter in text and not braces:
        words = [word for word in fields_of(text, delimiter) if word]
    return words, braces


class _Links:
    """The links of an edge list, added line by line.

    opening   line number and text of the first link; the other lines must be written like this one
    numbered  function from a node, as the file writes it, to its number
    weighted  whether the third field of every line is a weight
    told      quantities with units (bandwidth, latency) that every line has, as written on the first line
    data      row of a link → its weight or quantities, and its data in braces
    """

    def __init__(self, path: Path) -> None:
        self.path, self.listing, self.names = path, Listing(), dict[str, int]()
        self.opening: tuple[int, str] | None = None
        self.numbered: Callable[[Path, int, str], int] = node_number
        self.weighted, self.told = False, dict[str, str]()
        self.data: dict[int, dict[str, Any]] = {}
        self.lines = array("q")

    def add(self, line: int, text: str, words: list[str], braces: str) -> None:
        """Add the link of a line. Raises BadInput if the line is not written like the first one."""
        quantities = _quantities(words[2:])
        if self.opening is None:
            self.opening, self.weighted = (line, text), _is_weighted(words)
            self.told = quantities
            if any(map(is_name, words[:2])):
                self.numbered = numbering(self.names)
        row = len(self.lines)
        if self.weighted:
            if not _is_weighted(words):
                refuse(self.path, line, "two nodes and a weight (a number), as on the lines before", text.strip())
            self.data[row] = {WEIGHT: words[2]}
        elif quantities.keys() != self.told.keys():
            what = f"{' and '.join(self.told)} with a unit" if self.told else "no number with a unit"
            remedy = "; write it on every line or on none"
            refuse(self.path, line, f"{what}, as on the lines before", text.strip(), remedy)
        elif quantities:
            self.data[row] = dict(quantities)
        if len(words) != 2 and not self.weighted and not quantities:
            _refuse_fields(self.path, line, text, words)
        self.listing.link(self.numbered(self.path, line, words[0]), self.numbered(self.path, line, words[1]))
        self.lines.append(line)
        if braces:
            self.data.setdefault(row, {}).update(_data(self.path, line, braces))

    def listed(self) -> Listing:
        """Return the links with their numeric attributes, and with a note on the data that were not read."""
        listing, self.listing.lines = self.listing, self.lines
        keys = dict.fromkeys(name for found in self.data.values() for name in found)
        rows = [self.data.get(row, {}) for row in range(len(self.lines))] if keys else []
        with named(self.path, self.lines):
            called = known_names(keys, listing.notes)
            set_numbers(listing, {known: [row.get(name) for row in rows] for known, name in called.items()})
        unread = [name for name in keys if name not in called.values()]
        note_unread(listing, {"data of links": unread}, (*KNOWN, *ALSO_CALLED))
        return listing


def _is_weighted(words: list[str]) -> bool:
    """Return whether a line has two nodes and then a number without a unit."""
    return len(words) == 3 and NUMBER.fullmatch(words[2]) is not None


def _note_counts(listing: Listing, counts: FirstLine, header: bool | None) -> None:
    """Set the number of nodes from the first line, and note that this line was read as counts."""
    if header is None:
        listing.notes.append(f"first line read as counts: {counts.said}")
    if counts.first is not None:
        listing.nodes = np.arange(counts.first, counts.first + counts.nodes)
    elif counts.nodes > counts.names:
        listing.notes.append(f"{counts.nodes - counts.names:,} of {counts.nodes:,} nodes left out: no link names them")


def _refuse_fields(path: Path, line: int, text: str, words: list[str]) -> NoReturn:
    """Refuse a line that is not two nodes followed by permitted fields."""
    if ";" in text:
        got = f"';' in '{one_line(printable(text.strip()), SHOWN)}'"
        fail(path, line, f"expected a blank or a comma between nodes, got {got}; write commas in its place")
    remedy = (
        "a weight is read if every line has one: a number, or a number with its unit (100Gb/s, 5ns); other columns"
        " go under a heading, as source,target,bandwidth; isolated nodes go into an adjacency list"
    )
    fail(path, line, f"expected two nodes, got {len(words)} fields between blanks or commas; {remedy}")


def _quantities(words: list[str]) -> dict[str, str]:
    """Read quantities with units, such as "100Gb/s" or "100" and "Gb/s". Returns {} if any word is something else."""
    found: dict[str, str] = {}
    place = 0
    while place < len(words):
        alone = NUMBER.fullmatch(words[place]) is not None
        text = "".join(words[place : place + 1 + alone])
        name = meaning_of(text)
        if name is None or name in found:
            return {}
        found[name] = text
        place += 1 + alone
    return found


def _expect_link(path: Path, line: int, text: str, listing: Listing, names: dict[str, int]) -> None:
    """Refuse a first line that is probably an unknown heading, because its two names occur in no other line."""
    first, others = {listing.tails[0], listing.heads[0]}, (*listing.tails[1:], *listing.heads[1:])
    if not names or not others or not first.isdisjoint(others) or not all(map(is_name, islice(names, len(first)))):
        return
    numbers = all(name.isdigit() for name in islice(names, len(first), None))
    if "," in text or numbers:
        remedy = (
            ", whose names no other line has; name the columns source,target, or say header=true (no link) or"
            " header=false (a link)"
        )
        refuse(path, line, "a heading such as source,target, or a link", text.strip(), remedy)


def adjacency_list(path: Path) -> Listing:
    """Read an adjacency list: each line has a node and its neighbours. A link may be listed at one end or at both.

    Nodes are numbers, or names if the first line has a name.
    """
    listing = Listing()
    numbered: Callable[[Path, int, str], int] | None = None
    names: dict[str, int] = {}
    inside = list[str]()
    for line, words in _lines(path, inside):
        if numbered is None:
            numbered = numbering(names) if any(map(is_name, words)) else node_number
        node, *others = (numbered(path, line, word) for word in words)
        listing.name(node)
        for other in others:
            listing.link(node, other)
    listing.notes += notes_on_signs(inside)
    note_names(listing, names)
    return listing


def anynet(path: Path) -> Listing:
    """Read BookSim2's anynet: `router 0 node 0 node 1 router 1 15 router 2`; a number after an id is a latency.

    Routers become nodes and BookSim2's nodes become terminals, both in the order of their ids; terminal t
    is at node terminals[t]. As in BookSim2, every link has both directions and a repeated link is the same link. Links
    between routers keep their latencies, in cycles; other latencies are not used.
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
                got = f"node {node} on routers {router_of[node]} and {router}"
                fail(path, line, f"expected each node on one router, got {got}")
            listing.name(router)
    if not router_of:
        raise BadInput(
            f"{printable(path)}: expected at least one node, as in 'router 0 node 0 router 1',"
            " got routers only, so that nothing sends"
        )
    listing.terminals = [router_of[node] for node in sorted(router_of)]
    listing.terminal_names = names_or_none(sorted(router_of))
    if any(cycles != ABSENT for cycles in latencies):
        listing.numbers["latency"], listing.usual = np.array(latencies, np.int64), ("latency",)
    if unused:
        listing.notes.append("latencies between nodes and routers not used, only those between routers")
    return listing


def _parse_ends(path: Path, line: int, words: list[str]) -> list[tuple[str, int, int | None]]:
    """Return ('router' or 'node', id, latency of its link in cycles or None) for each end in a line of anynet."""
    ends: list[tuple[str, int, int | None]] = []
    position = 0
    while position < len(words):
        kind = words[position].lower()
        if kind not in ("router", "node") or position + 1 == len(words):
            got = " ".join(words[position : position + 2])
            fail(path, line, f"expected 'router' or 'node' and a number, got {got!r}")
        end, cycles = node_number(path, line, words[position + 1]), None
        position += 2
        if position < len(words) and words[position][0].isdigit() and ends:
            cycles = node_number(path, line, words[position])
            position += 1
        ends.append((kind, end, cycles))
    return ends


def _lines(path: Path, inside: list[str] | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, words) of every line that is neither empty nor a comment."""
    for number, text in text_lines(path, inside):
        words = words_of(text)[0]
        if not words:
            refuse(path, number, "nodes", text.strip())
        yield number, words


def _data(path: Path, line: int, text: str) -> dict[str, Any]:
    """Parse the data in braces that networkx writes after an edge."""
    try:
        found = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        found = None
    if not isinstance(found, dict):
        fail(path, line, f"expected data in braces as networkx writes it, got {one_line(printable(text), SHOWN)}")
    return {name: value for name, value in found.items() if isinstance(name, str)}
