"""Results that print themselves, show as tables in a notebook, and give their numbers as attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from torusweep.errors import BadInput
from torusweep.library.display import Fact, facts, html_of, rows_html, rows_text, text_of, value_text
from torusweep.networks.topology import Topology
from torusweep.stages.cost.columns import COST
from torusweep.stages.deadlock.columns import DEADLOCK
from torusweep.stages.deadlock.layers import Layers
from torusweep.stages.layout.columns import LAYOUT
from torusweep.stages.layout.drawing import svg_layout
from torusweep.stages.loads import ChannelLoads, channel_table, class_name
from torusweep.stages.loads.columns import LOADS
from torusweep.stages.static.columns import STATIC
from torusweep.tables.columns import Column, arrow_schema

Row = dict[str, Any]


class Shown:
    """What prints itself as lines, and shows in a notebook as a table: `heading` and `lines` say which."""

    def heading(self) -> str:
        raise NotImplementedError

    def lines(self) -> list[Fact]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return text_of(self.heading(), self.lines())

    def _repr_html_(self) -> str:
        return html_of(self.heading(), self.lines(), self._drawing())

    def _drawing(self) -> str:
        """SVG beside the table, or nothing."""
        return ""


@dataclass(frozen=True, repr=False)
class Record(Shown):
    """A row of a table: `record` is a dict, and each of its columns an attribute."""

    record: Row
    columns: ClassVar[Sequence[Column]] = ()
    main: ClassVar[tuple[str, ...]] = ()  # columns that are shown
    key: ClassVar[tuple[str, ...]] = ("topology",)  # columns of the heading

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name != "record" and name in self.record:
            return self.record[name]
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'; columns: {', '.join(self._columns())}")

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self.record])

    def _columns(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def table(self) -> pa.Table:
        """The row as an Arrow table, with units and meanings in its schema."""
        return pa.Table.from_pylist([self.record], schema=arrow_schema(self.columns))

    def heading(self) -> str:
        return ", ".join(value_text(self.record[name]) for name in self.key)

    def lines(self) -> list[Fact]:
        return facts(self.record, self.columns, self.main)


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


class Channel(NamedTuple):
    """A channel and its load. tail, head: nodes, as the graph names them; load: at one flit per terminal and cycle."""

    tail: Any
    head: Any
    load: float
    link_class: str


@dataclass(frozen=True, repr=False, eq=False)
class Loads(Record):
    """The load of every channel under a routing and a traffic: a row of the table `loads`, and the channels."""

    found: ChannelLoads = field(kw_only=True)
    labels: tuple[Any, ...] | None = field(default=None, kw_only=True)
    columns = LOADS
    key = ("topology", "routing", "traffic")
    main = (
        *("method", "max_channel_load", "mean_channel_load", "saturation_load", "ejection_load", "link_utilization"),
        *("mean_hops", "stretch", "max_channel_load_stderr", "packets", "collective_time", "bus_bandwidth"),
        *("capacity", "capacity_minimal", "capacity_share", "worst_case_saturation_load", "bounds_method"),
    )

    @property
    def load(self) -> np.ndarray:
        """float64[N, P], of the channel of each port, at one flit per terminal and cycle; 0 without a channel."""
        return self.found.load

    @property
    def max_channel_load(self) -> float:
        """The largest load of a channel, at one flit per terminal and cycle."""
        return float(self.record["max_channel_load"])

    @property
    def saturation_load(self) -> float | None:
        """The load at which the busiest channel is full, flits per terminal and cycle; None without load."""
        value = self.record["saturation_load"]
        return None if value is None else float(value)

    @cached_property
    def channels(self) -> pa.Table:
        """Every channel once, in the order of nodes and ports: its ends by number, its class and its load."""
        return channel_table(self.found)

    def busiest(self, number: int = 5) -> list[Channel]:
        """The channels with the largest loads, the largest first; of equal ones those of the smallest nodes."""
        topology = self.found.topology
        tail, head, port = topology.arcs
        load = self.found.load[tail, port]
        names = range(topology.nodes) if self.labels is None else self.labels
        return [
            Channel(
                names[tail[one]],
                names[head[one]],
                float(load[one]),
                class_name(topology, int(topology.link_class[tail[one], port[one]])),
            )
            for one in np.argsort(-load, kind="stable")[: max(0, number)].tolist()
        ]

    def lines(self) -> list[Fact]:
        found = super().lines()
        if self.found.topology.links and self.max_channel_load:
            one = self.busiest(1)[0]
            place = next((i for i, fact in enumerate(found, 1) if fact[0] == "max_channel_load"), 0)
            found.insert(place, ("busiest channel", f"{one.tail} → {one.head}", "a channel with the largest load"))
        return found


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


class Cost(Record):
    """Prices and watts by a cost model: a row of the table `cost`."""

    columns = COST
    key = ("topology", "cost_model")
    main = (
        *("routers", "radix", "electrical_cables", "optical_cables", "cable_metres", "circuit_ports", "router_cost"),
        *("cable_cost", "circuit_cost", "total_cost", "cost_per_terminal", "watts", "energy_per_bit", "date"),
        "estimates",
    )

    def lines(self) -> list[Fact]:
        currency = self.record["currency"]
        columns = [column._replace(unit=currency) if column.unit == "currency" else column for column in self.columns]
        return facts(self.record, columns, self.main)


@dataclass(frozen=True, repr=False, eq=False)
class Capacity(Shown):
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
class Rows:
    """Rows of a table."""

    rows: list[Row]
    columns: ClassVar[Sequence[Column]] = ()
    main: ClassVar[tuple[str, ...]] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Row:
        return self.rows[place]

    @property
    def record(self) -> Row:
        """The only row. Raises BadInput where there are several."""
        if len(self.rows) != 1:
            raise BadInput(f"expected one row, got {len(self.rows)}; take one of .rows")
        return self.rows[0]

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table, with units and meanings in its schema."""
        names = [column.name for column in self.columns]
        rows = [{name: row[name] for name in names} for row in self.rows]
        return pa.Table.from_pylist(rows, schema=arrow_schema(self.columns))

    def heading(self) -> str:
        raise NotImplementedError

    def _shown(self) -> list[str]:
        """The main columns in which some row has a value."""
        return [name for name in self.main if any(row[name] is not None for row in self.rows)]

    def __repr__(self) -> str:
        return rows_text(self.heading(), self.rows, self._shown())

    def _repr_html_(self) -> str:
        return rows_html(self.heading(), self.rows, self._shown(), self.columns)


@dataclass(frozen=True, repr=False, eq=False)
class Layered(Shown):
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
