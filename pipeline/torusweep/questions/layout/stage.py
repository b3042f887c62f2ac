"""The stage `layout`: the wires of a network under a placement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from rich.console import Console

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.questions.answer import Record
from torusweep.questions.how import How
from torusweep.questions.layout.columns import LAYOUT
from torusweep.questions.layout.drawing import svg_layout
from torusweep.questions.layout.placements import SIDES, Dimensions, check_suits, default_placement, spelling_of
from torusweep.questions.layout.record import layout_record
from torusweep.questions.layout.text import print_layout
from torusweep.questions.parameters import NotSwept, Read, Spelled, Swept
from torusweep.questions.question import File, Question
from torusweep.questions.stage import LazyNetwork


@dataclass(frozen=True, repr=False, eq=False)
class Layout(Record):
    """Wires under a placement: a row of the table `layout`, and a drawing."""

    network: Topology = field(kw_only=True)
    columns = LAYOUT
    key = ("topology", "placement")
    main = (
        *("dimensions", "extent", "places", "cables", "wire_length_max", "wire_length_mean", "wire_length_total"),
        *("wire_length_max_euclidean", "wire_density_max", "channel_width", "layout_volume"),
    )

    def picture(self) -> str:
        """The placed nodes and their wires, as SVG. Raises BadInput for one in space, and for more than 1024 places."""
        return svg_layout(self.network, self.record["placement"])

    @property
    def svg(self) -> str:
        """The picture as the text of a file."""
        return f"{self.picture()}\n"

    def print(self, console: Console, computed_by: str) -> None:
        print_layout(console, self.record, self.network)

    def _drawing(self) -> str:
        try:
            return self.picture()
        except BadInput:
            return ""


PLACEMENT = Spelled(
    "where nodes are placed: folded, trellis(block=[4, 4]), …",
    table="torusweep.questions.layout.placements:PLACEMENTS",
    title="Placements",
    canonical="torusweep.questions.layout.placements:canonical",
)


def layout(
    network: Topology,
    how: How,
    placement: Annotated[str, PLACEMENT, Swept()] | None = None,
    *,
    dimensions: Annotated[Dimensions, NotSwept()] | None = None,
    block: Annotated[
        tuple[int, ...], SIDES, Read("torusweep.questions.layout.placements:sides_of", "4,4,2"), NotSwept()
    ]
    | None = None,
) -> Layout:
    """Wires under a placement: their lengths, their density along a row, the volume that they need.

    Without a placement, the nodes of a mesh are placed straight, those of other networks folded. Lengths are in
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
    phrase = "placed {placement}"
    how = ()
    written: ClassVar = {"svg": File("a drawing of the layout and its wires, as SVG,")}
    examples = (
        'layout "torus(k=8, n=2)"',
        'layout "rtt(a=4)" --placement trellis --svg rtt.svg',
        'layout "ptt(a=32)" --placement trellis --block 8,8,32',
        'layout "hypercube(n=10)" --placement straight --dimensions 2 --json',
    )
    description = "placements whose wires are measured; without it, only those of the papers' printed numbers"
    distinguishing = ("placement",)

    def check(self, network: LazyNetwork, request: Any) -> None:
        check_suits(request.placement, network.plan, network.spelling)

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        return 1e-3 + 1.3e-7 * network.plan.nodes * max(network.plan.degree, 1)


QUESTION = LayoutQuestion()
LayoutRequest = QUESTION.Request
