"""Routings, traffic patterns, cost models and packings as parameters of questions."""

from torusweep.questions.parameters import Spelled

ROUTING = Spelled(
    "how packets are routed",
    table="torusweep.routing:ROUTINGS",
    title="Routings",
    canonical="torusweep.routing:canonical",
    files="torusweep.routing:files_of",
    given="torusweep.routing.tables.objects:routing_of",
)
TRAFFIC = Spelled(
    "which terminals send to which",
    table="torusweep.traffic:PATTERNS",
    title="Traffic patterns",
    canonical="torusweep.traffic:canonical",
    files="torusweep.traffic:files_of",
    given="torusweep.traffic.given:traffic_of",
)
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
