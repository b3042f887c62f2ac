"""Which parts fail: all combinations where they are few, otherwise random draws."""

from __future__ import annotations

from itertools import chain, combinations
from math import comb
from typing import NamedTuple

import numpy as np
from torusweep_kernels.failures import Failures, draw_failures

from torusweep.counts import counted
from torusweep.stages.availability.request import AvailabilityRequest


class Draws(NamedTuple):
    """Draws of failed parts.

    failures  the failed parts of each
    weight    float64[D]: probability of each combination where all are listed; None: random draws, all alike
    method    in words
    """

    failures: Failures
    weight: np.ndarray | None
    method: str

    @property
    def number(self) -> int:
        return len(self.failures.start) - 1

    def failed(self, draw: int) -> np.ndarray:
        """int32: the failed parts of a draw."""
        start, part = self.failures
        return part[start[draw] : start[draw + 1]]


def draws_of(parts: int, request: AvailabilityRequest, most: int) -> Draws:
    """All combinations of failed parts if there are at most `most`, otherwise so many random draws.

    parts   that can fail
    most    the request's draws, or those of a sample of them
    """
    failures, probability = request.failures, request.probability
    if failures is not None and comb(parts, failures) <= most:
        ways = comb(parts, failures)
        listed = np.fromiter(chain.from_iterable(combinations(range(parts), failures)), np.int32, ways * failures)
        start = np.arange(ways + 1, dtype=np.int64) * failures
        return Draws(Failures(start, listed), np.full(ways, 1 / ways), f"all {counted(ways, 'combination')}")
    if probability is not None and (probability in (0, 1) or parts < most.bit_length()):
        return _all_subsets(parts, probability)
    found = draw_failures(parts, most, count=failures, probability=probability, seed=request.seed)
    ways = 2**parts if failures is None else comb(parts, failures)
    all_of = f"the first {most:,} of {request.draws:,} random draws" if ways > request.draws > most else ""
    of = "" if failures is None else f" of {_about(ways)} combinations"
    return Draws(found, None, f"{all_of or counted(most, 'random draw')}{of} (Philox, seed {request.seed})")


def _all_subsets(parts: int, probability: float) -> Draws:
    """Every set of failed parts that is possible, with its probability."""
    if probability in (0, 1):
        failed = np.full((1, parts), probability == 1)
    else:
        failed = (np.arange(2**parts)[:, None] >> np.arange(parts)) & 1 == 1
    many = failed.sum(axis=1)
    weight = probability**many * (1 - probability) ** (parts - many)
    start = np.concatenate([[0], np.cumsum(many)]).astype(np.int64)
    method = f"all {counted(len(failed), 'combination')}, by their probabilities"
    return Draws(Failures(start, np.nonzero(failed)[1].astype(np.int32)), weight, method)


def _about(number: int) -> str:
    return f"{number:,}" if number < 10**9 else f"{float(number):.2g}" if number < 10**300 else "more than 1e300"
