"""What one traffic pattern makes of a network's channels, and the rows of the tables that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torusweep.networks.topology import NO_PORT, Topology
from torusweep.stages.loads.bounds import NO_BOUNDS, Bounds
from torusweep.stages.loads.collectives import Collective, PhaseTime
from torusweep.tables.records import LOADS

if TYPE_CHECKING:
    import pyarrow as pa


class Estimate(NamedTuple):
    """How far a sampled maximum can be trusted.

    stderr   standard error of the largest load, from batches of packets
    low      load, on one half of the packets, of the channel that is largest on the other: biased low, where the maximum is biased high
    low_stderr  standard error of low
    packets  packets sampled
    seed     their seed
    """

    stderr: float
    low: float
    low_stderr: float
    packets: int
    seed: int


class ChannelLoads(NamedTuple):
    """Loads of every channel.

    topology, routing, traffic   the network, and the other two in canonical spelling
    load        float64[N, P]    over each port's channel, divided by its capacity; 0 where there is no channel
    mean_hops   float            hops per injected flit; one to its own source counts, with 0 hops
    ejected     float            what the terminal that receives most receives
    estimate    of sampled loads; None where they are exact
    collective  of exact loads of a collective operation: its phases' times
    stretch     mean_hops over that of shortest paths; None where it was not computed, or nothing moves
    """

    topology: Topology
    routing: str
    traffic: str
    load: np.ndarray
    mean_hops: float
    ejected: float
    estimate: Estimate | None = None
    collective: Collective | None = None
    stretch: float | None = None


def record_of(loads: ChannelLoads, bounds: Bounds | None = None) -> dict[str, Any]:
    """The row of the table `loads` that follows from the channels' loads, and the bounds where they were asked for."""
    topology, estimate, operation = loads.topology, loads.estimate, loads.collective
    present = topology.ports != NO_PORT
    load, kind = loads.load[present], topology.link_class[present]
    flits = load if topology.capacity is None else load * topology.capacity[present]
    mean, most = _mean_and_max(load) if len(load) else (0.0, 0.0)
    saturation = 1 / most if most else None
    ejection = 1 / loads.ejected
    classes = {class_name(topology, number): kind == number for number in np.unique(kind).tolist()}
    values = {
        "topology": topology.spelling,
        "routing": loads.routing,
        "traffic": loads.traffic,
        "method": "exact" if estimate is None else "monte-carlo",
        "max_channel_load": most,
        "mean_channel_load": mean,
        "saturation_load": saturation,
        "ejection_load": ejection,
        "terminal_saturation_load": ejection if saturation is None else min(saturation, ejection),
        "link_utilization": mean / most if most else None,
        "mean_hops": loads.mean_hops,
        "stretch": loads.stretch,
        "per_class_load": {name: dict(zip(("mean", "max"), _mean_and_max(load[own]))) for name, own in classes.items()},
        "per_class_hops": {name: float(flits[own].sum()) / len(topology.terminals) for name, own in classes.items()},
        "max_channel_load_stderr": None if estimate is None else estimate.stderr,
        "max_channel_load_low": None if estimate is None else estimate.low,
        "max_channel_load_low_stderr": None if estimate is None else estimate.low_stderr,
        "packets": None if estimate is None else estimate.packets,
        "seed": None if estimate is None else estimate.seed,
        "phases": None if operation is None else [_phase(phase) for phase in operation.phases],
        "collective_time": None if operation is None else operation.cycles_per_flit,
        "bus_bandwidth": None if operation is None else operation.bus_bandwidth,
        "terminal_bus_bandwidth": None if operation is None else operation.terminal_bus_bandwidth,
        **(NO_BOUNDS if bounds is None else bounds)._asdict(),
        "capacity_share": None
        if bounds is None or saturation is None or not bounds.capacity
        else saturation / bounds.capacity,
    }
    return {column.name: values[column.name] for column in LOADS}


def _phase(phase: PhaseTime) -> dict[str, Any]:
    columns = ("name", "volume", "steps", "max_channel_load")
    return {**{name: getattr(phase, name) for name in columns}, "time": phase.cycles_per_flit}


def channel_table(loads: ChannelLoads) -> pa.Table:
    """The rows of the table `channel_loads`: every channel once, in the order of nodes and ports."""
    import pyarrow as pa

    from torusweep.tables.records import arrow_schema

    topology = loads.topology
    tail, head, port = topology.arcs
    kind = topology.link_class[tail, port]
    names = pa.array([class_name(topology, number) for number in range(int(kind.max(initial=-1)) + 1)], pa.string())
    columns = {
        **{
            name: pa.repeat(value, len(tail))
            for name, value in zip(("topology", "routing", "traffic"), (topology.spelling, *loads[1:3]))
        },
        "from": tail.astype(np.int64),
        "to": head.astype(np.int64),
        "class": names.take(pa.array(kind)),
        "load": loads.load[tail, port],
    }
    return pa.table(columns, schema=arrow_schema("channel_loads"))


def class_name(topology: Topology, number: int) -> str:
    """The name of a link class; its number where the family gives none."""
    names = topology.plan.classes
    return names[number] if number < len(names) else str(number)


def _mean_and_max(load: np.ndarray) -> tuple[float, float]:
    """Of equal loads too, rounding must not lift the mean above the maximum."""
    most = float(load.max())
    return min(float(load.mean()), most), most
