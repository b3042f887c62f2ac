"""Translations of a network: a proved abelian group of automorphisms without fixed points.

In tori, twisted tori and lattices the group has one orbit. In pruned, hierarchical and other periodic
networks each node of a cell has its own orbit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from torusweep.networks.symmetry import is_automorphism
from torusweep.networks.topology import Topology, addresses, node_index


@dataclass(frozen=True, eq=False)
class Translations:
    """An abelian group without fixed points, and its orbits.

    grid     int32[C, A]: the image of the origin of cell c under element a; every node occurs once. Elements are
             numbered by the exponents of the generators; the first varies fastest.
    orders   for each generator, the least power that is an element of the group of those before it …
    powers   … and the number of that element
    """

    grid: np.ndarray
    generators: tuple[np.ndarray, ...] = ()
    orders: tuple[int, ...] = ()
    powers: tuple[int, ...] = ()

    def place(self) -> tuple[np.ndarray, np.ndarray]:
        """(cell int64[N], element int64[N]) of every node."""
        cells, elements = self.grid.shape
        position = np.empty(cells * elements, np.int64)
        position[self.grid.ravel()] = np.arange(cells * elements)
        return position // elements, position % elements

    def exponents(self, elements: np.ndarray) -> np.ndarray:
        """int64[…, generators] of elements int64[…]."""
        columns, rest = [], elements
        for order in self.orders:
            columns.append(rest % order)
            rest = rest // order
        return np.stack(columns, axis=-1) if columns else np.zeros((*elements.shape, 0), np.int64)

    def characters(self) -> np.ndarray:
        """int64[A, generators]: for each character, the angle of each generator, in 1/A turns from 0 to A − 1.

        The angle of a generator times its order is that of the resulting element, up to whole turns. All angles are
        multiples of 1/A turn, and those of elements of the preceding generators are multiples of order/A.
        """
        elements = self.grid.shape[1]
        angles = np.zeros((elements, len(self.orders)), np.int64)
        whole = self.exponents(np.arange(elements))
        for k, (order, power) in enumerate(zip(self.orders, self.powers)):
            becomes = self.exponents(np.array(power))[:k]
            angles[:, k] = (angles[:, :k] @ becomes % elements + elements * whole[:, k]) // order
        return angles


def translations(topology: Topology, images: Sequence[np.ndarray]) -> Translations:
    """A large group of translations, greedily from proved automorphisms (`images`) and shifts of single digits."""
    group = _greedy(topology.nodes, images)
    if len(group.grid) > 1:
        shifted = _greedy(topology.nodes, [*_digit_shifts(topology), *images])
        group = min(group, shifted, key=lambda found: len(found.grid))
    return group


def _greedy(nodes: int, images: Sequence[np.ndarray]) -> Translations:
    group = Translations(np.arange(nodes, dtype=np.int32)[:, None])
    for image in images:
        group = _enlarge(group, image) or group
    return group


def _digit_shifts(topology: Topology) -> Iterator[np.ndarray]:
    """For every digit of the address, its smallest cyclic shift that is an automorphism, if any."""
    bare = replace(topology, terminals=np.arange(topology.nodes, dtype=np.int32))
    radices = topology.plan.radices
    digits = addresses(radices)
    for dimension, radix in enumerate(radices):
        for step in (step for step in range(1, radix // 2 + 1) if radix % step == 0):
            shifted = digits.copy()
            shifted[:, dimension] += step
            image = node_index(shifted, radices)
            if is_automorphism(bare, image):
                yield image
                break


def _enlarge(group: Translations, image: np.ndarray) -> Translations | None:
    """The group enlarged by a permutation; None if nothing is added, or if the group would not be abelian and free."""
    if any(not np.array_equal(image[other], other[image]) for other in group.generators):
        return None
    cells, elements = group.grid.shape
    cell, element = group.place()
    origins = group.grid[:, 0]
    step = scipy.sparse.coo_array(
        (np.ones(cells, np.int8), (np.arange(cells), cell[image[origins]])), shape=(cells, cells)
    )
    cycles, label = scipy.sparse.csgraph.connected_components(step, directed=False)
    order = cells // cycles
    power = element[_power(image, order)[origins]]
    if order == 1 or (np.bincount(label) != order).any() or (power != power[0]).any():
        return None
    # the images of one cell of each cycle under powers of the permutation, doubled until complete
    grid, stride = group.grid[np.unique(label, return_index=True)[1]], image
    while grid.shape[1] < order * elements:
        grid = np.concatenate([grid, stride[grid]], axis=1)
        stride = stride[stride]
    return Translations(
        np.ascontiguousarray(grid[:, : order * elements]),
        (*group.generators, image),
        (*group.orders, order),
        (*group.powers, int(power[0])),
    )


def _power(image: np.ndarray, exponent: int) -> np.ndarray:
    """The permutation to the power of `exponent`."""
    result = np.arange(len(image))
    while exponent:
        if exponent % 2:
            result = image[result]
        image = image[image]
        exponent //= 2
    return result
