"""From a sweep's `simulation` to its points: every combination of routers, rules and traffics on the networks that they suit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.stages.loads.requests import check_fit
from torusweep.stages.simulation import Parameters, Request, set_up
from torusweep.sweep.configuration.schema import Sweep
from torusweep.sweep.configuration.simulation import Simulation
from torusweep.sweep.expansion import at, chosen, memory_limit, pass_over
from torusweep.sweep.points import Point

LISTED = (
    "router",
    "routing",
    "vc_rule",
    "virtual_channels",
    "buffer_flits",
    "packet_flits",
    "input_speedup",
    "traffic",
    "injection",
    "workload",
    "placement",
)  # keys that may have several values
SINGLE = ("switching", "source_queue", "cycles", "warm_up", "allow_deadlock")


def expand_simulation(sweep: Sweep, networks: Sequence[Point]) -> list[Point]:
    """The sweep's points of simulation in the order in which the configuration asks for them, each once.

    networks  the sweep's networks (torusweep.sweep.expansion.expand), among which an entry of `simulation` chooses

    Raises BadInput for a name or a number that is wrong, and for what does not fit a network (unless skip_unsuitable), Refused for more
    points than limits.points, each as `path:line:column: simulation[0]: …`. Whether a rule that is given prevents deadlock is
    left to the simulation itself: it may take longer than all else here.
    """
    found: dict[Point, None] = {}
    for number, entry in enumerate(sweep.simulation):
        with at(sweep, ("simulation", number)):
            requests = list(dict.fromkeys(_requests(entry)))
            spellings = chosen(entry, networks)
            asked = len(spellings) * len(requests)
            if len(found) + asked > sweep.limits.points:
                raise Refused(
                    f"{asked:,} points of simulation; limits.points is {sweep.limits.points:,}: choose fewer networks, or raise it"
                )
            suitable = [point for spelling in spellings for point in _suitable(sweep, number, spelling, requests)]
            found |= dict.fromkeys(suitable)
            if not suitable:
                reason = "nothing asked for fits any of those chosen" if spellings else "none of the sweep's is chosen"
                raise BadInput(
                    f"expected at least one network, got none: {reason}; widen families or nodes, or leave the entry out"
                )
    return list(found)


def _requests(entry: Simulation) -> Iterator[Request]:
    lists: dict[str, Sequence[Any]] = {name: getattr(entry, name) or (None,) for name in LISTED}
    if prod(map(len, lists.values())) > 10**6:
        raise Refused("expected at most 1,000,000 combinations of the lists; give fewer values")
    single = {name: getattr(entry, name) for name in SINGLE}
    for values in product(*lists.values()):
        parameters = Parameters(**dict(zip(lists, values)), **single)
        yield Request(parameters, entry.offered(), entry.seeds, entry.saturation_precision).canonical()


def _suitable(sweep: Sweep, number: int, spelling: str, requests: Sequence[Request]) -> Iterator[Point]:
    """A network's points: those requests of an entry that fit it."""
    topology = build(spelling, memory=memory_limit(sweep))
    for one in requests:
        try:
            check_fit(topology, one.parameters.traffic)
            setup = set_up(topology, one.parameters, skip_proof=True)
        except BadInput as error:
            pass_over(error, skip=sweep.simulation[number].skip_unsuitable)
        else:
            with at(sweep, ("simulation", number, "loads")):
                setup.check(one.loads)
            yield Point(spelling, traffic=one.parameters.traffic, simulation=one.spelled())
