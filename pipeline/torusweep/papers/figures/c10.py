"""Figures of Cámara et al. 2010: distances, saturation and link use of straight and twisted tori, and Fig. 14.

Distances and loads are relative to the side a. Fig. 14 has the delivery time of applications on tori of 16 × 8.
"""

from __future__ import annotations

from fractions import Fraction

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart, compared
from torusweep.charts.looks import Look, distinct, measured
from torusweep.networks.spelling import parse
from torusweep.papers.figures.figure import Figure, Record, Row, Tables
from torusweep.tables.rows import stored_rows

FAMILIES = {
    "rt": Look("RT", "#006DAD", "circle", (5, 3)),
    "rtt": Look("RTT", "#CB73A3", "diamond", (5, 3)),
    "pt": Look("PT", "#379AD8", "cross"),
    "ptt": Look("PTT", "#C48600", "triangle-up"),
    "pdtt": Look("PDTT", "#008A62", "square"),
}
# sections 3 to 5, for large a: mean distance / a, saturation load × a
MEAN = {"rt": Fraction(3, 4), "rtt": Fraction(2, 3), "pt": Fraction(1), "ptt": Fraction(11, 12), "pdtt": Fraction(7, 8)}
SATURATION = {"rt": Fraction(4), "rtt": Fraction(6), "pt": Fraction(4), "ptt": Fraction(6), "pdtt": Fraction(48, 7)}
SIDE = 16  # of the networks of Fig. 10: 32 × 16 and 32 × 16 × 16
CLASSES = (Look("x", "#006DAD", "square"), Look("y", "#C48600", "square"), Look("z", "#008A62", "square"))
ROUTER = "bluegene"
STRAIGHT, TWISTED = "rt(a=8)", "rtt(a=8)"
APPLICATIONS = ("cg", "ft", "is", "lu", "mg")
PLACEMENTS = ("consecutive", "random")


def distances(tables: Tables) -> list[Row]:
    """Return the rows of the chart of distances: mean distance / a (per_side), and the paper's limit for large a."""
    networks = filter(_is_papers, measured(distinct(tables, FAMILIES)))
    return _ordered([_row(record, record["mean_distance"] / _side(record), MEAN) for record in networks])


def saturation(tables: Tables) -> list[Row]:
    """Return the rows of the chart of saturation, uniform traffic: saturation load × a (per_side), and the limit."""
    return _ordered([_row(load, load["saturation_load"] * _side(load), SATURATION) for load in _uniform(tables)])


def utilization(tables: Tables) -> list[Row]:
    """Return the rows of Fig. 10: each link class's mean load, divided by the largest load of any link (use)."""
    rows = []
    for load in _uniform(tables):
        if _side(load) == SIDE:
            for name, own in sorted(dict(load["per_class_load"]).items()):
                line = FAMILIES[load["family"]].name
                rows.append(
                    {
                        "topology": load["topology"],
                        "line": line,
                        "class": name,
                        "use": own["mean"] / load["max_channel_load"],
                    }
                )
    order = [line.name for line in FAMILIES.values()]
    return compared(sorted(rows, key=lambda row: (order.index(row["line"]), row["class"])), "class")


def _uniform(tables: Tables) -> list[Row]:
    """Return loads of the paper's networks with minimal routing and uniform traffic, and the static columns."""
    static = stored_rows(tables, "static").among("family", FAMILIES)
    networks = {record["topology"]: record for record in static if _is_papers(record)}
    loads = [
        load
        for load in stored_rows(tables, "loads").among("topology", networks)
        if (load["routing"], load["traffic"], load["method"]) == ("minimal", "uniform", "exact")
    ]
    named = ("saturation_load", "max_channel_load", "per_class_load")
    return [{**networks[load["topology"]], **load} for load in loads if None not in map(load.get, named)]


def _is_papers(record: Record) -> bool:
    """Return whether the paper's formulas hold for a network: a is even, and at least 4 (at 2, two links coincide)."""
    return record["family"] in FAMILIES and _side(record) % 2 == 0 and _side(record) >= 4


def _side(record: Record) -> int:
    return int(dict(record["parameters"])["a"])


def _row(record: Record, per_side: float, limits: dict[str, Fraction]) -> Row:
    family, columns = record["family"], ("topology", "nodes", "mean_distance", "diameter")
    own = {name: record[name] for name in columns}
    return {
        **own,
        "line": FAMILIES[family].name,
        "a": _side(record),
        "per_side": per_side,
        "limit": float(limits[family]),
    }


def _ordered(rows: list[Row]) -> list[Row]:
    order = [line.name for line in FAMILIES.values()]
    return compared(sorted(rows, key=lambda row: (order.index(row["line"]), row["a"])), "a")


def _chart(y: str, title: str, caption: str) -> Chart:
    return Chart(
        title=title,
        caption=caption,
        x=Axis("a", "a, the shorter side"),
        y=Axis("per_side", y),
        looks=tuple(FAMILIES.values()),
        level="limit",
        tips={"topology": "network", "nodes": "nodes", "diameter": "diameter, hops"}
        | {"mean_distance": "mean distance, hops", "per_side": y, "limit": "for large a (the paper)"},
    )


def class_bars(y: str, title: str, caption: str) -> Chart:
    """Return a bar chart of the column `use`, with a group of bars per network (`line`), and a bar per `class`."""
    return Chart(
        title=title,
        caption=caption,
        x=Axis("line", order=()),
        y=Axis("use", y, domain=(0, 1.08)),
        line="class",
        looks=CLASSES,
        names="class",
        bar=True,
        tips={"topology": "network", "class": "dimension", "use": "use"},
    )


FIGURES = (
    Figure(
        "c10-distances",
        "C10",
        "Secs. 3 to 5, mean distances",
        ("static",),
        distances,
        _chart(
            "mean distance / a",
            "What a twist saves in distance",
            "Mean distance divided by the side a; horizontal lines are the paper's limits for large a. One twist"
            " reduces it from 3/4 to 2/3 in a rectangular torus (RT), and from 1 to 11/12 in a prismatic one (PT); two"
            " twists (PDTT) reduce it to 7/8.",
        ),
    ),
    Figure(
        "c10-saturation",
        "C10",
        "Sec. 5, Table 1 (bounds)",
        ("static", "loads"),
        saturation,
        _chart(
            "saturation load × a, flits/cycle",
            "What a twist gains in saturation load",
            "Saturation load times a under uniform traffic, split evenly over all shortest paths; horizontal lines are"
            " the paper's bounds for large a. One twist raises it from 4 to 6, in two and in three dimensions (RT"
            " coincides with PT, and RTT with PTT); two twists raise it to 48/7. Simulated routers reach less.",
        ),
    ),
    Figure(
        "c10-fig-10",
        "C10",
        "Fig. 10, the ideal of it",
        ("static", "loads"),
        utilization,
        class_bars(
            "mean load ÷ largest load of any link",
            "Use of the links at saturation",
            "Mean load of the links of each dimension when the busiest link is full; uniform traffic, 32 × 16 and 32 ×"
            " 16 × 16. Straight tori leave half the capacity of the short dimensions unused. A twist in xy fills x and"
            " y; two twists fill all dimensions. The paper simulates, and finds slightly less.",
        ),
    ),
)


def times(tables: Tables) -> list[Row]:
    """Return the rows of Fig. 14, for applications that the sweep has with both placements on both networks.

    time    time until all messages are delivered, divided by that of RT with consecutive placement
    cycles  cycles until all messages are delivered
    seeds   number of runs of which `cycles` is the mean

    Of an application with several sizes, one size is shown.
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


APPLICATION_FIGURES = (
    Figure(
        "c10-fig-14-simulated",
        "C10",
        "Fig. 14, simulated",
        ("simulation",),
        times,
        Chart(
            title="Time of applications' messages, 16 × 8",
            caption="Tasks placed consecutively (c) or at random (r). As in the paper, the twisted torus (RTT) takes"
            " less time than the straight one (RT) for CG, FT and IS with either placement. It takes the same time for"
            " LU placed consecutively. For MG it takes more time with consecutive and less with random placement.",
            x=Axis("run", order=()),
            y=Axis("time", "time, RT with consecutive placement = 1", zero=True),
            looks=(FAMILIES["rt"], FAMILIES["rtt"]),
            bar=True,
            tips={"topology": "network", "workload": "workload", "placement": "placement", "cycles": "cycles"}
            | {"seeds": "runs", "time": "over RT, consecutive"},
        ),
    ),
)
