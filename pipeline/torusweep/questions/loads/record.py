"""The answer to `loads` and its rows: of one network from values, of a block of networks from arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console

from torusweep.errors import BadInput
from torusweep.networks.seed_runs import Planned
from torusweep.networks.topology import NO_PORT
from torusweep.quantities import rate
from torusweep.questions.answer import Record, Row
from torusweep.questions.blocks import divided, row_of, table_of, table_of_block
from torusweep.questions.display import Fact
from torusweep.questions.how import How
from torusweep.questions.loads.bounds import demands_of
from torusweep.questions.loads.channels import NO_BOUNDS, Bounds, Channel, ChannelLoads, channel_table
from torusweep.questions.loads.columns import LOADS
from torusweep.questions.loads.fair import terminal_table
from torusweep.questions.loads.printed import LINES, USUAL, phases_said, print_classes
from torusweep.routing import GivenRouting
from torusweep.traffic import GivenTraffic

INSIDE = "; terminals inside routers have no links of their own, and are not counted"
SHOWN_OVER = 10  # links over their capacity that are named
PHASE = ("name", "volume", "steps", "max_channel_load", "time")


@dataclass(frozen=True, repr=False, eq=False)
class Loads(Record):
    """The load of every channel under a routing and a traffic pattern, and the row of the table `loads`."""

    found: ChannelLoads = field(kw_only=True)
    labels: tuple[Any, ...] | None = field(default=None, kw_only=True)
    relative_error: float | None = field(default=None, kw_only=True)
    bounds: Bounds = field(default=NO_BOUNDS, kw_only=True)
    asked: tuple[str | GivenRouting, str | GivenTraffic] = field(default=("minimal", "uniform"), kw_only=True)
    columns = LOADS
    main = LINES
    usual = USUAL

    @property
    def load(self) -> np.ndarray:
        """float64[N, P]: load of each port's channel, at one flit per cycle per terminal; 0 without a channel."""
        return self.found.load

    @property
    def max_channel_load(self) -> float:
        """Largest load of a channel, at one flit per cycle per terminal."""
        return float(self.record["max_channel_load"])

    @property
    def saturation_load(self) -> float | None:
        """Injection rate, in flits per cycle per terminal, that fills the busiest channel; None if all loads are 0."""
        value = self.record["saturation_load"]
        return None if value is None else float(value)

    @cached_property
    def channels(self) -> pa.Table:
        """A table with a row for each channel, ordered by node and port: numbers of both ends, link class, load."""
        return channel_table(self.found)

    @cached_property
    def terminals(self) -> pa.Table:
        """A table with a row for each terminal: what it sends and receives at max-min fair rates, the worst first."""
        return terminal_table(self.found.topology, *self.asked)

    @property
    def worst_permutation(self) -> pa.Table:
        """The demands of this routing's worst permutation, as a file of `demand`. Raises BadInput without bounds."""
        permutation, topology = self.bounds.worst_permutation, self.found.topology
        if permutation is None:
            raise BadInput(f"worst permutation: {self.bounds.bounds_method or 'expected bounds=True'}")
        return demands_of(topology, permutation)

    def busiest(self, number: int = 5) -> list[Channel]:
        """Return the `number` channels with the largest loads, largest first; equal loads follow in node order."""
        return [self._channel(place) for place in self._order[: max(0, number)].tolist()]

    @cached_property
    def _order(self) -> np.ndarray:
        """Indices of the channels in `Topology.arcs`, int64[A], from the largest load to the smallest."""
        tail, _, port = self.found.topology.arcs
        return np.argsort(-self.found.load[tail, port], kind="stable")

    def _channel(self, place: int) -> Channel:
        topology = self.found.topology
        tail, head, port = (int(column[place]) for column in topology.arcs)
        names = range(topology.nodes) if self.labels is None else self.labels
        kind = topology.class_name(int(topology.link_class[tail, port]))
        return Channel(names[tail], names[head], float(self.found.load[tail, port]), kind)

    def over_capacity(self) -> list[Channel]:
        """Return the channels with more traffic than capacity, fullest first; [] if links or demands lack a unit."""
        rates = self.found.rates
        return self.busiest(0 if rates is None else rates.over)

    @property
    def _shares(self) -> bool:
        """Whether some router has several terminals."""
        terminals = self.found.topology.terminals
        return len(np.unique(terminals)) < len(terminals)

    def rates(self) -> list[tuple[str, str]]:
        """Return facts (name, value) on the busiest link and links over capacity; [] without units."""
        rates = self.found.rates
        if rates is None or not len(rates.carried):
            return []
        order, over = self._order.tolist(), rates.over
        named = {
            place: " → ".join(map(str, self._channel(place)[:2])) for place in order[: max(1, min(over, SHOWN_OVER))]
        }
        shown = ", ".join(f"{named[place]} {rates.percent[place]:,.4g} %" for place in order[: min(over, SHOWN_OVER)])
        more = f", … ({over - SHOWN_OVER:,} more: --channels)" if over > SHOWN_OVER else ""
        first = order[0]
        carried, capacity = (rate(Fraction(column[first])) for column in (rates.carried, rates.capacity))
        of = f"{named[first]}, {carried} of {capacity}"
        return [
            ("a terminal sends", f"{rate(Fraction(self.found.rate or 0))} on average"),
            ("busiest link", f"{rates.percent[first]:,.4g} % of its capacity: {of}"),
            ("links over capacity", (f"{over:,}: {shown}{more}" if over else "none") + INSIDE * self._shares),
        ]

    def said(self) -> Row:
        used = self.found.topology.links and self.max_channel_load
        busiest = " → ".join(map(str, self.busiest(1)[0][:2])) if used else None
        return {"busiest": busiest, "phases_said": phases_said(self.record["phases"])}

    def lines(self) -> list[Fact]:
        return [*super().lines(), *((*fact, "where demands and links have units") for fact in self.rates())]

    def labelled(self, labels: tuple[Any, ...] | None) -> Loads:
        return replace(self, labels=labels)

    @property
    def heeded(self) -> list[str]:  # type: ignore[override]  # a property in place of the attribute
        """Network attributes used beyond the question's declaration: the unit of links, if demands have a unit, too."""
        return [] if self.found.rates is None else ["unit"]

    @property
    def remarks(self) -> list[str]:  # type: ignore[override]  # a property in place of the attribute
        if self.found.senders is not None:
            return ["loads are for a flit a cycle of each sender, once on every link of its tree; paths are such trees"]
        if self.found.rate is not None and self.found.topology.plan.rate is None:
            return ['links have no bandwidth with a unit: with_links(…, bandwidths=["100 Gb/s"]) says it']
        most, wanted = self.record["max_channel_load"], self.relative_error
        reached = (self.record["max_channel_load_stderr"] or 0.0) / max(most, 1e-300)
        if wanted is None or reached <= wanted:
            return []
        packets = self.record["packets"]
        return [f"the relative error is still {reached:.2g} after {packets:,} packets; more packets reach {wanted:g}"]

    def print_below(self, console: Console) -> None:
        if self.max_channel_load:
            print_classes(console, self.record["per_class_load"])


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
    """Return a table with a row for each network (`torusweep.questions.blocks.table_of_block`).

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
