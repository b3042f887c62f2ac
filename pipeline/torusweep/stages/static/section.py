"""The sections of the page: tables, verdicts, pictures and provenance as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from torusweep.networks.families import FAMILIES, build
from torusweep.networks.picture import SMALL
from torusweep.networks.picture_svg import svg_picture
from torusweep.papers.verification import PAPERS, not_compared
from torusweep.tables.records import STATIC

Record = Mapping[str, Any]

MOST_NETWORKS = 1000  # rows of the table of networks; beyond, some of each family
PAPER_NAMES = {
    "P98": "Kwai & Parhami 1998",
    "P04": "Parhami & Kwai 2004",
    "D90": "Dally 1990",
    "C10": "Cámara et al. 2010",
    "R05": "Rahman et al. 2005",
}
VERDICT_STYLE = {
    "agrees": "good",
    "paper in error": "warn",
    "departs": "warn",
    "not run": "wait",
    "waits": "wait",
    "unexplained": "bad",
}
MEANING = {column.name: column.meaning + (f" ({column.unit})" if column.unit else "") for column in STATIC}


class Section(NamedTuple):
    """A part of the page; without a body it is left out."""

    id: str
    title: str
    body: str

    def html(self) -> str:
        return f'<section id="{self.id}"><h2>{escape(self.title)}</h2>\n{self.body}</section>'


class Cell(NamedTuple):
    """What a table's cell shows, its class, and what it is sorted by."""

    text: str
    style: str = ""
    value: float | int | None = None

    def html(self) -> str:
        style = f' class="{self.style}"' if self.style else ""
        value = f' data-value="{"" if self.value is None else self.value}"' if self.style == "number" else ""
        title = f' title="{escape(self.text)}"' if self.style == "name" and len(self.text) > 60 else ""
        return f"<td{style}{value}{title}>{escape(self.text)}</td>"


def number(value: float | int | None, digits: int = 8) -> Cell:
    """A number's cell; a dash where there is none."""
    if value is None:
        return Cell("–", "number")
    return Cell(f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}", "number", value)


def table(headers: Iterable[tuple[str, str, str]], rows: Iterable[Iterable[Cell]], *, sortable: bool = False) -> str:
    """headers: (text, class, meaning shown on pointing)."""
    button = "<button type=button>{}</button>" if sortable else "{}"
    titled = [
        (escape(text).replace("_", "_<wbr>"), style, escape(meaning)) for text, style, meaning in headers
    ]  # paper is narrow
    head = "".join(
        f'<th class="{style}" title="{meaning}">{button.format(text)}</th>' for text, style, meaning in titled
    )
    body = "\n".join("<tr>" + "".join(cell.html() for cell in row) + "</tr>" for row in rows)
    kind = ' class="sortable"' if sortable else ""
    return f'<div class="scroll" tabindex="0"><table{kind}><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'


# --- verification ----------------------------------------------------------------------------------

VERIFICATION_COLUMNS: tuple[tuple[str, str, str, Callable[[Record], Cell]], ...] = (
    ("where", "", "table, theorem or section", lambda row: Cell(row["place"], "short")),
    ("what", "", "row and column there", lambda row: Cell(row["row"])),
    ("network", "", MEANING["topology"], lambda row: Cell(row["topology"], "name")),
    ("quantity", "", "what of ours it is compared with", lambda row: Cell(row["quantity"])),
    ("paper", "number", "the number printed", lambda row: number(row["paper_value"])),
    ("ours", "number", "the number computed", lambda row: number(row["our_value"])),
    (
        "capacity",
        "number",
        "of what is simulated: the same of the load that the links can carry",
        lambda row: number(row["capacity"]),
    ),
    ("difference", "number", "ours less the paper's", lambda row: number(row["difference"], 6)),
    ("verdict", "", ", ".join(VERDICT_STYLE), lambda row: Cell(row["verdict"], VERDICT_STYLE[row["verdict"]])),
)


def _verification_table(rows: Sequence[Record], *without: str, sortable: bool = False) -> str:
    """The rows under VERIFICATION_COLUMNS, but for those named and, where nothing is simulated, the capacity."""
    left_out = {*without, *([] if any(row["capacity"] is not None for row in rows) else ["capacity"])}
    shown = [column for column in VERIFICATION_COLUMNS if column[0] not in left_out]
    return table(
        [column[:3] for column in shown], [[cell(row) for *_, cell in shown] for row in rows], sortable=sortable
    )


def verification_section(rows: Sequence[Record]) -> Section:
    """What needs a reader's eye first: unexplained rows, then errors and departures with their reasons, then what is missing, then everything."""
    parts = []
    unexplained = [row for row in rows if row["verdict"] == "unexplained"]
    if unexplained:
        parts += ["<h3>Unexplained</h3>", *_by_reason(unexplained, "erratum unexplained")]
    errors = [row for row in rows if row["verdict"] == "paper in error"]
    if errors:
        parts.append(
            "<h3>Where the papers are in error</h3><p>Each of these was derived a second time, without this program; of a bisection width,"
            " that is the width of the cut that the reason names, an upper bound.</p>"
        )
        parts += _by_reason(errors, "erratum")
    departs = [row for row in rows if row["verdict"] == "departs"]
    if departs:
        parts.append(
            "<h3>Where simulations depart</h3><p>The papers do not specify their routers in full, so signs, orders and bounds are compared. These"
            " of ours are otherwise than the paper's.</p>"
        )
        parts += _by_reason(departs, "erratum")
    missing = not_compared(rows)
    if missing:
        items = "".join(
            f"<li>{escape(PAPER_NAMES[paper])}, {len(group):,} number{'s' * (len(group) > 1)}: {escape(needed)}</li>"
            for (paper, needed), group in missing.items()
        )
        parts.append(
            f"<h3>Not compared yet</h3><p>Numbers that wait for what this sweep has not computed:</p><ul>{items}</ul>"
        )
    parts += [_paper_details(paper, [row for row in rows if row["paper"] == paper]) for paper in PAPERS]
    return Section("verification", "The papers' numbers and ours", "\n".join(parts) if rows else "")


def _by_reason(rows: Sequence[Record], style: str) -> list[str]:
    """A box for each reason, with the rows that it explains."""
    boxes = []
    for paper, reason in dict.fromkeys((row["paper"], row["reason"]) for row in rows):
        chosen = [row for row in rows if (row["paper"], row["reason"]) == (paper, reason)]
        shown = _verification_table(chosen, "verdict")
        text = f"{reason[:1].upper()}{reason[1:]}" + ("" if reason.endswith(".") else ".")
        boxes.append(f'<div class="{style}"><p><b>{escape(PAPER_NAMES[paper])}.</b> {escape(text)}</p>{shown}</div>')
    return boxes


def _paper_details(paper: str, rows: Sequence[Record]) -> str:
    if not rows:
        return ""
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICT_STYLE}
    counted = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items() if count)
    shown = _verification_table(rows, sortable=True)
    return f"<details><summary><b>{escape(PAPER_NAMES[paper])}</b>, all {len(rows):,} numbers: {counted}</summary>{shown}</details>"


# --- networks -------------------------------------------------------------------------------------

NETWORK_COLUMNS: tuple[tuple[str, str], ...] = (
    ("nodes", "nodes"),
    ("links", "links"),
    ("degree_max", "degree"),
    ("diameter", "diameter"),
    ("mean_distance", "mean distance"),
    ("cost", "cost"),
    ("edge_connectivity", "connectivity"),
    ("bisection_upper", "bisection ≤"),
)


def networks_section(static: Sequence[Record]) -> Section:
    """A line for each family, then the networks by size."""
    order = {family: place for place, family in enumerate(FAMILIES)}
    families = sorted(
        {record["family"] for record in static}, key=lambda family: (order.get(family, len(order)), family)
    )
    numbers = ("networks", "nodes from", "to", "degree", "diameter", "mean distance")
    summary_headers = [("family", "", ""), ("what it is", "", ""), *[(title, "number", "") for title in numbers]]
    summary_rows = [
        _family_row(family, [record for record in static if record["family"] == family]) for family in families
    ]
    chosen = _some_of_each(static, families)
    ordered = sorted(chosen, key=lambda record: (record["nodes"], record["cost"], record["topology"]))
    headers = [
        ("network", "", MEANING["topology"]),
        *[(title, "number", MEANING[column]) for column, title in NETWORK_COLUMNS],
    ]
    headers.append(
        (
            "all alike",
            "",
            "what automorphisms take to any other of its sort: nodes, links; with ? where it was neither proved nor refuted",
        )
    )
    rows = [
        [Cell(r["topology"], "name"), *[number(r[column]) for column, _ in NETWORK_COLUMNS], Cell(_alike(r), "short")]
        for r in ordered
    ]
    shown = f"all {len(static):,}"
    if len(chosen) < len(static):
        shown = f"{len(chosen):,} of {len(static):,}, spread over each family's sizes (the Parquet table has all)"
    body = (
        f"<h3>Families</h3>{table(summary_headers, summary_rows)}<h3>Networks</h3>"
        f'<p class="note">By size, {shown}. A click on a heading sorts; pointing at it says what it means.</p>'
        f"{table(headers, rows, sortable=True)}"
    )
    return Section("networks", "Networks", body if static else "")


def _alike(record: Record) -> str:
    signs = {True: "", None: "?"}
    transitive = (("nodes", record["vertex_transitive"]), ("links", record["edge_transitive"]))
    return ", ".join(what + signs[known] for what, known in transitive if known is not False) or "–"


def _family_row(family: str, records: Sequence[Record]) -> list[Cell]:
    def least_and_most(column: str, show: Callable[[Any], str]) -> Cell:
        low, high = min(record[column] for record in records), max(record[column] for record in records)
        return Cell(show(low) if low == high else f"{show(low)} … {show(high)}", "number", low)

    what = (FAMILIES[family].__doc__ or "").strip().splitlines()[0] if family in FAMILIES else ""
    nodes = [record["nodes"] for record in records]
    return [
        Cell(family, "name"),
        Cell(what),
        number(len(records)),
        number(min(nodes)),
        number(max(nodes)),
        least_and_most("degree_max", str),
        least_and_most("diameter", str),
        least_and_most("mean_distance", lambda mean: f"{mean:.4g}"),
    ]


def _some_of_each(static: Sequence[Record], families: list[str]) -> Sequence[Record]:
    """At most MOST_NETWORKS, the same number of each family as far as it has them, spread over its sizes."""
    if len(static) <= MOST_NETWORKS:
        return static
    share = max(1, MOST_NETWORKS // len(families))
    chosen: list[Record] = []
    for family in families:
        own = sorted(
            (record for record in static if record["family"] == family),
            key=lambda record: (record["nodes"], record["topology"]),
        )
        count = min(share, len(own))
        chosen += [own[i * (len(own) - 1) // max(1, count - 1)] for i in range(count)]
    return chosen


# --- pictures and provenance ---------------------------------------------------------------------


def gallery_section(static: Sequence[Record]) -> Section:
    """A small network of each family in the sweep that can be drawn."""
    families = [
        family for family in FAMILIES if any(record["family"] == family for record in static) and family in SMALL
    ]
    figures = []
    for family in families:
        network = build(SMALL[family][0])
        figures.append(f"<figure>{svg_picture(network)}<figcaption>{escape(network.spelling)}</figcaption></figure>")
    lead = '<p class="note">One small network of each family. Colours tell dimensions and levels apart; dashed stubs go round to the other side.</p>'
    return Section(
        "pictures", "What they look like", f'{lead}<div class="gallery">{"".join(figures)}</div>' if figures else ""
    )


def provenance_section(manifest: Mapping[str, Any]) -> Section:
    """What was run, on what, with what software; what failed."""
    software = manifest.get("software", {})
    shards = manifest.get("shards", [])
    config = manifest.get("config", {})

    def of_shards(key: str) -> str:
        return ", ".join(sorted({str(shard[key]) for shard in shards if shard.get(key)}))

    facts = {
        "torusweep": " ".join(str(software[key]) for key in ("torusweep", "commit") if software.get(key)),
        "Python": software.get("python", ""),
        "packages": ", ".join(f"{name} {version}" for name, version in sorted(software.get("packages", {}).items())),
        "backend": of_shards("backend"),
        "device": of_shards("device"),
        "host": of_shards("host"),
        "computing time": f"{sum(float(shard.get('seconds', 0)) for shard in shards):.1f} s in {len(shards):,} batches"
        if shards
        else "",
        "configuration, sha256": config.get("sha256", ""),
        "code, sha256": ", ".join(f"{stage}: {digest}" for stage, digest in sorted(manifest.get("stage", {}).items())),
        **{
            f"{name}.parquet, sha256": entry.get("sha256", "")
            for name, entry in sorted(manifest.get("tables", {}).items())
        },
    }
    parts = [
        "<dl>"
        + "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in facts.items() if value)
        + "</dl>"
    ]
    if manifest.get("failed"):
        items = "".join(
            f"<li>{escape(_failed(failure))}: {escape(str(failure['reason']))}</li>" for failure in manifest["failed"]
        )
        parts.append(f"<h3>Points that failed</h3><ul>{items}</ul>")
    if config.get("text"):
        parts.append(f"<details><summary>The configuration</summary><pre>{escape(config['text'])}</pre></details>")
    return Section("provenance", "How it was made", "".join(parts))


def _failed(failure: Record) -> str:
    """What failed: a network, or its loads under a routing and a traffic pattern."""
    asked = f" under {failure['routing']}, {failure['traffic']}" if failure.get("traffic") else ""
    return f"{failure['topology']}{asked}"
