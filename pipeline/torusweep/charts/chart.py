"""Charts of the static table, for the report and for files: each a function of records alone.

A chart here is an Altair chart without size or theme; `finished` gives it both for a file, the
report gives it the page's. Colour always goes with a second sign (shape or dash). The colours have
the hues of Okabe and Ito (2008), which colour-blind readers can tell apart, each as light as it must
be to stand out (3 : 1, WCAG 2.1) from white paper and from the dark page alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import altair as alt

from torusweep.errors import BadInput

Record = Mapping[str, Any]
Chart = alt.Chart | alt.LayerChart | alt.FacetChart

KINDS = {
    "torus": ("ring", "torus", "hypercube", "rt", "pt"),
    "mesh": ("mesh",),
    "pruned": ("pruned_torus", "partly_pruned_torus", "pruned_t1", "pruned_t2", "pruned_xy"),
    "directed": ("directed_torus", "pruned_directed_torus"),
    "twisted": ("rtt", "ptt", "pdtt", "twisted_torus", "lattice", "illiac", "sequin"),
    "hierarchical": ("ccc", "tesh", "h3dt", "mh3dt"),
    "other": (),
}
COLOURS = {
    "torus": "#006DAD",
    "mesh": "#379AD8",
    "pruned": "#B84300",
    "directed": "#008A62",
    "twisted": "#CB73A3",
    "hierarchical": "#C48600",
    "other": "#7C818A",
}
SHAPES = {
    "torus": "circle",
    "mesh": "cross",
    "pruned": "square",
    "directed": "triangle-right",
    "twisted": "diamond",
    "hierarchical": "triangle-up",
    "other": "stroke",
}
SIZE_PARAMETERS = ("k", "a", "n")  # the first that a network has is its size; a series keeps all others
SUFFIXES = (".svg", ".png")  # of the files that a chart can be saved as
TOOLTIP = [
    alt.Tooltip("topology:N", title="network"),
    alt.Tooltip("nodes:Q", format=","),
    alt.Tooltip("degree_max:Q", title="degree"),
    alt.Tooltip("diameter:Q", title="diameter, hops"),
    alt.Tooltip("mean_distance:Q", title="mean distance, hops", format=".6~g"),
    alt.Tooltip("links:Q", format=","),
    alt.Tooltip("cost:Q", title="cost (diameter × degree)", format=","),
]
SHOWN = ("topology", "family", "nodes", "degree_max", "diameter", "mean_distance", "links", "cost")


class Theme(NamedTuple):
    """Colours of what is not data."""

    ink: str
    muted: str
    grid: str
    paper: str


LIGHT = Theme(ink="#1d2329", muted="#5b6570", grid="#e4e8ec", paper="#ffffff")
DARK = Theme(ink="#e7ebef", muted="#a0abb6", grid="#282f37", paper="#171b20")


class Rows:
    """A chart's rows, which are plain values: Altair neither copies nor walks through what it finds here, and it takes them as they are."""

    _schema: ClassVar[dict[str, Any]] = {"type": "array"}  # by which, with `to_dict`, Altair knows what can say itself

    def __init__(self, rows: Sequence[Record]) -> None:
        self._rows = rows

    def to_dict(self) -> Sequence[Record]:
        return self._rows

    def __repr__(self) -> str:
        """By which, among other things, Altair tells charts apart."""
        return repr(self._rows)


def inline(rows: Sequence[Record]) -> alt.Data:
    """Rows as a chart's data."""
    return alt.Data(values=Rows(rows))


def distinct(records: Iterable[Record]) -> list[Record]:
    """Each network once: one that was also computed with faults stands several times in the table."""
    return list({record["topology"]: record for record in records}.values())


def kind(record: Record) -> str:
    """The kind of network a record belongs to: a colour of its own in every chart."""
    if record["directed"]:
        return "directed"
    return next((name for name, families in KINDS.items() if record["family"] in families), "other")


def series(record: Record) -> str:
    """What is joined by a line: a family and all its parameters but the size."""
    parameters = dict(record["parameters"])
    size = next((name for name in SIZE_PARAMETERS if name in parameters), None)
    kept = [f"{name}={value}" for name, value in sorted(parameters.items()) if name != size]
    return " ".join([record["family"], *kept, *(["directed"] if record["directed"] else [])])


def _points(records: Iterable[Record]) -> list[dict[str, Any]]:
    """A row for each connected network of two nodes and more."""
    chosen = sorted(
        (r for r in distinct(records) if r["connected"] and r["nodes"] > 1), key=lambda r: (r["nodes"], r["topology"])
    )
    return [{**{name: r[name] for name in SHOWN}, "kind": kind(r), "series": series(r)} for r in chosen]


# --- every network --------------------------------------------------------------------------------


def distance_against_size(records: Iterable[Record]) -> Chart:
    """Mean distance against nodes, all families; a click on the legend singles out a kind."""
    y = alt.Y(
        "mean_distance:Q",
        title="mean distance, hops",
        scale=alt.Scale(type="log", nice=False, padding=12),
        axis=alt.Axis(tickCount=6),
    )
    return alt.layer(*_cloud(_points(records), y))


def cost_against_size(records: Iterable[Record]) -> Chart:
    """Cost against nodes, all families; the front is joined by a line: nothing as large is cheaper."""
    rows = _points(records)
    y = alt.Y(
        "cost:Q",
        title="cost: diameter × degree",
        scale=alt.Scale(type="log", nice=False, padding=12),
        axis=alt.Axis(tickCount=6),
    )
    line = (
        alt.Chart(inline(largest_for_cost(rows)))
        .mark_line(interpolate="step-before", strokeWidth=1.5, strokeDash=[4, 3], color="#7C818A")
        .encode(x="nodes:Q", y="cost:Q")
    )
    return alt.layer(line, alt.layer(*_cloud(rows, y)))


def largest_for_cost(rows: Iterable[Record]) -> list[dict[str, Any]]:
    """The Pareto front of many nodes and little cost, by nodes: each costs less than everything with as many nodes or more."""
    front: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda r: (-r["nodes"], r["cost"], r["topology"])):
        if not front or row["cost"] < front[-1]["cost"]:
            front.append({"topology": row["topology"], "nodes": row["nodes"], "cost": row["cost"]})
    return front[::-1]


def _cloud(rows: list[dict[str, Any]], y: alt.Y) -> tuple[alt.Chart, alt.Chart]:
    """Lines that join a series, and marks; both fade for the kinds that are not picked in the legend."""
    present = [name for name in KINDS if any(row["kind"] == name for row in rows)]
    legend = alt.Legend(symbolOpacity=1)
    pick = alt.selection_point(name="kind", fields=["kind"], bind="legend")
    colour = alt.Color(
        "kind:N", title=None, legend=legend, scale=alt.Scale(domain=present, range=[COLOURS[name] for name in present])
    )
    shape = alt.Shape(
        "kind:N", title=None, legend=legend, scale=alt.Scale(domain=present, range=[SHAPES[name] for name in present])
    )
    ticks = alt.Axis(format="~s", values=marked([row["nodes"] for row in rows]))
    x = alt.X("nodes:Q", title="nodes", scale=alt.Scale(type="log", nice=False, padding=12), axis=ticks)
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    lines = base.mark_line(strokeWidth=1).encode(
        color=colour, detail="series:N", opacity=alt.when(pick).then(alt.value(0.45)).otherwise(alt.value(0.04))
    )
    marks = base.mark_point(filled=True, size=55).encode(
        color=colour,
        shape=shape,
        tooltip=TOOLTIP,
        opacity=alt.when(pick).then(alt.value(0.9)).otherwise(alt.value(0.07)),
    )
    return lines, marks.add_params(pick)


# --- theme and files --------------------------------------------------------------------------


def marked(values: Sequence[float]) -> list[float]:
    """Where a logarithmic axis is labelled: at powers of ten, and at 2 and 5 times these where there is room."""
    least, most = min(values, default=1.0), max(values, default=1.0)
    steps = (1,) if most / least > 2000 else (1, 2, 5)
    return [
        step * 10.0**power
        for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
        for step in steps
    ]


def config(theme: Theme) -> dict[str, Any]:
    """Vega-Lite configuration of a theme."""
    font = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
    axis = {
        "labelColor": theme.muted,
        "titleColor": theme.ink,
        "gridColor": theme.grid,
        "domainColor": theme.grid,
        "tickColor": theme.grid,
    }
    return {
        "background": "transparent",
        "font": font,
        "view": {"stroke": None},
        "text": {"color": theme.muted},
        "axis": {**axis, "titleFontWeight": 500, "titleFontSize": 12, "labelFontSize": 11, "titlePadding": 10},
        "axisX": {"labelSeparation": 8},
        "legend": {
            "labelColor": theme.ink,
            "titleColor": theme.ink,
            "orient": "top",
            "symbolSize": 80,
            "labelFontSize": 12,
        },
        "title": {
            "color": theme.ink,
            "subtitleColor": theme.muted,
            "anchor": "start",
            "fontSize": 16,
            "subtitleFontSize": 12,
            "offset": 14,
        },
    }


def specification(chart: Chart) -> dict[str, Any]:
    """A chart as Vega-Lite. That it keeps to Vega-Lite's schema the tests check: here it would take as long as all else."""
    return dict(chart.to_dict(validate=False))


def finished(
    chart: Chart, title: str = "", subtitle: str = "", *, width: int = 760, height: int = 420
) -> dict[str, Any]:
    """A chart's Vega-Lite specification with size, title and the light theme on white, as files need it."""
    found = specification(chart.properties(width=width, height=height))
    if title:
        found["title"] = {"text": title, "subtitle": subtitle}
    found["config"] = {**config(LIGHT), "background": LIGHT.paper}
    found["padding"] = 16
    return found


def save(specification: dict[str, Any], path: Path) -> None:
    """Write a specification as SVG or PNG, by the file's suffix. Raises BadInput for another suffix, and where the file cannot be written."""
    import vl_convert

    if path.suffix not in SUFFIXES:
        raise BadInput(f"{path}: expected a name that ends in .svg or .png, got '{path.suffix}'")
    drawing = (
        vl_convert.vegalite_to_svg(specification).encode()
        if path.suffix == ".svg"
        else vl_convert.vegalite_to_png(specification, scale=2)
    )
    try:
        path.write_bytes(drawing)
    except OSError as error:
        raise BadInput(f"{path}: expected a file that can be written, got: {error.strerror}; choose another") from None


def draw_overview(folder: Path, out: Path) -> None:
    """The README's picture from a sweep's results: mean distance against size, all families. Raises BadInput as `save` and `open_table` do."""
    from torusweep.tables.store import open_table

    records = open_table(folder / "static.parquet").to_pylist()
    subtitle = "torus-like networks, each mark one of them; exact, all pairs"
    save(finished(distance_against_size(records), "Mean distance against size", subtitle), out)
