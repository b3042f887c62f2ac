"""Design spaces: spelled like networks, as in lattices(dimensions=3, nodes=512), and screened part by part.

The rows of each part are an Arrow table with the numbers by which a network is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import factorial, gcd
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from torusweep_kernels.lattices import measure_lattices

from torusweep.questions.screen import bounds
from torusweep.questions.screen.columns import SCREEN
from torusweep.questions.screen.lattices import (
    MOST_PARTS,
    PART_LATTICES,
    SpacePart,
    all_lattices,
    check_circulants,
    check_space,
    circulant_count,
    circulants,
    lattice_count,
    representatives,
)
from torusweep.tables.columns import arrow_schema

HISTOGRAM_ENTRIES = 2**24  # entries of the histograms of the lattices that are measured at once


def screen_lattices(
    forms: np.ndarray,
    sizes: np.ndarray | None = None,
    *,
    spellings: pa.Array[Any] | None = None,
    backend: str = "auto",
    threads: int | None = None,
) -> pa.Table:
    """Return a table with a row for each lattice, with the columns `SCREEN`.

    forms      int32[B, n, n]  Hermite normal forms of lattices with equally many nodes
    sizes      int32[B]        number of lattices in each class; None makes the column null
    spellings  string[B]       spelling of each network; None: spellings like lattice(matrix=[[4, 2], [0, 2]])

    Raises BackendUnavailable for cupy without a GPU.
    """
    n = forms.shape[1]
    nodes = int(np.diagonal(forms[0]).astype(np.int64).prod()) if len(forms) else 1
    measured = measure_lattices(forms, backend=backend, threads=threads)
    degree, histogram = measured.degree.astype(np.int64), nodes * measured.histogram.astype(np.int64)
    diameter = (histogram > 0).sum(axis=1) - 1
    total = histogram @ np.arange(histogram.shape[1])
    busiest = measured.load.max(axis=1)
    flat, dimensions = forms.reshape(len(forms), n * n), np.full(len(forms), n)
    lower, upper = lattice_guarantee(flat.ravel(), dimensions, degree, diameter, busiest)
    of_graphs = {int(d): bounds.moore_levels(nodes, int(d)) for d in np.unique(degree)}
    of_lattices = bounds.lattice_levels(nodes, n)
    values = {
        "topology": lattice_spellings(forms) if spellings is None else spellings,
        "nodes": np.full(len(forms), nodes),
        "dimensions": dimensions,
        "matrix": _lists(flat, n * dimensions),
        "class_size": pa.nulls(len(forms)) if sizes is None else sizes,
        "degree": degree,
        "links": nodes * degree // 2,
        "connected": np.ones(len(forms), bool),
        "diameter": diameter,
        "distance_sum": total,
        "mean_distance": total / nodes**2,
        "mean_distance_distinct": total / max(nodes * (nodes - 1), 1),
        "distance_histogram": _lists(histogram, diameter + 1),
        "load": _lists(measured.load, dimensions),
        "max_channel_load": busiest,
        "saturation_load": pa.array(1 / np.where(busiest > 0, busiest, 1), mask=busiest == 0),
        "guarantee_lower": lower,
        "guarantee_upper": upper,
        "diameter_bound": np.array([bounds.diameter(of_graphs[int(d)]) for d in degree], np.int64),
        "mean_distance_bound": np.array([bounds.distance_sum(of_graphs[int(d)]) / nodes for d in degree]),
        "lattice_diameter_bound": np.full(len(forms), bounds.diameter(of_lattices)),
        "lattice_mean_distance_bound": np.full(len(forms), bounds.distance_sum(of_lattices) / nodes),
    }
    schema = arrow_schema(SCREEN)
    arrays = [pa.array(values[field.name]).cast(field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def lattice_guarantee(
    matrix: np.ndarray, dimensions: np.ndarray, degree: np.ndarray, diameter: np.ndarray, busiest: np.ndarray
) -> tuple[pa.Array[Any], pa.Array[Any]]:
    """Return the bounds (lower, upper) of `torusweep.questions.static.guarantee` for lattices, float64[B].

    matrix      int[·]  entries of all matrices, row by row, one matrix after another
    dimensions, degree, diameter, busiest   int[B] and float64[B]: columns; busiest is the largest load
    """
    widths = np.repeat(dimensions, dimensions)
    rings = np.gcd.reduceat(matrix, np.cumsum(widths) - widths) if len(matrix) else matrix
    ring = np.maximum.reduceat(rings, np.cumsum(dimensions) - dimensions) if len(matrix) else matrix
    upper = np.minimum(degree / np.maximum(diameter, 1), np.where(ring > 1, 2 / np.maximum(ring // 2, 1), degree))
    lower = np.minimum(upper, 0.5 / np.where(busiest > 0, busiest, 1))
    return pa.array(lower, mask=busiest == 0), pa.array(upper, mask=diameter == 0)


def _lists(rows: np.ndarray, lengths: np.ndarray) -> pa.Array[Any]:
    """Return a list for each row that has the row's first values. lengths: number of values in each list."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    flat: pa.Array[Any] = pa.array(rows[np.arange(rows.shape[1]) < lengths[:, None]])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)


def lattice_spellings(forms: np.ndarray) -> pa.Array[Any]:
    """Return the spelling of each lattice, as in lattice(matrix=[[4, 2], [0, 2]]), which every command accepts."""
    pieces: list[Any] = []
    for row in range(forms.shape[1]):
        pieces += ["], [" if row else "lattice(matrix=[[", *_listed(forms[:, row])]
    return pc.binary_join_element_wise(*pieces, "]])", "")


def circulant_spellings(steps: np.ndarray, nodes: int) -> pa.Array[Any]:
    """Return the spelling of each circulant graph, as in circulant(n=13, steps=[1, 5]). steps: int32[B, k]."""
    return pc.binary_join_element_wise(f"circulant(n={nodes}, steps=[", *_listed(steps), "])", "")


def _listed(numbers: np.ndarray) -> list[Any]:
    """Return arrays of strings that, joined, give each row's numbers with commas between them."""
    columns = [pa.array(column).cast(pa.string()) for column in numbers.T]
    return [piece for place, column in enumerate(columns) for piece in ([", "] if place else []) + [column]]


class Lattices(NamedTuple):
    """All lattices with given nodes and dimensions, or one of several parts of about equal size.

    A part is a point of a sweep, which can fail or be resumed by itself. A class may have lattices in several parts.

    part  number of the part, from 0
    of    number of parts; 1: all lattices
    """

    dimensions: int
    nodes: int
    part: int = 0
    of: int = 1

    def __str__(self) -> str:
        part = f", part={self.part}, parts={self.of}" if self.of > 1 else ""
        return f"lattices(dimensions={self.dimensions}, nodes={self.nodes}{part})"

    @property
    def numbers(self) -> tuple[int, int]:
        """Indices, among all lattices of the size, of the part's first lattice and of the first lattice after it."""
        whole = lattice_count(self.nodes, self.dimensions)
        return whole * self.part // self.of, whole * (self.part + 1) // self.of

    @property
    def things(self) -> str:
        """The singular noun for this space's graphs, for `torusweep.quantities.counted`."""
        return "lattice"

    @property
    def lattices(self) -> int:
        """Number of lattices in the space."""
        first, last = self.numbers
        return last - first

    @property
    def fewest_classes(self) -> int:
        """Lower bound of the number of classes. A class has at most 2ⁿ n! / 2 lattices, as −1 maps each to itself.

        For a part of the space the number is approximate: early lattices represent more classes than late lattices.
        """
        return -(-self.lattices // (2 ** (self.dimensions - 1) * factorial(self.dimensions)))

    @property
    def comparisons(self) -> int:
        """Approximate number of images of lattices that are compared to find the classes."""
        return 4 * self.lattices

    def check(self) -> None:
        """Raise BadInput if there is no such space, Refused if it has too many lattices."""
        check_space(self.nodes, self.dimensions, parts=self.of)

    def parts(self, classes: bool, threads: int | None) -> Iterator[SpacePart]:
        """Return one lattice of each class, or every lattice, part by part, in a fixed order."""
        if not classes:
            return all_lattices(self.nodes, self.dimensions, threads)
        return representatives(self.nodes, self.dimensions, threads, *self.numbers)

    def rows_among(self, rows: pa.Table) -> pa.Table:
        """Return the rows of a table `screen` that belong to this space."""
        return _in_space(self, rows, "lattice(")


class Circulants(NamedTuple):
    """All connected circulant graphs with given nodes and number of steps. Each step is a dimension of a lattice."""

    steps: int
    nodes: int

    def __str__(self) -> str:
        return f"circulants(steps={self.steps}, nodes={self.nodes})"

    @property
    def things(self) -> str:
        """The singular noun for this space's graphs, for `torusweep.quantities.counted`."""
        return "circulant"

    @property
    def dimensions(self) -> int:
        """Number of dimensions of the circulants' lattices."""
        return self.steps

    @property
    def lattices(self) -> int:
        """Number of circulant graphs in the space."""
        return circulant_count(self.nodes, self.steps)

    @property
    def fewest_classes(self) -> int:
        """Lower bound of the number of classes. A class has at most one step set per pair of units u, −u of Z_N."""
        return -(-self.lattices // self._pairs_of_units)

    @property
    def comparisons(self) -> int:
        """Approximate number of images that are compared to find classes: each candidate step set under all units."""
        return -(-2 * self.steps * self.lattices // self.nodes) * self._pairs_of_units

    @property
    def _pairs_of_units(self) -> int:
        return max(1, sum(gcd(unit, self.nodes) == 1 for unit in range(1, self.nodes // 2 + 1)))

    def check(self) -> None:
        """Raise BadInput if there is no such graph, Refused if there are too many."""
        check_circulants(self.nodes, self.steps)

    def parts(self, classes: bool, threads: int | None) -> Iterator[SpacePart]:
        """Return one circulant of each class, or every circulant, part by part, in a fixed order."""
        return circulants(self.nodes, self.steps, classes=classes, threads=threads)

    def rows_among(self, rows: pa.Table) -> pa.Table:
        """Return the rows of a table `screen` that belong to this space."""
        return _in_space(self, rows, "circulant(")


Space = Lattices | Circulants
SPELLINGS: dict[type[Lattices] | type[Circulants], re.Pattern[str]] = {
    Lattices: re.compile(r"lattices\(dimensions=(\d{1,3}), nodes=(\d{1,10})(?:, part=(\d{1,4}), parts=(\d{1,4}))?\)"),
    Circulants: re.compile(r"circulants\(steps=(\d{1,3}), nodes=(\d{1,10})\)"),
}


class ScreenedSpace(NamedTuple):
    """A part of a space: its rows (`SCREEN`), and the share of the space screened so far.

    measured  number of measured rows if `rows` has only the best; None if `rows` has all
    """

    rows: pa.Table
    share: float
    measured: int | None = None


def in_parts(space: Lattices) -> list[Lattices]:
    """Return the lattices of a size as a sweep computes them: in parts, if there are more than PART_LATTICES."""
    if space.nodes**2 > MOST_PARTS * PART_LATTICES:  # too many lattices for any number of parts
        return [space]
    parts = -(-lattice_count(space.nodes, space.dimensions) // PART_LATTICES)
    if not 1 < parts <= MOST_PARTS:
        return [space]
    return [space._replace(part=part, of=parts) for part in range(parts)]


def space_of(spelling: str) -> Space | None:
    """Return the design space that a spelling names; None for a network's spelling."""
    for kind, pattern in SPELLINGS.items():
        if found := pattern.fullmatch(spelling):
            return kind(*(int(number) for number in found.groups() if number))
    return None


def lattices_of(rows: pa.Table) -> int:
    """Return the number of lattices that rows represent. A row represents class_size lattices, or 1 if that is null."""
    sizes = rows["class_size"].to_numpy()
    return int(np.where(np.isnan(sizes), 1, sizes).sum())


def is_whole(space: Space, rows: pa.Table) -> bool:
    """Return whether the rows represent all lattices of the space."""
    return lattices_of(rows) == space.lattices


def screen_space(
    space: Space, *, classes: bool = True, backend: str = "auto", threads: int | None = None
) -> Iterator[ScreenedSpace]:
    """Yield the measured lattices of a space, part by part, in a fixed order.

    classes  whether to give one lattice of each class a row, instead of every lattice

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
    """Select a space's rows by its numbers, and by the prefix of spellings since a circulant is also a lattice."""
    same = (pc.field("dimensions") == space.dimensions) & (pc.field("nodes") == space.nodes)
    return rows.filter(same & pc.starts_with(pc.field("topology"), prefix))
