"""The page's explorer: any two columns of all designs in one chart, controls, and a table of the selected designs.

explorer.js does what moves; this module makes its data, the chart's specification and the HTML. The data
are compressed (gzip, base64), because the columns of 20,000 designs are long.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from torusweep.charts.chart import specification
from torusweep.charts.scatter import SYMBOLS, Group, explorer_chart, group_of, network_groups
from torusweep.charts.section import Section
from torusweep.results.designs import MOST, Axis, Designs, sample_of

DEFAULT = ("nodes", "mean_distance")  # columns shown first, horizontally and vertically
MOST_BYTES = 2_000_000  # of the page's 5 MB; a sweep of many columns is sampled further
DIGITS = 7  # of a number in the page


class Explorer(NamedTuple):
    """The explorer's parts.

    section        of the page; None where no two columns can be compared
    data           the designs as JSON, gzip in base64, for explorer.js
    specification  of the chart, without data
    """

    section: Section | None
    data: str
    specification: dict[str, Any]


def explored(designs: Designs) -> Explorer:
    """The explorer of a sweep's designs, or of a sample of them that fits in MOST_BYTES."""
    if len(designs.axes) < 2:
        return Explorer(None, "", {})
    most, data = MOST, ""
    groups: list[Group] = []
    while not data or len(data) > MOST_BYTES:
        chosen = sample_of(designs.axes, len(designs.records), most)
        groups, data = _packed(designs, chosen)
        most = most * 2 // 3
    section = Section("explorer", "Explorer", [_body(designs, len(chosen), groups)])
    return Explorer(section, data, specification(explorer_chart(groups)))


def _packed(designs: Designs, chosen: np.ndarray) -> tuple[list[Group], str]:
    """(groups, data) of the chosen designs."""
    records = [designs.records[i] for i in chosen]
    names = [group_of(record) for record in records]
    groups = network_groups(names)
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
            for axis in designs.axes
        ],
        "nodes": [record["nodes"] for record in records],
        "degrees": [record["degree_max"] for record in records],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return groups, base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _numbers(values: np.ndarray) -> list[float | int | None]:
    """Numbers for JSON, to DIGITS significant digits; None for NaN."""
    return [
        None if math.isnan(value) else int(value) if value.is_integer() else float(f"{value:.{DIGITS}g}")
        for value in values.tolist()
    ]


# --- HTML -----------------------------------------------------------------------------------------


def _body(designs: Designs, shown: int, groups: Sequence[Group]) -> str:
    count = len(designs.records)
    about = f"All {count:,} connected designs of the sweep" if shown == count else _about_sample(count, shown)
    if designs.left_out:
        about += f"; {designs.left_out:,} that are disconnected or have a single node are left out"
    label = "Two columns of all designs; the table below has the same numbers"
    return f"""<p class="note">{about}. Choose two columns to compare.
The dashed line is the Pareto front: no design shown is at least as good in both columns and better in one.
Click a family to show it alone, further families to add them. Drag over the chart to select designs; point at a mark
for its spelling.</p>
<div class="controls">
{_axis_controls("x", "Horizontal", designs.axes)}
{_axis_controls("y", "Vertical", designs.axes)}
{_sliders("nodes", "Nodes")}
{_sliders("degree", "Degree")}
</div>
<div class="families" role="group" aria-label="Families">
{"".join(_family(number, group) for number, group in enumerate(groups))}
</div>
<figure class="wide">
<div class="chart" id="explorer-chart" role="img" aria-label="{label}"></div>
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
        f"A sample of {shown:,} of the {count:,} connected designs, so that the page stays small: the Pareto front of"
        " any two columns, and others spread evenly over the sizes (the Parquet tables have all)"
    )


def _axis_controls(axis: str, title: str, axes: Sequence[Axis]) -> str:
    """Choices of a column, of the better direction and of the scale."""
    numbered = list(enumerate(axes))
    default = next((number for number, column in numbered if column.name == DEFAULT[axis == "y"]), int(axis == "y"))
    options = "".join(
        f'<optgroup label="{escape(source)}">'
        + "".join(_option(number, column, number == default) for number, column in of_source)
        + "</optgroup>"
        for source, of_source in groupby(numbered, key=lambda item: item[1].source)
    )
    better = "".join(f'<option value="{way}">{way}</option>' for way in ("smaller", "larger"))
    return f"""<fieldset><legend>{title}</legend>
<label>column <select id="explorer-{axis}">{options}</select></label>
<label>better <select id="explorer-{axis}-better">{better}</select></label>
<label><input type="checkbox" id="explorer-{axis}-log"> logarithmic</label>
<p class="meaning" id="explorer-{axis}-meaning"></p></fieldset>"""


def _option(number: int, axis: Axis, selected: bool) -> str:
    meaning = f"{axis.meaning} ({axis.unit})" if axis.unit else axis.meaning
    if axis.source != "static":
        meaning = f"{axis.source}: {meaning}"  # the closed list shows the column's name alone
    name = escape(axis.name.replace("_", " "))
    return f'<option value="{number}"{" selected" * selected} title="{escape(meaning)}">{name}</option>'


def _sliders(name: str, title: str) -> str:
    ends = "".join(
        f'<label>{end} <input type="range" id="explorer-{name}-{end}" min="0" max="0" step="1">'
        f'<output for="explorer-{name}-{end}"></output></label>'
        for end in ("from", "to")
    )
    return f"<fieldset><legend>{title}</legend>{ends}</fieldset>"


def _family(number: int, group: Group) -> str:
    path = f'<path d="{SYMBOLS[group.symbol]}" fill="{group.colour}"/>'
    picture = f'<svg viewBox="-1.3 -1.3 2.6 2.6" aria-hidden="true">{path}</svg>'
    return f'<button type="button" aria-pressed="false" data-group="{number}">{picture}{escape(group.name)}</button>'
