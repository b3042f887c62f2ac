"""The report's section on networks: distance and cost against size, families, a table, pictures."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
import pyarrow.compute as pc

from torusweep.charts import DARK, LIGHT, Axis
from torusweep.charts.drawing import Chart, spread
from torusweep.charts.looks import KINDS, TIPS, comparable, distinct, measured, size_axis
from torusweep.charts.looks import kind as kind_of
from torusweep.charts.looks import series as series_of
from torusweep.charts.section import (
    MOST_DRAWN,
    MOST_ROWS,
    Cell,
    Chapter,
    Field,
    Panel,
    fields,
    heading,
    number,
    panels,
    paragraph,
    sampled,
    table,
)
from torusweep.networks.families import FAMILIES, build
from torusweep.networks.picture import SMALL
from torusweep.networks.picture_svg import svg_picture
from torusweep.networks.topology import Topology
from torusweep.questions.static.columns import STATIC
from torusweep.questions.static.record import NOT_MEASURED
from torusweep.tables.rows import Record, StoredRows, Tables

MOST_NETWORKS = MOST_ROWS  # rows of the table of networks; if there are more, some of each family are shown
DISTANCE = Chart(
    title="Mean distance against size",
    caption="Every connected network of the sweep; lower is better. The slope of a line says how distance grows with"
    " size: a grid of n dimensions has the slope 1/n. Click a kind in the legend to highlight it; point at a mark for"
    " the network's spelling.",
    of_rows=lambda rows: {"x": size_axis(rows)},
    wide=True,
    x=Axis("nodes"),
    y=Axis("mean_distance", "mean distance, hops", log=True),
    line="kind",
    looks=tuple(KINDS.values()),
    detail="series",
    size=55,
    tips=TIPS | {"terminals": "terminals"},
    pick=True,
)


def section(tables: Tables) -> Chapter | None:
    """Return the chapter on the table `static`: charts, families, networks and pictures. Return None without rows."""
    networks = distinct(tables)
    if not networks:
        return None
    order = {family: place for place, family in enumerate(FAMILIES)}
    present = networks.groups("family")
    families = sorted(present, key=lambda family: (order.get(family, len(order)), family))
    drawn = [family for family in FAMILIES if family in present and family in SMALL]
    return Chapter(
        "networks",
        "Networks",
        [*_charts(networks), *_tables(networks, [present[family] for family in families]), _pictures(drawn)],
    )


# --- charts ---------------------------------------------------------------------------------------


def _charts(networks: StoredRows) -> list[str | list[Panel]]:
    """Return the charts. If there are many networks, a sample is drawn that keeps the Pareto fronts."""
    records = measured(comparable(networks))
    if not records:
        return []
    costs = [records.numbers(name) for name in ("mean_distance", "cost")]
    costs += [-records.numbers(name) for name in ("nodes", "terminals")]  # the more, the better
    some = records.at(sampled(costs, len(records), MOST_DRAWN))
    note = f"The charts show a sample of {len(some):,} of {len(records):,} networks, which keeps the Pareto fronts."
    marks = [{**record, "kind": kind_of(record), "series": series_of(record)} for record in some.records()]
    return [paragraph(note) if len(some) < len(records) else "", panels(CHARTS, marks, least=1)]


def largest_for_cost(rows: Iterable[Record], size: str = "nodes") -> list[dict[str, Any]]:
    """Return the Pareto front of high size (the column `size`) and low cost, ordered by size."""
    front: list[dict[str, Any]] = []
    priced = [row for row in rows if row["cost"] is not None]
    for row in sorted(priced, key=lambda row: (-row[size], row["cost"], row["topology"])):
        if not front or row["cost"] < front[-1]["cost"]:
            front.append({name: row[name] for name in ("topology", size, "cost")})
    return front[::-1]


COST = DISTANCE._replace(
    title="Diameter × degree against size",
    caption="Rahman et al. 2005 call this product cost; it is no price. The dashed line is the Pareto front: no network"
    " of the sweep is at least as large with a smaller product.",
    of_rows=lambda rows: {"x": (x := size_axis(rows)), "front": largest_for_cost(rows, x.column)},
    y=Axis("cost", "diameter × degree", log=True),
)
CHARTS = {"distance_against_size": DISTANCE, "cost_against_size": COST}


# --- tables ---------------------------------------------------------------------------------------


def _tables(networks: StoredRows, families: Sequence[StoredRows]) -> list[str]:
    """Return a table with a row for each family, and a table with a row for each network."""
    chosen = _some_of_each(networks, families)
    shown = f"all {len(networks):,}"
    if len(chosen) < len(networks):
        shown = f"{len(chosen):,} of {len(networks):,}, spread over each family's sizes (the Parquet table has all)"
    switched = size_axis(chosen).column == "terminals"
    columns = [field for field in NETWORK_FIELDS if switched or field.title != "terminals"]
    return [
        heading("Families") + table(FAMILY_FIELDS, families, sortable=False),
        heading("All networks", f"By size, {shown}. Click a heading to sort; point at it to read what it means.")
        + table(columns, sorted(chosen, key=lambda row: (row["nodes"], row["cost"] or 0, row["topology"]))),
    ]


def _symmetric(record: Record) -> Cell:
    if record["transitivity_method"] == NOT_MEASURED:
        return Cell("–", "short")
    signs = {True: "", None: "?"}
    transitive = (("all nodes", record["vertex_transitive"]), ("all links", record["edge_transitive"]))
    return Cell(", ".join(what + signs[known] for what, known in transitive if known is not False) or "–", "short")


def _family(records: StoredRows) -> str:
    return str(records[0]["family"])


def _description(family: str) -> str:
    return (FAMILIES[family].__doc__ or "").strip().splitlines()[0] if family in FAMILIES else ""


def _ends(records: StoredRows, column: str) -> tuple[Any, Any]:
    """Return the least and the greatest number of a column; (None, None) if it has no numbers."""
    ends: Any = pc.min_max(records.column(column)).as_py()
    return ends["min"], ends["max"]


def _range(title: str, column: str, show: Callable[[Any], str] = "{:,}".format) -> Field:
    def cell(records: StoredRows) -> Cell:
        low, high = _ends(records, column)
        if low is None:
            return Cell("–", "number")
        return Cell(show(low) if low == high else f"{show(low)} … {show(high)}", "number", low)

    return Field(title, cell, style="number")


NETWORK_FIELDS = fields(
    STATIC,
    *("topology", "nodes", "terminals", "links", "degree_max", "diameter", "mean_distance", "cost"),
    *(("edge_connectivity", "link connectivity"), ("bisection_upper", "best known bisection")),
    Field(
        "look alike",
        _symmetric,
        "whether all nodes look alike, and all links: symmetries of the network take each to every other, and each"
        " symmetry is verified; with ? if neither proved nor refuted",
    ),
)
FAMILY_FIELDS = (
    Field("family", lambda records: Cell(_family(records), "name")),
    Field("description", lambda records: Cell(_description(_family(records)))),
    Field("networks", lambda records: number(len(records)), style="number"),
    Field("nodes from", lambda records: number(_ends(records, "nodes")[0]), style="number"),
    Field("to", lambda records: number(_ends(records, "nodes")[1]), style="number"),
    _range("degree", "degree_max"),
    _range("diameter", "diameter"),
    _range("mean distance", "mean_distance", lambda mean: f"{mean:.4g}"),
)


def _some_of_each(networks: StoredRows, families: Sequence[StoredRows]) -> Sequence[Record]:
    """Choose at most MOST_NETWORKS networks, equally many from each family, spread over the family's sizes."""
    if len(networks) <= MOST_NETWORKS:
        return networks
    share = max(1, MOST_NETWORKS // len(families))
    chosen: list[Record] = []
    for own in families:
        ordered = own.sorted("nodes", "topology")
        chosen += ordered.at(np.array(spread(range(len(own)), share))).records()
    return chosen


# --- pictures -------------------------------------------------------------------------------------


def _pictures(families: list[str]) -> str:
    """Draw a small network of each family."""
    pictures = []
    for family in families:
        network = build(SMALL[family][0])
        pictures.append(f"<figure>{_image(network)}<figcaption>{escape(network.spelling)}</figcaption></figure>")
    note = (
        "One small network of each family. Colours distinguish dimensions and levels; dashed stubs are links that wrap"
        " around to the other side."
    )
    return f'{heading("Pictures", note)}<div class="gallery">{"".join(pictures)}</div>' if pictures else ""


def _image(network: Topology) -> str:
    """Embed a picture as one element with a data URL; as separate elements, its lines would be half of the report."""
    colours = f"svg{{color:{LIGHT.ink}}}@media(prefers-color-scheme:dark){{svg{{color:{DARK.ink}}}}}"
    picture = svg_picture(network).replace("><title>", f"><style>{colours}</style><title>", 1)
    data = base64.b64encode(picture.encode()).decode()
    return f'<img alt="{escape(network.spelling)}" src="data:image/svg+xml;base64,{data}">'
