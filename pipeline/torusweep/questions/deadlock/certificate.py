"""What proves a verdict on deadlock: an order of the channels along which all dependencies go, or packets that wait.

Only for what certify/check.py knows the routes of: dimension order on tori and meshes, rule none or dateline.
"""

from __future__ import annotations

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.certificates import certificate, check_derived
from torusweep.networks.topology import Topology
from torusweep.questions.deadlock.counterexamples import packets_of
from torusweep.questions.deadlock.dependencies import Dependencies, DependencyGraph, dependencies, dependency_graph
from torusweep.questions.deadlock.routing_case import Case, deadlock_case
from torusweep.questions.deadlock.verdict import COUNTEREXAMPLE, verdict
from torusweep.routing import GivenRouting
from torusweep.routing.forms import SourceRouting

ROUTING, RULES = "dimension_order", ("none", "dateline")


def certified_case(topology: Topology, routing: str | GivenRouting, vc_rule: str, virtual_channels: int) -> Case:
    """Raises BadInput where the checker does not know the routes."""
    check_derived(topology)
    case = deadlock_case(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    if (
        case.routing.partition("(")[0] != ROUTING
        or case.vc_rule not in RULES
        or not isinstance(case.form, SourceRouting)
    ):
        raise BadInput(
            f"certificate of {case.routing} under {case.vc_rule}: expected {ROUTING} under {' or '.join(RULES)}, whose"
            " routes certify/check.py derives; choose these"
        )
    return case


def deadlock_certificate(topology: Topology, routing: str, vc_rule: str, virtual_channels: int) -> str:
    """Raises BadInput where the checker does not know the routes, or the verdict is not proved by these."""
    case = certified_case(topology, routing, vc_rule, virtual_channels)
    assert isinstance(case.form, SourceRouting)
    found = dependencies(case.form, case.rule, virtual_channels)
    judged = verdict(case.form, case.rule, found)
    claim = {
        "topology": topology.spelling,
        "routing": case.routing,
        "vc_rule": case.vc_rule,
        "virtual_channels": virtual_channels,
        "deadlock_free": judged.deadlock_free,
    }
    if judged.acyclic:
        graph = dependency_graph(found)
        return certificate("deadlock", claim, {"order": _channels(found, graph.channel[_order(graph)])})
    if judged.argument != COUNTEREXAMPLE:
        raise BadInput(
            f"certificate of {case.routing} on {topology.spelling}: expected a verdict by an order or by packets that"
            f" enter together, got {judged.deadlock_free}: {judged.argument}; choose a rule that orders the channels"
        )
    packets = packets_of(case.form, case.rule, virtual_channels, judged.cycle, entering=True)
    assert packets is not None, "a cycle of entering packets has packets"
    ends = [[int(node) for node in packet.split(" → ")] for packet in packets]
    return certificate("deadlock", claim, {"cycle": _channels(found, judged.cycle), "packets": ends})


def _channels(found: Dependencies, numbers: np.ndarray) -> list[list[int]]:
    """[tail, head, class] of channels by their numbers, node · W + port · classes + class."""
    rest, kind = np.divmod(numbers, found.classes)
    node, port = np.divmod(rest, found.topology.ports.shape[1])
    listed: list[list[int]] = np.stack([node, found.topology.ports[node, port], kind], axis=1).tolist()
    return listed


def _order(graph: DependencyGraph) -> list[int]:
    """The vertices of an acyclic graph, each before those that depend on it (Kahn 1962)."""
    rows = graph.matrix
    missing = np.bincount(rows.indices, minlength=rows.shape[0])
    order: list[int] = np.flatnonzero(missing == 0).tolist()
    for vertex in order:
        for after in rows.indices[rows.indptr[vertex] : rows.indptr[vertex + 1]].tolist():
            missing[after] -= 1
            if not missing[after]:
                order.append(after)
    return order
