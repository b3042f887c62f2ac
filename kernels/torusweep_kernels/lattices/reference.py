"""Specification of `torusweep_kernels.lattices`: all lattices of a batch, level by level, with NumPy.

Classes are found with Python's integers, from all images of a form or of a step set.
"""

from __future__ import annotations

from itertools import permutations, product
from math import gcd
from typing import Any

import numpy as np

ENTRIES = 2**21  # nodes of the lattices measured at once, about 200 bytes each


def measure(forms: np.ndarray, loads: bool, threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Specification of `measure_lattices`: (degree, histogram int32[B, N/2 + 1], load)."""
    nodes = np.diagonal(forms, axis1=1, axis2=2).astype(np.int64).prod(axis=1)
    width = int(nodes.max()) // 2 + 1
    degree, histogram = np.zeros(len(forms), np.int32), np.zeros((len(forms), width), np.int32)
    load = np.zeros((len(forms), forms.shape[1] * loads))
    for size in np.unique(nodes).tolist():
        alike, rows = np.flatnonzero(nodes == size), max(1, ENTRIES // size)
        for some in (alike[first : first + rows] for first in range(0, len(alike), rows)):
            degree[some], histogram[some, : size // 2 + 1], load[some] = measure_alike(forms[some], size, loads)
    return degree, histogram, load


def measure_alike(forms: np.ndarray, nodes: int, loads: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Measure lattices that all have `nodes` nodes."""
    lattices, n = forms.shape[:2]
    forms = forms.astype(np.int64)
    ports = [move(forms, nodes, j, sign) for j in range(n) for sign in (1, -1)]  # int64[B, N] each
    kept = distinct([port[:, 0] for port in ports])
    distance = np.full((lattices, nodes), -1, np.int64)
    distance[:, 0] = 0
    count = (distance == 0).astype(np.float64)
    histogram = np.zeros((lattices, nodes // 2 + 1), np.int32)
    histogram[:, 0] = 1
    level = 0
    while bool((distance == level).any()):
        paths = np.zeros((lattices, nodes))
        for port, keep in zip(ports, kept):  # v is reached from v + port: the ports of a node are closed under negation
            nearer = keep[:, None] & (np.take_along_axis(distance, port, 1) == level)
            paths = paths + np.where(nearer, np.take_along_axis(count, port, 1), 0.0)
        found = (distance < 0) & (paths > 0)
        level += 1
        distance, count = np.where(found, level, distance), np.where(found, paths, count)
        if level <= nodes // 2:
            histogram[:, level] = found.sum(axis=1)
    degree = sum(keep.astype(np.int32) for keep in kept)
    if not loads:
        return degree, histogram, np.zeros((lattices, 0))
    unit = 1 / count
    for here in range(level - 2, -1, -1):
        total = farther(ports, kept, distance, unit, here)
        unit = np.where(distance == here, (1 + count * total) / count, unit)
    load = np.zeros((lattices, n))
    for j in range(n):
        onward = kept[2 * j][:, None] & (np.take_along_axis(distance, ports[2 * j], 1) == distance + 1)
        carried = np.where(onward, count * np.take_along_axis(unit, ports[2 * j], 1), 0.0)
        load[:, j] = sum_in_pairs(carried) / nodes
    return degree, histogram, load


def farther(ports: list[Any], kept: list[Any], distance: Any, unit: Any, here: int) -> Any:
    """Return float64[B, N]: the sum of unit over each node's neighbours at distance here + 1."""
    total = np.zeros(unit.shape)
    for port, keep in zip(ports, kept):
        onward = keep[:, None] & (np.take_along_axis(distance, port, 1) == here + 1)
        total = total + np.where(onward, np.take_along_axis(unit, port, 1), 0.0)
    return total


def sum_in_pairs(rows: Any) -> Any:
    """Return float64[B]: sums of rows in a fixed order: neighbours, then neighbours of these sums, and so on."""
    while rows.shape[1] > 1:
        wide = np.zeros((rows.shape[0], (rows.shape[1] + 1) // 2 * 2))
        wide[:, : rows.shape[1]] = rows
        rows = wide[:, 0::2] + wide[:, 1::2]
    return rows[:, 0]


def move(forms: Any, nodes: int, j: int, sign: int) -> Any:
    """Return int64[B, N]: the node at v + sign · e_j, for each node v."""
    n = forms.shape[1]
    rest = np.zeros((len(forms), 1), np.int64) + np.arange(nodes)
    digits = []
    for i in range(n):
        side = forms[:, i, i][:, None]
        digits.append(rest % side + sign * (i == j))
        rest = rest // side
    for i in reversed(range(n)):
        turns = digits[i] // forms[:, i, i][:, None]
        digits = [digit - turns * forms[:, h, i][:, None] for h, digit in enumerate(digits)]
    number = digits[-1]
    for i in reversed(range(n - 1)):
        number = number * forms[:, i, i][:, None] + digits[i]
    return number


def distinct(heads: list[Any]) -> list[Any]:
    """Return bool[B] for each port of node 0: whether it leads to another node, and no earlier port leads there."""
    kept = []
    for p, head in enumerate(heads):
        keep = head != 0
        for earlier in heads[:p]:
            keep = keep & (head != earlier)
        kept.append(keep)
    return kept


def class_sizes(forms: np.ndarray) -> np.ndarray:
    """Return int32[B]: the size of a form's class if the form represents the class, 0 for all other forms.

    Each form is compared with its images under all signed permutations. forms: int32[B, n, n]
    """
    n = forms.shape[1]
    group = list(product(permutations(range(n)), product((1, -1), repeat=n)))
    sizes = np.zeros(len(forms), np.int32)
    for place, form in enumerate(forms.tolist()):
        images = {key(hermite([[sign * entry for entry in form[i]] for i, sign in zip(*turn)])) for turn in group}
        if key(form) == min(images):
            sizes[place] = len(images)
    return sizes


def classes(
    sides: np.ndarray, starts: np.ndarray, first: int, last: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Specification of `lattice_classes`: makes every form with Python's integers."""
    n = sides.shape[1]
    forms = np.zeros((last - first, n, n), np.int32)
    for number in range(first, last):
        place = int(np.flatnonzero(starts <= number)[-1])
        rest = number - int(starts[place])
        for i in range(n):
            forms[number - first, i, i] = sides[place, i]
            for j in range(i + 1, n):
                rest, forms[number - first, i, j] = divmod(rest, int(sides[place, i]))
    sizes = class_sizes(forms)
    return forms[sizes > 0], sizes[sizes > 0]


def key(form: list[list[int]]) -> tuple[int, ...]:
    """Return the sort key of a form; the representative of a class has the least key."""
    n = len(form)
    return *(-form[i][i] for i in reversed(range(n))), *(form[i][j] for j in reversed(range(n)) for i in range(j))


def hermite(matrix: list[list[int]]) -> list[list[int]]:
    """Return the Hermite normal form of a nonsingular matrix, by column operations from the last row up."""
    columns = [list(column) for column in zip(*matrix)]
    n = len(columns)
    for i in reversed(range(n)):
        while True:  # Euclid's algorithm on row i of columns 0 … i
            left = [j for j in range(i + 1) if columns[j][i]]
            least = min(left, key=lambda j: abs(columns[j][i]))
            if len(left) == 1:
                break
            for j in left:
                if j != least:
                    quotient = columns[j][i] // columns[least][i]
                    columns[j] = [a - quotient * b for a, b in zip(columns[j], columns[least])]
        columns[i], columns[least] = columns[least], columns[i]
        if columns[i][i] < 0:
            columns[i] = [-entry for entry in columns[i]]
    for j in range(n):
        for i in reversed(range(j)):
            quotient = columns[j][i] // columns[i][i]
            columns[j] = [a - quotient * b for a, b in zip(columns[j], columns[i])]
    return [list(row) for row in zip(*columns)]


def circulant_class_sizes(steps: np.ndarray, nodes: int, threads: int) -> np.ndarray:
    """Specification of `torusweep_kernels.lattices.circulant_class_sizes`."""
    units = [unit for unit in range(1, nodes) if gcd(unit, nodes) == 1]
    sizes = np.zeros(len(steps), np.int32)
    for place, own in enumerate(steps.tolist()):
        images = {tuple(sorted(min(unit * step % nodes, -unit * step % nodes) for step in own)) for unit in units}
        if tuple(own) == min(images):
            sizes[place] = len(images)
    return sizes
