"""What the page says of channel loads: where the networks saturate under uniform traffic, and under every other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import altair as alt

from torusweep.charts.chart import Chart, inline
from torusweep.stages.loads.section_tables import tables_of_loads
from torusweep.stages.static.section import Cell, Section, number, table
from torusweep.tables.records import LOADS

Record = Mapping[str, Any]

MOST_ROWS = 60  # of the table of patterns
MEANING = {column.name: column.meaning for column in LOADS}
# family and dimensions → its line's name, colour, dash and shape: straight against twisted, whole against pruned and directed
LINES: dict[tuple[str, int | None], tuple[str, str, list[int], str]] = {
    ("rt", None): ("RT, 2a × a", "#006DAD", [5, 3], "circle"),
    ("rtt", None): ("RTT, twisted", "#CB73A3", [5, 3], "diamond"),
    ("pt", None): ("PT, 2a × a × a", "#006DAD", [1, 0], "circle"),
    ("ptt", None): ("PTT, twisted in xy", "#C48600", [1, 0], "triangle-up"),
    ("pdtt", None): ("PDTT, twisted twice", "#CB73A3", [1, 0], "diamond"),
    ("torus", 3): ("3D torus, degree 6", "#379AD8", [1, 0], "cross"),
    ("pruned_torus", 3): ("pruned, degree 4", "#B84300", [1, 0], "square"),
    ("directed_torus", 3): ("directed, degree 3", "#008A62", [1, 0], "triangle-right"),
    ("pruned_directed_torus", 3): ("pruned and directed, degree 2", "#7C818A", [1, 0], "triangle-down"),
}
CAPTION = "Uniform traffic over every shortest path alike; higher is better."
TWISTED = (
    " A twist lifts a rectangular torus to one and a half times its saturation load, two twists a prismatic one to 12/7 of it (Cámara et al. 2010,"
    " sec. 5)."
)
PRUNED = (
    " Pruning a 3D torus from six links to four halves it, to 4/k: the links of the dimension that is left whole carry about half as much as the"
    " others, where Parhami & Kwai 2004 assume that all carry alike. All channels are equally wide here; with as many pins a node, the pruned torus's"
    " are half as wide again, and it saturates at 3/4 of the whole one's load."
)


def caption(rows: Iterable[Record]) -> str:
    """What to see in the chart of these rows, as `joined` gives them."""
    lines = {row["line"] for row in _drawn(rows)}
    twisted = any(LINES[family, None][0] in lines for family in ("rtt", "ptt", "pdtt"))
    return CAPTION + (TWISTED if twisted else "") + (PRUNED if LINES["pruned_torus", 3][0] in lines else "")


def _drawn(rows: Iterable[Record]) -> list[dict[str, Any]]:
    """The rows of uniform traffic and minimal routing that LINES has a line for, with its name."""
    shown = []
    for row in rows:
        parameters = dict(row["parameters"])
        line = LINES.get((row["family"], parameters.get("n")))
        plain = not (row["directed"] and row["family"] == "torus")
        if (
            line
            and plain
            and (row["routing"], row["traffic"]) == ("minimal", "uniform")
            and row["saturation_load"] is not None
        ):
            columns = ("topology", "nodes", "degree_max", "saturation_load", "link_utilization", "mean_hops")
            shown.append({**{name: row[name] for name in columns}, "line": line[0]})
    return sorted(shown, key=lambda row: (row["line"], row["nodes"], row["topology"]))


def joined(static: Iterable[Record], loads: Iterable[Record]) -> list[dict[str, Any]]:
    """Records of loads with their networks' static columns."""
    networks = {record["topology"]: record for record in static}
    return [{**networks[load["topology"]], **load} for load in loads if load["topology"] in networks]


def saturation_against_size(rows: Iterable[Record]) -> Chart:
    """Saturation load against nodes under uniform traffic and minimal routing, a line for each of LINES; rows as `joined` gives them."""
    shown = _drawn(rows)
    present = [line for line in LINES.values() if any(row["line"] == line[0] for row in shown)]
    names = [line[0] for line in present]
    colours, dashes, shapes = (
        [line[1] for line in present],
        [line[2] for line in present],
        [line[3] for line in present],
    )
    return (
        alt.Chart(inline(shown))
        .mark_line(point=alt.OverlayMarkDef(size=50, filled=True), strokeWidth=2)
        .encode(
            x=alt.X(
                "nodes:Q",
                title="nodes",
                scale=alt.Scale(type="log", nice=False, padding=12),
                axis=alt.Axis(format="~s", tickCount=6),
            ),
            y=alt.Y(
                "saturation_load:Q",
                title="saturation load, flits/cycle/terminal",
                scale=alt.Scale(type="log", nice=False, padding=12),
            ),
            color=alt.Color(
                "line:N", title=None, scale=alt.Scale(domain=names, range=colours), legend=alt.Legend(labelLimit=240)
            ),
            shape=alt.Shape("line:N", title=None, scale=alt.Scale(domain=names, range=shapes)),
            strokeDash=alt.StrokeDash("line:N", title=None, scale=alt.Scale(domain=names, range=dashes)),
            tooltip=[
                alt.Tooltip("topology:N", title="network"),
                alt.Tooltip("nodes:Q", format=","),
                alt.Tooltip("degree_max:Q", title="degree"),
                alt.Tooltip("saturation_load:Q", title="saturation load", format=".6~g"),
                alt.Tooltip("link_utilization:Q", title="link utilization", format=".4~g"),
                alt.Tooltip("mean_hops:Q", title="mean path, hops", format=".6~g"),
            ],
        )
    )


def loads_section(rows: Sequence[Record], figure: str) -> Section:
    """The figure, a table of the networks that several traffic patterns were computed for, a pattern a column; then routings, collectives, bounds.

    rows    as `joined` gives them
    figure  HTML of the chart's place; '' where it has no data
    """
    traffics = list(dict.fromkeys(row["traffic"] for row in rows))
    saturation: dict[tuple[str, str], dict[str, Record]] = {}
    for row in rows:
        saturation.setdefault((row["topology"], row["routing"]), {})[row["traffic"]] = row
    several = [(names, found) for names, found in saturation.items() if len(found) > 1]
    several.sort(key=lambda item: (next(iter(item[1].values()))["nodes"], item[0]))
    parts = [f'<div class="figures">{figure}</div>'] if figure else []
    if several:
        counted = f"the {MOST_ROWS} smallest of {len(several):,} networks" if len(several) > MOST_ROWS else "networks"
        parts.append(
            f'<h3>By traffic pattern</h3><p class="note">Where the first channel or terminal is full, in flits/cycle/terminal, for {counted} that'
            " several patterns were computed for. A dash: the pattern does not fit the network, or was not asked for.</p>"
        )
        headers = [("network", "", ""), ("routing", "", MEANING["routing"]), ("nodes", "number", "")]
        headers += [(pattern, "number", MEANING["terminal_saturation_load"]) for pattern in traffics]
        parts.append(
            table(headers, [_row(names, found, traffics) for names, found in several[:MOST_ROWS]], sortable=True)
        )
    parts.append(tables_of_loads(rows))
    return Section("loads", "Where the networks saturate", "\n".join(filter(None, parts)))


def _row(names: tuple[str, str], found: Mapping[str, Record], traffics: Iterable[str]) -> list[Cell]:
    loads = [
        number(found[pattern]["terminal_saturation_load"] if pattern in found else None, 4) for pattern in traffics
    ]
    return [Cell(names[0], "name"), Cell(names[1], "short"), number(next(iter(found.values()))["nodes"]), *loads]


def figure_of(name: str, title: str, caption: str) -> str:
    """The place in the page that a chart is drawn in, with its caption."""
    chart = f'<div class="chart" id="{escape(name)}" role="img" aria-label="{escape(title)}"></div>'
    return f'<figure class="wide"><h3>{escape(title)}</h3>{chart}<figcaption>{escape(caption)}</figcaption></figure>'
