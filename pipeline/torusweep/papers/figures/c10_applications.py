"""Cámara et al. 2010, Fig. 14: delivery time of parallel applications' messages on two tori of 16 × 8."""

from __future__ import annotations

from torusweep.charts import Drawing
from torusweep.charts.drawing import Axis, Chart, compared
from torusweep.networks.spelling import parse
from torusweep.papers.figures.c10 import FAMILIES
from torusweep.papers.figures.figure import Figure, Row, Tables

ROUTER = "bluegene"
STRAIGHT, TWISTED = "rt(a=8)", "rtt(a=8)"
APPLICATIONS = ("cg", "ft", "is", "lu", "mg")
PLACEMENTS = ("consecutive", "random")


def times(tables: Tables) -> list[Row]:
    """A row for each application, placement and network, if the sweep has both placements on both networks.

    time    until all is delivered, over the time of RT with consecutive placement
    cycles  until all is delivered
    seeds   runs that it is the mean of

    Of an application in several sizes, the last size.
    """
    found = {
        (row["workload"], row["placement"], row["topology"]): row
        for row in tables.get("simulation", ())
        if row["router"] == ROUTER
        and row["topology"] in (STRAIGHT, TWISTED)
        and row["workload"]
        and row["delivery_time"]
    }
    rows = []
    for workload in sorted(
        {
            _application(workload): workload for workload, _, _ in found if _application(workload) in APPLICATIONS
        }.values()
    ):
        own = {
            (place, network): found.get((workload, place, network))
            for place in PLACEMENTS
            for network in (STRAIGHT, TWISTED)
        }
        if None in own.values():
            continue
        one = own["consecutive", STRAIGHT]
        rows += [
            {
                "line": FAMILIES[parse(network).name].name,
                "topology": network,
                "workload": workload,
                "run": f"{_application(workload).upper()}_{place[0]}",  # the paper's names: CG_c, CG_r
                "placement": place,
                "time": row["delivery_time"] / one["delivery_time"],
                "cycles": row["delivery_time"],
                "seeds": len(row["seeds"]),
            }
            for (place, network), row in own.items()
            if row is not None and one is not None
        ]
    return compared(rows, "run")


def _application(workload: str) -> str:
    return workload.partition("(")[0]


def _chart(rows: list[Row]) -> Drawing:
    return Chart(
        x=Axis("run", order=list(dict.fromkeys(row["run"] for row in rows))),
        y=Axis("time", "time, RT with consecutive placement = 1", zero=True),
        looks=(FAMILIES["rt"], FAMILIES["rtt"]),
        bar=True,
        tips={"topology": "network", "workload": "workload", "placement": "placement", "cycles": "cycles"}
        | {"seeds": "runs", "time": "over RT, consecutive"},
    ).draw(rows)


FIGURES = (
    Figure(
        "c10-fig-14-simulated",
        "C10",
        "Fig. 14, simulated",
        "Time of applications' messages, 16 × 8",
        "Tasks placed consecutively (c) or at random (r). As in the paper, the twisted torus (RTT) takes less time"
        " than the straight one (RT) for CG, FT and IS with either placement. It takes the same time for LU placed"
        " consecutively. For MG it takes more time with consecutive and less with random placement.",
        ("simulation",),
        times,
        _chart,
    ),
)
