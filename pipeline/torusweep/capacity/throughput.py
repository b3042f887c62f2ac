"""The greatest throughput of any routing under a traffic pattern, with verified bounds from both sides."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from torusweep.capacity.certificate import proved_bound, proved_loads
from torusweep.capacity.commodities import ROUTES, gather, usable_arcs
from torusweep.capacity.linear_program import solve
from torusweep.errors import BadInput, Refused, nearest
from torusweep.networks.topology import Topology
from torusweep.traffic import GivenTraffic
from torusweep.traffic import traffic as pattern_on

MAX_FLOWS = 450_000  # variables of a linear program; it takes one to four minutes (300,000: about one)
CLOSED = 1e-6  # relative gap up to which the two bounds count as equal


class Throughput(NamedTuple):
    """Throughput in flits per terminal and cycle, limited by channels only, not by what terminals send or receive.

    throughput  float          achieved by some routing
    bound       float          exceeded by no routing; inf, like throughput, if no flit enters the network
    gap         float          bound / throughput − 1
    load        float64[N, P]  load of each port's channel under a routing that achieves the throughput, in flits per
                               cycle at one flit injected per terminal and cycle, divided by the capacity of the
                               channel; the largest is 1 / throughput
    length      float64[N, P]  channel lengths that prove the bound, Σ capacity · length = 1; positive at bottlenecks
    method      str            the linear program and the gap
    """

    throughput: float
    bound: float
    gap: float
    load: np.ndarray
    length: np.ndarray
    method: str


def capacity(
    topology: Topology, traffic: str | GivenTraffic, *, routes: str = "all", use_symmetry: bool = True
) -> Throughput:
    """Maximum concurrent flow: the greatest λ for which λ times the traffic fits the channels, split freely.

    traffic        spelling of a pattern (torusweep.traffic), or a given matrix
    routes         "all", or "minimal": routes with the fewest hops only
    use_symmetry   solve for one root per orbit of nodes, with one constraint per orbit of channels, under the verified
                   automorphisms that preserve the traffic. This is exact: the mean of the images of a routing under
                   the group is a routing, under which each channel has the mean load of its orbit, and all roots of
                   an orbit have the same flow up to an automorphism.

    Neither bound relies on the solver (see `certificate`). The throughput is that of a flow whose conservation is
    verified and whose deficits are added to all loads; the upper bound follows from channel lengths by weak duality.
    Both hold up to rounding in float64. If the gap exceeds 1e-6, `method` says so.
    Raises BadInput if routes or the pattern are unknown, if the pattern does not suit the network, or if some traffic
    has no path; Refused if the linear program is too large.
    """
    if routes not in ROUTES:
        raise BadInput(f"unknown routes '{routes}'{nearest(routes, ROUTES)}; there are {', '.join(ROUTES)}")
    canonical, pattern = pattern_on(traffic, topology)
    nothing = np.zeros(topology.ports.shape)
    flows = gather(topology, canonical, pattern.at_nodes(topology.terminals, topology.nodes), use_symmetry=use_symmetry)
    if not len(flows.roots):
        return Throughput(inf, inf, 0.0, nothing, nothing, "nothing is sent over any channel")
    usable = usable_arcs(flows, routes)
    program = _checked_size(topology, canonical, routes, len(flows.roots), len(usable.arc))
    solution = solve(flows, usable)
    over = proved_loads(flows, usable, solution.flow)
    price = np.maximum(solution.price, 0)
    along = (price / price.sum() / np.bincount(flows.orbit, flows.capacity))[flows.orbit]
    bound = proved_bound(flows, usable, routes, along)
    throughput = min(float(1 / over.max()), bound)  # rounding may raise it above the bound
    gap = bound / throughput - 1
    proof = (
        f"proofs meet to {gap:.0e}"
        if gap <= CLOSED
        else f"proofs leave a gap of {gap:.0e}: the optimum lies between them"
    )
    tail, _, port = topology.arcs
    load, length = nothing.copy(), nothing.copy()
    load[tail, port], length[tail, port] = over, along
    return Throughput(throughput, bound, gap, load, length, f"linear program (HiGHS): {program}; {proof}")


def check_capacity(topology: Topology, traffic: str | GivenTraffic, *, use_symmetry: bool = True) -> None:
    """Raise as `capacity` does for all routes, without solving the program."""
    canonical, pattern = pattern_on(traffic, topology)
    flows = gather(topology, canonical, pattern.at_nodes(topology.terminals, topology.nodes), use_symmetry=use_symmetry)
    leaving = np.bincount(flows.tail, minlength=topology.nodes)[flows.roots].sum()
    _checked_size(topology, canonical, "all", len(flows.roots), len(flows.roots) * len(flows.tail) - int(leaving))


def _checked_size(topology: Topology, traffic: str, routes: str, roots: int, flows: int) -> str:
    """The size of a linear program in words. Raises Refused if it is too large."""
    program = f"{roots:,} {'root' if roots == 1 else 'roots'}, {flows:,} flows"
    if flows > MAX_FLOWS:
        raise Refused(
            f"capacity of {topology.spelling} under {traffic} over {routes} routes:"
            f" expected a linear program of at most {MAX_FLOWS:,} flows, got {program};"
            f" choose a smaller network{', minimal routes' if routes == 'all' else ''}"
            " or traffic that its symmetries keep"
        )
    return program
