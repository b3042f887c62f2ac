"""The least number of virtual channels with which some rule makes a routing's dependency graph acyclic."""

from __future__ import annotations

from typing import NamedTuple

from torusweep.counts import counted
from torusweep.errors import BadInput, Refused
from torusweep.routing import Routing
from torusweep.routing.forms import AdaptiveRouting
from torusweep.stages.deadlock.cycles import are_acyclic
from torusweep.stages.deadlock.dependencies import dependencies
from torusweep.stages.deadlock.escape import escape_acyclic
from torusweep.stages.deadlock.progress import Progress, part_of
from torusweep.stages.deadlock.routing_case import resolve_rule
from torusweep.stages.deadlock.rules import MAX_VIRTUAL_CHANNELS, Rule

# The search tries these in this order at each number of virtual channels. It omits bubble, which is a flow control.
CANDIDATE_RULES = (
    *("none", "table"),
    *("r05_phases", "r05_phases(split=after_first)", "r05_phases(split=levels)"),
    *("dateline", "phases", "phases_dateline", "r05_wrap"),
)
GraphKey = tuple[bytes, str]


class LeastVirtualChannels(NamedTuple):
    """The least number of virtual channels and its rule. Where both are None, `reason` says why."""

    number: int | None
    rule: str | None
    reason: str | None


def least_virtual_channels(
    routing_name: str, form: Routing | AdaptiveRouting, known: dict[GraphKey, bool], progress: Progress = None
) -> LeastVirtualChannels:
    """Try every rule with 1, 2, … virtual channels until a dependency graph is acyclic.

    known     whether a graph is acyclic, by `graph_key`; the search adds its own results
    progress  receives the share of graphs that are built, of all that may have to be built
    """
    rules: dict[str, Rule] = {}
    for name in CANDIDATE_RULES:
        try:
            rules[name] = resolve_rule(name, routing_name, form)[1]
        except BadInput:
            continue
    adaptive = adaptive_channels(form)
    most = min(MAX_VIRTUAL_CHANNELS, max(rule.number for rule in rules.values()) + adaptive)
    attempts = [
        (number, name, graph_key(rule, number - adaptive))
        for number in range(1 + adaptive, most + 1)
        for name, rule in rules.items()
    ]
    built, to_build = 0, len({key for *_, key in attempts} - set(known))
    for number, name, key in attempts:
        if key not in known:
            try:
                known[key] = _is_acyclic(form, rules[name], number, part_of(progress, built, to_build))
            except Refused:
                reason = f"not determined: too large to try rule {name} with {counted(number, 'virtual channel')}"
                return LeastVirtualChannels(None, None, reason)
            built += 1
        if known[key]:
            return LeastVirtualChannels(number, name, None)
    reason = f"no rule offered makes it acyclic, up to {MAX_VIRTUAL_CHANNELS} virtual channels"
    return LeastVirtualChannels(None, None, reason)


def adaptive_channels(form: Routing | AdaptiveRouting) -> int:
    """The least number of virtual channels that the rule does not govern: 1 with adaptive routing, else 0."""
    return int(isinstance(form, AdaptiveRouting))


def graph_key(rule: Rule, virtual_channels: int) -> GraphKey:
    """A key that rules with the same graph share: the classes, and the memory of crossings if classes depend on it."""
    classes = rule.within(virtual_channels)
    return classes.tobytes(), rule.memory if (classes[:, 0] != classes[:, 1]).any() else ""


def _is_acyclic(form: Routing | AdaptiveRouting, rule: Rule, virtual_channels: int, progress: Progress) -> bool:
    if isinstance(form, AdaptiveRouting):
        return escape_acyclic(form, rule.within(virtual_channels - 1), progress)
    return are_acyclic(dependencies(form, rule, virtual_channels, progress))
