"""Reader of GraphML: nodes, links, and the numbers of links that networks written by `torusweep export` have."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path
from typing import NamedTuple, NoReturn
from xml.parsers import expat

import numpy as np

from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.families.graph_listing import (
    ABSENT,
    BANDWIDTH,
    LINK_NUMBERS,
    SHOWN,
    Listing,
    class_names,
    fail,
    terminals_of,
)
from torusweep.networks.link_kinds import bandwidth_of

CHUNK = 2**16  # bytes read at a time
LONGEST_TAG = 2**20  # bytes
NUMERIC = ("int", "long", "float", "double")  # igraph writes whole numbers as double
OF_THE_GRAPH = ("ports", "classes", "terminals")


def graphml(path: Path) -> Listing:
    """Read the nodes (numbered in the order of the file) and edges of GraphML.

    Data is read under these names only, as `torusweep export` writes it; other data and GraphML's <port> are ignored:
    of edges the numbers port, target_port, link_class, target_link_class, multiplicity, bandwidth (flits a cycle of
    one of parallel links) and latency (cycles); of nodes the number
    endpoints (terminals; SST's Merlin reads it too); of the graph ports (of a node), classes (names, a JSON list)
    and terminals (node of each, separated by blanks). Entity declarations, nested graphs and hyperedges are errors;
    no other file is read.
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
    """A declared <key>: what it is of ("edge", "node", "graph"), and its name."""

    of: str
    name: str


class _Reader:
    """What has been read so far; its methods are called by the parser."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.graphs = 0
        self.directed = False
        self.names: dict[str, int] = {}
        self.edges: list[tuple[str, str, int]] = []
        self.keys: dict[str, _Key] = {}
        self.columns: dict[str, list[float]] = {}  # of LINK_NUMBERS, BANDWIDTH; up to the last edge that has one
        self.endpoints: dict[int, int] = {}  # node → its number of terminals
        self.graph_data: dict[str, tuple[str, int]] = {}  # name → text, line
        self.inside: list[str] = []  # "graph", "node", "edge": elements whose data comes
        self.key: _Key | None = None  # of the <data> element being read
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
            self.inside.append(name)
        elif name == "node":
            label = self._attribute(name, attributes, "id")
            if label in self.names:
                self.fail(f"expected each node once, got {one_line(label, SHOWN)!r} again")
            self.names[label] = len(self.names)
            self.inside.append(name)
        elif name == "edge":
            if attributes.get("directed", str(self.directed).lower()) != str(self.directed).lower():
                self.fail(
                    "expected every edge directed, or none, got an edge that differs from the graph's edgedefault"
                )
            source, target = (self._attribute(name, attributes, end) for end in ("source", "target"))
            self.edges.append((source, target, self.parser.CurrentLineNumber))
            self.inside.append(name)
        elif name == "hyperedge":
            self.fail("expected edges, got a hyperedge, which is not a link between two nodes")
        elif name == "key":
            self._declare(attributes)
        elif name == "data" and self.inside:
            key = self.keys.get(attributes.get("key", ""))
            self.key = key if key is not None and key.of == self.inside[-1] else None
            self.text = []

    def characters(self, text: str) -> None:
        if self.key is not None:
            self.text.append(text)

    def end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        if name == "data" and self.key is not None:
            self._store(self.key.name, "".join(self.text).strip())
            self.key = None
        elif name in ("graph", "node", "edge") and self.inside and self.inside[-1] == name:
            self.inside.pop()

    def _attribute(self, name: str, attributes: dict[str, str], key: str) -> str:
        if key not in attributes:
            self.fail(f"expected <{name}> with the attribute {key}")
        return attributes[key]

    def _declare(self, attributes: dict[str, str]) -> None:
        """Remember a key whose data is read: numbers of links and nodes, and texts of the graph."""
        of, name, kind = (attributes.get(key, "") for key in ("for", "attr.name", "attr.type"))
        wanted = {"edge": (*LINK_NUMBERS, BANDWIDTH), "node": ("endpoints",), "graph": OF_THE_GRAPH}.get(of, ())
        if name in wanted and (of == "graph" or kind in NUMERIC):
            self.keys[attributes.get("id", "")] = _Key(of, name)

    def _store(self, name: str, text: str) -> None:
        match self.inside[-1]:
            case "edge":
                column = self.columns.setdefault(name, [])
                column.extend([nan if name == BANDWIDTH else ABSENT] * (len(self.edges) - 1 - len(column)))
                column.append(self._bandwidth(text) if name == BANDWIDTH else self._whole(name, text))
            case "node":
                self.endpoints[len(self.names) - 1] = self._whole(name, text)
            case _:
                self.graph_data[name] = (text, self.parser.CurrentLineNumber)

    def _whole(self, name: str, text: str) -> int:
        digits = text.removesuffix(".0")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
            self.fail(f"expected a whole number below 10¹⁰ as {name}, got {one_line(printable(text), SHOWN)!r}")
        return int(digits)

    def _bandwidth(self, text: str) -> float:
        try:
            return float(bandwidth_of(float(text)))
        except (ValueError, BadInput):
            self.fail(f"expected flits a cycle above 0 as bandwidth, got {one_line(printable(text), SHOWN)!r}")

    def listing(self) -> Listing:
        """What the file lists. Raises BadInput for links and terminals at nodes that it does not declare."""
        if not self.graphs:
            raise BadInput(f"{printable(self.path)}: expected a <graph> element, got none")
        listing = Listing(directed=self.directed)
        for source, target, line in self.edges:
            listing.link(self._number(source, line), self._number(target, line))
        listing.nodes = np.arange(len(self.names))
        listing.names = tuple(self.names)
        for name, column in self.columns.items():
            column.extend([nan if name == BANDWIDTH else ABSENT] * (len(self.edges) - len(column)))
            listing.numbers[name] = np.array(column, np.float64 if name == BANDWIDTH else np.int64)
        if "ports" in self.graph_data:
            listing.width = self._width(*self.graph_data["ports"])
        if "classes" in self.graph_data:
            listing.classes = self._classes(*self.graph_data["classes"])
        listing.terminals = self._terminals()
        return listing

    def _number(self, label: str, line: int) -> int:
        if label not in self.names:
            fail(self.path, line, f"expected a declared node, got {one_line(label, SHOWN)!r}")
        return self.names[label]

    def _width(self, text: str, line: int) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            fail(self.path, line, f"expected the number of ports of a node, got {one_line(printable(text), SHOWN)!r}")
        return int(text)

    def _classes(self, text: str, line: int) -> tuple[str, ...]:
        try:
            return class_names(json.loads(text))
        except (ValueError, RecursionError):
            fail(self.path, line, f"expected a JSON list as classes, got {one_line(printable(text), SHOWN)!r}")

    def _terminals(self) -> np.ndarray | None:
        """Node of each terminal: the graph's list, else as many as each node's number of endpoints."""
        if "terminals" in self.graph_data:
            text, line = self.graph_data["terminals"]
            return np.array([self._number(label, line) for label in text.split()], np.int64)
        if not self.endpoints:
            return None
        counts = np.zeros(len(self.names), np.int64)
        counts[list(self.endpoints)] = list(self.endpoints.values())
        return terminals_of(self.path, counts)
