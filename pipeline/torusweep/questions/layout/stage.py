"""The question and stage `layout`: the wires of a network under a placement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from rich.console import Console
from rich.text import Text

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.quantities import counted
from torusweep.questions.answer import Record
from torusweep.questions.console import print_bars, print_facts, print_note
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
    key = ("topology", "placement")
    main = (
        *("dimensions", "extent", "places", "cables", "wire_length_max", "wire_length_mean", "wire_length_total"),
        *("wire_length_max_euclidean", "wire_density_max", "channel_width", "layout_volume"),
    )

    def picture(self) -> str:
        """Drawing of nodes and wires as SVG. Raises BadInput in three dimensions, and for more than 1024 places."""
        return svg_layout(self.network, self.record["placement"])

    @property
    def svg(self) -> str:
        """Contents of an SVG file with the drawing."""
        return f"{self.picture()}\n"

    def print(self, console: Console, computed_by: str) -> None:
        """Print facts, a histogram of wire lengths, and, if the layout is small and flat, a drawing as text."""
        print_facts(console, self.record["topology"], _facts(self.record))
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


def _facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    """(name, value) of each line that the command prints about a row of the table `layout`."""
    extent, block = (" × ".join(map(str, record[name] or ())) for name in ("extent", "block"))
    facts = [
        ("placement", record["placement"]),
        ("cabinets", f"{extent} of {block} nodes") if block else ("places", extent),
    ]
    if record["cables"] is not None:
        facts.append(("cables", f"{record['cables']:,} between cabinets"))
    if record["wire_length_max"] is None:
        return [*facts, ("wires", "none")]
    longest, longest_line = record["wire_length_max"], record["wire_length_max_euclidean"]
    mean, mean_line = record["wire_length_mean"], record["wire_length_mean_euclidean"]
    total, total_line = record["wire_length_total"], record["wire_length_total_euclidean"]
    classes = ", ".join(f"{name} {lengths['max']:g}" for name, lengths in record["per_class_wire_length"].items())
    facts += [
        ("longest wire", f"{longest}  ({longest_line:.6g} in a straight line); {classes}"),
        ("mean wire", f"{mean:.6g}  ({mean_line:.6g})"),
        ("all wires", f"{total:,}  ({total_line:,.6g}), in pitches"),
    ]
    if record["wire_density_position"] is not None:
        place = f"first after {counted(record['wire_density_position'], 'place')}"
        most = counted(record["wire_density_max"], "channel", "g")
        middle = f"{record['wire_density_middle']:g} in the middle"
        facts.append(("density of a row", f"{most} at most, {place}; {middle}"))
    if record["channel_width"] is not None:
        width = f"{counted(record['channel_width'], 'bit', '.6g')}, {counted(record['pins'], 'pin', '.6g')} a node"
        facts.append(("channel width", f"{width}, if as many wires cross the middle as there are nodes"))
    if record["layout_volume"] is not None:
        name, unit = ("volume", "cubed") if record["dimensions"] == 3 else ("area", "squared")
        facts.append((f"least {name}", f"{record['layout_volume']:,.6g} wire pitches {unit}"))
    return facts


def _bars(histogram: list[dict[str, int]]) -> list[tuple[str, float, float, str]]:
    """A bar for each length of wires. If there are more than MAX_ROWS, the greatest lengths share the last bar."""
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

    By default the nodes of a mesh are placed straight, and those of other networks folded. Lengths are in
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
    description = "placements whose wires are measured; without this section, only those for the papers' numbers"

    def check(self, network: LazyNetwork, request: Any) -> None:
        check_suits(request.placement, network.plan, network.spelling)

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        return 1e-3 + 1.3e-7 * network.plan.nodes * max(network.plan.degree, 1)


QUESTION = LayoutQuestion()
LayoutRequest = QUESTION.Request
