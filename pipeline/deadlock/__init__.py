"""Whether a routing can lock up: its channel dependency graph under a virtual-channel rule, and the verdict with its argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pipeline.deadlock.cycles import is_acyclic
from pipeline.deadlock.dependencies import Dependencies, dependencies
from pipeline.deadlock.escape import escape_graph
from pipeline.deadlock.rules import MOST, RULES, Rule, none, rule_spelling, vc_rule
from pipeline.deadlock.verdict import BUBBLE, Verdict, free, verdict, verdict_of_escape
from pipeline.errors import BadInput, Refused
from pipeline.naming import bound
from pipeline.records import DEADLOCK
from pipeline.routing import EXAMPLE, ROUTINGS, LayeredRouting, Routing
from pipeline.routing import routing as routing_on
from pipeline.routing.adaptive import adaptive
from pipeline.routing.forms import AdaptiveRouting
from pipeline.topology import Topology

# rules that are tried for the fewest virtual channels, at each number in this order; bubble is none of them, being a flow control
TRIED = ("none", "r05_phases", "dateline", "phases", "phases_dateline", "r05_wrap")
OF_ESCAPES = ("none", "dateline", "bubble")
ALL: dict[str, Callable[..., Routing | AdaptiveRouting]] = {**ROUTINGS, adaptive.__name__: adaptive}


def deadlock_record(topology: Topology, *, routing: str, vc_rule: str, virtual_channels: int) -> dict[str, Any]:
    """The row of the table `deadlock`: exactly its columns, in order, as Python values.

    routing, vc_rule   spellings (pipeline.routing, and `adaptive`; pipeline.deadlock.rules). Of adaptive routing, the rule is the
                       escape's, and `channels` and `dependencies` are those of the escape channels, indirect ones included
    virtual_channels   of every physical channel, 1 … 16, shared out evenly among the rule's classes, the lower ones first; of
                       adaptive routing each class of the escape has one and the others, one at least, are adaptive

    Raises BadInput where a name or a parameter is wrong, or topology, routing and rule do not suit each other;
    Refused where the graph, or the way to it, is too large.
    """
    routing_name, form, rule_name, rule, _ = suited(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    found, shares, channels, number = _examined(form, rule, virtual_channels)
    known = {} if rule.bubble else {_graph_key(rule, virtual_channels - _spare(form)): found.acyclic}
    if not found.acyclic and not isinstance(form, AdaptiveRouting):
        known[_graph_key(none(form), 1)] = False  # a cycle stays one where classes become one
    least, its_rule = _fewest(routing_name, form, known)
    values = {
        "topology": topology.spelling,
        "routing": routing_name,
        "vc_rule": rule_name,
        "virtual_channels": virtual_channels,
        "channels": channels,
        "dependencies": number,
        "acyclic": found.acyclic,
        "deadlock_free": found.deadlock_free,
        "argument": found.argument,
        "cycle": None if found.acyclic else [_shown(form, shares, int(channel)) for channel in found.cycle],
        "cycle_length": None if found.acyclic else len(found.cycle),
        "least_virtual_channels": least,
        "least_rule": its_rule,
    }
    return {column.name: values[column.name] for column in DEADLOCK}


class Suited(NamedTuple):
    """A routing and a rule that suit each other, by their canonical spellings and as data, and how many virtual channels they have."""

    routing: str
    form: Routing | AdaptiveRouting
    vc_rule: str
    rule: Rule
    virtual_channels: int


def suited(topology: Topology, *, routing: str, vc_rule: str, virtual_channels: int) -> Suited:
    """Raises BadInput, as `deadlock_record` would, where these do not suit each other; computes nothing."""
    name, form = _routing(routing, topology)
    rule_name, rule = _rule(vc_rule, name, form)
    _check_number(virtual_channels, form)
    return Suited(name, form, rule_name, rule, virtual_channels)


def verdict_on(what: Suited) -> Verdict:
    """What `deadlock_record` says of this one rule; others are not tried. Raises Refused as it does."""
    return _examined(what.form, what.rule, what.virtual_channels)[0]


def least_rule(topology: Topology, routing: str) -> tuple[int | None, str | None]:
    """`least_virtual_channels` and `least_rule` of `deadlock_record`. Raises BadInput for a routing that does not suit the network."""
    return _fewest(*_routing(routing, topology), {})


def _check_number(virtual_channels: int, form: Routing | AdaptiveRouting) -> None:
    if not 1 <= virtual_channels <= MOST:
        raise BadInput(f"virtual_channels={virtual_channels}: expected 1 … {MOST}; choose at least as many as the rule has classes")
    if isinstance(form, AdaptiveRouting) and virtual_channels < 2:
        raise BadInput(f"virtual_channels={virtual_channels}: expected 2 or more with adaptive routing, the escape's and an adaptive one")


def routing_spelling(spelling: str) -> str:
    """The canonical spelling of a routing, `adaptive` among them, whatever the network. Raises BadInput where it is wrong."""
    return bound(spelling, ALL, kind="routing", example=EXAMPLE)[0]


def _routing(spelling: str, topology: Topology) -> tuple[str, Routing | AdaptiveRouting]:
    canonical, function, values = bound(spelling, ALL, kind="routing", example=EXAMPLE)
    if canonical.partition("(")[0] != adaptive.__name__:
        return routing_on(canonical, topology)  # which names itself in what it refuses
    return canonical, function(topology, **values)


def _rule(spelling: str, routing_name: str, form: Routing | AdaptiveRouting) -> tuple[str, Rule]:
    """(canonical spelling, rule); an adaptive routing's rule is its escape's."""
    try:
        if not isinstance(form, AdaptiveRouting):
            return vc_rule(spelling, form)
        canonical, rule = vc_rule(spelling, form.escape)
        if canonical not in OF_ESCAPES:
            raise BadInput(f"rule {canonical}: expected {', '.join(OF_ESCAPES)} on the escape channels of adaptive routing; choose one of them")
        return canonical, rule
    except BadInput as refusal:
        reason = str(refusal)
        raise type(refusal)(reason if not reason.startswith("rule ") else f"routing {routing_name} on {form.topology.spelling}: {reason}") from None


def _examined(form: Routing | AdaptiveRouting, rule: Rule, virtual_channels: int) -> tuple[Verdict, np.ndarray, int | None, int | None]:
    """(verdict, virtual channels of each class, channels, dependencies)."""
    if isinstance(form, AdaptiveRouting):
        shares = np.ones(min(rule.number, virtual_channels - 1), np.int64)
        if not rule.bubble:
            graph = escape_graph(form, rule.within(virtual_channels - 1))
            return verdict_of_escape(graph), shares, len(graph.channel), int(graph.matrix.nnz)
        found = dependencies(form.escape, rule, 1)  # in virtual cut-through no packet holds one channel and waits elsewhere
        said = verdict(form.escape, rule, found)
        return said._replace(argument=BUBBLE) if said.acyclic else said, shares, *_counted(found, shares)
    shares = rule.shares(virtual_channels)
    found = dependencies(form, rule, virtual_channels)
    return verdict(form, rule, found), shares, *(_counted(found, shares) if found.complete else (None, None))


def _fewest(routing_name: str, form: Routing | AdaptiveRouting, known: dict[tuple[bytes, str], bool]) -> tuple[int | None, str | None]:
    """The fewest virtual channels with which a rule makes the graph acyclic, and that rule; None where there is none, or it is out of reach.

    known   whether a graph is acyclic, by its key; what is found here is added
    """
    rules: dict[str, Rule] = {}
    for name in TRIED:
        try:
            rules[name] = _rule(name, routing_name, form)[1]
        except BadInput:
            continue
    for number in range(1 + _spare(form), min(MOST, max(rule.number for rule in rules.values()) + _spare(form)) + 1):
        for name, rule in rules.items():
            key = _graph_key(rule, number - _spare(form))
            if key not in known:
                try:
                    known[key] = _acyclic(form, rule, number)
                except Refused:
                    return None, None
            if known[key]:
                return number, name
    return None, None


def _spare(form: Routing | AdaptiveRouting) -> int:
    """Virtual channels that the rule has no say in, at least: adaptive ones."""
    return int(isinstance(form, AdaptiveRouting))


def _acyclic(form: Routing | AdaptiveRouting, rule: Rule, virtual_channels: int) -> bool:
    if isinstance(form, AdaptiveRouting):
        return is_acyclic(escape_graph(form, rule.within(virtual_channels - 1)).matrix)
    return free(dependencies(form, rule, virtual_channels))


def _graph_key(rule: Rule, virtual_channels: int) -> tuple[bytes, str]:
    """Equal where two rules give one graph: their classes, and how crossings are remembered if classes depend on them."""
    classes = rule.within(virtual_channels)
    return classes.tobytes(), rule.memory if (classes[:, 0] != classes[:, 1]).any() else ""


def _counted(found: Dependencies, shares: np.ndarray) -> tuple[int, int]:
    """Pairs of a channel and a virtual one that packets pass, and dependencies between these."""
    own = np.tile(shares, found.topology.ports.shape[1])
    per_pair = (found.channels.depends > 0).sum(axis=0, dtype=np.int64)
    return int((found.channels.used.sum(axis=0, dtype=np.int64) * own).sum()), int(own @ per_pair @ own)


def _shown(form: Routing | AdaptiveRouting, shares: np.ndarray, channel: int) -> str:
    """A channel as people read it: node, its digits, direction (or the next node), virtual channel (of its class, the first)."""
    topology = form.topology
    rest, kind = divmod(channel, len(shares))
    node, port = divmod(rest, topology.ports.shape[1])
    digits = [str(node // int(np.prod(topology.plan.radices[:i], dtype=np.int64)) % side) for i, side in enumerate(topology.plan.radices)]
    where = f"to {topology.ports[node, port]}"
    if not isinstance(form, LayeredRouting):
        moves = form.escape.moves if isinstance(form, AdaptiveRouting) else form.moves
        d = int(np.flatnonzero(moves.port[node] == port)[0])
        where = f"{moves.names[d // 2]}{'-' if d % 2 else '+'}"
    return f"{node} ({','.join(digits)}) {where} vc{int(shares[:kind].sum())}"


__all__ = ["RULES", "Suited", "deadlock_record", "least_rule", "routing_spelling", "rule_spelling", "suited", "verdict_on"]
