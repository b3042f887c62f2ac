"""The page's explorer: any two quantities of all designs in one chart, controls, and a table of the selected designs.

explorer.js animates the page; this module makes its data, the chart's specification and the HTML. The quantities are
the columns of numbers of all tables, each for a chosen routing, traffic or model.

A table with several rows per network has a variant for each combination of the columns that distinguish these rows. As
a variant may hold few networks, its numbers are stored together with the places of its networks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from torusweep.all_columns import DECLARED
from torusweep.answers.joined import joined_tables
from torusweep.charts import Drawing, specification
from torusweep.charts.looks import GREY, SYMBOLS, Look, comparable, distinct, group_of, network_looks
from torusweep.charts.section import Chapter, downloads, packed, sampled
from torusweep.tables.columns import NUMBERS
from torusweep.tables.rows import Record, StoredRows, Tables, stored_rows

DIGITS = 7  # of a number in the page
MOST = 20_000  # designs that a page holds
AUTOMATIC = ("packing", "seed", "vc_rule", "buffer_flits")  # each network has its own where none is asked for
DEFAULT = ("links", "mean_distance")  # columns of static shown first, horizontally and vertically
MOST_BYTES = 2_000_000  # of the page's 5 MB; a sweep of many columns is sampled further
VARIANTS = (400, 100, 20, 4)  # of a table, at most: as many as fit in MOST_BYTES


class Variant(NamedTuple):
    """The rows of a table for one combination of its keys' values.

    choice  value of each key
    at      place of each row's network among all networks
    """

    choice: tuple[Any, ...]
    at: list[int]
    rows: list[Record]


class Source(NamedTuple):
    """A table's numbers.

    keys      columns whose values a reader chooses
    variants  rows for each combination of these values, those with the most networks first
    """

    name: str
    keys: list[str]
    variants: list[Variant]


def sources(tables: Tables, names: Iterable[str], most: int) -> list[Source]:
    """Return the tables joined with `static`, restricted to the named networks, each with at most `most` variants."""
    place = {name: i for i, name in enumerate(names)}
    found = []
    for name, declared in joined_tables().items():
        rows = stored_rows(tables, name).among("topology", place).records()
        keys = [key for key in declared.apart if len({row[key] for row in rows}) > 1]
        for key in AUTOMATIC:  # no choice of a reader where no network has several
            others = [other for other in keys if other != key]
            if key in keys and len({(row["topology"], *map(row.get, others)) for row in rows}) == len(rows):
                keys = others
        variants = [
            Variant(choice, [place[name] for name in names], [of_choice[name] for name in names])
            for choice, of_choice in by_choice(rows, keys)[:most]
            for names in [sorted(of_choice, key=place.__getitem__)]
        ]
        found.append(Source(name, keys, variants))
    return [source for source in found if source.variants]


def by_choice(rows: Iterable[Record], keys: Sequence[str]) -> list[tuple[tuple[Any, ...], dict[str, Record]]]:
    """Return (values of the keys, a row for each topology) for each combination, that with most topologies first.

    If a topology has several rows in a combination, the first row with the most values is kept.
    """
    found: dict[tuple[Any, ...], dict[str, Record]] = {}
    for row in rows:
        by_name = found.setdefault(tuple(row[key] for key in keys), {})
        if _filled(row) > _filled(by_name.get(row["topology"], {})):
            by_name[row["topology"]] = row
    return sorted(found.items(), key=lambda item: -len(item[1]))


def _filled(row: Record) -> int:
    return sum(value is not None for value in row.values())


def quantities(found: Sequence[Source], records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return every numeric column that tells networks apart: name, table, unit, meaning, direction, values by variant.

    A column is left out if it repeats the values of `static` (`records`).
    """
    chosen = []
    for source in found:
        for column in DECLARED[source.name].columns:
            if column.type not in NUMBERS or _repeats(source, column.name, records):
                continue
            values = [[_number(row.get(column.name)) for row in variant.rows] for variant in source.variants]
            if any(len({*numbers} - {None}) > 1 for numbers in values):
                chosen.append(
                    {
                        "name": column.name,
                        "table": source.name,
                        "unit": column.printed_unit,
                        "meaning": column.meaning,
                        "larger": column.better == "more",
                        "values": [numbers if any(n is not None for n in numbers) else None for numbers in values],
                    }
                )
    return chosen


def _repeats(source: Source, name: str, records: Sequence[Record]) -> bool:
    return source.name != "static" and all(
        name in records[at] and row.get(name) == records[at][name]
        for variant in source.variants
        for at, row in zip(variant.at, variant.rows, strict=True)
    )


def choices(found: Sequence[Source]) -> dict[str, Any]:
    """Return each table's keys, their values in each variant, and the places of each variant's networks."""
    return {
        source.name: {
            "keys": [key.replace("_", " ").replace("vc ", "virtual-channel ") for key in source.keys],
            "choices": [[_word(value) for value in variant.choice] for variant in source.variants],
            "at": [variant.at for variant in source.variants],
        }
        for source in found
    }


def _word(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _number(value: Any) -> float | int | None:
    """Return a number for JSON, rounded to DIGITS significant digits; None if it is missing or not finite."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else float(f"{value:.{DIGITS}g}")


class Explorer(NamedTuple):
    """The explorer's parts.

    section        the page's section; None if there are fewer than two columns to compare
    data           the designs, packed, for explorer.js
    specification  the chart's Vega-Lite specification, without data
    """

    section: Chapter | None
    data: str
    specification: dict[str, Any]


def explored(tables: Tables) -> Explorer:
    """Return the explorer of a sweep's designs, which are its connected networks of at least two nodes.

    If the data exceed MOST_BYTES, fewer variants of each table are kept, and then fewer designs.
    """
    networks = distinct(tables)
    designs = comparable(networks)
    nodes, terminals = (designs.numbers(name) for name in ("nodes", "terminals"))
    # a network of switches is as large as what it connects
    size = "terminals" if ((terminals < nodes) | (terminals > nodes)).any() else "nodes"
    most, variants = MOST, list(VARIANTS)
    costs: list[np.ndarray] | None = None
    while True:
        if costs is None and most < len(designs):
            costs = _costs(tables, designs)
        chosen = designs.at(sampled(costs or [], len(designs), most)).records()
        data, groups = _data(tables, chosen, size, variants[0])
        text = packed(data)
        if len(text) <= MOST_BYTES:
            break
        if len(variants) > 1:
            variants.pop(0)
        else:
            most = min(most, len(chosen)) * 2 // 3
    if len(data["quantities"]) < 2:
        return Explorer(None, "", {})
    body = _body(len(designs), len(networks) - len(designs), len(chosen), groups, data)
    section = Chapter("explorer", "Explorer", [body])
    return Explorer(section, text, specification(_chart(groups, size)))


def _costs(tables: Tables, designs: StoredRows) -> list[np.ndarray]:
    """Return numeric columns, in a few variants, as costs: float64[designs] each; less is better, NaN is missing."""
    columns = [column for column in DECLARED["static"].columns if column.type in NUMBERS]
    costs = [column.cost(designs.numbers(column.name)) for column in columns]
    for source in sources(tables, designs.column("topology").to_pylist(), VARIANTS[-1]):
        for column in (column for column in DECLARED[source.name].columns if column.type in NUMBERS):
            for variant in source.variants:
                values = np.full(len(designs), np.nan)
                values[variant.at] = [math.nan if (n := row.get(column.name)) is None else n for row in variant.rows]
                costs.append(column.cost(values))
    costs = [np.where(np.isfinite(values), values, np.nan) for values in costs]
    return [values for values in costs if len(np.unique(values[~np.isnan(values)])) > 1]


def _data(tables: Tables, records: Sequence[Record], size: str, variants: int) -> tuple[dict[str, Any], list[Look]]:
    """Return (data of these designs for explorer.js, groups of the designs)."""
    families = [group_of(record) for record in records]
    groups = network_looks(families)
    place = {group.name: number for number, group in enumerate(groups)}
    names = [record["topology"] for record in records]
    every = Variant((), list(range(len(records))), list(records))
    found = [Source("static", [], [every]), *sources(tables, names, variants)]
    data = {
        "topologies": names,
        "groups": [place[name] for _, name in families],
        "names": [group.name for group in groups],
        "size": size,
        "sizes": [record[size] for record in records],
        "degrees": [record["degree_max"] for record in records],
        "tables": choices(found),
        "quantities": quantities(found, records),
    }
    return data, groups


def _chart(looks: Sequence[Look], size: str) -> Drawing:
    """Return the chart of the fields x and y; its script adds titles, scales and the data sets points and front."""
    x, y = (
        channel(name, scale=alt.Scale(nice=False, padding=14)) for channel, name in ((alt.X, "x:Q"), (alt.Y, "y:Q"))
    )
    front = alt.Chart(alt.NamedData("front")).mark_line(strokeDash=[4, 3], strokeWidth=1.5, color=GREY)
    names, colours, symbols, _ = (list(column) for column in zip(*looks))
    marks = alt.Chart(alt.NamedData("points")).mark_point(filled=True)
    marks = marks.encode(
        x=x,
        y=y,
        color=alt.Color("group:N", title=None, legend=None, scale=alt.Scale(domain=names, range=colours)),
        shape=alt.Shape("group:N", title=None, legend=None, scale=alt.Scale(domain=names, range=symbols)),
        opacity=alt.Opacity("front:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.5, 1])),
        tooltip=[
            alt.Tooltip("topology:N", title="network"),
            *(alt.Tooltip(f"{name}:Q", format=",.6~g") for name in ("x", "y")),
            *(alt.Tooltip(f"{name}:Q", format=",") for name in (size, "degree")),
        ],
    )
    return alt.layer(front.encode(x=x, y=y, order="place:Q"), marks)


# --- HTML -----------------------------------------------------------------------------------------


def _body(count: int, left_out: int, shown: int, groups: Sequence[Look], data: Mapping[str, Any]) -> str:
    about = f"All {count:,} connected designs of the sweep" if shown == count else _about_sample(count, shown)
    if left_out:
        are = "is" if left_out == 1 else "are"
        about += f"; {left_out:,} {are} left out, being disconnected or of a single node"
    size, columns = data["size"], data["quantities"]
    label = "Two quantities of all designs; the table below has the same numbers"
    return f"""<p class="note">{about}. Choose two quantities and a window of network sizes; point at a mark for the
network's spelling; drag over the chart to select.</p>
<details class="note"><summary>How to read it</summary><p>The dashed line is the Pareto front: no design shown is at
least as good in both quantities and better in one. It compares networks of similar size, so it is drawn for a window of
at most a factor of 2, or where one of the quantities is the {size}. Click a family to show it alone, further families
to add them. The page's address keeps what you choose: copy it to show someone else the same.</p></details>
<div class="controls">
{_axis_controls("x", "Horizontal", columns)}
{_axis_controls("y", "Vertical", columns)}
{_sliders(size, f"Network size, {size}", '<label>window <select id="explorer-window"></select></label>')}
{_sliders("degree", "Degree")}
</div>
<div class="families" role="group" aria-label="Families">
<button type="button" id="explorer-families" aria-pressed="true">all families</button>
{"".join(_family(number, group) for number, group in enumerate(groups))}
</div>
<figure class="wide">
<div class="chart" id="explorer-chart" role="img" aria-label="{label}"></div>
{downloads("SVG", "PNG")}</figure>
<div class="selection"><p id="explorer-status" role="status"></p>
<label><input type="checkbox" id="explorer-front"> the front only</label>
<button type="button" id="explorer-copy">Copy a command for each</button></div>
<div id="explorer-list"><div class="scroll" tabindex="0"><table id="explorer-table" class="sortable"><thead><tr>
<th class="design"><button type="button">design</button></th><th><button type="button">front</button></th>
<th class="number"><button type="button" id="explorer-x-title">x</button></th>
<th class="number"><button type="button" id="explorer-y-title">y</button></th>
<th class="number" data-column="{size}"><button type="button">{size}</button></th>
<th class="number" data-column="degree_max"><button type="button">degree</button></th>
</tr></thead><tbody></tbody></table></div>{downloads("CSV")}</div>"""


def _about_sample(count: int, shown: int) -> str:
    return (
        f"A sample of {shown:,} of the {count:,} connected designs, so that the page stays small: the Pareto front of"
        " any two columns, and others spread evenly over the sizes (the Parquet tables have all)"
    )


def _axis_controls(axis: str, title: str, columns: Sequence[Mapping[str, Any]]) -> str:
    """Return the HTML to choose a quantity, its better direction and its scale; the script adds other choices."""
    numbered = list(enumerate(columns))
    own = [number for number, column in numbered if column["name"] == DEFAULT[axis == "y"]]
    default = next(iter(own), min(int(axis == "y"), len(columns) - 1))
    options = "".join(
        f'<optgroup label="{escape(DECLARED[table].title or table.capitalize())}">'
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
