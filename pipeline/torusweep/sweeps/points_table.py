"""The table of points: what a sweep requests, written out and weighed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from torusweep.counts import counted
from torusweep.stages.all_columns import schema_of
from torusweep.sweeps.batches import disk_bytes
from torusweep.sweeps.configuration import Sweep
from torusweep.sweeps.points import Point, estimates
from torusweep.sweeps.requested_points import requested_points
from torusweep.tables import store


def weighed_points(sweep: Sweep, folder: Path) -> dict[Point, float]:
    """Every point of a sweep whose results go to `folder`, with the seconds that it will take.

    Raises BadInput where one is wrong, Refused where there are too many, or too little room for what comes of them.
    """
    points = estimates(requested_points(sweep))
    store.check_room(
        folder, disk_bytes(points, sweep.cluster.batch_seconds), f"the sweep's {counted(len(points), 'point')}"
    )
    return points


def points_table(points: Mapping[Point, float]) -> pa.Table:
    """A row (torusweep.stages.all_columns: POINTS) for every point."""
    rows = [{**point.record(), "key": point.key, "estimated_seconds": cost} for point, cost in points.items()]
    return pa.Table.from_pylist(rows, schema=schema_of("points"))
