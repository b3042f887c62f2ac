"""Networks in charts: which of them can be compared, and which lie on a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Record = Mapping[str, Any]

SIZE_PARAMETERS = ("k", "a", "n")  # the first of these is a network's size; a series keeps its other parameters
TIPS = {  # columns that a pointer at a network shows, and what it calls them
    "topology": "network",
    "nodes": "nodes",
    "degree_max": "degree",
    "diameter": "diameter, hops",
    "mean_distance": "mean distance, hops",
    "links": "links",
    "cost": "cost (diameter × degree)",
}


def distinct(records: Iterable[Record]) -> list[Record]:
    """Each network once: the static table has a further row for each number of faults."""
    return list({record["topology"]: record for record in records}.values())


def comparable(records: Iterable[Record]) -> list[Record]:
    """The connected networks of two nodes and more, each once, by nodes and name.

    Distances of a disconnected network are within its components, so it would seem better than it is.
    """
    chosen = (record for record in distinct(records) if record["connected"] and record["nodes"] > 1)
    return sorted(chosen, key=lambda record: (record["nodes"], record["topology"]))


def series(record: Record) -> str:
    """The line that a network lies on: its family and all its parameters but the size."""
    parameters = dict(record["parameters"])
    size = next((name for name in SIZE_PARAMETERS if name in parameters), None)
    kept = [f"{name}={value}" for name, value in sorted(parameters.items()) if name != size]
    return " ".join([record["family"], *kept, *(["directed"] if record["directed"] else [])])
