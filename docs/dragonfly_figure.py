"""Draws docs/dragonfly-uniform.svg and docs/dragonfly-worst-case.svg, and prints the table of docs/dragonfly.md: python
docs/dragonfly_figure.py (about ten minutes on two cores); or one of both: …figure.py group_shift."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

from torusweep.charts import Axis, finished, save
from torusweep.charts.drawing import Chart
from torusweep.charts.looks import SIX
from torusweep.networks.families import build
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records

NETWORK = "dragonfly(a=8, p=4, h=4)"
ROUTER = {"packet_flits": 4, "virtual_channels": 12, "buffer_flits": 16, "input_speedup": 12}
ROUTINGS = {  # spelling → (rule, name)
    "by_group": ("class_hops", "minimal"),
    "valiant_by_group": ("class_hops", "Valiant"),
    "ugal": ("class_hops", "UGAL-L"),
    "ugal(view=global)": ("class_hops", "UGAL-G"),
    "progressive": ("hops", "PAR"),
}
LATENCY = 200  # cycles, the top of the figures


class Case(NamedTuple):
    """A traffic, the cycles of a run, its offered loads in percent, and the file of its figure."""

    traffic: str
    cycles: int
    loads: tuple[int, ...]
    file: str


CASES = (
    Case("uniform", 4000, (10, 20, 40, 50, 60, 70, 80, 90, 100), "dragonfly-uniform.svg"),
    Case("group_shift", 3000, (3, 10, 20, 30, 40, 45, 50), "dragonfly-worst-case.svg"),
)


def main() -> None:
    topology = build(NETWORK)
    for case in [case for case in CASES if case.traffic in sys.argv[1:] or not sys.argv[1:]]:
        rows: list[dict[str, Any]] = []
        print("| " + " | ".join([case.traffic, *(f"{load / 100:g}" for load in case.loads)]) + " |")
        print("|---" * (1 + len(case.loads)) + "|")
        for routing, (rule, name) in ROUTINGS.items():
            parameters = Parameters(routing=routing, vc_rule=rule, traffic=case.traffic, cycles=case.cycles, **ROUTER)
            found = simulation_records(topology, parameters, loads=[load / 100 for load in case.loads])
            cells = [f"{row['accepted_load']:.3f}, {row['total_latency']:,.0f}" for row in found]
            print("| " + " | ".join([name, *cells]) + " |", flush=True)
            rows += [
                {"line": name, "load": row["offered_load"], "latency": row["total_latency"]} for row in _shown(found)
            ]
        save(finished(_chart(rows), width=560, height=300), Path(__file__).with_name(case.file))


def _shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows up to the first one beyond the figure, if that is there."""
    beyond = [i for i, row in enumerate(rows) if row["total_latency"] > LATENCY]
    return rows[: beyond[0] + 1] if beyond else rows


def _chart(rows: list[dict[str, Any]]) -> Any:
    return Chart(
        x=Axis("load", "offered load, flits per cycle per terminal", zero=True),
        y=Axis("latency", "mean total latency, cycles", domain=(0, LATENCY)),
        looks=[look._replace(name=name) for (_, name), look in zip(ROUTINGS.values(), SIX)],
    ).draw(rows)


if __name__ == "__main__":
    main()
