"""Specification of `torusweep_kernels.forwarding`: plain loops over destinations, configurations and rows."""

from __future__ import annotations

from collections import deque
from fractions import Fraction

import numpy as np

from torusweep_kernels.forwarding import CIRCULAR, IN_ORDER, LOST, MOST_LAYERS, STUCK, Channels, Demands, Order, Table


def order_of(first: np.ndarray, rows: np.ndarray, next: np.ndarray, enters: np.ndarray) -> Order:
    """Specification of `torusweep_kernels.forwarding.order_of`."""
    order: list[int] = []
    begins = np.zeros(len(first), np.int64)
    for destination in range(len(first) - 1):
        own = range(int(first[destination]), int(first[destination + 1]))
        reached = {c for c in own if enters[c]}
        queue, leading = deque(sorted(reached)), dict.fromkeys(own, 0)
        while queue:
            c = queue.popleft()
            for row in range(int(rows[c]), int(rows[c + 1])):
                other = int(next[row])
                if other == LOST:
                    return Order(np.array(order, np.int32), _filled(begins, destination, len(order)), STUCK, c)
                if other >= 0:
                    leading[other] += 1
                    if other not in reached:
                        reached.add(other)
                        queue.append(other)
        queue, placed = deque(c for c in own if c in reached and not leading[c]), []
        while queue:
            c = queue.popleft()
            placed.append(c)
            for row in range(int(rows[c]), int(rows[c + 1])):
                other = int(next[row])
                if other >= 0:
                    leading[other] -= 1
                    if not leading[other]:
                        queue.append(other)
        if len(placed) < len(reached):
            where = min(c for c in own if c in reached and leading[c])
            return Order(np.array(order, np.int32), _filled(begins, destination, len(order)), CIRCULAR, where)
        order += placed
        begins[destination + 1] = len(order)
    return Order(np.array(order, np.int32), begins, IN_ORDER, -1)


def _filled(begins: np.ndarray, destination: int, count: int) -> np.ndarray:
    begins[destination + 1 :] = count
    return begins


def table_flows(table: Table, demands: Demands, load: np.ndarray, rest: np.ndarray) -> None:
    """Specification of `torusweep_kernels.forwarding.table_flows`, in fractions and so without rounding."""
    total = [Fraction(float(load[link])) + Fraction(float(rest[link])) for link in range(len(load))]
    for place, destination in enumerate(demands.destination.tolist()):
        own = range(int(table.first[destination]), int(table.first[destination + 1]))
        flow = dict.fromkeys(own, Fraction(0))
        for number in range(int(demands.begins[place]), int(demands.begins[place + 1])):
            flow[int(demands.entry[number])] += Fraction(float(demands.amount[number]))
        for c in own:
            for row in range(int(table.rows[c]), int(table.rows[c + 1])):
                part = flow[c] * Fraction(float(table.weight[row])) / Fraction(float(table.total[c]))
                if table.link[row] >= 0:
                    total[int(table.link[row])] += part
                if table.next[row] >= 0:
                    flow[int(table.next[row])] += part
    for link, exact in enumerate(total):
        load[link] = float(exact)
        rest[link] = float(exact - Fraction(float(load[link])))


def assign_layers(table: Table, channels: Channels, entry: np.ndarray) -> np.ndarray:
    """Specification of `torusweep_kernels.forwarding.assign_layers`."""
    layers: list[set[tuple[int, int]]] = []
    placed = np.full(len(entry), -1, np.int16)
    for number, start in enumerate(entry.tolist()):
        own = _dependencies(table, start)
        for layer in range(MOST_LAYERS):
            if layer == len(layers):
                layers.append(set())
            if _is_acyclic(layers[layer] | own):
                layers[layer] |= own
                placed[number] = layer
                break
    return placed


def _dependencies(table: Table, start: int) -> set[tuple[int, int]]:
    """Return the pairs (channel, next channel) of all packets that are injected in a configuration."""
    found, seen, waiting = set(), {start}, [start]
    while waiting:
        c = waiting.pop()
        for row in range(int(table.rows[c]), int(table.rows[c + 1])):
            after = int(table.next[row])
            if after < 0:
                continue
            for then in range(int(table.rows[after]), int(table.rows[after + 1])):
                if table.link[then] >= 0:
                    found.add((int(table.link[row]), int(table.link[then])))
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return found


def _is_acyclic(arcs: set[tuple[int, int]]) -> bool:
    """Return whether a graph has no cycle, by removing nodes without predecessors until none is left."""
    left = arcs
    while left:
        heads = {head for _, head in left}
        fewer = {arc for arc in left if arc[0] in heads}
        if len(fewer) == len(left):
            return False
        left = fewer
    return True
