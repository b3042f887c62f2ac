"""Results that print themselves, show as tables in a notebook, and give their numbers as attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torusweep.questions.answer import Answer, Record, Row
from torusweep.questions.display import Fact, value_text
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


@dataclass(frozen=True, repr=False, eq=False)
class Capacity(Answer):
    """What no routing can exceed under a traffic, with proof.

    throughput  flits per terminal and cycle that some routing carries; inf if nothing is sent over a channel
    bound       that no routing exceeds; equal to the throughput up to `gap`
    load        float64[N, P], of the channels under a routing that carries the throughput, as in `Loads`
    routes      all, or minimal: routes with the fewest hops only
    method      the linear program, and how closely its proofs meet
    """

    topology: str
    traffic: str
    routes: str
    throughput: float
    bound: float
    gap: float
    load: np.ndarray
    method: str

    @property
    def record(self) -> Row:
        """The numbers as Python values."""
        names = ("topology", "traffic", "routes", "throughput", "bound", "gap", "method")
        return {name: getattr(self, name) for name in names}

    def heading(self) -> str:
        return f"{self.topology}, {self.traffic}, {self.routes} routes: capacity"

    def lines(self) -> list[Fact]:
        unit = " flits/cycle/terminal"
        return [
            ("throughput", f"{self.throughput:.7g}{unit}", "carried by some routing"),
            ("bound", f"{self.bound:.7g}{unit}", "exceeded by no routing"),
            ("method", value_text(self.method), "what proves both"),
        ]
