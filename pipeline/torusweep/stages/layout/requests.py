"""From a sweep's `layout` to its points: placements of the networks that suit them, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from torusweep.errors import BadInput, Refused
from torusweep.networks.families import plan
from torusweep.stages.layout.placements import canonical, check_suits
from torusweep.sweep.configuration.schema import Layout, Sweep
from torusweep.sweep.expansion import at, chosen, pass_over
from torusweep.sweep.points import Point


def expand_layout(sweep: Sweep, networks: Sequence[Point], *, expected: Iterable[Point] = ()) -> list[Point]:
    """The sweep's points of layout in the order in which the configuration asks for them, the papers' last, each once.

    networks  the sweep's networks (torusweep.sweep.expansion.expand), among which an entry of `layout` chooses
    expected  points of layout that the sweep's papers print numbers of

    Raises BadInput for a family or a placement that does not exist and for one that does not suit a
    network (unless skip_unsuitable), Refused for more points than limits.points, each as `path:line:column: layout[0]: …`.
    """
    found: dict[Point, None] = {}
    for number, entry in enumerate(sweep.layout):
        with at(sweep, ("layout", number, "placement")):
            placements = list(dict.fromkeys(map(canonical, entry.placement)))
        with at(sweep, ("layout", number)):
            spellings = chosen(entry, networks)
            asked = len(spellings) * len(placements)
            if len(found) + asked > sweep.limits.points:
                raise Refused(
                    f"{asked:,} points of layout; limits.points is {sweep.limits.points:,}: choose fewer networks or placements, or raise it"
                )
            suitable = [point for spelling in spellings for point in _suitable(entry, spelling, placements)]
            found |= dict.fromkeys(suitable)
            if not suitable:
                reason = "no placement suits any of those chosen" if spellings else "none of the sweep's is chosen"
                raise BadInput(
                    f"expected at least one network, got none: {reason}; widen families or nodes, or leave the entry out"
                )
    return list(found | dict.fromkeys(expected))


def _suitable(entry: Layout, spelling: str, placements: Sequence[str]) -> Iterator[Point]:
    """A network's points: the placements that suit it."""
    planned = plan(spelling)[1]
    for placement in placements:
        try:
            check_suits(placement, planned, spelling)
        except BadInput as error:
            pass_over(error, skip=entry.skip_unsuitable)
        else:
            yield Point(spelling, placement=placement)
