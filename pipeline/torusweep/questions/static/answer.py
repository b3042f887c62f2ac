"""The answer to the question `describe`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rich.console import Console

from torusweep.networks.topology import Topology
from torusweep.questions.answer import Record
from torusweep.questions.console import print_note
from torusweep.questions.static.certificate import static_certificates
from torusweep.questions.static.columns import STATIC
from torusweep.questions.static.text import print_description


@dataclass(frozen=True, repr=False, eq=False)
class Static(Record):
    """Size, distances, connectivity, bisection and symmetry of a network: a row of the table `static`."""

    network: Topology = field(kw_only=True)
    picture: bool = field(default=True, kw_only=True)  # printed by the command
    columns = STATIC
    main = (
        *("nodes", "terminals", "links", "directed", "degree_min", "degree_max", "diameter", "mean_distance"),
        *("components", "edge_connectivity", "bisection_lower", "bisection_upper", "vertex_transitive"),
        *("edge_transitive", "fault_diameter", "notes"),
    )

    @property
    def diameter(self) -> int | None:
        """The largest distance, in hops; None where distances are not measured."""
        diameter: int | None = self.record["diameter"]
        return diameter

    @property
    def mean_distance(self) -> float | None:
        """In hops, over ordered pairs of terminals, a terminal and itself included; None as diameter."""
        mean: float | None = self.record["mean_distance"]
        return mean

    @property
    def certificate(self) -> str:
        """Lines that prove the symmetry, and bounds of the bisection width (docs/certificates.md)."""
        return static_certificates(self.network)

    @property
    def no_picture(self) -> Static:
        """The same, printed without a picture."""
        return replace(self, picture=False)

    def print(self, console: Console, computed_by: str) -> None:
        print_description(console, self.record, self.network, self.picture)
        print_note(console, f"computed by {computed_by}")
