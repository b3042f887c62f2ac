"""The stage `screen`: the few numbers by which networks are chosen, for whole design spaces and a sweep's networks."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import model_validator
from rich.console import Console
from rich.text import Text

from torusweep.errors import BadInput, Refused
from torusweep.networks.seed_runs import Planned
from torusweep.networks.topology import Meaning, Topology, no_symmetries
from torusweep.quantities import counted
from torusweep.questions.answer import Records
from torusweep.questions.blocks import row_of, shape, table_of_block
from torusweep.questions.console import print_note
from torusweep.questions.heeds import heeds
from torusweep.questions.how import How
from torusweep.questions.parameters import NOT_SWEPT
from torusweep.questions.question import Question
from torusweep.questions.screen.certificate import certificate_of_size
from torusweep.questions.screen.columns import SCREEN
from torusweep.questions.screen.lattices import DIMENSIONS, NODES, STEPS
from torusweep.questions.screen.runs import columns_of
from torusweep.questions.screen.spaces import Circulants, Lattices, Space, in_parts, screen_space, space_of
from torusweep.questions.stage import LazyNetwork, NetworkChoice, Rows, rows_of_list, under
from torusweep.questions.static.record import Measured, NetworkNumbers
from torusweep.tables.columns import arrow_schema

COMPARED = 9e-8  # seconds to compare an image of a lattice or step set, on a core
MEASURED = 1.8e-8  # seconds per node and dimension of a lattice
MORE_CLASSES = 1.3  # assumed ratio of the number of classes to its lower bound
ROW_BYTES = 700  # bytes of a row, which is in memory twice: in a part, and in the whole
MOST_SPACES = 1_000_000  # design spaces of an entry
MOST_ROWS = 500_000  # rows of an answer, of about 4 kB each; a sweep may have more
EXAMPLES = {  # design space → the key of its numbers, and an entry
    "lattices": ("dimensions", "{family: lattices, dimensions: [2, 3], nodes: {from: 8, to: 64}}"),
    "circulants": ("steps", "{family: circulants, steps: [2, 3], nodes: {from: 8, to: 64}}"),
}


class Screened(Records):
    """Rows of the table `screen`: first for networks, then for the graphs of design spaces."""

    columns = SCREEN
    main = (
        *("topology", "class_size", "nodes", "degree", "diameter", "mean_distance", "saturation_load"),
        *("diameter_bound", "mean_distance_bound"),
    )

    def heading(self) -> str:
        return counted(len(self), "graph")

    def print(self, console: Console, computed_by: str) -> None:
        console.print(Text(repr(self)), soft_wrap=True)
        print_note(console, f"computed by {computed_by}")


def spaces_of(
    family: str | None, dimensions: Sequence[int], steps: Sequence[int], nodes: Sequence[int] | None, each: str
) -> list[Space]:
    """Return the requested design spaces; [] without a family. Raises ValueError for parameters that do not fit."""
    given = {"dimensions": dimensions, "steps": steps}
    for kind, (key, _) in EXAMPLES.items():
        if given[key] and family != kind:
            if family is None:
                raise ValueError(f"expected `{key}` with a design space only; add `family` {kind}")
            raise ValueError(f"expected `{key}` of {kind} only, got `family` {family}; leave `{key}` out")
    if family is None:
        return []
    key, example = EXAMPLES[family]
    if not given[key] or not nodes:
        raise ValueError(f"expected `{key}` and `nodes` of a design space, as in {example}")
    if each == "lattice" and family != "lattices":
        raise ValueError(f"expected `each` class or graph of {family}, got `each` lattice; write graph")
    if (number := len(given[key]) * len(nodes)) > MOST_SPACES:
        raise ValueError(f"expected at most {MOST_SPACES:,} design spaces, got {number:,}; choose fewer `nodes`")
    space = Circulants if family == "circulants" else Lattices
    return [space(number, size) for number in given[key] for size in nodes]


class Screen(NetworkChoice):
    """An entry of a configuration: a design space that is screened whole, or networks of the sweep."""

    @model_validator(mode="after")
    def _one_kind(self) -> Screen:
        if self._spaces() and (self.families != "all" or self.topologies is not None):
            raise ValueError("expected a design space or a choice of networks, got both; write two entries")
        return self

    def _spaces(self) -> list[Space]:
        given: Any = self  # its fields are the question's parameters
        sizes = None if self.nodes is None else range(self.nodes.lowest, self.nodes.highest + 1)
        try:
            return spaces_of(given.family, given.dimensions, given.steps, sizes, given.each)
        except ValueError as wrong:
            raise ValueError(re.sub("`(family|each)` ", "\\1: ", str(wrong)).replace("`", "")) from None

    def spaces(self) -> list[str]:
        """Return the spellings of the design spaces that the entry names, or of their parts."""
        whole, given = self._spaces(), vars(self)
        if given["each"] != "class":
            return [str(space) for space in whole]
        return [str(part) for space in whole for part in (in_parts(space) if isinstance(space, Lattices) else [space])]


def screen(
    networks: Sequence[LazyNetwork],
    how: How,
    *,
    family: Annotated[
        Literal["lattices", "circulants"],
        Meaning(
            "design space: all lattices of these dimensions and nodes, or all connected circulant graphs of these"
            " steps and nodes; if absent, networks"
        ),
    ]
    | None = None,
    dimensions: Annotated[tuple[int, ...], replace(DIMENSIONS, meaning="dimensions of lattices")] = (),
    steps: Annotated[tuple[int, ...], replace(STEPS, meaning="number of steps of circulants")] = (),
    nodes: Annotated[tuple[int, ...], replace(NODES, meaning="nodes of a design space's graphs"), NOT_SWEPT] = (),
    each: Annotated[
        Literal["class", "graph", "lattice"],
        Meaning(
            "a design space has a row for each class, or for each graph (lattice: each graph of lattices). Lattices of"
            " a class differ only in the names and directions of dimensions; circulants of a class, only in the names"
            " of nodes: their steps are multiplied by a unit of the integers modulo nodes"
        ),
    ] = "class",
) -> Screened:
    """Compute the few numbers by which networks are chosen: distances, loads, and their bounds.

    The traffic is uniform, on all shortest paths. `best` finds the best graph of a size. A list of many networks takes
    less time than one call for each: small networks are computed together.

    >>> import torusweep as ts
    >>> min(row["mean_distance"] for row in ts.screen(family="lattices", dimensions=2, nodes=32).rows)
    2.625
    >>> ts.network("hypercube(n=4)").screen().record["diameter_bound"]
    2
    """
    try:
        spaces = spaces_of(family, dimensions, steps, nodes, each)
    except ValueError as wrong:
        raise BadInput(str(wrong)) from None
    if nodes and family is None:
        with under("nodes"):
            raise BadInput("expected with a design space only; add `family` lattices, or leave it out")
    if not networks and not spaces:
        raise BadInput("expected a topology or a design space, got none; 'torusweep topologies' lists the families")
    for space in spaces:
        space.check()
    classes = each == "class"
    if (count := sum(_row_count(space, classes) for space in spaces)) > MOST_ROWS:
        raise Refused(f"expected at most {MOST_ROWS:,} rows, got about {count:,}; ask for fewer sizes, or in a sweep")
    with how.progress.wait("distances and loads: large design spaces and networks take minutes"):
        rows = rows_of_list(QUESTION, networks, ScreenRequest(), how)
        rows += [row for space in spaces for row in _rows_of(space, classes, how).to_pylist()]
    return Screened(rows)


@dataclass(frozen=True)
class ScreenRequest:
    """What has a row: each "class" or "lattice" of a design space ("graph" of circulants); None for a network."""

    each: str | None = field(
        default=None,
        metadata={"meaning": "what has a row: each class of a design space, each lattice or each graph"},
    )

    def __str__(self) -> str:
        return "" if self.each is None else f"with a row for each {self.each}"


class ScreenQuestion(Question):
    name = "screen"
    columns = SCREEN
    ask = staticmethod(screen)
    command = "screen"
    heeds = heeds("bandwidth, direction, terminals, forwarding")
    about = "networks"
    entry = Screen
    Request = ScreenRequest
    row_bytes = 110
    examples = (
        'screen "torus(k=8, n=2)" "hypercube(n=6)"',
        "screen --family lattices --dimensions 2 --nodes 64",
        "screen --family circulants --steps 2 --nodes 64 --nodes 65 --each graph --json",
    )
    description = "design spaces, or networks, for which only distances, loads and bounds are computed; none if absent"

    def certificates(self, network: Topology | None, row: Mapping[str, Any]) -> str:
        return certificate_of_size(row["dimensions"], row["nodes"])

    def requests(self, entry: Any) -> Iterator[ScreenRequest]:
        if entry.family is None:
            yield ScreenRequest(None)
        else:  # for lattices, "lattice" and "graph" mean the same: one point, under the older word
            yield ScreenRequest("lattice" if entry.family == "lattices" and entry.each == "graph" else entry.each)

    def check(self, network: LazyNetwork, request: ScreenRequest) -> None:
        space = space_of(network.spelling)
        if isinstance(space, Circulants):
            space.check()  # its error names no key, so skip_unsuitable leaves out a size without circulants
        elif space is not None:
            with under("nodes"):
                space.check()

    def seconds(self, network: LazyNetwork, request: ScreenRequest) -> float:
        space = space_of(network.spelling)
        if space is None:
            arcs = network.plan.nodes * max(network.plan.degree, 1)
            together = self.together(network, request) is not None
            fixed = 2e-4 + 5e-7 * arcs if together else 5e-3 + 2e-6 * arcs
            every_node = together or network.plan.symmetries is no_symmetries  # loads are computed from every node
            return fixed + (2.5e-9 if every_node else 4e-11) * arcs * network.plan.nodes
        rows = self.row_count(network, request)
        return 1e-3 + COMPARED * space.comparisons + MEASURED * rows * space.nodes * space.dimensions

    def memory(self, network: LazyNetwork, request: ScreenRequest) -> int:
        space = space_of(network.spelling)
        if space is None:
            return network.plan.bytes
        try:
            space.check()
        except BadInput:
            return 0  # nothing is computed: `check` tells what is wrong
        return 2**27 + ROW_BYTES * self.row_count(network, request)

    def row_count(self, network: LazyNetwork, request: ScreenRequest) -> int:
        space = space_of(network.spelling)
        if space is None:
            return 1
        return _row_count(space, request.each == "class")

    def rows(self, network: LazyNetwork, request: ScreenRequest, options: How) -> Rows:
        space = space_of(network.spelling)
        if space is None:
            return [row_of(SCREEN, columns_of(NetworkNumbers(Measured(network.topology, (), options), options)))]
        return _rows_of(space, request.each == "class", options)

    def together(self, network: LazyNetwork, request: ScreenRequest) -> Hashable:
        if space_of(network.spelling) is not None or network.plan.bandwidths:
            return None
        return shape(network.plan)

    def rows_of_block(self, networks: Sequence[Planned], request: ScreenRequest, options: How) -> pa.Table:
        return table_of_block(networks, SCREEN, columns_of, options, loads=True)


def _row_count(space: Space, classes: bool) -> int:
    return int(MORE_CLASSES * space.fewest_classes) if classes else space.lattices


def _rows_of(space: Space, classes: bool, options: How) -> pa.Table:
    """Return a row for each class of a space, or for each graph."""
    parts = screen_space(space, classes=classes, backend=options.backend, threads=options.threads)
    return pa.concat_tables([arrow_schema(SCREEN).empty_table(), *(part.rows for part in parts)])


QUESTION = ScreenQuestion()
