"""The stage `static`: one record of every network."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, prod
from typing import Annotated, Any, ClassVar

from torusweep.networks.families.hierarchies import Hierarchy
from torusweep.networks.topology import Plan, Topology, Whole, no_symmetries
from torusweep.questions.how import How
from torusweep.questions.question import Question
from torusweep.questions.stage import LazyNetwork
from torusweep.questions.static.answer import Static
from torusweep.questions.static.bisection import INERTIA_NODES
from torusweep.questions.static.columns import STATIC
from torusweep.questions.static.record import MAX_PAIRS, static_record

ROUTED_PAIR = 4e-7  # seconds that the length of a hierarchical route takes
LONGEST_FAULT_SEARCH = 15.0  # seconds on a core; longer (fault_diameter.EXHAUSTIVE_WORK): a sample
LONGEST_LATENCIES = 15.0  # seconds of latencies.MOST_VISITS
LOADING = 0.3  # seconds that Numba takes to load; CuPy takes longer
SMALL = 256  # nodes that are all searched from, level by level, in hundredths of a second by NumPy, too


def describe(
    network: Topology,
    how: How,
    *,
    fault_nodes: Annotated[
        int, Whole(1, "also compute the fault diameter: the largest diameter that this many faulty nodes can leave")
    ]
    | None = None,
) -> Static:
    """Static properties of a network: size, distances, connectivity, bisection, symmetry; and a small picture.

    >>> import torusweep as ts
    >>> ts.network("torus(k=4, n=2)").static().bisection_upper
    8
    """
    record = static_record(
        network,
        fault_nodes=fault_nodes,
        backend=how.backend,
        use_symmetry=how.use_symmetry,
        threads=how.threads,
    )
    return Static(record, network=network)


class StaticQuestion(Question):
    name = "static"
    columns = STATIC
    ask = staticmethod(describe)
    command = "describe"
    method = "static"
    entry = None
    shorter: ClassVar = {"no_picture": "Print the table only."}
    examples = (
        'describe "rtt(a=4)"',
        'describe "torus(k=100, n=3)" --json | jq .mean_distance',
        "describe my.graphml",
        'describe "faulty(torus(k=8, n=3), links=4, seed=1)"',
        'describe "pruned_torus(k=4, n=3)" --fault-nodes 3',
    )

    def request_for_network(self, fault_nodes: int | None) -> Any:
        return self.Request(fault_nodes)

    def is_quick(self, network: Topology | None, use_symmetry: bool, values: Mapping[str, Any]) -> bool:
        """Of symmetric networks one node of each orbit is searched from, and of small ones all, in little time."""
        if network is None or not use_symmetry or "fault_nodes" in values:
            return False
        searches_little = network.plan.symmetries is not no_symmetries or network.plan.nodes <= SMALL
        return searches_little and _seconds(network.plan, None) <= LOADING

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        return _seconds(network.plan, request.fault_nodes)


def _seconds(planned: Plan, fault_nodes: int | None) -> float:
    """Declared symmetry makes the searches negligible beside the proofs, which read every link a few times."""
    arcs = planned.nodes * max(planned.degree, 1)
    seconds = 2e-3 + 1e-6 * arcs
    if planned.symmetries is no_symmetries:
        seconds += min(5e-8 * arcs * planned.nodes, LONGEST_LATENCIES) if len(set(planned.latencies)) > 1 else 0.0
        seconds += 4e-11 * arcs * planned.nodes + (6e-6 * arcs if planned.nodes <= INERTIA_NODES else 0.0)
    if isinstance(planned.structure, Hierarchy):  # its own routing from a node of each cell, or from every one
        pairs = planned.nodes * prod(planned.structure.module)
        seconds += ROUTED_PAIR * pairs if pairs <= MAX_PAIRS else 0.0
    if fault_nodes is not None:
        sets = min(comb(planned.nodes, fault_nodes), 10**18)  # more would be no float
        seconds += min(1.3e-10 * arcs * sets, LONGEST_FAULT_SEARCH)
    return seconds


QUESTION = StaticQuestion()
StaticRequest = QUESTION.Request
