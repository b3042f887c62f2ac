"""The HTML page of a sweep: one file that needs no network, from the tables and the manifest beside it.

Everything that comes from a name, a configuration or a machine passes through `html.escape`, and the
page's policy lets no script run but its own, whose digest it states. The same tables give the same
page but for what is said of the run itself (section "How it was made").
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from altair.utils.schemapi import debug_mode

from torusweep.charts import chart as figures
from torusweep.papers.verification import summary
from torusweep.results.designs import Designs, designs, sampled
from torusweep.results.page.bundle import bundled
from torusweep.results.page.explorer import explored
from torusweep.results.page.papers import papers_section
from torusweep.stages.deadlock.section import deadlock_section
from torusweep.stages.layout.section import layout_section
from torusweep.stages.loads import section as saturation
from torusweep.stages.simulation.section import simulation_section
from torusweep.stages.static.section import (
    Section,
    gallery_section,
    networks_section,
    provenance_section,
    verification_section,
)
from torusweep.tables import store
from torusweep.tables.records import TABLES

Record = Mapping[str, Any]
Tables = Mapping[str, Sequence[Record]]

MOST_DRAWN = 1500  # networks in a chart of all; the explorer has more
NEEDED = ("static", "verification")
NOT_READ = ("points", "distances", "channel_loads")  # nothing of the page is made from them
THEMES = {"light": figures.config(figures.LIGHT), "dark": figures.config(figures.DARK)}
SELDOM = {
    "departs": "of what is simulated depart, explained",
    "not run": "are not simulated here",
    "waits": "wait for a capability",
}  # of verdicts
HERE = Path(__file__).resolve().parent
CHARTS = (
    (
        "distance_against_size",
        "Mean distance against size",
        True,
        "Every connected network of the sweep. Lower is better, and the steeper a line, the more it pays for growth: slope 1/n belongs to a grid"
        " of n dimensions. Click a kind in the legend to single it out; point at a mark for its spelling.",
    ),
    (
        "cost_against_size",
        "Cost against size",
        True,
        "Cost is diameter × degree (Rahman et al. 2005). On the dashed line, nothing in this sweep is as large and cheaper.",
    ),
)


def write_report(folder: Path, out: Path) -> Tables:
    """Write the page of the sweep in `folder` to `out`, from the tables that it has (static and verification at least) and the manifest.

    returns  these tables, for others to read
    Raises BadInput where a table or the manifest is missing, altered or of another version.
    """
    manifest = store.read_manifest(folder)
    names = [name for name in TABLES if name not in NOT_READ and (name in manifest["tables"] or name in NEEDED)]
    tables = {name: store.open_current(folder / f"{name}.parquet").to_pylist() for name in names}
    with debug_mode(
        False
    ):  # charts are not held against Vega-Lite's schema as they are put together (figures.specification)
        text = page(tables, manifest)
    store.publish(out, text.encode())
    return tables


def page(tables: Tables, manifest: Mapping[str, Any]) -> str:
    """The page, as text. tables: by name, as lists of records; one that the sweep lacks may be absent."""
    networks = figures.distinct(tables.get("static", ()))
    verification = tables.get("verification", ())
    tables = {**tables, "static": networks, "loads": tables.get("loads", ()), "verification": verification}
    found = designs(tables)
    explorer = explored(found)
    drawn, charts = _charts(found)
    sections = [
        verification_section(verification),
        explorer.section,
        charts,
        _loads(saturation.joined(networks, tables["loads"]), drawn),
        simulation_section(tables.get("simulation", ()), tables["loads"], drawn),
        deadlock_section(tables.get("deadlock", ())),
        layout_section(networks, tables.get("layout", ()), drawn),
        papers_section(tables, drawn),
        networks_section(networks),
        gallery_section(networks),
        provenance_section(manifest),
    ]
    shown = [section for section in sections if section.body]
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template((HERE / "page.html").read_text(encoding="utf-8")).substitute(
        title=escape(f"torusweep: {manifest.get('sweep', 'networks')}"),
        lead=_lead(manifest),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        tiles=_tiles(networks, verification),
        contents=" ".join(f'<a href="#{section.id}">{escape(section.title)}</a>' for section in shown),
        sections="\n".join(section.html() for section in shown),
        charts=_json({"specifications": drawn, "explorer": explorer.specification, "themes": THEMES}),
        designs=explorer.data,
        script=script,
        script_hash=f"sha256-{digest}",
    )


@cache
def _script() -> str:
    """The page's program, bundled with Vega."""
    own = "\n".join((HERE / name).read_text(encoding="utf-8") for name in ("explorer.js", "page.js"))
    return bundled(own).replace("</script", "<\\/script")


def _json(data: Any) -> str:
    """JSON that cannot end the element that it stands in."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _lead(manifest: Mapping[str, Any]) -> str:
    description = manifest.get("description") or "Distances, symmetry and cost of torus-like interconnection networks."
    return f'<p class="lead">{escape(str(description))}</p>'


def _tiles(networks: Sequence[Record], verification: Sequence[Record]) -> str:
    counts = summary(verification)
    tiles = [
        ("", f"{len(networks):,}", "networks"),
        ("", f"{len({record['family'] for record in networks}):,}", "families"),
        ("", f"{max((record['nodes'] for record in networks), default=0):,}", "nodes in the largest"),
    ]
    if verification:
        tiles += [
            ("good", f"{counts['agrees']:,}", "numbers of the papers agree"),
            ("warn", f"{counts['paper in error']:,}", "are errors of the papers, explained"),
            *[("", f"{counts[verdict]:,}", label) for verdict, label in SELDOM.items() if counts[verdict]],
            ("bad" if counts["unexplained"] else "good", f"{counts['unexplained']:,}", "unexplained"),
        ]
    shown = "".join(
        f'<div class="tile {style}"><b>{value}</b><span>{label}</span></div>' for style, value, label in tiles
    )
    return f'<div class="tiles">{shown}</div>'


def _charts(found: Designs) -> tuple[dict[str, Any], Section]:
    """(Vega-Lite specifications by element id, the section that they are drawn in); charts without data are left out."""
    drawn, parts = {}, []
    some = _some(found)
    for name, title, wide, caption in CHARTS:
        specification = figures.specification(getattr(figures, name)(some))
        if not _has_data(specification):
            continue
        drawn[name] = specification
        style = ' class="wide"' if wide else ""
        chart = f'<div class="chart" id="{name}" role="img" aria-label="{title}"></div>'
        parts.append(f"<figure{style}><h3>{title}</h3>{chart}<figcaption>{caption}</figcaption></figure>")
    sample = f"Of {len(found.records):,} networks, a sample of {len(some):,} is drawn, their fronts whole."
    note = f'<p class="note">{sample}</p>' if len(some) < len(found.records) else ""
    body = f'{note}<div class="figures">{"".join(parts)}</div>' if parts else ""
    return drawn, Section("figures", "Figures", body)


def _some(found: Designs) -> Sequence[Record]:
    """The networks that the charts draw: all, or a sample that keeps the fronts of the columns drawn."""
    axes = [axis for axis in found.axes if axis.source == "static" and axis.name in ("nodes", "mean_distance", "cost")]
    return [found.records[i] for i in sampled(axes, len(found.records), MOST_DRAWN)]


def _loads(rows: Sequence[Record], drawn: dict[str, Any]) -> Section:
    """The section on loads; its chart joins `drawn` where it has data."""
    name, figure = "saturation_against_size", ""
    specification = figures.specification(saturation.saturation_against_size(rows))
    if _has_data(specification):
        drawn[name] = specification
        figure = saturation.figure_of(name, "Saturation load against size", saturation.caption(rows))
    return saturation.loads_section(rows, figure)


def _has_data(specification: Mapping[str, Any]) -> bool:
    return bool(specification.get("data", {}).get("values")) or any(
        _has_data(layer) for layer in specification.get("layer", ())
    )
