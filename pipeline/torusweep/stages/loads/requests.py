"""From a sweep's `loads` to its points: routings and traffics on the networks that suit them, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build, plan
from torusweep.networks.topology import Topology
from torusweep.routing import Routing, SourceRouting, routing
from torusweep.routing import canonical as canonical_routing
from torusweep.stages.loads.source import MOST_PAIRS, pairs_followed
from torusweep.sweep.configuration.schema import Sweep
from torusweep.sweep.costs import loads_memory
from torusweep.sweep.expansion import at, chosen, memory_limit, pass_over
from torusweep.sweep.points import Point
from torusweep.traffic import canonical, traffic


def expand_loads(sweep: Sweep, networks: Sequence[Point], *, expected: Iterable[Point] = ()) -> list[Point]:
    """The sweep's points of loads in the order in which the configuration asks for them, the papers' last, each once.

    networks  the sweep's networks (torusweep.sweep.expansion.expand), among which an entry of `loads` chooses
    expected  points of loads that the sweep's papers print numbers of

    Raises BadInput for a family or a pattern that does not exist and for a pattern that does not fit a
    network (unless skip_unsuitable), and Refused for more points than limits.points or loads that would
    not fit into limits.memory_gib, each as `path:line:column: loads[0]: …`.
    """
    found: dict[Point, None] = {}
    for number, entry in enumerate(sweep.loads):
        with at(sweep, ("loads", number, "traffic")):
            patterns = list(dict.fromkeys(map(canonical, entry.traffic)))
        with at(sweep, ("loads", number, "routing")):
            routings = list(dict.fromkeys(map(canonical_routing, entry.routing)))
        with at(sweep, ("loads", number)):
            spellings, sample = chosen(entry, networks), {} if entry.sample is None else entry.sample.model_dump()
            asked = len(spellings) * len(routings) * len(patterns)
            if len(found) + asked > sweep.limits.points:
                raise Refused(
                    f"{asked:,} points of loads; limits.points is {sweep.limits.points:,}: choose fewer networks or traffics, or raise it"
                )
            suitable: list[Point] = []
            for spelling in spellings:
                points = [
                    Point(spelling, routing=name, traffic=pattern, bounds=entry.bounds, **sample)
                    for pattern in patterns
                    for name in routings
                ]
                suitable += _suitable(sweep, points, skip=entry.skip_unsuitable)
            found |= dict.fromkeys(suitable)
            if not suitable:
                reason = (
                    "no routing and traffic fit any of those chosen" if spellings else "none of the sweep's is chosen"
                )
                raise BadInput(
                    f"expected at least one network, got none: {reason}; widen families or nodes, or leave the entry out"
                )
    with at(sweep, ("papers",)):
        for point in expected:
            _check_memory(sweep, point)
            found[point] = None
    return list(found)


def _suitable(sweep: Sweep, points: Sequence[Point], *, skip: bool) -> Iterator[Point]:
    """Of the points of one network, those whose routing and pattern fit it and the memory."""
    for point in points:
        _check_memory(sweep, point)
    topology = build(points[0].topology, memory=memory_limit(sweep))
    for point in points:
        try:
            form = routing(str(point.routing), topology)[1]
            check_fit(topology, str(point.traffic))
            _check_work(point, topology, form)
        except BadInput as error:
            pass_over(error, skip=skip)
        else:
            yield point


def check_fit(topology: Topology, pattern: str) -> None:
    """Refuse a pattern that is not defined on a network, or that sends between parts which are not joined both ways."""
    matrix = traffic(pattern, topology)[1].at_nodes(topology.terminals, topology.nodes)
    tail, head, _ = topology.arcs
    links = coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(topology.nodes, topology.nodes))
    part = connected_components(links, connection="strong")[1]
    own = matrix.own.tocoo()
    busy = part[(matrix.common > 0) | ((matrix.weight > 0) & matrix.common.any())]
    if (own.data[part[own.row] != part[own.col]] > 0).any() or (len(busy) and (busy != busy[0]).any()):
        raise BadInput(
            f"traffic {pattern} on {topology.spelling}: expected a network that joins all who send to each other, got one of several components"
        )


def _check_work(point: Point, topology: Topology, form: Routing) -> None:
    """Refuse exact loads of more pairs than can be followed."""
    if point.packets is not None or not isinstance(form, SourceRouting):
        return
    pairs = pairs_followed(form, traffic(str(point.traffic), topology)[1].at_nodes(topology.terminals, topology.nodes))
    if pairs > MOST_PAIRS:
        raise Refused(
            f"loads of {point}: expected at most {MOST_PAIRS:,} pairs of nodes to follow routes between, got {pairs:,};"
            " sample them (sample: {packets: 10000000})"
        )


def _check_memory(sweep: Sweep, point: Point) -> None:
    needed, limit = loads_memory(plan(point.topology)[1], point), memory_limit(sweep)
    if needed > limit:
        raise Refused(
            f"loads of {point} need about {needed / 2**30:.1f} GiB; the limit is {limit / 2**30:.1f} GiB:"
            " choose fewer nodes or raise limits.memory_gib"
        )
