"""Design spaces that a sweep has screened: the rows of its table `screen`."""

from __future__ import annotations

from pathlib import Path

from torusweep.errors import BadInput
from torusweep.screening.columns import SCREEN
from torusweep.screening.spaces import ScreenedSpace, Space, is_whole
from torusweep.tables import store
from torusweep.tables.columns import arrow_schema


def screened_before(folder: Path, space: Space) -> list[ScreenedSpace] | None:
    """A whole design space as the table `screen` of a results folder has it; None where it does not.

    Raises BadInput where the folder has no such table, or an altered one.
    """
    if folder.is_dir() and not (folder / "screen.parquet").exists():
        raise BadInput(f"{folder}: expected a sweep with a section screen, got none; leave the folder out to compute")
    where = {"dimensions": space.dimensions, "nodes": space.nodes}
    rows = space.rows_among(store.open_current(folder / "screen.parquet", arrow_schema(SCREEN), where))
    return [ScreenedSpace(rows, 1.0)] if is_whole(space, rows) else None
