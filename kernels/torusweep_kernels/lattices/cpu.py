"""Compiled version of `torusweep_kernels.lattices`. Distances and loads take one lattice at a time, in the cache.

Classes of lattices, and of step sets, are found by comparing each with its images until an image precedes it.
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.threads import in_threads

BLOCK = 64  # lattices a thread takes at once
CLASSES_BLOCK = 4096  # lattices a thread takes at once
CIRCULANTS_BLOCK = 1024  # step sets a thread takes at once


def measure(forms: np.ndarray, loads: bool, threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compiled version of `measure_lattices`: (degree, histogram int32[B, N/2 + 1], load)."""
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
    """Measure a block of lattices of at most `most` nodes each."""
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
    """Set heads[v, 2j] = v + e_j and heads[v, 2j + 1] = v − e_j."""
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
    """Return a bit for each port of node 0 that leads neither to node 0 nor where an earlier port leads.

    At each node, a dropped port leads where an earlier port leads, so that a search may still look through it.
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
    """Find the distances from node 0, the nodes in the order of distance, and the number of nodes at each distance."""
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
    """Count the shortest paths from node 0 to each node."""
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
    """Find the traffic that ends at each node or passes through it, divided by the node's number of shortest paths."""
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
    """Sum the load of node 0's traffic over all channels + e_j, which is the load of all traffic on one such channel.

    The order of the sum is the specification's: neighbours, then neighbours of these sums, until one is left.
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


def class_sizes(forms: np.ndarray, threads: int) -> np.ndarray:
    """Compiled version of `torusweep_kernels.lattices.reference.class_sizes`."""
    sources, signs = _turns(forms.shape[1])
    sizes = np.zeros(len(forms), np.int32)

    def block(first: int) -> None:
        part = slice(first, first + CLASSES_BLOCK)
        _class_sizes(forms[part], sources, signs, sizes[part])

    in_threads(block, range(0, len(forms), CLASSES_BLOCK), threads)
    return sizes


def _turns(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the signed permutations of n dimensions up to negation: their orders and signs, int64[G, n] each."""
    turns = [(order, (1, *signs)) for order in permutations(range(n)) for signs in product((1, -1), repeat=n - 1)]
    return np.array([order for order, _ in turns], np.int64), np.array([signs for _, signs in turns], np.int64)


@cached
def _class_sizes(forms, sources, signs, sizes):
    """Find each form's class size; images are compared until one precedes the form."""
    n = forms.shape[1]
    columns = np.empty((n, n), np.int64)  # of the image, one a row
    basis = np.empty((n, n), np.int64)  # columns of its Hermite normal form, one a row
    for place in range(len(forms)):
        form = forms[place]
        nodes = 1
        for i in range(n):
            nodes *= form[i, i]
        fixed = 0
        for turn in range(len(sources)):
            for j in range(n):
                for i in range(n):
                    columns[j, i] = signs[turn, i] * form[sources[turn, i], j] % nodes
            compared = _compare(columns, basis, form, nodes)
            if compared < 0:
                fixed = 0
                break
            fixed += compared == 0
        sizes[place] = len(sources) // fixed if fixed else 0


def classes(
    sides: np.ndarray, starts: np.ndarray, first: int, last: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Compiled version of `lattice_classes`. The forms with diagonal sides[i] have the numbers from starts[i] on."""
    sources, signs = _turns(sides.shape[1])

    def block(begin: int) -> tuple[np.ndarray, np.ndarray]:
        forms, sizes = _first_forms(sides, starts, begin, min(begin + CLASSES_BLOCK, last))
        _class_sizes(forms, sources, signs, sizes)
        return forms[sizes > 0], sizes[sizes > 0]

    parts = in_threads(block, range(first, last, CLASSES_BLOCK), threads)
    return np.concatenate([forms for forms, _ in parts]), np.concatenate([sizes for _, sizes in parts])


@cached
def _first_forms(sides, starts, first, last):
    """Return the numbered forms that two cheap images do not precede, int32[C, n, n], and sizes int32[C] of 0.

    A form is dropped if a row's greatest common divisor, the last side if that row were last, exceeds the last side; or
    if the last column's first entry exceeds half its side, because reversing dimension 0 makes it smaller.
    """
    n = sides.shape[1]
    forms = np.zeros((last - first, n, n), np.int32)
    kept = 0
    place = np.searchsorted(starts, first, side="right") - 1
    for number in range(first, last):
        while place + 1 < len(starts) and starts[place + 1] <= number:
            place += 1
        form, rest = forms[kept], number - starts[place]
        for i in range(n):
            form[i, i] = sides[place, i]
        for i in range(n):
            for j in range(i + 1, n):
                form[i, j] = rest % form[i, i]
                rest //= form[i, i]
        precedes = n > 1 and 2 * form[0, n - 1] > form[0, 0]
        for i in range(n - 1):
            common = form[i, i]
            for j in range(i + 1, n):
                other = form[i, j]
                while other:
                    common, other = other, common % other
            precedes = precedes or common > form[n - 1, n - 1]
        kept += not precedes
    return forms[:kept], np.zeros(kept, np.int32)


@cached
def _compare(columns, basis, form, nodes):
    """Return −1, 0 or 1 if the Hermite normal form of the lattice of `columns` precedes, equals or follows `form`.

    Sides are computed and compared one at a time, the last side first. The lattice has all multiples of `nodes`, so
    entries are reduced modulo `nodes`, and no product exceeds nodes².
    """
    n = len(form)
    left = nodes
    for i in range(n - 1, 0, -1):
        basis[i, : i + 1] = 0
        basis[i, i] = nodes
        for j in range(n):
            while columns[j, i]:  # Euclid's algorithm on row i
                quotient = basis[i, i] // columns[j, i]
                for h in range(i + 1):
                    entry = (basis[i, h] - quotient * columns[j, h]) % nodes
                    basis[i, h], columns[j, h] = columns[j, h], entry
        if basis[i, i] != form[i, i]:
            return -1 if basis[i, i] > form[i, i] else 1
        left //= basis[i, i]
    basis[0, 0] = left
    for j in range(n - 1, 0, -1):
        for i in range(j - 1, -1, -1):
            quotient = basis[j, i] // basis[i, i]
            for h in range(i + 1):
                basis[j, h] -= quotient * basis[i, h]
        for i in range(j):
            if basis[j, i] != form[i, j]:
                return -1 if basis[j, i] < form[i, j] else 1
    return 0


def circulant_class_sizes(steps: np.ndarray, nodes: int, threads: int) -> np.ndarray:
    """Compiled version of `torusweep_kernels.lattices.circulant_class_sizes`."""
    # −1 maps every set to itself: of each pair of units ± u one is enough
    numbers = np.arange(1, nodes // 2 + 1, dtype=np.int64)
    units = numbers[np.gcd(numbers, nodes) == 1]
    sizes = np.zeros(len(steps), np.int32)

    def block(first: int) -> None:
        part = slice(first, first + CIRCULANTS_BLOCK)
        _circulant_class_sizes(steps[part], nodes, units, sizes[part])

    in_threads(block, range(0, len(steps), CIRCULANTS_BLOCK), threads)
    return sizes


@cached
def _circulant_class_sizes(steps, nodes, units, sizes):
    image = np.empty(steps.shape[1], np.int64)
    for place in range(len(steps)):
        own = steps[place]
        fixed = 0
        for unit in units:
            compared = _compare_step_sets(own, nodes, unit, image)
            if compared < 0:
                fixed = 0
                break
            fixed += compared == 0
        sizes[place] = len(units) // fixed if fixed else 0


@cached
def _compare_step_sets(own, nodes, unit, image):
    """Return −1, 0 or 1 if the image of a step set under the unit precedes, equals or follows the set."""
    least = nodes
    for i in range(len(own)):
        step = unit * own[i] % nodes
        image[i] = min(step, nodes - step)
        least = min(least, image[i])
    if least != own[0]:  # most units end here: the image need not be sorted
        return -1 if least < own[0] else 1
    for i in range(1, len(image)):
        step, before = image[i], i - 1
        while before >= 0 and image[before] > step:
            image[before + 1] = image[before]
            before -= 1
        image[before + 1] = step
    for i in range(1, len(own)):
        if image[i] != own[i]:
            return -1 if image[i] < own[i] else 1
    return 0
