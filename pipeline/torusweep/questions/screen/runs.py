"""The rows of a run of networks, from arrays: docs/decisions/15-a-run-of-seeds-is-a-point.md."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from torusweep_kernels.blocks import Block, measure_networks

from torusweep.networks.families import build
from torusweep.networks.seed_runs import SeedRun, plan_of
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.how import How
from torusweep.questions.screen import bounds
from torusweep.questions.screen.columns import SCREEN
from torusweep.tables.columns import arrow_schema

CHANNELS = 1 << 22  # of networks that are measured together: some 100 MB


class Stack(NamedTuple):
    """Networks of a run, one above the other.

    ports      int32[B, N, P]
    terminals  int32[B, N]     terminals of each node
    capacity   int32[B, N, P] | None   parallel links of each channel; None: 1
    classes    int32[N, P]     link class of each port, of all networks
    """

    ports: np.ndarray
    terminals: np.ndarray
    capacity: np.ndarray | None
    classes: np.ndarray


def rows_of_run(run: SeedRun, how: How) -> pa.Table | None:
    """A row of the table `screen` for each network of a run; None where links differ in bandwidth."""
    planned = plan_of(str(run))
    if planned.bandwidths:
        return None
    together = max(1, CHANNELS // max(1, planned.nodes * planned.degree))
    schema = arrow_schema(SCREEN)
    parts = [schema.empty_table()]
    for first in range(run.first, run.last + 1, together):
        part = run._replace(first=first, last=min(run.last, first + together - 1))
        stack = stack_of([build(spelling, memory=how.memory) for spelling in part.spellings])
        measured = measure_networks(*stack[:3], backend=how.backend, threads=how.threads)
        parts.append(pa.table(columns_of(part, stack, measured, directed=planned.directed), schema=schema))
    return pa.concat_tables(parts)


def stack_of(networks: list[Topology]) -> Stack:
    """Networks of one size, one above the other."""
    first, nodes = networks[0], networks[0].nodes
    links = [network.capacity for network in networks if network.capacity is not None]  # of all of them, or of none
    return Stack(
        np.stack([network.ports for network in networks]),
        np.stack([np.bincount(network.terminals, minlength=nodes) for network in networks]).astype(np.int32),
        np.maximum(np.stack(links), 1) if links else None,
        first.link_class,
    )


def columns_of(run: SeedRun, stack: Stack, measured: Block, *, directed: bool) -> dict[str, Any]:
    """The columns of the table `screen`, a row for each network.

    Lists of all rows are flat arrays with offsets: a histogram ends at the diameter, loads are of the classes that a
    network has.
    """
    many = len(stack.ports)
    present = stack.ports != NO_PORT
    links = present if stack.capacity is None else np.where(present, stack.capacity, 0)
    degrees = links.sum(axis=2, dtype=np.int64)
    works = (degrees > 0) | (stack.terminals > 0)
    into = np.broadcast_to(np.arange(many)[:, None, None], present.shape)[present]
    works[into, stack.ports[present]] = True
    terminals, degree = stack.terminals.sum(axis=1, dtype=np.int64), degrees.max(axis=1, initial=0)
    connected = measured.connected
    histogram = measured.histogram
    distance = np.arange(histogram.shape[1])
    diameter = np.where(histogram > 0, distance, 0).max(axis=1)
    pairs, total = histogram.sum(axis=1), (histogram * distance).sum(axis=1)
    distinct = pairs - terminals
    reached = distance <= diameter[:, None]

    assert measured.load is not None
    load = measured.load if stack.capacity is None else measured.load / stack.capacity
    of_class = np.arange(int(stack.classes.max(initial=0)) + 1)
    has_class = np.stack([(present & (stack.classes == number)).any(axis=(1, 2)) for number in of_class], axis=1)
    by_class = np.stack(
        [np.where(present & (stack.classes == number), load, 0.0).max(axis=(1, 2)) for number in of_class], axis=1
    )
    busiest = by_class.max(axis=1)
    loaded = connected & (busiest > 0)

    least = [limits(*key, directed) for key in zip(terminals.tolist(), degree.tolist())]
    alone = (stack.terminals <= 1).all(axis=1) & connected  # terminals of one node are 0 hops apart
    nothing = pa.nulls(many)
    columns = {
        "topology": pa.array(run.spellings, pa.string()),
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
