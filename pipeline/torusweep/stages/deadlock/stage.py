"""The stage `deadlock`: the channel dependency graph of a routing under a virtual-channel rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from torusweep.questions.entry import Choice, Spellings, under
from torusweep.questions.stage import Network, Options, Stage
from torusweep.routing import SHORTEST_PATHS, files_of
from torusweep.stages.deadlock import deadlock_case, deadlock_record, routing_spelling, rule_spelling
from torusweep.stages.deadlock.columns import DEADLOCK

if TYPE_CHECKING:
    from torusweep.charts.section import Section, Tables

TWO_PASSES = ("valiant",)  # routings by way of another node
WINDOW_HOP = 3e-5  # seconds for each hop of a line or ring, whose windows of routes are looked at one by one


class Deadlock(Choice):
    """Whether the sweep's networks can lock up.

    Every routing is tried with every rule and number of virtual channels on every network chosen.
    """

    routing: Spellings = Field(description="a routing as 'torusweep deadlock --help' lists them, or several")
    vc_rule: Spellings = Field(
        description=(
            "rule for the virtual channels that a packet may take, as 'torusweep deadlock --help' lists them,"
            " or several"
        )
    )
    virtual_channels: Annotated[
        tuple[Annotated[int, Field(ge=1, le=16)], ...],
        Field(min_length=1, strict=False),
        BeforeValidator(
            lambda value: [value] if isinstance(value, int) else value,
            json_schema_input_type=Annotated[int, Field(ge=1, le=16)]
            | Annotated[list[Annotated[int, Field(ge=1, le=16)]], Field(min_length=1)],
        ),
    ] = Field((2,), description="virtual channels of every channel: a number, or several")


@dataclass(frozen=True)
class DeadlockRequest:
    """routing, vc_rule: canonical spellings; virtual_channels: of every channel."""

    routing: str
    vc_rule: str
    virtual_channels: int

    def __str__(self) -> str:
        return f"under {self.routing}, {self.vc_rule} with {self.virtual_channels} virtual channels"


class DeadlockStage(Stage):
    name = "deadlock"
    columns = DEADLOCK
    Entry = Deadlock
    Request = DeadlockRequest
    description = "channel dependency graphs to analyse; without it, only those of the papers' statements"
    distinguishing = ("routing", "vc_rule", "virtual_channels")

    def requests(self, entry: Deadlock) -> Iterator[DeadlockRequest]:
        with under("routing"):
            routings = list(map(routing_spelling, entry.routing))
        with under("vc_rule"):
            rules = list(map(rule_spelling, entry.vc_rule))
        for values in product(routings, rules, entry.virtual_channels):
            yield DeadlockRequest(*values)

    def check(self, network: Network, request: DeadlockRequest) -> None:
        deadlock_case(
            network.topology,
            routing=request.routing,
            vc_rule=request.vc_rule,
            virtual_channels=request.virtual_channels,
        )

    def files(self, request: DeadlockRequest) -> list[Path]:
        return files_of(request.routing)

    def seconds(self, network: Network, request: DeadlockRequest) -> float:
        planned = network.plan
        if request.routing.startswith("hierarchical"):  # the routes of all pairs are followed, whatever the symmetry
            return 2e-7 * planned.nodes**2
        arcs = planned.nodes * max(planned.degree, 1)
        family = request.routing.partition("(")[0]
        if family in SHORTEST_PATHS:
            return 5e-3 + 2e-9 * arcs * planned.nodes * max(planned.degree, 1)
        if family in TWO_PASSES:
            return 4e-2 + 5e-5 * arcs
        # with one virtual channel a torus has a cycle: it is spelt out, and other rules are tried
        graphs = 3 if request.virtual_channels == 1 else 1
        return 5e-3 + 5e-6 * arcs + WINDOW_HOP * graphs * max(planned.radices, default=0)

    def rows(self, network: Network, request: DeadlockRequest, options: Options) -> list[dict[str, Any]]:
        record = deadlock_record(
            network.topology,
            routing=request.routing,
            vc_rule=request.vc_rule,
            virtual_channels=request.virtual_channels,
        )
        return [record]

    def section(self, tables: Tables) -> Section | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.deadlock.section import section

        return section(tables)
