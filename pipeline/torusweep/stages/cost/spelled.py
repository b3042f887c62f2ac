"""Cost models and packings as parameters of questions."""

from torusweep.questions.parameters import Spelled

COST_MODEL = Spelled(
    "a cost model, or a YAML file of one (docs/cost.md)",
    table="torusweep.costs:MODELS",
    title="Cost models",
    canonical="torusweep.costs:readable",
    files="torusweep.costs:files_of",
    called=False,
    words="torusweep.costs:description_of",
)
PACKING = Spelled(
    "which routers share a cabinet: automatic, or a placement, as in straight(dimensions=2, block=[4, 4])",
    table="torusweep.stages.layout.placements:PLACEMENTS",
    canonical="torusweep.stages.cost.packing:spelling_of",
)
