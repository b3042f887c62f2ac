"""The page's explorer: any two columns of all designs in one chart, its controls, and the table of the designs selected.

What moves is explorer.js; here are its data, its chart's specification and its place in the page.
The data stand in the page compressed (gzip, base64), because the columns of 20,000 designs are long.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from torusweep.charts.chart import specification
from torusweep.charts.scatter import SYMBOLS, Group, explorer_chart, group_of, legend
from torusweep.results.designs import MOST, Axis, Designs, sampled
from torusweep.stages.static.section import Section

Record = Mapping[str, Any]

DEFAULT = ("nodes", "mean_distance")  # first shown across and up
MOST_BYTES = 2_000_000  # of the page's 5 MB; a sweep of many columns is sampled further
DIGITS = 7  # of a number in the page


class Explorer(NamedTuple):
    """data: gzip in base64, what explorer.js unpacks; specification: of the chart, whose data the script gives."""

    section: Section
    data: str
    specification: dict[str, Any]


def explored(found: Designs) -> Explorer:
    """The explorer of a sweep's designs; its section has no body where no two columns can be compared."""
    if len(found.axes) < 2:
        return Explorer(Section("explorer", "Explorer", ""), "", {})
    most, packed = MOST, ""
    groups: list[Group] = []
    while not packed or len(packed) > MOST_BYTES:
        chosen = sampled(found.axes, len(found.records), most)
        groups, packed = _packed(found, chosen)
        most = most * 2 // 3
    return Explorer(
        Section("explorer", "Explorer", _body(found, len(chosen), groups)),
        packed,
        specification(explorer_chart(groups)),
    )


def _packed(found: Designs, chosen: np.ndarray) -> tuple[list[Group], str]:
    """(the groups that the chosen designs fall into, these designs as explorer.js unpacks them)."""
    records = [found.records[i] for i in chosen]
    names = [group_of(record) for record in records]
    groups = legend(names)
    place = {group.name: number for number, group in enumerate(groups)}
    data = {
        "topologies": [record["topology"] for record in records],
        "groups": [place[name] for _, name in names],
        "names": [group.name for group in groups],
        "axes": [
            {
                "name": axis.name,
                "source": axis.source,
                "unit": axis.unit,
                "larger": axis.larger,
                "values": _numbers(axis.values[chosen]),
            }
            for axis in found.axes
        ],
        "nodes": [record["nodes"] for record in records],
        "degrees": [record["degree_max"] for record in records],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return groups, base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _numbers(values: np.ndarray) -> list[float | int | None]:
    """Numbers as JSON has them, shortened to what a chart and its labels can show."""
    return [
        None if math.isnan(value) else int(value) if value.is_integer() else float(f"{value:.{DIGITS}g}")
        for value in values.tolist()
    ]


# --- its place in the page --------------------------------------------------------------------------


def _body(found: Designs, shown: int, groups: Sequence[Group]) -> str:
    count = len(found.records)
    about = f"All {count:,} connected designs of the sweep" if shown == count else _about_sample(count, shown)
    apart = f"; {found.left_out:,} that are not connected, or a single node, are left out" if found.left_out else ""
    return f"""<p class="note">{about}{apart}. Choose what to compare; the dashed line is the Pareto front: nothing shown beats it in both columns.
A click on a family singles it out, further clicks add others. Drag over the chart to select designs; point at a mark for its spelling.</p>
<div class="controls">
{_axis_controls("x", "Across", found.axes)}
{_axis_controls("y", "Up", found.axes)}
{_sliders("nodes", "Nodes")}
{_sliders("degree", "Degree")}
</div>
<div class="families" role="group" aria-label="Families">
{"".join(_family(number, group) for number, group in enumerate(groups))}
</div>
<figure class="wide">
<div class="chart" id="explorer-chart" role="img" aria-label="The chosen columns of all designs; the table below has the same numbers"></div>
</figure>
<div class="selection"><p id="explorer-status" role="status"></p>
<label><input type="checkbox" id="explorer-front"> the front only</label>
<button type="button" id="explorer-copy">Copy all lines listed</button></div>
<div class="scroll" tabindex="0"><table id="explorer-table" class="sortable"><thead><tr>
<th><button type="button">design</button></th><th><button type="button">front</button></th>
<th class="number"><button type="button" id="explorer-x-title">x</button></th>
<th class="number"><button type="button" id="explorer-y-title">y</button></th>
<th class="number" data-column="nodes"><button type="button">nodes</button></th>
<th class="number" data-column="degree_max"><button type="button">degree</button></th>
</tr></thead><tbody></tbody></table></div>"""


def _about_sample(count: int, shown: int) -> str:
    return (
        f"A sample of {shown:,} of the {count:,} connected designs, so that the page stays small: the front of any two columns,"
        " and the others evenly over their sizes (the Parquet tables have all)"
    )


def _axis_controls(axis: str, title: str, axes: Sequence[Axis]) -> str:
    """Which column, which way is better, which scale. The first group of columns is static's, which every design has."""
    numbered = list(enumerate(axes))
    wanted = next((number for number, column in numbered if column.name == DEFAULT[axis == "y"]), int(axis == "y"))
    options = "".join(
        f'<optgroup label="{escape(source)}">{"".join(_option(number, column, number == wanted) for number, column in of_source)}</optgroup>'
        for source, of_source in groupby(numbered, key=lambda item: item[1].source)
    )
    return f"""<fieldset><legend>{title}</legend>
<label>column <select id="explorer-{axis}">{options}</select></label>
<label>better <select id="explorer-{axis}-better"><option value="smaller">smaller</option><option value="larger">larger</option></select></label>
<label><input type="checkbox" id="explorer-{axis}-log"> logarithmic</label>
<p class="meaning" id="explorer-{axis}-meaning"></p></fieldset>"""


def _option(number: int, axis: Axis, selected: bool) -> str:
    meaning = f"{axis.meaning} ({axis.unit})" if axis.unit else axis.meaning
    if axis.source != "static":
        meaning = f"{axis.source}: {meaning}"  # of the many columns of this name, which one stands there once the list is closed
    return f'<option value="{number}"{" selected" * selected} title="{escape(meaning)}">{escape(axis.name.replace("_", " "))}</option>'


def _sliders(name: str, title: str) -> str:
    ends = "".join(
        f'<label>{end} <input type="range" id="explorer-{name}-{end}" min="0" max="0" step="1"><output for="explorer-{name}-{end}"></output></label>'
        for end in ("from", "to")
    )
    return f"<fieldset><legend>{title}</legend>{ends}</fieldset>"


def _family(number: int, group: Group) -> str:
    picture = f'<svg viewBox="-1.3 -1.3 2.6 2.6" aria-hidden="true"><path d="{SYMBOLS[group.symbol]}" fill="{group.colour}"/></svg>'
    return f'<button type="button" aria-pressed="false" data-group="{number}">{picture}{escape(group.name)}</button>'
