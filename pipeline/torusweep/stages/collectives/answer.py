"""The answer to the question `collective`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from rich.console import Console

from torusweep.questions.answer import Records
from torusweep.questions.display import value_text
from torusweep.stages.collectives.columns import COLLECTIVES
from torusweep.stages.collectives.text import print_collective


@dataclass(frozen=True, repr=False)
class Collective(Records):
    """A collective operation: optimum, or bound and best known, with proof; then every algorithm, the fastest first.

    Rows of the table `collectives`; an algorithm that was simulated has the columns simulated_… too. With sizes, rows
    have bandwidth, latency and times, too: seconds, bandwidths and pieces of each size.

    left_out   algorithms that do not suit the network, and why
    """

    without: str = field(default="", kw_only=True)
    left_out: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    columns = COLLECTIVES
    main = ("algorithm", "cycles", "bound_share", "bus_bandwidth", "steps", "latency_hops")

    def heading(self) -> str:
        known = f"at least {value_text(self.bound)}" if self.optimum is None else f"optimum {value_text(self.optimum)}"
        return f"{self.rows[0]['topology']}, {self.rows[0]['operation']}, {known} cycles/flit"

    @property
    def reason(self) -> str:
        """Why no algorithm has a row; empty where some have."""
        return self.without

    @property
    def optimum(self) -> float | None:
        """Cycles per flit of the operation's size: no algorithm takes less, and one takes this; None: not known."""
        return self.rows[0]["optimum"]

    @property
    def bound(self) -> float:
        """Cycles per flit of the operation's size: no algorithm takes less."""
        return float(self.rows[0]["bound"])

    @property
    def best_known(self) -> float | None:
        """Cycles per flit of the operation's size: the least that is known; None: nothing is."""
        return self.rows[0]["best_known"]

    def print(self, console: Console, computed_by: str) -> None:
        print_collective(console, self.rows, self.left_out)

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *([f"  no algorithm: {self.without}"] if self.without else [])])

    def _repr_html_(self) -> str:
        return super()._repr_html_() + (f"<div>no algorithm: {escape(self.without)}</div>" if self.without else "")
