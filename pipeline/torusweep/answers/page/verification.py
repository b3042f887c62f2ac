"""The page's sections on verification, the papers' figures, and provenance.

Verification shows the papers' numbers beside ours, with a verdict for each. The figures are those for which the sweep
has numbers. Provenance says what was run, with what software, on what machine, and what failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from torusweep.all_columns import VERIFICATION
from torusweep.charts.section import Cell, Chapter, Panel, fields, heading, table
from torusweep.papers.figures import drawable
from torusweep.papers.verification import not_compared, summary
from torusweep.papers.verification.rows import PAPER_NAMES, PAPERS
from torusweep.tables.rows import Tables

Record = Mapping[str, Any]

STYLES = {
    "agrees": "good",
    "paper in error": "warn",
    "departs": "warn",
    "not run": "wait",
    "waits": "wait",
    "unexplained": "bad",
}  # by verdict
FIELDS = fields(
    VERIFICATION.columns,
    *(("place", "where"), ("row", "what", lambda row: Cell(row["row"])), "topology"),
    ("quantity", "", lambda row: Cell(row["quantity"])),
    *(("paper_value", "paper"), ("our_value", "ours"), "capacity", ("difference", "", 6)),
    ("verdict", "", lambda row: Cell(row["verdict"], STYLES[row["verdict"]])),
)


def verification_section(rows: Sequence[Record]) -> Chapter | None:
    """Return the rows by verdict: unexplained, paper in error, departs, missing; then all rows of each paper."""
    if not rows:
        return None
    parts = [
        _by_reason(rows, "unexplained", "Unexplained", ""),
        _by_reason(
            rows,
            "paper in error",
            "Errors of the papers",
            "Each correct value was derived a second time, without this program. For a bisection width it is the width"
            " of the cut that the reason names, an upper bound.",
        ),
        _by_reason(
            rows,
            "departs",
            "Simulations that differ",
            "The papers do not specify their routers in full, so signs, orders and bounds are compared. These differ"
            " from the paper.",
        ),
        _not_compared(rows),
        *[_paper(paper, [row for row in rows if row["paper"] == paper]) for paper in PAPERS],
    ]
    return Chapter("verification", "The papers' numbers and ours", parts, folded=_summary(rows))


def _summary(rows: Sequence[Record]) -> str:
    """Return one line with the number of rows for each verdict."""
    counts = summary(rows)
    words = {
        "agrees": "numbers agree with the papers",
        "paper in error": "errors of the papers, explained",
        "departs": "simulated numbers differ, explained",
        "not run": "not computed here",
        "waits": "wait for a capability",
    }
    found = [
        f'<span class="{STYLES[verdict]}"><b>{counts[verdict]:,}</b> {text}</span>'
        for verdict, text in words.items()
        if counts[verdict]
    ]
    style = "bad" if counts["unexplained"] else "good"
    return ", ".join([*found, f'<span class="{style}"><b>{counts["unexplained"]:,}</b> unexplained</span>'])


def _table(rows: Sequence[Record], *, without: str = "", sortable: bool = False) -> str:
    """Return an HTML table of the rows, with all of FIELDS except the one titled `without`."""
    return table([field for field in FIELDS if field.title != without], rows, sortable=sortable)


def _by_reason(rows: Sequence[Record], verdict: str, title: str, note: str) -> str:
    """Return the rows of a verdict as one HTML box per reason."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for row in rows:
        if row["verdict"] == verdict:
            groups.setdefault((row["paper"], row["reason"]), []).append(row)
    if not groups:
        return ""
    boxes = [f"<h3>{escape(title)}</h3>", f"<p>{note}</p>" if note else ""]
    style = "erratum unexplained" if verdict == "unexplained" else "erratum"
    for (paper, reason), group in groups.items():
        text = escape(f"{reason[:1].upper()}{reason[1:]}" + ("" if reason.endswith(".") else "."))
        about = f"<p><b>{escape(PAPER_NAMES[paper])}.</b> {text}</p>"
        boxes.append(f'<div class="{style}">{about}{_table(group, without="verdict")}</div>')
    return "\n".join(filter(None, boxes))


def _not_compared(rows: Sequence[Record]) -> str:
    """Return how many numbers could not be compared yet, by reason."""
    items = "".join(
        f"<li>{escape(PAPER_NAMES[paper])}, {len(group):,} number{'s' * (len(group) > 1)}: {escape(needed)}</li>"
        for (paper, needed), group in not_compared(rows).items()
    )
    lead = "<p>Numbers that need what this sweep has not computed:</p>"
    return f"{heading('Not compared yet')}{lead}<ul>{items}</ul>" if items else ""


def _paper(paper: str, rows: Sequence[Record]) -> str:
    """Return every number of a paper in a folded HTML element."""
    if not rows:
        return ""
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in STYLES}
    counted = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items() if count)
    about = f"<b>{escape(PAPER_NAMES[paper])}</b>, all {len(rows):,} numbers: {counted}"
    return f"<details><summary>{about}</summary>{_table(rows, sortable=True)}</details>"


def papers_section(tables: Tables) -> Chapter | None:
    """Return the papers' figures, paper by paper; None if the sweep has no numbers for any figure."""
    parts: list[str | list[Panel]] = []
    figures = drawable(tables)
    for paper, found in groupby(figures, key=lambda item: item[0].paper):
        parts += [heading(PAPER_NAMES[paper]), [figure.panel(rows) for figure, rows in found]]
    folded = f"{len(figures)} figure{'s' * (len(figures) > 1)} of the papers, drawn from this sweep's numbers"
    return Chapter("papers", "The papers' figures", parts, folded=folded) if parts else None


def provenance_section(manifest: Mapping[str, Any]) -> Chapter:
    """Return the manifest's facts, the points that failed, and the configuration."""
    software = manifest.get("software", {})
    shards = manifest.get("shards", [])
    config = manifest.get("config", {})

    def of_shards(key: str) -> str:
        return ", ".join(sorted({str(shard[key]) for shard in shards if shard.get(key)}))

    seconds = sum(float(shard.get("seconds", 0)) for shard in shards)
    digests = {name: entry.get("sha256", "") for name, entry in sorted(manifest.get("tables", {}).items())}
    facts = {
        "torusweep": " ".join(str(software[key]) for key in ("torusweep", "commit") if software.get(key)),
        "Python": software.get("python", ""),
        "packages": ", ".join(f"{name} {version}" for name, version in sorted(software.get("packages", {}).items())),
        "backend": of_shards("backend"),
        "device": of_shards("device"),
        "host": of_shards("host"),
        "computing time": f"{seconds:.1f} s in {len(shards):,} batches" if shards else "",
        "configuration, sha256": config.get("sha256", ""),
        "code, sha256": ", ".join(f"{stage}: {digest}" for stage, digest in sorted(manifest.get("stage", {}).items())),
        **{f"{name}.parquet, sha256": digest for name, digest in digests.items()},
    }
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in facts.items() if value)
    parts = [f"<dl>{rows}</dl>"]
    if manifest.get("failed"):
        items = "".join(
            f"<li>{escape(failure['point'])}: {escape(failure['reason'])}</li>" for failure in manifest["failed"]
        )
        parts.append(f"{heading('Points that failed')}<ul>{items}</ul>")
    if config.get("text"):
        parts.append(f"<details><summary>The configuration</summary><pre>{escape(config['text'])}</pre></details>")
    return Chapter("provenance", "Provenance", parts)
