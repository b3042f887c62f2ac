"""Plot any two columns of a sweep's tables into a file, as single marks or as lines with error bars."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.all_columns import DECLARED, HOW, SHARED
from torusweep.answers.choices import Choices, groups, keys_of, refining, refuse_absent, refuse_mixed, require_tables
from torusweep.answers.connection import SWEEP, Folders, folders_of
from torusweep.answers.joined import ALL, Join, Named, join, source, uncomputed, words_of
from torusweep.answers.query import bracketed, query
from torusweep.charts import Axis, finished
from torusweep.charts.drawing import Chart, faceted, key
from torusweep.charts.looks import Look, group_of, network_looks, value_looks
from torusweep.charts.looks import series as branch_of
from torusweep.charts.section import sampled
from torusweep.errors import BadInput
from torusweep.quantities import counted
from torusweep.tables.columns import NUMBERS
from torusweep.tables.parquet import arrow_places
from torusweep.tables.rows import numbers

LOG = {"none": "", "x": "x", "y": "y", "both": "xy"}
AUTO = "auto"  # logarithmic where the numbers are positive and span WIDE
WIDE = 200
MOST_WORDS = 56  # that colours and symbols can distinguish
NO_NETWORK = "no network"  # the family of a row without a network
BRANCH = "(branch)"  # a series of networks: a family, with all its parameters but the size
RUNNING = [table.along for table in DECLARED.values() if table.along]  # along these a curve runs
COMPARED = (*Choices._fields, "router")  # lines name these where they differ; marks of several are refused
KEY = "key."  # begins the names of columns that tell rows apart, in what is asked of the tables
MOST = 10_000  # marks of a picture
MOST_LINES = 8  # of a chart; more are drawn in several small ones
CUT = 2.5  # times the largest number that is not of a saturated network: there a latency's axis ends
DEVIATIONS = 1.96  # standard errors on either side of a number: 95 %


class Plot(NamedTuple):
    """A chart for a file, with counts of its rows.

    specification  complete Vega-Lite
    rows           number of rows that the request selects
    left_out       number of selected rows without a number in x or y
    drawn          number of marks
    cut            end of the y axis, if saturated networks have larger numbers; None if the axis shows all numbers
    """

    specification: dict[str, Any]
    rows: int
    left_out: int
    drawn: int
    cut: float | None = None


class PlotRequest(NamedTuple):
    """A request to draw.

    series  columns that decide the colour; None for the family, or, with lines, for the columns in which lines differ
    lines   whether to draw lines; None to decide by the rows
    log     an item of LOG, or AUTO
    """

    joined: Join
    x: Named
    y: Named
    series: list[Named] | None
    lines: bool | None
    log: str


def plot(
    results: Folders,
    x: str,
    y: str,
    *,
    table: str | None = None,
    series: Sequence[str] | None = None,
    lines: bool | None = None,
    log: str = AUTO,
    where: str | None = None,
    choices: Choices | None = None,
) -> Plot:
    """Draw column y against column x: a mark for each row, or lines through the rows of each series.

    x, y, series  columns, as NAME or TABLE.NAME. Each value of a series has a colour and a symbol; a numeric series
                  without lines has a colour scale. By default the family; for lines, the columns in which lines differ
    table         table whose rows are drawn, with other columns of their networks; by default the first that has all
    lines         whether to draw lines; by default, if the rows of a network run along x, as with the offered load
    log           logarithmic axes: none, x, y, both, or auto
    where         an SQL condition on these columns
    choices       the routing, traffic and model whose rows are drawn
    results       one results folder, or several; each is then a separate series

    If there are more than MOST rows, a sample is drawn: the Pareto front, and other rows at even distances. A chart has
    at most MOST_LINES lines. Raises BadInput for unknown columns and tables, for columns without numbers, for mixed
    routings, traffics or models, for values that a logarithmic axis cannot show, and where `query` does.
    """
    choices = choices or Choices()
    named = list(dict.fromkeys([x, y, *(series or ())]))
    folders = folders_of(results)
    joined = join(named, words=words_of(where), table=table, sweeps=len(folders) > 1)
    request = _request(joined, x, y, series, lines, log)
    require_tables(joined, folders, named)
    keys = keys_of(joined, [joined.column(name) for name in named])
    found = query(_sql(request, keys, choices, where), folders, about=where)
    known = found.filter(pc.and_(*(pc.is_finite(pc.cast(found.column(end), pa.float64(), safe=False)) for end in "xy")))
    if not known.num_rows:
        refuse_absent(folders, joined, choices.spelled())
        shared = [key for key in SHARED if sum(key in DECLARED[name].apart for name in joined.tables) > 1]
        matched = f" (matched by {', '.join(['network', *shared])})" if len(joined.tables) > 1 else ""
        why = uncomputed(folders, [*named, "static"]) or "torusweep query shows what is there"
        rows = f"rows of {' and '.join(joined.tables) or 'static'}{matched} with both {x} and {y}"
        raise BadInput(f"expected {rows}{f' where {where}' if where else ''}, got none; {why}")
    whole = known.rename_columns([name.removeprefix(KEY) for name in known.column_names])
    if request.lines is None:
        request = request._replace(lines=_is_curve(request, whole, keys))
    names = _series_of(request, whole, keys, choices)
    apart = [*names, request.x.name, request.y.name, *choices.each(), *(RUNNING if request.lines else ())]
    if names and BRANCH not in names:  # what each series has one value of
        apart += [key for key in keys if key not in COMPARED and not refining(whole, [key], names)]
    if keys:
        refuse_mixed(whole, keys, ["x", "y"], series=names, apart=apart, named=[x, y])
    return _drawn(request, names, known, found.num_rows, _subtitle(folders, request, where, choices))


def _request(joined: Join, x: str, y: str, series: Sequence[str] | None, lines: bool | None, log: str) -> PlotRequest:
    """Return the request, checked against the declarations of the tables; no table is read."""
    across, up = joined.column(x), joined.column(y)
    for named in (across, up):
        if named.column.type not in NUMBERS:
            raise BadInput(f"column '{named.name}': expected numbers, got {named.column.type}; choose another column")
    grouped = [joined.column(name) for name in series] if series is not None else None
    for named in grouped or ():
        kind = named.column.type
        if kind not in (*NUMBERS, "string", "bool"):
            raise BadInput(
                f"column '{named.name}': expected words or numbers for a series, got {kind}; choose another column"
            )
    if lines is None and across.column.name in DECLARED[across.table].apart:
        lines = True
    return PlotRequest(joined, across, up, grouped, lines, log)


def _sql(request: PlotRequest, keys: Sequence[str], choices: Choices, where: str | None) -> str:
    """Return a SELECT of x, y, their errors, the series and keys, and the columns that the legend needs."""
    joined = request.joined
    wanted = [request.x, request.y, *(request.series or ())]
    faults = any(word.startswith("fault_") for word in (*(named.name for named in wanted), *words_of(where)))
    columns = {"x": f'"{request.x.name}"', "y": f'"{request.y.name}"'}
    for end, named in (("x", request.x), ("y", request.y)):
        for suffix in ("error", "stderr"):
            error = _beside(joined, named, f"{named.column.name}_{suffix}")
            if error:
                columns[f"{end}_{suffix}"] = f'"{error}"'
    saturated = _beside(joined, request.y, "saturated")
    if saturated and request.lines is not False:
        columns["saturated"] = f'"{saturated}"'
    columns["family"] = f"coalesce(family, '{NO_NETWORK}')"
    columns["directed"] = "coalesce(directed, false)"
    columns["topology"] = f"coalesce(topology, '{NO_NETWORK}')" if "topology" in joined.columns else "NULL"
    if request.lines or (request.lines is None and any(name in RUNNING for name in keys)):
        columns["parameters"] = "parameters"
    for name in [*keys, *(named.name for named in request.series or ())]:
        if name not in ("topology", "family"):
            columns[KEY + name] = columns.get(name) or f'"{name}"'
    columns["place"] = f"hash({columns['topology']}, {columns['x']}, {columns['y']})"
    listed = ", ".join(f'{sql} AS "{name}"' for name, sql in columns.items())
    condition = f" WHERE {bracketed(where)}" if where else ""
    # a table that only the condition names has several rows for what is drawn once
    kind = "SELECT" if {*joined.tables} <= {named.table for named in wanted} else "SELECT DISTINCT"
    return f"{kind} {listed} FROM {source(joined, choices.spelled(), faults=faults)}{condition}"


def _beside(joined: Join, named: Named, column: str) -> str | None:
    """Return the name in the join of `column` of the same table as `named`; None if that table lacks the column."""
    found = (
        other.name for other in joined.columns.values() if (other.table, other.column.name) == (named.table, column)
    )
    return next(found, None)


def _is_curve(request: PlotRequest, rows: pa.Table, keys: Sequence[str]) -> bool:
    """Return whether each network's rows run along a load, a rate or a distance, and differ in x."""
    running = [key for key in keys if key in RUNNING]
    if not running or request.x.table != request.y.table:
        return False
    line = ["topology", "family", *(key for key in keys if key not in running)]
    return bool(np.any(groups(rows, line, [("x", "count_distinct")]).column("x_count_distinct").to_numpy() > 1))


def _series_of(request: PlotRequest, rows: pa.Table, keys: Sequence[str], choices: Choices) -> list[str]:
    """Return the columns whose values decide the lines or the colours; [] if the family decides."""
    each = [name for name, value in choices._asdict().items() if value == ALL and name in keys]
    each += [SWEEP] if request.joined.sweeps else []
    if request.series is not None:
        return list(dict.fromkeys([*(named.name for named in request.series), *each]))
    if not request.lines:
        return each
    if request.x.name not in keys and request.x.table == "static":
        return [BRANCH, *each]
    passed = (request.x.name, request.y.name, *RUNNING, *HOW)
    telling = [key for key in keys if key not in passed]
    chosen = [key for key in telling if key in COMPARED and len(rows.column(key).unique()) > 1]
    others = [key for key in telling if key not in COMPARED]
    return ["topology", *chosen, *refining(rows, others, ["topology", *chosen])]


def _drawn(request: PlotRequest, names: Sequence[str], known: pa.Table, found: int, subtitle: str) -> Plot:
    """Return the chart of the rows that have numbers in x and y."""
    log = _log(request, known)
    rows = _sample(request, known)
    columns = [request.joined.columns[name] for name in names if name != BRANCH]
    looks: Sequence[Look] | str
    if not request.lines and len(names) == len(columns) == 1 and columns[0].column.type in NUMBERS:
        rows = [row | {"group": row["keys"][names[0]]} for row in rows if row["keys"][names[0]] is not None]
        looks = _title(columns[0])
    else:
        looks = _looks(request, rows, names)
    points = sorted(map(_point, rows), key=lambda row: row["along"])
    most = _cut(request, points, log)
    hollow = any(row["hollow"] and (most is None or row["y"] <= most) for row in points)
    barred = any("low" in row or "left" in row for row in points)
    facets = _facets(points, names) if request.lines and len(looks) > MOST_LINES else {}
    remarks = ["bars: 95 % confidence intervals"] * barred + ["hollow marks: saturated"] * hollow
    if len(rows) < known.num_rows:
        remarks.append(f"a sample of {len(rows):,} of {known.num_rows:,} rows")
    chart = Chart(
        title=f"{_words(request.y.name)} against {_words(request.x.name)}",
        caption="; ".join([subtitle, *remarks]),
        x=Axis("x", _title(request.x), "x" in log),
        y=Axis("y", _title(request.y), "y" in log, domain=None if most is None else (0, most)),
        line="group",
        looks=looks,
        along="along" if request.lines else None,
        detail="line" if request.lines else "",
        hollow="hollow",
        size=48 if request.lines or barred else 14 if len(rows) > 5000 else 30 if len(rows) > 800 else 55,
        opacity=1 if request.lines or barred else 0.75,
    )
    drawn = faceted(chart, facets) if facets else chart.draw(points, None if isinstance(looks, str) else key(looks))
    return Plot(finished(drawn, chart.title, chart.caption), found, found - known.num_rows, len(rows), most)


def _sample(request: PlotRequest, known: pa.Table) -> list[dict[str, Any]]:
    """Return the rows to draw, by x and y, or a sample of MOST rows; a row has its key columns under `keys`."""
    some = known
    if known.num_rows > MOST:
        order = np.argsort(np.from_dlpack(known.column("place").combine_chunks()), kind="stable")
        both = {"x": request.x.column, "y": request.y.column}
        costs = [column.cost(numbers(known.column(end))[order]) for end, column in both.items()]
        some = known.take(arrow_places(np.sort(order[sampled(costs, len(order), MOST)])))
    rows = sorted(some.to_pylist(), key=lambda row: (row["x"], row["y"], str(row["topology"])))
    named = {name: name.removeprefix(KEY) for name in some.column_names if name.startswith((KEY, "topology", "family"))}
    return [{**row, "keys": {key: row[name] for name, key in named.items()}} for row in rows]


def _facets(points: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Divide the marks into charts of at most MOST_LINES lines, by a column's values or in order of the lines."""
    for place, name in list(enumerate(names))[1:]:
        charts: dict[str, list[dict[str, Any]]] = {}
        for point in points:
            others = [word for at, word in enumerate(point["words"]) if at != place]
            named = {**point, "group": ", ".join(others)}
            charts.setdefault(f"{_words(name)} {point['words'][place]}", []).append(named)
        if len(charts) > 1 and all(len({row["group"] for row in own}) <= MOST_LINES for own in charts.values()):
            return dict(sorted(charts.items()))
    order = sorted({point["group"] for point in points}, key=_natural)
    count = -(-len(order) // MOST_LINES)
    parts = [set(part) for part in np.array_split(np.array(order, object), count)]
    return {f"{i} of {count}": [p for p in points if p["group"] in part] for i, part in enumerate(parts, start=1)}


def _log(request: PlotRequest, rows: pa.Table) -> str:
    """Return the logarithmic axes: 'x', 'y', 'xy' or ''. Raises BadInput if such an axis cannot show a value."""
    named = {"x": request.x.name, "y": request.y.name}
    values = {end: numbers(rows.column(end)) for end in named}
    if request.log == AUTO:
        wide = [end for end in named if values[end].min() > 0 and values[end].max() >= WIDE * values[end].min()]
        curved = request.lines and request.x.table != "static"
        return "".join(end for end in wide if not (curved and end == "y"))
    for end in LOG[request.log]:
        if values[end].min() <= 0:
            raise BadInput(
                f"--log {request.log}: expected numbers above 0 in {named[end]}, got {values[end].min():g};"
                f" add --where '{named[end]} > 0'"
            )
    return LOG[request.log]


def _looks(request: PlotRequest, rows: Sequence[dict[str, Any]], names: Sequence[str]) -> list[Look]:
    """Return the looks of the rows. Sets `group`, a row's group, and `line` where a group has several lines."""
    if names in ([], ["family"]):
        return _families(rows)
    for row in rows:
        words = [_branch(row) if name == BRANCH else _word(row["keys"][name]) for name in names]
        row |= {"words": words, "group": ", ".join(words)}
    values = sorted({row["group"] for row in rows}, key=_natural)
    if len(values) > MOST_WORDS and names == [BRANCH]:  # the branches of a family share its colour
        for row in rows:
            row["line"] = row["group"]
        return _families(rows)
    if len(values) > MOST_WORDS:
        asked = f"--series {','.join(names)}" if request.series else "series"
        raise BadInput(
            f"{asked}: expected at most {MOST_WORDS}, which colours and symbols tell apart, got {len(values):,};"
            " choose another column with --series, or fewer rows with --where"
        )
    return value_looks(values)


def _families(rows: Sequence[dict[str, Any]]) -> list[Look]:
    """Return the looks of the rows' families. Sets each row's `group` to the name of its family's group."""
    named = [group_of(row) for row in rows]
    for row, (_, name) in zip(rows, named):
        row["group"] = name
    return network_looks(named)


def _branch(row: Mapping[str, Any]) -> str:
    return branch_of(row) if row["parameters"] is not None else str(row["family"])


def _point(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as a mark of a chart: its coordinates, its place along the line, and the ends of its error bars."""
    running = [row["keys"][key] for key in RUNNING if row["keys"].get(key) is not None]
    point = {
        "x": row["x"],
        "y": row["y"],
        "group": row["group"],
        "line": row.get("line", row["group"]),
        "along": running[0] if running else row["x"],
        "hollow": bool(row.get("saturated")),
        "words": row.get("words", ()),
    }
    for end, ends in (("y", ("low", "high")), ("x", ("left", "right"))):
        half = row.get(f"{end}_error")
        if half is None and row.get(f"{end}_stderr") is not None:
            half = DEVIATIONS * row[f"{end}_stderr"]
        if half is not None and np.isfinite(half) and half > 0:
            point |= {ends[0]: row[end] - half, ends[1]: row[end] + half}
    return point


def _cut(request: PlotRequest, points: Sequence[Mapping[str, Any]], log: str) -> float | None:
    """Return where a latency axis ends, because saturated latency grows with the simulated time; None to show all."""
    below = [point["y"] for point in points if not point["hollow"]]
    if not request.lines or "latency" not in request.y.name or "y" in log or not below:
        return None
    most = CUT * max(below)
    return most if max(point["y"] for point in points) > most else None


def _natural(text: str) -> list[tuple[bool, float, str]]:
    """Return a sort key under which the numbers in a text are compared by value."""
    pieces = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(False, float(piece), "") if place % 2 else (True, 0.0, piece) for place, piece in enumerate(pieces)]


def _word(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _title(named: Named) -> str:
    unit = named.column.printed_unit
    return _words(named.name) + (f", {unit}" if unit and unit != named.column.name else "")


def _subtitle(folders: Sequence[Path], request: PlotRequest, where: str | None, choices: Choices) -> str:
    chosen = [f"{name} {value}" for name, value in choices._asdict().items() if value]
    conditions = [*chosen, *([" ".join(where.split())] if where else [])]
    names = [" and ".join(folder.name for folder in folders), " and ".join(request.joined.tables) or "static"]
    return f"{', '.join(names)}{': ' if conditions else ''}{', '.join(conditions)}"


def remarks(plotted: Plot) -> str:
    """Return remarks on rows that the chart leaves out, and on whether it shows a sample; '' if it shows all rows."""
    parts = []
    if plotted.left_out:
        parts.append(f"{plotted.left_out:,} of {counted(plotted.rows, 'row')} lack a number and were left out")
    if plotted.drawn < plotted.rows - plotted.left_out:
        parts.append(f"a sample of {plotted.drawn:,} rows is drawn, since a picture holds {MOST:,}")
    if plotted.cut is not None:
        parts.append(f"saturated networks lie above the axis, which ends at {plotted.cut:,.4g}; --log y shows them")
    return "; ".join(parts)
