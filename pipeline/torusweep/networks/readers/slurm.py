"""Read Slurm's topologies: topology.conf and topology.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torusweep.documents import Document, parse, read_bytes, shown
from torusweep.errors import Refused, one_line, printable
from torusweep.networks.families.graph_listing import SHOWN, Listing, fail
from torusweep.networks.readers.draft import Draft, lines_of

MOST_HOSTS = 10**7  # largest length of a list such as node[0-9999]
KINDS = ("tree", "ring", "torus3d", "block", "flat")  # kinds of topologies in topology.yaml
NO_LINKS = "names nodes that are near, and no links; write a tree of switches (topology/tree), or a list of links"


def slurm(path: Path) -> Listing:
    """Read Slurm's topology.conf: the tree of topology/tree, or the rings of topology/ring.

    Below each switch of a tree are nodes, which are terminals and forward nothing, or switches. In a ring each node is
    linked to the next, and the last to the first. A backslash continues a line. In the output of `scontrol show
    topology`, a switch above other switches lists again the nodes below them; these are left out. LinkSpeed has no unit
    and is not read. Blocks (topology/block) are refused.
    Source: man page topology.conf(5).
    """
    draft, switches = Draft(path), False
    for line, text in _joined(path):
        called = {key.lower(): key for key in re.findall(r"(\w+)\s*=", text)}
        given = {key.lower(): value for key, value in re.findall(r"(\w+)\s*=\s*(\S+)", text)}
        if "blockname" in given or "blocksizes" in given:
            fail(path, line, f"expected a tree or rings of Slurm, got topology/block, which {NO_LINKS}")
        if "ringname" in given:
            _add_ring(draft, line, hosts_of(path, line, given.pop("nodes", "")))
        elif "switchname" in given:
            below = given.pop("switches", None)
            nodes = given.pop("nodes", None)
            _add_switch(draft, line, given["switchname"], None if below and "level" in given else nodes, below)
            switches = True
        else:
            fail(path, line, f"expected SwitchName=…, got '{one_line(printable(text.strip()), SHOWN)}'")
        draft.left |= dict.fromkeys(called[key] for key in given if key not in ("switchname", "ringname", "level"))
    return draft.listing(hosts_end=switches)


def _joined(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of lines, after joining lines that end in a backslash with the next line."""
    begun, start = "", 0
    for line, text in lines_of(path, "#"):
        start = start if begun else line
        whole = begun + text.rstrip()
        begun = whole[:-1] + " " if whole.endswith("\\") else ""
        if not begun:
            yield start, whole
    if begun.strip():
        fail(path, start, "expected another line after the backslash, got the end of the file")


def slurm_yaml(path: Path) -> Listing:
    """Read one topology of Slurm's topology.yaml: a tree, rings, or a 3D torus.

    If there are several, the first with cluster_default is read. In a torus, nodes are listed with x fastest, z last.
    Blocks and flat topologies name no links and are refused. So is a torus with regions: other cells have no node.
    Source: man page topology.yaml(5).
    """
    document = parse(read_bytes(path, "topology.yaml of Slurm", "write the links as a list"), printable(path))
    topologies = _mappings(document, (), document.data)
    default = [place for place, topology in enumerate(topologies) if topology.get("cluster_default") is True]
    if len(topologies) > 1 and not default:
        raise document.refused((), "expected one topology, or cluster_default: true in one, got several; keep one")
    chosen = default[0] if default else 0
    topology = topologies[chosen]
    kind = next((kind for kind in KINDS if kind in topology), None)
    if kind not in KINDS[:3]:
        got = "none of them" if kind is None else f"{kind}, which {NO_LINKS}"
        raise document.refused((chosen,), f"expected tree, ring or torus3d of Slurm, got {got}")
    draft = Draft(path)
    for place, other in enumerate(topologies):
        if place != chosen:
            draft.left[f"topology {other.get('topology', place)}"] = None
    listed = {"tree": "switches", "ring": "rings", "torus3d": "toruses"}[kind]
    where = (chosen, kind, listed)
    body = topology[kind] if isinstance(topology[kind], dict) else {}
    for place, entry in enumerate(_mappings(document, where, body.get(listed))):
        line = document.values[*where, place][0]
        nodes = entry.get("nodes")
        if kind == "tree":
            name = _text(document, (*where, place), "switch", entry.get("switch"))
            _add_switch(draft, line, name, nodes, entry.get("children"))
        elif kind == "ring":
            _add_ring(draft, line, hosts_of(path, line, nodes))
        else:
            _add_torus(draft, document, (*where, place), entry)
        read = ("switch", "ring", "name", "nodes", "children", "dims")
        draft.left |= dict.fromkeys(key for key in entry if key not in read)
    return draft.listing(hosts_end=kind == "tree")


def _mappings(document: Document, place: tuple[str | int, ...], value: Any) -> list[dict[str, Any]]:
    """Return the value if it is a list of at least one mapping. Raises BadInput otherwise."""
    if not isinstance(value, list) or not value or not all(isinstance(entry, dict) for entry in value):
        raise document.refused(place, f"expected a list of mappings, as Slurm's topology.yaml has, got {shown(value)}")
    return value


def _text(document: Document, place: tuple[str | int, ...], key: str, value: Any) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise document.refused(place, f"expected a name as {key}, got {shown(value)}")
    return str(value)


def _add_switch(draft: Draft, line: int, name: str, nodes: object, below: object) -> None:
    """Link a switch to the nodes and switches below it. A link that both ends list is added once."""
    switch = draft.node(name, line)
    for key, listed in (("nodes", nodes), ("switches", below)):
        for other in hosts_of(draft.path, line, listed) if listed is not None else ():
            draft.link_once(switch, draft.node(other, line, host=key == "nodes"), line)


def _add_ring(draft: Draft, line: int, names: list[str]) -> None:
    nodes = [draft.node(name, line, host=True) for name in names]
    for node, following in zip(nodes, [*nodes[1:], *nodes[:1]]):
        if node != following:
            draft.link_once(node, following, line)


def _add_torus(draft: Draft, document: Document, place: tuple[str | int, ...], entry: dict[str, Any]) -> None:
    """Add a torus of x × y × z cells. Two cells along a dimension are joined by one link, not two."""
    dims = entry.get("dims")
    sides = [int(dims[axis]) for axis in "xyz" if type(dims.get(axis)) is int] if isinstance(dims, dict) else []
    if len(sides) < 3 or not all(1 <= side < MOST_HOSTS for side in sides):
        raise document.refused((*place, "dims"), f"expected x, y and z above 0 as dims, got {shown(dims)}")
    if "regions" in entry:
        raise document.refused(
            (*place, "regions"), "expected nodes of every cell of a torus, got regions; list the nodes"
        )
    x, y, z = sides
    line = document.values[place][0]
    names = hosts_of(draft.path, line, entry.get("nodes"))
    if len(names) != x * y * z:
        raise document.refused(place, f"expected {x * y * z:,} nodes of a torus {x} × {y} × {z}, got {len(names):,}")
    nodes = [draft.node(name, line, host=True) for name in names]
    for cell, node in enumerate(nodes):
        for step, side in ((1, x), (x, y), (x * y, z)):
            other = cell + step if cell // step % side < side - 1 else cell - step * (side - 1)
            if other != cell:
                draft.link_once(node, nodes[other], line)


def hosts_of(path: Path, line: int, text: object) -> list[str]:
    """Expand a list of host names such as tux[0-3,7],login into single names."""
    found: list[str] = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\[\]]*\])+", str(text)):
        names = [""]
        for piece in re.findall(r"[^\[\]]+|\[[^\[\]]*\]", part):
            choices = [piece]
            if piece[0] == "[":
                choices = []
                for span in piece[1:-1].split(","):
                    first, dash, last = span.partition("-")
                    last = last if dash else first
                    plain = all(end.isascii() and end.isdigit() and len(end) < 10 for end in (first, last))
                    if not plain or not 0 <= int(last) - int(first) < MOST_HOSTS:
                        fail(
                            path, line, f"expected numbers as in node[0-3,7], got '{one_line(printable(text), SHOWN)}'"
                        )
                    choices += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
            if len(names) * len(choices) + len(found) > MOST_HOSTS:
                raise Refused(f"{printable(path)}:{line}: more than {MOST_HOSTS:,} nodes are not read")
            names = [name + choice for name in names for choice in choices]
        found += names
    return found
