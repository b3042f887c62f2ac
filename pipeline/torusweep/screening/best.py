"""The best lattices of a size: every class is measured and compared, so that the answer is a proof."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from torusweep.counts import counted
from torusweep.errors import BadInput, nearest
from torusweep.screening.columns import SCREEN
from torusweep.screening.known import known_lattices
from torusweep.screening.measure import screen_lattices
from torusweep.screening.spaces import ScreenedSpace, Space, lattices_of
from torusweep.tables.columns import arrow_schema

SPREAD = "uniform traffic over all shortest paths"
OBJECTIVES = {  # column → what it is
    "mean_distance": "hops, a node to itself included",
    "diameter": "hops",
    "max_channel_load": SPREAD,
    "saturation_load": SPREAD,
    "links": "fewer than n a node where generators vanish or coincide",
    "degree": "fewer than 2n links a node where generators vanish or coincide",
}
EQUAL = 1e-9  # relative; loads are sums of floats, and two lattices of equal load differ in the last bits
TIES = ("distance_sum", "diameter", "max_channel_load")  # what orders winners that are equally good


class Objective(NamedTuple):
    """A column to minimise (sign 1) or maximise (sign -1)."""

    column: str
    sign: int

    def __str__(self) -> str:
        return f"{'least' if self.sign > 0 else 'greatest'} {self.column}"


class Best(NamedTuple):
    """The winners among all lattices of a size.

    space       that was compared
    objectives  in order: the second decides between those that are equally good in the first
    lattices    compared, of all classes
    measured    lattices that were measured: one of each class, or all
    kept        of these, lattices that meet the condition
    winners     of these, lattices that are equally good in all objectives
    attained    lattices of their classes
    rows        records of the first winners (`SCREEN`)
    known       records of the networks people know at that size, with their names; `meets_condition` says whether
                the best would be looked for among them
    """

    space: Space
    objectives: tuple[Objective, ...]
    lattices: int
    measured: int
    kept: int
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
    space: Space,
    chosen: Sequence[Objective],
    *,
    parts: Iterable[ScreenedSpace],
    keep: Callable[[pa.Table], pa.Table] = lambda rows: rows,
    show: int = 5,
    progress: Callable[[float], None] = lambda share: None,
) -> Best:
    """The best lattices of a space, by an ordered list of objectives.

    parts     the space, as `screen_space` yields it
    keep      the rows of a table among which the best is looked for
    show      winners to return
    progress  called with the share of the space compared so far

    Raises BadInput where no lattice is kept.
    """
    measured = kept = 0
    ahead = arrow_schema(SCREEN).empty_table()  # the best so far
    for part in parts:
        among = keep(part.rows)
        ahead = _keep_best(pa.concat_tables([ahead, among]), chosen)
        measured, kept = measured + len(part.rows), kept + len(among)
        progress(part.share)
    if not kept:
        raise BadInput(f"none of the {counted(space.lattices, space.things)} meets the condition; ask for less")
    rows = ahead.sort_by([(column, "ascending") for column in TIES]).slice(0, show)
    return Best(
        space=space,
        objectives=tuple(chosen),
        lattices=space.lattices,
        measured=measured,
        kept=kept,
        winners=len(ahead),
        attained=lattices_of(ahead),
        rows=rows.to_pylist(),
        known=known_rows(space, keep),
    )


def known_rows(space: Space, keep: Callable[[pa.Table], pa.Table]) -> list[dict[str, Any]]:
    """Records of the networks that people know in a space: its columns `SCREEN`, with their names and spellings.

    keep  the rows of a table that meet a condition; `meets_condition` of a record says whether its row does
    """
    known = known_lattices(space.nodes, space.dimensions)
    forms = np.array([network.form for network in known], np.int32).reshape(-1, space.dimensions, space.dimensions)
    rows = screen_lattices(forms, backend="numpy")  # few: Numba takes longer to load
    meets = [len(keep(rows.slice(place, 1))) > 0 for place in range(len(known))]
    return [
        {**row, "name": network.name, "topology": network.spelling, "meets_condition": met}
        for network, row, met in zip(known, rows.to_pylist(), meets)
    ]


def _keep_best(table: pa.Table, chosen: Sequence[Objective]) -> pa.Table:
    """The rows that are best in the first objective, and of these best in the next ones."""
    left = np.arange(len(table))
    for objective in chosen:
        values = table[objective.column].to_numpy()[left] * objective.sign
        if np.isnan(values).all():
            continue  # a single node sends nothing
        least = np.nanmin(values)
        left = left[values <= least + EQUAL * abs(least)]
    return table.take(left)
