"""Requests of the stage `availability`, the draws of failed parts, and the memory that the draws take.

If there are few combinations of failed parts, all combinations are taken; otherwise draws are random.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import comb, lgamma, log, nan
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from torusweep_kernels.failures import Failures, draw_failures

from torusweep.errors import BadInput, Refused, nearest, one_line
from torusweep.networks.topology import Plan, default_memory
from torusweep.quantities import counted
from torusweep.questions.availability.measures import MEASURES, USUAL

ALL = "all"
MOST_DRAWS = 1_000_000
MOST_DIGITS = 10  # a number of failures has fewer digits
MOST_ROUTED = 2000  # approximate number of nodes up to which routes are assigned to layers
MOST_FAILED = 200_000_000  # failed parts in all draws: about 1 GB
DRAWS_MOST_DIGITS = 12  # a number of combinations with more digits is printed as a power of 10


@dataclass(frozen=True)
class AvailabilityRequest:
    """A request for measures after failures. Either `failures` or `probability` is a number; the other is None.

    fails        kind of part that fails: links, routers or cubes
    failures     number of parts that fail at a time
    probability  probability that a part fails, independently of the other parts
    draws        number of random draws; all combinations are taken instead if there are at most as many
    sample       number of draws for costly measures; None for the number that takes some seconds
    measures     names of measures, separated by commas
    """

    fails: str
    failures: int | None
    probability: float | None
    draws: int = field(default=1000, metadata={"meaning": "number of draws, or of all combinations if fewer"})
    seed: int = 0
    sample: int | None = field(
        default=None, metadata={"meaning": "number of draws for costly measures; null: as many as take a few seconds"}
    )
    measures: str = field(default=", ".join(USUAL), metadata={"meaning": "measures computed after each draw"})

    def __str__(self) -> str:
        return f"with {self.words}"

    @property
    def words(self) -> str:
        """The failures in words, as in "2 failed links"."""
        thing = self.fails.removesuffix("s")
        if self.failures is not None:
            return counted(self.failures, f"failed {thing}")
        return f"each {thing} failed with probability {self.probability:g}"


def measures_of(names: Iterable[str]) -> str:
    """Return the named measures as one text with commas, in the order of MEASURES. `all` stands for every measure.

    Raises BadInput for an unknown name, or if there is no name.
    """
    asked = [name.replace("-", "_") for name in names]
    if not asked:
        raise BadInput(f"expected a measure, got none; choose of {', '.join(MEASURES)}, or {ALL}")
    for name in asked:
        if name not in (*MEASURES, ALL):
            raise BadInput(
                f"unknown measure '{name}'{nearest(name, [*MEASURES, ALL])}; expected {', '.join(MEASURES)}, or {ALL}"
            )
    return ", ".join(name for name in MEASURES if name in asked or ALL in asked)


def numbers_of(texts: Iterable[str]) -> tuple[int | float, ...]:
    """Read numbers of failures (2) and probabilities (0.5% or 0.005) from texts that separate them by commas.

    Raises BadInput for a text that is neither.
    """
    return tuple(_number(one.strip()) for text in texts for one in text.split(",") if one.strip())


def _number(text: str) -> int | float:
    number: int | float = nan
    if text.isascii() and text.isdigit() and len(text) < MOST_DIGITS:
        number = int(text)
    else:
        with suppress(ValueError):
            number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    failures_of(number, text)
    return number


def failures_of(number: float | Real, text: str = "") -> tuple[int | None, float | None]:
    """Return (number, None) for a whole number of failed parts, (None, number) for a probability that a part fails.

    text   text from which the number was read; "" if it was given as a number
    Raises BadInput for anything else.
    """
    if isinstance(number, Integral) and not isinstance(number, bool) and int(number) >= 0:
        return int(number), None
    if isinstance(number, Real) and not isinstance(number, Integral) and 0 <= float(number) <= 1:
        return None, float(number)
    got = f" or 0.5%, got {one_line(text, 40)}" if text else f", got {number}"
    raise BadInput(f"expected a whole number that fail at a time, as 2, or a probability from 0 to 1, as 0.005{got}")


def memory_of(plan: Plan, request: AvailabilityRequest) -> int:
    """Return approximate bytes for the network's arrays, the failed parts, and all routes if layers are measured."""
    most = plan.nodes * max(plan.degree, 1)
    failed: float = min(request.failures or 0, most)
    if request.probability is not None:
        failed = request.probability * most
    pairs = min(plan.nodes, MOST_ROUTED) ** 2 if "minimal_rerouting" in request.measures else 0
    return 6 * plan.bytes + request.draws * int(100 + 8 * failed) + 200 * pairs


def check_memory(spelling: str, plan: Plan, request: AvailabilityRequest) -> None:
    """Raise Refused if the request needs more memory than a network may take by default."""
    needed, limit = memory_of(plan, request), default_memory()
    if needed > limit:
        raise Refused(
            f"availability of {spelling} {request}: expected at most {limit / 2**30:,.1f} GiB of memory, got about"
            f" {needed / 2**30:,.1f} GiB; choose a smaller network, or fewer draws"
        )


class Draws(NamedTuple):
    """Draws of failed parts.

    failures  failed parts of each draw
    weight    float64[D]: probability of each combination, if all are listed; None for random draws
    method    how the draws were made, in words
    """

    failures: Failures
    weight: np.ndarray | None
    method: str

    @property
    def number(self) -> int:
        return len(self.failures.start) - 1

    def failed(self, draw: int) -> np.ndarray:
        """Return the numbers of the parts that fail in a draw, int32."""
        start, part = self.failures
        return part[start[draw] : start[draw + 1]]


def draws_of(parts: int, request: AvailabilityRequest, most: int) -> Draws:
    """List all combinations of failed parts if there are at most `most`; otherwise draw `most` at random.

    parts   number of parts that can fail
    most    number of draws that the request gives, or the number in a sample for costly measures
    Raises Refused if there are too many failed parts to list.
    """
    failures, probability = request.failures, request.probability
    exact = _few(parts, request, most)
    if failures is not None:
        ways = comb(parts, failures) if exact else most
        _expect_room(float(ways) * failures, request)
        if exact:
            listed = np.fromiter(chain.from_iterable(combinations(range(parts), failures)), np.int32, ways * failures)
            start = np.arange(ways + 1, dtype=np.int64) * failures
            return Draws(Failures(start, listed), np.full(ways, 1 / ways), _all(ways))
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
    """Return whether there are at most `most` combinations of failed parts, so that all can be listed."""
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
    """Return all possible sets of failed parts, each with its probability."""
    if probability in (0, 1):
        failed = np.full((1, parts), probability == 1)
    else:
        failed = (np.arange(2**parts)[:, None] >> np.arange(parts)) & 1 == 1
    many = failed.sum(axis=1)
    weight = probability**many * (1 - probability) ** (parts - many)
    start = np.concatenate([[0], np.cumsum(many)]).astype(np.int64)
    method = f"{_all(len(failed))}, by their probabilities"
    return Draws(Failures(start, np.nonzero(failed)[1].astype(np.int32)), weight, method)


def _all(ways: int) -> str:
    return "the only combination" if ways == 1 else f"all {ways:,} combinations"


def _about(parts: int, failures: int) -> str:
    """Return the number of combinations of the failed parts, in words."""
    digits = (lgamma(parts + 1) - lgamma(failures + 1) - lgamma(parts - failures + 1)) / log(10)
    return f"{comb(parts, failures):,}" if digits < DRAWS_MOST_DIGITS else f"about 10^{digits:.0f}"
