"""What a format is, and what of a network it cannot hold."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy

from torusweep.counts import counted
from torusweep.errors import BadInput
from torusweep.interchange.links import in_node_order, one_each, terminal_counts
from torusweep.networks.links import channel_matrix
from torusweep.networks.names import named
from torusweep.networks.topology import NO_PORT, Topology


def no_remarks(topology: Topology) -> list[str]:
    return []


class Format(NamedTuple):
    """A format of another tool.

    meaning    in a few words
    suffix     of its file; "" for a folder of several files
    holds      names of LOSSES that the format can hold
    write      writes the file, or the files of a folder, and returns their paths
    command    what reads the files, for a shell
    simulates  whether the files are for a simulator: its networks are in one piece, of links in both directions
    check      raises BadInput for a network that the format cannot hold at all
    remarks    further lines about this network
    """

    meaning: str
    suffix: str
    holds: frozenset[str]
    write: Callable[[Topology, Path], list[Path]]
    command: Callable[[list[Path]], str]
    simulates: bool = False
    check: Callable[[Topology], None] = lambda topology: None
    remarks: Callable[[Topology], list[str]] = no_remarks


def losses(topology: Topology, format: Format) -> list[str]:
    """What of this network the format cannot hold, a line for each, and the format's own remarks."""
    lost = [text for name, say in LOSSES.items() if name not in format.holds and (text := say(topology))]
    return [*(f"not held: {text}" for text in lost), *format.remarks(topology)]


def folder_command(files: list[Path], command: str) -> str:
    """A command to be called in the folder of the files."""
    return f"cd {shlex.quote(str(files[0].parent))} && {command}"


def check_simulated(topology: Topology, name: str) -> None:
    """Raise BadInput for a network that a simulator of packets cannot take."""
    if topology.directed:
        raise BadInput(
            f"{topology.spelling} as {name}: expected links in both directions, got links in one;"
            " choose another network, or graphml, networkx-json or parquet"
        )
    if not len(topology.terminals):
        raise BadInput(f"{topology.spelling} as {name}: expected terminals, which send, got none; add some")
    if (
        topology.nodes > 1
        and scipy.sparse.csgraph.connected_components(channel_matrix(topology), directed=False)[0] > 1
    ):
        raise BadInput(
            f"{topology.spelling} as {name}: expected a network in one piece, got several or nodes without links;"
            " choose another network, or graphml, networkx-json or parquet"
        )


def _ports(topology: Topology) -> str:
    return "port numbers; the links of a node come in another order" if topology.plan.degree > 1 else ""


def _classes(topology: Topology) -> str:
    kinds = np.unique(topology.link_class[topology.ports != NO_PORT])
    if len(kinds) < 2:
        return ""
    names = topology.plan.classes
    shown = ", ".join(names[kind] if kind < len(names) else str(kind) for kind in kinds.tolist()[:6])
    return f"link classes ({shown}{', …' if len(kinds) > 6 else ''})"


def _parallel(topology: Topology) -> str:
    if topology.capacity is None or topology.capacity.max(initial=1) <= 1:
        return ""
    channels = len(topology.arcs[0]) // (1 if topology.directed else 2)
    return f"parallel links; {topology.links:,} links become {channels:,}"


def _bandwidths(topology: Topology) -> str:
    return "bandwidths of links; each carries as much as any other" if topology.plan.bandwidths else ""


def _latencies(topology: Topology) -> str:
    return "latencies of links" if topology.plan.latencies else ""


def _directions(topology: Topology) -> str:
    return "that links have one direction; read the file with directed=true" if topology.directed else ""


def _terminals(topology: Topology) -> str:
    if one_each(topology):
        return ""
    return f"terminals; {counted(len(topology.terminals), 'terminal')} at nodes of their own become one at every node"


def _terminal_order(topology: Topology) -> str:
    return "" if in_node_order(topology) else "the order of the terminals; they are numbered node by node"


def _isolated(topology: Topology) -> str:
    count = int((topology.degrees == 0).sum())
    if topology.directed:
        reached = np.zeros(topology.nodes, bool)
        reached[topology.arcs[1]] = True
        count = int(((topology.degrees == 0) & ~reached).sum())
    return f"{counted(count, 'node')} without links; later ones get smaller numbers" if count else ""


def _names(topology: Topology) -> str:
    names = topology.plan.names
    return "" if names is None else f"what nodes are called; 0 … {topology.nodes - 1:,} stand for {named(names)}"


def _construction(topology: Topology) -> str:
    if topology.family == "graph":
        return ""
    return f"how the network is made; routings and placements of its family need the spelling {topology.spelling}"


# what a format may be unable to hold → function from a network to words, "" where the network has nothing of it
LOSSES: dict[str, Callable[[Topology], str]] = {
    "ports": _ports,
    "classes": _classes,
    "parallel": _parallel,
    "bandwidths": _bandwidths,
    "latencies": _latencies,
    "directions": _directions,
    "terminals": _terminals,
    "terminal order": _terminal_order,
    "isolated nodes": _isolated,
    "names": _names,
    "construction": _construction,
}


def terminals_per_node(topology: Topology, name: str) -> int:
    """Number of terminals of every node. Raises BadInput where they differ."""
    counts = terminal_counts(topology)
    if counts.min() != counts.max():
        raise BadInput(
            f"{topology.spelling} as {name}: expected as many terminals at every node, got {counts.min()} to"
            f" {counts.max()}; choose booksim, sst or astra-sim, which take any number"
        )
    return int(counts[0])
