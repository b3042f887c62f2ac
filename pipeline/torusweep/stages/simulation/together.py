"""Simulations of several points of a network: those whose routers and routes are alike share calls of the kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from torusweep.questions.how import How
from torusweep.questions.stage import LazyNetwork, Rows, attempt
from torusweep.stages.simulation.record import Steps, steps_of
from torusweep.stages.simulation.request import check_numbers, request_of
from torusweep.stages.simulation.runs import likeness, run_many
from torusweep.stages.simulation.setup import Setup, Shared, set_up


class BegunPoint(NamedTuple):
    """A point's setup, and its rows step by step (`record.steps_of`)."""

    setup: Setup
    steps: Steps


def rows_together(network: LazyNetwork, requests: Sequence[str], options: How) -> list[Rows | Exception]:
    """The rows of each request, or what it raises: a request that fails does so alone.

    requests   as `request.Request.spelled` writes them
    """
    found: dict[int, Rows | Exception] = {}
    groups: dict[Hashable, dict[int, BegunPoint]] = defaultdict(dict)
    shared = Shared({}, {})
    for place, request in enumerate(requests):
        begun = attempt(_begin, network, request, shared)
        if isinstance(begun, BegunPoint):
            groups[likeness(begun.setup)][place] = begun
        else:
            found[place] = begun
    for alike in groups.values():
        found |= _in_lockstep(alike, options)
    return [found[place] for place in range(len(requests))]


def _begin(network: LazyNetwork, request: str, shared: Shared) -> BegunPoint:
    """What comes before the first run."""
    parameters, loads, seeds, precision = request_of(request)
    check_numbers(loads, seeds, precision, workload=parameters.workload)
    setup = set_up(network.topology, parameters, shared=shared)
    setup.check(loads)
    return BegunPoint(setup, steps_of(setup, loads, seeds, precision))


def _in_lockstep(points: dict[int, BegunPoint], options: How) -> dict[int, Rows | Exception]:
    """The rows of points whose setups are alike: the first step of all, then the second of those that have one, …."""
    found: dict[int, Rows | Exception] = {}
    asked = {place: next(begun.steps) for place, begun in points.items()}
    while asked:
        further = {}
        requests = [(points[place].setup, experiments) for place, experiments in asked.items()]
        answers = run_many(requests, backend=options.backend, threads=options.threads, memory=options.memory)
        for place, outcomes in zip(asked, answers):
            if isinstance(outcomes, Exception):
                found[place] = outcomes
                continue
            try:
                further[place] = points[place].steps.send(outcomes)
            except StopIteration as end:
                found[place] = end.value
            except Exception as error:  # whatever one point does, the others are computed
                found[place] = error
        asked = further
    return found
