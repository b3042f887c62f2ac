"""Design spaces: spelt like a network, as in lattices(dimensions=3, nodes=512), and screened part by part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import factorial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from torusweep.screening.lattices import all_lattices, check_space, lattice_count, representatives
from torusweep.screening.measure import screen_lattices

HISTOGRAM_ENTRIES = 2**24  # of the lattices that are measured at once
_SPELLING = re.compile(r"lattices\(dimensions=(\d{1,3}), nodes=(\d{1,10})\)")


class Space(NamedTuple):
    """All lattices of so many nodes and dimensions."""

    dimensions: int
    nodes: int

    def __str__(self) -> str:
        return f"lattices(dimensions={self.dimensions}, nodes={self.nodes})"

    @property
    def lattices(self) -> int:
        return lattice_count(self.nodes, self.dimensions)

    @property
    def fewest_classes(self) -> int:
        """Of the 2ⁿ n! signed permutations, −1 leaves every lattice as it is; so a class has at most half as many."""
        return -(-self.lattices // (2 ** (self.dimensions - 1) * factorial(self.dimensions)))

    def check(self) -> None:
        """Raise BadInput where there is no such space, Refused where it has too many lattices."""
        check_space(self.nodes, self.dimensions)


class Screened(NamedTuple):
    """A part of a space: its rows (`SCREEN`), and the share of the space that is screened with it."""

    rows: pa.Table
    share: float


def space_of(spelling: str) -> Space | None:
    """The design space of a spelling; None for that of a network."""
    found = _SPELLING.fullmatch(spelling)
    return Space(int(found[1]), int(found[2])) if found else None


def lattices_of(rows: pa.Table) -> int:
    """Lattices that rows stand for: of a class, or one each."""
    sizes = rows["class_size"].to_numpy()
    return int(np.where(np.isnan(sizes), 1, sizes).sum())


def is_whole(space: Space, rows: pa.Table) -> bool:
    """Whether rows of a space stand for all its lattices."""
    return lattices_of(rows) == space.lattices


def screen_space(
    space: Space, *, classes: bool = True, backend: str = "auto", threads: int | None = None
) -> Iterator[Screened]:
    """All lattices of a space, measured: part by part, in a fixed order.

    classes  a row for one lattice of each class instead of a row for each lattice

    Raises BackendUnavailable for cupy without a GPU.
    """
    enumerate_parts = representatives if classes else all_lattices
    at_once = max(1, HISTOGRAM_ENTRIES // space.nodes)
    before = 0
    for part in enumerate_parts(space.nodes, space.dimensions, threads):
        for first in range(0, len(part.forms), at_once):
            last = min(first + at_once, len(part.forms))
            sizes = None if part.sizes is None else part.sizes[first:last]
            rows = screen_lattices(part.forms[first:last], sizes, backend=backend, threads=threads)
            yield Screened(rows, (before + part.lattices * last / len(part.forms)) / space.lattices)
        before += part.lattices
