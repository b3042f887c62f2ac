"""Several networks at equal cost: what each carries of a traffic for its price, and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torusweep.errors import BadInput
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import Topology
from torusweep.questions.cost.arithmetic import equal_cost
from torusweep.questions.loads.channels import record_of
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.parameters import Spelled
from torusweep.questions.stage import under
from torusweep.questions.static.distances import terminal_distances, terminal_latencies

ROUTINGS = ("minimal", "by_group")
# both stand here, because no row of the table cost depends on a routing or a traffic
ROUTING = Spelled(
    "of several networks: routings, of which each network's best counts, separated by commas;"
    f" {','.join(ROUTINGS)} by default",
    table="torusweep.routing:ROUTINGS",
    called=False,
)
TRAFFIC = Spelled("of several networks: the traffic pattern; uniform by default", table="torusweep.traffic:PATTERNS")
# columns of the table equal_cost
COMPARED = ("routing", "traffic", "mean_distance", "latency", "throughput", "saturation_per_cost", "on_front")


def compared(
    networks: Sequence[Topology], records: list[dict[str, Any]], routings: Sequence[str], traffic: str
) -> list[dict[str, Any]]:
    """The records with the columns COMPARED, the cheapest first; networks in parts and without traffic come last.

    records   of the table `cost`, one for each network
    routings  of which each network's best counts
    """
    static, loads = [], []
    for network in networks:
        nodes = orbits(network)
        found = terminal_distances(network, nodes, use_symmetry=True, backend="auto", threads=None)
        cycles = terminal_latencies(network, found, nodes, use_symmetry=True)
        static.append(
            {
                "topology": network.spelling,
                "connected": sum(found.histogram) == len(network.terminals) ** 2,
                "mean_distance": found.mean,
                "latency_mean": None if cycles is None else cycles.mean,
            }
        )
        loads += _loads(network, routings, traffic)
    rows = {row["topology"]: row for row in equal_cost(static, loads, records)}
    found_rows = [record | {key: rows.get(record["topology"], {}).get(key) for key in COMPARED} for record in records]
    order = {name: place for place, name in enumerate(rows)}
    return sorted(found_rows, key=lambda row: order.get(row["topology"], len(order)))


def _loads(network: Topology, routings: Sequence[str], traffic: str) -> list[dict[str, Any]]:
    """Rows of `loads` under each routing that suits the network. Raises BadInput where none does."""
    found = []
    refusals = []
    for routing in routings:
        try:
            found.append(record_of(exact_loads(network, routing=routing, traffic=traffic), None))
        except BadInput as refusal:
            refusals.append(refusal)
    if refusals and not found:
        raise refusals[0]
    if not found:
        with under("routing"):
            raise BadInput("expected a routing, got none; write minimal")
    return found
