"""Attributes that a sweep's networks have and its tables leave out, found before anything runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice

from torusweep.networks.seed_runs import first_of
from torusweep.networks.topology import Plan
from torusweep.quantities import counted
from torusweep.questions.question import Question
from torusweep.questions.stage import LazyNetwork, attempt
from torusweep.stages import STAGES
from torusweep.sweeps.points import Point

MOST_POINTS = 20_000  # that are looked at: plans of so many take a second


def notes_of(points: Iterable[Point]) -> tuple[str, ...]:
    """A line for each table whose rows leave something out: 'loads leaves out latency (3 networks), unit (2 networks)'.

    A design space has no plan, and says nothing that a row leaves out. Where there are more than MOST_POINTS, the line
    says so.
    """
    waiting = iter(points)
    plans: dict[str, Plan | Exception] = {}
    networks: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for point in islice(waiting, MOST_POINTS):
        question, spelled = STAGES[point.stage], first_of(point.topology)
        if spelled not in plans:
            plans[spelled] = attempt(lambda name: LazyNetwork(name).plan, spelled)
        planned = plans[spelled]
        if isinstance(planned, Plan) and isinstance(question, Question):
            for name in question.unheeded(planned, point.request):
                networks[point.stage][name].add(point.topology)
    limit = f", of the first {MOST_POINTS:,} points" if next(waiting, None) is not None else ""
    return tuple(f"{stage} leaves out {_listed(said)}{limit}" for stage, said in networks.items())


def _listed(said: Mapping[str, set[str]]) -> str:
    return ", ".join(f"{name} ({counted(len(found), 'network')})" for name, found in said.items())
