"""Find, before a sweep runs, which attributes of its networks its tables do not take into account."""

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

MOST_POINTS = 20_000  # points that are examined; their plans take a second


def notes_of(points: Iterable[Point]) -> tuple[str, ...]:
    """A line for each table that leaves out attributes: 'loads leaves out latency (3 networks), unit (2 networks)'.

    Design spaces have no plan, and are not examined. If there are more than MOST_POINTS points, the line says that only
    the first ones were examined.
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
