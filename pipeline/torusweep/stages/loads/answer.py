"""The answer to the question `loads`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from rich.console import Console

from torusweep.questions.answer import Record
from torusweep.questions.display import Fact
from torusweep.stages.loads.channels import ChannelLoads, channel_table
from torusweep.stages.loads.columns import LOADS
from torusweep.stages.loads.text import print_loads


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
    relative_error: float | None = field(default=None, kw_only=True)
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
                topology.class_name(int(topology.link_class[tail[one], port[one]])),
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

    def labelled(self, labels: tuple[Any, ...] | None) -> Loads:
        return replace(self, labels=labels)

    @property
    def remarks(self) -> list[str]:  # type: ignore[override]  # a property in place of the attribute
        most, wanted = self.record["max_channel_load"], self.relative_error
        reached = (self.record["max_channel_load_stderr"] or 0.0) / max(most, 1e-300)
        if wanted is None or reached <= wanted:
            return []
        packets = self.record["packets"]
        return [f"the relative error is still {reached:.2g} after {packets:,} packets; more packets reach {wanted:g}"]

    def print(self, console: Console, computed_by: str) -> None:
        print_loads(console, self.record, computed_by)
