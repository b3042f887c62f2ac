"""How traffic loads the channels of a network under a routing, exactly: from topology, routing and traffic to named numbers.

Loads are in flits per cycle at one flit injected per terminal and cycle, on average over the
terminals; a channel of c parallel links carries a c-th of its flits on each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernels.loads import minimal_loads
from pipeline.errors import BadInput, nearest
from pipeline.records import LOADS
from pipeline.static.links import link_orbits
from pipeline.symmetry import Orbits, orbits_under, proved_symmetries
from pipeline.topology import NO_PORT, Topology
from pipeline.traffic import Traffic
from pipeline.traffic import traffic as pattern_on

if TYPE_CHECKING:
    import pyarrow as pa

# routing → how it splits what has several shortest paths (kernels.loads)
ROUTINGS = {
    "minimal": "paths",  # every shortest path alike
    "minimal_ecmp": "next-hops",  # at every node, every link that leads nearer alike
}
BLOCK = 1 << 23  # demands that are written out at a time: 64 MiB


class ChannelLoads(NamedTuple):
    """What one traffic pattern makes of a network's channels.

    topology, routing, traffic   the network, and the other two in canonical spelling
    load        float64[N, P]    over each port's channel, divided by its capacity; 0 where there is no channel
    mean_hops   float            hops per injected flit; one to its own source counts, with 0 hops
    ejected     float            what the terminal that receives most receives
    """

    topology: Topology
    routing: str
    traffic: str
    load: np.ndarray
    mean_hops: float
    ejected: float


def exact_loads(
    topology: Topology,
    *,
    routing: str = "minimal",
    traffic: str = "uniform",
    backend: str = "auto",
    use_symmetry: bool = True,
    threads: int | None = None,
) -> ChannelLoads:
    """Expected load of every channel, without sampling.

    routing        a name in ROUTINGS
    traffic        a pattern's spelling (pipeline.traffic)
    use_symmetry   start from one node of each orbit where the traffic allows it: changes only the way, and the last
                   digits of a sum
    Raises BadInput where the routing or the pattern is unknown, the pattern does not fit the network, or
    some traffic has no path to its destination.
    """
    if routing not in ROUTINGS:
        raise BadInput(f"unknown routing '{routing}'{nearest(routing, ROUTINGS)}; there are {', '.join(ROUTINGS)}")
    spelled, pattern = pattern_on(traffic, topology)
    images = proved_symmetries(topology) if use_symmetry and pattern.symmetric else []
    nodes = orbits_under(topology.nodes, images)
    try:
        load, hops, lost = _summed(topology, pattern.at_nodes(topology.terminals, topology.nodes), ROUTINGS[routing], nodes, backend, threads)
    except OverflowError:
        raise BadInput(
            f"routing {routing} on {topology.spelling}: expected at most 1.8e308 shortest paths between two nodes, got more;"
            " routing minimal_ecmp does not count them"
        ) from None
    injected = len(topology.terminals)
    if lost:
        raise BadInput(
            f"routing {routing} on {topology.spelling}: {lost / injected:.3g} of traffic {spelled} has no path to its destination;"
            " choose a connected network ('torusweep describe' counts its components)"
        )
    if images:
        load = _averaged(topology, images, nodes, load)
    if topology.capacity is not None:
        load = load / np.maximum(topology.capacity, 1)
    return ChannelLoads(topology, routing, spelled, load, hops / injected, float(pattern.received().max()))


def loads_record(
    topology: Topology,
    *,
    routing: str = "minimal",
    traffic: str = "uniform",
    backend: str = "auto",
    use_symmetry: bool = True,
    threads: int | None = None,
) -> dict[str, Any]:
    """The row of the table `loads`: exactly its columns, in order, as Python values without NaN. Raises as `exact_loads` does."""
    return record_of(exact_loads(topology, routing=routing, traffic=traffic, backend=backend, use_symmetry=use_symmetry, threads=threads))


def record_of(loads: ChannelLoads) -> dict[str, Any]:
    """The row of the table `loads` that follows from the channels' loads."""
    topology = loads.topology
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
        "method": "exact",
        "max_channel_load": most,
        "mean_channel_load": mean,
        "saturation_load": saturation,
        "ejection_load": ejection,
        "terminal_saturation_load": ejection if saturation is None else min(saturation, ejection),
        "link_utilization": mean / most if most else None,
        "mean_hops": loads.mean_hops,
        "per_class_load": {name: dict(zip(("mean", "max"), _mean_and_max(load[own]))) for name, own in classes.items()},
        "per_class_hops": {name: float(flits[own].sum()) / len(topology.terminals) for name, own in classes.items()},
        "max_channel_load_stderr": None,
        "max_channel_load_low": None,
        "packets": None,
        "seed": None,
    }
    return {column.name: values[column.name] for column in LOADS}


def channel_table(loads: ChannelLoads) -> pa.Table:
    """The rows of the table `channel_loads`: every channel once, in the order of nodes and ports."""
    import pyarrow as pa

    from pipeline.records import arrow_schema

    topology = loads.topology
    tail, head, port = topology.arcs
    kind = topology.link_class[tail, port]
    names = pa.array([class_name(topology, number) for number in range(int(kind.max(initial=-1)) + 1)], pa.string())
    columns = {
        **{name: pa.repeat(value, len(tail)) for name, value in zip(("topology", "routing", "traffic"), (topology.spelling, *loads[1:3]))},
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


def _summed(topology: Topology, traffic: Traffic, split: str, nodes: Orbits, backend: str, threads: int | None) -> tuple[np.ndarray, float, float]:
    """(float64[N, P] flits over every channel, hops of all flits, flits without a path), a root standing for its orbit.

    Shares over paths are the same from everywhere and are followed from the sources; shares over
    next hops depend on the destination and are followed back from there.
    """
    from_sources = split == "paths"
    busy = (traffic.sent() if from_sources else traffic.received())[nodes.representatives] > 0
    roots, weights = nodes.representatives[busy], nodes.sizes[busy].astype(np.float64)
    load, hops, lost = np.zeros(topology.ports.shape), 0.0, 0.0
    step = max(1, BLOCK // topology.nodes)
    for first in range(0, len(roots), step):
        block = slice(first, first + step)
        demand = traffic.rows(roots[block]) if from_sources else traffic.columns(roots[block])
        part = minimal_loads(
            topology.ports, roots[block], weights[block], split=split, demand=demand, capacity=topology.capacity, backend=backend, threads=threads
        )
        load += part.load
        hops += part.hops
        lost += part.unreachable
    return load, hops, lost


def _averaged(topology: Topology, images: Sequence[np.ndarray], nodes: Orbits, load: np.ndarray) -> np.ndarray:
    """Every channel's load, from loads that one root of each orbit caused in the place of all.

    The sum over an orbit of channels does not depend on which node of an orbit causes it, and all
    channels of the orbit carry the same; so each carries the mean. A link's two directions may carry
    different loads (over next hops), and are kept apart.
    """
    arcs = link_orbits(replace(topology, plan=replace(topology.plan, directed=True)), images, nodes)
    # the frame names the channels that leave a node in its representative's order: bring them into the ports' order
    label = np.empty(topology.ports.shape, np.int32)
    carried = np.take_along_axis(arcs.label[nodes.member], np.argsort(arcs.frame, axis=1), axis=1)
    np.put_along_axis(label, np.argsort(topology.ports, axis=1), carried, axis=1)
    present = topology.ports != NO_PORT
    order = np.argsort(label[present], kind="stable")  # orbit by orbit, so that each is summed pairwise: a million terms lose no digits
    first = np.searchsorted(label[present][order], np.arange(arcs.number))
    mean = np.add.reduceat(load[present][order], first) / np.diff(first, append=len(order))
    averaged = np.zeros_like(load)
    averaged[present] = mean[label[present]]
    return averaged
