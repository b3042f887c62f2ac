"""From a sweep's `deadlock` to its points: routings and virtual-channel rules on the networks that suit them, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pipeline.config_schema import Deadlock, Sweep
from pipeline.deadlock.rules import vc_rule
from pipeline.errors import BadInput, Refused
from pipeline.expansion import at, chosen, memory_limit
from pipeline.points import Point
from pipeline.routing import canonical, routing
from pipeline.topologies import build


def expand_deadlock(sweep: Sweep, networks: Sequence[Point], *, expected: Iterable[Point] = ()) -> list[Point]:
    """The sweep's points of deadlock in the order in which the configuration asks for them, the papers' last, each once.

    networks  the sweep's networks (pipeline.expansion.expand), among which an entry of `deadlock` chooses
    expected  points of deadlock that the sweep's papers say something of

    Raises BadInput for a family, a routing or a rule that does not exist and for one that does not fit a
    network (unless skip_unsuitable), Refused for more points than limits.points, each as `path:line:column: deadlock[0]: …`.
    """
    found: dict[Point, None] = {}
    for number, entry in enumerate(sweep.deadlock):
        with at(sweep, ("deadlock", number, "routing")):
            routings = list(dict.fromkeys(map(canonical, entry.routing)))
        with at(sweep, ("deadlock", number)):
            spellings = chosen(entry, networks)
            asked = len(spellings) * len(routings) * len(entry.vc_rule) * len(entry.virtual_channels)
            if len(found) + asked > sweep.limits.points:
                raise Refused(f"{asked:,} points of deadlock; limits.points is {sweep.limits.points:,}: choose fewer networks or rules, or raise it")
            suitable = [point for spelling in spellings for point in _suitable(sweep, entry, spelling, routings)]
            found |= dict.fromkeys(suitable)
            if not suitable:
                reason = "no routing and rule fit any of those chosen" if spellings else "none of the sweep's is chosen"
                raise BadInput(f"expected at least one network, got none: {reason}; widen families or nodes, or leave the entry out")
    return list(found | dict.fromkeys(expected))


def _suitable(sweep: Sweep, entry: Deadlock, spelling: str, routings: Sequence[str]) -> Iterator[Point]:
    """A network's points: the routings and rules that fit it, with every number of virtual channels."""
    topology = build(spelling, memory=memory_limit(sweep))
    for name in routings:
        for rule in entry.vc_rule:
            try:
                canonical_rule = vc_rule(rule, routing(name, topology)[1])[0]
            except Refused:
                raise
            except BadInput as error:
                if not entry.skip_unsuitable:
                    raise BadInput(f"{error} (skip_unsuitable: true leaves such networks out)") from None
            else:
                yield from (Point(spelling, routing=name, vc_rule=canonical_rule, virtual_channels=many) for many in entry.virtual_channels)
