"""Read routing tables of fabric tools and simulators: InfiniBand's forwarding tables, and Noxim's."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import numpy as np

from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.families.graph_files import files_of
from torusweep.networks.names import name_of
from torusweep.networks.readers import format_of
from torusweep.networks.readers.fabrics import Fabric, fabric_of
from torusweep.networks.topology import Topology
from torusweep.routing.tables.rows import TableRows
from torusweep.tables.parquet import content_of

SHOWN = 60
MEMORY_PER_BYTE = 64  # memory per byte of the file, in which an entry has at least 9 bytes
GUID = re.compile(r"\bguid 0x([0-9a-fA-F]+)")
ENTRY = re.compile(r"0x([0-9a-fA-F]{4})\s+(\d{3})\b")
NO_OUTPUT = 255  # of a LID without a route
NOXIM = re.compile(r".\s*(\d+)\s+(\d+)->(\d+)\s+(\d+)")
NOXIM_OUTPUTS = 22  # column at which a line's outputs begin
BEGINS = {
    "forwarding": re.compile(rb"^(Uni|Multi)cast m?lids?\b", re.MULTILINE),
    "noxim": re.compile(rb"^.\s*\d+\s+\d+->\d+\s+\d+\s+\d+->\d+", re.MULTILINE),
}


def rows_of_dump(topology: Topology, path: Path, memory: int) -> TableRows | None:
    """Read the rows of a dump of InfiniBand or Noxim; None for any other file. Raises BadInput that names a line."""
    try:
        with path.open("rb") if path.is_file() else BytesIO() as file:
            head = file.read(1 << 16)
    except (OSError, ValueError):
        return None
    read = next((READERS[kind] for kind, begins in BEGINS.items() if begins.search(head)), None)
    if read is None:
        return None
    content = content_of(path, what="a routing table", most_bytes=memory // MEMORY_PER_BYTE, remedy="")
    return read(topology, content.decode("utf-8", errors="replace").splitlines())


def _forwarding(topology: Topology, lines: list[str]) -> TableRows:
    """Read the output of ibroute, dump_fts or dump_lfts, or OpenSM's dump: a port for each LID, switch by switch.

    The network must come from ibnetdiscover's output, which gives the owners of LIDs and the ends of ports. If an
    adapter has several LIDs (lmc), only the first is read. Adapters send to their switch.
    Source: infiniband-diags, dump_fts.c (dump_unicast_tables); opensm, osm_dump.c (dump_ucast_lfts).
    """
    fabric = _fabric(topology)
    number = {str(name_of(topology, node)): node for node in range(topology.nodes)}
    at, destination, to = list[int](), list[int](), list[int]()
    switch: int | None = None
    for line, text in enumerate(lines, 1):
        if text.startswith(("Unicast", "Multicast")):
            found = GUID.search(text)
            if found is None or text.startswith("Multicast"):
                raise BadInput(f"line {line}: expected a unicast table of a switch with its guid, got '{_shown(text)}'")
            guid = int(found[1], 16)
            if guid not in fabric.switches:
                raise BadInput(
                    f"line {line}: expected a switch of the network, got guid 0x{found[1]}, which it has not"
                )
            switch = guid
        elif entry := ENTRY.match(text):
            if switch is None:
                raise BadInput(f"line {line}: expected 'Unicast lids … of switch … guid …' before the first entry")
            lid, port = int(entry[1], 16), int(entry[2])
            here, goal = fabric.switches[switch], fabric.lids.get(lid)
            if goal is None or goal == here or port in (0, NO_OUTPUT) or not {here, goal} <= set(number):
                continue
            leads = fabric.ports.get((here, port))
            if leads is None:
                raise BadInput(
                    f"line {line}: expected a port of {here} with a link, got {port} towards {goal}; the tables and"
                    " ibnetdiscover's output must be of the same time"
                )
            at.append(number[here])
            destination.append(number[goal])
            to.append(number.get(leads, -1))
    if not at:
        raise BadInput("expected entries such as '0x0004 013 : (…)', got none of adapters of the network")
    goals = np.unique(topology.terminals).tolist()
    for name, leads in fabric.uplinks.items():
        if name in number and number[name] in goals:
            others = [goal for goal in goals if goal != number[name]]
            at += [number[name]] * len(others)
            destination += others
            to += [number.get(leads, -1)] * len(others)
    return _rows(topology, at, destination, to, None)


def _fabric(topology: Topology) -> Fabric:
    files = [file for file in files_of(topology.spelling) if format_of(file) == "ibnetdiscover"]
    if len(files) != 1:
        raise BadInput(
            "expected the network of ibnetdiscover's output, whose LIDs and ports these forwarding tables speak of,"
            f" got {topology.spelling}; run ibnetdiscover > fabric.ibnetdiscover, and take that file as the network"
        )
    return fabric_of(files[0])


def _noxim(topology: Topology, lines: list[str]) -> TableRows:
    """Read Noxim's routing table. A line has a node, the link of arrival, the destination and the outputs.

    A link of arrival from the node itself means injection. From column 22 on, permitted outputs are listed as 5->6,
    with commas; packets divide equally among them. Nodes are numbered row by row, as in a mesh.
    Source: davidepatti/noxim, commit 07f7ae2, src/GlobalRoutingTable.cpp (load).
    """
    columns: tuple[list[int], ...] = ([], [], [], [])
    for line, text in enumerate(lines, 1):
        if not text.strip():
            break
        if text[0] == "%":
            continue
        found = NOXIM.match(text)
        outputs = re.findall(r"(\d+)->(\d+)", text[NOXIM_OUTPUTS:])
        if found is None or found.end() > NOXIM_OUTPUTS or not outputs:
            raise BadInput(
                f"line {line}: expected a node, a link and a destination, and outputs from column {NOXIM_OUTPUTS} on,"
                f" got '{_shown(text)}'"
            )
        node, source, end, goal = (int(number) for number in found.groups())
        if max(node, source, goal) >= topology.nodes or end != node:
            raise BadInput(
                f"line {line}: expected nodes 0 … {topology.nodes - 1}, and a link to node {node}, got '{_shown(text)}'"
            )
        for start, head in outputs:
            if int(start) != node:
                raise BadInput(f"line {line}: expected outputs of node {node}, got {start}->{head}")
            if node != goal:
                for column, value in zip(columns, (node, goal, int(head), source if source != node else -1)):
                    column.append(value)
    at, destination, to, came = columns
    return _rows(topology, at, destination, to, came)


def _rows(
    topology: Topology, at: list[int], destination: list[int], to: list[int], came: list[int] | None
) -> TableRows:
    """Make rows from columns of nodes, destinations and next nodes. Raises BadInput if no link leads to a next node."""
    tails, heads = np.array(at, np.int64), np.array(to, np.int64)
    port = np.full(len(tails), -1, np.int64)
    for number in range(topology.ports.shape[1] - 1, -1, -1):
        port[(topology.ports[tails, number] == heads) & (heads >= 0)] = number
    wrong = np.flatnonzero(port < 0)
    if len(wrong):
        here, goal = (name_of(topology, nodes[wrong[0]]) for nodes in (at, destination))
        next_node = (
            name_of(topology, to[wrong[0]]) if 0 <= to[wrong[0]] < topology.nodes else "a node that is not there"
        )
        raise BadInput(f"expected a link from {here} to {next_node}, as packets to {goal} take it, got none")
    entering = None if came is None else np.array(came, np.int64)
    return TableRows(tails, np.array(destination, np.int64), port, entering)


def _shown(text: str) -> str:
    return one_line(printable(text.strip()), SHOWN)


READERS = {"forwarding": _forwarding, "noxim": _noxim}
