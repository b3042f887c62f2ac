"""Plots of any two columns of a sweep's tables, for files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torusweep.charts import scatter
from torusweep.charts.chart import finished
from torusweep.counts import counted
from torusweep.errors import BadInput, nearest
from torusweep.results.designs import MOST, NUMBERS, Axis, is_better_large, sample_of
from torusweep.results.query import query
from torusweep.stages.tables import TABLES
from torusweep.tables.columns import Column

LOG = {"none": "", "x": "x", "y": "y", "both": "xy"}
MOST_WORDS = 56  # that colours and symbols can distinguish
NO_NETWORK = "no network"  # the family of a row without a network
SCHEMA = "'torusweep query --schema' lists all"


class Plot(NamedTuple):
    """A chart for a file, and how many rows it shows.

    specification  Vega-Lite, complete
    rows           that the request selects
    left_out       of these, rows without a number
    drawn          marks
    """

    specification: dict[str, Any]
    rows: int
    left_out: int
    drawn: int


def plot(
    results: Path,
    x: str,
    y: str,
    *,
    table: str | None = None,
    colour: str = "family",
    log: str = "none",
    where: str | None = None,
) -> Plot:
    """Column y against column x, a mark a row.

    table   whose rows are drawn, joined by the static columns of their networks; None: the first with both columns
    colour  a column: each word has a colour and a symbol, numbers have a colour scale
    log     logarithmic axes: none, x, y or both
    where   an SQL condition on these columns

    Of more than 20,000 rows a sample is drawn: the Pareto front of both columns, and others evenly.
    Raises BadInput for unknown columns and tables, columns without numbers, and values that a logarithmic
    axis cannot show; as `query` does.
    """
    chosen = _table(table, (x, y, colour))
    columns = {column.name: column for column in (*TABLES[chosen], *TABLES["static"])[::-1]}
    for name in (x, y):
        if columns[name].type not in NUMBERS:
            raise BadInput(f"column '{name}': expected numbers, got {columns[name].type}; choose another column")
    kind = columns[colour].type
    if kind not in (*NUMBERS, "string", "bool"):
        raise BadInput(f"column '{colour}': expected words or numbers to colour by, got {kind}; choose another column")
    found = query(_sql(chosen, x, y, colour, where), results).to_pylist()
    known = [row for row in found if _number(row["x"]) and _number(row["y"]) and row["group"] is not None]
    if not known:
        condition = f" where {where}" if where else ""
        raise BadInput(
            f"expected rows of {chosen} with both {x} and {y}{condition}, got none; torusweep query shows what is there"
        )
    for axis in LOG[log]:
        least = min(row[axis] for row in known)
        if least <= 0:
            name = {"x": x, "y": y}[axis]
            raise BadInput(f"--log {log}: expected numbers above 0 in {name}, got {least:g}; add --where '{name} > 0'")
    kept = sample_of(
        [_as_axis(name, [row[at] for row in known]) for name, at in ((x, "x"), (y, "y"))], len(known), MOST
    )
    rows = [known[i] for i in kept]
    groups = _groups(rows, colour, numeric=kind in NUMBERS)
    titles = {"x": _title(columns[x]), "y": _title(columns[y]), "group": _title(columns[colour])}
    drawn = [{name: row[name] for name in ("x", "y", "group")} for row in rows]
    chart = scatter.chart(drawn, groups, titles, LOG[log])
    subtitle = f"{results.name}, table {chosen}{': ' + where if where else ''}"
    specification = finished(chart, f"{_words(y)} against {_words(x)}", subtitle)
    return Plot(specification, len(found), len(found) - len(known), len(rows))


def _table(table: str | None, wanted: Sequence[str]) -> str:
    """The table whose rows are drawn."""
    if table is not None and table not in TABLES:
        raise BadInput(f"unknown table '{table}'{nearest(table, TABLES)}; {SCHEMA}")
    candidates = [table] if table else ["static", *(name for name in TABLES if name not in ("static", "points"))]
    static = {column.name for column in TABLES["static"]}
    for name in candidates:
        if static.union(column.name for column in TABLES[name]).issuperset(wanted):
            return name
    known = [
        column.name
        for columns in ([TABLES[table], TABLES["static"]] if table else TABLES.values())
        for column in columns
    ]
    for name in wanted:
        if name not in known:
            raise BadInput(f"unknown column '{name}'{nearest(name, known)}; {SCHEMA}")
    raise BadInput(f"expected columns of one table, or of one and of static, got {', '.join(wanted)}; {SCHEMA}")


def _sql(table: str, x: str, y: str, colour: str, where: str | None) -> str:
    """One SELECT: x, y, group, and the family and direction of a row's network."""
    source = "SELECT * FROM static"
    if table != "static":
        own = {column.name for column in TABLES[table]}
        twice = ", ".join(
            column.name for column in TABLES["static"] if column.name in own and column.name != "topology"
        )
        beside = f"SELECT DISTINCT ON (topology) *{f' EXCLUDE ({twice})' if twice else ''} FROM static"
        source = f'SELECT * FROM "{table}" LEFT JOIN ({beside}) AS beside USING (topology)'
    condition = f" WHERE (\n{where}\n)" if where else ""
    named = f"coalesce(family, '{NO_NETWORK}') AS family, coalesce(directed, false) AS directed"
    group = f"coalesce(family, '{NO_NETWORK}')" if colour == "family" else f'"{colour}"'
    return f'SELECT "{x}" AS x, "{y}" AS y, {group} AS "group", {named} FROM ({source}){condition}'


def _number(value: Any) -> bool:
    return value is not None and bool(np.isfinite(value))


def _as_axis(name: str, values: Sequence[float]) -> Axis:
    return Axis(name, "", "", "", is_better_large(name), np.array(values, np.float64))


def _groups(rows: Sequence[dict[str, Any]], colour: str, *, numeric: bool) -> list[scatter.Group]:
    """The groups of the rows; sets each row's `group` to its group's name."""
    if numeric:
        return []
    if colour == "family":
        for row in rows:
            row["group"] = scatter.group_of(row)
        groups = scatter.network_groups([row["group"] for row in rows])
        for row in rows:
            row["group"] = row["group"][1]
        return groups
    for row in rows:
        row["group"] = str(row["group"])
    groups = scatter.value_groups(row["group"] for row in rows)
    if len(groups) > MOST_WORDS:
        raise BadInput(
            f"--colour {colour}: expected at most {MOST_WORDS} different words, got {len(groups):,};"
            " colour by another column"
        )
    return groups


def _words(name: str) -> str:
    return name.replace("_", " ")


def _title(column: Column) -> str:
    return _words(column.name) + (f", {column.unit}" if column.unit and column.unit != column.name else "")


def remarks(plotted: Plot) -> str:
    """What the picture does not show: rows left out, and whether it is a sample; '' where it shows all."""
    parts = []
    if plotted.left_out:
        parts.append(f"{plotted.left_out:,} of {counted(plotted.rows, 'row')} lack a number and were left out")
    if plotted.drawn < plotted.rows - plotted.left_out:
        parts.append(f"a sample of {plotted.drawn:,} rows is drawn, since a picture holds {MOST:,}")
    return "; ".join(parts)
