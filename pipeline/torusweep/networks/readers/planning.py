"""Read networks for routing and planning: SNDlib, Repetita, BRITE, Rocketfuel, CAIDA's AS relationships."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from torusweep.errors import BadInput, printable
from torusweep.networks.families.graph_listing import Listing, fail
from torusweep.networks.readers.draft import Draft, Rows, lines_of
from torusweep.networks.readers.fields import NUMBER
from torusweep.networks.readers.markup import xml_tree

NODE = re.compile(r"(\S+) \( \S+ \S+ \)( \( ?\))*")
LINK = re.compile(r"(\S+) \( (\S+) (\S+) \) (\S+) (\S+) (\S+) (\S+) \(((?: \S+ \S+)*) ?\)")
BRITE_DIGITS = 6  # decimal places of delays (ms, so to a ns) and of bandwidths (Mb/s, so to a b/s)
SNDLIB_UNITS = {"MBITPERSEC": " Mb/s"}
ROUTER = re.compile(r"(-?\d+) @(\S*)\s+(\+\s+)?(bb\s+)?\(\d+\)\s*(&\d+\s+)?->\s*((?:<\d+>\s*)*)((?:\{-?\d+\}\s*)*)=.*")
AS_NUMBER = re.compile(r"\d{1,10}", re.ASCII)


class _Link(NamedTuple):
    """A link of SNDlib: its ends, installed capacity, the capacities of its modules, and whether it has costs."""

    line: int
    source: str
    target: str
    installed: str
    modules: Sequence[str]
    costs: bool


def sndlib(path: Path) -> Listing:
    """Read a network of SNDlib in its native format: nodes, links, and capacities.

    Bandwidths are installed capacities. If no link has any installed and each has exactly one module, they are the
    modules' capacities. Capacities are in Mb/s if META says MBITPERSEC; otherwise they are read as flits a cycle.
    Costs, demands and paths are not read. Only SNDlib's model file, which is not read, says whether links are directed.
    Source: sndlib.put.poznan.pl, native format, version 1.0: of a link "( source target ) pre_installed_capacity
    pre_installed_capacity_cost routing_cost setup_cost ( {module_capacity module_cost}* )".
    """
    draft, section, links, unit = Draft(path, directed=None), "", list[_Link](), ""
    for line, text in lines_of(path, "#"):
        words = " ".join(re.sub(r"([()])", r" \1 ", text).split())
        if text.startswith("?SNDlib"):
            if "type: network" not in text:
                draft.fail(line, "a file of type network", text)
        elif words == ")":
            section = ""
        elif section == "" and words.endswith("("):
            section = words.removesuffix("(").strip()
            draft.left |= {section: None} if section not in ("NODES", "LINKS", "META") else {}
        elif section == "META" and words.startswith("unit = "):
            unit = words.split()[2]
        elif section == "NODES":
            if (node := NODE.fullmatch(words)) is None:
                draft.fail(line, "a node and its place, as A ( 0.0 0.0 )", text)
            draft.declare(node[1], line)
        elif section == "LINKS":
            if (found := LINK.fullmatch(words)) is None:
                draft.fail(line, "a link as L1 ( A B ) 0.0 0.0 0.0 0.0 ( 40.0 1.0 )", text)
            modules = found[8].split()
            costs = any(re.search("[1-9]", cost) for cost in (*found.groups()[4:7], *modules[1::2]))
            links.append(_Link(line, found[2], found[3], found[4], modules[::2], costs))
        elif not section:
            draft.fail(line, "a section, as NODES (", text)
    if section or not links:
        raise BadInput(f"{printable(path)}: expected NODES ( … ) and LINKS ( … ) of SNDlib, got the end of the file")
    return _of_sndlib(draft, links, unit)


def sndlib_xml(path: Path) -> Listing:
    """Read a network of SNDlib in XML: the same data as `sndlib` reads from its native format."""
    draft, links, tree = Draft(path, directed=None), list[_Link](), xml_tree(path)
    for node in tree.all("node"):
        draft.declare(node.attribute(path, "id"), node.line)
    for link in tree.all("link"):
        ends = [link.said("source"), link.said("target")]
        if not all(ends):
            fail(path, link.line, "expected <source> and <target> of every <link>")
        installed = link.child("preInstalledModule")
        modules = [module.said("capacity") or "" for module in link.all("addModule")]
        costs = any(re.search("[1-9]", cost.text) for cost in link.all("cost", "routingCost", "setupCost"))
        capacity = "0" if installed is None else installed.said("capacity") or ""
        links.append(_Link(link.line, ends[0] or "", ends[1] or "", capacity, modules, costs))
    draft.left |= dict.fromkeys(
        element.name for element in tree.inside if element.name not in ("meta", "networkStructure")
    )
    meta = tree.child("meta")
    return _of_sndlib(draft, links, "" if meta is None else meta.said("unit") or "")


def _of_sndlib(draft: Draft, links: list[_Link], unit: str) -> Listing:
    """Make the network of SNDlib's links. `unit` is the file's unit of capacities and demands, "" if unknown."""
    none = all(NUMBER.fullmatch(link.installed) and float(link.installed) == 0 for link in links)
    single = none and all(len(link.modules) == 1 for link in links)
    for link in links:
        tail, head = draft.known(link.source, link.line), draft.known(link.target, link.line)
        capacity = link.modules[0] if single else None if none else link.installed
        speed = None if capacity is None else f"{capacity}{SNDLIB_UNITS.get(unit, '')}"
        draft.link(tail, head, link.line, bandwidth=speed)
    if unit not in SNDLIB_UNITS and unit:
        draft.left[f"the unit {unit} of capacities"] = None
    if single or not none:
        what = "the only module of each link" if single else "what is installed"
        draft.notes.append(f"bandwidths are capacities in the unit of the demands: {what}")
    draft.left |= {"modules of links": None} if not single and any(link.modules for link in links) else {}
    draft.left |= {"costs": None} if any(link.costs for link in links) else {}
    draft.notes.append("whether links are directed is in SNDlib's model file; undirected unless directed=true")
    return draft.listing()


def repetita(path: Path) -> Listing:
    """Read a topology of Repetita: directed links with an IGP weight (a cost), a bandwidth and a delay.

    As in Repetita's own files, bandwidths are in kb/s and delays in µs. Labels of links and places of nodes are not
    read.
    Source: repetita.info.ucl.ac.be, Data Format.
    """
    draft = Draft(path, directed=True)
    rows = Rows(draft)
    nodes: list[int] = []
    for kind, heading in (("NODES", "label x y"), ("EDGES", "label src dest weight bw delay")):
        _, (count, *_) = rows.numbers(f"{kind} and their number", kind)
        fields = heading.split()
        line, names = rows.words(heading, len(fields))
        if names != fields:
            draft.fail(line, heading, " ".join(names))
        for _ in range(count):
            line, words = rows.words(f"{heading}, as many lines as {kind} says", len(fields))
            if kind == "NODES":
                nodes.append(draft.declare(words[0], line))
                continue
            tail, head = (nodes[draft.whole(word, line, "a node", len(nodes) - 1)] for word in words[1:3])
            bandwidth, delay = f"{words[4]} kb/s", f"{words[5]} us"
            draft.link(tail, head, line, cost=words[3], bandwidth=bandwidth, latency=delay)
    rows.end()
    draft.notes.append("bw read in kb/s, delay in µs, as Repetita's own files have them; weight is the cost of a link")
    draft.left |= {"labels of edges": None, "x, y": None}
    return draft.listing()


def brite(path: Path) -> Listing:
    """Read a topology that BRITE generated. Bandwidths are in Mb/s and delays in ms, as in ns-3, rounded to a ns.

    An edge has one direction if its type or its last field says so. Places, degrees, lengths and autonomous
    systems are not read. A hierarchical topology has a line for the model of each level.
    Source: BRITE's user manual, output format; for the units, ns-3, src/brite/helper/brite-topology-helper.cc.
    """
    draft, directed = Draft(path), set[bool]()
    rows = Rows(draft)
    rows.take("Topology: ( N Nodes, M Edges )")
    rows.take("the model of BRITE")
    for kind, fields in (("Nodes", 5), ("Edges", 6)):
        line, text = rows.take(f"{kind}: ( N )")
        while text.startswith("Model ("):  # the model of each level, below that of the hierarchy
            line, text = rows.take(f"{kind}: ( N )")
        if (head := re.match(rf"{kind}: *\( *(\d{{1,9}}) *\)", text, re.ASCII)) is None:
            draft.fail(line, f"{kind}: ( N )", text)
        for _ in range(int(head[1])):
            line, words = rows.words(f"{head[1]} {kind.lower()} of BRITE, of {fields} fields or more", fields, 20)
            if kind == "Nodes":
                draft.declare(words[0], line)
            else:
                directed.add("_DIR" in words[-2].upper() or words[-1] == "D")
                _add_brite(draft, line, words)
    rows.end()
    if len(directed) > 1:
        raise BadInput(f"{printable(path)}: expected every edge directed, or none, got both")
    draft.directed = directed == {True}
    draft.left |= dict.fromkeys(("model", "places", "degrees", "lengths", "AS and type"))
    return draft.listing()


def _add_brite(draft: Draft, line: int, words: list[str]) -> None:
    """Add an edge of BRITE. A bandwidth or a delay of 0 or less counts as missing."""
    if not all(map(NUMBER.fullmatch, words[3:6])):
        draft.fail(line, "numbers as length, delay and bandwidth", " ".join(words))
    delay, bandwidth = Fraction(words[4]), Fraction(words[5])
    time, speed = round(delay, BRITE_DIGITS), round(bandwidth, BRITE_DIGITS)
    draft.left |= {"parts of a ns of delays": None} if delay != time else {}
    draft.left |= {"parts of a b/s of bandwidths": None} if bandwidth != speed else {}
    draft.left |= {"bandwidths of 0 or less": None} if speed <= 0 else {}
    draft.left |= {"delays of 0 or less": None} if time <= 0 else {}
    numbers = {
        name: f"{float(value):.{BRITE_DIGITS}f} {unit}" if value > 0 else None
        for name, value, unit in (("bandwidth", speed, "Mb/s"), ("latency", time, "ms"))
    }
    draft.link(draft.known(words[1], line), draft.known(words[2], line), line, **numbers)


def rocketfuel(path: Path) -> Listing:
    """Read Rocketfuel's weights.intra or latencies.intra: two routers and a number per line, for each direction.

    The file's name says whether the number is a weight (a cost) or a latency in ms.
    Source: rocketfuel maps, weights-dist; ns-3, src/topology-read (weights); FNSS, parse_rocketfuel_isp_latency (ms).
    """
    draft = Draft(path, directed=True)
    kinds = [kind for kind in ("weights", "latencies") if kind in path.name.lower()]
    if len(kinds) != 1:
        raise BadInput(
            f"{printable(path)}: expected weights or latencies in the name of a file of Rocketfuel, as its numbers are;"
            " rename it"
        )
    for line, text in lines_of(path):
        words = text.split()
        if len(words) != 3 or not NUMBER.fullmatch(words[2]):
            draft.fail(line, "two routers and a number", text)
        tail, head = draft.node(words[0], line), draft.node(words[1], line)
        if kinds == ["weights"]:
            draft.link(tail, head, line, cost=words[2])
        else:
            draft.link(tail, head, line, latency=f"{words[2]} ms")
    return draft.listing()


def rocketfuel_map(path: Path) -> Listing:
    """Read Rocketfuel's .cch files: routers, and their links to routers of the same provider.

    Links to other providers ({-1}), the routers of these providers, places, backbone signs and names are not read.
    Source: rocketfuel maps: "uid @loc [+] [bb] (num_neigh) [&ext] -> <nuid-1> … {-euid} … =name[!] rn".
    """
    draft, links = Draft(path, directed=True), list[tuple[str, str, int]]()
    for line, text in lines_of(path, "#"):
        match = ROUTER.fullmatch(text.strip())
        if text.lstrip().startswith("-"):
            draft.left["routers of other providers"] = None
        elif match is None:
            draft.fail(line, "a router as '1 @Paris bb (2) -> <2> <3> =name r0'", text)
        else:
            draft.declare(match[1], line)
            links += [(match[1], other, line) for other in re.findall(r"<(\d+)>", match[6])]
            draft.left |= {"links to other providers": None} if match[7] else {}
            draft.left |= dict.fromkeys(("places", "names"))
    for tail, head, line in links:
        draft.link(draft.known(tail, line), draft.known(head, line), line)
    return draft.listing()


def as_relationships(path: Path) -> Listing:
    """Read CAIDA's AS relationships, serial-1 and serial-2: one link for each pair of autonomous systems.

    The relationship itself (who pays whom, which decides on routes) and the source of each line are not read.
    Source: CAIDA, README of as-relationships (serial-1, serial-2).
    """
    draft = Draft(path)
    for line, text in lines_of(path, "#"):
        words = text.strip().split("|")
        if (
            len(words) not in (3, 4)
            or words[2] not in ("-1", "0", "1", "2")
            or not all(map(AS_NUMBER.fullmatch, words[:2]))
        ):
            draft.fail(line, "two autonomous systems and their relationship, as 1|2|-1", text)
        draft.link_once(draft.node(words[0], line), draft.node(words[1], line), line)
    draft.left["relationships, and routing by them"] = None
    return draft.listing()
