"""Whether a routing can lock up: its channel dependency graph under a virtual-channel rule, and the verdict with its argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep.networks.topology import Topology
from torusweep.routing import LayeredRouting, Routing
from torusweep.routing.forms import AdaptiveRouting
from torusweep.stages.deadlock.case import Case, deadlock_case, resolve_routing, routing_spelling
from torusweep.stages.deadlock.cycles import are_acyclic
from torusweep.stages.deadlock.dependencies import Dependencies, dependencies, merge_classes
from torusweep.stages.deadlock.escape import escape_acyclic, escape_verdict
from torusweep.stages.deadlock.least_virtual_channels import (
    CANDIDATE_RULES,
    GraphKey,
    adaptive_channels,
    graph_key,
    least_virtual_channels,
)
from torusweep.stages.deadlock.packets import packets_of
from torusweep.stages.deadlock.progress import Progress, part_of
from torusweep.stages.deadlock.rules import RULES, none, rule_spelling
from torusweep.stages.deadlock.verdict import BUBBLE, Verdict, proves_deadlock_free, verdict
from torusweep.tables.records import DEADLOCK


def deadlock_record(
    topology: Topology, *, routing: str, vc_rule: str, virtual_channels: int, progress: Progress = None
) -> dict[str, Any]:
    """The row of the table `deadlock`: exactly its columns, in order, as Python values.

    routing, vc_rule   spellings (torusweep.routing, and `adaptive`; torusweep.stages.deadlock.rules). Of adaptive routing, the rule is the
                       escape's, and `channels` and `dependencies` are those of the escape channels, indirect ones included
    virtual_channels   of every physical channel, 1 … 16, shared out evenly among the rule's classes, the lower ones first; of
                       adaptive routing each class of the escape has one and the others, one at least, are adaptive
    progress           is told which share of the work is done: half when the verdict is known, half for the fewest virtual channels

    Raises BadInput where a name or a parameter is wrong, topology, routing and rule do not suit each other, or the routing
    does not reach every destination; Refused where the graph, or the way to it, is too large.
    """
    case = deadlock_case(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    form, rule = case.form, case.rule
    found, shares, channels, number, graph = _examined(case, part_of(progress, 0, 2))
    known: dict[GraphKey, bool] = (
        {} if rule.bubble else {graph_key(rule, virtual_channels - adaptive_channels(form)): found.acyclic}
    )
    if graph is not None and not isinstance(form, AdaptiveRouting):
        # a cycle remains a cycle when classes merge
        known[graph_key(none(form), 1)] = found.acyclic and are_acyclic(merge_classes(graph))
    least = least_virtual_channels(case.routing, form, known, part_of(progress, 1, 2))
    cycle = packets = None
    if not found.acyclic:
        cycle = [_in_words(form, shares, int(channel)) for channel in found.cycle]
        if not isinstance(form, AdaptiveRouting):
            packets = packets_of(form, rule, virtual_channels, found.cycle, entering=found.deadlock_free == "no")
    values = {
        "topology": topology.spelling,
        "routing": case.routing,
        "vc_rule": case.vc_rule,
        "virtual_channels": virtual_channels,
        "channels": channels,
        "dependencies": number,
        "acyclic": found.acyclic,
        "deadlock_free": found.deadlock_free,
        "argument": found.argument,
        "cycle": cycle,
        "cycle_length": None if cycle is None else len(cycle),
        "packets": packets,
        "least_virtual_channels": least.number,
        "least_rule": least.rule,
        "least_reason": least.reason,
    }
    return {column.name: values[column.name] for column in DEADLOCK}


def is_proved_free(case: Case) -> bool:
    """Whether `deadlock_record` says that this one rule keeps packets from locking up; nothing else is looked for. Raises Refused as it does."""
    form, rule = case.form, case.rule
    if not isinstance(form, AdaptiveRouting):
        return proves_deadlock_free(form, rule, dependencies(form, rule, case.virtual_channels))
    if rule.bubble:
        return proves_deadlock_free(form.escape, rule, dependencies(form.escape, rule, 1))
    return escape_acyclic(form, rule.within(case.virtual_channels - 1))


def least_rule(topology: Topology, routing: str) -> tuple[int | None, str | None]:
    """`least_virtual_channels` and `least_rule` of `deadlock_record`. Raises BadInput for a routing that does not suit the network."""
    return least_virtual_channels(*resolve_routing(routing, topology), {})[:2]


def _examined(
    case: Case, progress: Progress
) -> tuple[Verdict, np.ndarray, int | None, int | None, Dependencies | None]:
    """(verdict, virtual channels of each class, channels, dependencies, and the graph of these, but of escapes)."""
    form, rule, virtual_channels = case.form, case.rule, case.virtual_channels
    if isinstance(form, AdaptiveRouting):
        shares = np.ones(min(rule.number, virtual_channels - 1), np.int64)
        if not rule.bubble:
            said, channels, number = escape_verdict(form, rule.within(virtual_channels - 1), progress)
            return said, shares, channels, number, None
        found = dependencies(
            form.escape, rule, 1, progress
        )  # in virtual cut-through no packet holds one channel and waits elsewhere
        said = verdict(form.escape, rule, found)
        return said._replace(argument=BUBBLE) if said.acyclic else said, shares, *_counted(found, shares), None
    shares = rule.shares(virtual_channels)
    found = dependencies(form, rule, virtual_channels, progress)
    return verdict(form, rule, found), shares, *(_counted(found, shares) if found.complete else (None, None)), found


def _counted(found: Dependencies, shares: np.ndarray) -> tuple[int, int]:
    """Pairs of a channel and a virtual one that packets pass, and dependencies between these."""
    own = np.tile(shares, found.topology.ports.shape[1])
    per_pair = (found.channels.depends > 0).sum(axis=0, dtype=np.int64)
    return int((found.channels.used.sum(axis=0, dtype=np.int64) * own).sum()), int(own @ per_pair @ own)


def _in_words(form: Routing | AdaptiveRouting, shares: np.ndarray, channel: int) -> str:
    """A channel as people read it: node, its digits, direction (or the next node), virtual channel (of its class, the first)."""
    topology = form.topology
    rest, kind = divmod(channel, len(shares))
    node, port = divmod(rest, topology.ports.shape[1])
    digits = [
        str(node // int(np.prod(topology.plan.radices[:i], dtype=np.int64)) % side)
        for i, side in enumerate(topology.plan.radices)
    ]
    where = f"to {topology.ports[node, port]}"
    if not isinstance(form, LayeredRouting):
        moves = form.escape.moves if isinstance(form, AdaptiveRouting) else form.moves
        d = int(np.flatnonzero(moves.port[node] == port)[0])
        where = f"{moves.names[d // 2]}{'-' if d % 2 else '+'}"
    return f"{node} ({','.join(digits)}) {where} vc{int(shares[:kind].sum())}"


__all__ = [
    "CANDIDATE_RULES",
    "RULES",
    "Case",
    "deadlock_case",
    "deadlock_record",
    "is_proved_free",
    "least_rule",
    "routing_spelling",
    "rule_spelling",
]
