"""The colours and symbols of marks and lines, one look for each family, line or value.

Things that differ in colour also differ in symbol or dash. The colours have the hues of Okabe and Ito
(2008), which colour-blind readers can tell apart; each has a contrast of at least 3 : 1 (WCAG 2.1) on
white paper and on the dark page.

The module also selects networks that can be compared, and names the line of a chart that a network is on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from torusweep.charts import Axis
from torusweep.networks.families import FAMILIES, KIND_OF
from torusweep.tables.rows import Record, StoredRows, Tables, stored_rows

SIZE_PARAMETERS = ("k", "a", "n")  # a network's size is its first parameter among these; a series fixes all others
TIPS = {  # columns that are shown when a pointer is over a network, with their names there
    "topology": "network",
    "nodes": "nodes",
    "degree_max": "degree",
    "diameter": "diameter, hops",
    "mean_distance": "mean distance, hops",
    "links": "links",
    "cost": "cost (diameter × degree)",
}
# Vega's symbols as SVG paths, each about as large as the unit circle
SYMBOLS = {
    "circle": "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z",
    "square": "M-.9,-.9H.9V.9H-.9Z",
    "diamond": "M0,-1.2L.9,0L0,1.2L-.9,0Z",
    "triangle-up": "M0,-1L1.1,.9H-1.1Z",
    "cross": "M-1,-.35H-.35V-1H.35V-.35H1V.35H.35V1H-.35V.35H-1Z",
    "triangle-down": "M0,1L1.1,-.9H-1.1Z",
    "triangle-right": "M1,0L-.9,1.1V-1.1Z",
    "triangle-left": "M-1,0L.9,1.1V-1.1Z",
}
# kinds whose colours differ most, for values that are no kinds; the two blues are not next to each other
SERIES = ("torus", "pruned", "directed", "twisted", "hierarchical", "mesh", "other")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))  # each time the colours repeat, the next dash is used


def distinct(tables: Tables, families: Iterable[str] | None = None) -> StoredRows:
    """Return one row of static per network of the given families (default: all), not one per number of faults."""
    networks = stored_rows(tables, "static")
    return (networks if families is None else networks.among("family", families)).distinct("topology")


def comparable(networks: StoredRows) -> StoredRows:
    """Return the connected networks of at least two nodes, ordered by number of nodes and name.

    A disconnected network has distances within its components only, so it would seem better than it is.
    """
    chosen = (networks.numbers("connected") > 0) & (networks.numbers("nodes") > 1)
    return networks.at(np.flatnonzero(chosen)).sorted("nodes", "topology")


def measured(networks: StoredRows) -> StoredRows:
    """Return the networks whose distances the sweep has measured."""
    return networks.at(np.flatnonzero(~np.isnan(networks.numbers("mean_distance"))))


def size_axis(networks: Iterable[Mapping[str, Any]]) -> Axis:
    """Return the axis of sizes: nodes, or terminals if a network has switches, or several terminals per router."""
    switched = any(record.get("terminals", record["nodes"]) != record["nodes"] for record in networks)
    column = "terminals" if switched else "nodes"
    return Axis(column, column, log=True)


def series(record: Record) -> str:
    """Return the name of a network's line in a chart: its family and all its parameters except the size."""
    parameters = dict(record["parameters"])
    size = next((name for name in SIZE_PARAMETERS if name in parameters), None)
    kept = [f"{name}={value}" for name, value in sorted(parameters.items()) if name != size]
    return " ".join([record["family"], *kept, *(["directed"] if record["directed"] else [])])


class Look(NamedTuple):
    """The look of a line or a group of marks; the legend shows its `name`."""

    name: str
    colour: str
    symbol: str
    dash: tuple[int, ...] = (1, 0)


KINDS = {  # looks of kinds of families (torusweep.networks.families.KIND_OF), in the order of legends
    look.name: look
    for look in (
        Look("torus", "#006DAD", "circle"),
        Look("mesh", "#379AD8", "cross"),
        Look("pruned", "#B84300", "square"),
        Look("directed", "#008A62", "triangle-right"),
        Look("twisted", "#CB73A3", "diamond"),
        Look("hierarchical", "#C48600", "triangle-up"),
        Look("HyperX", "#8A63D2", "square"),
        Look("Dragonfly", "#D64550", "triangle-left"),
        Look("fat tree", "#5C8A00", "triangle-down"),
        Look("diameter two", "#00899B", "diamond"),
        Look("random", "#A0714F", "cross"),
        Look("de Bruijn", "#7A7A00", "circle"),
        Look("HammingMesh", "#916FB8", "triangle-down"),
        Look("other", "#7C818A", "circle"),
    )
}
BLUE, GREY = KINDS["torus"].colour, KINDS["other"].colour
SIX = (  # looks of lines that are named by a value
    Look("", "#006DAD", "circle"),
    Look("", "#C48600", "square"),
    Look("", "#008A62", "triangle-up"),
    Look("", "#B84300", "diamond"),
    Look("", "#379AD8", "cross"),
    Look("", "#CB73A3", "triangle-down"),
)


def kind(record: Mapping[str, Any]) -> str:
    """Return the kind of a network, which decides its colour: `directed` for directed links, else its family's kind."""
    return "directed" if record["directed"] else KIND_OF.get(record["family"], "other")


def group_of(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return (kind, name) of the group of designs with a common look: a family, or its directed networks."""
    family = str(record["family"])  # else a number, in a table that was altered
    return kind(record), f"{family}, directed" if record["directed"] and "directed" not in family else family


def network_looks(names: Iterable[tuple[str, str]]) -> list[Look]:
    """Return the looks of groups of designs, kind by kind: a colour for each kind, and a symbol for each group in it.

    names  (kind, name) of each group, as `group_of` returns
    """
    order, place = ({name: number for number, name in enumerate(table)} for table in (KINDS, FAMILIES))
    present = sorted(set(names), key=lambda item: (order[item[0]], place.get(item[1], len(place)), item[1]))
    symbols = list(SYMBOLS)
    found = [
        Look(name, KINDS[kind].colour, symbols[number % len(symbols)])
        for kind, of_kind in groupby(present, key=lambda item: item[0])
        for number, (_, name) in enumerate(of_kind)
    ]
    return [look._replace(dash=_dash(number)) for number, look in enumerate(found)]


def value_looks(values: Iterable[str]) -> list[Look]:
    """Return a look for each value, with colours and symbols in a fixed order. The first 56 looks are distinct."""
    symbols = list(SYMBOLS)
    return [
        Look(value, KINDS[SERIES[number % len(SERIES)]].colour, symbols[number % len(symbols)], _dash(number))
        for number, value in enumerate(dict.fromkeys(values))
    ]


def _dash(number: int) -> tuple[int, ...]:
    return DASHES[number // len(SERIES) % len(DASHES)]
