"""Results that print themselves, show as tables in a notebook, and give their numbers as attributes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.questions.answer import Answer, Record, Row
from torusweep.questions.display import Fact, value_text
from torusweep.stages.deadlock.columns import DEADLOCK
from torusweep.stages.deadlock.layers import Layers
from torusweep.stages.layout.columns import LAYOUT
from torusweep.stages.layout.drawing import svg_layout
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
class Deadlock(Record):
    """Whether packets can deadlock, with a proof or a cycle: a row of the table `deadlock`."""

    labels: tuple[Any, ...] | None = field(default=None, kw_only=True)
    columns = DEADLOCK
    key = ("topology", "routing", "vc_rule")
    main = (
        *("deadlock_free", "argument", "virtual_channels", "channels", "dependencies", "cycle_length", "cycle"),
        *("packets", "least_virtual_channels", "least_rule", "least_reason"),
    )

    @property
    def cycle_nodes(self) -> list[Any] | None:
        """The nodes that the cycle's channels leave, in its order, as the graph names them; None without a cycle."""
        if self.record["cycle"] is None:
            return None
        numbers = [int(channel.split(" ", 1)[0]) for channel in self.record["cycle"]]
        return numbers if self.labels is None else [self.labels[number] for number in numbers]

    def lines(self) -> list[Fact]:
        found = super().lines()
        nodes = self.cycle_nodes
        if self.labels is not None and nodes:
            place = next((i for i, fact in enumerate(found, 1) if fact[0] == "cycle"), len(found))
            words = " → ".join(map(str, [*nodes, nodes[0]]))
            found.insert(place, ("cycle nodes", value_text(words), f"as the graph names them: {words}"))
        return found

    @property
    def deadlock_free(self) -> str:
        """yes or no if proved, otherwise unknown."""
        return str(self.record["deadlock_free"])


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

    def _drawing(self) -> str:
        try:
            return self.picture()
        except BadInput:
            return ""


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


@dataclass(frozen=True, repr=False, eq=False)
class Layered(Answer):
    """The layers of a layered assignment of virtual channels: `lower` at least are needed, `upper` are enough."""

    found: Layers

    @property
    def lower(self) -> int:
        """No assignment has fewer layers."""
        return self.found.lower

    @property
    def upper(self) -> int:
        """Layers of the assignment that was found: as many virtual channels are enough."""
        return self.found.upper

    @property
    def record(self) -> Row:
        """The bounds, and how many paths are in each layer."""
        return self.found.record

    @property
    def table(self) -> pa.Table:
        """The layer of every pair of terminals: source, destination, layer."""
        return self.found.table

    def heading(self) -> str:
        return f"{self.found.topology}, {self.found.routing}"

    def lines(self) -> list[Fact]:
        record = self.record
        return [
            ("layers", value_text(self.upper), "virtual channels that are enough: each layer is free of cycles"),
            ("least_layers", value_text(self.lower), "no assignment has fewer"),
            ("paths", ", ".join(map(value_text, record["paths"])), "pairs of terminals in each layer"),
            ("method", record["method"], ""),
        ]
