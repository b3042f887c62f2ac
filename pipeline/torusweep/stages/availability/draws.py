"""Which parts fail: all combinations where they are few, otherwise random draws."""

from __future__ import annotations

from itertools import chain, combinations
from math import comb, lgamma, log
from typing import NamedTuple

import numpy as np
from torusweep_kernels.failures import Failures, draw_failures

from torusweep.counts import counted
from torusweep.errors import Refused
from torusweep.stages.availability.request import AvailabilityRequest

MOST_FAILED = 200_000_000  # failed parts in all draws: about 1 GB
MOST_DIGITS = 12  # of a number of combinations that is written out


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
    Raises Refused where there are too many failed parts to list.
    """
    failures, probability = request.failures, request.probability
    exact = _few(parts, request, most)
    if failures is not None:
        ways = comb(parts, failures) if exact else most
        _expect_room(float(ways) * failures, request)
        if exact:
            listed = np.fromiter(chain.from_iterable(combinations(range(parts), failures)), np.int32, ways * failures)
            start = np.arange(ways + 1, dtype=np.int64) * failures
            return Draws(Failures(start, listed), np.full(ways, 1 / ways), f"all {counted(ways, 'combination')}")
    elif probability is not None:
        if exact:
            return _all_subsets(parts, probability)
        _expect_room(most * parts * probability, request)
    found = draw_failures(parts, most, count=failures, probability=probability, seed=request.seed)
    first = most < request.draws and not _few(parts, request, request.draws)
    which = f"the first {most:,} of {request.draws:,} random draws" if first else counted(most, "random draw")
    of = "" if failures is None else f" of {_about(parts, failures)} combinations"
    return Draws(found, None, f"{which}{of} (Philox, seed {request.seed})")


def _few(parts: int, request: AvailabilityRequest, most: int) -> bool:
    """Whether there are at most `most` combinations, which are then all listed."""
    if request.failures is None:
        return request.probability in (0, 1) or parts < most.bit_length()
    fewer = min(request.failures, parts - request.failures)  # there are 2^fewer combinations, or more
    return fewer < most.bit_length() and comb(parts, request.failures) <= most


def _expect_room(failed: float, request: AvailabilityRequest) -> None:
    if failed > MOST_FAILED:
        raise Refused(
            f"availability {request}: expected at most {MOST_FAILED:,} failed parts in all draws, got about"
            f" {failed:.2g}; choose fewer draws"
        )


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


def _about(parts: int, failures: int) -> str:
    """How many combinations there are, in words."""
    digits = (lgamma(parts + 1) - lgamma(failures + 1) - lgamma(parts - failures + 1)) / log(10)
    return f"{comb(parts, failures):,}" if digits < MOST_DIGITS else f"about 10^{digits:.0f}"
