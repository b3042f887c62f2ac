"""Rows of the table `screen` for networks, for one alone or for a block at once, from arrays."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from torusweep.questions.blocks import BlockNumbers, divided, lists
from torusweep.questions.screen import bounds
from torusweep.questions.static.guarantee import guarantee


def columns_of(numbers: BlockNumbers) -> dict[str, Any]:
    """Return the columns for a block of networks. Loads are given for each link class of a network."""
    block, connected, hops = numbers.block, numbers.connected, numbers.hops
    present, loads = [], []
    for number in range(int(block.link_class.max(initial=0)) + 1):
        of_class = numbers.present & (block.link_class == number)
        present.append(of_class.any(axis=(1, 2)))
        loads.append(np.where(of_class, numbers.load, 0.0).max(axis=(1, 2), initial=0.0))
    by_class = np.stack(loads, axis=1)
    busiest = by_class.max(axis=1)
    degree = numbers.degree_max
    least = np.array(
        [limits(*key, numbers.plan.directed) for key in zip(numbers.terminals.tolist(), degree.tolist())], np.int64
    )
    limited = (numbers.at_nodes <= 1).all(axis=1) & connected  # terminals of one node are 0 hops apart
    lower, upper = guarantee(numbers)
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
        "distance_histogram": hops.histogram,
        "load": lists(by_class, np.stack(present, axis=1), connected),
        "max_channel_load": pa.array(busiest, mask=~connected),
        "saturation_load": pa.array(divided(np.ones(numbers.many), busiest), mask=~connected | (busiest == 0)),
        "guarantee_lower": lower,
        "guarantee_upper": upper,
        "diameter_bound": pa.array(least[:, 0], mask=~limited),
        "mean_distance_bound": pa.array(divided(least[:, 1], numbers.terminals), mask=~limited),
        "lattice_diameter_bound": nothing,
        "lattice_mean_distance_bound": nothing,
    }


@cache
def limits(terminals: int, degree: int, directed: bool) -> tuple[int, int]:
    """Return lower bounds of the diameter and of a node's distance sum for a size and degree; 0 if no graph exists."""
    try:
        levels = bounds.moore_levels(terminals, degree, directed=directed)
    except ValueError:  # no connected graph has this size and degree: the columns are null
        return 0, 0
    return bounds.diameter(levels), bounds.distance_sum(levels)
