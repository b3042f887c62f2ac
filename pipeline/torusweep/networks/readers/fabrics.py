"""Read ns-3's topologies in the format of ASTRA-sim, and ibnetdiscover's output on InfiniBand fabrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.families.graph_listing import Listing, named, note_names, note_unread, text_of
from torusweep.networks.families.graph_numbers import set_numbers
from torusweep.networks.readers.fields import SHOWN, check_nodes, fail, refuse, text_lines
from torusweep.quantities import counted

MOST_NODES = 2 * 10**7  # nodes in a topology of ns-3
NODE_BYTES = 64
# name of a speed → Gb/s of a lane; 4xHDR is 200 Gb/s
LANES = {"SDR": 2.5, "DDR": 5, "QDR": 10, "FDR10": 10, "FDR": 14, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}
IB_NODE = re.compile(r'^(Switch|Ca|Rt|Router)\s+(\d{1,6})\s+"([^"]+)"(?:\s*#\s*"([^"]*)")?')
IB_LINK = re.compile(r'^\[(\d+)\](?:\[[^\]]*\])?(?:\([^)]*\))?\s*"([^"]+)"\s*\[(\d+)\][^#]*(?:#(.*))?$')
# SHARP's aggregation node in a switch has such a description, or is at an odd port beyond the ports for cables
AGGREGATION = re.compile(r"\baggregation node\b|\bsharp\S* an\b", re.IGNORECASE)
LEAST_PORTS = 36  # a switch with such a port has more ports than this: Switch-IB 2 has 37, Quantum 41, Quantum-2 65
IB_SPEED = re.compile(r"\b(\d+)x([SDQFEHNX]DR(?:10)?)\b")


def ns3(path: Path) -> Listing:
    """Read ns-3's topology in the format of ASTRA-sim and HPCC: counts, the switches, then a line for each link.

    A line has two nodes, a rate, a delay and an error rate; the last is not read. Nodes that are not switches are
    hosts, which have a terminal and forward nothing. Lines after the counted number of links are not read, as in ns-3.
    Source: astra-sim/astra-network-ns3, commit 8fd3604: scratch/common.h (SetupNetwork).
    """
    rows = [(line, text.split()) for line, text in text_lines(path)]
    nodes, switches, links = _ns3_counts(path, *rows[0])
    place, named_switches = 1, list[str]()
    while len(named_switches) < switches and place < len(rows):
        named_switches += rows[place][1]
        place += 1
    if len(named_switches) != switches:
        raise BadInput(f"{printable(path)}: expected {switches:,} switches, got {len(named_switches):,}")
    numbers = {str(node): node for node in range(nodes)} if nodes <= MOST_NODES else {}
    listing, rates, delays, failing = Listing(directed=False), list[str](), list[str](), 0
    for line, words in rows[place : place + links]:
        if len(words) not in (4, 5) or words[0] not in numbers or words[1] not in numbers:
            refuse(path, line, f"two nodes below {nodes:,}, a rate and a delay", " ".join(words))
        listing.link(numbers[words[0]], numbers[words[1]])
        failing += len(words) == 5 and re.fullmatch(r"[0.]+(e[+-]?\d+)?", words[4]) is None
        rates.append(words[2])
        delays.append(words[3])
    if len(rates) != links:
        raise BadInput(f"{printable(path)}: expected {links:,} links, as its first line says, got {len(rates):,}")
    unknown = [word for word in named_switches if word not in numbers]
    if unknown:
        shown = one_line(printable(unknown[0]), SHOWN)
        raise BadInput(f"{printable(path)}: expected switches below {nodes:,}, got '{shown}'")
    listing.nodes = np.arange(nodes)
    listing.hosts_end = True
    listing.terminals = np.setdiff1d(listing.nodes, [numbers[word] for word in named_switches])
    with named(path):
        set_numbers(listing, {"bandwidth": rates, "latency": delays})
    beyond = len(rows) - place - links
    left = [*(["error rates"] if failing else []), *([f"{counted(beyond, 'line')} after the links"] if beyond else [])]
    note_unread(listing, {"ns-3": left})
    return listing


def _ns3_counts(path: Path, line: int, words: list[str]) -> Sequence[int]:
    """Parse the numbers of nodes, switches and links in the first line."""
    if len(words) != 3 or not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        fail(path, line, f"expected the numbers of nodes, switches and links, got '{one_line(' '.join(words), SHOWN)}'")
    counts = [*map(int, words)]
    check_nodes(path, counts[0], NODE_BYTES)
    return counts


class Fabric(NamedTuple):
    """The GUIDs, LIDs and ports in ibnetdiscover's output. Nodes are given by their names in the network.

    switches  GUID of each switch → its name
    lids      LID → the node that has it, an adapter or a switch
    ports     (node, port) → the node at the other end of the link
    uplinks   adapter → the node at the other end of its only link
    """

    switches: dict[int, str]
    lids: dict[int, str]
    ports: dict[tuple[str, int], str]
    uplinks: dict[str, str]


def fabric_of(path: Path) -> Fabric:
    """Read GUIDs, LIDs and ports that ibnetdiscover printed. Raises BadInput if an adapter has several linked ports."""
    found = _discovered(path)
    names = found.names
    switches, lids = dict[int, str](), dict[int, str]()
    node, guid = "", 0
    for text in text_of(path).split("\n"):
        if match := re.match(r"(switchguid|caguid)=0x([0-9a-fA-F]+)", text):
            guid = int(match[2], 16)
        elif match := IB_NODE.match(text):
            node = names[found.ids[match[3]]]
            if match[1] == "Switch":
                switches[guid] = node
                lids |= {int(lid): node for lid in re.findall(r"\blid (\d+)\b", text)}
        elif text.startswith("[") and (lid := re.search(r"# lid (\d+)\b", text)):  # of an adapter's port
            lids.setdefault(int(lid[1]), node)
    ports = {(names[end], port): names[other] for (end, port), (other, _) in found.ports.items()}
    uplinks: dict[str, str] = {}
    for host in (*found.hosts, *found.devices):
        leads = [there for (here, _), there in ports.items() if here == names[host]]
        if len(leads) > 1:
            raise BadInput(
                f"{printable(path)}: expected one linked port of each adapter for its forwarding tables, got"
                f" {len(leads)} of {names[host]}; leave all but one out"
            )
        if leads:
            uplinks[names[host]] = leads[0]
    return Fabric(switches, lids, ports, uplinks)


class _Discovered(NamedTuple):
    """The nodes and links in ibnetdiscover's output.

    ids      name of each node in the file → its number
    ports    (node, port) → (node, port) at the other end of the link
    speeds   Gb/s of each link, by the smaller (node, port) of its ends
    differ   links whose ends have different speeds, by the same key
    names    name of each node to show
    hosts    numbers of the adapters that are hosts
    devices  numbers of the adapters within switches (SHARP's aggregation nodes)
    """

    ids: dict[str, int]
    ports: dict[tuple[int, int], tuple[int, int]]
    speeds: dict[tuple[int, int], float]
    differ: set[tuple[int, int]]
    names: list[str]
    hosts: list[int]
    devices: list[int]


def ibnetdiscover(path: Path) -> Listing:
    """Read ibnetdiscover's output on an InfiniBand fabric: switches, and adapters, which are hosts with a terminal.

    Hosts forward no packets. SHARP's aggregation nodes, which are adapters within switches, have no terminal. Nodes are
    named by their descriptions; if these are equal, by type and GUID (H-… for an adapter). Each link is listed at both
    ends, with its ports and speed (4xHDR: 200 Gb/s). If the ends differ in speed, the lower is used, with a note.
    Source: man page ibnetdiscover(8), "topology file format".
    """
    ids, ports, speeds, differ, names, hosts, devices = _discovered(path)
    listing = Listing(directed=False, nodes=np.arange(len(ids)))
    links = sorted((end, other) for end, other in ports.items() if end < other)
    for (tail, _), (head, _) in links:
        listing.link(tail, head)
    note_names(listing, {name: place for place, name in enumerate(names)})
    listing.terminals = np.array(sorted(hosts), np.int64) if hosts or devices else None
    listing.hosts_end = bool(hosts)
    if devices:
        shown = one_line(printable(", ".join(names[device] for device in devices)), SHOWN)
        listing.notes.append(
            f"{counted(len(devices), 'aggregation node')} of SHARP read as devices of switches, without a terminal:"
            f" {shown}"
        )
    with named(path):
        if any(end in speeds for end, _ in links):
            rates = [f"{speeds[end]:g} Gb/s" if end in speeds else None for end, _ in links]
            set_numbers(listing, {"bandwidth": rates})
    if differ:
        listing.notes.append(f"{counted(len(differ), 'link')} with different speeds at the two ends, the lower is used")
    return listing


def _discovered(path: Path) -> _Discovered:
    ids, called, others = dict[str, int](), dict[int, str](), dict[int, str]()
    sizes = dict[int, int]()  # switch → its number of ports
    ports: dict[tuple[int, int], tuple[int, int]] = {}
    speeds: dict[tuple[int, int], float] = {}
    differ = set[tuple[int, int]]()
    node = -1
    for line, text in enumerate(text_of(path).split("\n"), 1):
        if found := IB_NODE.match(text):
            node = ids.setdefault(found[3], len(ids))
            called[node] = found[4] or ""
            if found[1] == "Switch":
                sizes[node] = int(found[2])
        elif text.startswith("["):
            found = IB_LINK.match(text)
            if found is None or node < 0 or max(len(found[1]), len(found[3])) > 6:
                refuse(path, line, "a port and its neighbour", text)
            here, there = (node, int(found[1])), (ids.setdefault(found[2], len(ids)), int(found[3]))
            if description := re.search(r'"([^"]*)"', found[4] or ""):
                others.setdefault(there[0], description[1])
            for end, other in ((here, there), (there, here)):
                if ports.setdefault(end, other) != other:
                    refuse(path, line, "one neighbour at each port", text)
            if speed := IB_SPEED.search(found[4] or ""):
                end, rate = min(here, there), int(speed[1]) * LANES[speed[2]]
                differ |= {end} if speeds.get(end, rate) != rate else set()
                speeds[end] = min(rate, speeds.get(end, rate))
    called = others | called  # a node that the file lists only as the other end of links has the name given there
    names = _ib_names(path, ids, called)
    adapters = [node for name, node in ids.items() if name.startswith("H-")]
    within = {  # adapters at the last port of a switch with an odd number of ports
        node
        for (switch, port), (node, _) in ports.items()
        if port == sizes.get(switch) and port > LEAST_PORTS and port % 2
    }
    devices = [node for node in adapters if node in within or AGGREGATION.search(called.get(node, ""))]
    hosts = [node for node in adapters if node not in set(devices)]
    return _Discovered(ids, ports, speeds, differ, names, hosts, devices)


def _ib_names(path: Path, ids: dict[str, int], called: dict[int, str]) -> list[str]:
    """Return the names of nodes: their descriptions if these differ, otherwise their names in the file."""
    times = Counter(called.values())
    names = [name if times[name := called.get(number, "")] == 1 and name else own for own, number in ids.items()]
    if len(set(names)) < len(names):
        names = list(ids)
    if not all(map(str.isprintable, names)):
        raise BadInput(f"{printable(path)}: expected descriptions of printable characters, got others")
    return names
