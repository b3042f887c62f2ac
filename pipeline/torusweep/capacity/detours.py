"""The capacity over minimal routes and Valiant's together: what an adaptive choice among them could carry."""

from __future__ import annotations

from math import inf

import numpy as np
import scipy

from torusweep.capacity import (
    MAX_FLOWS,
    Throughput,
    gather,
    meeting,
    minimal_distances,
    proved_loads,
    solve,
    usable_arcs,
)
from torusweep.capacity.guarantee import joined
from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import Topology
from torusweep.traffic import GivenTraffic, Traffic
from torusweep.traffic import traffic as pattern_on

DETOURS = "minimal+valiant"


def with_detours(topology: Topology, traffic: str | GivenTraffic) -> Throughput:
    """Find the capacity if every flit takes a minimal route to some node, and a minimal route from there to its end.

    A flit that goes by way of its own source or destination takes a minimal route. A linear program chooses how many
    flits of each pair go by way of each node, and the flows to each node, which serve both halves of the routes.

    Raises BadInput where hosts forward nothing or some traffic has no path, Refused if the program is too large.
    """
    canonical, pattern = pattern_on(traffic, topology)
    n, (tail, _, port) = topology.nodes, topology.arcs
    amount = pattern.at_nodes(topology.terminals, n).rows(np.arange(n))
    np.fill_diagonal(amount, 0)
    source, target = np.nonzero(amount)
    what, nothing = f"capacity of {topology.spelling} under {canonical}, {DETOURS}", np.zeros(topology.ports.shape)
    if topology.ends is not None:
        raise BadInput(f"{what}: expected nodes that all forward packets, got hosts that do not; choose all routes")
    if not len(source):
        return Throughput(inf, inf, 0.0, nothing, nothing, "nothing is sent over any channel")
    relays = np.flatnonzero(joined(topology))
    if not np.isin(source, relays).all():
        raise BadInput(f"{what}: expected terminals that all reach each other, got some that do not; choose all routes")
    many = len(relays)
    size = len(source) * many + many * len(tail)
    if size > MAX_FLOWS:
        raise Refused(
            f"{what}: expected a linear program of at most {MAX_FLOWS:,} flows, got {size:,}; choose a smaller network,"
            " or a permutation"
        )
    ends = np.isin(np.arange(n), relays).astype(np.float64)
    every = Traffic(ends, ends, scipy.sparse.csr_array((n, n)), symmetric=True)
    flows = gather(topology, canonical, every, use_symmetry=False)
    usable = usable_arcs(flows, "minimal")
    number = np.zeros(n, np.int64)  # of the flows to each node
    number[flows.roots] = np.arange(many)
    pair, by = (part.ravel() for part in np.meshgrid(np.arange(len(source)), flows.roots, indexing="ij"))
    rows = np.concatenate([number[by] * n + source[pair], number[target[pair]] * n + by])
    moves = np.concatenate([by != source[pair], by != target[pair]]).astype(np.float64)
    columns = np.tile(np.arange(len(pair)), 2)
    demand = scipy.sparse.csr_array(scipy.sparse.coo_array((moves, (rows, columns)), shape=(many * n, len(pair))))
    sums = scipy.sparse.csr_array((np.ones(len(pair)), (pair, np.arange(len(pair)))))
    total = amount[source, target]
    found = solve(flows, usable, demand=demand, sums=sums, totals=total)
    chosen = found.odds * (total / (sums @ found.odds))[pair]
    over = proved_loads(flows._replace(demand=(demand @ chosen).reshape(many, n)), usable, found.flow)
    along = np.maximum(found.price, 0)
    along = (along / along.sum() / np.bincount(flows.orbit, flows.capacity))[flows.orbit]
    away = minimal_distances(flows, usable, along)
    least = (away[:, source].T + away[number[target]][:, flows.roots]).min(axis=1)
    bound = float(flows.capacity @ along / (total @ least))
    throughput = min(float(1 / over.max()), bound)  # rounding may raise it above the bound
    load, length = nothing.copy(), nothing.copy()
    load[tail, port], length[tail, port] = over, along
    gap = bound / throughput - 1
    return Throughput(throughput, bound, gap, load, length, f"linear program (HiGHS): {size:,} flows; {meeting(gap)}")
