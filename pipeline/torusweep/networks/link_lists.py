"""A network from a list of links in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torusweep_kernels.adjacency import MOST_LINKS, Rows, rows_of_links, table_of_rows

from torusweep.counts import counted
from torusweep.errors import BadInput, Refused
from torusweep.networks.link_kinds import LinkKinds
from torusweep.networks.topology import NO_PORT, Plan, Topology, Wiring, default_memory, realise

NODE_BYTES = 64  # of a node without links, as in Plan.bytes
MOST_NODES = 2**31 - 1


def network_of_links(
    links: np.ndarray,
    nodes: int,
    *,
    directed: bool,
    terminals: np.ndarray | None = None,
    name: str | None = None,
    notes: Sequence[str] = (),
    kinds: LinkKinds | None = None,
    names: tuple[Any, ...] | None = None,
    memory: int | None = None,
) -> Topology:
    """The network of a list of links; ports in the order of the neighbours' numbers.

    links      int32[E, 2] or int64[E, 2], the ends of each, 0 … N − 1. A link from a node to itself is left out;
               repeated links are parallel links; of an undirected one that is listed from both ends, one is meant
    directed   whether each has one direction, from the first of its ends to the second
    terminals  int32[T], node of each terminal; None: one at every node
    name       that stands for the network in tables; None: graph(nodes=N, links=E)
    notes      remarks that its tables carry
    kinds      classes of the links, with bandwidths and latencies; None: all are alike
    names      what the nodes are called; None: their numbers
    memory     limit in bytes; None: half of the machine's
    Raises BadInput where links between two nodes are of different kinds, Refused where the table of ports needs more
    memory.
    """
    limit = default_memory() if memory is None else memory
    most = min(MOST_NODES, limit // NODE_BYTES)
    if nodes > most:
        raise Refused(
            f"expected at most {most:,} nodes, which fit into {limit / 2**30:.1f} GiB, got {nodes:,}; choose a smaller"
            " graph, or number its nodes without gaps"
        )
    if len(links) > MOST_LINKS:
        raise Refused(f"expected at most {MOST_LINKS:,} links, got {len(links):,}; choose a smaller graph")
    rows = rows_of_links(np.ascontiguousarray(links), nodes, directed=directed)
    degree, spelling = int(rows.degree.max(initial=0)), name or f"graph(nodes={nodes}, links={rows.links})"
    plan = Plan(
        nodes=nodes,
        degree=degree,
        radices=(nodes,),
        directed=directed,
        wire=lambda: wiring,
        classes=("link",) if kinds is None else kinds.classes,
        bandwidths=() if kinds is None else kinds.bandwidths,
        latencies=() if kinds is None else kinds.latencies,
        notes=(*notes, *_remarks(rows)),
        names=names,
    )
    if plan.bytes > limit:
        raise Refused(
            f"expected a graph whose table of nodes × ports fits into {limit / 2**30:.1f} GiB, got {nodes:,} nodes, the"
            f" busiest with {degree:,} links: about {plan.bytes / 2**30:.1f} GiB; choose a graph of more equal degrees"
        )
    ports, capacity = table_of_rows(rows)
    del rows  # which take as much memory as the table
    # where every link has the same class: one number that looks like a table
    link_class = np.broadcast_to(np.int8(0), ports.shape)
    if kinds is not None and len(kinds.classes) > 1:
        link_class = _classes_of_ports(ports, links, kinds.link_class, directed)
    wiring = Wiring(ports, link_class, capacity, terminals)
    return realise(spelling, "graph", plan, limit)


def _classes_of_ports(ports: np.ndarray, links: np.ndarray, link_class: np.ndarray, directed: bool) -> np.ndarray:
    """int8[N, P]: the class of each channel, from that of each link. Raises BadInput where those of one differ."""
    nodes = len(ports)
    tail, head = links[:, 0].astype(np.int64), links[:, 1].astype(np.int64)
    key, kind = tail * nodes + head, link_class
    if not directed:
        key, kind = np.append(key, head * nodes + tail), np.append(kind, kind)
    order = np.lexsort((kind, key))
    key, kind = key[order], kind[order]
    differ = np.flatnonzero((np.diff(key) == 0) & (np.diff(kind) != 0))
    if len(differ):
        u, v = divmod(int(key[differ[0]]), nodes)
        raise BadInput(
            "expected equal bandwidths and latencies of links between the same nodes, got different ones between"
            f" nodes {u} and {v}; make them equal"
        )
    found = np.zeros(ports.shape, np.int8)
    at, port = np.nonzero(ports != NO_PORT)
    found[at, port] = kind[np.searchsorted(key, at * np.int64(nodes) + ports[at, port])]
    return found


def _remarks(rows: Rows) -> list[str]:
    found = []
    if rows.loops:
        found.append(f"{counted(rows.loops, 'link')} from a node to itself left out")
    if rows.both:
        found.append(f"{counted(rows.both, 'link')} listed from both ends, read once")
    if rows.repeated:
        found.append(f"{counted(rows.repeated, 'link')} repeated, read as parallel links")
    return found
