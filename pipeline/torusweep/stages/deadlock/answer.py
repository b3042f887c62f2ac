"""Answers on deadlock: a verdict with its argument, and layers of virtual channels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from rich.console import Console

from torusweep.questions.answer import Answer, Record, Row
from torusweep.questions.display import Fact, value_text
from torusweep.stages.deadlock.columns import DEADLOCK
from torusweep.stages.deadlock.layers import Layers
from torusweep.stages.deadlock.text import print_verdict


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


@dataclass(frozen=True, repr=False, eq=False)
class Deadlock(Record):
    """Whether packets can deadlock, with a proof or a cycle: a row of the table `deadlock`.

    layered   the paths in layers, where they were asked for
    """

    layered: Layered | None = field(default=None, kw_only=True)
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
        return found if self.layered is None else [*found, *self.layered.lines()]

    def labelled(self, labels: tuple[Any, ...] | None) -> Deadlock:
        return replace(self, labels=labels)

    @property
    def json(self) -> Row:
        return self.record if self.layered is None else {**self.record, "layered": self.layered.record}

    @property
    def layer_table(self) -> pa.Table:
        """The layer of every pair of terminals, where layers were asked for."""
        assert self.layered is not None
        return self.layered.table

    def print(self, console: Console, computed_by: str) -> None:
        print_verdict(console, self.record, None if self.layered is None else self.layered.record)

    @property
    def deadlock_free(self) -> str:
        """yes or no if proved, otherwise unknown."""
        return str(self.record["deadlock_free"])
