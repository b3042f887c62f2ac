"""The stages: tables whose rows are computed point by point. To add a stage, see CONTRIBUTING.md."""

from dataclasses import fields
from typing import get_type_hints

from torusweep.stages.deadlock.stage import DeadlockStage
from torusweep.stages.layout.stage import LayoutStage
from torusweep.stages.loads.stage import LoadsStage
from torusweep.stages.simulation.stage import SimulationStage
from torusweep.stages.stage import Stage
from torusweep.stages.static.stage import StaticStage
from torusweep.tables.records import TABLES, Column

# in the order in which they are computed; their tables join static's
STAGES: dict[str, Stage] = {
    "static": StaticStage(),
    "loads": LoadsStage(),
    "deadlock": DeadlockStage(),
    "layout": LayoutStage(),
    "simulation": SimulationStage(),
}


def _add_tables() -> None:
    """Declare the stages' tables, and every field of a request as a column of `points`."""
    types = {int: "int64", float: "double", str: "string", bool: "bool"}
    *points, seconds = TABLES["points"]
    for stage in STAGES.values():
        TABLES[stage.name] = stage.columns
        hints = get_type_hints(stage.Request)
        for field in fields(stage.Request):
            if field.name not in [column.name for column in points]:
                (kind,) = {*(getattr(hints[field.name], "__args__", (hints[field.name],)))} - {type(None)}
                points.append(Column(field.name, types[kind], "", f"of a row of {stage.name}"))
    TABLES["points"] = (*points, seconds)


_add_tables()

__all__ = ["STAGES", "Stage"]
