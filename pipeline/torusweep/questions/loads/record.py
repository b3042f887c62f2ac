"""Rows of the table `loads`, for one network from values, and for a block of networks from arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from torusweep.networks.seed_runs import Planned
from torusweep.networks.topology import NO_PORT
from torusweep.questions.how import How
from torusweep.questions.loads.channels import NO_BOUNDS, Bounds, ChannelLoads
from torusweep.questions.loads.columns import LOADS
from torusweep.questions.static.blocks import divided, row_of, table_of, table_of_block

PHASE = ("name", "volume", "steps", "max_channel_load", "time")


def columns_of(
    loads: ChannelLoads, topology: Any, mean: Any, most: Any, by_class: Sequence[Any], bounds: Bounds = NO_BOUNDS
) -> dict[str, Any]:
    """Return the columns of the table `loads`, as arrays and lists with an entry for each network.

    The other arguments are values of one network, or arrays with an entry for each network of a block.
    topology     canonical spelling
    mean, most   mean and largest load of all channels
    by_class     the columns per_class_load and per_class_hops
    """
    estimate, operation, rates = loads.estimate, loads.collective, loads.rates
    busy, ejection, injection = np.greater(most, 0), 1 / loads.ejected, 1 / loads.sent
    with np.errstate(divide="ignore", invalid="ignore"):
        saturation, utilization = np.divide(1, most), np.divide(mean, most)
    columns = {
        "topology": topology,
        "routing": loads.routing,
        "traffic": loads.traffic,
        "method": "monte-carlo" if estimate else "exact",
        "max_channel_load": most,
        "mean_channel_load": mean,
        "saturation_load": defined(busy, saturation),
        "ejection_load": ejection,
        "injection_load": injection,
        "terminal_saturation_load": np.minimum(np.minimum(saturation, ejection), injection),
        "link_utilization": defined(busy, utilization),
        "mean_hops": loads.mean_hops,
        "stretch": loads.stretch,
        "per_class_load": by_class[0],
        "per_class_hops": by_class[1],
        "max_channel_load_stderr": estimate and estimate.stderr,
        "max_channel_load_low": estimate and estimate.low,
        "max_channel_load_low_stderr": estimate and estimate.low_stderr,
        "packets": estimate and estimate.packets,
        "seed": estimate and estimate.seed,
        "phases": operation and [dict(zip(PHASE, phase)) for phase in operation.phases],
        "collective_time": operation and operation.cycles_per_flit,
        "bus_bandwidth": operation and operation.bus_bandwidth,
        "terminal_bus_bandwidth": operation and operation.terminal_bus_bandwidth,
        **bounds.columns,
        "capacity_share": defined(busy, saturation / bounds.capacity) if bounds.capacity else None,
        "busiest_link_percent": float(rates.percent.max()) if rates is not None and len(rates.percent) else None,
        "links_over_capacity": None if rates is None else rates.over,
        **loads.lost.columns,
    }
    array, many = (np.ndarray, pa.Array), np.size(most)
    return {name: each if isinstance(each, array) else [each] * many for name, each in columns.items()}


def defined(busy: Any, values: Any) -> Any:
    """Return the values of busy networks and null for others, as an Arrow array; for one network, a value or None."""
    if isinstance(busy, np.ndarray):
        return pa.array(values, mask=~busy)
    return values if busy else None


def record_of(loads: ChannelLoads, bounds: Bounds | None = None) -> dict[str, Any]:
    """Return the row of one network. bounds: None if no bounds were requested."""
    topology = loads.topology
    present = topology.ports != NO_PORT
    load, kind = loads.load[present], topology.link_class[present]
    flits = load if topology.bandwidth is None else load * topology.bandwidth[present]
    classes = {topology.class_name(number): kind == number for number in np.unique(kind).tolist()}
    by_class = (
        {name: dict(zip(("mean", "max"), _mean_and_max(load[own]))) for name, own in classes.items()},
        {name: float(flits[own].sum()) / loads.injected for name, own in classes.items()},
    )
    return row_of(LOADS, columns_of(loads, topology.spelling, *_mean_and_max(load), by_class, bounds or NO_BOUNDS))


def loads_of_block(networks: Sequence[Planned], how: How, alone: Callable[[str], Any]) -> pa.Table:
    """Return a table with a row for each network (`torusweep.questions.static.blocks.table_of_block`).

    alone   maps a spelling to the rows of this network alone, which is needed if some terminal cannot reach another
    """

    def of_block(numbers: Any) -> Any:
        columns, apart = columns_of_block(numbers), np.flatnonzero(numbers.hops.pairs != numbers.terminals**2)
        if not len(apart):
            return columns
        order, table = np.arange(numbers.many), table_of(LOADS, columns)
        order[apart] = numbers.many + np.arange(len(apart))
        own = [row for place in apart for row in alone(numbers.block.spellings[place])]
        table = pa.concat_tables([table, pa.Table.from_pylist(own, schema=table.schema)]).take(order)
        return table.combine_chunks().to_batches()[0]

    return table_of_block(networks, LOADS, of_block, how, loads=True)


def columns_of_block(numbers: Any) -> dict[str, Any]:
    """Return the columns for a block of networks, `BlockNumbers`, under minimal routing and uniform traffic.

    Sums over channels equal, to the bit, the sums for each network alone.
    """
    block, many, hops = numbers.block, numbers.many, numbers.measured.hops
    present, load, kind = (part.reshape(many, -1) for part in (numbers.present, numbers.load, block.link_class))
    flits = load if block.capacity is None else load * block.capacity.reshape(many, -1)
    own = [present & (kind == number) for number in range(int(kind.max(initial=0)) + 1)]
    there = np.stack([chosen.any(axis=1) for chosen in own], axis=1)
    means = np.stack([means_and_maxima(load, chosen) for chosen in own], axis=2)
    terminals, sent = numbers.terminals.astype(np.float64), np.ones(many)
    of_class = np.stack([row_sums(flits, chosen) for chosen in own], axis=1) / terminals[:, None]
    keys = pa.array([block.plans[at].class_name(number) for at, number in np.argwhere(there).tolist()], pa.string())
    offsets: Any = pa.array(np.concatenate([[0], np.cumsum(there.sum(axis=1))]), pa.int32())
    each: Any = pa.StructArray.from_arrays([pa.array(part[there]) for part in means], names=["mean", "max"])
    by_class = [pa.MapArray.from_arrays(offsets, keys, values) for values in (each, pa.array(of_class[there]))]
    ends: tuple[Any, Any] = terminals * (1 / terminals), sent
    loads = ChannelLoads(numbers, "minimal", "uniform", load, hops / terminals, *ends, stretch=defined(hops > 0, sent))
    return columns_of(loads, np.array(block.spellings, object), *means_and_maxima(load, present), by_class)


def means_and_maxima(values: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and maximum, float64[B] each, of the chosen values in each row of [B, K]; 0 if none is chosen."""
    most = np.where(chosen, values, 0.0).max(axis=1, initial=0.0)
    number = chosen.sum(axis=1)
    return np.minimum(divided(row_sums(values, chosen), number.astype(np.float64)), most), most


def row_sums(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the sum of the chosen values in each row, float64[B], added in the order in which NumPy adds one row."""
    number, total = chosen.sum(axis=1), np.zeros(len(values))
    for size in np.unique(number[number > 0]).tolist():
        rows = number == size
        total[rows] = values[rows][chosen[rows]].reshape(-1, size).sum(axis=1)
    return total


def _mean_and_max(load: np.ndarray) -> tuple[float, float]:
    """Return the mean and maximum of the loads. Rounding cannot lift the mean of equal loads above their maximum."""
    most = float(load.max(initial=0.0))
    return min(float(load.sum()) / max(len(load), 1), most), most
