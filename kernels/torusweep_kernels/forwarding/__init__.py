"""Treat routing tables as graphs of configurations: their order, the flows over them, and layers without cycles.

A configuration is the state on which a packet's next hop depends. Packets to node d have configurations first[d] …
first[d + 1] − 1. Configuration c is at node at[c], and its rows are rows[c] … rows[c + 1] − 1. Row r leads through a
port to configuration next[r]; −1: the packet has arrived.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

IN_ORDER, STUCK, CIRCULAR = 0, 1, 2
LOST = -2  # of `next`: no configuration fits, and the packet is not at its destination
MOST_LAYERS = 64


class Order(NamedTuple):
    """The configurations that packets reach, ordered so that for each destination predecessors come first.

    order   int32[C']     configurations in that order
    first   int64[N + 1]  order[first[d]] … order[first[d + 1] − 1] are configurations of destination d
    fault   IN_ORDER; STUCK: packets reach a row that leads nowhere; CIRCULAR: some configurations form a cycle
    where   if STUCK, the configuration of that row; if CIRCULAR, a configuration on the cycle or reached from it
    """

    order: np.ndarray
    first: np.ndarray
    fault: int
    where: int


def order_of(first: np.ndarray, rows: np.ndarray, next: np.ndarray, enters: np.ndarray) -> Order:
    """Put the configurations that packets reach in order, or find a fault in them.

    first   int64[N + 1]  configurations of each destination (see the module)
    rows    int64[C + 1]  rows of each configuration
    next    int32[R]      configuration to which each row leads; −1 = arrived, −2 = nowhere
    enters  bool[C]       whether packets are injected in this configuration

    Configurations without predecessors come first, by number, then those whose predecessors have all come, and so on.
    If there is a fault, the order ends before the destination that has it.
    """
    from torusweep_kernels.forwarding import cpu

    order, begins = np.empty(len(rows) - 1, np.int32), np.zeros(len(first), np.int64)
    fault, where = cpu.order_of(first, rows, next, enters, order, begins)
    return Order(order[: begins[-1]], begins, int(fault), int(where))


class Table(NamedTuple):
    """A routing table whose configurations are in the order of `order_of`.

    first   int64[N + 1], at int32[C], rows int64[C + 1], next int32[R]: see the module
    link    int32[R]    number of the channel of each row, node · P + port; −1 = none
    weight  float64[R]  > 0; a row gets the share weight / total of its configuration's flow
    total   float64[C]  sum of the weights of each configuration's rows
    """

    first: np.ndarray
    at: np.ndarray
    rows: np.ndarray
    link: np.ndarray
    next: np.ndarray
    weight: np.ndarray
    total: np.ndarray


class Demands(NamedTuple):
    """Numbers of flits that are injected.

    destination  int64[B]      destination nodes, each once
    begins       int64[B + 1]  demands begins[i] … begins[i + 1] − 1 are for destination[i]
    entry        int32[E]      configuration in which each demand is injected
    amount       float64[E]    flits of each demand, ≥ 0
    """

    destination: np.ndarray
    begins: np.ndarray
    entry: np.ndarray
    amount: np.ndarray


def table_flows(table: Table, demands: Demands, load: np.ndarray, rest: np.ndarray) -> None:
    """Add the flits over every channel to load + rest, float64[L] each, indexed by the channel's number.

    All sums, products and quotients have twice the digits of float64; `rest` is what rounding left.
    `torusweep_kernels.sums.rounded` gives the exact flows of these demands, weights and totals, rounded
    once, so that the result does not depend on the order of configurations and rows.
    """
    from torusweep_kernels.forwarding import cpu

    cpu.table_flows(table, demands, load, rest)


class Channels(NamedTuple):
    """The channels of a network, numbered node · P + port, also listed by the nodes to which they lead.

    ports     int32[N, P]  neighbour through each port, −1 = none
    begins    int64[N + 1] channels incoming[begins[v]] … incoming[begins[v + 1] − 1] lead to node v
    incoming  int32[L]     numbers of channels
    """

    ports: np.ndarray
    begins: np.ndarray
    incoming: np.ndarray


def channels_of(ports: np.ndarray) -> Channels:
    """Return the channels of a network, given its ports int32[N, P]."""
    nodes, width = ports.shape
    tail, port = np.nonzero(ports >= 0)
    head = ports[tail, port]
    order = np.argsort(head, kind="stable")
    begins = np.searchsorted(head[order], np.arange(nodes + 1))
    return Channels(np.ascontiguousarray(ports, np.int32), begins, (tail * width + port)[order].astype(np.int32))


def assign_layers(table: Table, channels: Channels, entry: np.ndarray) -> np.ndarray:
    """Return int16[E]: a layer 0, 1, … for the packets of each entry; no layer's channel dependencies have a cycle.

    entry   int32[E]   configurations in which packets are injected, in the order in which they get layers

    Each entry goes to the first layer in which its packets' dependencies close no cycle with earlier entries: a greedy
    search, as in LASH (Skeie et al. 2002). −1 means that none of the 64 layers fits.

    A new dependency is tested on a topological order of the layer's channels, which is kept up to date (Pearce & Kelly
    2006). A dependency that closes a cycle is not tested again, since none is ever removed and so it always will.
    """
    from torusweep_kernels.forwarding import cpu as cpu_layers

    return cpu_layers.assign_layers(table, channels, np.ascontiguousarray(entry, np.int32), MOST_LAYERS)
