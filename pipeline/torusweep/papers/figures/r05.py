"""Rahman et al. 2005, Table 1 as bars: what the graph allows, what the network's own routing takes, what the paper prints."""

from __future__ import annotations

from typing import NamedTuple

import altair as alt

from torusweep.charts.chart import Chart, inline
from torusweep.papers.figures.figure import Figure, Row, Tables

PAPER, PLACE = "R05", "Table 1"
MEASURES = {"shortest": "#006DAD", "own routing": "#C48600", "printed": "#7C818A"}


class Printed(NamedTuple):
    """A line of Table 1: what its rows in the table of verification end in, our columns for it, and where its axis ends."""

    row: str
    column: str
    routed_column: str
    most: int  # the mesh's bars are far longer than all others: they are cut here


DIAMETER = Printed(": diameter", "diameter", "routed_diameter", 36)
MEAN = Printed(": average distance", "mean_distance", "routed_mean_distance", 20)


def bars(tables: Tables, printed: Printed) -> list[Row]:
    """network, measure (of MEASURES), hops; shown: hops, cut at the axis's end; label: hops in words. Networks in the paper's order."""
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
                    own = {
                        "network": line["row"].removesuffix(printed.row),
                        "topology": line["topology"],
                        "nodes": record["nodes"],
                    }
                    rows.append(
                        {
                            **own,
                            "measure": measure,
                            "hops": hops,
                            "shown": min(hops, printed.most),
                            "label": _label(hops, printed.most),
                        }
                    )
    return rows


def _label(hops: float, most: float) -> str:
    return f"{hops:.4g}" + (", cut" if hops > most else "")


def _chart(rows: list[Row], printed: Printed, title: str) -> Chart:
    ticks = alt.Axis(values=list(range(0, printed.most + 1, 4)))  # beyond them stand labels only
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("network:N", title=None, sort=None, axis=alt.Axis(labelLimit=110)),
        yOffset=alt.YOffset("measure:N", sort=list(MEASURES)),
        x=alt.X("shown:Q", title=title, scale=alt.Scale(domain=[0, printed.most * 1.3], nice=False), axis=ticks),
    )
    colours = alt.Scale(domain=list(MEASURES), range=list(MEASURES.values()))
    columns = [alt.Tooltip("topology:N", title="network"), alt.Tooltip("nodes:Q", format=","), alt.Tooltip("measure:N")]
    marks = base.mark_bar().encode(
        color=alt.Color("measure:N", title=None, sort=list(MEASURES), scale=colours),
        tooltip=[*columns, alt.Tooltip("hops:Q", format=".8~g")],
    )
    return alt.layer(marks, base.mark_text(align="left", dx=4, fontSize=9).encode(text="label:N"))


FIGURES = (
    Figure(
        "r05-table-1-diameter",
        PAPER,
        "Table 1, diameter, as bars",
        "Longest path: graph, routing, paper",
        "The paper's diameters of hierarchies (TESH, H3DT, MH3DT) are the longest paths of its routing algorithm; shortest paths are one to three"
        " hops shorter, in TESH ten. CCC's 22 is a formula's; the graph's diameter is 20. The mesh's bars are cut.",
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
        "Here too, the paper's hierarchies are measured along its own routes. Its mesh and TESH are over distinct pairs, all else is divided by N;"
        " CCC's 12.75 is a formula's, the graph's mean distance is 12.10. The mesh's bars are cut.",
        ("static", "verification"),
        lambda tables: bars(tables, MEAN),
        lambda rows: _chart(rows, MEAN, "mean path, hops"),
        wide=True,
    ),
)
