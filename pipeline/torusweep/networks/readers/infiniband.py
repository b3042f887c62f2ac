"""Read reports on InfiniBand and Omni-Path: iblinkinfo, opareport, and the .lst files of ibdiagnet and OpenSM."""

from __future__ import annotations

import re
from pathlib import Path

from torusweep.errors import BadInput, printable
from torusweep.networks.families.graph_listing import Listing
from torusweep.networks.readers.draft import Draft, lines_of
from torusweep.networks.readers.fabrics import AGGREGATION, LANES

# speed of a lane as tools print it → its name
LANE_RATES = {
    **{"2.5": "SDR", "5": "DDR", "5.0": "DDR", "10": "QDR", "10.0": "QDR", "14": "FDR", "14.0625": "FDR"},
    **{"25": "EDR", "25.78125": "EDR", "50": "HDR", "53.125": "HDR", "100": "NDR", "106.25": "NDR"},
    **{"200": "XDR", "212.5": "XDR", "FDR10": "FDR10"},
}
HEAD = re.compile(r"(Switch|CA|Router): +(?:0x[0-9a-f]+ +)?(.*):\s*$")
PORT = re.compile(r'\s+(?:0x[0-9a-f]+ +)?(\d+) +(\d+)\[ *\d*\] +==\((.*?)\)==> +(?:(\d+) +(\d+)\[ *\d*\] )?.*?"(.*)"')
ACTIVE = re.compile(r" *(\d+)X +([\d.]+) Gbps .*Active/")
LST = re.compile(
    r"\{ (CA|SW|Rt)(?:-SM)? Ports:.*?NodeGUID:(\w+) .*?\{(.*?)\} LID:\w+ PN:(\w+) \}\s*"
    r"\{ (CA|SW|Rt)(?:-SM)? Ports:.*?NodeGUID:(\w+) .*?\{(.*?)\} LID:\w+ PN:(\w+) \}\s*"
    r"(?:PHY=(\S+) LOG=(\w+)(?: SPD=(\S+))?)?\s*"
)
UP = (None, "ACT", "ARM", "INI")  # states of a link that is up
UNKNOWN = "??"  # a width or speed that OpenSM does not name
OPA_COUNT = re.compile(r"\s*(\d{1,9}) (?:[\w-]+ )*Links in Fabric")
OPA = re.compile(r"(<->|(\d+(?:\.\d+)?)g(?: +\d+)?)\s+(0x[0-9a-f]+)\s+(\d+)\s+(FI|SW)\s+(.*?)\s*$")


def iblinkinfo(path: Path) -> Listing:
    """Read iblinkinfo's output: switches, and adapters, which are terminals and forward no packets.

    Nodes are named by their descriptions; if these are equal, LIDs are added. Each link is listed at both ends
    and read once, with its width and speed (4X 25.78125 Gbps: 100 Gb/s). Aggregation nodes are no terminals. Ports that
    are down are left out. Output of `--line` is refused, because it does not tell adapters from switches.
    Source: rdma-core, infiniband-diags/iblinkinfo.c.
    """
    draft = Draft(path)
    nodes, ports = _ports(draft)
    lids = {port[1]: node for _, node, port in reversed(ports) if port[1] != "0"}
    called = [name for _, name, _ in nodes]
    lid_of = {node: lid for lid, node in lids.items()}
    for node, (kind, name, line) in enumerate(nodes):
        host = kind == "CA" and AGGREGATION.search(name) is None
        draft.declare(name if called.count(name) == 1 else f"{name} {lid_of.get(node, node)}", line, host=host)
    ends: dict[tuple[int, str], tuple[int, str]] = {}
    for line, node, port in ports:
        _, lid, number, state, other_lid, other_number, name = port.group(0, 1, 2, 3, 4, 5, 6)
        if lids.get(lid, node) != node:
            draft.fail(line, "LIDs of one node each", lid)
        if other_lid is None or " Active/" not in state:
            draft.left["ports that are down"] = None
            continue
        if (other := lids.get(other_lid, -1)) < 0:
            draft.left["the kind of nodes that are only at the other end of links: read as adapters"] = None
            other = draft.node(f"{name.strip()} {other_lid}", line, host=True)
        here, there = (node, number), (other, other_number)
        first = here not in ends
        if ends.setdefault(here, there) != there or ends.setdefault(there, here) != here:
            draft.fail(line, "one neighbour at each port", name)
        if first:
            speed = ACTIVE.match(state)
            draft.link(node, other, line, bandwidth=_rate(draft, line, *(speed.groups() if speed else ("", state))))
    return draft.listing(hosts_end=True)


def _ports(draft: Draft) -> tuple[list[tuple[str, str, int]], list[tuple[int, int, re.Match[str]]]]:
    """Return iblinkinfo's nodes, (kind, description, line) each, and ports, (line, node, match of PORT) each."""
    nodes: list[tuple[str, str, int]] = []
    ports: list[tuple[int, int, re.Match[str]]] = []
    for line, text in lines_of(draft.path):
        if head := HEAD.match(text):
            nodes.append((head[1], head[2].strip(), line))
        elif "==(" in text:
            port = PORT.match(text)
            if port is None or not nodes:
                draft.fail(line, "a node, and its ports below it, as iblinkinfo prints them without --line", text)
            ports.append((line, len(nodes) - 1, port))
    return nodes, ports


def _rate(draft: Draft, line: int, width: str, lane: str) -> str:
    """Return the bandwidth of a link, as text, from its number of lanes (`width`) and the speed of a lane."""
    if lane not in LANE_RATES or not width or len(width) > 3:
        draft.fail(
            line, f"the width of a link and its speed, one of {', '.join(LANE_RATES)} Gb/s a lane", f"{width}x {lane}"
        )
    return f"{int(width) * LANES[LANE_RATES[lane]]:g} Gb/s"


def subnet_list(path: Path) -> Listing:
    """Read a .lst file of ibdiagnet or OpenSM: one link per line, with its width and speed per lane.

    Adapters are terminals. Nodes are named by their descriptions; if these are equal, by their GUIDs. The subnet
    manager's node has the type CA-SM or SW-SM. Links that are down are left out. OpenSM writes ?? for widths and speeds
    newer than EDR, and these are not read.
    Source: OpenSM, opensm/osm_dump.c (dump_topology_node); ibutils, ibdm/datamodel/Fabric.cpp (parseSubnetLine).
    """
    draft = Draft(path)
    rows = []
    for line, text in lines_of(path, "#"):
        match = LST.fullmatch(text.strip())
        if match is None:
            draft.fail(line, "{ CA … } { SW … } PHY=4x LOG=ACT SPD=25, as ibdiagnet lists links", text.strip())
        rows.append((line, match))
    names = _called({match[place + 1]: match[place + 2].strip() for _, match in rows for place in (1, 5)})
    ends: set[tuple[str, str]] = set()
    for line, match in rows:
        one, other = (
            draft.node(names[guid], line, host=kind == "CA" and AGGREGATION.search(text) is None)
            for kind, guid, text in ((match[1], match[2], match[3]), (match[5], match[6], match[7]))
        )
        if (match[2], match[4]) in ends and (match[6], match[8]) in ends:
            continue
        ends |= {(match[2], match[4]), (match[6], match[8])}
        if match[10] not in UP:
            draft.left["links that are down"] = None
            continue
        rate = None
        if UNKNOWN in (match[9], match[11]):
            draft.left["speeds, which OpenSM writes as ??"] = None
        elif match[9] and match[11]:
            rate = _rate(draft, line, match[9].removesuffix("x"), match[11].removesuffix(".0"))
        draft.link(one, other, line, bandwidth=rate)
    return draft.listing(hosts_end=True)


def opareport(path: Path) -> Listing:
    """Read the output of `opareport -o links` on Omni-Path: FI nodes, which are terminals, and switches (SW).

    Details of ports and cables, which -d prints below a link, are not read. If the report counts another number of
    links than it lists, as it does for a part of the fabric, a note says so.
    Source: opa-ff, IbaTools/opareport/opareport.c (ShowLinksReport, ShowLinkPortBriefSummary).
    """
    draft, other, rate = Draft(path), -1, ""
    rows, counted_links = list[tuple[int, re.Match[str]]](), 0
    for line, text in lines_of(path):
        if match := OPA.match(text.strip()):
            rows.append((line, match))
        elif match := OPA_COUNT.match(text):
            counted_links = int(match[1])
        elif match := re.match(r"\s+(\w+): ", text):
            draft.left[match[1]] = None
    names = _called({match[3]: match[6] for _, match in rows})
    for place, (line, match) in enumerate(rows):
        if (match[1] == "<->") != bool(place % 2):
            draft.fail(line, "the two ends of a link, of which the second begins with <->", match[0])
        node = draft.node(names[match[3]], line, host=match[5] == "FI")
        if place % 2:
            draft.link(other, node, line, bandwidth=f"{rate} Gb/s")
        other, rate = node, match[2]
    if len(rows) % 2 or not rows:
        raise BadInput(f"{printable(path)}: expected links with two ends each, as opareport -o links prints them")
    if counted_links and counted_links != len(draft):
        draft.notes.append(f"the report counts {counted_links:,} links, and lists {len(draft):,}")
    return draft.listing(hosts_end=True)


def _called(names: dict[str, str]) -> dict[str, str]:
    """Return a map from GUID to name of each node: its description if all of these differ, otherwise the GUID."""
    plain = len({*names.values()}) == len(names) and all(names.values())
    return names if plain else {guid: guid for guid in names}
