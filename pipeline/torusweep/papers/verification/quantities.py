"""Evaluate our quantities that papers' numbers are compared with: columns, or expressions of a record.

Some quantities are simulated; for these the module also finds the load that the links could carry.

    max_accepted_load[bluegene, uniform]                         of the row's network
    max_accepted_load[bluegene, uniform] / rt(a=16)              divided by that of another network
    low_load_latency[rahman-2005, uniform]
      / low_load_latency[rahman-2005, uniform, virtual_channels=1] of mesh(k=64, n=2)
    … / rt(a=16) over … / rt(a=16)                               a ratio over another one of the same network
    delivery_time[bluegene, lu(side=16), placement=random]       of a workload

The brackets hold the router (a preset), the traffic, and the columns that differ from the preset. They also hold
the link class for channel_utilization, and a workload and its tasks' placement for delivery_time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from torusweep.errors import BadInput
from torusweep.questions.loads.columns import LOADS
from torusweep.questions.simulation.presets import preset
from torusweep.questions.static.columns import STATIC

Record = Mapping[str, Any]
ROUTING, TRAFFIC = "minimal", "uniform"  # of every load that these papers print
# mean_hops[x]: hops over links of class x
LOADS_EXPRESSIONS: dict[str, Callable[[Record, str], float | None]] = {
    "mean_hops": lambda record, name: dict(record["per_class_hops"]).get(name)
}
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
NAMES = ("max_accepted_load", "low_load_latency", "channel_utilization", "delivery_time")
SETTINGS = ("virtual_channels", "buffer_flits", "packet_flits")  # columns with a default in the preset
TERM = re.compile(
    rf"(?P<name>{'|'.join(NAMES)})\[(?P<router>[\w-]+), (?P<traffic>\w+(?:\([^()]*\))?)(?P<settings>(?:, \w+=\w+)*)\]"
)


def _nodes_at_distance(record: Record, distance: str) -> float | None:
    histogram = record["distance_histogram"]
    return histogram[int(distance)] / record["terminals"] if int(distance) < len(histogram) else 0.0


def _fault_diameter(record: Record, faults: str) -> float | None:
    if record["fault_nodes"] != int(faults):
        return None
    return math.inf if record["fault_diameter"] is None else record["fault_diameter"]  # None: disconnected


def _routed_mean_distance_distinct(record: Record, _: str) -> float | None:
    mean, n = record["routed_mean_distance"], record["terminals"]
    return None if mean is None else mean * n / (n - 1)


EXPRESSIONS: dict[str, Callable[[Record, str], float | None]] = {
    "nodes_at_distance": _nodes_at_distance,  # [d]: nodes d hops away from a node, on average over nodes
    "fault_diameter": _fault_diameter,  # [f]: with f node faults
    # one-way channels cut, both directions together
    "bisection_channels": lambda record, _: record["bisection_upper"] and 2 * record["bisection_upper"],
    "mean_distance_per_radix": lambda record, _: record["mean_distance"] / dict(record["parameters"])["k"],
    "routed_mean_distance_distinct": _routed_mean_distance_distinct,  # divided by N-1
}


def is_static(quantity: str) -> bool:
    """Return whether a quantity is found in the table static, as a column or an expression of columns."""
    name, index, _ = parts(quantity)
    return (name in STATIC_COLUMNS and not index) or name in EXPRESSIONS


def is_load(quantity: str) -> bool:
    """Return whether a quantity is found in the table loads, as a column or an expression of columns."""
    name, index, _ = parts(quantity)
    return name in (LOADS_EXPRESSIONS if index else LOADS_COLUMNS)


def is_deadlock(quantity: str) -> bool:
    """Return whether a quantity is in the table deadlock, such as 'acyclic[hierarchical, r05_wrap, 2]' (true: 1)."""
    name, index, _ = parts(quantity)
    return name == "acyclic" and RULE.fullmatch(index) is not None


def is_layout(quantity: str) -> bool:
    """Return whether a quantity is found in the table layout, such as 'longest_wire[shuffled]' or 'pins'."""
    return parts(quantity)[0] in LAYOUT_EXPRESSIONS


def is_latency(quantity: str) -> bool:
    """Return whether a quantity is found in the table latency, such as 'best_dimension[256, 150, constant]'."""
    name, index, _ = parts(quantity)
    return name == "best_dimension" and CUBES.fullmatch(index) is not None


def parts(quantity: str) -> tuple[str, str, str]:
    """Split a quantity into (name, index, other network), with '' for absent parts. Raises BadInput on failure."""
    found = QUANTITY.fullmatch(quantity)
    if found is None:
        raise BadInput(f"quantity {quantity!r}: expected a column's name, name[index], or name / topology")
    return found["name"], found["index"] or "", found["other"] or ""


class Term(NamedTuple):
    """A simulated term of a quantity.

    name     max_accepted_load: the largest accepted load, if a load of the sweep saturates the network;
             low_load_latency: network_latency at the lowest load; channel_utilization: the mean of a link class
             at the largest accepted load; delivery_time: the column of that name
    traffic  a traffic pattern, or for delivery_time a workload
    """

    name: str
    topology: str
    router: str
    traffic: str
    settings: tuple[tuple[str, str], ...]


class Computed(NamedTuple):
    """Our value of a quantity.

    value     our value; None if the sweep lacks what it needs
    missing   what the sweep lacks, in words; '' if there is a value
    capacity  the same quantity at the load that the links can carry; None if that is not known
    """

    value: float | None
    missing: str = ""
    capacity: float | None = None


def is_simulated(quantity: str) -> bool:
    """Return whether a quantity is found in the table simulation."""
    return quantity.startswith(tuple(f"{name}[" for name in NAMES))


def read(quantity: str, topology: str) -> list[tuple[Term, int]]:
    """Split a quantity into its terms, each with the exponent 1 or -1. Raises BadInput if it cannot be parsed."""
    terms = []
    for ratio, sign in zip(quantity.split(" over "), (1, -1), strict=False):
        first, _, second = ratio.partition(" / ")
        terms.append((_term(first, topology), sign))
        if second:
            other, _, of = second.partition(" of ")
            terms.append((_term(other, of) if of else _term(first, other), -sign))
    return terms


def _term(text: str, topology: str) -> Term:
    found = TERM.fullmatch(text)
    if found is None:
        raise BadInput(f"quantity {text!r}: expected {' or '.join(NAMES)} with [router, traffic, setting=value …]")
    settings = dict(setting.split("=") for setting in found["settings"].split(", ")[1:])
    own = {"channel_utilization": "link_class", "delivery_time": "placement"}.get(found["name"])
    known = (own,) if own else SETTINGS
    if not set(settings) <= set(known) or (own and not settings):
        raise BadInput(
            f"quantity {text!r}: expected the settings {', '.join(known)}, got {', '.join(settings) or 'none'}"
        )
    return Term(found["name"], topology, found["router"], found["traffic"], tuple(settings.items()))


class SimulatedRows:
    """The simulations of a sweep, with its table of loads, which bound the simulated loads."""

    def __init__(self, simulation: Iterable[Record], loads: Iterable[Record]) -> None:
        self._rows: dict[tuple[str, str, str], list[Record]] = {}
        for row in simulation:
            finished = row["workload"] if row["delivery_time"] is not None else None
            traffic = finished if row["offered_load"] is None else row["traffic"]
            if traffic is not None:  # neither a fixed batch nor a workload that did not finish
                self._rows.setdefault((row["topology"], row["router"], traffic), []).append(row)
        self._loads = {
            (load["topology"], load["routing"], load["traffic"]): load for load in loads if load["method"] == "exact"
        }

    def ours(self, quantity: str, topology: str) -> Computed:
        """Return our value of a quantity, or what the sweep lacks for it."""
        value, capacity = 1.0, 1.0
        bounded = True
        for term, sign in read(quantity, topology):
            rows = self._chosen(term)
            if not rows:
                lack = "has no delivery time" if term.name == "delivery_time" else "is not"
                return Computed(None, f"{_words(term)} {lack} in the sweep")
            best = max(rows, key=lambda row: row["accepted_load"])
            if term.name in ("max_accepted_load", "channel_utilization") and not any(row["saturated"] for row in rows):
                return Computed(None, f"no load of the sweep saturates {_words(term)}")
            value *= _value(term, rows, best) ** sign
            most = self.capacity(best) if term.name == "max_accepted_load" else None
            bounded = bounded and most is not None
            capacity *= 1.0 if most is None else most**sign
        return Computed(value, "", capacity if bounded else None)

    def capacity(self, row: Record) -> float | None:
        """Return the load in flits/cycle/terminal that the links can carry; None if the sweep does not have it.

        Deterministic routings load the links as in the table of loads. Adaptive routings carry at most what the best
        minimal routes carry: by a linear program or, for uniform traffic on these papers' networks, whose symmetry
        allows it, by an even split over all shortest paths. Under uniform traffic on node-symmetric networks no
        accepted load exceeds this load. In other cases it can, because beyond saturation, terminals whose packets meet
        no full link continue to send.
        """
        adaptive = row["routing"].startswith("adaptive")
        load = self._loads.get((row["topology"], "minimal" if adaptive else row["routing"], row["traffic"]))
        if load is None:
            return None
        column = "capacity_minimal" if adaptive and row["traffic"] != "uniform" else "saturation_load"
        capacity: float | None = load[column]
        return capacity

    def _chosen(self, term: Term) -> list[Record]:
        """Return the rows of a term, one for each load."""
        made = preset(term.router)
        wanted = {name: int(dict(term.settings).get(name, getattr(made, name))) for name in SETTINGS}
        rows = self._rows.get((term.topology, term.router, term.traffic), [])
        placed = [row for row in rows if row["placement"] == dict(term.settings).get("placement")]
        return [row for row in placed if all(row[name] == value for name, value in wanted.items())]


def _value(term: Term, rows: list[Record], best: Record) -> float:
    if term.name == "max_accepted_load":
        return float(best["accepted_load"])
    if term.name == "low_load_latency":
        return float(min(rows, key=lambda row: row["offered_load"])["network_latency"])
    if term.name == "delivery_time":
        return float(best["delivery_time"])
    return float(dict(best["per_class_utilization"])[dict(term.settings)["link_class"]]["mean"])


def _words(term: Term) -> str:
    return ", ".join(
        [
            f"{term.topology} with router {term.router}",
            term.traffic,
            *(f"{name} {value}" for name, value in term.settings),
        ]
    )
