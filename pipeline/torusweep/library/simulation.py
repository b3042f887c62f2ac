"""Simulations of a network, and their curve of latency against load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

import altair as alt

from torusweep.charts.chart import DARK, LIGHT, config
from torusweep.charts.curves import curves
from torusweep.charts.scatter import value_groups
from torusweep.errors import BadInput, nearest, one_line
from torusweep.networks.topology import Topology
from torusweep.questions.answer import Records
from torusweep.questions.display import value_text
from torusweep.stages.simulation import PRECISION, Parameters, simulation_records
from torusweep.stages.simulation.columns import SIMULATION

CUT = 2.5  # times the largest latency that is not of a saturated network: there the figure's axis ends
OWN = ("routing", "traffic", "workload")  # parameters that `Network.simulate` takes by name


class SimulationOptions(TypedDict, total=False):
    """Options of `Network.simulate`, as those of 'torusweep simulate': docs/simulation.md explains them."""

    router: str
    vc_rule: str
    virtual_channels: int
    buffer_flits: int
    packet_flits: int
    packet_mix: str
    switching: str
    input_speedup: int
    injection: str
    source_queue: int
    placement: str
    cycles: int
    warm_up: int
    allow_deadlock: bool


class Simulation(Records):
    """A simulation flit by flit: a row of the table `simulation` for each offered load, or one for a workload."""

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

    def figure(self, *, dark: bool = False) -> alt.LayerChart:
        """Latency against offered load, with 95 % confidence intervals: an Altair chart, which a notebook shows.

        Raises BadInput where no row has an offered load and a latency.
        """
        rows = [row for row in self.rows if row["offered_load"] is not None and row["total_latency"] is not None]
        if not rows:
            raise BadInput("expected loads to draw latency against, got none; simulate([0.1, 0.2, 0.3])")
        line = ", ".join(map(str, (rows[0]["topology"], rows[0]["routing"])))
        points = []
        for row in rows:
            mean, error = row["total_latency"], row["total_latency_error"]
            ends = {} if error is None else {"low": mean - error, "high": mean + error}
            place = {"x": row["offered_load"], "y": mean, "along": row["offered_load"]}
            points.append({**place, **ends, "group": line, "line": line, "hollow": bool(row["saturated"])})
        below = [point["y"] for point in points if not point["hollow"]]
        # there a saturated network's latency, which grows with the run, leaves the chart
        most = CUT * max(below) if below and max(point["y"] for point in points) > CUT * max(below) else None
        titles = {"x": "offered load, flits per cycle and terminal", "y": "mean latency, cycles"}
        drawn = curves(points, value_groups([line]), titles, "", most)
        theme = DARK if dark else LIGHT
        settings = {**config(theme), "background": theme.paper}
        return drawn.properties(width=520, height=320).configure(**settings)


def several(name: str, given: Any, kind: type, words: str) -> tuple[Any, ...]:
    """One number, or several, as a tuple. Raises BadInput for what is not of this kind of numbers."""
    many = (given,) if isinstance(given, kind) else tuple(given) if isinstance(given, Iterable) else (given,)
    for one in many:
        if not isinstance(one, kind):
            raise BadInput(f"{name}={one_line(repr(given), 60)}: expected {words}, or several")
    return many


def simulation_of(
    topology: Topology,
    options: dict[str, Any],
    *,
    loads: Sequence[float],
    seeds: Sequence[int],
    saturation: bool,
    precision: float | None,
    packets_each: int | None,
    backend: str,
) -> Simulation:
    """A simulation, as `Network.simulate` describes it; options: those of the router, routing, traffic and workload."""
    known = (*OWN, *SimulationOptions.__annotations__)
    for name in options:
        if name not in known:
            raise BadInput(f"simulate: unknown option '{name}'{nearest(name, known)}; it takes {', '.join(known)}")
    if precision is not None and not saturation:
        raise BadInput("precision: expected with saturation=True only; add that, or leave it out")
    if not (loads or saturation or packets_each or options["workload"]):
        raise BadInput("expected load, saturation, packets_each or workload, got none; for example simulate(0.2)")
    rows = simulation_records(
        topology,
        Parameters(**options),
        loads=tuple(map(float, loads)),
        seeds=seeds,
        precision=(precision or PRECISION) if saturation else None,
        packets_each=packets_each,
        backend=backend,
    )
    return Simulation(rows)
