"""The question and stage `availability`: measures of a network after failures of links, routers or cubes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from numbers import Real
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator
from rich.console import Console

from torusweep.errors import BadInput
from torusweep.networks.topology import Meaning, Topology, Whole
from torusweep.questions.answer import Records, Row
from torusweep.questions.availability.columns import AVAILABILITY
from torusweep.questions.availability.failing import check_count, failing_parts, fails_of, most_parts
from torusweep.questions.availability.measures import MEASURES, USUAL, DrawSize
from torusweep.questions.availability.record import availability_rows
from torusweep.questions.availability.request import (
    MOST_DRAWS,
    AvailabilityRequest,
    check_memory,
    failures_of,
    measures_of,
    memory_of,
)
from torusweep.questions.console import Columns, print_heading, print_note, print_rows
from torusweep.questions.heeds import heeds
from torusweep.questions.how import How
from torusweep.questions.parameters import NOT_SWEPT, Absent, Spelled, Typed
from torusweep.questions.question import Question
from torusweep.questions.stage import LazyNetwork, NetworkChoice, Spellings, under

NOTE = (
    "mean and quantiles of connected, largest_component and deadlock_free are over all draws, those of other measures"
    " over the draws after which all surviving terminals reach each other"
)
MEASURE = Spelled(
    "measures to compute after each draw, or all",
    table="torusweep.questions.availability.measures:MEASURES",
    title="Measures",
    called=False,
)
NUMBERS = Typed(reader="torusweep.questions.availability.request:numbers_of", shown="2,0.5%,…")


def _interval(row: dict[str, Any]) -> str:
    low, high = row["mean_low"], row["mean_high"]
    if row["interval"] == "exact":
        return "exact"
    return "–" if low is None or high is None else f"{low:.6g} … {high:.6g}"


def _draws(row: dict[str, Any]) -> str:
    return f"{row['measured']:,} of {row['draws']:,}"


COLUMNS: Columns = {
    **{"measure": "measure", "intact": "intact", "mean": "mean", _interval: "95 % interval"},
    **{"q05": "5 %", "q50": "median", "q95": "95 %", "worst": "worst", _draws: "of draws", "unit": "unit"},
}


@dataclass(frozen=True, repr=False, eq=False)
class Availability(Records):
    """Measures of a network after failures: rows of the table `availability`, one for each request and measure.

    asked   requests, in the order of their rows; every request has the same number of rows
    """

    asked: Sequence[AvailabilityRequest] = field(kw_only=True)
    columns = AVAILABILITY
    main = (
        *("fails", "failures", "probability", "measure", "measured", "intact", "mean", "mean_low", "mean_high"),
        *("q05", "q50", "q95", "worst"),
    )

    def heading(self) -> str:
        return f"{self.rows[0]['topology']} after failures"

    def of(self, measure: str) -> list[Row]:
        """Return the rows of the given measure, such as connected, diameter or mean_distance."""
        return [row for row in self.rows if row["measure"] == measure]

    def print(self, console: Console, computed_by: str) -> None:
        """Print a table for each request, with a line for each measure; below it, which draws were examined."""
        each = len(self.rows) // len(self.asked)
        for place, request in enumerate(self.asked):
            rows = self.rows[each * place :][:each]
            print_heading(console, f"{rows[0]['topology']} {request}")
            print_rows(console, rows, COLUMNS, left=("measure", "unit"))
            for method in dict.fromkeys(row["method"] for row in rows):
                names = ", ".join(row["measure"] for row in rows if row["method"] == method)
                print_note(console, f"{names}: {method}")
            console.print()
        print_note(console, NOTE)


def _several(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


Count = Annotated[int, Field(ge=0, le=10**9)]
Counts = Annotated[
    tuple[Count, ...], Field(strict=False), BeforeValidator(_several, json_schema_input_type=Count | list[Count])
]
Probability = Annotated[float, Field(ge=0, le=1)]
Probabilities = Annotated[
    tuple[Probability, ...],
    Field(strict=False),
    BeforeValidator(_several, json_schema_input_type=Probability | list[Probability]),
]


class Failures(NetworkChoice):
    """An entry of the section `availability`. For each kind of part and number, so many parts fail in each network."""

    fails: Spellings = Field(
        ("links",),
        description="kind of part that fails: links, routers or cubes (4 nodes along each axis of a grid, or the cubes"
        " of cube_pod)",
    )
    failures: Counts = Field((), description="number of parts that fail at a time")
    probability: Probabilities = Field((), description="probability that a part fails, independently of the others")

    @model_validator(mode="after")
    def _some_failures(self) -> Failures:
        if not self.failures and not self.probability:
            raise ValueError("expected failures or probability, got neither; add failures: [1, 2]")
        return self


def availability(
    network: Topology,
    how: How,
    links: Annotated[
        tuple[int | Real, ...],
        Meaning("number of links that fail at a time, or probability that a link fails (as 0.005 or 0.5%); or several"),
        NUMBERS,
        NOT_SWEPT,
    ] = (),
    routers: Annotated[
        tuple[int | Real, ...], Meaning("as for links: routers that fail, with their terminals"), NUMBERS, NOT_SWEPT
    ] = (),
    cubes: Annotated[
        tuple[int | Real, ...], Meaning("as for links: cubes that fail, with all their nodes"), NUMBERS, NOT_SWEPT
    ] = (),
    *,
    draws: Annotated[
        int,
        Whole(1, "number of random draws; if there are at most as many combinations, each is taken once", MOST_DRAWS),
    ] = AvailabilityRequest.draws,
    seed: Annotated[int, Whole(0, "seed of the random draws", 2**63 - 1)] = AvailabilityRequest.seed,
    sample: Annotated[
        int, Whole(1, "number of draws for costly measures", MOST_DRAWS), Absent("as many as take a few seconds")
    ]
    | None = None,
    measures: Annotated[tuple[str, ...], MEASURE, Typed("--measure")] = USUAL,
) -> Availability:
    """Compute what is left of a network after failures: the distribution of each measure over thousands of draws.

    Each draw lets links, routers or cubes fail at random. If there are no more combinations than draws, each is
    taken once. A cube is a block with 4 nodes along each axis of a torus, mesh or slice, or a cube of cube_pod.

    >>> import torusweep as ts
    >>> ts.network("ring(k=8)").availability(links=2).of("connected")[0]["mean"]
    0.0
    """
    fails = {"links": links, "routers": routers, "cubes": cubes}
    asked = _requests(fails, draws=draws, seed=seed, sample=sample, measures=measures)
    if not asked:
        with under("links"):
            raise BadInput("expected links, routers or cubes that fail, got none; add a number, as 1")
    with how.progress.wait("draws of failures: some seconds for each costly measure, more on large networks"):
        rows = [row for request in asked for row in availability_rows(network, request, how)]
    return Availability(rows, asked=asked)


def _requests(
    fails: Mapping[str, Iterable[Any]], *, draws: int, seed: int, sample: int | None, measures: Sequence[str]
) -> list[AvailabilityRequest]:
    """Make a request for each number or probability of failures in `fails` (kind of part → numbers)."""
    names, asked = measures_of(measures), []
    for kind, numbers in fails.items():
        with under(kind):
            asked += [AvailabilityRequest(kind, *failures_of(one), draws, seed, sample, names) for one in numbers]
    return asked


class AvailabilityQuestion(Question):
    name = "availability"
    columns = AVAILABILITY
    ask = staticmethod(availability)
    command = "availability"
    heeds: ClassVar = {
        **heeds("direction, terminals, forwarding"),
        **heeds(
            "bandwidth",
            "with measures saturation or all_reduce",
            lambda values: any(name in values["measures"] for name in ("saturation", "all_reduce", "all")),
        ),
    }
    entry = Failures
    Request = AvailabilityRequest
    how = ("backend",)
    examples = (
        'availability "torus(k=8, n=3)" --links 2 --draws 5000',
        'availability "dragonfly(a=8, p=4, h=4)" --links 0,1%,5% --measure distances,saturation',
        'availability "cube_pod(x=[1, 0], y=[0, 1], z=[0, 1])" --cubes 1 --measure all --sample 10',
        'availability "hypercube(n=4)" --routers 3 --json',
    )
    description = "failures after which networks are measured; without this section, no failures are examined"

    def requests(self, entry: Any) -> Iterator[AvailabilityRequest]:
        with under("fails"):
            kinds = fails_of(entry.fails)
        with under("measures"):
            measures = measures_of(entry.measures)
        many: list[tuple[int | None, float | None]] = [(count, None) for count in dict.fromkeys(entry.failures)]
        many += [(None, probability) for probability in dict.fromkeys(entry.probability)]
        for fails, (count, probability) in product(kinds, many):
            yield AvailabilityRequest(fails, count, probability, entry.draws, entry.seed, entry.sample, measures)

    def check(self, network: LazyNetwork, request: AvailabilityRequest) -> None:
        most = most_parts(network.plan, network.spelling, request.fails)
        # each node of a family has a link unless a fault removes it; nodes of graph files may have none
        fewest = 0 if "graph(" in network.spelling else min(most, network.plan.nodes) // 2 - network.plan.failed
        if request.failures is None or request.failures < fewest:
            return
        with under("failures", of_network=True):
            failing = failing_parts(network.topology, request.fails)
            check_count(failing, request.fails, request.failures, network.spelling)

    def estimate(self, network: LazyNetwork, values: Mapping[str, Any]) -> float:
        others = self.defaults | dict(values)
        fails = {kind: others.pop(kind) for kind in ("links", "routers", "cubes")}
        try:
            asked = _requests(fails, **others)
        except BadInput:
            return 0.0  # `ask` refuses the values
        for request in asked:
            check_memory(*network.planned, request)
        return sum(self.seconds(network, request) for request in asked)

    def seconds(self, network: LazyNetwork, request: AvailabilityRequest) -> float:
        arcs = network.plan.nodes * max(network.plan.degree, 1)
        size = DrawSize(network.plan.nodes, arcs, True)
        seconds = 5e-3 + request.draws * 1e-8 * arcs
        for measure in (MEASURES[name] for name in request.measures.split(", ")):
            if measure.seconds is not None:
                seconds += measure.seconds(size) * measure.draws(size, request.draws, request.sample)
        return seconds

    def memory(self, network: LazyNetwork, request: AvailabilityRequest) -> int:
        return memory_of(network.plan, request)

    def row_count(self, network: LazyNetwork, request: AvailabilityRequest) -> int:
        return sum(len(MEASURES[name].names) for name in request.measures.split(", "))

    def rows(self, network: LazyNetwork, request: AvailabilityRequest, options: How) -> list[dict[str, Any]]:
        return availability_rows(network.topology, request, options)


QUESTION = AvailabilityQuestion()
