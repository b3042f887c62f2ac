"""Our quantities that papers' numbers are compared with: columns, or expressions of a record."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from torusweep.errors import BadInput
from torusweep.stages.loads.columns import LOADS
from torusweep.stages.static.columns import STATIC

Record = Mapping[str, Any]


def _nodes_at_distance(record: Record, distance: str) -> float | None:
    histogram = record["distance_histogram"]
    return histogram[int(distance)] / record["terminals"] if int(distance) < len(histogram) else 0.0


def _fault_diameter(record: Record, faults: str) -> float | None:
    if record["fault_nodes"] != int(faults):
        return None
    return math.inf if record["fault_diameter"] is None else record["fault_diameter"]  # None: disconnected


def _bisection_channels(record: Record, _: str) -> float | None:
    return None if record["bisection_upper"] is None else 2 * record["bisection_upper"]


def _mean_distance_per_radix(record: Record, _: str) -> float | None:
    return record["mean_distance"] / dict(record["parameters"])["k"]


def _routed_mean_distance_distinct(record: Record, _: str) -> float | None:
    mean, n = record["routed_mean_distance"], record["terminals"]
    return None if mean is None else mean * n / (n - 1)


EXPRESSIONS: dict[str, Callable[[Record, str], float | None]] = {
    "nodes_at_distance": _nodes_at_distance,  # [d]: nodes d hops away from a node, on average over nodes
    "fault_diameter": _fault_diameter,  # [f]: with f node faults
    "bisection_channels": _bisection_channels,  # one-way channels cut, both directions together
    "mean_distance_per_radix": _mean_distance_per_radix,
    "routed_mean_distance_distinct": _routed_mean_distance_distinct,  # divided by N-1
}
ROUTING, TRAFFIC = "minimal", "uniform"  # of every load that these papers print


def _class_hops(record: Record, name: str) -> float | None:
    return dict(record["per_class_hops"]).get(name)


# [x]: over links of class x
LOADS_EXPRESSIONS: dict[str, Callable[[Record, str], float | None]] = {"mean_hops": _class_hops}
LAYOUT_EXPRESSIONS: dict[str, Callable[[Record, str], float | None]] = {  # [placement], folded without one
    "longest_wire": lambda record, _: record["wire_length_max"],
    "longest_wire_euclidean": lambda record, _: record["wire_length_max_euclidean"],
    "pins": lambda record, _: record["pins"],
    "wire_density_peak": lambda record, _: record["wire_density_max"] * record["channel_width"],
    "wire_density_peak_position": lambda record, _: record["wire_density_position"],
    "wire_density_middle": lambda record, _: record["wire_density_middle"] * record["channel_width"],
    "layout_volume": lambda record, _: record["layout_volume"],
}
PLACEMENT = "folded"  # of every layout that these papers draw, unless the row says another
# of acyclic[routing, rule, virtual channels], and of best_dimension[nodes, message bits, wire delay]
RULE = re.compile(r"(?P<routing>\w+), (?P<rule>.+), (?P<channels>\d+)")
CUBES = re.compile(r"(?P<nodes>\d+), (?P<message_bits>\d+), (?P<wire_delay>\w+)")
STATIC_COLUMNS = {column.name for column in STATIC}
LOADS_COLUMNS = {column.name for column in LOADS if column.type == "double"}
# 'name', 'name[index]', 'name / other network'
QUANTITY = re.compile(r"(?P<name>\w+)(?:\[(?P<index>[^\]]+)\])?(?: / (?P<other>.+))?")


def is_static(quantity: str) -> bool:
    """Whether the static table can answer it."""
    name, index, _ = parts(quantity)
    return (name in STATIC_COLUMNS and not index) or name in EXPRESSIONS


def is_load(quantity: str) -> bool:
    """Whether the table of loads can answer it."""
    name, index, _ = parts(quantity)
    return name in (LOADS_EXPRESSIONS if index else LOADS_COLUMNS)


def is_deadlock(quantity: str) -> bool:
    """Whether the table of deadlock can answer it: 'acyclic[hierarchical, r05_wrap, 2]', 1 where it is true."""
    name, index, _ = parts(quantity)
    return name == "acyclic" and RULE.fullmatch(index) is not None


def is_layout(quantity: str) -> bool:
    """Whether the table of layouts can answer it: 'longest_wire[shuffled]', 'pins'."""
    return parts(quantity)[0] in LAYOUT_EXPRESSIONS


def is_latency(quantity: str) -> bool:
    """Whether the table of latency can answer it: 'best_dimension[256, 150, constant]'."""
    name, index, _ = parts(quantity)
    return name == "best_dimension" and CUBES.fullmatch(index) is not None


def parts(quantity: str) -> tuple[str, str, str]:
    """(name, index, other network), '' where it has none. Raises BadInput for what cannot be read."""
    found = QUANTITY.fullmatch(quantity)
    if found is None:
        raise BadInput(f"quantity {quantity!r}: expected a column's name, name[index], or name / topology")
    return found["name"], found["index"] or "", found["other"] or ""
