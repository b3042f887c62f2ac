"""The stage `availability`: what is left of a network after failures of links, routers or cubes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from torusweep.questions.entry import Choice, Spellings, under
from torusweep.questions.stage import Network, Options, Stage
from torusweep.stages.availability.columns import AVAILABILITY
from torusweep.stages.availability.measures import MEASURES, USUAL, Size
from torusweep.stages.availability.memory import memory_of
from torusweep.stages.availability.parts import check_count, failing_parts, fails_of, most_parts
from torusweep.stages.availability.record import availability_rows
from torusweep.stages.availability.request import MOST_DRAWS, AvailabilityRequest, measures_of

if TYPE_CHECKING:
    from torusweep.charts.section import Section, Tables


def _several(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


Count = Annotated[int, Field(ge=0, le=10**9)]
Counts = Annotated[
    tuple[Count, ...],
    Field(strict=False),
    BeforeValidator(_several, json_schema_input_type=Count | list[Count]),
]
Probability = Annotated[float, Field(ge=0, le=1)]
Probabilities = Annotated[
    tuple[Probability, ...],
    Field(strict=False),
    BeforeValidator(_several, json_schema_input_type=Probability | list[Probability]),
]


class Availability(Choice):
    """Draws of failures on the sweep's networks: every kind of part with every number, on every network chosen."""

    fails: Spellings = Field(
        ("links",),
        description="what fails: links, routers, cubes (4 nodes along each axis of a grid, or those of cube_pod), or"
        " several",
    )
    failures: Counts = Field((), description="how many fail at a time: a number, or several")
    probability: Probabilities = Field(
        (), description="or the probability that each fails, whatever the others do: a number, or several"
    )
    draws: int = Field(
        1000, ge=1, le=MOST_DRAWS, description="random draws; all combinations, exactly, where there are no more"
    )
    seed: int = Field(0, ge=0, le=2**63 - 1, description="seed of the random numbers")
    sample: int | None = Field(
        None,
        ge=1,
        le=MOST_DRAWS,
        description="draws on which costly measures are computed; null: as many as take some seconds",
    )
    measures: Spellings = Field(
        USUAL, description=f"what is measured after each draw: {', '.join(MEASURES)}, or several; all: every one"
    )

    @model_validator(mode="after")
    def _some_failures(self) -> Availability:
        if not self.failures and not self.probability:
            raise ValueError("expected failures or probability, got neither; add failures: [1, 2]")
        return self


class AvailabilityStage(Stage):
    name = "availability"
    columns = AVAILABILITY
    Entry = Availability
    Request = AvailabilityRequest
    description = "failures after which connectivity, distances, saturation are measured; without it, none"
    distinguishing = ("measure", "fails", "failures", "probability", "seed")

    def requests(self, entry: Availability) -> Iterator[AvailabilityRequest]:
        with under("fails"):
            kinds = fails_of(entry.fails)
        with under("measures"):
            measures = measures_of(entry.measures)
        many: list[tuple[int | None, float | None]] = [(count, None) for count in dict.fromkeys(entry.failures)]
        many += [(None, probability) for probability in dict.fromkeys(entry.probability)]
        for fails, (count, probability) in product(kinds, many):
            yield AvailabilityRequest(fails, count, probability, entry.draws, entry.seed, entry.sample, measures)

    def check(self, network: Network, request: AvailabilityRequest) -> None:
        most = most_parts(network.plan, network.spelling, request.fails)
        if request.failures is None or request.failures < min(most, network.plan.nodes) // 2:
            return  # a network has more links than that, unless it is in parts
        with under("failures"):
            failing = failing_parts(network.topology, request.fails)
            check_count(failing, request.fails, request.failures, network.spelling)

    def seconds(self, network: Network, request: AvailabilityRequest) -> float:
        nodes, arcs = network.plan.nodes, network.plan.nodes * max(network.plan.degree, 1)
        size = Size(nodes, arcs, True)
        seconds = 5e-3 + request.draws * 1e-8 * arcs
        for measure in (MEASURES[name] for name in request.measures.split(", ")):
            if measure.seconds is not None:
                seconds += measure.seconds(size) * measure.draws(size, request.draws, request.sample)
        return seconds

    def memory(self, network: Network, request: AvailabilityRequest) -> int:
        return memory_of(network.plan, request)

    def row_count(self, network: Network, request: AvailabilityRequest) -> int:
        return sum(len(MEASURES[name].names) for name in request.measures.split(", "))

    def rows(self, network: Network, request: AvailabilityRequest, options: Options) -> list[dict[str, Any]]:
        return availability_rows(network.topology, request, options)

    def section(self, tables: Tables) -> Section | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.availability.section import section

        return section(tables)
