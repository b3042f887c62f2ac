"""The fewest virtual channels with which one of the rules makes a routing's dependency graph acyclic."""

from __future__ import annotations

from typing import NamedTuple

from torusweep.counts import counted
from torusweep.errors import BadInput, Refused
from torusweep.routing import Routing
from torusweep.routing.forms import AdaptiveRouting
from torusweep.stages.deadlock.asked import rule_of
from torusweep.stages.deadlock.dependencies import dependencies
from torusweep.stages.deadlock.escape import escape_acyclic
from torusweep.stages.deadlock.progress import Progress, part_of
from torusweep.stages.deadlock.rules import MOST, Rule
from torusweep.stages.deadlock.verdict import free

# tried at each number in this order; bubble is not, being a flow control
TRIED = (
    "none",
    *("r05_phases", "r05_phases(split=after_first)", "r05_phases(split=levels)"),
    *("dateline", "phases", "phases_dateline", "r05_wrap"),
)
Key = tuple[bytes, str]


class Fewest(NamedTuple):
    """number, rule: the fewest virtual channels, and with which rule; both None where there are none, or it is not known: then the reason."""

    number: int | None
    rule: str | None
    reason: str | None


def fewest(
    routing_name: str, form: Routing | AdaptiveRouting, known: dict[Key, bool], progress: Progress = None
) -> Fewest:
    """Try every rule with 1, 2, … virtual channels.

    known     whether a graph is acyclic, by `graph_key`; what is found here is added
    progress  is told which share of all graphs that may have to be built is done
    """
    rules: dict[str, Rule] = {}
    for name in TRIED:
        try:
            rules[name] = rule_of(name, routing_name, form)[1]
        except BadInput:
            continue
    numbers = range(1 + spare(form), min(MOST, max(rule.number for rule in rules.values()) + spare(form)) + 1)
    asked = [(number, name, graph_key(rules[name], number - spare(form))) for number in numbers for name in rules]
    built = 0
    most = len({key for *_, key in asked} - set(known))
    for number, name, key in asked:
        if key not in known:
            try:
                known[key] = _acyclic(form, rules[name], number, part_of(progress, built, most))
            except Refused:
                return Fewest(
                    None,
                    None,
                    f"not determined: too large to try rule {name} with {counted(number, 'virtual channel')}",
                )
            built += 1
        if known[key]:
            return Fewest(number, name, None)
    return Fewest(None, None, f"no rule offered makes it acyclic, up to {MOST} virtual channels")


def spare(form: Routing | AdaptiveRouting) -> int:
    """Virtual channels that the rule has no say in, at least: adaptive ones."""
    return int(isinstance(form, AdaptiveRouting))


def graph_key(rule: Rule, virtual_channels: int) -> Key:
    """Equal where two rules give one graph: their classes, and how crossings are remembered if classes depend on them."""
    classes = rule.within(virtual_channels)
    return classes.tobytes(), rule.memory if (classes[:, 0] != classes[:, 1]).any() else ""


def _acyclic(form: Routing | AdaptiveRouting, rule: Rule, virtual_channels: int, progress: Progress) -> bool:
    if isinstance(form, AdaptiveRouting):
        return escape_acyclic(form, rule.within(virtual_channels - 1), progress)
    return free(dependencies(form, rule, virtual_channels, progress))
