"""Up*/down* routing: first towards a root, then away from it, on any network of bidirectional links."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import scipy

from torusweep.errors import BadInput, Refused
from torusweep.networks.names import number_of
from torusweep.networks.topology import NO_PORT, Meaning, Topology, Whole, require
from torusweep.routing.forms import LayeredRouting

Root = Annotated[int, Whole(0, "number of the node that all links lead up to")]
Split = Annotated[
    Literal["paths", "next_hops"],
    Meaning("paths: all shortest permitted paths equally; next_hops: at every node, all links on such paths equally"),
]
MAX_PORTS = int(np.iinfo(np.int8).max)


def up_down(topology: Topology, root: Root = 0, split: Split = "paths") -> LayeredRouting:
    """The shortest paths that do not go up (towards the root) after they have gone down.

    The upper end of a link is the node nearer to the root; of two equally near, the lower-numbered one.

    Constraint: bidirectional links that connect all terminals with the root; at most 127 ports a node.
    Source: Schroeder et al. 1991 (Autonet).
    """
    nodes, width = topology.ports.shape
    if topology.directed:
        raise BadInput(
            f"routing up_down on {topology.spelling}: expected bidirectional links, got a directed network;"
            " choose minimal, which suits every network"
        )
    root = number_of(topology.plan.names, root, "root")
    require(root < nodes, "root", root, f"0 … {nodes - 1}", f"{topology.spelling} has {nodes} nodes")
    if width > MAX_PORTS:
        raise Refused(
            f"routing up_down on {topology.spelling}: expected at most {MAX_PORTS} ports a node, got {width};"
            " choose another network"
        )
    level = _levels(topology, root)
    cut_off = topology.terminals[np.isinf(level[topology.terminals])]
    if len(cut_off):
        raise BadInput(
            f"routing up_down on {topology.spelling}: expected links that connect all terminals with root {root},"
            f" got none to node {cut_off[0]}; choose a connected network, and as root a node that works"
        )
    rank = np.empty(nodes, np.int64)
    rank[np.lexsort((np.arange(nodes), level))] = np.arange(nodes)

    all_nodes = np.arange(nodes, dtype=np.int32)
    there = topology.ports
    leads = (there != NO_PORT) & np.isfinite(level)[:, None]
    up = leads & (rank[there] < rank[:, None])
    going_up, gone_down, arrived = all_nodes, all_nodes + np.int32(nodes), all_nodes + np.int32(2 * nodes)
    states = np.full((3 * nodes, width + 1), NO_PORT, np.int32)
    states[going_up, :-1] = np.where(up, going_up[there], np.where(leads, gone_down[there], NO_PORT))
    states[gone_down, :-1] = np.where(leads & ~up, gone_down[there], NO_PORT)
    states[: 2 * nodes, -1] = np.tile(arrived, 2)
    port = np.where(states == NO_PORT, NO_PORT, np.arange(width + 1)).astype(np.int8)
    port[:, -1] = NO_PORT
    arcs = "next-hops" if split == "next_hops" else split
    return LayeredRouting(topology, states, port, np.tile(all_nodes, 3), going_up, arrived, 1, arcs)


def _levels(topology: Topology, root: int) -> np.ndarray:
    """float64[N]: hops from the root, inf if there is no path."""
    tail, head, _ = topology.arcs
    links = scipy.sparse.coo_array(
        (np.ones(len(tail), np.int8), (tail, head)), shape=(topology.nodes, topology.nodes)
    ).tocsr()
    return scipy.sparse.csgraph.dijkstra(links, unweighted=True, indices=root)
