"""The least number of virtual channels with which some rule makes a routing's dependency graph acyclic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.counts import counted
from torusweep.errors import BadInput, Refused
from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.links import channel_matrix
from torusweep.networks.topology import Topology
from torusweep.routing import Routing
from torusweep.routing.forms import AdaptiveRouting, LayeredRouting, TableRouting
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
COUNTING_RULES = ("hops", "class_hops")  # tried last, where routes are short
MOST_ROUTERS = 512  # with terminals, where rules that count hops are tried: seconds
GraphKey = tuple[bytes, str, int | None]


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
    for name in candidate_rules(form):
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


def candidate_rules(form: Routing | AdaptiveRouting) -> tuple[str, ...]:
    """The rules to try for a routing, some of which may not fit it.

    Those that count hops are among them for shortest paths and tables on networks of groups, and of diameter two.
    """
    topology = form.topology
    few = len(np.unique(topology.terminals)) <= MOST_ROUTERS
    if isinstance(form, LayeredRouting | TableRouting) and few:
        if isinstance(topology.plan.structure, Grouped):
            return (*CANDIDATE_RULES, *COUNTING_RULES)
        if _has_diameter_two(topology):
            return (*CANDIDATE_RULES, "hops")
    return CANDIDATE_RULES


def _has_diameter_two(topology: Topology) -> bool:
    """Whether every terminal is at most two hops from every other one, over links in both directions."""
    if topology.directed:
        return False
    terminals, links = np.unique(topology.terminals), channel_matrix(topology)
    ways = links[terminals][:, terminals] + links[terminals] @ links[:, terminals]  # of one hop, and of two
    return bool((ways.toarray() + np.eye(len(terminals)) > 0).all())


def adaptive_channels(form: Routing | AdaptiveRouting) -> int:
    """The least number of virtual channels that the rule does not govern: 1 with adaptive routing, else 0."""
    return int(isinstance(form, AdaptiveRouting))


def graph_key(rule: Rule, virtual_channels: int) -> GraphKey:
    """A key that rules with the same graph share: the classes, and what decides them where they differ."""
    classes = rule.within(virtual_channels)
    if int(classes.max()) == 0:
        return b"", "", None
    return classes.tobytes(), rule.memory if (classes[:, 0] != classes[:, 1]).any() else "", rule.counted


def _is_acyclic(form: Routing | AdaptiveRouting, rule: Rule, virtual_channels: int, progress: Progress) -> bool:
    if isinstance(form, AdaptiveRouting):
        return escape_acyclic(form, rule.within(virtual_channels - 1), progress)
    return are_acyclic(dependencies(rule.form or form, rule, virtual_channels, progress))
