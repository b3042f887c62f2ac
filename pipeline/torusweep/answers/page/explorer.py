"""The page's explorer: any two quantities of all designs in one chart, controls, and a table of the selected designs.

explorer.js does what moves; this module makes its data, the chart's specification and the HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

from torusweep.answers.designs import MOST, Designs, sample_of
from torusweep.answers.page.quantities import choices, quantities, sources
from torusweep.charts.chart import specification
from torusweep.charts.drawing import explorer_chart
from torusweep.charts.looks import SYMBOLS, Look, group_of, network_looks
from torusweep.charts.section import Chapter, Record, Tables, packed

DEFAULT = ("links", "mean_distance")  # columns of static shown first, horizontally and vertically
MOST_BYTES = 2_000_000  # of the page's 5 MB; a sweep of many columns is sampled further
VARIANTS = (400, 100, 20, 4)  # of a table, at most: as many as fit in MOST_BYTES
TITLES = {
    "static": "Network",
    "loads": "Channel loads",
    "deadlock": "Deadlock",
    "layout": "Layout",
    "simulation": "Simulation",
    "collectives": "Collective operations",
    "cost": "Cost",
    "availability": "After failures",
    "latency": "Latency by a model",
}


class Explorer(NamedTuple):
    """The explorer's parts.

    section        of the page; None where no two columns can be compared
    data           the designs, packed, for explorer.js
    specification  of the chart, without data
    """

    section: Chapter | None
    data: str
    specification: dict[str, Any]


def explored(tables: Tables, designs: Designs) -> Explorer:
    """The explorer of a sweep's designs: with as many variants of each table, then as many designs, as MOST_BYTES has.

    designs  of these tables
    """
    if len(designs.axes) < 2:
        return Explorer(None, "", {})
    most, variants = MOST, list(VARIANTS)
    while True:
        chosen = [designs.records[i] for i in sample_of(designs.axes, len(designs.records), most)]
        data, groups = _data(tables, chosen, variants[0])
        text = packed(data)
        if len(text) <= MOST_BYTES:
            break
        if len(variants) > 1:
            variants.pop(0)
        else:
            most = min(most, len(chosen)) * 2 // 3
    section = Chapter("explorer", "Explorer", [_body(designs, len(chosen), groups, data["quantities"])])
    return Explorer(section, text, specification(explorer_chart(groups)))


def _data(tables: Tables, records: Sequence[Record], variants: int) -> tuple[dict[str, Any], list[Look]]:
    """(what explorer.js knows of these designs, their groups)."""
    names = [group_of(record) for record in records]
    groups = network_looks(names)
    place = {group.name: number for number, group in enumerate(groups)}
    found = sources(tables, records, variants)
    data = {
        "topologies": [record["topology"] for record in records],
        "groups": [place[name] for _, name in names],
        "names": [group.name for group in groups],
        "nodes": [record["nodes"] for record in records],
        "degrees": [record["degree_max"] for record in records],
        "tables": choices(found),
        "quantities": quantities(found, records),
    }
    return data, groups


# --- HTML -----------------------------------------------------------------------------------------


def _body(designs: Designs, shown: int, groups: Sequence[Look], columns: Sequence[Mapping[str, Any]]) -> str:
    count = len(designs.records)
    about = f"All {count:,} connected designs of the sweep" if shown == count else _about_sample(count, shown)
    if designs.left_out:
        about += f"; {designs.left_out:,} that are disconnected or have a single node are left out"
    label = "Two quantities of all designs; the table below has the same numbers"
    return f"""<p class="note">{about}. Choose two quantities and a window of network sizes; point at a mark for the
network's spelling; drag over the chart to select.</p>
<details class="note"><summary>How to read it</summary><p>The dashed line is the Pareto front: no design shown is at
least as good in both quantities and better in one. It compares networks of similar size, so it is drawn for a window of
at most a factor of 2, or where one of the quantities is the nodes. Click a family to show it alone, further families to
add them. The page's address keeps what you choose: copy it to show someone else the same.</p></details>
<div class="controls">
{_axis_controls("x", "Horizontal", columns)}
{_axis_controls("y", "Vertical", columns)}
{_sliders("nodes", "Network size, nodes", '<label>window <select id="explorer-window"></select></label>')}
{_sliders("degree", "Degree")}
</div>
<div class="families" role="group" aria-label="Families">
<button type="button" id="explorer-families" aria-pressed="true">all families</button>
{"".join(_family(number, group) for number, group in enumerate(groups))}
</div>
<figure class="wide">
<div class="chart" id="explorer-chart" role="img" aria-label="{label}"></div>
</figure>
<div class="selection"><p id="explorer-status" role="status"></p>
<label><input type="checkbox" id="explorer-front"> the front only</label>
<button type="button" id="explorer-copy">Copy a command for each</button></div>
<div id="explorer-list"><div class="scroll" tabindex="0"><table id="explorer-table" class="sortable"><thead><tr>
<th class="design"><button type="button">design</button></th><th><button type="button">front</button></th>
<th class="number"><button type="button" id="explorer-x-title">x</button></th>
<th class="number"><button type="button" id="explorer-y-title">y</button></th>
<th class="number" data-column="nodes"><button type="button">nodes</button></th>
<th class="number" data-column="degree_max"><button type="button">degree</button></th>
</tr></thead><tbody></tbody></table></div></div>"""


def _about_sample(count: int, shown: int) -> str:
    return (
        f"A sample of {shown:,} of the {count:,} connected designs, so that the page stays small: the Pareto front of"
        " any two columns, and others spread evenly over the sizes (the Parquet tables have all)"
    )


def _axis_controls(axis: str, title: str, columns: Sequence[Mapping[str, Any]]) -> str:
    """Choices of a quantity, of the better direction and of the scale; the script adds routing, traffic, model …"""
    numbered = list(enumerate(columns))
    own = [number for number, column in numbered if column["name"] == DEFAULT[axis == "y"]]
    default = next(iter(own), min(int(axis == "y"), len(columns) - 1))
    options = "".join(
        f'<optgroup label="{escape(TITLES.get(table, table))}">'
        + "".join(_option(number, column, number == default) for number, column in of_table)
        + "</optgroup>"
        for table, of_table in groupby(numbered, key=lambda item: item[1]["table"])
    )
    better = "".join(f'<option value="{way}">{way}</option>' for way in ("smaller", "larger"))
    return f"""<fieldset><legend>{title}</legend>
<label>quantity <select id="explorer-{axis}">{options}</select></label>
<div id="explorer-{axis}-choices"></div>
<label>better <select id="explorer-{axis}-better">{better}</select></label>
<label><input type="checkbox" id="explorer-{axis}-log"> logarithmic</label>
<p class="meaning" id="explorer-{axis}-meaning"></p></fieldset>"""


def _option(number: int, column: Mapping[str, Any], selected: bool) -> str:
    meaning = f"{column['meaning']} ({column['unit']})" if column["unit"] else column["meaning"]
    name = escape(column["name"].replace("_", " "))
    return f'<option value="{number}"{" selected" * selected} title="{escape(meaning)}">{name}</option>'


def _sliders(name: str, title: str, above: str = "") -> str:
    ends = "".join(
        f'<label>{end} <input type="range" id="explorer-{name}-{end}" min="0" max="0" step="1">'
        f'<output for="explorer-{name}-{end}"></output></label>'
        for end in ("from", "to")
    )
    return f"<fieldset><legend>{title}</legend>{above}{ends}</fieldset>"


def _family(number: int, group: Look) -> str:
    path = f'<path d="{SYMBOLS[group.symbol]}" fill="{group.colour}"/>'
    picture = f'<svg viewBox="-1.3 -1.3 2.6 2.6" aria-hidden="true">{path}</svg>'
    return f'<button type="button" aria-pressed="false" data-group="{number}">{picture}{escape(group.name)}</button>'
