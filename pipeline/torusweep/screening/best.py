"""The best lattices of a size: every class is measured and compared, so that the answer is a proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from torusweep.errors import BadInput, nearest
from torusweep.screening.known import known_lattices
from torusweep.screening.lattices import check_space, lattice_count, representatives, spell
from torusweep.screening.measure import screen_lattices

OBJECTIVES = ("mean_distance", "diameter", "max_channel_load", "saturation_load", "links", "degree")
EQUAL = 1e-9  # relative; loads are sums of floats, and two lattices of equal load differ in the last bits
TIES = ("distance_sum", "diameter", "max_channel_load")  # what orders winners that are equally good
HISTOGRAM_ENTRIES = 2**24  # of the lattices that are measured at once


class Objective(NamedTuple):
    """A column to minimise (sign 1) or maximise (sign -1)."""

    column: str
    sign: int

    def __str__(self) -> str:
        return f"{'least' if self.sign > 0 else 'greatest'} {self.column}"


class Best(NamedTuple):
    """The winners among all lattices of a size.

    objectives  in order: the second decides between those that are equally good in the first
    lattices    compared, of all classes
    classes     classes of lattices, each measured once
    winners     classes that are equally good in all objectives
    attained    lattices of these classes
    rows        records of the first winners, with their spellings
    known       records of the networks people know at that size, with their names and spellings
    """

    objectives: tuple[Objective, ...]
    lattices: int
    classes: int
    winners: int
    attained: int
    rows: list[dict[str, Any]]
    known: list[dict[str, Any]]


def objectives(minimise: Sequence[str], maximise: Sequence[str]) -> tuple[Objective, ...]:
    """What to minimise, then what to maximise; the mean distance where neither is given.

    Raises BadInput for a column that no lattice is chosen by, or one that stands twice.
    """
    chosen = [Objective(name, 1) for name in minimise] + [Objective(name, -1) for name in maximise]
    for place, objective in enumerate(chosen):
        name = objective.column
        if name not in OBJECTIVES:
            raise BadInput(f"objective '{name}'{nearest(name, OBJECTIVES)}: expected one of {', '.join(OBJECTIVES)}")
        if name in [other.column for other in chosen[:place]]:
            raise BadInput(f"objective '{name}': expected each column once, got it twice; leave one out")
    return tuple(chosen) or (Objective("mean_distance", 1),)


def best_lattices(
    nodes: int,
    dimensions: int,
    chosen: Sequence[Objective],
    *,
    show: int = 5,
    backend: str = "auto",
    progress: Callable[[float], None] = lambda share: None,
) -> Best:
    """The best of all lattices of so many nodes and dimensions, by an ordered list of objectives.

    show      winners to return
    progress  called with the share of the lattices compared so far

    Raises BadInput where there is no such space, Refused where it has more lattices than can be compared,
    BackendUnavailable for cupy without a GPU.
    """
    check_space(nodes, dimensions)
    lattices, classes, compared = lattice_count(nodes, dimensions), 0, 0
    ahead: pa.Table | None = None  # the best so far
    for part in representatives(nodes, dimensions):
        for first in range(0, len(part.forms), rows := max(1, HISTOGRAM_ENTRIES // nodes)):
            block = slice(first, first + rows)
            table = screen_lattices(part.forms[block], part.sizes[block], backend=backend)
            ahead = _keep_best(table if ahead is None else pa.concat_tables([ahead, table]), chosen)
            progress((compared + part.lattices * min(first + rows, len(part.forms)) / len(part.forms)) / lattices)
        classes += len(part.forms)
        compared += part.lattices
    assert ahead is not None, "a size has at least one lattice"
    known = known_lattices(nodes, dimensions)
    forms = np.array([network.form for network in known], np.int32).reshape(-1, dimensions, dimensions)
    beside = screen_lattices(forms, np.ones(len(known), np.int32), backend=backend).drop_columns("class_size")
    rows_shown = ahead.sort_by([(column, "ascending") for column in TIES]).slice(0, show).to_pylist()
    return Best(
        objectives=tuple(chosen),
        lattices=lattices,
        classes=classes,
        winners=len(ahead),
        attained=int(ahead["class_size"].to_numpy().sum()),
        rows=[{"topology": spell(row["matrix"]), **row} for row in rows_shown],
        known=[
            {"name": network.name, "topology": network.spelling, **row}
            for network, row in zip(known, beside.to_pylist())
        ],
    )


def _keep_best(table: pa.Table, chosen: Sequence[Objective]) -> pa.Table:
    """The rows that are best in the first objective, and of these best in the next ones."""
    left = np.arange(len(table))
    for objective in chosen:
        values = table[objective.column].to_numpy()[left] * objective.sign
        if np.isnan(values).all():
            break  # a single node sends nothing
        least = np.nanmin(values)
        left = left[values <= least + EQUAL * abs(least)]
    return table.take(left)
