"""The table of points: what a sweep asks for, written out and weighed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from pipeline import store
from pipeline.batches import disk_bytes
from pipeline.config import Sweep
from pipeline.costs import estimates
from pipeline.counts import counted
from pipeline.expansion.asked import asked_points
from pipeline.records import arrow_schema


def points_table(sweep: Sweep, folder: Path) -> pa.Table:
    """A row (pipeline.records: POINTS) for every point of a sweep whose results go to `folder`.

    Raises BadInput where one is wrong, Refused where there are too many, or too little room for what comes of them.
    """
    asked = estimates(asked_points(sweep))
    store.check_room(folder, disk_bytes(asked, sweep.cluster.batch_seconds), f"the sweep's {counted(len(asked), 'point')}")
    schema = arrow_schema("points")
    columns = {name: [getattr(point, name) for point in asked] for name in schema.names if name != "estimated_seconds"}
    return pa.table({**columns, "estimated_seconds": list(asked.values())}, schema=schema)
