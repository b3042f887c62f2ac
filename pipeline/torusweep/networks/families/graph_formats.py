"""Readers of text formats: edge list, adjacency list, BookSim2's anynet.

Each reader returns a `Listing` with the node numbers of the file. Errors name the file and the line.
"""

from __future__ import annotations

import csv
import re
from array import array
from ast import literal_eval
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from torusweep.errors import BadInput, nearest, one_line, printable
from torusweep.networks.families.graph_listing import (
    ABSENT,
    LARGEST,
    SHOWN,
    Listing,
    ends_of,
    fail,
    named,
    note_names,
)
from torusweep.networks.families.graph_numbers import ALSO_CALLED, KNOWN, WEIGHT, known_names, meaning_of, set_numbers
from torusweep.networks.names import names_or_none
from torusweep.networks.readers import NUMBER

# a name in quotes, a tuple of Python, or a word
WORD = re.compile(r"""\"([^\"]*)\"|'([^']*)'|(\([^()]*\))|([^\s,\"'()]+)""")

# nothing but two numbers a line, as most files have, and networkx's empty braces
PLAIN = re.compile(rb"(?:[ \t]*[0-9]{1,18}[ \t,]+[0-9]{1,18}[ \t]*(?:\{\}[ \t]*)?\r?\n)+")
PLAIN_BYTES = 1 << 20  # of files that are read whole


def edge_list(path: Path) -> Listing:
    """Read an edge list: two nodes per line, separated by blanks or a comma; '#' and '%' begin comments.

    A third field, a number, is a weight; with a unit (100Gb/s, 5 ns) it is a bandwidth or latency; both may be there.
    Nodes are numbers, or names if the first line has one; names with blanks stand in quotes or, as Python's tuples, in
    parentheses. Of the data that networkx writes behind an edge, in braces,
    the numbers of links are read (`torusweep.networks.families.graph_numbers`). A first line `source,target` is the
    heading of a CSV file, which may have other columns: numbers of links are read, an index and others are not.
    """
    if path.stat().st_size <= PLAIN_BYTES and PLAIN.fullmatch(content := path.read_bytes()):  # ten times as fast
        ends = np.array(content.translate(None, b"{}").replace(b",", b" ").split()).astype(np.int64)
        return Listing(ends[::2], ends[1::2])
    listing = Listing()
    numbered: Callable[[Path, int, str], int] = _number
    names: dict[str, int] = {}
    data: dict[int, dict[str, Any]] = {}  # of a link: its weight, and what stands in braces
    lines = array("q")  # of the links
    opening: tuple[int, str] | None = None  # line and text of the first link
    weighted, commas, told = False, False, None  # what the units of the first link say
    for line, text in text_lines(path):
        if opening is None and (places := ends_of(fields := _comma_separated(text))) is not None:
            if len(fields) > 2:
                return _of_columns(path, fields, places, line)
            commas = "," in text
            continue
        words, braces = _words(text)
        if commas and not braces:  # names may have blanks
            words = [word for word in _comma_separated(text) if word]
        if opening is None and any(_is_name(word) for word in words[:2]):
            numbered = _numbering(names)
        weighted = len(words) == 3 and NUMBER.fullmatch(words[2]) is not None and (opening is None or weighted)
        opening = opening or (line, text)
        if weighted:
            data[len(listing.tails)] = {WEIGHT: words.pop()}
        quantities = _quantities(words[2:])
        told = quantities.keys() if told is None else told
        if quantities.keys() != told:
            what = f"{' and '.join(told)} with a unit" if told else "no number with a unit"
            got = one_line(printable(text.strip()), SHOWN)
            fail(path, line, f"expected {what}, as on the lines before, got '{got}'; write it on every line or on none")
        if quantities:
            data[len(listing.tails)] = dict(quantities)
            words = words[:2]
        if len(words) != 2 and ";" in text:
            got = f"';' in '{one_line(printable(text.strip()), SHOWN)}'"
            fail(path, line, f"expected a blank or a comma between nodes, got {got}; write commas in its place")
        if len(words) != 2:
            fail(
                path,
                line,
                f"expected two nodes, got {len(words)} fields between blanks or commas; a weight is read where every"
                " line has one, a number, or a number with its unit (100Gb/s, 5ns); other columns go under a heading,"
                " as source,target,bandwidth; isolated nodes go into an adjacency list",
            )
        listing.link(numbered(path, line, words[0]), numbered(path, line, words[1]))
        lines.append(line)
        if braces:
            data.setdefault(len(listing.tails) - 1, {}).update(_data(path, line, braces))
    if opening is not None:
        _expect_link(path, *opening, listing, names)
    with named(path, lines):
        called = known_names(dict.fromkeys(name for found in data.values() for name in found), listing.notes)
        rows = range(len(listing.tails))
        set_numbers(listing, {known: [data.get(row, {}).get(name) for row in rows] for known, name in called.items()})
    note_names(listing, names)
    return listing


def _quantities(words: list[str]) -> dict[str, str]:
    """What words say of a link, by their units: "100Gb/s", or "100" and "Gb/s"; {} where any says something else."""
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
    """Refuse a first line that looks like an unknown heading: two names that no other link has."""
    first, others = {listing.tails[0], listing.heads[0]}, (*listing.tails[1:], *listing.heads[1:])
    if not names or not others or not first.isdisjoint(others) or not all(map(_is_name, islice(names, len(first)))):
        return
    numbers = all(name.isdigit() for name in islice(names, len(first), None))
    if "," in text or numbers:
        shown = one_line(printable(text.strip()), SHOWN)
        fail(
            path,
            line,
            f"expected a heading such as source,target, or a link, got '{shown}', whose names no other line has;"
            " name the columns source,target, or list this link further down",
        )


def _of_columns(path: Path, heading: list[str], places: list[int], line: int) -> Listing:
    """The links of a CSV file whose heading has other columns, too."""
    listing = Listing()
    ends: list[list[str]] = [[], []]
    with named(path):
        called = {known: heading.index(name) for known, name in known_names(heading, listing.notes).items()}
    values: dict[str, list[str | None]] = {known: [] for known in called}
    rows: list[int] = []
    for number, text in text_lines(path):
        if number <= line:
            continue
        fields = _comma_separated(text)
        if len(fields) != len(heading):
            fail(path, number, f"expected {len(heading)} fields, as in the heading, got {len(fields)}")
        rows.append(number)
        for end, place in zip(ends, places):
            end.append(fields[place])
        for known, place in called.items():
            values[known].append(fields[place] or None)
    names: dict[str, int] = {}
    numbered = _number if all(text.isdigit() for end in ends for text in end) else _numbering(names)
    for number, tail, head in zip(rows, *ends):
        if not tail or not head:
            fail(path, number, "expected a node at both ends, got an empty field")
        listing.link(numbered(path, number, tail), numbered(path, number, head))
    with named(path, rows):
        set_numbers(listing, {known: column for known, column in values.items() if any(column)})
    read = {*places, *called.values()}
    left = [name for place, name in enumerate(heading) if place not in read and name and not _is_index(name)]
    if left:
        near = next((found for name in left if (found := nearest(name, (*KNOWN, *ALSO_CALLED)))), "")
        listing.notes.append(f"columns not read: {one_line(printable(', '.join(left)), SHOWN)}{near}")
    note_names(listing, names)
    return listing


def _is_index(name: str) -> bool:
    """Whether a column has the numbers of the rows, which pandas writes."""
    return name.lower() in ("index", "unnamed: 0")


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
    """Yield (line number, words, at least one) of every line that is neither empty nor a comment."""
    for number, text in text_lines(path):
        words = _words(text)[0]
        if not words:
            fail(path, number, f"expected nodes, got '{one_line(printable(text.strip()), SHOWN)}'")
        yield number, words


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of every line that has something before a comment."""
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
            text = text.partition("#")[0].partition("%")[0]
            if text.lstrip().startswith("//"):
                fail(path, number, "expected comments that begin with # or %, got one that begins with //; change them")
            if text.replace(",", " ").strip():
                yield number, text


def _words(text: str) -> tuple[list[str], str]:
    """(words of a line, separated by blanks or commas, without quotes; data in braces at its end)."""
    text, brace, data = text.partition("{")
    if not any(mark in text for mark in "\"'("):
        return text.replace(",", " ").split(), brace + data.strip()
    words = [next(part for part in found if part) for found in WORD.findall(text) if any(found)]
    return words, brace + data.strip()


def _comma_separated(text: str) -> list[str]:
    """The fields of a line of CSV, or the words of a line without commas."""
    if "," not in text:
        return text.split()
    try:
        fields = next(csv.reader([text.strip()], skipinitialspace=True))
    except csv.Error:  # of a carriage return within the line, or a field of more than 131,072 characters
        fields = text.split(",")
    return [field.strip() for field in fields]


def _data(path: Path, line: int, text: str) -> dict[str, Any]:
    """What networkx writes of an edge."""
    try:
        found = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        found = None
    if not isinstance(found, dict):
        fail(path, line, f"expected data in braces as networkx writes it, got {one_line(printable(text), SHOWN)}")
    return {name: value for name, value in found.items() if isinstance(name, str)}


def _number(path: Path, line: int, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 19 and int(word) < LARGEST):
        fail(path, line, f"expected a node's number (0 … 2⁶²), got {word[:40]!r}")
    return int(word)


def _is_name(word: str) -> bool:
    return word[0].isalpha() or word[0] in "_("


def _numbering(names: dict[str, int]) -> Callable[[Path, int, str], int]:
    """A function that numbers names in the order in which they come."""

    def number(path: Path, line: int, word: str) -> int:
        if not word.isprintable():
            fail(path, line, f"expected a node's name of printable characters, got {one_line(word, SHOWN)!r}")
        return names.setdefault(word, len(names))

    return number
