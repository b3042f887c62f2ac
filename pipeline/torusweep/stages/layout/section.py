"""What the page says of layout: how long the wires are under each placement, and what folding buys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import altair as alt

from torusweep.charts import chart as figures
from torusweep.charts.chart import Chart
from torusweep.charts.scatter import words
from torusweep.networks.families import build
from torusweep.stages.layout.drawing import svg_layout
from torusweep.stages.loads.section import figure_of
from torusweep.stages.static.section import Cell, Section, number, table
from torusweep.tables.records import LAYOUT

Record = Mapping[str, Any]

MOST_ROWS = 300  # of the table
MOST_NETWORKS = 8  # of the chart, one a family
ROW_HEIGHT = 36  # pixels a placement takes in the chart: its label, and below it its marks
MEANING = {column.name: column.meaning + (f" ({column.unit})" if column.unit else "") for column in LAYOUT}
DRAWN = (  # network, placement, what to see
    (
        "torus(k=8, n=2)",
        "straight",
        "Every row and column is a ring, closed by a wire as long as all the others together.",
    ),
    ("torus(k=8, n=2)", "folded", "Rings folded (0, 7, 1, 6, …): no wire is longer than 2."),
    ("rtt(a=4)", "trellis", "A twisted torus, trellis-folded: no wire is longer than √5, however large the network."),
)
CAPTION = (
    "The largest network of a family that several placements were computed for; marks are the lengths of its wires, their area the share of wires"
    " that long, the tick their mean."
)
FOLDING = (
    " Folding pulls the far marks in, to 2 in tori that space has dimensions enough for, and pays with the many wires of length 1, which become 2: a"
    " torus's total does not change, a mesh's nearly doubles."
)
PLANE = " In fewer dimensions of space than the network has, the rings of the last ones step over whole rows of the others: their wires are long."


def layout_section(static: Iterable[Record], rows: Sequence[Record], drawn: dict[str, Any]) -> Section:
    """What folding buys in words, where the wires' lengths lie, drawings, and the table.

    static, rows  records of the tables static and layout
    drawn         the chart's specification joins it, by the id of its element
    """
    wired = [row for row in rows if row["wire_length_max"] is not None]
    if not wired:
        return Section("layout", "How long the wires are", "")
    networks = {record["topology"]: record for record in static}
    parts = [f'<p class="note">{_folding(wired)}</p>']
    shown = _chosen(networks, wired)
    if shown:
        drawn["wire_lengths"] = figures.specification(wire_lengths(shown))
        parts.append(
            f'<div class="figures">{figure_of("wire_lengths", "Wires of each length, by placement", _caption(shown))}</div>'
        )
    parts += [_drawings({row["placement"].partition("(")[0] for row in wired}), _table(wired)]
    return Section("layout", "How long the wires are", "\n".join(filter(None, parts)))


def _caption(rows: Sequence[Record]) -> str:
    """What the chart shows, of what is in it."""
    return (
        CAPTION
        + (FOLDING if _pairs(rows) else "")
        + (PLANE if any("dimensions=" in row["placement"] for row in rows) else "")
    )


def _folding(rows: Sequence[Record]) -> str:
    """What folding does to the longest wire and to all of them, counted over the networks that stand both straight and folded."""
    unit = "Lengths are in pitches (from place to place), along the dimensions of space (Manhattan); a bidirectional link is one wire."
    pairs = _pairs(rows)
    if not pairs:
        return unit
    longest = [(before["wire_length_max"], after["wire_length_max"], after["topology"]) for before, after in pairs]
    shorter = [(before, after, name) for before, after, name in longest if after < before]
    longer = sum(after > before for before, after, _ in longest)
    more = sum(after["wire_length_total"] > before["wire_length_total"] for before, after in pairs)
    most = max(shorter, key=lambda item: (item[0] / item[1], item[2]), default=None)
    example = f", at best from {most[0]} to {most[1]} ({escape(most[2])})" if most else ""
    return (
        f"{unit} Of {len(pairs):,} networks that stand both straight and folded, folding shortens the longest wire of {len(shorter):,}{example}, and"
        f" lengthens that of {longer:,}; the wires together grow in {f'{more:,}' if more else 'none'}."
    )


def _pairs(rows: Iterable[Record]) -> list[tuple[Record, Record]]:
    """(straight, folded) of every network and manner (dimensions of space, cabinets) that has both."""
    found = {(row["topology"], *row["placement"].partition("(")[::2]): row for row in rows}
    straight = [(row, (name, "folded", manner)) for (name, kind, manner), row in found.items() if kind == "straight"]
    return [(row, found[folded]) for row, folded in straight if folded in found]


def _chosen(networks: Mapping[str, Record], rows: Iterable[Record]) -> list[Record]:
    """The rows of MOST_NETWORKS at most: of every family the largest network with several placements, families with most placements first."""
    placed: dict[str, list[Record]] = {}
    for row in rows:
        if row["topology"] in networks and row["block"] is None:
            placed.setdefault(row["topology"], []).append(row)
    best: dict[str, str] = {}
    for name in sorted(
        (name for name, own in placed.items() if len(own) > 1),
        key=lambda name: (networks[name]["nodes"], len(placed[name]), name),
    ):
        best[networks[name]["family"]] = name
    order = sorted(best.values(), key=lambda name: -len(placed[name]))[:MOST_NETWORKS]
    chosen: list[Record] = []
    for name in order:
        apart: dict[tuple[tuple[int, int], ...], Record] = {}
        for row in placed[name]:
            apart.setdefault(_lengths(row), row)
        chosen += apart.values()
    return chosen


def _lengths(row: Record) -> tuple[tuple[int, int], ...]:
    """The lengths of a row's wires: placements that do not differ in them are one row of the chart."""
    return tuple((sort["length"], sort["wires"]) for sort in row["wire_length_histogram"])


def wire_lengths(rows: Sequence[Record]) -> Chart:
    """Lengths of wires, a row for each network and placement, the area of a mark being the share of wires that long; rows of the table layout."""
    placements = words(row["placement"] for row in rows)
    shares = []
    for row in rows:
        wires = sum(sort["wires"] for sort in row["wire_length_histogram"])
        own = {
            "layout": f"{row['topology']} · {row['placement']}",
            "placement": row["placement"],
            "mean": row["wire_length_mean"],
        }
        shares += [
            {**own, **sort, "share": sort["wires"] / wires}
            for sort in row["wire_length_histogram"]
            if sort["length"] > 0
        ]
    names = list(dict.fromkeys(share["layout"] for share in shares))
    ticks = figures.marked([share["length"] for share in shares])
    base = alt.Chart(figures.inline(shares)).encode(
        y=alt.Y("layout:N", title=None, sort=names, axis=alt.Axis(labels=False, grid=True)),
        color=alt.Color(
            "placement:N",
            title=None,
            legend=alt.Legend(labelLimit=240),
            scale=alt.Scale(domain=[group.name for group in placements], range=[group.colour for group in placements]),
        ),
    )
    scale = alt.Scale(type="log", nice=False, padding=14)
    marks = base.mark_circle(opacity=0.9).encode(
        x=alt.X("length:Q", title="length of a wire, pitches", scale=scale, axis=alt.Axis(values=ticks, format="~g")),
        size=alt.Size("share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[12, 260])),
        tooltip=[
            alt.Tooltip("layout:N", title="network, placement"),
            alt.Tooltip("length:Q", title="length, pitches"),
            alt.Tooltip("wires:Q", format=","),
            alt.Tooltip("share:Q", title="share of the wires", format=".1%"),
            alt.Tooltip("mean:Q", title="mean length", format=".4~g"),
        ],
    )
    means = base.mark_tick(thickness=2, size=16).encode(x=alt.X("mean:Q"), color=alt.value(figures.COLOURS["other"]))
    labels = alt.Chart(figures.inline([{"layout": name} for name in names])).mark_text(
        align="left", baseline="bottom", dy=-9, fontSize=11
    )
    named = labels.encode(
        x=alt.value(4), y=alt.Y("layout:N", sort=names), text="layout:N"
    )  # above the marks: beside them, a phone has no room
    return alt.layer(marks, means, named).properties(height=60 + ROW_HEIGHT * len(names))


def _drawings(placements: set[str]) -> str:
    """A small network under each placement that the sweep has, with its wires."""
    pictures = "".join(
        f"<figure>{svg_layout(build(name), placement)}<figcaption>{escape(f'{name}, {placement}')}<br>{escape(caption)}</figcaption></figure>"
        for name, placement, caption in DRAWN
        if placement in placements
    )
    lead = "Dots are nodes, lines wires, coloured by dimension; those longer than 1 are bent, so that they can be told apart."
    return (
        f'<h3>Drawn small</h3><p class="note">{lead}</p><div class="gallery layouts">{pictures}</div>'
        if pictures
        else ""
    )


def _table(rows: Sequence[Record]) -> str:
    headers = [
        ("network", "", MEANING["topology"]),
        ("placement", "", MEANING["placement"]),
        ("places", "number", MEANING["extent"]),
        *[(title, "number", MEANING[column]) for column, title in COLUMNS],
    ]
    ordered = sorted(rows, key=lambda row: (row["places"], row["topology"], row["wire_length_max"]))
    cells = [
        [
            Cell(row["topology"], "name"),
            Cell(row["placement"], "short"),
            Cell(" × ".join(map(str, row["extent"])), "number", row["places"]),
            *[number(row[column], 5) for column, _ in COLUMNS],
        ]
        for row in ordered[:MOST_ROWS]
    ]
    some = f"The first {MOST_ROWS} of {len(rows):,}, by size (the Parquet table has all)."
    shown = some if len(rows) > MOST_ROWS else f"All {len(rows):,}, by size."
    return f'<h3>Every placement</h3><p class="note">{shown}</p>{table(headers, cells, sortable=True)}'


COLUMNS = (
    ("wire_length_max", "longest"),
    ("wire_length_max_euclidean", "Euclidean"),
    ("wire_length_mean", "mean"),
    ("wire_length_total", "total"),
    ("wire_density_max", "most across a gap"),
    ("layout_volume", "least volume"),
)
