"""The table of points: what a sweep asks for, written out and weighed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from torusweep.counts import counted
from torusweep.run.batches import disk_bytes
from torusweep.sweep.configuration import Sweep
from torusweep.sweep.costs import estimates
from torusweep.sweep.points import Point
from torusweep.sweep.requested import asked_points
from torusweep.tables import store
from torusweep.tables.records import arrow_schema


def weighed_points(sweep: Sweep, folder: Path) -> dict[Point, float]:
    """Every point of a sweep whose results go to `folder`, with the seconds that it will take.

    Raises BadInput where one is wrong, Refused where there are too many, or too little room for what comes of them.
    """
    asked = estimates(asked_points(sweep))
    store.check_room(
        folder, disk_bytes(asked, sweep.cluster.batch_seconds), f"the sweep's {counted(len(asked), 'point')}"
    )
    return asked


def points_table(asked: Mapping[Point, float]) -> pa.Table:
    """A row (torusweep.tables.records: POINTS) for every point."""
    schema = arrow_schema("points")
    columns = {name: [getattr(point, name) for point in asked] for name in schema.names if name != "estimated_seconds"}
    return pa.table({**columns, "estimated_seconds": list(asked.values())}, schema=schema)
