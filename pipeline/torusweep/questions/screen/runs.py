"""The rows of a run of networks, from arrays: docs/decisions/15-a-run-of-seeds-is-a-point.md."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from torusweep_kernels.blocks import Block as Measured
from torusweep_kernels.blocks import measure_networks

from torusweep.networks.blocks import Block as NetworkBlock
from torusweep.networks.blocks import block_of
from torusweep.networks.seed_runs import SEED, SeedRun, plan_of
from torusweep.networks.topology import NO_PORT
from torusweep.questions.how import How
from torusweep.questions.screen import bounds
from torusweep.questions.screen.columns import SCREEN
from torusweep.tables.columns import arrow_schema

CHANNELS = 1 << 22  # of networks that are measured together: some 100 MB


def rows_of_run(run: SeedRun, how: How) -> pa.Table | None:
    """A row of the table `screen` for each network; None where links differ in bandwidth, or a network is refused."""
    planned = plan_of(str(run))
    if planned.bandwidths:
        return None
    together = max(1, CHANNELS // max(1, planned.nodes * planned.degree))
    schema = arrow_schema(SCREEN)
    parts = [schema.empty_table()]
    for first in range(run.first, run.last + 1, together):
        block = block_of(f"{run.before})", SEED, range(first, min(run.last + 1, first + together)))
        if block.refused:
            return None
        arrays = block.ports, block.terminals, block.capacity
        measured = measure_networks(*arrays, backend=how.backend, threads=how.threads)
        parts.append(pa.table(columns_of(block, measured), schema=schema))
    return pa.concat_tables(parts)


def columns_of(block: NetworkBlock, measured: Measured) -> dict[str, Any]:
    """The columns of the table `screen`, a row for each network.

    Lists of all rows are flat arrays with offsets: a histogram ends at the diameter, loads are of the classes that a
    network has.
    """
    assert block.plan is not None
    assert measured.load is not None
    many, nodes = block.ports.shape[:2]
    directed = block.plan.directed
    at_nodes = np.ones((many, nodes), np.int32) if block.terminals is None else block.terminals
    present = block.ports != NO_PORT
    links = present if block.capacity is None else np.where(present, block.capacity, 0)
    degrees = links.sum(axis=2, dtype=np.int64)
    works = (degrees > 0) | (at_nodes > 0)
    into = np.broadcast_to(np.arange(many)[:, None, None], present.shape)[present]
    works[into, block.ports[present]] = True
    terminals, degree = at_nodes.sum(axis=1, dtype=np.int64), degrees.max(axis=1, initial=0)
    connected = measured.connected
    histogram = measured.histogram
    distance = np.arange(histogram.shape[1])
    diameter = np.where(histogram > 0, distance, 0).max(axis=1)
    pairs, total = histogram.sum(axis=1), (histogram * distance).sum(axis=1)
    distinct = pairs - terminals
    reached = distance <= diameter[:, None]

    load = measured.load if block.capacity is None else measured.load / np.maximum(block.capacity, 1)
    of_class = np.arange(int(block.link_class.max(initial=0)) + 1)
    has_class = np.stack([(present & (block.link_class == number)).any(axis=(1, 2)) for number in of_class], axis=1)
    by_class = np.stack(
        [np.where(present & (block.link_class == number), load, 0.0).max(axis=(1, 2)) for number in of_class], axis=1
    )
    busiest = by_class.max(axis=1)
    loaded = connected & (busiest > 0)

    least = [limits(*key, directed) for key in zip(terminals.tolist(), degree.tolist())]
    alone = (at_nodes <= 1).all(axis=1) & connected  # terminals of one node are 0 hops apart
    nothing = pa.nulls(many)
    columns = {
        "topology": pa.array(block.spellings, pa.string()),
        "nodes": works.sum(axis=1),
        "dimensions": nothing,
        "matrix": nothing,
        "class_size": nothing,
        "degree": degree,
        "links": degrees.sum(axis=1) // (1 if directed else 2),
        "connected": connected,
        "diameter": diameter,
        "distance_sum": total,
        "mean_distance": divided(total, pairs),
        "mean_distance_distinct": divided(total, distinct),
        "distance_histogram": lists(histogram, reached, np.ones(many, bool)),
        "load": lists(by_class, has_class, connected),
        "max_channel_load": pa.array(busiest, mask=~connected),
        "saturation_load": pa.array(divided(np.ones(many), busiest), mask=~loaded),
        "diameter_bound": pa.array(np.array([one for one, _ in least], np.int64), mask=~alone),
        "mean_distance_bound": pa.array(divided(np.array([one for _, one in least], np.int64), terminals), mask=~alone),
        "lattice_diameter_bound": nothing,
        "lattice_mean_distance_bound": nothing,
    }
    types = arrow_schema(SCREEN)
    return {name: pa.array(values).cast(types.field(name).type) for name, values in columns.items()}


def divided(numbers: np.ndarray, by: np.ndarray) -> np.ndarray:
    """float64[B]: numbers / by, 0 where `by` is 0."""
    return np.divide(numbers, by, out=np.zeros(len(by)), where=by != 0)


def lists(values: np.ndarray, chosen: np.ndarray, there: np.ndarray) -> Any:
    """A list of the chosen values of each row, [B, K]; null for a row that is not there."""
    chosen = chosen & there[:, None]
    offsets = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))])
    missing: Any = pa.array(~there)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values[chosen]), mask=missing)


@cache
def limits(terminals: int, degree: int, directed: bool) -> tuple[int, int]:
    """Least diameter and sum of distances from a node, of any graph of this size and degree; 0 where there is none."""
    try:
        levels = bounds.moore_levels(terminals, degree, directed=directed)
    except ValueError:  # no connected graph is so: the row is null
        return 0, 0
    return bounds.diameter(levels), bounds.distance_sum(levels)
