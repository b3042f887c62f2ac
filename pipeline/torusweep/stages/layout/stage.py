"""The stage `layout`: the wires of a network under a placement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from torusweep.questions.entry import Choice, Spellings, under
from torusweep.questions.stage import Network, Options, Stage
from torusweep.stages.layout import canonical, check_suits, layout_record
from torusweep.stages.layout.columns import LAYOUT

if TYPE_CHECKING:
    from torusweep.charts.section import Section, Tables


class Layout(Choice):
    """Where the sweep's networks stand, and their wires: every placement of every network chosen."""

    placement: Spellings = Field(
        description=(
            "a placement as 'torusweep layout --help' lists them, or several, as in folded or trellis(block=[4, 4])"
        )
    )


@dataclass(frozen=True)
class LayoutRequest:
    """placement: canonical spelling."""

    placement: str

    def __str__(self) -> str:
        return f"placed {self.placement}"


class LayoutStage(Stage):
    name = "layout"
    columns = LAYOUT
    Entry = Layout
    Request = LayoutRequest
    description = "placements whose wires are measured; without it, only those of the papers' printed numbers"
    distinguishing = ("placement",)

    def requests(self, entry: Layout) -> Iterator[LayoutRequest]:
        with under("placement"):
            placements = list(map(canonical, entry.placement))
        yield from map(LayoutRequest, placements)

    def check(self, network: Network, request: LayoutRequest) -> None:
        check_suits(request.placement, network.plan, network.spelling)

    def seconds(self, network: Network, request: LayoutRequest) -> float:
        return 1e-3 + 4e-7 * network.plan.nodes * max(network.plan.degree, 1)

    def rows(self, network: Network, request: LayoutRequest, options: Options) -> list[dict[str, Any]]:
        return [layout_record(network.topology, request.placement)]

    def section(self, tables: Tables) -> Section | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.layout.section import section

        return section(tables)
