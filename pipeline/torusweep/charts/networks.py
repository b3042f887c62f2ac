"""Networks in charts: a colour and a shape for each kind, series, tooltips.

Colour always goes with a second sign (shape or dash). The colours have the hues of Okabe and Ito
(2008), which colour-blind readers can tell apart; each is light enough for a contrast of 3 : 1
(WCAG 2.1) on white paper and on the dark page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

from torusweep.networks.families import KIND_OF

Record = Mapping[str, Any]

# colour and shape of each kind of families (torusweep.networks.families.KIND_OF), in the order of legends
MARKS = {
    "torus": ("#006DAD", "circle"),
    "mesh": ("#379AD8", "cross"),
    "pruned": ("#B84300", "square"),
    "directed": ("#008A62", "triangle-right"),
    "twisted": ("#CB73A3", "diamond"),
    "hierarchical": ("#C48600", "triangle-up"),
    "HyperX": ("#8A63D2", "square"),
    "Dragonfly": ("#D64550", "triangle-left"),
    "fat tree": ("#5C8A00", "triangle-down"),
    "diameter two": ("#00899B", "diamond"),
    "random": ("#A0714F", "cross"),
    "de Bruijn": ("#7A7A00", "circle"),
    "HammingMesh": ("#916FB8", "triangle-down"),
    "other": ("#7C818A", "stroke"),
}
COLOURS = {kind: colour for kind, (colour, _) in MARKS.items()}
SHAPES = {kind: shape for kind, (_, shape) in MARKS.items()}
SIZE_PARAMETERS = ("k", "a", "n")  # the first of these is a network's size; a series keeps its other parameters
TOOLTIP = [
    alt.Tooltip("topology:N", title="network"),
    alt.Tooltip("nodes:Q", format=","),
    alt.Tooltip("degree_max:Q", title="degree"),
    alt.Tooltip("diameter:Q", title="diameter, hops"),
    alt.Tooltip("mean_distance:Q", title="mean distance, hops", format=".6~g"),
    alt.Tooltip("links:Q", format=","),
    alt.Tooltip("cost:Q", title="cost (diameter × degree)", format=","),
]
TOOLTIP_COLUMNS = ("topology", "nodes", "degree_max", "diameter", "mean_distance", "links", "cost")


def distinct(records: Iterable[Record]) -> list[Record]:
    """Each network once: the static table has a further row for each number of faults."""
    return list({record["topology"]: record for record in records}.values())


def comparable(records: Iterable[Record]) -> list[Record]:
    """The connected networks of two nodes and more, each once, by nodes and name.

    Distances of a disconnected network are within its components, so it would seem better than it is.
    """
    chosen = (record for record in distinct(records) if record["connected"] and record["nodes"] > 1)
    return sorted(chosen, key=lambda record: (record["nodes"], record["topology"]))


def kind(record: Record) -> str:
    """The kind of a network, which decides its colour: its family's, or directed."""
    return "directed" if record["directed"] else KIND_OF.get(record["family"], "other")


def series(record: Record) -> str:
    """The line that a network lies on: its family and all its parameters but the size."""
    parameters = dict(record["parameters"])
    size = next((name for name in SIZE_PARAMETERS if name in parameters), None)
    kept = [f"{name}={value}" for name, value in sorted(parameters.items()) if name != size]
    return " ".join([record["family"], *kept, *(["directed"] if record["directed"] else [])])
