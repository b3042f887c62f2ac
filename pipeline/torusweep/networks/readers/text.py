"""Readers of text: DOT, graph6 and sparse6, DIMACS, SNAP's lists, matrices of numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import numpy as np

from torusweep.errors import BadInput, Refused, one_line, printable
from torusweep.networks.families.graph_formats import edge_list, text_lines
from torusweep.networks.families.graph_listing import SHOWN, Listing, fail, named, note_names, text_of
from torusweep.networks.families.graph_numbers import known_names, set_numbers
from torusweep.networks.readers.libraries import listing_of
from torusweep.networks.topology import default_memory

NODE_BYTES = 64
LIST = "a list of links with more columns needs a heading such as source,target"
DOT_TOKEN = re.compile(
    r"""\s+|//[^\n]*|^\#[^\n]*|/\*.*?\*/"""
    r"""|(?P<id>"(?:[^"\\]|\\.)*"|[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*|-?(?:\.\d+|\d+(?:\.\d*)?)|<[^<>]*>)"""
    r"""|(?P<mark>->|--|[{}\[\];,=:+])""",
    re.DOTALL | re.MULTILINE,
)


class _Dot:
    """A graph in DOT as it is read, statement by statement."""

    def __init__(self, path: Path) -> None:
        self.path, self.text = path, text_of(path)
        self.tokens = self._tokens()
        self.names: dict[str, int] = {}
        self.called: dict[int, str] = {}  # the attribute name of a node, as igraph writes it
        self.links: list[tuple[int, int]] = []
        self.data: list[dict[str, str]] = []  # of each link
        self.take()

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        place = 0
        while place < len(self.text):
            found = DOT_TOKEN.match(self.text, place)
            if found is None:
                self.fail(self.text[place], place)
            place = found.end()
            if found.lastgroup is not None:
                yield found.lastgroup, found.group(), found.start()
        yield "end", "the end", place

    def fail(self, got: str, place: int, expected: str = "a graph in DOT") -> NoReturn:
        line = self.text.count("\n", 0, place) + 1
        fail(self.path, line, f"expected {expected}, got '{one_line(printable(got), SHOWN)}'")

    def take(self) -> str:
        """The token that was next; read the one behind it."""
        taken = getattr(self, "token", "")
        self.kind, self.token, self.place = next(self.tokens, ("end", "the end", len(self.text)))
        return taken

    def expect(self, token: str) -> None:
        if self.token != token or self.kind == "id":
            self.fail(self.token, self.place, f"'{token}'")
        self.take()

    def name(self) -> str:
        if self.kind != "id":
            self.fail(self.token, self.place, "a name")
        text = self.take()
        while self.token == "+" and self.kind == "mark":
            self.take()
            text = text[:-1] + self.take()[1:]
        return re.sub(r"\\(\n|\")", lambda f: "" if f[1] == "\n" else '"', text[1:-1]) if text[0] == '"' else text

    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self.token == "[" and self.kind == "mark":
            self.take()
            while self.kind == "id":
                key = self.name()
                found[key] = "true"
                if self.token == "=":
                    self.take()
                    found[key] = self.name()
                if self.token in (",", ";"):
                    self.take()
            self.expect("]")
        return found

    def node(self) -> int:
        name = self.name()
        if not name.isprintable():
            self.fail(name, self.place, "a node's name of printable characters")
        for _ in range(2):  # port and compass point
            if self.token == ":":
                self.take()
                self.name()
        return self.names.setdefault(name, len(self.names))

    def ends(self, depth: int) -> list[int]:
        """The nodes of a name or of a subgraph."""
        if self.kind == "id" and self.token.lower() == "subgraph":
            self.take()
            if self.kind == "id":
                self.name()
        elif self.token != "{" or self.kind == "id":
            return [self.node()]
        return self.statements(depth + 1)

    def statements(self, depth: int = 0) -> list[int]:
        """The nodes of statements in braces."""
        if depth > 50:
            self.fail(self.token, self.place, "at most 50 levels of subgraphs")
        self.expect("{")
        inside: list[int] = []
        usual: dict[str, str] = {}
        while self.token != "}" or self.kind == "id":
            if self.kind == "id" and self.token.lower() in ("graph", "node", "edge"):
                of = self.take().lower()
                given = self.attributes()
                usual.update(given if of == "edge" else {})
                continue
            if self.token == ";" and self.kind == "mark":
                self.take()
                continue
            chain = [self.ends(depth)]
            if self.token == "=" and self.kind == "mark":  # an attribute of the graph
                self.take()
                self.name()
                if not any(node in inside or any(node in link for link in self.links) for node in chain[0]):
                    self.names.popitem()
                continue
            while self.kind == "mark" and self.token in ("->", "--"):
                if (self.token == "->") != self.directed:
                    self.fail(self.token, self.place, "'->' in a digraph, '--' in a graph")
                self.take()
                chain.append(self.ends(depth))
            given = self.attributes()
            inside += [node for nodes in chain for node in nodes]
            if len(chain) == 1 and len(chain[0]) == 1 and "name" in given:
                self.called[chain[0][0]] = given["name"]
            for tails, heads in pairwise(chain):
                self.links += [(tail, head) for tail in tails for head in heads]
                self.data += [{**usual, **given}] * (len(tails) * len(heads))
        self.expect("}")
        return inside

    def listing(self) -> Listing:
        strict = self.token.lower() == "strict"
        if strict:
            self.take()
        kind = self.take().lower()
        if kind not in ("graph", "digraph"):
            self.fail(kind, 0, "graph or digraph")
        self.directed = kind == "digraph"
        if self.kind == "id":
            self.name()
        self.statements()
        if self.kind != "end":
            self.fail(self.token, self.place, "one graph")
        listing = Listing(directed=self.directed, parallel=not strict)
        for link in self.links:
            listing.link(*link)
        listing.nodes = np.arange(len(self.names))
        called = [self.called.get(node, "") for node in range(len(self.names))]
        distinct = all(called) and len(set(called)) == len(called) and all(map(str.isprintable, called))
        note_names(listing, {name: node for node, name in enumerate(called)} if distinct else self.names)
        with named(self.path):
            known = known_names(dict.fromkeys(key for data in self.data for key in data), listing.notes)
            set_numbers(listing, {name: [data.get(key) for data in self.data] for name, key in known.items()})
        return listing


def dot(path: Path) -> Listing:
    """Read a graph in DOT, the language of Graphviz: nodes by their names, links with their attributes, subgraphs.

    Where all nodes have different attributes `name`, as igraph writes them, they are called by these.
    """
    return _Dot(path).listing()


def graph6(path: Path) -> Listing:
    """Read graph6, digraph6 or sparse6, as nauty and networkx write them: the one graph of the file.

    Source: B. D. McKay, "Description of graph6, sparse6 and digraph6 encodings" (users.cecs.anu.edu.au/~bdm/data).
    """
    lines = path.read_bytes().split()
    lines[:1] = [re.sub(rb"\A>>(di)?(graph|sparse)6<<", b"", line) for line in lines[:1]]
    if len(lines) != 1 or not lines[0]:
        raise BadInput(f"{printable(path)}: expected one graph, got {len(list(filter(None, lines)))}; keep one line")
    text = lines[0]
    kind = text[:1] if text[:1] in b":&" else b""
    values = np.frombuffer(text[len(kind) :], np.uint8).astype(np.int64) - 63
    if not len(values) or values.min() < 0 or values.max() > 63:
        raise BadInput(f"{printable(path)}: expected graph6, digraph6 or sparse6, got other characters")
    digits = 1 if values[0] < 63 else 3 if len(values) < 2 or values[1] < 63 else 6
    start = {1: 0, 3: 1, 6: 2}[digits]
    n = 0
    for value in values[start : start + digits].tolist():
        n = n << 6 | value
    bits = ((values[start + digits :, None] >> np.arange(5, -1, -1)) & 1).reshape(-1)
    if n > default_memory() // NODE_BYTES:
        raise Refused(f"{printable(path)}: {n:,} nodes are more than this machine's memory can hold")
    listing = Listing(directed=kind == b"&", nodes=np.arange(n))
    if kind == b":":
        ends = _sparse6(n, bits)
    else:
        needed = n * n if kind else n * (n - 1) // 2
        if not needed <= len(bits) < needed + 6:
            raise BadInput(f"{printable(path)}: expected {needed:,} bits for {n:,} nodes, got {len(bits):,}")
        # the upper triangle by columns; of a digraph the matrix by rows
        where = np.flatnonzero(bits[:needed])
        columns = np.arange(n)
        head = np.searchsorted(columns * (columns + 1) // 2, where, "right") if not kind else where % max(n, 1)
        ends = np.column_stack([where // max(n, 1) if kind else where - head * (head - 1) // 2, head])
    listing.tails, listing.heads = ends[:, 0].astype(np.int64), ends[:, 1].astype(np.int64)
    return listing


def _sparse6(n: int, bits: np.ndarray) -> np.ndarray:
    """int64[E, 2]: the ends of links. Each unit of 1 + k bits is (next node?, x), k the length of n − 1."""
    k = max(1, (n - 1).bit_length()) if n > 1 else 1
    units = bits[: len(bits) // (1 + k) * (1 + k)].reshape(-1, 1 + k)
    numbers = units[:, 1:] @ (1 << np.arange(k - 1, -1, -1))
    links, node = [], 0
    for step, x in zip(units[:, 0].tolist(), numbers.tolist()):
        node += step
        if x >= n or node >= n:  # padding
            break
        if x > node:
            node = x
        else:
            links.append((x, node))
    return np.array(links, np.int64).reshape(-1, 2)


def dimacs(path: Path) -> Listing:
    """Read DIMACS: `p edge` (colouring), links `e u v`; `p sp`, `p max` (paths, flows), arcs `a u v number`.

    The number is the capacity of a flow's arc, read as bandwidth; that of a path's arc is a weight.
    """
    listing = Listing()
    problem, values, nodes = "", [], 0
    for line, text in text_lines(path):
        kind, *words = text.split()
        if kind == "c":
            continue
        if kind == "p" and not problem and len(words) == 3 and words[0] in ("edge", "col", "sp", "max", "min"):
            problem = words[0]
            if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words[1:]):
                fail(
                    path, line, f"expected numbers of nodes and links, got '{one_line(printable(text.strip()), SHOWN)}'"
                )
            nodes = int(words[1])
            if nodes > default_memory() // NODE_BYTES:
                raise Refused(f"{printable(path)}: {nodes:,} nodes are more than this machine's memory can hold")
        elif problem and kind in ("a", "e") and len(words) == (2 if kind == "e" else 3 if problem != "min" else 5):
            ends = [int(word) if word.isascii() and word.isdigit() and len(word) < 10 else 0 for word in words[:2]]
            if not all(1 <= end <= nodes for end in ends):
                fail(path, line, f"expected nodes 1 … {nodes:,}, got '{one_line(printable(text.strip()), SHOWN)}'")
            listing.link(*ends)
            values.append(words[3 if problem == "min" else 2] if kind == "a" else None)
        elif not (problem and kind == "n"):
            fail(
                path,
                line,
                f"expected a line of DIMACS (c, p, n, e, a), got '{one_line(printable(text.strip()), SHOWN)}'",
            )
    listing.nodes = np.arange(1, nodes + 1)
    listing.directed = problem not in ("edge", "col")
    with named(path):
        if any(value is not None for value in values):
            set_numbers(listing, {"weight" if problem == "sp" else "bandwidth": values})
    return listing


def snap(path: Path) -> Listing:
    """Read a list of links of SNAP (snap.stanford.edu), whose first line says whether it is directed.

    Where each unordered pair of nodes is saved once, links have both directions.
    """
    listing = edge_list(path)
    with path.open("rb") as file:
        first = file.readline(1 << 12).lower()
    listing.directed = b"undirected" not in first and b"each unordered pair" not in first
    return listing


def matrix(path: Path) -> Listing:
    """Read a matrix as text: N lines of N numbers; or as pandas writes a frame, with names above and before them."""
    lines = [(number, text) for number, text in text_lines(path)]
    heading = lines[0][1].strip("\ufeff").lstrip()[:1] in (",", ";") if lines else False
    rows = []
    for _, text in lines:
        comma = next((mark for mark in ",;" if mark in text), None)
        rows.append([w.strip() for w in next(csv.reader([text.strip()], delimiter=comma))] if comma else text.split())
    names = rows[0][1:] if heading else []
    if heading and [row[0] if row else "" for row in rows[1:]] != names:
        raise BadInput(f"{printable(path)}: expected the same names before the lines as above the columns")
    if len(set(names)) < len(names) or "" in names:
        raise BadInput(f"{printable(path)}: expected names that differ above the columns; rename one")
    width = len(rows) - heading
    values = np.zeros((width, width))
    for place, (line, row) in enumerate(zip(lines[heading:], rows[heading:])):
        numbers = row[heading:]
        if len(numbers) != width:
            fail(path, line[0], f"expected {width} numbers, as many as there are lines, got {len(numbers)}; {LIST}")
        try:
            values[place] = [float(word or 0) for word in numbers]
        except ValueError:
            fail(path, line[0], f"expected numbers, got '{one_line(printable(line[1].strip()), SHOWN)}'")
    return listing_of(path, values, names)
