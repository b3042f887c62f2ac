"""Describe formats of other tools, and the parts of a network that each format cannot hold.

Most formats list links; the module has the links of a network as columns, with a row for each link.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy

from torusweep.errors import BadInput
from torusweep.networks.links import channel_matrix
from torusweep.networks.names import named
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.quantities import counted, rate, time


class LinkTable(NamedTuple):
    """The links of a network, one row for all parallel links; a bidirectional link's source is the lower-numbered node.

    source, target     int32[L]  nodes at the ends, ordered by source and port
    port, target_port  int32[L]  ports at source and target; target_port is None for one-way links
    link_class         int8[L]   class of the link at the source
    target_link_class  int8[L]   class at the target; None for one-way links, or if all have the class of the source
    multiplicity       int32[L]  number of parallel links
    bandwidth          float64[L]  flits per cycle of one parallel link; None if all carry 1
    latency            int16[L]  cycles over each link; None if all take 1
    rate, tick         bits per second of a flit per cycle, and seconds per cycle, as in `Plan`; None if not given
    """

    source: np.ndarray
    target: np.ndarray
    port: np.ndarray
    target_port: np.ndarray | None
    link_class: np.ndarray
    target_link_class: np.ndarray | None
    multiplicity: np.ndarray
    bandwidth: np.ndarray | None = None
    latency: np.ndarray | None = None
    rate: Fraction | None = None
    tick: Fraction | None = None

    def numbers(self) -> dict[str, np.ndarray]:
        """Return columns by the readers' names, except ends and trivial columns; values with units are texts."""
        columns = {name: getattr(self, name) for name in self._fields[2:-2]}
        for name, unit, scale, called in (
            ("bandwidth", self.rate, 10**9, "Gb/s"),
            ("latency", self.tick, Fraction(1, 10**9), "ns"),
        ):
            if unit is not None:
                given = np.ones(len(self.source)) if columns[name] is None else columns[name]
                said, which = np.unique(given, return_inverse=True)
                columns[name] = np.array(
                    [f"{float(Fraction(value) * unit / scale):.15g} {called}" for value in said.tolist()]
                )[which]
        if (self.multiplicity == 1).all():
            del columns["multiplicity"]
        return {name: column for name, column in columns.items() if column is not None}

    def repeated(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (sources int32[M], targets int32[M]) of every link, with parallel links one by one."""
        return np.repeat(self.source, self.multiplicity), np.repeat(self.target, self.multiplicity)


def links_of(topology: Topology) -> LinkTable:
    """Return the links of a network as a `LinkTable`."""
    tail, head, port = topology.arcs
    weight = np.ones(len(tail), np.int32) if topology.capacity is None else topology.capacity[tail, port]
    kind = topology.link_class[tail, port]
    plan = topology.plan
    widths = np.array([float(width) for width in plan.bandwidths])[kind] if plan.bandwidths else None
    cycles = None if topology.latency is None else topology.latency[tail, port]
    if topology.directed:
        return LinkTable(tail, head, port, None, kind, None, weight, widths, cycles, plan.rate, plan.tick)
    # both arcs of a link have the same place in these orders, even if several links join the same nodes
    forth = np.flatnonzero(tail < head)
    back = np.flatnonzero(tail > head)
    forth = forth[np.lexsort((port[forth], weight[forth], head[forth], tail[forth]))]
    back = back[np.lexsort((port[back], weight[back], tail[back], head[back]))]
    listed = np.lexsort((port[forth], tail[forth]))
    forth, back = forth[listed], back[listed]
    other = None if np.array_equal(kind[forth], kind[back]) else kind[back]
    of_links = [None if column is None else column[forth] for column in (widths, cycles)]
    found = LinkTable(tail[forth], head[forth], port[forth], port[back], kind[forth], other, weight[forth], *of_links)
    return found._replace(rate=plan.rate, tick=plan.tick)


def ids_of(topology: Topology) -> list[str]:
    """List the nodes' names for a file: the names in the file that the network was read from, or else numbers."""
    return list(map(str, topology.plan.names or range(topology.nodes)))


def are_words(topology: Topology) -> bool:
    """Return whether all nodes have names that an edge list can hold so that they are read back unchanged."""
    names = topology.plan.names
    if names is None or all(isinstance(name, int) for name in names):
        return names is not None
    texts = list(map(str, names))
    return all(text.split() == [text] and text[:1].isalpha() and not set(text) & set(",;#%'\"") for text in texts)


def terminal_counts(topology: Topology) -> np.ndarray:
    """int64[N]: number of terminals at each node."""
    return np.bincount(topology.terminals, minlength=topology.nodes)


def in_node_order(topology: Topology) -> bool:
    """Return whether terminals are numbered node by node."""
    return bool((np.diff(topology.terminals) >= 0).all())


def one_each(topology: Topology) -> bool:
    """Return whether every node has one terminal, which has the node's number."""
    return np.array_equal(topology.terminals, np.arange(topology.nodes))


class Format(NamedTuple):
    """A format of another tool.

    meaning    what the format is, in a few words
    suffix     suffix of its file; "" for a folder of several files
    holds      names in LOSSES of the parts of a network that the format can hold
    write      function that writes the file, or the files of a folder, and returns their paths
    command    function from these paths to a shell command that reads the files
    words      whether the format can hold nodes' names only if each is a single word
    simulates  whether the files are for a simulator, which needs a connected network of bidirectional links
    check      function that raises BadInput for a network that the format cannot hold at all
    remarks    function from a network to further lines about its files
    """

    meaning: str
    suffix: str
    holds: frozenset[str]
    write: Callable[[Topology, Path], list[Path]]
    command: Callable[[list[Path]], str]
    words: bool = False
    simulates: bool = False
    check: Callable[[Topology], None] = lambda topology: None
    remarks: Callable[[Topology], list[str]] = lambda topology: []


def losses(topology: Topology, format: Format) -> list[str]:
    """List the parts of a network that a format cannot hold, and the format's own remarks, as one line each."""
    holds = format.holds - {"names"} if format.words and not are_words(topology) else format.holds
    lost = [text for name, say in LOSSES.items() if name not in holds and (text := say(topology))]
    return [*(f"not held: {text}" for text in lost), *format.remarks(topology)]


def folder_command(files: list[Path], command: str) -> str:
    """Return a shell command that calls the given command in the folder of the files."""
    return f"cd {shlex.quote(str(files[0].parent))} && {command}"


def check_simulated(topology: Topology, name: str) -> None:
    """Raise BadInput for a network that a packet simulator cannot take: directed, disconnected or without terminals."""
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


def _units(topology: Topology) -> str:
    """Describe the units of the links' bandwidths and latencies in words; "" if the network gives none."""
    plan = topology.plan
    said = [] if plan.rate is None else [f"a flit a cycle is {rate(plan.rate)}"]
    said += [] if plan.tick is None else [f"a latency of 1 is {time(plan.tick)}"]
    return f"units of links: {', '.join(said)}" if said else ""


def _latencies(topology: Topology) -> str:
    return "latencies of links" if topology.plan.latencies else ""


def _directions(topology: Topology) -> str:
    return "that links have one direction; read the file with directed=true" if topology.directed else ""


def _terminals(topology: Topology) -> str:
    if one_each(topology):
        return ""
    return f"terminals; {counted(len(topology.terminals), 'terminal')} at nodes of their own become one at every node"


def _hosts(topology: Topology) -> str:
    if topology.ends is None:
        return ""
    return (
        f"that {counted(int(topology.ends.sum()), 'host')} forward nothing; in what is written, packets may pass them"
    )


def _terminal_order(topology: Topology) -> str:
    return "" if in_node_order(topology) else "the order of the terminals; they are numbered node by node"


def _isolated(topology: Topology) -> str:
    count = int((topology.degrees == 0).sum())
    if topology.directed:
        reached = np.zeros(topology.nodes, bool)
        reached[topology.arcs[1]] = True
        count = int(((topology.degrees == 0) & ~reached).sum())
    renumbered = "" if are_words(topology) else "; later ones get smaller numbers"
    return f"{counted(count, 'node')} without links{renumbered}" if count else ""


def _names(topology: Topology) -> str:
    names = topology.plan.names
    return "" if names is None else f"what nodes are called; 0 … {topology.nodes - 1:,} stand for {named(names)}"


def _construction(topology: Topology) -> str:
    if topology.family == "graph":
        return ""
    return f"how the network is made; routings and placements of its family need the spelling {topology.spelling}"


# part of a network that a format may be unable to hold → function that describes it, "" if the network has no such part
LOSSES: dict[str, Callable[[Topology], str]] = {
    "ports": _ports,
    "classes": _classes,
    "parallel": _parallel,
    "bandwidths": _bandwidths,
    "latencies": _latencies,
    "units": _units,
    "directions": _directions,
    "terminals": _terminals,
    "hosts": _hosts,
    "terminal order": _terminal_order,
    "isolated nodes": _isolated,
    "names": _names,
    "construction": _construction,
}
