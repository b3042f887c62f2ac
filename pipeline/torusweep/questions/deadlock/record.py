"""The row of the table `deadlock`: verdict, cycle and least virtual channels of a routing under a rule.

The least number of virtual channels is the smallest with which some rule makes the dependency graph acyclic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.names import name_of
from torusweep.networks.topology import Topology
from torusweep.quantities import counted
from torusweep.questions.deadlock.columns import DEADLOCK
from torusweep.questions.deadlock.counterexamples import MOST_PAIRS, entering_together, packets_of
from torusweep.questions.deadlock.dependencies import (
    Dependencies,
    are_acyclic,
    dependencies,
    hops_needed,
    merge_classes,
)
from torusweep.questions.deadlock.route_windows import Progress, part_of
from torusweep.questions.deadlock.routing_case import (
    Case,
    chooses,
    deadlock_case,
    for_traffic,
    resolve_routing,
    resolve_rule,
)
from torusweep.questions.deadlock.rules import COUNTING_RULES, MAX_VIRTUAL_CHANNELS, Rule, candidate_rules, none
from torusweep.questions.deadlock.verdict import (
    BUBBLE,
    TOGETHER,
    Verdict,
    escape_acyclic,
    escape_verdict,
    proves_deadlock_free,
    verdict,
)
from torusweep.routing import GivenRouting, Routing
from torusweep.routing.forms import AdaptiveRouting, LayeredRouting, SourceRouting, TableRouting
from torusweep.routing.tables.as_table import table_of
from torusweep.traffic import GivenTraffic

GraphKey = tuple[bytes, str, int | None]
PARTS = 16  # approximate number of graphs that a search for the least number of virtual channels builds
NO_RULES: Mapping[str, Rule] = {}
NUMBER = re.compile(r"\d+")


class LeastVirtualChannels(NamedTuple):
    """The least number of virtual channels, and its rule. If no rule suffices, both are None, and `reason` says why."""

    number: int | None
    rule: str | None
    reason: str | None


def least_virtual_channels(
    routing_name: str,
    form: Routing | AdaptiveRouting,
    known: dict[GraphKey, bool],
    progress: Progress = None,
    also: Mapping[str, Rule] = NO_RULES,
) -> LeastVirtualChannels:
    """Try every rule with 1, 2, … virtual channels until a dependency graph is acyclic.

    A rule is made when its turn comes. Rules that count hops take longest to make, and come last.

    known     whether graphs are acyclic, by `graph_key`; the search adds its own results
    progress  called with the share of graphs built so far, among all that may be needed
    also      further rules to try, by name
    """
    rules: dict[str, Rule | None] = {}
    untried = dict.fromkeys(() if isinstance(form, AdaptiveRouting) else COUNTING_RULES[:1])
    names = chain(candidate_rules(form), also)

    needed = cache(lambda: hops_needed(form) if isinstance(form, LayeredRouting) else None)

    def fitting() -> Iterator[tuple[str, Rule | None]]:
        yield from list(rules.items())
        for name in names:
            try:
                rule = also.get(name)
                if rule is None and not (name == COUNTING_RULES[0] and needed() is not None):
                    rule = resolve_rule(name, routing_name, form)[1]
            except Refused:
                untried[name] = None
            except BadInput:
                pass
            else:
                untried.pop(name, None)
                if name not in rules:
                    rules[name] = rule
                    yield name, rule

    adaptive, built = adaptive_channels(form), 0
    whole: dict[str, Dependencies] = {}  # for rules that count hops: dependencies of all classes, before merging
    for number in range(1 + adaptive, MAX_VIRTUAL_CHANNELS + 1):
        # with one class, all rules are rule none
        for name, rule in islice(fitting(), 1) if number == 1 + adaptive else fitting():
            if rule is None:
                if number >= (needed() or 0):
                    return LeastVirtualChannels(number, name, None)
                continue
            key = graph_key(rule, number - adaptive)
            if key not in known:
                report = part_of(progress, min(built, PARTS - 1), PARTS)
                try:
                    if rule.counted is None or rule.form is None:
                        known[key] = _is_acyclic(form, rule, number, report)
                    else:
                        if name not in whole:
                            whole[name] = dependencies(rule.form, rule, min(MAX_VIRTUAL_CHANNELS, rule.number), report)
                        known[key] = are_acyclic(merge_classes(whole[name], number))
                except Refused:
                    reason = f"not determined: too large to try rule {name} with {counted(number, 'virtual channel')}"
                    return LeastVirtualChannels(None, None, reason)
                built += 1
            if known[key]:
                return LeastVirtualChannels(number, name, None)
    reason = f"none of the built-in rules removes the cycle (tried up to {MAX_VIRTUAL_CHANNELS} virtual channels)"
    return LeastVirtualChannels(None, None, reason + f"; not tried: {', '.join(untried)}" * bool(untried))


def adaptive_channels(form: Routing | AdaptiveRouting) -> int:
    """Return the number of virtual channels that must remain outside the rule: 1 with adaptive routing, otherwise 0."""
    return int(isinstance(form, AdaptiveRouting))


def graph_key(rule: Rule, virtual_channels: int) -> GraphKey:
    """Return a key that is equal for rules with one graph: the classes and, if they differ, how they are chosen."""
    classes = rule.within(virtual_channels)
    if int(classes.max()) == 0:
        return b"", "", None
    return classes.tobytes(), rule.memory if (classes[:, 0] != classes[:, 1]).any() else "", rule.counted


def _is_acyclic(form: Routing | AdaptiveRouting, rule: Rule, virtual_channels: int, progress: Progress) -> bool:
    if isinstance(form, AdaptiveRouting):
        return escape_acyclic(form, rule.within(virtual_channels - 1), progress)
    return are_acyclic(dependencies(form, rule, virtual_channels, progress))


def deadlock_record(
    topology: Topology,
    *,
    routing: str | GivenRouting,
    vc_rule: str,
    virtual_channels: int,
    traffic: str | GivenTraffic | None = None,
    progress: Progress = None,
) -> dict[str, Any]:
    """Return the row of the table `deadlock`, as Python values.

    routing            a spelling (torusweep.routing, and `adaptive`), or a routing object
    vc_rule            a spelling (torusweep.questions.deadlock.rules). With adaptive routing, the rule applies to the
                       escape; the columns `channels` and `dependencies` then count the escape channels and their
                       dependencies, including indirect dependencies
    virtual_channels   number per physical channel, 1 … 16. The rule's classes share them evenly; the lower classes
                       take the remainder. With adaptive routing, each class of the escape has one virtual
                       channel, and the others (at least one) are adaptive
    traffic            only packets of pairs with this traffic count; None: packets of all pairs of terminals
    progress           called with the share of the work that is done: half for the verdict, half for the least number
                       of virtual channels

    Raises BadInput if a name or a parameter is wrong, if topology, routing and rule do not fit each other, or if the
    routing does not reach every destination; Refused if the graph, or the work to find it, is too large.
    """
    routing, sent, lost = for_traffic(topology, routing, traffic)
    case = deadlock_case(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    form, rule = case.form, case.rule
    found, shares, channels, number, graph = _examine(case, part_of(progress, 0, 2))
    known: dict[GraphKey, bool] = (
        {} if rule.bubble else {graph_key(rule, virtual_channels - adaptive_channels(form)): found.acyclic}
    )
    if graph is not None and not isinstance(case.own, AdaptiveRouting):
        # a cycle remains a cycle when classes merge
        known[graph_key(none(case.own), 1)] = found.acyclic and are_acyclic(merge_classes(graph))
    # the row's own rule is tried too, so that the least number does not contradict this row's proof
    own = {} if rule.bubble else {case.vc_rule: rule}
    least = least_virtual_channels(case.routing, case.own, known, part_of(progress, 1, 2), own)
    together = None
    if found.deadlock_free == "unknown" and isinstance(form, LayeredRouting):
        form, found = _by_table(form, rule, virtual_channels, found)
    if found.deadlock_free == "unknown" and isinstance(form, SourceRouting | TableRouting):
        together = entering_together(form, rule, virtual_channels)
    if together is not None:
        found = found._replace(deadlock_free="no", argument=TOGETHER, cycle=together.cycle)
    cycle = None if found.acyclic else [_channel_words(form, shares, int(channel)) for channel in found.cycle]
    packets = None if together is None else together.packets
    if cycle is not None and together is None and not isinstance(form, AdaptiveRouting):
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
        "argument": _argument(case, found),
        "cycle": cycle,
        "cycle_length": None if cycle is None else len(cycle),
        "packets": packets and _with_names(topology, packets),
        "least_virtual_channels": least.number,
        "least_rule": least.rule,
        "least_reason": least.reason,
        "pairs_of": sent,
        **lost.columns,
    }
    return {column.name: values[column.name] for column in DEADLOCK}


def _with_names(topology: Topology, packets: list[str]) -> list[str]:
    """Return texts on packets, with names after the nodes' numbers if nodes have names."""
    if topology.plan.names is None:
        return packets
    return [NUMBER.sub(lambda found: f"{found[0]} ({name_of(topology, int(found[0]))})", each) for each in packets]


def is_proved_free(case: Case) -> bool:
    """Return whether `deadlock_record` would prove the case deadlock-free. Raises Refused as `deadlock_record` does."""
    form, rule = case.form, case.rule
    if not isinstance(form, AdaptiveRouting):
        return proves_deadlock_free(form, rule, dependencies(form, rule, case.virtual_channels))
    if rule.bubble:
        return proves_deadlock_free(form.escape, rule, dependencies(form.escape, rule, 1))
    return escape_acyclic(form, rule.within(case.virtual_channels - 1))


def least_rule(topology: Topology, routing: str | GivenRouting) -> tuple[int | None, str | None]:
    """Return (least_virtual_channels, least_rule) as in `deadlock_record`. Raises BadInput for an unfit routing."""
    return least_virtual_channels(*resolve_routing(routing, topology), {})[:2]


def _examine(case: Case, progress: Progress) -> tuple[Verdict, np.ndarray, int | None, int | None, Dependencies | None]:
    """Return (verdict, virtual channels per class, number of channels, number of dependencies, graph or None)."""
    form, rule, virtual_channels = case.form, case.rule, case.virtual_channels
    if isinstance(form, AdaptiveRouting):
        shares = np.ones(min(rule.number, virtual_channels - 1), np.int64)
        if not rule.bubble:
            answer, channels, number = escape_verdict(form, rule.within(virtual_channels - 1), progress)
            return answer, shares, channels, number, None
        # with virtual cut-through, no packet holds one channel and waits at another node: direct dependencies suffice
        found = dependencies(form.escape, rule, 1, progress)
        answer = verdict(form.escape, rule, found)
        return answer._replace(argument=BUBBLE) if answer.acyclic else answer, shares, *_count(found, shares), None
    shares = rule.shares(virtual_channels)
    found = dependencies(form, rule, virtual_channels, progress)
    return verdict(form, rule, found), shares, *(_count(found, shares) if found.complete else (None, None)), found


def _by_table(form: LayeredRouting, rule: Rule, virtual_channels: int, found: Verdict) -> tuple[Routing, Verdict]:
    """Return (routing as a table, verdict "no") if packets without a choice can hold a cycle, else both arguments."""
    if len(np.unique(form.topology.terminals)) ** 2 > MOST_PAIRS:
        return form, found
    table = table_of(form)
    judged = verdict(table, rule, dependencies(table, rule, virtual_channels))
    return (table, judged) if judged.deadlock_free == "no" else (form, found)


def _argument(case: Case, found: Verdict) -> str:
    """Return a verdict's reasons, and remarks on routes that depend on queues and on hops that share a class."""
    parts, rule = [found.argument], case.rule
    if chooses(case.routing) and found.deadlock_free == "no":
        parts.append("queues can make them choose these routes")
    if rule.counted is not None and rule.number > case.virtual_channels:
        parts.append(f"{case.virtual_channels} of the rule's {rule.number} classes: the last one takes all later hops")
    return "; ".join(parts)


def _count(found: Dependencies, shares: np.ndarray) -> tuple[int, int]:
    """Return (number of used virtual channels, number of dependencies between them)."""
    own = np.tile(shares, found.topology.ports.shape[1])
    per_pair = (found.channels.depends > 0).sum(axis=0, dtype=np.int64)
    return int((found.channels.used.sum(axis=0, dtype=np.int64) * own).sum()), int(own @ per_pair @ own)


def _channel_words(form: Routing | AdaptiveRouting, shares: np.ndarray, channel: int) -> str:
    """Describe a channel in words: node, its digits, direction or next node, first virtual channel of the class."""
    topology = form.topology
    rest, kind = divmod(channel, len(shares))
    node, port = divmod(rest, topology.ports.shape[1])
    digits = [
        str(node // int(np.prod(topology.plan.radices[:i], dtype=np.int64)) % side)
        for i, side in enumerate(topology.plan.radices)
    ]
    head = int(topology.ports[node, port])
    where = f"to {head}"
    if topology.plan.names is not None:  # names are shown next to numbers, in place of digits
        digits, where = [str(name_of(topology, node))], f"{where} ({name_of(topology, head)})"
    if isinstance(form, SourceRouting | AdaptiveRouting):
        moves = form.escape.moves if isinstance(form, AdaptiveRouting) else form.moves
        d = int(np.flatnonzero(moves.port[node] == port)[0])
        where = f"{moves.names[d // 2]}{'-' if d % 2 else '+'}"
    return f"{node} ({','.join(digits)}) {where} vc{int(shares[:kind].sum())}"
