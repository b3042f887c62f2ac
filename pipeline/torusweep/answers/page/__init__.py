"""Make the HTML page of a sweep from its tables and manifest: one file that needs no network.

Every name, configuration and host passes through `html.escape`. The page's Content-Security-Policy permits a single
script, by its digest. The same tables give the same page, except for the section on provenance.

The page's script is bundled with Vega and cached beside Python's bytecode, because bundling takes a second.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import sys
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from string import Template
from typing import Any

import vl_convert

from torusweep.all_columns import DECLARED, schema_of
from torusweep.answers.page.explorer import explored
from torusweep.answers.page.glossary import glossary_section
from torusweep.answers.page.machines import machines_section
from torusweep.answers.page.verification import papers_section, provenance_section, verification_section
from torusweep.charts import DARK, LIGHT, specification
from torusweep.charts import config as theme
from torusweep.charts.looks import distinct
from torusweep.charts.section import json_text
from torusweep.stages import MODULES, STAGES
from torusweep.tables import current, store
from torusweep.tables.rows import StoredRows, Tables, stored_rows

THEMES = {"light": theme(LIGHT), "dark": theme(DARK)}
SCRIPTS = ("tables.js", "explorer.js", "address.js", "page.js")  # in this order: the last starts them
HERE = Path(__file__).resolve().parent


def bundled(own: str) -> str:
    """Return a script bundled with the libraries that it imports."""
    key = hashlib.sha256(f"{version('vl-convert-python')}\0{own}".encode()).hexdigest()
    cached = Path(cache_from_source(__file__)).parent / f"{key[:16]}.bundle"
    with contextlib.suppress(OSError, ValueError):
        digest, _, script = cached.read_bytes().partition(b"\n")
        if digest.decode() == store.digest(script):
            return script.decode()
    text = vl_convert.javascript_bundle(own)
    if not sys.dont_write_bytecode:
        with contextlib.suppress(store.CannotWrite):  # the folder is read-only: bundled anew each time
            store.publish(cached, f"{store.digest(text.encode())}\n{text}".encode())
    return text


def write_report(folder: Path, out: Path) -> Tables:
    """Write the page of the sweep in `folder` to `out`, from the manifest and the tables.

    returns  the tables that were read
    Raises BadInput if the manifest or a required table is missing, altered or of another version.
    """
    manifest = store.read_manifest(folder)
    shown = (name for name, table in DECLARED.items() if table.joined or table.title)
    names = [name for name in shown if name in manifest["tables"] or name in ("static", "verification")]
    files = {name: store.open_file(folder / f"{name}.parquet", schema_of(name)) for name in names}
    for name, file in files.items():
        file.refuse_nulls(DECLARED[name].always)
    tables = {name: StoredRows(file) for name, file in files.items()}
    store.publish(out, page(tables, manifest).encode())
    return tables


def page(tables: Tables, manifest: Mapping[str, Any]) -> str:
    """Return the page's HTML."""
    networks, verification = distinct(tables), stored_rows(tables, "verification")
    explorer = explored(tables)
    found = [  # the sweep's answers first
        machines_section(tables),
        explorer.section,
        *[stage.section(tables) for stage in STAGES.values()],
        verification_section(verification),
        papers_section(tables),
        glossary_section() if any(map(len, tables.values())) else None,
        provenance_section(manifest),
    ]
    sections = [section for section in found if section]
    charts = {panel.id: specification(panel.drawing) for section in sections for panel in section.panels}
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template((HERE / "page.html").read_text(encoding="utf-8")).substitute(
        title=escape(f"torusweep: {manifest.get('sweep', 'networks')}"),
        lead=_lead(manifest),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        tiles=_tiles(networks),
        contents=" ".join(f'<a href="#{section.id}">{escape(section.title)}</a>' for section in sections),
        sections="\n".join(section.html() for section in sections),
        charts=_json({"specifications": charts, "explorer": explorer.specification, "themes": THEMES}),
        designs=explorer.data,
        script=script,
        script_hash=f"sha256-{digest}",
    )


@cache
def _script() -> str:
    """Return the page's script, bundled with Vega."""
    own = "\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return bundled(own).replace("</script", "<\\/script")


def _json(data: Any) -> str:
    """Return JSON without '<', so that no value can end the script element."""
    return json_text(data).replace("<", "\\u003c")


def _lead(manifest: Mapping[str, Any]) -> str:
    """Return the HTML of the sweep's description and of the attributes that its tables leave out."""
    description = manifest.get("description") or "Distances, symmetry and cost of interconnection networks."
    notes = (f'<p class="note">Note: {escape(note)}.</p>' for note in current.notes_of(manifest, MODULES))
    return "\n".join([f'<p class="lead">{escape(str(description))}</p>', *notes])


def _tiles(networks: StoredRows) -> str:
    if not networks:
        return ""
    tiles = [
        (f"{len(networks):,}", "networks"),
        (f"{len(networks.groups('family')):,}", "families"),
        (f"{int(networks.numbers('nodes').max()):,}", "nodes in the largest"),
    ]
    shown = "".join(f'<div class="tile"><b>{value}</b><span>{label}</span></div>' for value, label in tiles)
    return f'<div class="tiles">{shown}</div>'
