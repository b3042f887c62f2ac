"""Design spaces: spelt like a network, as in lattices(dimensions=3, nodes=512), and screened part by part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import factorial, gcd
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.screening.circulants import check_circulants, circulant_count, circulants
from torusweep.screening.lattices import SpacePart, all_lattices, check_space, lattice_count, representatives
from torusweep.screening.measure import circulant_spellings, screen_lattices

HISTOGRAM_ENTRIES = 2**24  # of the lattices that are measured at once


class Lattices(NamedTuple):
    """All lattices of so many nodes and dimensions."""

    dimensions: int
    nodes: int

    def __str__(self) -> str:
        return f"lattices(dimensions={self.dimensions}, nodes={self.nodes})"

    @property
    def things(self) -> str:
        """What its graphs are called, in the singular, for `torusweep.counts.counted`."""
        return "lattice"

    @property
    def lattices(self) -> int:
        """How many there are."""
        return lattice_count(self.nodes, self.dimensions)

    @property
    def fewest_classes(self) -> int:
        """Of the 2ⁿ n! signed permutations, −1 leaves every lattice as it is; so a class has at most half as many."""
        return -(-self.lattices // (2 ** (self.dimensions - 1) * factorial(self.dimensions)))

    @property
    def comparisons(self) -> int:
        """Of images of a lattice or step set, about, that finding the classes takes."""
        return 4 * self.lattices

    def check(self) -> None:
        """Raise BadInput where there is no such space, Refused where it has too many lattices."""
        check_space(self.nodes, self.dimensions)

    def parts(self, classes: bool, threads: int | None) -> Iterator[SpacePart]:
        """One lattice of each class, or each lattice, part by part, in a fixed order."""
        return (representatives if classes else all_lattices)(self.nodes, self.dimensions, threads)

    def rows_among(self, rows: pa.Table) -> pa.Table:
        """The rows of a table `screen` that are of this space."""
        return _in_space(self, rows, "lattice(")


class Circulants(NamedTuple):
    """All connected circulant graphs of so many nodes and steps: lattices of as many dimensions as steps."""

    steps: int
    nodes: int

    def __str__(self) -> str:
        return f"circulants(steps={self.steps}, nodes={self.nodes})"

    @property
    def things(self) -> str:
        """As of `Lattices`."""
        return "circulant"

    @property
    def dimensions(self) -> int:
        """Of these lattices."""
        return self.steps

    @property
    def lattices(self) -> int:
        """How many there are."""
        return circulant_count(self.nodes, self.steps)

    @property
    def fewest_classes(self) -> int:
        """Units u and −u of Z_N map a step set to the same one; so a class has at most as many sets as such pairs."""
        return -(-self.lattices // self._pairs_of_units)

    @property
    def comparisons(self) -> int:
        """As of `Lattices`: only the sets that have a step 1 or a divisor of N are looked at, each with all units."""
        return -(-2 * self.steps * self.lattices // self.nodes) * self._pairs_of_units

    @property
    def _pairs_of_units(self) -> int:
        return max(1, sum(gcd(unit, self.nodes) == 1 for unit in range(1, self.nodes // 2 + 1)))

    def check(self) -> None:
        """Raise BadInput where there is no such graph, Refused where there are too many."""
        check_circulants(self.nodes, self.steps)

    def parts(self, classes: bool, threads: int | None) -> Iterator[SpacePart]:
        """One circulant of each class, or each circulant, part by part, in a fixed order."""
        return circulants(self.nodes, self.steps, classes=classes, threads=threads)

    def rows_among(self, rows: pa.Table) -> pa.Table:
        """The rows of a table `screen` that are of this space."""
        return _in_space(self, rows, "circulant(")


Space = Lattices | Circulants
SPELLINGS: dict[type[Lattices] | type[Circulants], re.Pattern[str]] = {
    Lattices: re.compile(r"lattices\(dimensions=(\d{1,3}), nodes=(\d{1,10})\)"),
    Circulants: re.compile(r"circulants\(steps=(\d{1,3}), nodes=(\d{1,10})\)"),
}


class ScreenedSpace(NamedTuple):
    """A part of a space: its rows (`SCREEN`), and the share of the space that is screened with it."""

    rows: pa.Table
    share: float


def space_of(spelling: str) -> Space | None:
    """The design space of a spelling; None for that of a network."""
    for kind, pattern in SPELLINGS.items():
        if found := pattern.fullmatch(spelling):
            return kind(int(found[1]), int(found[2]))
    return None


def lattices_of(rows: pa.Table) -> int:
    """Lattices that rows stand for: of a class, or one each."""
    sizes = rows["class_size"].to_numpy()
    return int(np.where(np.isnan(sizes), 1, sizes).sum())


def is_whole(space: Space, rows: pa.Table) -> bool:
    """Whether rows of a space stand for all its lattices."""
    return lattices_of(rows) == space.lattices


def screen_space(
    space: Space, *, classes: bool = True, backend: str = "auto", threads: int | None = None
) -> Iterator[ScreenedSpace]:
    """All lattices of a space, measured: part by part, in a fixed order.

    classes  a row for one lattice of each class instead of a row for each lattice

    Raises BackendUnavailable for cupy without a GPU.
    """
    at_once = max(1, HISTOGRAM_ENTRIES // space.nodes)
    before = 0
    for part in space.parts(classes, threads):
        for first in range(0, len(part.forms), at_once):
            last = min(first + at_once, len(part.forms))
            some = part.rows(first, last)
            names = None if some.steps is None else circulant_spellings(some.steps, space.nodes)
            rows = screen_lattices(some.forms, some.sizes, spellings=names, backend=backend, threads=threads)
            yield ScreenedSpace(rows, (before + part.lattices * last / len(part.forms)) / space.lattices)
        before += part.lattices


def _in_space(space: Space, rows: pa.Table, prefix: str) -> pa.Table:
    """Rows with a space's numbers, spelt as its graphs are: a circulant is a lattice, and other rows may have both."""
    same = (pc.field("dimensions") == space.dimensions) & (pc.field("nodes") == space.nodes)
    return rows.filter(same & pc.starts_with(pc.field("topology"), prefix))
