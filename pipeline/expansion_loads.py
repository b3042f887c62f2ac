"""From a sweep's `loads` to its points: routings and traffics on the networks that suit them, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pipeline.config_schema import Loads, Sweep
from pipeline.errors import BadInput, Refused, nearest
from pipeline.expansion import at
from pipeline.points import Point, loads_memory
from pipeline.topologies import FAMILIES, build, default_memory, plan
from pipeline.topology import Topology
from pipeline.traffic import canonical, traffic


def expand_loads(sweep: Sweep, networks: Sequence[Point], *, expected: Iterable[Point] = ()) -> list[Point]:
    """The sweep's points of loads in the order in which the configuration asks for them, the papers' last, each once.

    networks  the sweep's networks (pipeline.expansion.expand), among which an entry of `loads` chooses
    expected  points of loads that the sweep's papers print numbers of

    Raises BadInput for a family or a pattern that does not exist and for a pattern that does not fit a
    network (unless skip_unsuitable), and Refused for more points than limits.points or loads that would
    not fit into limits.memory_gib, each as `path:line:column: loads[0]: …`.
    """
    found: dict[Point, None] = {}
    for number, entry in enumerate(sweep.loads):
        with at(sweep, ("loads", number, "traffic")):
            patterns = list(dict.fromkeys(map(canonical, entry.traffic)))
        with at(sweep, ("loads", number)):
            chosen = _chosen(entry, networks)
            asked = len(chosen) * len(entry.routing) * len(patterns)
            if len(found) + asked > sweep.limits.points:
                raise Refused(f"{asked:,} points of loads; limits.points is {sweep.limits.points:,}: choose fewer networks or traffics, or raise it")
            suits = 0
            for spelling in chosen:
                for pattern in _suitable(sweep, spelling, patterns, skip=entry.skip_unsuitable):
                    suits += 1
                    found |= {Point(spelling, routing=routing, traffic=pattern): None for routing in entry.routing}
            if not suits:
                reason = "no traffic fits any of those chosen" if chosen else "none of the sweep's is chosen"
                raise BadInput(f"expected at least one network, got none: {reason}; widen families or nodes, or leave the entry out")
    with at(sweep, ("papers",)):
        for point in expected:
            _check_memory(sweep, point.topology, str(point.traffic))
            found[point] = None
    return list(found)


def _chosen(entry: Loads, networks: Sequence[Point]) -> list[str]:
    """Spellings of the networks that an entry chooses, in their order."""
    families = FAMILIES if entry.families == "all" else entry.families
    for family in families:
        if family not in FAMILIES:
            raise BadInput(f"families: unknown family '{family}'{nearest(family, FAMILIES)}; 'torusweep topologies' lists all")
    of_families = [point.topology for point in networks if point.topology.partition("(")[0] in families]
    if entry.nodes is None:
        return of_families
    return [spelling for spelling in of_families if entry.nodes.lowest <= plan(spelling)[1].nodes <= entry.nodes.highest]


def _suitable(sweep: Sweep, spelling: str, patterns: Sequence[str], *, skip: bool) -> list[str]:
    """The patterns that fit a network and the memory."""
    for pattern in patterns:
        _check_memory(sweep, spelling, pattern)
    topology = build(spelling, memory=_memory(sweep))
    suitable = []
    for pattern in patterns:
        try:
            _check_fit(topology, pattern)
            suitable.append(pattern)
        except Refused:
            raise
        except BadInput as error:
            if not skip:
                raise BadInput(f"{error} (skip_unsuitable: true leaves such networks out)") from None
    return suitable


def _check_fit(topology: Topology, pattern: str) -> None:
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


def _check_memory(sweep: Sweep, spelling: str, pattern: str) -> None:
    needed, limit = loads_memory(plan(spelling)[1], pattern), _memory(sweep)
    if needed > limit:
        raise Refused(
            f"loads of {spelling} under {pattern} need about {needed / 2**30:.1f} GiB; the limit is {limit / 2**30:.1f} GiB:"
            " choose fewer nodes or raise limits.memory_gib"
        )


def _memory(sweep: Sweep) -> int:
    return default_memory() if sweep.limits.memory_gib is None else int(sweep.limits.memory_gib * 2**30)
