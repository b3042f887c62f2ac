"""Find, before a sweep runs, the attributes of its networks that its tables do not take into account."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice

from torusweep.networks.seed_runs import Networks, count_of
from torusweep.quantities import counted
from torusweep.questions.stage import attempt
from torusweep.sweeps.points import Point

MOST_POINTS = 20_000  # points that are examined; their plans take a second


def notes_of(points: Iterable[Point]) -> tuple[str, ...]:
    """Return a line for each table with such attributes: 'loads leaves out latency (3 networks), unit (2 networks)'.

    If there are more than MOST_POINTS points, the line says that only the first ones were examined.
    """
    waiting = iter(points)
    networks, counts = defaultdict[tuple[str, str], Networks](Networks), defaultdict[str, Counter[str]](Counter)
    for point in islice(waiting, MOST_POINTS):
        found = attempt(getattr, point, "estimate")  # a network's file may be gone
        for name in () if isinstance(found, Exception) else found.unheeded:
            counts[point.stage][name] += sum(map(count_of, networks[point.stage, name].add(point.topology)))
    limit = f", of the first {MOST_POINTS:,} points" if next(waiting, None) is not None else ""
    return tuple(f"{stage} leaves out {_listed(said)}{limit}" for stage, said in counts.items())


def _listed(said: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({counted(count, 'network')})" for name, count in said.items())
