"""The question and stage `layout`: the wires of a network under a placement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from rich.console import Console
from rich.text import Text

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.questions.answer import Record, Row
from torusweep.questions.console import print_bars, print_note
from torusweep.questions.heeds import heeds
from torusweep.questions.how import How
from torusweep.questions.layout.columns import LAYOUT
from torusweep.questions.layout.drawing import svg_layout, text_layout
from torusweep.questions.layout.placements import SIDES, Dimensions, check_suits, default_placement, spelling_of
from torusweep.questions.layout.record import layout_record
from torusweep.questions.parameters import NOT_SWEPT, Spelled, Swept, Typed
from torusweep.questions.question import File, Question
from torusweep.questions.stage import LazyNetwork

MAX_ROWS = 12  # bars of the printed histogram of lengths
PLACEMENT = Spelled(
    "placement of the nodes: folded, trellis(block=[4, 4]), …",
    table="torusweep.questions.layout.placements:PLACEMENTS",
    title="Placements",
    canonical="torusweep.questions.layout.placements:canonical",
)


@dataclass(frozen=True, repr=False, eq=False)
class Layout(Record):
    """A network's wires under a placement: a row of the table `layout`, with a drawing."""

    network: Topology = field(kw_only=True)
    columns = LAYOUT
    main = (
        *("placement", "places: {extent_said}[, cabinets of {block_said} nodes]"),
        "cables: {cables:n} between cabinets",
        "longest wire: {wire_length_max} ({wire_length_max_euclidean:.6g} in a straight line); {longest} | none",
        "mean wire: {wire_length_mean} ({wire_length_mean_euclidean:.6g})",
        "all wires: {wire_length_total} ({wire_length_total_euclidean:,.6g})",
        "density of a row: {wire_density_max} at most, first after {wire_density_position};"
        " {wire_density_middle:.6g} in the middle",
        "channel width: {channel_width}, with {pins:.6g} pins a node, if as many wires cross the middle as there are"
        " nodes",
        "least size: {layout_volume:,.6g} wire pitches {power}",
    )

    def picture(self) -> str:
        """Draw nodes and wires as SVG. Raises BadInput in three dimensions, and for more than 1024 places."""
        return svg_layout(self.network, self.record["placement"])

    @property
    def svg(self) -> str:
        """Contents of an SVG file with the drawing."""
        return f"{self.picture()}\n"

    def said(self) -> Row:
        row = self.record
        sides = {f"{name}_said": " × ".join(map(str, row[name] or ())) for name in ("extent", "block")}
        classes = (row["per_class_wire_length"] or {}).items()
        longest = ", ".join(f"{name} {lengths['max']:g}" for name, lengths in classes)
        return sides | {"longest": longest, "power": "cubed" if row["dimensions"] == 3 else "squared"}

    def print_below(self, console: Console) -> None:
        """Print a histogram of wire lengths, and, if the layout is small and flat, a drawing as text."""
        if len(self.record["wire_length_histogram"]) > 1:
            print_note(console, "\nwires of each length")
            print_bars(console, _bars(self.record["wire_length_histogram"]))
        drawing = text_layout(self.network, self.record["placement"])
        if drawing:
            place = "node" if self.record["block"] is None else "cabinet"
            print_note(console, f"\nthe {place} at each place, by its address")
            console.print(Text(drawing), soft_wrap=True)

    def _drawing(self) -> str:
        try:
            return self.picture()
        except BadInput:
            return ""


def _bars(histogram: list[dict[str, int]]) -> list[tuple[str, float, float, str]]:
    """Return a bar for each length of wires. If there are more than MAX_ROWS, the largest share the last bar."""
    rows = [(str(entry["length"]), entry["wires"]) for entry in histogram]
    if len(rows) > MAX_ROWS:
        rest = rows[MAX_ROWS - 1 :]
        rows = [*rows[: MAX_ROWS - 1], (f"{rest[0][0]}–{rest[-1][0]}", sum(wires for _, wires in rest))]
    return [(label, wires, wires, f"{wires:,}") for label, wires in rows]


def layout(
    network: Topology,
    how: How,
    placement: Annotated[str, PLACEMENT, Swept(None)] | None = None,
    *,
    dimensions: Annotated[Dimensions, NOT_SWEPT] | None = None,
    block: Annotated[
        tuple[int, ...], SIDES, Typed(reader="torusweep.questions.layout.placements:sides_of", shown="4,4,2"), NOT_SWEPT
    ]
    | None = None,
) -> Layout:
    """Compute a network's wires under a placement: lengths, density along a row, and the volume that they need.

    By default the nodes of a mesh are placed straight, and the nodes of other networks folded. Lengths are in
    pitches, the distance between neighbouring places: along the axes (Manhattan), and in a straight line.

    >>> import torusweep as ts
    >>> ts.network("rtt(a=4)").layout("trellis").wire_length_max
    3
    """
    chosen = spelling_of(placement or default_placement(network.family), dimensions, block)
    return Layout(layout_record(network, chosen), network=network)


class LayoutQuestion(Question):
    name = "layout"
    columns = LAYOUT
    ask = staticmethod(layout)
    command = "layout"
    notes_of_files = True
    heeds = heeds("direction, unit, clock")
    phrase = "placed {placement}".format
    how = ()
    written: ClassVar = {"svg": File("a drawing of the layout and its wires, as SVG", suffixes=("", ".svg"))}
    examples = (
        'layout "torus(k=8, n=2)"',
        'layout "rtt(a=4)" --placement trellis --svg rtt.svg',
        'layout "ptt(a=32)" --placement trellis --block 8,8,32',
        'layout "hypercube(n=10)" --placement straight --dimensions 2 --json',
    )
    description = "placements whose wires are measured; if absent, only the placements that the papers' numbers need"

    def check(self, network: LazyNetwork, request: Any) -> None:
        check_suits(request.placement, network.plan, network.spelling)

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        return 1e-3 + 1.3e-7 * network.plan.nodes * max(network.plan.degree, 1)


QUESTION = LayoutQuestion()
LayoutRequest = QUESTION.Request
