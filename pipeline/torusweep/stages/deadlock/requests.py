"""From a sweep's `deadlock` to its points: routings and virtual-channel rules on the networks that suit them, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.stages.deadlock import deadlock_case, routing_spelling, rule_spelling
from torusweep.sweep.configuration.schema import Deadlock, Sweep
from torusweep.sweep.expansion import at, chosen, memory_limit, pass_over
from torusweep.sweep.points import Point


def expand_deadlock(sweep: Sweep, networks: Sequence[Point], *, expected: Iterable[Point] = ()) -> list[Point]:
    """The sweep's points of deadlock in the order in which the configuration asks for them, the papers' last, each once.

    networks  the sweep's networks (torusweep.sweep.expansion.expand), among which an entry of `deadlock` chooses
    expected  points of deadlock that the sweep's papers say something of

    Raises BadInput for a family, a routing or a rule that does not exist and for one that does not fit a
    network (unless skip_unsuitable), Refused for more points than limits.points, each as `path:line:column: deadlock[0]: …`.
    """
    found: dict[Point, None] = {}
    for number, entry in enumerate(sweep.deadlock):
        with at(sweep, ("deadlock", number, "routing")):
            routings = list(dict.fromkeys(map(routing_spelling, entry.routing)))
        with at(sweep, ("deadlock", number, "vc_rule")):
            rules = list(dict.fromkeys(map(rule_spelling, entry.vc_rule)))
        with at(sweep, ("deadlock", number)):
            spellings = chosen(entry, networks)
            asked = len(spellings) * len(routings) * len(rules) * len(entry.virtual_channels)
            if len(found) + asked > sweep.limits.points:
                raise Refused(
                    f"{asked:,} points of deadlock; limits.points is {sweep.limits.points:,}: choose fewer networks or rules, or raise it"
                )
            suitable = [point for spelling in spellings for point in _suitable(sweep, entry, spelling, routings, rules)]
            found |= dict.fromkeys(suitable)
            if not suitable:
                reason = "no routing and rule fit any of those chosen" if spellings else "none of the sweep's is chosen"
                raise BadInput(
                    f"expected at least one network, got none: {reason}; widen families or nodes, or leave the entry out"
                )
    return list(found | dict.fromkeys(expected))


def _suitable(
    sweep: Sweep, entry: Deadlock, spelling: str, routings: Sequence[str], rules: Sequence[str]
) -> Iterator[Point]:
    """A network's points: the routings and rules that fit it, with every number of virtual channels."""
    topology = build(spelling, memory=memory_limit(sweep))
    for name, rule, many in product(routings, rules, entry.virtual_channels):
        try:
            deadlock_case(topology, routing=name, vc_rule=rule, virtual_channels=many)
        except BadInput as error:
            pass_over(error, skip=entry.skip_unsuitable)
        else:
            yield Point(spelling, routing=name, vc_rule=rule, virtual_channels=many)
