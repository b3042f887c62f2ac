"""Read GraphML: nodes, links, and the numeric attributes of links that `torusweep export` writes."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat

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
    note_unread,
    terminals_of,
)
from torusweep.networks.families.graph_numbers import (
    ALSO_CALLED,
    KNOWN,
    OTHERS,
    QUANTITY,
    known_names,
    note_silent,
    set_column,
    set_numbers,
)
from torusweep.networks.link_lists import bandwidth_of

CHUNK = 2**16  # bytes read at a time
LONGEST_TAG = 2**20  # bytes
NUMERIC = ("int", "long", "float", "double")  # igraph writes whole numbers as double
OF_THE_GRAPH = ("ports", "classes", "terminals")


def graphml(path: Path) -> Listing:
    """Read the nodes (numbered in the order of the file) and edges of GraphML.

    Data are read under the names that `torusweep export` writes, whatever their types and capitals. Edges may have
    port, target_port, link_class, target_link_class, multiplicity, bandwidth (flits a cycle of one of parallel links),
    latency (cycles) and weight; nodes may have their number of terminals, as endpoints (which SST's Merlin reads, too)
    or terminals; the graph may have ports (of a node), classes (a JSON list of names) and terminals (the node of each,
    separated by blanks). A note names other data, and GraphML's <port>. Entity declarations, nested graphs and
    hyperedges are errors. No other file is read.
    """
    reader = _Reader(path)
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                reader.parser.Parse(chunk, False)
                # the parser reads an unfinished tag again with every chunk
                if file.tell() - reader.parser.CurrentByteIndex > LONGEST_TAG:
                    reader.fail(f"expected tags of at most {LONGEST_TAG // 2**20} MiB, got a longer one; shorten it")
            reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        fail(path, error.lineno, f"expected well-formed XML, got: {expat.ErrorString(error.code)}")
    except (LookupError, ValueError) as error:  # raised by Python for an unknown encoding
        fail(path, 1, f"expected an encoding that is known, got: {error}")
    return reader.listing()


class _Key(NamedTuple):
    """A declared <key>: its id, its owner ("edge", "node", "graph" or "all"), its name, and whether it is numeric.

    other  yFiles type, which identifies a key of yEd that has no name
    """

    id: str
    of: str
    name: str
    numeric: bool
    other: str = ""


class _Reader:
    """The state of a GraphML file that is being read. The XML parser calls the methods."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.graphs = 0
        self.directed = False
        self.names: dict[str, int] = {}
        self.edges: list[tuple[str, str, int]] = []
        self.declared: list[_Key] = []
        self.defaults: dict[str, tuple[str, int]] = {}  # id of a key → default's text, line
        self.keys: dict[tuple[str, str], str] = {}  # ("edge", "node" or "graph", id of a key) → name of what is read
        self.notes: list[str] = []  # on keys
        self.columns: dict[str, list[Any]] = {}  # name in KNOWN → numbers or texts of edges, up to the last
        self.endpoints: dict[int, int] = {}  # node → its number of terminals
        self.graph_data: dict[str, tuple[str, int]] = {}  # name → text, line
        self.unread: dict[str, dict[str, None]] = {"edge": {}, "node": {}, "graph": {}}  # names of data not read
        self.inside: list[str] = []  # open elements: "graph", "node", "edge"
        self.key: str | None = None  # name of the contents of the <data> or <default> being read
        self.text: list[str] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity

    def fail(self, reason: str) -> NoReturn:
        fail(self.path, self.parser.CurrentLineNumber, reason)

    def entity(self, *_: object) -> None:
        self.fail("expected GraphML without entity declarations, which are not read for safety")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "graph":
            self.graphs += 1
            if self.graphs > 1:
                self.fail("expected one graph, got another or a nested one")
            self.directed = self._attribute(name, attributes, "edgedefault") == "directed"
            self._resolve()
            self.inside.append(name)
        elif name == "node":
            self._node(self._attribute(name, attributes, "id"))
            self.inside.append(name)
        elif name == "edge":
            self._edge(attributes)
            self.inside.append(name)
        elif name == "hyperedge":
            self.fail("expected edges, got a hyperedge, which is not a link between two nodes")
        elif name == "key":
            of, called, kind = (attributes.get(key, "") for key in ("for", "attr.name", "attr.type"))
            other = attributes.get("yfiles.type", "")
            self.declared.append(_Key(attributes.get("id", ""), of, called, kind in NUMERIC, other))
        elif name == "default" and self.declared and not self.graphs:
            self.key, self.text = name, []
        elif name == "data" and self.inside:
            given = attributes.get("key", "")
            self.key, self.text = self.keys.get((self.inside[-1], given)), []
            if self.key is None:
                self.unread[self.inside[-1]][given] = None
        elif name in ("port", "endpoint") and self.inside:
            self.unread[self.inside[-1]][f"<{name}>"] = None

    def _node(self, label: str) -> None:
        if label in self.names:
            self.fail(f"expected each node once, got {one_line(label, SHOWN)!r} again")
        self.names[label] = len(self.names)

    def _edge(self, attributes: dict[str, str]) -> None:
        if attributes.get("directed", str(self.directed).lower()) != str(self.directed).lower():
            self.fail(
                "expected every edge directed, or none, got an edge that differs from the graph's edgedefault; write an"
                " undirected edge as two directed ones"
            )
        source, target = (self._attribute("edge", attributes, end) for end in ("source", "target"))
        self.edges.append((source, target, self.parser.CurrentLineNumber))
        self.unread["edge"] |= dict.fromkeys(key for key in ("sourceport", "targetport") if key in attributes)

    def characters(self, text: str) -> None:
        if self.key is not None:
            self.text.append(text)

    def end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        if name in ("data", "default") and self.key is not None:
            text = "".join(self.text).strip()
            if name == "default":
                self.defaults[self.declared[-1].id] = text, self.parser.CurrentLineNumber
            else:
                self._store(self.key, text)
            self.key = None
        elif name in ("graph", "node", "edge") and self.inside and self.inside[-1] == name:
            self.inside.pop()

    def _attribute(self, name: str, attributes: dict[str, str], key: str) -> str:
        if key not in attributes:
            self.fail(f"expected <{name}> with the attribute {key}")
        return attributes[key]

    def _resolve(self) -> None:
        """Find which declared keys to read: numeric attributes of links, terminals of nodes, and texts of the graph."""
        links = [key for key in self.declared if key.of in ("edge", "all", "")]
        for key in links:
            if key.name in OTHERS and not key.numeric:
                self.notes.append(f"{key.name} of links not read: its type is not numeric")
        links = [key for key in links if key.numeric or key.name not in OTHERS]
        try:
            called = known_names(dict.fromkeys(key.name for key in links), self.notes)
        except BadInput as refusal:
            self.fail(str(refusal))
        known = {name: what for what, name in called.items()}
        self.keys = {("edge", key.id): known[key.name] for key in links if key.name in known}
        for key in self.declared:
            if key.of in ("node", "all", "") and key.name.strip().lower() in ENDPOINTS:
                self.keys["node", key.id] = "endpoints"
            if key.of in ("graph", "all", "") and key.name in OF_THE_GRAPH:
                self.keys["graph", key.id] = key.name

    def _store(self, name: str, text: str) -> None:
        match self.inside[-1]:
            case "edge":
                column = self.columns.setdefault(name, [])
                column.extend([self._absent(name)] * (len(self.edges) - 1 - len(column)))
                column.append(self._number_of(name, text, self.parser.CurrentLineNumber))
            case "node":
                self.endpoints[len(self.names) - 1] = self._whole(name, text, self.parser.CurrentLineNumber)
            case _:
                self.graph_data[name] = (text, self.parser.CurrentLineNumber)

    def _absent(self, name: str) -> float:
        """Return the value for a missing attribute of a link: ABSENT for whole numbers, NaN for others."""
        return ABSENT if name in LINK_NUMBERS else nan

    def _number_of(self, name: str, text: str, line: int) -> Any:
        if name in (BANDWIDTH, "latency") and QUANTITY.fullmatch(text):
            return text
        return self._whole(name, text, line) if name in LINK_NUMBERS else self._width(name, text, line)

    def _whole(self, name: str, text: str, line: int) -> int:
        digits = text.removesuffix(".0")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
            got = one_line(printable(text), SHOWN)
            fail(self.path, line, f"expected a whole number below 10¹⁰ as {name}, got {got!r}")
        return int(digits)

    def _width(self, name: str, text: str, line: int) -> float:
        try:
            return float(bandwidth_of(text if "/" in text else float(text)))
        except (ValueError, BadInput):
            what = "flits a cycle" if name == BANDWIDTH else "a number"
            fail(self.path, line, f"expected {what} above 0 as {name}, got {one_line(printable(text), SHOWN)!r}")

    def listing(self) -> Listing:
        """Return the contents of the file. Raises BadInput for links and terminals at undeclared nodes."""
        if not self.graphs:
            raise BadInput(f"{printable(self.path)}: expected a <graph> element, got none")
        listing = Listing(directed=self.directed)
        for source, target, line in self.edges:
            listing.link(self._number(source, line), self._number(target, line))
        listing.nodes = np.arange(len(self.names))
        listing.names = tuple(self.names)
        listing.notes += self.notes
        links = [(name, key) for (of, key), name in self.keys.items() if of == "edge"]
        usual = {name: self.defaults[key] for name, key in links if key in self.defaults}
        for name in {**self.columns, **usual}:
            self._set_column(listing, name, self._number_of(name, *usual[name]) if name in usual else None)
        if "ports" in self.graph_data:
            listing.width = self._ports(*self.graph_data["ports"])
        if "classes" in self.graph_data:
            listing.classes = self._classes(*self.graph_data["classes"])
        listing.terminals = self._terminals()
        if (
            self.endpoints
            and "terminals" not in self.graph_data
            and not any(of == "node" and key in self.defaults for of, key in self.keys)
        ):
            note_silent(listing, len(self.names) - len(self.endpoints))
        self._note_unread(listing)
        return listing

    def _set_column(self, listing: Listing, name: str, usual: Any) -> None:
        """Set the links' attribute `name`. A link without a value gets the key's default, `usual`, if there is one."""
        column = self.columns.get(name, [])
        column.extend([self._absent(name)] * (len(self.edges) - len(column)))
        if any(isinstance(value, str) for value in (*column, usual)):
            filled = [usual if value == ABSENT or value != value else value for value in column]
            with named(self.path):
                set_numbers(listing, {name: filled})
            return
        found = np.array(column, np.int64 if name in LINK_NUMBERS else np.float64)
        if usual is not None:
            found[found == ABSENT if name in LINK_NUMBERS else np.isnan(found)] = usual
        set_column(listing, name, found)

    def _note_unread(self, listing: Listing) -> None:
        """Add a note on data in the file that are not read, except titles of the graph."""
        called = {key.id: key.name or key.other or key.id for key in self.declared}
        noted = " ".join(self.notes)
        unread = {of: [called.get(key, key) for key in keys] for of, keys in self.unread.items()}
        note_unread(
            listing,
            {
                "data of links": [name for name in unread["edge"] if f"{name} of links not read" not in noted],
                "data of nodes": unread["node"],
                "data of the graph": [name for name in unread["graph"] if name.lower() not in TITLES],
            },
            (*KNOWN, *ALSO_CALLED),
        )

    def _number(self, label: str, line: int) -> int:
        if label not in self.names:
            fail(self.path, line, f"expected a declared node, got {one_line(label, SHOWN)!r}")
        return self.names[label]

    def _ports(self, text: str, line: int) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            fail(self.path, line, f"expected the number of ports of a node, got {one_line(printable(text), SHOWN)!r}")
        return int(text)

    def _classes(self, text: str, line: int) -> tuple[str, ...]:
        try:
            return class_names(json.loads(text))
        except (ValueError, RecursionError):
            fail(self.path, line, f"expected a JSON list as classes, got {one_line(printable(text), SHOWN)!r}")

    def _terminals(self) -> np.ndarray | None:
        """Return the node of each terminal, from the graph's list or from the nodes' numbers of terminals."""
        if "terminals" in self.graph_data:
            text, line = self.graph_data["terminals"]
            return np.array([self._number(label, line) for label in text.split()], np.int64)
        usual = [self.defaults[key] for of, key in self.keys if of == "node" and key in self.defaults]
        if not self.endpoints and not usual:
            return None
        counts = np.full(len(self.names), self._whole("endpoints", *usual[0]) if usual else 0, np.int64)
        counts[list(self.endpoints)] = list(self.endpoints.values())
        return terminals_of(self.path, counts)
