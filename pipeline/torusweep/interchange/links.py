"""The links of a network as columns, a row for each link: what most formats list."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.networks.topology import Topology


class LinkTable(NamedTuple):
    """A row for each link, parallel links together; of a bidirectional link the source has the smaller number.

    source, target     int32[L]  nodes, ordered by source and port
    port, target_port  int32[L]  at either end; target_port is None where links have one direction
    link_class         int8[L]   at the source
    target_link_class  int8[L]   at the target; None where it is the same everywhere, or links have one direction
    multiplicity       int32[L]  number of parallel links
    bandwidth          float64[L]  flits a cycle of one of them; None: 1 each
    latency            int16[L]  cycles over each; None: 1 each
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

    def numbers(self) -> dict[str, np.ndarray]:
        """The columns beside the ends that say something, in the names that the readers know."""
        columns = {name: getattr(self, name) for name in self._fields[2:]}
        if (self.multiplicity == 1).all():
            del columns["multiplicity"]
        return {name: column for name, column in columns.items() if column is not None}

    def repeated(self) -> tuple[np.ndarray, np.ndarray]:
        """(int32[M], int32[M]): ends of every link, parallel links one by one."""
        return np.repeat(self.source, self.multiplicity), np.repeat(self.target, self.multiplicity)


def links_of(topology: Topology) -> LinkTable:
    """The links of a network."""
    tail, head, port = topology.arcs
    weight = np.ones(len(tail), np.int32) if topology.capacity is None else topology.capacity[tail, port]
    kind = topology.link_class[tail, port]
    plan = topology.plan
    widths = np.array([float(width) for width in plan.bandwidths])[kind] if plan.bandwidths else None
    cycles = None if topology.latency is None else topology.latency[tail, port]
    if topology.directed:
        return LinkTable(tail, head, port, None, kind, None, weight, widths, cycles)
    # both arcs of a link stand at the same place of these orders, even if several links join the same nodes
    forth = np.flatnonzero(tail < head)
    back = np.flatnonzero(tail > head)
    forth = forth[np.lexsort((port[forth], weight[forth], head[forth], tail[forth]))]
    back = back[np.lexsort((port[back], weight[back], tail[back], head[back]))]
    listed = np.lexsort((port[forth], tail[forth]))
    forth, back = forth[listed], back[listed]
    other = None if np.array_equal(kind[forth], kind[back]) else kind[back]
    of_links = [None if column is None else column[forth] for column in (widths, cycles)]
    return LinkTable(tail[forth], head[forth], port[forth], port[back], kind[forth], other, weight[forth], *of_links)


def ids_of(topology: Topology) -> list[str]:
    """What the nodes are called in a file: as in the one that the network was read from, else by number."""
    return list(map(str, topology.plan.names or range(topology.nodes)))


def terminal_counts(topology: Topology) -> np.ndarray:
    """int64[N]: number of terminals of each node."""
    return np.bincount(topology.terminals, minlength=topology.nodes)


def in_node_order(topology: Topology) -> bool:
    """Whether terminals are numbered node by node."""
    return bool((np.diff(topology.terminals) >= 0).all())


def one_each(topology: Topology) -> bool:
    """Whether every node has one terminal, with its number."""
    return np.array_equal(topology.terminals, np.arange(topology.nodes))
