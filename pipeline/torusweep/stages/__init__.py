"""The stages: tables whose rows are computed point by point. To add a stage, see CONTRIBUTING.md."""

from torusweep.questions.stage import Stage
from torusweep.stages.availability.stage import QUESTION as AVAILABILITY
from torusweep.stages.collectives.stage import QUESTION as COLLECTIVES
from torusweep.stages.cost.stage import QUESTION as COST
from torusweep.stages.deadlock.stage import QUESTION as DEADLOCK
from torusweep.stages.layout.stage import QUESTION as LAYOUT
from torusweep.stages.loads.stage import QUESTION as LOADS
from torusweep.stages.screen.stage import ScreenStage
from torusweep.stages.simulation.stage import QUESTION as SIMULATION
from torusweep.stages.static.stage import StaticStage

# in the order in which they are computed; their tables join static's
STAGES: dict[str, Stage] = {
    "static": StaticStage(),
    "loads": LOADS,
    "deadlock": DEADLOCK,
    "layout": LAYOUT,
    "simulation": SIMULATION,
    "collectives": COLLECTIVES,
    "cost": COST,
    "availability": AVAILABILITY,
    "screen": ScreenStage(),
}

__all__ = ["STAGES", "Stage"]
