"""The stage `screen`: the few numbers that choose, for whole design spaces and for networks of the sweep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

import pyarrow as pa
from pydantic import BeforeValidator, Field, model_validator

from torusweep.screening.columns import SCREEN
from torusweep.screening.spaces import Space, screen_space, space_of
from torusweep.stages.entry import Choice, under
from torusweep.stages.loads.stage import LoadsStage
from torusweep.stages.screen.network_row import network_row
from torusweep.stages.stage import Network, Options, Rows, Stage
from torusweep.tables.columns import arrow_schema

if TYPE_CHECKING:
    from torusweep.charts.section import Section, Tables

CLASSIFIED = 1e-6  # seconds that it takes to find a lattice's class, on a core
MEASURED = 1.8e-8  # seconds a node and dimension of a lattice
MORE_CLASSES = 1.3  # than if all were of the greatest size
ROW_BYTES = 700  # of a row in memory, twice: a part, and the whole

Dimension = Annotated[int, Field(ge=1, le=5)]


class Screen(Choice):
    """A design space that is screened whole, or networks of the sweep."""

    family: Literal["lattices"] | None = Field(
        None, description="design space: all lattices of these dimensions and nodes; null: networks of the sweep"
    )
    dimensions: Annotated[
        tuple[Dimension, ...],
        Field(strict=False),
        BeforeValidator(
            lambda value: [value] if isinstance(value, int) else value,
            json_schema_input_type=Dimension | list[Dimension],
        ),
    ] = Field((), description="dimensions of a design space: a number, or several")
    each: Literal["class", "lattice"] = Field(
        "class",
        description="of a design space, a row for each class of lattices that differ only in the names and directions"
        " of dimensions, or for each lattice",
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Screen:
        if self.family is None:
            if self.dimensions:
                raise ValueError("expected dimensions with a design space only; add family: lattices")
            return self
        if not self.dimensions or self.nodes is None:
            raise ValueError(
                "expected dimensions and nodes of a design space, as in"
                " {family: lattices, dimensions: [2, 3], nodes: {from: 8, to: 64}}"
            )
        if self.families != "all" or self.topologies is not None:
            raise ValueError("expected a design space or a choice of networks, got both; write two entries")
        return self


@dataclass(frozen=True)
class ScreenRequest:
    """each: "class" or "lattice" of a design space; None for a network."""

    each: str | None = field(default=None, metadata={"meaning": "what has a row: each class of lattices, each lattice"})

    def __str__(self) -> str:
        return "" if self.each is None else f"screened, each {self.each}"


class ScreenStage(Stage):
    name = "screen"
    columns = SCREEN
    sources = (
        *LoadsStage.sources,
        "torusweep_kernels.lattices",
        "torusweep.screening",
        "torusweep.stages.screen",
    )
    row_bytes = 100
    of_networks = False  # whole design spaces may be millions of rows
    Entry = Screen
    Request = ScreenRequest
    description = "design spaces, or networks, of which only distances, loads and bounds are computed; without it, none"

    def spaces(self, entry: Screen) -> list[str]:
        if entry.family is None or entry.nodes is None:
            return []
        sizes = range(entry.nodes.lowest, entry.nodes.highest + 1)
        return [str(Space(dimensions, nodes)) for dimensions in entry.dimensions for nodes in sizes]

    def requests(self, entry: Screen) -> Iterator[ScreenRequest]:
        yield ScreenRequest(None if entry.family is None else entry.each)

    def check(self, network: Network, request: ScreenRequest) -> None:
        space = space_of(network.spelling)
        if space is not None:
            with under("nodes"):
                space.check()

    def seconds(self, network: Network, request: ScreenRequest) -> float:
        space = space_of(network.spelling)
        if space is None:
            arcs = network.plan.nodes * max(network.plan.degree, 1)
            return 5e-3 + 2e-6 * arcs + 4e-11 * arcs * network.plan.nodes
        rows = self.row_count(network, request)
        return 1e-3 + CLASSIFIED * space.lattices + MEASURED * rows * space.nodes * space.dimensions

    def memory(self, network: Network, request: ScreenRequest) -> int:
        if space_of(network.spelling) is None:
            return network.plan.bytes
        return 2**27 + ROW_BYTES * self.row_count(network, request)

    def row_count(self, network: Network, request: ScreenRequest) -> int:
        space = space_of(network.spelling)
        if space is None:
            return 1
        return space.lattices if request.each == "lattice" else int(MORE_CLASSES * space.fewest_classes)

    def rows(self, network: Network, request: ScreenRequest, options: Options) -> Rows:
        space = space_of(network.spelling)
        if space is None:
            return [network_row(network.topology, options)]
        classes = request.each == "class"
        parts = screen_space(space, classes=classes, backend=options.backend, threads=options.threads)
        return pa.concat_tables([arrow_schema(SCREEN).empty_table(), *(part.rows for part in parts)])

    def section(self, tables: Tables) -> Section | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.screen.section import section

        return section(tables)
