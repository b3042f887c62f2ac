"""Rows of the table `loads` for a block of networks at once, under minimal routing and uniform traffic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from torusweep.networks.topology import Plan
from torusweep.questions.how import How
from torusweep.questions.loads.channels import NO_BOUNDS
from torusweep.questions.loads.columns import LOADS
from torusweep.questions.static.blocks import BlockNumbers, divided, table_of_block
from torusweep.tables.columns import arrow_schema
from torusweep.traffic.given import NOTHING


def loads_of_block(networks: Sequence[tuple[str, Plan]], how: How, alone: Callable[[str], Any]) -> pa.Table:
    """Return a table with a row for each network (`torusweep.questions.static.blocks.table_of_block`).

    alone   maps a spelling to the rows of that network alone; called if some of its terminals cannot reach each other
    """
    schema = arrow_schema(LOADS)

    def of_block(numbers: BlockNumbers) -> dict[str, Any]:
        table = pa.table({name: pa.array(values) for name, values in columns_of(numbers).items()}).cast(schema)
        apart = np.flatnonzero(numbers.hops.pairs != numbers.terminals**2)
        if not len(apart):
            return {name: table.column(name).combine_chunks() for name in schema.names}
        order = np.arange(numbers.many)
        order[apart] = numbers.many + np.arange(len(apart))
        own = [row for place in apart for row in alone(numbers.block.spellings[place])]
        table = pa.concat_tables([table, pa.Table.from_pylist(own, schema=schema)]).combine_chunks().take(order)
        return {name: table.column(name).combine_chunks() for name in schema.names}

    return table_of_block(networks, LOADS, of_block, how, loads=True)


def columns_of(numbers: BlockNumbers) -> dict[str, Any]:
    """Return the columns for a block of networks. Sums over channels equal those of each network alone, to the bit."""
    block, measured, many = numbers.block, numbers.measured, numbers.many
    assert measured.load is not None
    assert measured.hops is not None
    flat = (many, -1)
    present, load = numbers.present.reshape(flat), measured.load.reshape(flat)
    flits, kind = load, block.link_class.reshape(flat)
    if block.capacity is not None:
        parallel = np.maximum(block.capacity, 1).reshape(flat)
        load = load / parallel
        flits = load * parallel
    mean, most = means_and_maxima(load, present)
    terminals = numbers.terminals.astype(np.float64)
    loaded = most > 0
    saturation = divided(np.ones(many), most)
    ejection = 1 / (terminals * (1 / terminals))
    least = np.minimum(ejection, 1.0)
    values: dict[str, Any] = {column.name: pa.nulls(many) for column in LOADS}
    of_class = range(int(kind.max(initial=0)) + 1)
    own = np.stack([present & (kind == number) for number in of_class], axis=1)
    there = own.any(axis=2)
    plans = [planned for planned in block.plans if planned]
    classes = {planned.classes: [planned.class_name(number) for number in of_class] for planned in plans}
    names = np.array([classes[planned.classes] for planned in plans], object)
    means = np.stack([np.stack(means_and_maxima(load, own[:, number])) for number in of_class], axis=2)
    hops = np.stack([row_sums(flits, own[:, number]) for number in of_class], axis=1) / terminals[:, None]
    each: Any = pa.StructArray.from_arrays([pa.array(part[there]) for part in means], names=["mean", "max"])
    offsets: Any = pa.array(np.concatenate([[0], np.cumsum(there.sum(axis=1))]), pa.int32())
    keys = pa.array(names[there], pa.string())
    return values | {
        "topology": block.spellings,
        "routing": ["minimal"] * many,
        "traffic": ["uniform"] * many,
        "method": ["exact"] * many,
        "max_channel_load": most,
        "mean_channel_load": mean,
        "saturation_load": pa.array(saturation, mask=~loaded),
        "ejection_load": ejection,
        "injection_load": np.ones(many),
        "terminal_saturation_load": np.where(loaded, np.minimum(saturation, least), least),
        "link_utilization": pa.array(divided(mean, most), mask=~loaded),
        "mean_hops": measured.hops / terminals,
        "stretch": pa.array(np.ones(many), mask=measured.hops == 0),
        "per_class_load": pa.MapArray.from_arrays(offsets, keys, each),
        "per_class_hops": pa.MapArray.from_arrays(offsets, keys, pa.array(hops[there])),
        **{name: pa.array([value] * many) for name, value in {**NO_BOUNDS._asdict(), **NOTHING.columns}.items()},
    }


def means_and_maxima(values: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (means, maxima), each float64[B], of the chosen values [B, K] in each row; 0 for a row without any."""
    most = np.where(chosen, values, 0.0).max(axis=1, initial=0.0)
    number = chosen.sum(axis=1)
    return np.minimum(divided(row_sums(values, chosen), number.astype(np.float64)), most), most


def row_sums(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return float64[B]: the sum of the chosen values in each row, added in the order in which NumPy adds one row."""
    number, total = chosen.sum(axis=1), np.zeros(len(values))
    for size in np.unique(number[number > 0]).tolist():
        rows = number == size
        total[rows] = values[rows][chosen[rows]].reshape(-1, size).sum(axis=1)
    return total
