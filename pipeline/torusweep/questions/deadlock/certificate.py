"""Prove a verdict on deadlock by an order of the channels that all dependencies follow, or by packets that deadlock.

certify/check.py derives the routes of dimension order on tori and meshes, under the rules none and dateline. For other
routings and rules, the certificate lists the hops at each place, as tables whose digest stands for the routing.
"""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from typing import Any

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.certificates import MOST_NUMBERS, certificate, check_derived
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.deadlock.dependencies import (
    Dependencies,
    DependencyGraph,
    dependencies,
    dependency_graph,
    is_acyclic,
)
from torusweep.questions.deadlock.routing_case import Case, classified_table, deadlock_case
from torusweep.questions.deadlock.rules import table as table_rule
from torusweep.questions.deadlock.verdict import COUNTEREXAMPLE, verdict
from torusweep.routing import GivenRouting
from torusweep.routing.forms import SourceRouting, TableRouting

ROUTING, RULES = "dimension_order", ("none", "dateline")
LISTED = "listed"  # name of a routing, and of the rule of its classes, that the proof lists hop by hop
Tables = list[list[list[int] | list[list[int]]]]


def certified_case(topology: Topology, routing: str | GivenRouting, vc_rule: str, virtual_channels: int) -> Case:
    """Return the case to certify. Raises BadInput if the checker does not know the network, or for an unfit rule."""
    check_derived(topology)
    return deadlock_case(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)


def deadlock_certificate(topology: Topology, routing: str, vc_rule: str, virtual_channels: int) -> str:
    """Return the certificate. Raises BadInput if no certificate can prove the verdict, Refused for too many routes."""
    case = certified_case(topology, routing, vc_rule, virtual_channels)
    claim: dict[str, Any] = {"topology": topology.spelling, "routing": case.routing, "vc_rule": case.vc_rule}
    claim["virtual_channels"] = virtual_channels
    if (
        case.routing.partition("(")[0] != ROUTING
        or case.vc_rule not in RULES
        or not isinstance(case.form, SourceRouting)
    ):
        table = classified_table(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
        graph = dependency_graph(found := dependencies(table, table_rule(table), virtual_channels))
        if not is_acyclic(graph.matrix):
            raise BadInput(
                f"certificate of {case.routing} under {case.vc_rule} on {topology.spelling}: expected a verdict by an"
                f" order of the channels, got dependencies in a circle; choose a rule without, or {ROUTING} under"
                f" {' or '.join(RULES)}"
            )
        tables = _listed(table)
        name = f'{LISTED}(sha256="{hashlib.sha256(json.dumps(tables).encode()).hexdigest()}")'
        claim |= {"routing": name, "vc_rule": LISTED, "deadlock_free": "yes"}
        order = _channels(found, graph.channel[_order(graph)])
        return certificate("deadlock", claim, {"order": order, "tables": tables})
    found = dependencies(case.form, case.rule, virtual_channels)
    judged = verdict(case.form, case.rule, found)
    claim["deadlock_free"] = judged.deadlock_free
    if judged.acyclic:
        graph = dependency_graph(found)
        return certificate("deadlock", claim, {"order": _channels(found, graph.channel[_order(graph)])})
    if judged.argument != COUNTEREXAMPLE:
        raise BadInput(
            f"certificate of {case.routing} on {topology.spelling}: expected a verdict by an order or by packets that"
            f" enter together, got {judged.deadlock_free}: {judged.argument}; choose a rule that orders the channels"
        )
    cycle = _channels(found, judged.cycle)
    packets = [[held[0], requested[1]] for held, requested in pairwise([*cycle, cycle[0]])]  # routes of two hops
    return certificate("deadlock", claim, {"cycle": cycle, "packets": packets})


def _listed(table: TableRouting) -> Tables:
    """Return, for packets to each node, the nodes of further places N, N + 1, …, and hops (place, place, class).

    Packets enter at the places 0 … N − 1, which are the nodes, and leave at the place of their destination.
    """
    nodes = table.topology.nodes
    entry = table.entry[table.at[table.entry] != table.destination[table.entry]]  # other packets return to their source
    if len(entry) != nodes * (nodes - 1):
        raise BadInput("certificate: expected routes between all nodes, got some without; leave the faults out")
    if 3 * len(table.next) > MOST_NUMBERS:
        raise Refused(
            f"certificate of {table.topology.spelling}: expected at most {MOST_NUMBERS // 3:,} hops to list, got"
            f" {len(table.next):,}; choose a smaller network"
        )
    goes = table.port != NO_PORT  # where False, the packet leaves the network
    place = np.where(np.bincount(table.owner, goes, len(table.at)) > 0, -1, table.destination)
    place[entry] = table.at[entry]
    tables: Tables = []
    for destination, (first, last) in enumerate(pairwise(table.first.tolist())):
        own = place[first:last]  # a view
        others = np.flatnonzero(own < 0)
        own[others] = nodes + np.arange(len(others))
        start, end = table.rows[[first, last]]
        rows = start + np.flatnonzero(goes[start:end])
        to = np.where(table.next[rows] < 0, destination, place[table.next[rows]])
        hops = np.stack([place[table.owner[rows]], to, table.kind[rows]], axis=1)
        tables.append([table.at[first:last][others].tolist(), hops.tolist()])
    return tables


def _channels(found: Dependencies, numbers: np.ndarray) -> list[list[int]]:
    """Return [tail, head, class] of channels, given their numbers node · W + port · classes + class."""
    rest, kind = np.divmod(numbers, found.classes)
    node, port = np.divmod(rest, found.topology.ports.shape[1])
    listed: list[list[int]] = np.stack([node, found.topology.ports[node, port], kind], axis=1).tolist()
    return listed


def _order(graph: DependencyGraph) -> list[int]:
    """Return the vertices of an acyclic graph, each before the vertices that depend on it (Kahn 1962)."""
    rows = graph.matrix
    missing = np.bincount(rows.indices, minlength=rows.shape[0])
    order: list[int] = np.flatnonzero(missing == 0).tolist()
    for vertex in order:
        for after in rows.indices[rows.indptr[vertex] : rows.indptr[vertex + 1]].tolist():
            missing[after] -= 1
            if not missing[after]:
                order.append(after)
    return order
