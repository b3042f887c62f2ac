"""Distances and loads of lattice graphs on the CPU, compiled by Numba: a lattice at a time, in the cache."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.threads import in_threads

BLOCK = 64  # lattices a thread takes at once


def measure(forms: np.ndarray, loads: bool, threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(degree, histogram int32[B, N/2 + 1], load); see `measure_lattices`."""
    lattices, n = forms.shape[:2]
    most = int(np.diagonal(forms, axis1=1, axis2=2).astype(np.int64).prod(axis=1).max())
    degree = np.zeros(lattices, np.int32)
    histogram = np.zeros((lattices, most // 2 + 1), np.int32)
    load = np.zeros((lattices, n if loads else 0))

    def block(first: int) -> None:
        part = slice(first, first + BLOCK)
        _measure(forms[part], most, degree[part], histogram[part], load[part])

    in_threads(block, range(0, lattices, BLOCK), threads)
    return degree, histogram, load


@cached
def _measure(forms, most, degree, histogram, load):
    """A block of lattices of at most `most` nodes each."""
    n = forms.shape[1]
    heads = np.empty((most, 2 * n), np.int32)
    distance = np.empty(most, np.int32)
    order = np.empty(most, np.int32)
    count = np.empty(most)
    unit = np.empty(most)
    carried = np.empty(most)
    digits = np.empty(n, np.int64)
    for place in range(len(forms)):
        form = forms[place]
        nodes = 1
        for i in range(n):
            nodes *= form[i, i]
        _connect(form, nodes, digits, heads)
        ports = _drop_repeated(nodes, heads)
        degree[place] = 0
        for p in range(2 * n):
            degree[place] += (ports >> p) & 1
        _search(nodes, heads, ports, distance, order, histogram[place])
        if load.shape[1]:
            _count_paths(nodes, heads, ports, distance, order, count)
            _accumulate(nodes, heads, ports, distance, order, count, unit)
            _sum_loads(nodes, heads, ports, distance, count, unit, carried, load[place])


@cached
def _connect(form, nodes, digits, heads):
    """heads[v, 2j] = v + e_j and heads[v, 2j + 1] = v − e_j."""
    n = len(form)
    stride = 1
    for j in range(n):
        side = form[j, j]
        last = (side - 1) * stride
        # beyond the last digit of dimension j the column j is subtracted, which changes the digits before j alone
        for low in range(stride):
            rest = low
            for i in range(j):
                digits[i] = rest % form[i, i] - form[i, j]
                rest //= form[i, i]
            for i in range(j - 1, -1, -1):
                while digits[i] < 0:
                    for h in range(i + 1):
                        digits[h] += form[h, i]
                while digits[i] >= form[i, i]:
                    for h in range(i + 1):
                        digits[h] -= form[h, i]
            beyond = 0
            for i in range(j - 1, -1, -1):
                beyond = beyond * form[i, i] + digits[i]
            for first in range(0, nodes, side * stride):
                tail, head = first + last + low, first + beyond
                heads[tail, 2 * j] = head
                heads[head, 2 * j + 1] = tail
        for first in range(0, nodes, side * stride):
            for tail in range(first, first + last):
                heads[tail, 2 * j] = tail + stride
                heads[tail + stride, 2 * j + 1] = tail
        stride *= side


@cached
def _drop_repeated(nodes, heads):
    """Bits of the ports of node 0 that lead to another node than node 0 and earlier ports.

    A port that is dropped leads, at each node, where an earlier one leads, so that a search may look through it.
    """
    ports = 0
    for p in range(heads.shape[1]):
        keep = heads[0, p] != 0
        for earlier in range(p):
            keep = keep and heads[0, p] != heads[0, earlier]
        ports |= int(keep) << p
    return ports


@cached
def _search(nodes, heads, ports, distance, order, histogram):
    """Distances from node 0, the nodes in order of distance, nodes at each distance."""
    distance[:nodes] = -1
    distance[0] = order[0] = 0
    found = 1
    for place in range(nodes):
        node = order[place]
        level = distance[node]
        histogram[level] += 1
        if found == nodes:
            continue
        for p in range(heads.shape[1]):
            head = heads[node, p]
            if distance[head] < 0:
                distance[head] = level + 1
                order[found] = head
                found += 1


@cached
def _count_paths(nodes, heads, ports, distance, order, count):
    """Shortest paths from node 0."""
    count[0] = 1.0
    for place in range(1, nodes):
        node = order[place]
        total = 0.0
        for p in range(heads.shape[1]):
            head = heads[node, p]
            if (ports >> p) & 1 and distance[head] == distance[node] - 1:
                total += count[head]
        count[node] = total


@cached
def _accumulate(nodes, heads, ports, distance, order, count, unit):
    """Traffic through each node to itself and beyond, for each path to it."""
    for place in range(nodes - 1, -1, -1):
        node = order[place]
        total = 0.0
        for p in range(heads.shape[1]):
            head = heads[node, p]
            if (ports >> p) & 1 and distance[head] == distance[node] + 1:
                total += unit[head]
        unit[node] = (1 + count[node] * total) / count[node]


@cached
def _sum_loads(nodes, heads, ports, distance, count, unit, carried, load):
    """What all nodes' channels + e_j carry of node 0's traffic: one channel + e_j carries as much of all traffic.

    The sum's order is that of the specification: neighbours, then neighbours of these sums, until one is left.
    """
    for j in range(len(load)):
        load[j] = 0.0
        if not (ports >> (2 * j)) & 1:
            continue
        for node in range(nodes):
            head = heads[node, 2 * j]
            carried[node] = count[node] * unit[head] if distance[head] == distance[node] + 1 else 0.0
        width = nodes
        while width > 1:
            for place in range(width // 2):
                carried[place] = carried[2 * place] + carried[2 * place + 1]
            if width % 2:
                carried[width // 2] = carried[width - 1]
            width = (width + 1) // 2
        load[j] = carried[0] / nodes
