"""The row of the table `layout`: places, lengths and density of wires."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np

from torusweep.networks.topology import Topology
from torusweep.stages.layout.columns import LAYOUT
from torusweep.stages.layout.placements import extent, place
from torusweep.stages.layout.wires import Wires, crossings, layout_volume, wires_of


def layout_record(topology: Topology, placement: str) -> dict[str, Any]:
    """The row of the table `layout`, as Python values without NaN.

    placement   spelling (torusweep.stages.layout.placements)
    Raises BadInput where the name or a parameter is wrong, or the network does not fit the placement.
    """
    placed = place(placement, topology.plan, topology.spelling)
    sides, wires, across = extent(placed), wires_of(topology, placed), crossings(topology, placed)
    values = {
        "topology": topology.spelling,
        "placement": placed.spelling,
        "dimensions": len(sides),
        "extent": list(sides),
        "places": len(placed.positions),
        "block": None if placed.block is None else list(placed.block),
        "cables": None if placed.block is None else int(wires.number.sum()),
        **_lengths(wires),
        "per_class_wire_length": _by_class(topology, wires),
        **_density(topology, across, sides),
        "layout_volume": None if placed.block is not None else layout_volume(across, sides),
        "notes": "; ".join(topology.plan.notes),
    }
    return {column.name: values[column.name] for column in LAYOUT}


def _lengths(wires: Wires) -> dict[str, Any]:
    """Totals, means and maxima of the wires' lengths by both metrics; means and maxima are None without wires."""
    number = int(wires.number.sum())
    found: dict[str, Any] = {}
    for suffix, length in (("", wires.manhattan), ("_euclidean", wires.euclidean)):
        # fsum does not depend on the order in which a machine adds
        total = fsum(length * wires.number) if suffix else (length * wires.number).sum().item()
        most = length.max(initial=0).item()
        found |= {
            f"wire_length_max{suffix}": most if number else None,
            # the minimum prevents a mean that rounding lifts above the maximum
            f"wire_length_mean{suffix}": min(total / number, float(most)) if number else None,
            f"wire_length_total{suffix}": total,
        }
    lengths, group = np.unique(wires.manhattan, return_inverse=True)
    counts = np.bincount(group, weights=wires.number, minlength=len(lengths)).astype(np.int64)
    found["wire_length_histogram"] = [
        {"length": length, "wires": count} for length, count in zip(lengths.tolist(), counts.tolist())
    ]
    return found


def _by_class(topology: Topology, wires: Wires) -> dict[str, dict[str, float]]:
    """Mean and maximum length of every link class that has wires."""
    found = {}
    for kind in np.unique(wires.kind).tolist():
        own = wires.kind == kind
        length, count = wires.manhattan[own], wires.number[own]
        found[topology.plan.classes[kind]] = {
            "mean": int((length * count).sum()) / int(count.sum()),
            "max": float(length.max()),
        }
    return found


def _density(topology: Topology, across: list[np.ndarray], sides: tuple[int, ...]) -> dict[str, Any]:
    """Channels across the gaps of a row along x; channel width and pins at a bisection of one bit for each node."""
    channels = 1 if topology.directed else 2
    rows = int(np.prod(sides[1:], dtype=np.int64))
    row = channels * across[0] / rows
    middles = [channels * int(gaps[(side - 1) // 2]) for gaps, side in zip(across, sides) if side > 1]
    middle = min(middles, default=0)
    tail, head, port = topology.arcs
    parallel = None if topology.capacity is None else topology.capacity[tail, port]
    ends = topology.degrees + np.bincount(head, parallel, minlength=topology.nodes).astype(np.int64)
    return {
        "wire_density_max": float(row.max(initial=0.0)),
        "wire_density_position": int(row.argmax()) + 1 if len(row) else None,
        "wire_density_middle": float(row[(sides[0] - 1) // 2]) if len(row) else 0.0,
        "middle_channels": middle,
        "channel_width": topology.nodes / middle if middle else None,
        "pins": int(ends.max()) * topology.nodes / middle if middle else None,
    }
