"""Networks that say more of an attribute, or something else: what an answer that heeds it must notice.

The arrays and the plan of a network are changed, not its spelling: a question that reads them anew sees the change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy
from torusweep.networks.topology import NO_PORT, Plan, Topology, no_symmetries

GIGABIT, NANOSECOND = 10**9, Fraction(1, 10**9)


def with_plan(topology: Topology, **changes: object) -> Topology:
    """The network with another plan, of the network before its faults, too. Symmetries may not hold any more."""

    def changed(plan: Plan) -> Plan:
        whole = None if plan.whole is None else changed(plan.whole)
        return replace(plan, symmetries=no_symmetries, whole=whole, **changes)  # type: ignore[arg-type]

    return replace(topology, plan=changed(topology.plan))


def classes(topology: Topology) -> int:
    return int(topology.link_class.max(initial=0)) + 1


def with_bandwidths(topology: Topology, *widths: float | Fraction) -> Topology:
    """Flits a cycle of the link classes, in turn; what has a unit keeps it."""
    number = max(classes(topology), len(topology.plan.classes))
    return with_plan(topology, bandwidths=tuple(Fraction(widths[kind % len(widths)]) for kind in range(number)))


def with_latencies(topology: Topology, *cycles: int) -> Topology:
    number = max(classes(topology), len(topology.plan.classes))
    return with_plan(topology, latencies=tuple(cycles[kind % len(cycles)] for kind in range(number)))


def one_way(topology: Topology) -> Topology:
    """The network without one direction of as many links as it can lose while all nodes still reach each other."""
    ports = topology.ports.copy()
    tails, _, at = topology.arcs
    for arc in np.random.default_rng(1).permutation(len(tails)).tolist():
        lost, ports[tails[arc], at[arc]] = ports[tails[arc], at[arc]], NO_PORT
        rows, columns = np.nonzero(ports != NO_PORT)
        links = scipy.sparse.coo_array((np.ones(len(rows)), (rows, ports[rows, columns])), shape=(len(ports),) * 2)
        if scipy.sparse.csgraph.connected_components(links, connection="strong")[0] > 1:
            ports[tails[arc], at[arc]] = lost
    capacity = None if topology.capacity is None else np.where(ports == NO_PORT, 0, topology.capacity)
    return replace(graph_of(topology, directed=True), ports=ports, capacity=capacity)


def graph_of(topology: Topology, **changes: object) -> Topology:
    """The network as if it were read from a file: of no construction."""
    found = with_plan(topology, structure=None, radices=(topology.nodes,), joined=False, bisection=None, **changes)
    return replace(found, family="graph", spelling=f"graph(nodes={topology.nodes}, links={topology.links})")


def hosts(topology: Topology) -> Topology:
    """The network whose nodes with terminals, the second half of them, are hosts that forward nothing."""
    found = graph_of(topology, hosts_end=True)
    return replace(found, terminals=np.arange(topology.nodes // 2, topology.nodes, dtype=np.int32))


def weights(topology: Topology, far: float) -> Topology:
    """Weights of 1, but of the links of the first class: those have another."""
    weight = np.where(topology.link_class == 0, far, 1.0)
    return replace(with_plan(topology, weighted=True), weight=np.where(topology.ports == NO_PORT, 0.0, weight))


# attribute → (networks that say it, each another thing of it) of a network without
SAID: Mapping[str, Callable[[Topology], list[Topology]]] = {
    "bandwidth": lambda one: [with_bandwidths(one, *widths) for widths in ((4,), (2,), (4, 2), (2, 4), (1, 4))],
    "latency": lambda one: [with_latencies(one, *cycles) for cycles in ((3,), (9,), (3, 9), (9, 3))],
    "unit": lambda one: [
        with_plan(one, rate=Fraction(number * GIGABIT), notes=(f"1 flit a cycle is {number} Gb/s",))
        for number in (10, 100)
    ],
    "clock": lambda one: [
        with_plan(one, tick=number * NANOSECOND, notes=(f"a cycle is {number} ns",)) for number in (10, 1000)
    ],
    "direction": lambda one: [one_way(one), graph_of(one)],
    "forwarding": lambda one: [hosts(one), replace(hosts(one), plan=replace(hosts(one).plan, hosts_end=False))],
    "terminal rate": lambda one: [with_bandwidths(hosts(one), width) for width in (2, 4)],
    "weight": lambda one: [weights(one, far) for far in (1.0, 9.0)],
    "terminals": lambda one: [
        graph_of(one),
        *(
            replace(graph_of(one), terminals=terminals)
            for terminals in (np.append(one.terminals[1:], one.terminals[-1:]), one.terminals[::-1][:-2].copy())
        ),
    ],
}
