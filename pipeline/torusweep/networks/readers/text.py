"""Read text formats: DOT, graph6, digraph6 and sparse6, DIMACS, SNAP's lists of links, METIS and Chaco."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise, product
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from torusweep.errors import BadInput, printable
from torusweep.networks.families.graph_formats import edge_list
from torusweep.networks.families.graph_listing import ENDPOINTS, Listing, named, note_names, note_unread, text_of
from torusweep.networks.families.graph_numbers import ALSO_CALLED, KNOWN, known_names, set_numbers, set_terminals
from torusweep.networks.readers.fields import check_nodes, refuse, text_lines
from torusweep.networks.readers.first_line import metis_of

NODE_BYTES = 64
SNAP_LINES = 20  # first lines, in which comments are sought
PROBLEMS = "edge", "col", "sp", "max", "min"  # problems of DIMACS
DOT_TOKEN = re.compile(
    r"""\s+|//[^\n]*|^\#[^\n]*|/\*.*?\*/"""
    r"""|(?P<id>"(?:[^"\\]|\\.)*"|[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*|-?(?:\.\d+|\d+(?:\.\d*)?)|<[^<>]*>)"""
    r"""|(?P<mark>->|--|[{}\[\];,=:+])""",
    re.DOTALL | re.MULTILINE,
)


class _Dot:
    """The parser of a graph in DOT, which reads statement by statement."""

    def __init__(self, path: Path) -> None:
        self.path, self.text = path, text_of(path)
        self.tokens = self._tokens()
        self.names: dict[str, int] = {}
        self.links: list[tuple[int, int]] = []
        self.data: list[dict[str, str]] = []  # attributes of each link
        self.of_nodes: list[dict[str, str]] = []
        self.of_graph: dict[str, str] = {}
        self.usual: dict[str, dict[str, str]] = {"edge": {}, "node": {}, "graph": self.of_graph}  # in this subgraph
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
        refuse(self.path, self.text.count("\n", 0, place) + 1, expected, got)

    def take(self) -> str:
        """Return the current token and move on to the next one."""
        taken = getattr(self, "token", "")
        self.kind, self.token, self.place = next(self.tokens, ("end", "the end", len(self.text)))
        return taken

    def is_mark(self, *marks: str) -> bool:
        return self.kind == "mark" and self.token in marks

    def expect(self, token: str) -> None:
        if self.token != token or self.kind == "id":
            self.fail(self.token, self.place, f"'{token}'")
        self.take()

    def name(self) -> str:
        if self.kind != "id":
            self.fail(self.token, self.place, "a name")
        text = self.take()
        while self.is_mark("+"):
            self.take()
            text = text[:-1] + self.take()[1:]
        return re.sub(r"\\(\n|\")", lambda f: "" if f[1] == "\n" else '"', text[1:-1]) if text[0] == '"' else text

    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self.is_mark("["):
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
        if name not in self.names:
            self.of_nodes.append(dict(self.usual["node"]))
        return self.names.setdefault(name, len(self.names))

    def ends(self, depth: int) -> list[int]:
        """Read a node or a subgraph, and return its nodes."""
        if self.kind == "id" and self.token.lower() == "subgraph":
            self.take()
            if self.kind == "id":
                self.name()
        elif self.token != "{" or self.kind == "id":
            return [self.node()]
        return self.statements(depth + 1)

    def statements(self, depth: int = 0) -> list[int]:
        """Read statements in braces, and return the nodes that they contain."""
        if depth > 50:
            self.fail(self.token, self.place, "at most 50 levels of subgraphs")
        self.expect("{")
        inside: list[int] = []
        outer = self.usual
        self.usual = {of: dict(given) for of, given in outer.items()} | {"graph": self.of_graph}
        while self.token != "}" or self.kind == "id":
            if self.kind == "id" and self.token.lower() in self.usual:
                of = self.take().lower()
                self.usual[of].update(self.attributes())
                continue
            if self.is_mark(";"):
                self.take()
                continue
            of_one = self.kind == "id" and self.token.lower() != "subgraph"
            chain = [self.ends(depth)]
            if self.is_mark("="):
                if not of_one:
                    self.fail(self.token, self.place, "a statement, or the end of the graph, after a subgraph")
                self.graph_attribute(chain[0], inside)
                continue
            inside += self.chain(chain, depth)
        self.usual = outer
        self.expect("}")
        return inside

    def graph_attribute(self, nodes: list[int], inside: list[int]) -> None:
        """Read an attribute of the graph. Its name, taken for a node before, is removed unless it occurs elsewhere."""
        self.take()
        self.of_graph[next(name for name, node in self.names.items() if [node] == nodes)] = self.name()
        if not any(node in inside or any(node in link for link in self.links) for node in nodes):
            self.names.popitem()
            self.of_nodes.pop()

    def chain(self, chain: list[list[int]], depth: int) -> list[int]:
        """Read the rest of a statement that begins with the nodes `chain`. Add its links, and return all its nodes."""
        while self.is_mark("->", "--"):
            if (self.token == "->") != self.directed:
                self.fail(self.token, self.place, "'->' in a digraph, '--' in a graph")
            self.take()
            chain.append(self.ends(depth))
        given = self.attributes()
        for node in chain[0] if len(chain) == 1 else ():
            self.of_nodes[node].update(given)
        for tails, heads in pairwise(chain):
            self.links += product(tails, heads)
            self.data += [{**self.usual["edge"], **given}] * (len(tails) * len(heads))
        return [node for nodes in chain for node in nodes]

    def graph(self) -> Listing:
        """Read the nodes and links of the file. Raises BadInput unless it has exactly one graph."""
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
        return listing

    def listing(self) -> Listing:
        listing = self.graph()
        called = [data.get("name", "") for data in self.of_nodes]  # as igraph writes it
        distinct = all(called) and len(set(called)) == len(called) and all(map(str.isprintable, called))
        note_names(listing, {name: node for node, name in enumerate(called)} if distinct else self.names)
        with named(self.path):
            keys = dict.fromkeys(key for data in self.data for key in data)
            known = known_names(keys, listing.notes)
            set_numbers(listing, {name: [data.get(key) for data in self.data] for name, key in known.items()})
            counts = [next((data[key] for key in data if key in ENDPOINTS), None) for data in self.of_nodes]
            set_terminals(self.path, listing, counts)
        read = {*ENDPOINTS, *(["name"] if distinct else [])}
        of_nodes = dict.fromkeys(key for data in self.of_nodes for key in data if key not in read)
        links = [key for key in keys if key not in known.values()]
        unread = {"data of links": links, "data of nodes": of_nodes, "data of the graph": self.of_graph}
        note_unread(listing, unread, (*KNOWN, *ALSO_CALLED))
        return listing


def dot(path: Path) -> Listing:
    """Read a graph in DOT, the language of Graphviz: nodes by their names, links with their attributes, subgraphs.

    If all nodes have different attributes `name`, as in files of igraph, these are the nodes' names.
    Source: graphviz.org, "DOT Language".
    """
    return _Dot(path).listing()


def graph6(path: Path) -> Listing:
    """Read graph6, digraph6 or sparse6, as nauty and networkx write them. The file must have exactly one graph.

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
    check_nodes(path, n, NODE_BYTES)
    ends = _sparse6(n, bits) if kind == b":" else _matrix6(path, n, bits, directed=kind == b"&")
    tails, heads = ends[:, 0].astype(np.int64), ends[:, 1].astype(np.int64)
    return Listing(tails, heads, np.arange(n), directed=kind == b"&")


def _matrix6(path: Path, n: int, bits: np.ndarray, *, directed: bool) -> np.ndarray:
    """Read bits as a matrix by rows or, if undirected, its upper triangle by columns. Return links, int64[E, 2]."""
    needed = n * n if directed else n * (n - 1) // 2
    if not needed <= len(bits) < needed + 6:
        raise BadInput(f"{printable(path)}: expected {needed:,} bits for {n:,} nodes, got {len(bits):,}")
    where = np.flatnonzero(bits[:needed])
    if directed:
        return np.column_stack([where // max(n, 1), where % max(n, 1)])
    columns = np.arange(n)
    head = np.searchsorted(columns * (columns + 1) // 2, where, "right")
    return np.column_stack([where - head * (head - 1) // 2, head])


def _sparse6(n: int, bits: np.ndarray) -> np.ndarray:
    """Read units of 1 + k bits: whether the node advances, and x; n − 1 has k bits. Return links, int64[E, 2]."""
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
    """Read DIMACS: `p edge` (colouring), links `e u v`; `p sp`, `p max`, `p min` (paths, flows), arcs `a u v numbers`.

    For flows the number is a capacity, read as bandwidth; for paths it is a weight. Lines n, least flows and costs are
    not read. Raises BadInput if there are fewer links than the line p counts. Colourings may list a link at both ends.
    Source: DIMACS challenges: graph colouring, network flows (1990), shortest paths (challenge 9), file formats.
    """
    listing, problem = Listing(), _Problem("", 0, 0)
    values: list[str | None] = []
    unread: dict[str, None] = {}
    for line, text in text_lines(path):
        kind, *words = text.split()
        if kind == "c":
            continue
        if kind == "p" and not problem.kind and len(words) == 3 and words[0] in PROBLEMS:
            problem = _problem(path, line, text)
        elif kind in ("a", "e") and len(words) == problem.fields[kind]:
            listing.link(*problem.ends(path, line, text))
            values.append(words[3 if problem.kind == "min" else 2] if kind == "a" else None)
            unread |= dict.fromkeys(["least flows", "costs"]) if problem.kind == "min" else {}
        elif problem.kind and kind == "n":
            unread["lines n"] = None
        else:
            refuse(path, line, "a line of DIMACS (c, p, n, e, a)", text.strip())
    listing.nodes = np.arange(1, problem.nodes + 1)
    listing.directed = problem.kind not in ("edge", "col")
    _check_count(path, listing, problem.links, "the line p")
    with named(path):
        if values.count(None) < len(values):
            set_numbers(listing, {"weight" if problem.kind == "sp" else "bandwidth": values})
    note_unread(listing, {"DIMACS": unread})
    return listing


class _Problem(NamedTuple):
    """The line p of DIMACS: the kind of problem ("" before that line), and the numbers of nodes and links."""

    kind: str
    nodes: int
    links: int

    @property
    def fields(self) -> dict[str, int]:
        """The number of fields in lines "e" and "a", which have a link; −1 before the line p."""
        return {"e": 2, "a": 5 if self.kind == "min" else 3} if self.kind else {"e": -1, "a": -1}

    def ends(self, path: Path, line: int, text: str) -> list[int]:
        """Parse the two nodes of a link. Raises BadInput unless both are 1 … N."""
        ends = [int(word) if _is_number(word) else 0 for word in text.split()[1:3]]
        if not all(1 <= end <= self.nodes for end in ends):
            refuse(path, line, f"nodes 1 … {self.nodes:,}", text.strip())
        return ends


def _problem(path: Path, line: int, text: str) -> _Problem:
    kind, *counts = text.split()[1:]
    if not all(map(_is_number, counts)):
        refuse(path, line, "numbers of nodes and links", text.strip())
    problem = _Problem(kind, *map(int, counts))
    check_nodes(path, problem.nodes, NODE_BYTES)
    return problem


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 10


def _check_count(path: Path, listing: Listing, links: int, where: str) -> None:
    """Compare the number of links with the count that the file gives. Raises BadInput if links are missing."""
    listed = len(listing.tails)
    if listed < links:
        raise BadInput(
            f"{printable(path)}: expected {links:,} links, as {where} says, got {listed:,}; get the whole file, or"
            " correct the number"
        )
    pairs = {(min(ends), max(ends)) for ends in zip(listing.tails, listing.heads)} if listed > links else set()
    if listed > links and (listing.directed or len(pairs) != links):
        listing.notes.append(f"{where} says {links:,} links, the file lists {listed:,}")


def snap(path: Path) -> Listing:
    """Read a list of links of SNAP (snap.stanford.edu), whose first line says whether links are directed.

    If each unordered pair of nodes is saved once, as a comment may say, links have both directions. The comments'
    counts are checked: missing links raise BadInput, and other differences get a note.
    """
    listing = edge_list(path, header=False)
    with path.open("rb") as file:
        comments = [line for line in islice(file, SNAP_LINES) if line.startswith(b"#")]
    first = comments[0].lower()
    listing.directed = b"undirected" not in first and b"each unordered pair" not in first
    said = re.search(rb"Nodes:\s*(\d{1,12})\s+Edges:\s*(\d{1,12})", b"".join(comments))
    if said is not None:
        nodes, links = map(int, said.groups())
        _check_count(path, listing, links, "its comment")
        named_nodes = len({*listing.tails, *listing.heads})
        if named_nodes != nodes:
            listing.notes.append(f"its comment says {nodes:,} nodes, its links name {named_nodes:,}, which are read")
    return listing


def metis(path: Path) -> Listing:
    """Read a graph of METIS or Chaco: nodes 1 … N, undirected links (`torusweep.networks.readers.first_line`).

    Weights of links are read; weights and sizes of nodes are not.
    """
    graph = metis_of(path)
    listing = Listing(graph.tails, graph.heads, np.arange(1, graph.nodes + 1), directed=False, mirrored=True)
    if graph.weights is not None:
        with named(path):
            set_numbers(listing, {"weight": graph.weights.tolist()})
    if graph.labelled:
        listing.notes.append("first number of each line read as its node, as in Chaco; METIS has sizes of nodes there")
    note_unread(listing, {"METIS": graph.unread})
    return listing
