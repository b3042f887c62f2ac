"""The answer to the question `simulate`: rows, a workload's messages, and the curve of latency against load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from rich.console import Console

from torusweep.errors import BadInput
from torusweep.questions.answer import Records
from torusweep.questions.display import value_text
from torusweep.stages.simulation.columns import SIMULATION
from torusweep.stages.simulation.placement import Completion
from torusweep.stages.simulation.text import print_simulation
from torusweep.workloads import Workload

if TYPE_CHECKING:
    from torusweep.charts.chart import Drawing

CUT = 2.5  # times the largest latency that is not of a saturated network: there the figure's axis ends


@dataclass(frozen=True, repr=False, eq=False)
class Simulation(Records):
    """A simulation flit by flit: a row of the table `simulation` for each offered load, or one for a workload."""

    messages: Workload | None = field(default=None, kw_only=True)
    done: Sequence[Completion] = field(default=(), kw_only=True)  # for each seed
    remarks: Sequence[str] = field(default=(), kw_only=True)
    columns = SIMULATION
    main = (
        *("offered_load", "accepted_load", "accepted_load_error", "network_latency", "total_latency"),
        *("total_latency_error", "p50_latency", "p99_latency", "saturated", "deadlocked", "delivery_time"),
    )

    def heading(self) -> str:
        row = self.rows[0]
        sent = row["workload"] or row["traffic"]
        found = "" if self.saturation is None else f", saturates at {value_text(self.saturation)}"
        return f"{row['topology']}, {row['routing']}, {row['vc_rule']}, {sent}{found}"

    @property
    def saturation(self) -> float | None:
        """The largest load that is accepted, flits per terminal and cycle; None where it was not asked for."""
        value = self.rows[0]["simulated_saturation"]
        return None if value is None else float(value)

    @cached_property
    def completions(self) -> pa.Table:
        """When each message of a workload was sent and delivered: cycles, null if the run ended before."""
        if self.messages is None:
            raise BadInput("completions: expected a simulation of a workload, got one of loads; simulate(workload=…)")
        names = self.messages.names or map(str, range(len(self.messages.flits)))
        sent = pa.table(
            {
                "message": pa.array(names, pa.string()),
                "source": self.messages.source,
                "destination": self.messages.destination,
                "flits": self.messages.flits,
            }
        )
        tables = []
        for seed, completion in zip(self.rows[0]["seeds"], self.done):
            table = sent.add_column(0, "seed", pa.repeat(pa.scalar(seed), sent.num_rows))
            for name, cycle in completion._asdict().items():
                table = table.append_column(name, pa.array(cycle, mask=cycle < 0))
            tables.append(table)
        return pa.concat_tables(tables)

    def print(self, console: Console, computed_by: str) -> None:
        print_simulation(console, self.rows)

    def figure(self, *, dark: bool = False) -> Drawing:
        """Latency against offered load, with 95 % confidence intervals: an Altair chart, which a notebook shows.

        Raises BadInput where no row has an offered load and a latency.
        """
        # only a figure needs the drawing library, which takes long to import
        from torusweep.charts.chart import DARK, LIGHT, config
        from torusweep.charts.drawing import Axis, Chart

        rows = [row for row in self.rows if row["offered_load"] is not None and row["total_latency"] is not None]
        if not rows:
            raise BadInput("expected loads to draw latency against, got none; simulate([0.1, 0.2, 0.3])")
        line = ", ".join(map(str, (rows[0]["topology"], rows[0]["routing"])))
        points: list[dict[str, Any]] = []
        for row in rows:
            mean, error = row["total_latency"], row["total_latency_error"]
            ends = {} if error is None else {"low": mean - error, "high": mean + error}
            points.append({**row, **ends, "line": line, "saturated": bool(row["saturated"])})
        below = [point["total_latency"] for point in points if not point["saturated"]]
        # there a saturated network's latency, which grows with the run, leaves the chart
        cut = below and max(point["total_latency"] for point in points) > CUT * max(below)
        drawn = Chart(
            x=Axis("offered_load", "offered load, flits per cycle and terminal"),
            y=Axis("total_latency", "mean latency, cycles", domain=(0, CUT * max(below)) if cut else None),
            hollow="saturated",
        ).draw(points)
        theme = DARK if dark else LIGHT
        settings = {**config(theme), "background": theme.paper}
        return drawn.properties(width=520, height=320).configure(**settings)
