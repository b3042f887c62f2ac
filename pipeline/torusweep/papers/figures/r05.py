"""Rahman et al. 2005, Table 1 as bars: shortest paths, paths of the network's own routing, the printed numbers."""

from __future__ import annotations

from typing import NamedTuple

from torusweep.charts import Drawing
from torusweep.charts.drawing import Axis, Chart
from torusweep.charts.looks import Look
from torusweep.papers.figures.figure import Figure, Row, Tables

PAPER, PLACE = "R05", "Table 1"
MEASURES = tuple(
    Look(name, colour, "square")
    for name, colour in (("shortest", "#006DAD"), ("own routing", "#C48600"), ("printed", "#7C818A"))
)


class Printed(NamedTuple):
    """A line of Table 1.

    row            ending of its rows in the table of verification
    column         of ours, along shortest paths
    routed_column  along the network's own routing
    most           end of the axis; the mesh's bars are far longer, and are cut here
    """

    row: str
    column: str
    routed_column: str
    most: int


DIAMETER = Printed(": diameter", "diameter", "routed_diameter", 36)
MEAN = Printed(": average distance", "mean_distance", "routed_mean_distance", 20)


def bars(tables: Tables, printed: Printed) -> list[Row]:
    """A row for each network, in the paper's order, and measure; shown: the hops, cut at the end of the axis."""
    networks = {record["topology"]: record for record in tables.get("static", ())}
    rows = []
    for line in tables.get("verification", ()):
        if (
            (line["paper"], line["place"]) == (PAPER, PLACE)
            and line["row"].endswith(printed.row)
            and line["topology"] in networks
        ):
            record = networks[line["topology"]]
            values = (record[printed.column], record[printed.routed_column], line["paper_value"])
            for measure, hops in zip(MEASURES, values, strict=True):
                if hops is not None:
                    own = {"network": line["row"].removesuffix(printed.row), "topology": line["topology"]}
                    own |= {"nodes": record["nodes"], "measure": measure.name, "hops": hops}
                    rows.append({**own, "shown": min(hops, printed.most), "label": _label(hops, printed.most)})
    return rows


def _label(hops: float, most: float) -> str:
    return f"{hops:.4g}" + (", cut" if hops > most else "")


def _chart(rows: list[Row], printed: Printed, title: str) -> Drawing:
    ticks = tuple(range(0, printed.most + 1, 4))  # beyond them stand labels only
    return Chart(
        x=Axis("shown", title, domain=(0, printed.most * 1.3), ticks=ticks),
        y=Axis("network", order=list(dict.fromkeys(row["network"] for row in rows))),
        line="measure",
        looks=MEASURES,
        names="label",
        bar=True,
        tips={"topology": "network", "nodes": "nodes", "measure": "measure", "hops": "hops"},
    ).draw(rows)


FIGURES = (
    Figure(
        "r05-table-1-diameter",
        PAPER,
        "Table 1, diameter, as bars",
        "Longest path: graph, routing, paper",
        "The paper's diameters of hierarchies (TESH, H3DT, MH3DT) are the longest paths of its routing algorithm."
        " The longest shortest paths are one to three hops shorter, in TESH ten. The paper's 22 for CCC comes from a"
        " formula; the graph's diameter is 20. The mesh's bars are cut.",
        ("static", "verification"),
        lambda tables: bars(tables, DIAMETER),
        lambda rows: _chart(rows, DIAMETER, "longest path, hops"),
        wide=True,
    ),
    Figure(
        "r05-table-1-mean",
        PAPER,
        "Table 1, average distance, as bars",
        "Mean path: graph, routing, paper",
        "As for the diameter, the paper measures its hierarchies along its own routes. Its means of mesh and TESH"
        " are over distinct pairs, all others are divided by N. The paper's 12.75 for CCC comes from a formula; the"
        " graph's mean distance is 12.10. The mesh's bars are cut.",
        ("static", "verification"),
        lambda tables: bars(tables, MEAN),
        lambda rows: _chart(rows, MEAN, "mean path, hops"),
        wide=True,
    ),
)
