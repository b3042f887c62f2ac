"""Results that print themselves, show as tables in a notebook, and give their numbers as attributes."""

from __future__ import annotations

from torusweep.questions.answer import Record
from torusweep.stages.static.columns import STATIC


class Static(Record):
    """Size, distances, connectivity, bisection and symmetry of a network: a row of the table `static`."""

    columns = STATIC
    main = (
        *("nodes", "terminals", "links", "directed", "degree_min", "degree_max", "diameter", "mean_distance"),
        *("components", "edge_connectivity", "bisection_lower", "bisection_upper", "vertex_transitive"),
        *("edge_transitive", "fault_diameter", "notes"),
    )

    @property
    def diameter(self) -> int:
        """The largest distance, in hops."""
        return int(self.record["diameter"])

    @property
    def mean_distance(self) -> float:
        """In hops, over ordered pairs of terminals, a terminal and itself included."""
        return float(self.record["mean_distance"])
