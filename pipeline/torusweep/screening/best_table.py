"""The best lattices of every size that was screened whole, beside known networks and the bound: a small table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.screening.best import Objective, best_lattices
from torusweep.screening.columns import BEST
from torusweep.screening.spaces import Lattices, ScreenedSpace, is_whole
from torusweep.tables.columns import arrow_schema

LEAST_MEAN, GREATEST_SATURATION, BOUND = "least mean distance", "greatest saturation", "bound of lattices"
CHOSEN = {  # the second objective decides between lattices that are equal in the first
    LEAST_MEAN: (Objective("mean_distance", 1), Objective("saturation_load", -1)),
    GREATEST_SATURATION: (Objective("saturation_load", -1), Objective("mean_distance", 1)),
}


def best_table(screen: pa.Table) -> pa.Table:
    """The table `best`, by dimensions and nodes, from a table `screen`, without sizes of which it lacks lattices."""
    rows = [row for space, lattices in _sizes(screen) for row in _of_size(space, lattices)]
    return pa.Table.from_pylist(rows, schema=arrow_schema(BEST))


def _sizes(screen: pa.Table) -> Iterator[tuple[Lattices, pa.Table]]:
    """The lattices of each size that was screened whole; circulants, which a space of their own has, are left out."""
    lattices = screen.filter(pc.and_(screen["dimensions"].is_valid(), pc.starts_with(screen["topology"], "lattice(")))
    dimensions, nodes = lattices["dimensions"].to_numpy(), lattices["nodes"].to_numpy()
    order = np.lexsort((nodes, dimensions))
    first = np.flatnonzero(np.diff(dimensions[order], prepend=0) | np.diff(nodes[order], prepend=0))
    for place in np.split(order, first)[1:]:
        space, rows = Lattices(int(dimensions[place[0]]), int(nodes[place[0]])), lattices.take(place)
        if is_whole(space, rows):
            yield space, rows


def _of_size(space: Lattices, lattices: pa.Table) -> list[dict[str, Any]]:
    parts = [ScreenedSpace(lattices, 1.0)]
    winners = {name: best_lattices(space, chosen, parts=parts, show=1) for name, chosen in CHOSEN.items()}
    (best,) = winners[LEAST_MEAN].rows
    mean = best["lattice_mean_distance_bound"]
    bound = {
        "network": BOUND,
        "degree": 2 * space.dimensions,
        "diameter": best["lattice_diameter_bound"],
        "mean_distance": mean,
        "saturation_load": 2 * space.dimensions / mean if mean else None,
    }
    rows = [
        *({**found.rows[0], "network": name, "attained": found.attained} for name, found in winners.items()),
        *({**row, "network": row["name"]} for row in winners[LEAST_MEAN].known),
        bound,
    ]
    return [{**row, **space._asdict(), "lattices": space.lattices, "all_reduce": _all_reduce(row)} for row in rows]


def _all_reduce(row: dict[str, Any]) -> float | None:
    """(N − 1) / links, as all nodes look alike (torusweep.collectives.optimum)."""
    return (row["nodes"] - 1) / row["links"] if row.get("links") else None
