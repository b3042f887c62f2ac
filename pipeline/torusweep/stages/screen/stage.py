"""The stage `screen`: the few numbers that choose, for whole design spaces and for networks of the sweep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

import pyarrow as pa
from pydantic import BeforeValidator, Field, model_validator

from torusweep.errors import BadInput
from torusweep.questions.entry import Choice, under
from torusweep.questions.stage import Network, Options, Rows, Stage, attempt
from torusweep.screening.columns import SCREEN
from torusweep.screening.spaces import Circulants, Lattices, Space, screen_space, space_of
from torusweep.stages.screen.network_row import network_row, rows_together
from torusweep.tables.columns import arrow_schema

if TYPE_CHECKING:
    from torusweep.charts.section import Chapter, Tables

COMPARED = 2.5e-7  # seconds that it takes to compare an image of a lattice or step set, on a core
MEASURED = 1.8e-8  # seconds a node and dimension of a lattice
MORE_CLASSES = 1.3  # than if all were of the greatest size
SMALL = 4096  # nodes of networks whose distances are computed together
TOGETHER = 2**26  # bytes of such networks that are held at once
ROW_BYTES = 700  # of a row in memory, twice: a part, and the whole

Number = Annotated[int, Field(ge=1, le=5)]
Numbers = Annotated[
    tuple[Number, ...],
    Field(strict=False),
    BeforeValidator(
        lambda value: [value] if isinstance(value, int) else value, json_schema_input_type=Number | list[Number]
    ),
]
EXAMPLES = {  # design space → the key of its numbers, and an entry
    "lattices": ("dimensions", "{family: lattices, dimensions: [2, 3], nodes: {from: 8, to: 64}}"),
    "circulants": ("steps", "{family: circulants, steps: [2, 3], nodes: {from: 8, to: 64}}"),
}


class Screen(Choice):
    """A design space that is screened whole, or networks of the sweep."""

    family: Literal["lattices", "circulants"] | None = Field(
        None,
        description="design space: all lattices of these dimensions and nodes, or all connected circulant graphs of"
        " these steps and nodes; null: networks of the sweep",
    )
    dimensions: Numbers = Field((), description="dimensions of lattices: a number, or several")
    steps: Numbers = Field((), description="how many steps circulants have: a number, or several")
    each: Literal["class", "graph", "lattice"] = Field(
        "class",
        description="of a design space, a row for each class, or for each graph (lattice: each graph of the lattices)."
        " Lattices of a class differ only in the names and directions of dimensions, circulants in the nodes' names:"
        " their steps are multiplied by a unit of the integers modulo nodes",
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Screen:
        given = {"dimensions": self.dimensions, "steps": self.steps}
        for kind, (key, _) in EXAMPLES.items():
            if given[key] and self.family != kind:
                if self.family is None:
                    raise ValueError(f"expected {key} with a design space only; add family: {kind}")
                raise ValueError(f"expected {key} of {kind} only, got family: {self.family}; leave {key} out")
        if self.family is None:
            return self
        key, example = EXAMPLES[self.family]
        if not given[key] or self.nodes is None:
            raise ValueError(f"expected {key} and nodes of a design space, as in {example}")
        if self.families != "all" or self.topologies is not None:
            raise ValueError("expected a design space or a choice of networks, got both; write two entries")
        if self.each == "lattice" and self.family != "lattices":
            raise ValueError(f"expected each: class or each: graph of {self.family}, got each: lattice; write graph")
        return self

    def spaces(self) -> list[Space]:
        """The design spaces that it names."""
        if self.family is None or self.nodes is None:
            return []
        sizes = range(self.nodes.lowest, self.nodes.highest + 1)
        if self.family == "circulants":
            return [Circulants(steps, nodes) for steps in self.steps for nodes in sizes]
        return [Lattices(dimensions, nodes) for dimensions in self.dimensions for nodes in sizes]


@dataclass(frozen=True)
class ScreenRequest:
    """each: "class" of a design space, or "lattice" or "graph", one of lattices, one of others; None for a network."""

    each: str | None = field(
        default=None, metadata={"meaning": "what has a row: each class of a design space, each lattice, each graph"}
    )

    def __str__(self) -> str:
        return "" if self.each is None else f"with a row for each {self.each}"


class ScreenStage(Stage):
    name = "screen"
    columns = SCREEN
    row_bytes = 100
    of_networks = False  # whole design spaces may be millions of rows
    Entry = Screen
    Request = ScreenRequest
    description = "design spaces, or networks, of which only distances, loads and bounds are computed; without it, none"

    def spaces(self, entry: Screen) -> list[str]:
        return [str(space) for space in entry.spaces()]

    def requests(self, entry: Screen) -> Iterator[ScreenRequest]:
        if entry.family is None:
            yield ScreenRequest(None)
        else:  # "lattice" and "graph" ask the same of lattices: one point, under the older word
            yield ScreenRequest("lattice" if entry.family == "lattices" and entry.each == "graph" else entry.each)

    def check(self, network: Network, request: ScreenRequest) -> None:
        space = space_of(network.spelling)
        if isinstance(space, Circulants):
            space.check()  # names no key: skip_unsuitable leaves a size out that has none
        elif space is not None:
            with under("nodes"):
                space.check()

    def seconds(self, network: Network, request: ScreenRequest) -> float:
        space = space_of(network.spelling)
        if space is None:
            arcs = network.plan.nodes * max(network.plan.degree, 1)
            return 5e-3 + 2e-6 * arcs + 4e-11 * arcs * network.plan.nodes
        rows = self.row_count(network, request)
        return 1e-3 + COMPARED * space.comparisons + MEASURED * rows * space.nodes * space.dimensions

    def memory(self, network: Network, request: ScreenRequest) -> int:
        space = space_of(network.spelling)
        if space is None:
            return network.plan.bytes
        try:
            space.check()
        except BadInput:
            return 0  # nothing is computed: `check` says what is wrong, which is more than a size of memory says
        return 2**27 + ROW_BYTES * self.row_count(network, request)

    def row_count(self, network: Network, request: ScreenRequest) -> int:
        space = space_of(network.spelling)
        if space is None:
            return 1
        return int(MORE_CLASSES * space.fewest_classes) if request.each == "class" else space.lattices

    def rows(self, network: Network, request: ScreenRequest, options: Options) -> Rows:
        space = space_of(network.spelling)
        if space is None:
            return [network_row(network.topology, options)]
        classes = request.each == "class"
        parts = screen_space(space, classes=classes, backend=options.backend, threads=options.threads)
        return pa.concat_tables([arrow_schema(SCREEN).empty_table(), *(part.rows for part in parts)])

    def rows_of_many(self, points: Iterable[tuple[Network, ScreenRequest]], options: Options) -> list[Rows | Exception]:
        """The distances of small networks in one call of the kernel, those of others and of spaces one by one."""
        found: dict[int, Rows | Exception] = {}
        held: dict[int, Network] = {}
        taken = 0
        for place, (network, request) in enumerate(points):
            size = attempt(_bytes_together, network)
            if isinstance(size, int):
                held[place], taken = network, taken + size
            else:
                found[place] = attempt(self.rows, network, request, options) if size is None else size
            if taken > TOGETHER:
                found |= zip(held, rows_together(list(held.values()), options))
                held, taken = {}, 0
        found |= zip(held, rows_together(list(held.values()), options))
        return [found[place] for place in range(len(found))]

    def section(self, tables: Tables) -> Chapter | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.screen.section import section

        return section(tables)


def _bytes_together(network: Network) -> int | None:
    """Bytes of a network whose distances are computed with others'; None for a large one, and for a space.

    Raises what building it raises.
    """
    if space_of(network.spelling) is not None or network.topology.nodes > SMALL:
        return None
    return network.topology.plan.bytes
