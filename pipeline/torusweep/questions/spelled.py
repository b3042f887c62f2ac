"""The parameters `routing` and `traffic` of questions."""

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
