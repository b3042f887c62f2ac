"""The greatest throughput that any routing gives a traffic pattern, with a proof of it from either side."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from torusweep.capacity.certificate import proved_bound, proved_loads
from torusweep.capacity.commodities import ROUTES, gather, usable_arcs
from torusweep.capacity.linear_program import solve
from torusweep.errors import BadInput, Refused, nearest
from torusweep.networks.topology import Topology
from torusweep.traffic import traffic as pattern_on

FLOWS = 450_000  # variables of the largest program that is solved: one to four minutes (300,000: about one)
CLOSED = 1e-6  # relative gap up to which the two proofs count as meeting


class Capacity(NamedTuple):
    """Throughput is in flits per terminal and cycle, channels being the only limit (not what terminals can send or receive).

    throughput  float          some routing achieves it
    bound       float          none exceeds it; inf, as throughput, where no flit enters the network
    gap         float          bound / throughput − 1
    load        float64[N, P]  flits per cycle over each port's channel at one flit injected per terminal and cycle,
                               divided by its capacity, under a routing that achieves throughput; the largest is its inverse
    length      float64[N, P]  lengths that prove the bound, Σ capacity · length = 1; positive where the traffic is stuck
    method      str            what was solved, and how closely the proofs meet
    """

    throughput: float
    bound: float
    gap: float
    load: np.ndarray
    length: np.ndarray
    method: str


def capacity(topology: Topology, traffic: str, *, routes: str = "all", use_symmetry: bool = True) -> Capacity:
    """Maximum concurrent flow: the greatest λ at which λ times the traffic fits the channels, flits dividing freely over routes.

    traffic        a pattern's spelling (torusweep.traffic)
    routes         all, or minimal: only those with the fewest hops between their ends
    use_symmetry   solve for one root of each orbit of the nodes, and one constraint for each orbit of channels, under the
                   declared automorphisms that keep the traffic, each proved. Exact: from any routing, the mean of its images
                   under the group is a routing; every channel then carries the mean load of its orbit under the first one,
                   which is no more than the largest; and all roots of an orbit have the same flow, carried over from one.

    Neither number rests on the solver (`certificate`): throughput is that of a flow whose conservation was checked and
    whose deficits were paid for, bound follows by weak duality from channel lengths; both up to rounding in float64.
    Where gap exceeds 1e-6, `method` says so.
    Raises BadInput where routes or the pattern are unknown, the pattern does not fit, or some traffic has no path; Refused
    where the program would take much longer than minutes.
    """
    if routes not in ROUTES:
        raise BadInput(f"unknown routes '{routes}'{nearest(routes, ROUTES)}; there are {', '.join(ROUTES)}")
    spelled, pattern = pattern_on(traffic, topology)
    nothing = np.zeros(topology.ports.shape)
    flows = gather(topology, spelled, pattern.at_nodes(topology.terminals, topology.nodes), use_symmetry=use_symmetry)
    if not len(flows.roots):
        return Capacity(inf, inf, 0.0, nothing, nothing, "nothing is sent over any channel")
    usable = usable_arcs(flows, routes)
    program = f"{len(flows.roots):,} {'root' if len(flows.roots) == 1 else 'roots'}, {len(usable.arc):,} flows"
    if len(usable.arc) > FLOWS:
        raise Refused(
            f"capacity of {topology.spelling} under {spelled} over {routes} routes: expected a linear program of at most {FLOWS:,} flows,"
            f" got {program}; choose a smaller network{', minimal routes' if routes == 'all' else ''} or traffic that its symmetries keep"
        )
    solution = solve(flows, usable)
    over = proved_loads(flows, usable, solution.flow)
    price = np.maximum(solution.price, 0)
    along = (price / price.sum() / np.bincount(flows.orbit, flows.capacity))[flows.orbit]
    bound = proved_bound(flows, usable, routes, along)
    throughput = min(float(1 / over.max()), bound)  # rounding may lift it above
    gap = bound / throughput - 1
    proof = (
        f"proofs meet to {gap:.0e}"
        if gap <= CLOSED
        else f"proofs leave a gap of {gap:.0e}: the optimum lies between them"
    )
    tail, _, port = topology.arcs
    load, length = nothing.copy(), nothing.copy()
    load[tail, port], length[tail, port] = over, along
    return Capacity(throughput, bound, gap, load, length, f"linear program (HiGHS): {program}; {proof}")
