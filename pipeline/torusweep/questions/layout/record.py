"""Compute a row of the table `layout`: places of nodes, and lengths and density of the wires between them.

A wire is a link between nodes at different places, or in different cabinets. It carries both channels of a
bidirectional link.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum, prod, sqrt
from typing import Any, NamedTuple

import numpy as np

from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.layout.columns import LAYOUT
from torusweep.questions.layout.placements import Placement, extent, place


class Wires(NamedTuple):
    """The wires of a placed network, in S groups of the same link class and reach.

    kind   int64[S]     link class
    reach  int64[S, D]  distance between a wire's ends along each dimension, in places
    number int64[S]     number of wires; a bidirectional link is one wire
    """

    kind: np.ndarray
    reach: np.ndarray
    number: np.ndarray

    @property
    def manhattan(self) -> np.ndarray:
        """int64[S]: Manhattan length of each group's wires, in pitches."""
        return self.reach.sum(axis=1)

    @property
    def euclidean(self) -> np.ndarray:
        """float64[S]: Euclidean length of each group's wires, in pitches."""
        return np.sqrt((self.reach.astype(np.float64) ** 2).sum(axis=1))


def wires_of(topology: Topology, placement: Placement) -> Wires:
    """Return the wires of a placed network, sorted by class and reach. Links within a cabinet are not wires."""
    sides = extent(placement)
    codes: dict[int, int] = {}
    for kind, tail, head in _wires(topology, placement):
        code = kind.astype(np.int64)
        for dimension, side in enumerate(sides):
            code = code * side + np.abs(head[:, dimension] - tail[:, dimension])
        for value, number in zip(*(array.tolist() for array in np.unique(code, return_counts=True))):
            codes[value] = codes.get(value, 0) + number
    ordered = sorted(codes)
    rest, reach = np.array(ordered, np.int64), np.zeros((len(codes), len(sides)), np.int64)
    for dimension in reversed(range(len(sides))):
        rest, reach[:, dimension] = np.divmod(rest, sides[dimension])
    return Wires(rest, reach, np.array([codes[code] for code in ordered], np.int64))


def crossings(topology: Topology, placement: Placement) -> list[np.ndarray]:
    """Return int64[E − 1] for each dimension with E places: wires across each gap between places, over all rows."""
    sides = extent(placement)
    changes = [np.zeros(side, np.int64) for side in sides]
    for _, tail, head in _wires(topology, placement):
        for dimension, side in enumerate(sides):
            ends = tail[:, dimension], head[:, dimension]
            low, high = np.minimum(*ends), np.maximum(*ends)
            changes[dimension] += np.bincount(low, minlength=side) - np.bincount(high, minlength=side)
    return [np.cumsum(change)[:-1] for change in changes]


def layout_volume(across: list[np.ndarray], sides: tuple[int, ...]) -> float:
    """Return a lower bound of the volume (in two dimensions, the area) of a placement's box, in wire pitches.

    across   number of wires across each gap, from `crossings`
    sides    sides of the bounding box, in places; a side of one place does not count as a dimension

    A cross section of the box has a cell for every wire that passes through. If the densest cross sections have X, Y
    and Z wires, a box of volume V has V² = X Y Z. In two dimensions, with a layer of wires for each direction, V = X Y.
    A node takes a cell, so the volume is at least the number of places.
    """
    densest = [int(gaps.max()) for gaps, side in zip(across, sides) if side > 1]
    if len(densest) == 3:
        volume = sqrt(prod(densest))
    else:
        volume = prod(densest) if len(densest) == 2 else max(sides) * sum(densest)
    return float(max(prod(sides), volume))


def _wires(topology: Topology, placement: Placement) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield, port by port, the link class of wires, int8[A], and the places of their tails and heads, int32[A, D]."""
    for port in range(topology.ports.shape[1]):
        heads = topology.ports[:, port]
        tails = np.flatnonzero(heads != NO_PORT)
        heads = heads[tails]
        wires = placement.cabinet[tails] != placement.cabinet[heads]
        if not topology.directed:
            wires &= tails < heads
        tails, heads = tails[wires], heads[wires]
        if topology.capacity is not None:  # each parallel link is a wire
            parallel = topology.capacity[tails, port]
            tails, heads = np.repeat(tails, parallel), np.repeat(heads, parallel)
        yield (
            topology.link_class[tails, port],
            placement.positions[placement.cabinet[tails]],
            placement.positions[placement.cabinet[heads]],
        )


def layout_record(topology: Topology, placement: str) -> dict[str, Any]:
    """Compute a row of the table `layout`, as Python values without NaN.

    placement   spelling of the placement (torusweep.questions.layout.placements)
    Raises BadInput if the spelling is wrong, or the placement is not defined for the network.
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
    """Return columns on wire lengths by both metrics, and the histogram. Means and maxima are None without wires."""
    number = int(wires.number.sum())
    found: dict[str, Any] = {}
    for suffix, length in (("", wires.manhattan), ("_euclidean", wires.euclidean)):
        # the result of fsum does not depend on the order of addition
        total = fsum(length * wires.number) if suffix else (length * wires.number).sum().item()
        most = length.max(initial=0).item()
        found |= {
            f"wire_length_max{suffix}": most if number else None,
            # rounding must not make the mean greater than the maximum
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
    """Return the mean and maximum Manhattan length of each link class that has wires, by the class's name."""
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
    """Return columns on wire density, and on channel width and pins for a total of 1 bit per node across the middle."""
    channels = 1 if topology.directed else 2
    rows = int(np.prod(sides[1:], dtype=np.int64))
    row = channels * across[0] / rows
    middles = [channels * int(gaps[(side - 1) // 2]) for gaps, side in zip(across, sides) if side > 1]
    middle = min(middles, default=0)
    nodes = int(topology.works.sum())  # without failed nodes, as in static
    tail, head, port = topology.arcs
    parallel = None if topology.capacity is None else topology.capacity[tail, port]
    ends = topology.degrees + np.bincount(head, parallel, minlength=topology.nodes).astype(np.int64)
    return {
        "wire_density_max": float(row.max(initial=0.0)),
        "wire_density_position": int(row.argmax()) + 1 if len(row) else None,
        "wire_density_middle": float(row[(sides[0] - 1) // 2]) if len(row) else 0.0,
        "middle_channels": middle,
        "channel_width": nodes / middle if middle else None,
        "pins": int(ends.max()) * nodes / middle if middle else None,
    }
