"""Whether a routing can lock up: its channel dependency graph under a virtual-channel rule, and the verdict with its argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.deadlock.dependencies import Dependencies, dependencies
from pipeline.deadlock.rules import MOST, RULES, Rule, none, rule_spelling, vc_rule
from pipeline.deadlock.verdict import free, verdict
from pipeline.errors import BadInput, Refused
from pipeline.records import DEADLOCK
from pipeline.routing import Routing, SourceRouting
from pipeline.routing import routing as routing_on
from pipeline.topology import Topology

# rules that are tried for the fewest virtual channels, at each number in this order; bubble is none of them, being a flow control
TRIED = ("none", "r05_phases", "dateline", "phases", "phases_dateline", "r05_wrap")


def deadlock_record(topology: Topology, *, routing: str, vc_rule: str, virtual_channels: int) -> dict[str, Any]:
    """The row of the table `deadlock`: exactly its columns, in order, as Python values.

    routing, vc_rule   spellings (pipeline.routing, pipeline.deadlock.rules)
    virtual_channels   of every physical channel, 1 … 16, shared out evenly among the rule's classes, the lower ones first

    Raises BadInput where a name or a parameter is wrong, or topology, routing and rule do not suit each other;
    Refused where the graph, or the way to it, is too large.
    """
    if not 1 <= virtual_channels <= MOST:
        raise BadInput(f"virtual_channels={virtual_channels}: expected 1 … {MOST}; choose at least as many as the rule has classes")
    routing_name, form = routing_on(routing, topology)
    rule_name, rule = _rule(vc_rule, routing_name, form)
    found = dependencies(form, rule, virtual_channels)
    judged = verdict(form, rule, found)
    channels, number = _counted(found, rule.shares(virtual_channels)) if found.complete else (None, None)
    known = {_graph_key(rule, virtual_channels): judged.acyclic}
    if not judged.acyclic:
        known[_graph_key(none(form), 1)] = False  # a cycle stays one where classes become one
    least, least_rule = _fewest(routing_name, form, known)
    values = {
        "topology": topology.spelling,
        "routing": routing_name,
        "vc_rule": rule_name,
        "virtual_channels": virtual_channels,
        "channels": channels,
        "dependencies": number,
        "acyclic": judged.acyclic,
        "deadlock_free": judged.deadlock_free,
        "argument": judged.argument,
        "cycle": None if judged.acyclic else [_shown(form, found, rule.shares(virtual_channels), int(channel)) for channel in judged.cycle],
        "cycle_length": None if judged.acyclic else len(judged.cycle),
        "least_virtual_channels": least,
        "least_rule": least_rule,
    }
    return {column.name: values[column.name] for column in DEADLOCK}


def check_suits(topology: Topology, routing: str, vc_rule: str) -> None:
    """Raises BadInput, as `deadlock_record` would, where topology, routing and rule do not suit each other; computes nothing."""
    _rule(vc_rule, *routing_on(routing, topology))


def _rule(spelling: str, routing_name: str, form: Routing) -> tuple[str, Rule]:
    try:
        return vc_rule(spelling, form)
    except BadInput as refusal:
        reason = str(refusal)
        raise type(refusal)(reason if not reason.startswith("rule ") else f"routing {routing_name} on {form.topology.spelling}: {reason}") from None


def _fewest(routing_name: str, form: Routing, known: dict[tuple[bytes, str], bool]) -> tuple[int | None, str | None]:
    """The fewest virtual channels with which a rule makes the graph acyclic, and that rule; None where there is none, or it is out of reach.

    known   whether a graph is acyclic, by its key; what is found here is added
    """
    rules: dict[str, Rule] = {}
    for name in TRIED:
        try:
            rules[name] = _rule(name, routing_name, form)[1]
        except BadInput:
            continue
    for number in range(1, min(MOST, max(rule.number for rule in rules.values())) + 1):
        for name, rule in rules.items():
            key = _graph_key(rule, number)
            if key not in known:
                try:
                    known[key] = free(dependencies(form, rule, number))
                except Refused:
                    return None, None
            if known[key]:
                return number, name
    return None, None


def _graph_key(rule: Rule, virtual_channels: int) -> tuple[bytes, str]:
    """Equal where two rules give one graph: their classes, and how crossings are remembered if classes depend on them."""
    classes = rule.within(virtual_channels)
    return classes.tobytes(), rule.memory if (classes[:, 0] != classes[:, 1]).any() else ""


def _counted(found: Dependencies, shares: np.ndarray) -> tuple[int, int]:
    """Pairs of a channel and a virtual one that packets pass, and dependencies between these."""
    own = np.tile(shares, found.topology.ports.shape[1])
    per_pair = (found.channels.depends > 0).sum(axis=0, dtype=np.int64)
    return int((found.channels.used.sum(axis=0, dtype=np.int64) * own).sum()), int(own @ per_pair @ own)


def _shown(form: Routing, found: Dependencies, shares: np.ndarray, channel: int) -> str:
    """A channel as people read it: node, its digits, direction (or the next node), virtual channel (of its class, the first)."""
    topology = found.topology
    node, own = divmod(channel, found.channels.used.shape[1])
    port, kind = divmod(own, found.classes)
    digits = [str(node // int(np.prod(topology.plan.radices[:i], dtype=np.int64)) % side) for i, side in enumerate(topology.plan.radices)]
    where = f"to {topology.ports[node, port]}"
    if isinstance(form, SourceRouting):
        d = int(np.flatnonzero(form.moves.port[node] == port)[0])
        where = f"{form.moves.names[d // 2]}{'-' if d % 2 else '+'}"
    return f"{node} ({','.join(digits)}) {where} vc{int(shares[:kind].sum())}"


__all__ = ["RULES", "check_suits", "deadlock_record", "rule_spelling"]
