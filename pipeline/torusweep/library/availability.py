"""A network after failures: the distribution of each measure over draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import SupportsInt, TypedDict, TypeGuard

from torusweep.errors import BadInput, nearest
from torusweep.library.arguments import check_measures
from torusweep.networks.topology import Topology
from torusweep.questions.answer import Records, Row
from torusweep.questions.stage import Options
from torusweep.stages.availability import AvailabilityRequest, availability_rows
from torusweep.stages.availability.columns import AVAILABILITY
from torusweep.stages.availability.memory import check_memory
from torusweep.stages.availability.request import MOST_DRAWS, measures_of

Amount = int | float | Iterable[int | float] | None


class AvailabilityOptions(TypedDict, total=False):
    """Options of `Network.availability`, as those of 'torusweep availability'.

    draws     random draws, 1000 by default; all combinations, exactly, where there are no more
    seed      of the random draws
    measures  of torusweep.stages.availability.MEASURES, or all; by default connectivity, distances, saturation
    sample    draws on which costly measures are computed; by default as many as take some seconds
    backend   auto, numpy, numba or cupy
    """

    draws: int
    seed: int
    measures: str | Sequence[str]
    sample: int
    backend: str


class Availability(Records):
    """What is left of a network after failures: rows of the table `availability`, one for each measure."""

    columns = AVAILABILITY
    main = (
        *("fails", "failures", "probability", "measure", "measured", "intact", "mean", "mean_low", "mean_high"),
        *("q05", "q50", "q95", "worst"),
    )

    def heading(self) -> str:
        return f"{self.rows[0]['topology']} after failures"

    def of(self, measure: str) -> list[Row]:
        """The rows of one measure: connected, diameter, mean_distance, …."""
        return [row for row in self.rows if row["measure"] == measure]


def availability_of(topology: Topology, amounts: dict[str, Amount], options: AvailabilityOptions) -> Availability:
    """The rows of every amount of every kind of part.

    amounts   links, routers or cubes → a whole number that fail at a time, a fraction: the probability of each, or
              several of these
    """
    for name in options:
        if name not in AvailabilityOptions.__annotations__:
            known = AvailabilityOptions.__annotations__
            raise BadInput(f"unknown option '{name}'{nearest(name, known)}; expected one of {', '.join(known)}")
    draws, seed, sample = options.get("draws", 1000), options.get("seed", 0), options.get("sample")
    for name, value, least in (("draws", draws, 1), ("seed", seed, 0), ("sample", sample, 1)):
        most = 2**63 - 1 if name == "seed" else MOST_DRAWS
        if value is not None and (not _whole(value) or not least <= int(value) <= most):
            raise BadInput(f"{name}={value!r}: expected a whole number {least} … {most:,}")
    asked = [(fails, *_amount(fails, one)) for fails, given in amounts.items() for one in _several(given)]
    if not asked:
        raise BadInput("availability: expected links, routers or cubes, got none; add links=1")
    backend = options.get("backend", "auto")
    measures = options.get("measures", AvailabilityRequest.measures.split(", "))
    check_measures(measures, backend)
    names = measures_of([measures] if isinstance(measures, str) else measures)
    rows: list[Row] = []
    for fails, count, probability in asked:
        request = AvailabilityRequest(fails, count, probability, int(draws), int(seed), sample, names)
        check_memory(topology.spelling, topology.plan, request)
        rows += availability_rows(topology, request, Options(backend=backend))
    return Availability(rows)


def _whole(value: object) -> TypeGuard[SupportsInt]:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _several(given: Amount) -> list[object]:
    if given is None:
        return []
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]


def _amount(fails: str, given: object) -> tuple[int | None, float | None]:
    """(number of failures, probability), one of them None."""
    if _whole(given) and int(given) >= 0:
        return int(given), None
    if isinstance(given, Real) and not isinstance(given, Integral) and 0 <= float(given) <= 1:
        return None, float(given)
    raise BadInput(
        f"{fails}={given!r}: expected a whole number that fail at a time, or a probability as a fraction, as 0.01"
    )
