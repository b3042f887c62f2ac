"""Flows of a routing table: exactly, over its configurations, and counted, packet by packet."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torusweep_kernels.forwarding import Demands
from torusweep_kernels.forwarding import table_flows as flows_over
from torusweep_kernels.sums import rounded

from torusweep.routing.forms import TableRouting
from torusweep.routing.tables.rows import table_of_kernel
from torusweep.traffic import Traffic

BLOCK = 1 << 22  # demands at a time: 32 MiB


def table_flows(
    routing: TableRouting, traffic: Traffic, *, progress: Callable[[float], None] | None = None
) -> np.ndarray:
    """float64[N, P]: flits over every channel, for traffic between the nodes.

    The loads are exact sums, rounded once (`torusweep_kernels.forwarding`): whatever the order of its rows, the same
    table has the same loads to the last bit.
    progress   receives the share of the destinations that have been followed
    """
    topology, nodes = routing.topology, routing.topology.nodes
    table = table_of_kernel(routing)
    load, rest = np.zeros((2, topology.ports.size))
    destination, source = np.divmod(routing.entry_pair, nodes)
    goals, begins = np.unique(destination, return_index=True)
    begins = np.append(begins, len(destination))
    step = max(1, BLOCK // nodes)
    for first in range(0, len(goals), step):
        some = goals[first : first + step]
        bounds = begins[first : first + len(some) + 1]
        own = slice(bounds[0], bounds[-1])
        demand = traffic.columns(some)[np.repeat(np.arange(len(some)), np.diff(bounds)), source[own]]
        flows_over(table, Demands(some, bounds - bounds[0], routing.entry[own], demand), load, rest)
        if progress is not None:
            progress(min(1.0, (first + step) / len(goals)))
    return rounded(load, rest).reshape(topology.ports.shape)
