"""The page's section on layout: wire lengths under each placement, and the effect of folding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart
from torusweep.charts.section import Cell, Chapter, fields, heading, listing, panels, paragraph
from torusweep.networks.families import build
from torusweep.questions.layout.columns import LAYOUT
from torusweep.questions.layout.drawing import svg_layout
from torusweep.tables.rows import Record, Tables, stored_rows

MOST_NETWORKS = 8  # networks in the chart, at most one from each family
DRAWN = (  # network, placement, caption
    (
        "torus(k=8, n=2)",
        "straight",
        "Every row and column is a ring; one wire as long as all its others together closes it.",
    ),
    ("torus(k=8, n=2)", "folded", "Rings folded (0, 7, 1, 6, …): no wire is longer than 2."),
    ("rtt(a=4)", "trellis", "A twisted torus, trellis-folded: no wire is longer than √5, however large the network."),
)
CAPTION = (
    "For each family, the largest network that has several placements. The area of a mark at a length is the share of"
    " wires of that length. The tick is the mean length."
)
FOLDING = (
    " Folding shortens the longest wires, to 2 if the torus has no more dimensions than space. The many wires of length"
    " 1 get the length 2, so that the total length of a torus stays the same, and that of a mesh nearly doubles."
)
PLANE = (
    " If space has fewer dimensions than the network, wires of the network's last dimensions are long, because they"
    " pass over whole rows of other dimensions."
)
FIELDS = fields(
    LAYOUT,
    *("topology", "placement"),
    ("extent", "places", lambda row: Cell(" × ".join(map(str, row["extent"])), "number", row["places"])),
    *(("wire_length_max", "longest", 5), ("wire_length_max_euclidean", "Euclidean", 5)),
    *(("wire_length_mean", "mean", 5), ("wire_length_total", "total", 5)),
    *(("wire_density_max", "most across a gap", 5), ("layout_volume", "least volume", 5)),
)


def section(tables: Tables) -> Chapter | None:
    """Return a chapter: a sentence on folding, a chart of wire lengths, drawings, and a table; None without wires."""
    wired = [row for row in tables.get("layout", ()) if row["wire_length_max"] is not None]
    if not wired:
        return None
    networks = stored_rows(tables, "static").among("topology", (row["topology"] for row in wired))
    shown = _chosen({record["topology"]: record for record in networks}, wired)
    ordered = sorted(wired, key=lambda row: (row["places"], row["topology"], row["wire_length_max"]))
    return Chapter(
        "layout",
        "Layout",
        [
            paragraph(_folding(wired)),
            panels({"wire_lengths": WIRE_LENGTHS}, [length for row in shown for length in _shares(row)], least=1),
            _drawings({row["placement"].partition("(")[0] for row in wired}),
            listing("Every placement", "By size, all {}.", FIELDS, ordered),
        ],
    )


def _folding(rows: Sequence[Record]) -> str:
    """Return a text on placements, and on how folding changes the longest wire and the total length of networks."""
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
    """Return (row of straight, row of folded) for every network and placement options that have both rows."""
    found = {(row["topology"], *row["placement"].partition("(")[::2]): row for row in rows}
    straight = [(row, (name, "folded", options)) for (name, kind, options), row in found.items() if kind == "straight"]
    return [(row, found[folded]) for row, folded in straight if folded in found]


def _chosen(networks: Mapping[str, Record], rows: Iterable[Record]) -> list[Record]:
    """Return the chart's rows: for each family, the different placements of its largest network that has several.

    Networks with the most placements come first; there are at most MOST_NETWORKS.
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
    """Return (length, number of wires) of a placement. Of placements with equal numbers, the chart shows only one."""
    return tuple((wires["length"], wires["wires"]) for wires in row["wire_length_histogram"])


def _shares(row: Record) -> list[dict[str, Any]]:
    """Return the chart's marks for a placement: a row for each length, with the share of wires of that length."""
    wires = sum(length["wires"] for length in row["wire_length_histogram"])
    own = {"layout": f"{row['topology']} · {row['placement']}", "mean": row["wire_length_mean"]}
    own |= {name: row[name] for name in ("topology", "placement")}
    lengths = [length for length in row["wire_length_histogram"] if length["length"] > 0]
    return [{**own, **length, "share": length["wires"] / wires} for length in lengths]


def _caption(rows: Sequence[Record]) -> str:
    planar = any("dimensions=" in row["placement"] for row in rows)
    return CAPTION + FOLDING * bool(_pairs(rows)) + PLANE * planar


WIRE_LENGTHS = Chart(  # a row for each network and placement; the area of a mark is the share of wires of a length
    title="Wire lengths by placement",
    of_rows=lambda rows: {"caption": _caption(rows)},
    wide=True,
    x=Axis("length", "length of a wire, pitches", log=True),
    y=Axis("layout", order=()),
    line="placement",
    along=None,
    opacity=0.9,
    area="share",
    level="mean",
    tips={"layout": "network, placement", "length": "length, pitches", "wires": "wires"}
    | {"share": ("share of the wires", ".1%"), "mean": "mean length"},
)


def _drawings(placements: set[str]) -> str:
    """Return drawings of small networks with their wires, as HTML: networks in DRAWN whose placement the sweep has."""
    pictures = "".join(
        f"<figure>{svg_layout(build(name), placement)}"
        f"<figcaption>{escape(f'{name}, {placement}')}<br>{escape(caption)}</figcaption></figure>"
        for name, placement, caption in DRAWN
        if placement in placements
    )
    note = "Dots are nodes. Lines are wires, coloured by dimension; wires longer than 1 are bent to tell them apart."
    return f'{heading("Drawings", note)}<div class="gallery layouts">{pictures}</div>' if pictures else ""
