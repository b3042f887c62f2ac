"""What is asked of the stage `availability`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from math import nan
from numbers import Integral, Real

from torusweep.counts import counted
from torusweep.errors import BadInput, nearest, one_line
from torusweep.stages.availability.measures import MEASURES, USUAL

ALL = "all"
MOST_DRAWS = 1_000_000
MOST_DIGITS = 10  # of a number of failures


@dataclass(frozen=True)
class AvailabilityRequest:
    """Either failures or probability is a number.

    fails        links, routers or cubes
    failures     how many fail at a time
    probability  that each of them fails, whatever the others do
    draws        random draws; all combinations where there are no more
    sample       draws on which costly measures are computed; None: as many as take some seconds
    measures     names, separated by commas
    """

    fails: str
    failures: int | None
    probability: float | None
    draws: int = field(default=1000, metadata={"meaning": "draws, at most; fewer where all combinations are fewer"})
    seed: int = 0
    sample: int | None = field(
        default=None, metadata={"meaning": "draws on which costly measures are computed; null: as time allows"}
    )
    measures: str = field(default=", ".join(USUAL), metadata={"meaning": "what is measured after each draw"})

    def __str__(self) -> str:
        return f"with {self.words}"

    @property
    def words(self) -> str:
        """What fails, in words."""
        thing = self.fails.removesuffix("s")
        if self.failures is not None:
            return counted(self.failures, f"failed {thing}")
        return f"each {thing} failed with probability {self.probability:g}"


def measures_of(names: Iterable[str]) -> str:
    """Names of measures as a request has them, in the order of the table; `all` stands for every one.

    Raises BadInput for an unknown name, and for none.
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
    """Numbers of failures, or probabilities, of texts with commas: '2', '0.5%' or '0.005'.

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
    """(failures at a time, probability that each fails), one of them None: 2, or 0.005.

    text   what the number was read from
    Raises BadInput for anything else.
    """
    if isinstance(number, Integral) and not isinstance(number, bool) and int(number) >= 0:
        return int(number), None
    if isinstance(number, Real) and not isinstance(number, Integral) and 0 <= float(number) <= 1:
        return None, float(number)
    got = f" or 0.5%, got {one_line(text, 40)}" if text else f", got {number}"
    raise BadInput(f"expected a whole number that fail at a time, as 2, or a probability from 0 to 1, as 0.005{got}")
