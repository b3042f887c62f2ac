"""The rows of the table `screen` of networks together, from arrays."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from torusweep.questions.screen import bounds
from torusweep.questions.static.blocks import BlockNumbers, divided, lists


def columns_of(numbers: BlockNumbers) -> dict[str, Any]:
    """The columns of a block of networks; loads are of the link classes that a network has."""
    block, connected, hops = numbers.block, numbers.measured.connected, numbers.hops
    assert numbers.measured.load is not None
    load = numbers.measured.load
    if block.capacity is not None:
        load = load / np.maximum(block.capacity, 1)
    of_class = range(int(block.link_class.max(initial=0)) + 1)
    present = np.stack([numbers.present & (block.link_class == number) for number in of_class], axis=1)
    by_class = np.where(present, load[:, None], 0.0).max(axis=(2, 3))
    busiest = by_class.max(axis=1)
    degree = numbers.degrees.max(axis=1, initial=0)
    least = np.array(
        [limits(*key, numbers.plan.directed) for key in zip(numbers.terminals.tolist(), degree.tolist())], np.int64
    )
    limited = (numbers.at_nodes <= 1).all(axis=1) & connected  # terminals of one node are 0 hops apart
    nothing = pa.nulls(numbers.many)
    return {
        "topology": block.spellings,
        "nodes": numbers.works.sum(axis=1),
        "dimensions": nothing,
        "matrix": nothing,
        "class_size": nothing,
        "degree": degree,
        "links": numbers.links,
        "connected": connected,
        "diameter": hops.diameter,
        "distance_sum": hops.sum,
        "mean_distance": hops.mean,
        "mean_distance_distinct": hops.mean_distinct,
        "distance_histogram": hops.lists,
        "load": lists(by_class, np.asarray(present.any(axis=(2, 3))), connected),
        "max_channel_load": pa.array(busiest, mask=~connected),
        "saturation_load": pa.array(divided(np.ones(numbers.many), busiest), mask=~connected | (busiest == 0)),
        "diameter_bound": pa.array(least[:, 0], mask=~limited),
        "mean_distance_bound": pa.array(divided(least[:, 1], numbers.terminals), mask=~limited),
        "lattice_diameter_bound": nothing,
        "lattice_mean_distance_bound": nothing,
    }


@cache
def limits(terminals: int, degree: int, directed: bool) -> tuple[int, int]:
    """Least diameter and sum of distances from a node, of any graph of this size and degree; 0 where there is none."""
    try:
        levels = bounds.moore_levels(terminals, degree, directed=directed)
    except ValueError:  # no connected graph is so: the row is null
        return 0, 0
    return bounds.diameter(levels), bounds.distance_sum(levels)
