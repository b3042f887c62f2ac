"""Measure networks in blocks of arrays, for tables that compute many rows together, as decision 15 explains."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import scipy
from torusweep_kernels.blocks import Block as Measured
from torusweep_kernels.blocks import measure_networks

from torusweep.networks.blocks import Block, block_of_networks
from torusweep.networks.seed_runs import Planned, SeedRun, in_parts
from torusweep.networks.topology import NO_PORT, Plan, no_symmetries
from torusweep.questions.how import How
from torusweep.tables.columns import Column, arrow_schema

CHANNELS = 1 << 22  # channels of the networks that are measured together: some 100 MB
MOST_NODES = 1_024  # nodes of a network that is measured with others; a larger network keeps the cores busy alone
SYMMETRIC_NODES = 256  # the limit for networks with symmetries; larger networks need fewer searches alone


def shape(planned: Plan) -> Hashable:
    """Return a key that is equal for networks measured together; None for a network that must be measured alone.

    The networks' numbers of nodes and of ports may differ by a factor of two. Missing nodes and ports count as failed.
    """
    if planned.nodes > (MOST_NODES if planned.symmetries is no_symmetries else SYMMETRIC_NODES):
        return None
    return planned.directed, max(planned.nodes - 1, 63).bit_length(), max(planned.degree - 1, 3).bit_length()


def table_of_block(
    networks: Sequence[Planned],
    columns: tuple[Column, ...],
    of_block: Callable[[BlockNumbers], dict[str, Any]],
    how: How,
    loads: bool,
) -> pa.Table:
    """Return a table of `columns` with a row for each network. Raises BadInput if a network is refused.

    networks  networks, and runs of seeds, with the same `shape` (torusweep.questions.stage.Stage.rows_of_block)
    of_block  function that maps a block of networks to its columns
    loads     whether to measure channel loads, too
    """
    parts = [arrow_schema(columns).empty_table()]
    channels = max(planned.nodes for _, planned in networks) * max(planned.degree for _, planned in networks)
    for part in in_parts(networks, max(1, CHANNELS // max(1, channels))):
        block = block_of_networks(part, how.memory)
        for refusal in block.refused.values():
            raise refusal
        parts.append(table_of(columns, of_block(BlockNumbers([topology for topology, _ in part], block, how, loads))))
    return pa.concat_tables(parts)


def table_of(columns: tuple[Column, ...], found: Mapping[str, Any]) -> pa.Table:
    """Return a table of `columns`, from arrays and lists by column name."""
    schema = arrow_schema(columns)
    arrays: list[Any] = [
        pa.array(values, field.type) if isinstance(values, list) else pa.array(values).cast(field.type)
        for field in schema
        for values in (found[field.name],)
    ]
    return pa.table(arrays, schema=schema)


def row_of(columns: tuple[Column, ...], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a block that has only one network, as Python values."""
    row = {column.name: found[column.name][0] for column in columns}
    for name, value in row.items():
        if isinstance(value, pa.Scalar):
            row[name] = value.as_py()
        elif isinstance(value, np.generic):
            row[name] = value.item()
    return row


class BlockNumbers:
    """Measures of the B networks of a block, without failed nodes. Each array has an entry for every network.

    topologies   the block's networks and runs of seeds
    plan         plan of one of the networks; they have the same direction and latencies
    loads        whether to measure channel loads, too
    ends         whether hosts with several neighbours forward nothing
    """

    ends = False

    def __init__(self, topologies: Sequence[str | SeedRun], block: Block, how: How, loads: bool = False) -> None:
        assert block.plan is not None
        self.topologies = topologies
        self.block, self.plan, self.how, self.loads = block, block.plan, how, loads
        self.many, self.nodes = block.ports.shape[:2]
        self.present = block.ports != NO_PORT
        at_each = np.ones((self.many, self.nodes), np.int32)
        self.at_nodes = at_each if block.terminals is None else block.terminals

    @cached_property
    def measured(self) -> Measured:
        return self._measure(self.at_nodes, self.loads)

    def _measure(self, terminals: np.ndarray, loads: bool) -> Measured:
        kernel: dict[str, Any] = {"backend": self.how.backend, "threads": self.how.threads}
        return measure_networks(self.block.ports, terminals, self.block.capacity, loads=loads, **kernel)

    @cached_property
    def connected(self) -> np.ndarray:
        """bool[B]: whether every node of a network reaches every other node."""
        return self.measured.connected

    @cached_property
    def load(self) -> np.ndarray:
        """float64[B, N, P]: load over capacity of each port's channel, for uniform traffic over all shortest paths."""
        assert self.measured.load is not None
        return self.measured.load / np.where(self.bandwidth > 0, self.bandwidth, 1.0)

    @cached_property
    def bandwidth(self) -> np.ndarray:
        """float64[B, N, P]: flits a cycle of each port's channel, over all of its parallel links; 0 without one."""
        one = np.array([float(width) for width in self.plan.bandwidths or [1] * 256])[self.block.link_class]
        return np.where(self.present, one if self.block.capacity is None else one * self.block.capacity, 0.0)

    @cached_property
    def degrees(self) -> np.ndarray:
        """int64[B, N]: number of links that leave each node."""
        capacity = self.block.capacity
        links = self.present if capacity is None else np.where(self.present, capacity, 0)
        return links.sum(axis=2, dtype=np.int64)

    @cached_property
    def degree_max(self) -> np.ndarray:
        """int64[B]: largest degree of each network."""
        return self.degrees.max(axis=1, initial=0)

    @cached_property
    def works(self) -> np.ndarray:
        """bool[B, N]: whether a node has a link or a terminal; nodes with neither have failed."""
        alive = (self.degrees > 0) | (self.at_nodes > 0)
        owner = np.broadcast_to(np.arange(self.many)[:, None, None], self.present.shape)[self.present]
        alive[owner, self.block.ports[self.present]] = True
        return alive

    @cached_property
    def links(self) -> np.ndarray:
        """int64[B]: number of links; a bidirectional link counts once."""
        return self.degrees.sum(axis=1) // (1 if self.plan.directed else 2)

    @cached_property
    def terminals(self) -> np.ndarray:
        """int64[B]: number of terminals."""
        return self.at_nodes.sum(axis=1, dtype=np.int64)

    @cached_property
    def hops(self) -> BlockDistances:
        """Distances between terminals."""
        return BlockDistances(self.measured.histogram, self.terminals)

    @cached_property
    def routers(self) -> BlockDistances:
        """Distances between nodes, including nodes without terminals."""
        if (self.at_nodes == self.works).all():
            return self.hops
        return BlockDistances(self._measure(self.works.astype(np.int32), False).histogram, self.works.sum(axis=1))

    @cached_property
    def components(self) -> np.ndarray:
        """int64[B]: number of components; in directed networks, of strongly connected components."""
        found = np.ones(self.many, np.int64)
        for place in np.flatnonzero(~self.connected).tolist():
            tail, port = np.nonzero(self.present[place])
            head = self.block.ports[place][tail, port]
            matrix = scipy.sparse.csr_array((np.ones(len(tail)), (tail, head)), shape=(self.nodes, self.nodes))
            parts = scipy.sparse.csgraph.connected_components(
                matrix, directed=self.plan.directed, connection="strong", return_labels=False
            )
            found[place] = parts - (self.nodes - self.works[place].sum())
        return found


class BlockDistances:
    """Distances in B networks, from histograms of their pairs.

    histogram  int64[B, D + 1], number of ordered pairs at each distance
    ends       int64[B], number of terminals or nodes; each is 0 hops from itself
    """

    def __init__(self, histogram: np.ndarray, ends: np.ndarray) -> None:
        distance = np.arange(histogram.shape[1])
        self._pairs_at = histogram
        self.diameter = np.where(histogram > 0, distance, 0).max(axis=1)
        self.pairs, self.sum = histogram.sum(axis=1), (histogram * distance).sum(axis=1)
        self.mean, self.mean_distinct = divided(self.sum, self.pairs), divided(self.sum, self.pairs - ends)

    @property
    def histogram(self) -> Any:
        """The histograms as lists, each up to its network's diameter."""
        return lists(self._pairs_at, np.arange(self._pairs_at.shape[1]) <= self.diameter[:, None])


def divided(numbers: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Return numbers / by, float64[B], with 0 where `by` is 0."""
    return np.divide(numbers, by, out=np.zeros(len(by)), where=by != 0)


def lists(values: np.ndarray, chosen: np.ndarray, there: np.ndarray | None = None) -> Any:
    """Return lists of each row's chosen values, [B, K], as an Arrow array. there: bool[B], False for null rows."""
    there = np.ones(len(values), bool) if there is None else there
    chosen = chosen & there[:, None]
    offsets = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))])
    missing: Any = pa.array(~there)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values[chosen]), mask=missing)
