"""The page's section on layout: wire lengths under each placement, and what folding changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import altair as alt

from torusweep.charts.chart import Chart, inline, log_ticks
from torusweep.charts.networks import COLOURS
from torusweep.charts.scatter import value_groups
from torusweep.charts.section import (
    Cell,
    Field,
    Panel,
    Part,
    Record,
    Section,
    Tables,
    heading,
    meanings,
    number_field,
    paragraph,
    table,
    word_field,
)
from torusweep.networks.families import build
from torusweep.stages.layout.columns import LAYOUT
from torusweep.stages.layout.drawing import svg_layout

MOST_NETWORKS = 8  # of the chart, one of a family
ROW_HEIGHT = 36  # pixels of the chart for a placement: its label, and its marks below it
MEANING = meanings(LAYOUT)
DRAWN = (  # network, placement, what to see
    (
        "torus(k=8, n=2)",
        "straight",
        "Every row and column is a ring; one wire as long as all its others together closes it.",
    ),
    ("torus(k=8, n=2)", "folded", "Rings folded (0, 7, 1, 6, …): no wire is longer than 2."),
    ("rtt(a=4)", "trellis", "A twisted torus, trellis-folded: no wire is longer than √5, however large the network."),
)
CAPTION = (
    "For each family, the largest network that has several placements. A mark stands at a length; its area is the"
    " share of wires of that length. The tick is the mean length."
)
FOLDING = (
    " Folding shortens the longest wires, to 2 if the torus has no more dimensions than space. In return the many wires"
    " of length 1 become 2: the total length of a torus does not change, that of a mesh nearly doubles."
)
PLANE = (
    " If space has fewer dimensions than the network, the rings of its last dimensions step over whole rows of the"
    " others: their wires are long."
)


def section(tables: Tables) -> Section | None:
    """What folding changes, a chart of wire lengths, drawings, and the table `layout`; None without wires."""
    wired = [row for row in tables.get("layout", ()) if row["wire_length_max"] is not None]
    if not wired:
        return None
    shown = _chosen({record["topology"]: record for record in tables.get("static", ())}, wired)
    caption = CAPTION + (FOLDING if _pairs(shown) else "")
    caption += PLANE if any("dimensions=" in row["placement"] for row in shown) else ""
    ordered = sorted(wired, key=lambda row: (row["places"], row["topology"], row["wire_length_max"]))
    parts: list[Part] = [
        paragraph(_folding(wired)),
        [Panel("wire_lengths", "Wire lengths by placement", wire_lengths(shown), caption)] if shown else [],
        _drawings({row["placement"].partition("(")[0] for row in wired}),
        heading("Every placement", f"By size, all {len(wired):,}.") + table(FIELDS, ordered),
    ]
    return Section("layout", "Layout", parts)


FIELDS = (
    word_field("topology", "network", MEANING, "name"),
    word_field("placement", "placement", MEANING),
    Field(
        "places",
        lambda row: Cell(" × ".join(map(str, row["extent"])), "number", row["places"]),
        MEANING["extent"],
        "number",
    ),
    number_field("wire_length_max", "longest", MEANING, 5),
    number_field("wire_length_max_euclidean", "Euclidean", MEANING, 5),
    number_field("wire_length_mean", "mean", MEANING, 5),
    number_field("wire_length_total", "total", MEANING, 5),
    number_field("wire_density_max", "most across a gap", MEANING, 5),
    number_field("layout_volume", "least volume", MEANING, 5),
)


def _folding(rows: Sequence[Record]) -> str:
    """What folding does to the longest wire and the total length of the networks placed both straight and folded."""
    unit = (
        "A placement gives every node a place on a grid: straight, by its address; folded, so that the ends of a ring"
        " are neighbours; trellis and shuffled, for twisted tori. Lengths run along the axes, in pitches (from place to"
        " place); a bidirectional link is one wire."
    )
    pairs = _pairs(rows)
    if not pairs:
        return unit
    longest = [(before["wire_length_max"], after["wire_length_max"], after["topology"]) for before, after in pairs]
    shorter = [(before, after, name) for before, after, name in longest if after < before]
    longer = sum(after > before for before, after, _ in longest)
    more = sum(after["wire_length_total"] > before["wire_length_total"] for before, after in pairs)
    most = max(shorter, key=lambda item: (item[0] / item[1], item[2]), default=None)
    example = f" (at best from {most[0]} to {most[1]}, {escape(most[2])})" if most else ""
    return (
        f"{unit} {len(pairs):,} networks are placed both straight and folded. Folding shortens the longest wire of"
        f" {len(shorter):,}{example} and lengthens that of {longer:,}; the total length grows in"
        f" {f'{more:,}' if more else 'none'}."
    )


def _pairs(rows: Iterable[Record]) -> list[tuple[Record, Record]]:
    """(straight, folded) of every network and options (dimensions of space, cabinets) that have both."""
    found = {(row["topology"], *row["placement"].partition("(")[::2]): row for row in rows}
    straight = [(row, (name, "folded", options)) for (name, kind, options), row in found.items() if kind == "straight"]
    return [(row, found[folded]) for row, folded in straight if folded in found]


def _chosen(networks: Mapping[str, Record], rows: Iterable[Record]) -> list[Record]:
    """The rows of the chart: of every family the largest network with several placements, at most MOST_NETWORKS.

    Families with most placements come first.
    """
    placed: dict[str, list[Record]] = {}
    for row in rows:
        if row["topology"] in networks and row["block"] is None:
            placed.setdefault(row["topology"], []).append(row)
    several = [name for name, own in placed.items() if len(own) > 1]
    several.sort(key=lambda name: (networks[name]["nodes"], len(placed[name]), name))
    largest = {networks[name]["family"]: name for name in several}
    order = sorted(largest.values(), key=lambda name: -len(placed[name]))[:MOST_NETWORKS]
    chosen: list[Record] = []
    for name in order:
        different: dict[tuple[tuple[int, int], ...], Record] = {}
        for row in placed[name]:
            different.setdefault(_lengths(row), row)
        chosen += different.values()
    return chosen


def _lengths(row: Record) -> tuple[tuple[int, int], ...]:
    """The lengths of a placement's wires: of placements equal in them the chart shows one."""
    return tuple((wires["length"], wires["wires"]) for wires in row["wire_length_histogram"])


def wire_lengths(rows: Sequence[Record]) -> Chart:
    """Lengths of wires, a row for each network and placement; the area of a mark is the share of wires that long."""
    placements = value_groups(row["placement"] for row in rows)
    shares = []
    for row in rows:
        wires = sum(length["wires"] for length in row["wire_length_histogram"])
        own = {"layout": f"{row['topology']} · {row['placement']}", "placement": row["placement"]}
        own["mean"] = row["wire_length_mean"]
        lengths = [length for length in row["wire_length_histogram"] if length["length"] > 0]
        shares += [{**own, **length, "share": length["wires"] / wires} for length in lengths]
    names = list(dict.fromkeys(share["layout"] for share in shares))
    colours = alt.Scale(domain=[group.name for group in placements], range=[group.colour for group in placements])
    base = alt.Chart(inline(shares)).encode(
        y=alt.Y("layout:N", title=None, sort=names, axis=alt.Axis(labels=False, grid=True)),
        color=alt.Color("placement:N", title=None, legend=alt.Legend(labelLimit=240), scale=colours),
    )
    scale = alt.Scale(type="log", nice=False, padding=14)
    ticks = alt.Axis(values=log_ticks([share["length"] for share in shares]), format="~g")
    marks = base.mark_circle(opacity=0.9).encode(
        x=alt.X("length:Q", title="length of a wire, pitches", scale=scale, axis=ticks),
        size=alt.Size("share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[12, 260])),
        tooltip=[
            alt.Tooltip("layout:N", title="network, placement"),
            alt.Tooltip("length:Q", title="length, pitches"),
            alt.Tooltip("wires:Q", format=","),
            alt.Tooltip("share:Q", title="share of the wires", format=".1%"),
            alt.Tooltip("mean:Q", title="mean length", format=".4~g"),
        ],
    )
    means = base.mark_tick(thickness=2, size=16).encode(x=alt.X("mean:Q"), color=alt.value(COLOURS["other"]))
    labels = (  # above the marks: a phone has no room beside them
        alt.Chart(inline([{"layout": name} for name in names]))
        .mark_text(align="left", baseline="bottom", dy=-9, fontSize=11)
        .encode(x=alt.value(4), y=alt.Y("layout:N", sort=names), text="layout:N")
    )
    return alt.layer(marks, means, labels).properties(height=60 + ROW_HEIGHT * len(names))


def _drawings(placements: set[str]) -> str:
    """A small network under each placement that the sweep has, with its wires."""
    pictures = "".join(
        f"<figure>{svg_layout(build(name), placement)}"
        f"<figcaption>{escape(f'{name}, {placement}')}<br>{escape(caption)}</figcaption></figure>"
        for name, placement, caption in DRAWN
        if placement in placements
    )
    note = "Dots are nodes. Lines are wires, coloured by dimension; wires longer than 1 are bent to tell them apart."
    return f'{heading("Drawings", note)}<div class="gallery layouts">{pictures}</div>' if pictures else ""
