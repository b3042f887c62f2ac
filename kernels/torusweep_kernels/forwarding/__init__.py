"""Routing tables as graphs of configurations: their order, the flows over them, and layers without cycles.

A configuration is all that a packet's next hop depends on. Those of packets to node d are first[d] … first[d + 1] − 1.
Configuration c is at node at[c], and its rows are rows[c] … rows[c + 1] − 1. Row r leads through a port to the
configuration next[r]; −1: the packet has arrived.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

IN_ORDER, STUCK, CIRCULAR = 0, 1, 2
LOST = -2  # of `next`: no configuration fits, and the packet is not at its destination


class Order(NamedTuple):
    """The configurations that packets reach, for each destination each after those that lead to it.

    order   int32[C']     configurations in that order
    first   int64[N + 1]  order[first[d]] … are those of destination d
    fault   IN_ORDER; STUCK: packets reach a row that leads nowhere; CIRCULAR: some configurations lead to each other
    where   STUCK: the configuration of that row; CIRCULAR: one that is in a circle, or that it leads to
    """

    order: np.ndarray
    first: np.ndarray
    fault: int
    where: int


def order_of(first: np.ndarray, rows: np.ndarray, next: np.ndarray, enters: np.ndarray) -> Order:
    """Put the configurations that packets reach in order, or find what is wrong with them.

    first   int64[N + 1]  see the package
    rows    int64[C + 1]
    next    int32[R]      −1 = arrived, −2 = nowhere
    enters  bool[C]       packets are injected in this configuration

    Those that nothing leads to come first, in the order of their numbers, then those that only these lead to, ….
    After a fault the order ends before that destination.
    """
    from torusweep_kernels.forwarding import cpu

    order, begins = np.empty(len(rows) - 1, np.int32), np.zeros(len(first), np.int64)
    fault, where = cpu.order_of(first, rows, next, enters, order, begins)
    return Order(order[: begins[-1]], begins, int(fault), int(where))


class Table(NamedTuple):
    """A table whose configurations are in the order of `order_of`.

    first   int64[N + 1], at int32[C], rows int64[C + 1], next int32[R]: see the package
    link    int32[R]    number of the channel of each row, node · P + port; −1 = none
    weight  float64[R]  > 0; a row takes its weight over the total of its configuration
    total   float64[C]
    """

    first: np.ndarray
    at: np.ndarray
    rows: np.ndarray
    link: np.ndarray
    next: np.ndarray
    weight: np.ndarray
    total: np.ndarray


class Demands(NamedTuple):
    """Flits that are injected.

    destination  int64[B]      nodes, each once
    begins       int64[B + 1]  demands begins[i] … begins[i + 1] − 1 are to destination[i]
    entry        int32[E]      configuration in which each demand is injected
    amount       float64[E]    ≥ 0
    """

    destination: np.ndarray
    begins: np.ndarray
    entry: np.ndarray
    amount: np.ndarray


def table_flows(table: Table, demands: Demands, load: np.ndarray, rest: np.ndarray) -> None:
    """Add the flits over every channel to load + rest, float64[L] each, by number of the channel.

    All sums, products and quotients are taken with twice the digits of float64: `load` is the sum of the exact flows of
    these demands, weights and totals, rounded once, and does not depend on the order of configurations and rows (unless
    it is within 2⁻⁴⁰ of a last digit between two numbers). `rest` is what rounding left.
    """
    from torusweep_kernels.forwarding import cpu

    cpu.table_flows(table, demands, load, rest)
