"""Read GEXF, Gephi's format: nodes, links, and numeric attributes of links."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.families.graph_listing import ENDPOINTS, Listing, named, note_names, note_unread
from torusweep.networks.families.graph_numbers import ALSO_CALLED, KNOWN, known_names, set_numbers, set_terminals
from torusweep.networks.readers.fields import SHOWN, fail, refuse

OF_EDGES = ("id", "source", "target", "type", "weight")  # attributes of links that are read


def gexf(path: Path) -> Listing:
    """Read GEXF, as networkx and Gephi write it. Nodes are named by their ids.

    Attributes of links, including weights, and the nodes' numbers of terminals are read as in GraphML
    (`torusweep.networks.families.graph_graphml`). Entity declarations, mixed directions and nodes within nodes
    are errors.
    Source: gexf.net, GEXF 1.2 and 1.3; files of Gephi's tests.
    """
    reader = _Reader(path)
    try:
        reader.parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        fail(path, error.lineno, f"expected well-formed XML, got: {expat.ErrorString(error.code)}")
    except (LookupError, ValueError) as error:
        fail(path, 1, f"expected an encoding that is known, got: {one_line(printable(error))}")
    return reader.listing()


class _Reader:
    """The state of a GEXF file that is being read. The XML parser calls the methods."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.usual, self.kinds = "undirected", set[str]()
        self.of = ""  # elements whose attributes are being declared: node or edge
        self.titles: dict[tuple[str, str], str] = {}  # ("node" or "edge", id) → title of an attribute
        self.names: dict[str, int] = {}
        self.nodes: list[dict[str, Any]] = []
        self.links: list[tuple[str, str, int]] = []
        self.data: list[dict[str, Any]] = []
        self.inside: list[str] = []  # open elements: "node", "edge"
        self.unread: dict[str, dict[str, None]] = {"edge": {}, "node": {}}
        self.defaults: dict[str, dict[str, str]] = {"edge": {}, "node": {}}  # title → default
        self.declared, self.text = "", ""  # title and default of the attribute being declared
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity

    def entity(self, *_: object) -> None:
        fail(self.path, self.parser.CurrentLineNumber, "expected GEXF without entity declarations, which are not read")

    def start(self, name: str, given: dict[str, str]) -> None:
        name, line = name.rpartition(":")[2], self.parser.CurrentLineNumber
        if name == "graph":
            self.usual = given.get("defaultedgetype", "undirected")
        elif name == "attributes":
            self.of = given.get("class", "")
        elif name == "attribute":
            self.declared, self.text = given.get("title") or given.get("id", ""), ""
            self.titles[self.of, given.get("id", "")] = self.declared
        elif name == "node" and self.inside[-1:] != ["edge"]:
            self.node(line, given)
            self.inside.append(name)
        elif name == "edge":
            self.links.append((given.get("source", ""), given.get("target", ""), line))
            self.kinds.add(given.get("type", self.usual))
            self.data.append({key: given[key] for key in ("weight",) if key in given})
            self.unread["edge"] |= dict.fromkeys(key for key in given if key not in OF_EDGES)
            self.inside.append(name)
        elif name == "attvalue" and self.inside:
            self.value(self.inside[-1], given)
        elif name != "attvalues" and self.inside:
            self.unread[self.inside[-1]][name] = None

    def node(self, line: int, given: dict[str, str]) -> None:
        if "node" in self.inside:
            fail(self.path, line, "expected nodes side by side, got one within another")
        label = given.get("id", "")
        if not label or label in self.names or not label.isprintable():
            refuse(self.path, line, "nodes of different ids", label)
        self.names[label] = len(self.names)
        self.nodes.append({})
        own = {"id", *(["label"] if given.get("label", label) == label else [])}
        self.unread["node"] |= dict.fromkeys(key for key in given if key not in own)

    def value(self, of: str, given: dict[str, str]) -> None:
        key = given.get("for", given.get("id", ""))
        title = self.titles.get((of, key)) or key
        (self.nodes if of == "node" else self.data)[-1].setdefault(title, given.get("value", ""))
        if {"start", "end", "timestamp"} & given.keys():
            self.unread[of]["times"] = None

    def number(self, label: str, line: int) -> int:
        if label not in self.names:
            refuse(self.path, line, "a listed node", label)
        return self.names[label]

    def characters(self, text: str) -> None:
        self.text += text if self.declared else ""

    def end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        if name == "default" and self.declared:
            self.defaults.setdefault(self.of, {})[self.declared] = self.text.strip()
        elif name == "attribute":
            self.declared = ""
        if self.inside and name == self.inside[-1]:
            self.inside.pop()

    def listing(self) -> Listing:
        kinds = self.kinds or {self.usual}
        if len(kinds) > 1 or not kinds <= {"directed", "undirected", "mutual"}:
            shown = one_line(printable(" and ".join(sorted(kinds))), SHOWN)
            raise BadInput(
                f"{printable(self.path)}: expected every edge directed, or none, got {shown}; write an undirected edge"
                " as two directed ones"
            )
        listing = Listing(directed=kinds == {"directed"}, nodes=np.arange(len(self.names)))
        for source, target, line in self.links:
            listing.link(self.number(source, line), self.number(target, line))
        note_names(listing, self.names)
        self.nodes = [self.defaults["node"] | data for data in self.nodes]
        self.data = [self.defaults["edge"] | data for data in self.data]
        with named(self.path):
            keys = dict.fromkeys(key for data in self.data for key in data)
            called = known_names(keys, listing.notes)
            set_numbers(listing, {name: [data.get(key) for data in self.data] for name, key in called.items()})
            counts = [next((node[key] for key in node if key.lower() in ENDPOINTS), None) for node in self.nodes]
            set_terminals(self.path, listing, counts)
        of_nodes = dict.fromkeys(key for node in self.nodes for key in node if key.lower() not in ENDPOINTS)
        unread = {
            "data of links": [*(key for key in keys if key not in called.values()), *self.unread["edge"]],
            "data of nodes": [*of_nodes, *self.unread["node"]],
        }
        note_unread(listing, unread, (*KNOWN, *ALSO_CALLED))
        return listing
