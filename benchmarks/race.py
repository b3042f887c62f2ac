"""Contenders that take turns, so that other load of the machine affects all of them; medians of their ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Row = dict[str, Any]


class Race(NamedTuple):
    """One question that several can answer.

    benchmark    what is asked
    case, nodes  of which network, of so many nodes
    contenders   by name, the first one ours; each returns its answer
    work, unit   what an answer takes: so many of these
    share        by contender, where not 1: the share of the work that it is given
    agree        raises where an answer is not the first's: by contender, too
    """

    benchmark: str
    case: str
    nodes: int
    contenders: Mapping[str, Callable[[], Any]]
    work: float
    unit: str
    share: Mapping[str, float] = {}
    agree: Callable[[str, Any, Any], None] = lambda name, ours, theirs: np.testing.assert_allclose(
        theirs, ours, rtol=1e-9
    )


def rows(races: Sequence[Race], turns: int) -> Iterator[Row]:
    """A row for each contender of each race, once the race is over. Answers are compared before anything is timed.

    ratio        median over the turns of its time to ours in the same turn, per unit of work; 1 for ours
    ratio_low, ratio_high   the least and the greatest of them
    """
    for race in races:
        names = list(race.contenders)
        answers = {name: contender() for name, contender in race.contenders.items()}  # compiles, too
        for name in names[1:]:
            race.agree(name, answers[names[0]], answers[name])
        del answers
        seconds: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(turns):
            for name, contender in race.contenders.items():
                begin = time.perf_counter()
                contender()
                seconds[name].append((time.perf_counter() - begin) / race.share.get(name, 1.0))
        for name in names:
            ratios = [mine / ours for mine, ours in zip(seconds[name], seconds[names[0]])]
            median = statistics.median(seconds[name])
            yield {
                "benchmark": race.benchmark,
                "case": race.case,
                "nodes": race.nodes,
                "contender": name,
                "seconds": median,
                "rate": race.work / median,
                "unit": f"{race.unit}/s",
                "ratio": statistics.median(ratios),
                "ratio_low": min(ratios),
                "ratio_high": max(ratios),
                "note": "" if name not in race.share else f"of a sample: {race.share[name]:.2%} of the work",
            }
