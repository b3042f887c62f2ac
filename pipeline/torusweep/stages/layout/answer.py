"""The answer to the question `layout`."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.console import Console

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.questions.answer import Record
from torusweep.stages.layout.columns import LAYOUT
from torusweep.stages.layout.drawing import svg_layout
from torusweep.stages.layout.text import print_layout


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
