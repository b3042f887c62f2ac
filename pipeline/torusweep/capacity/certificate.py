"""Prove a throughput in whole numbers: flows show that some routing carries it, channel lengths that none exceeds it.

A linear program's solution is rounded. If its flows are multiples of a simple fraction, as at vertices, nothing is
lost; otherwise the flits that rounding removes take shortest paths. In both cases both numbers are exact, and proved.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy

from torusweep.capacity import (
    Commodities,
    UsableArcs,
    distances,
    gather,
    minimal_distances,
    preserves,
    solve,
    usable_arcs,
)
from torusweep.capacity.first_order import Proof
from torusweep.capacity.guarantee import WORST, Guarantee, Metric
from torusweep.errors import BadInput, Refused
from torusweep.networks.certificates import MOST_NUMBERS, Group, certificate, check_derived, group_of, links_of
from torusweep.networks.symmetry import proved_symmetries
from torusweep.networks.topology import Topology
from torusweep.traffic import GivenTraffic, Traffic
from torusweep.traffic import traffic as pattern_on

PATTERNS = ("uniform", "bit_complement", "bit_reversal", "perfect_shuffle", "transpose", "tornado", "neighbour")
PARTS = 240  # flows may be multiples of 1/1 … 1/240 of a terminal's traffic to another terminal
FINE = 1 << 20  # parts of that traffic, if the flows are no such multiples
NEAR = 1e-6  # distance up to which a number counts as whole


class Flows(NamedTuple):
    """The fields of a certificate (`proof`), the exact throughput of some routing, and an exact bound for all routings.

    If a first-order method has more flows than a certificate can hold, only the bound is proved.
    """

    proof: dict[str, Any]
    carried: Fraction
    bound: Fraction


def check_certified(topology: Topology, spelling: str | GivenTraffic) -> tuple[str, Traffic]:
    """Return (canonical spelling, traffic). Raises BadInput if certify/check.py cannot derive the network or demand."""
    check_derived(topology)
    canonical, pattern = pattern_on(spelling, topology)
    if canonical not in PATTERNS:
        raise BadInput(f"certificate under {canonical}: expected one of {', '.join(PATTERNS)}; choose one")
    return canonical, pattern


def flows_proof(topology: Topology, spelling: str, routes: str = "all", given: Proof | None = None) -> Flows:
    """Prove the capacity, by the flows of a given proof or else by the optimum of the linear program.

    Raises BadInput for a network or traffic that certify/check.py cannot derive, Refused for a proof that is too large.
    """
    canonical, pattern = check_certified(topology, spelling)
    traffic = pattern.at_nodes(topology.terminals, topology.nodes)
    return _flows_proof(topology, canonical, traffic, topology.nodes, routes, given)


def _flows_proof(
    topology: Topology, canonical: str, traffic: Traffic, unit: int, routes: str, given: Proof | None
) -> Flows:
    """Prove the capacity under traffic between nodes, whose demands are multiples of 1 / unit; as `flows_proof`."""
    flows = gather(topology, canonical, traffic, use_symmetry=True)
    group = group_of(
        topology, proved_symmetries(topology), lambda image: traffic.symmetric or preserves(traffic, image)
    )
    if not len(flows.roots):
        raise BadInput(f"certificate under {canonical}: expected traffic over channels, got none")
    usable = usable_arcs(flows, routes)
    demand = np.rint(flows.demand * unit).astype(np.int64)
    weights, links = flows.weights.astype(np.int64), links_of(topology)
    if given is None:
        if len(usable.arc) > MOST_NUMBERS:
            raise Refused(
                f"certificate of {topology.spelling} under {canonical}: expected at most {MOST_NUMBERS:,} flows, got"
                f" {len(usable.arc):,}; choose a smaller network, or traffic that its symmetries keep"
            )
        solution = solve(flows, usable)
        price = np.maximum(solution.price, 0) / np.bincount(flows.orbit, flows.capacity)
        length = _rounded(price)[flows.orbit]
        commodity, arc = usable.commodity, usable.arc
        flow, scale = _whole_flow(flows, usable, demand, solution.flow, unit)
    else:
        length, scale = given.length // np.gcd.reduce(given.length), given.scale // unit
        commodity, arc = np.nonzero(given.flow.T)
        flow = given.flow[arc, commodity]
    away = (
        distances(flows.tail, flows.head, length.astype(float), flows.roots, topology.nodes)
        if routes == "all"
        else minimal_distances(flows, usable, length.astype(float))
    )
    away = np.where(demand > 0, away, 0).astype(np.int64)
    bound = Fraction(unit * int(links @ length), int(weights @ (away * demand).sum(axis=1)))
    over = np.zeros(int(flows.orbit.max()) + 1, object)
    np.add.at(over, flows.orbit[arc], flow.astype(object) * weights[commodity].astype(object))
    busiest = max(Fraction(int(total), int(room)) for total, room in zip(over, np.bincount(flows.orbit, links)))
    tail, head, _ = topology.arcs
    by_root = np.argsort(commodity, kind="stable")
    starts = np.searchsorted(commodity[by_root], np.arange(len(flows.roots) + 1))
    listed = len(arc) <= MOST_NUMBERS
    proof = {
        "generators": group.listed,
        "roots": flows.roots.tolist(),
        "lengths": _lengths(topology, length, group),
        "scale": scale * unit if listed else None,
        "flows": [
            [[int(tail[a]), int(head[a]), int(flits)] for a, flits in zip(arc[own], flow[own]) if flits]
            for own in (by_root[first:last] for first, last in pairwise(starts))
        ]
        if listed
        else None,
    }
    return Flows(proof, scale * unit / busiest, bound)


def capacity_certificate(topology: Topology, spelling: str, routes: str, given: Proof | None = None) -> str:
    """Return the certificate of a throughput that some routing carries and none exceeds; raises as `flows_proof`."""
    found = flows_proof(topology, spelling, routes, given)
    claim = {"topology": topology.spelling, "traffic": pattern_on(spelling, topology)[0], "routes": routes}
    least = None if found.proof["flows"] is None else found.carried
    return certificate("capacity", claim | {"at_least": least, "at_most": found.bound}, found.proof)


def guarantee_certificate(topology: Topology, found: Guarantee, given: Proof | None = None) -> str:
    """Return certificates, a line each: of two-phase routing, oblivious routings (if by lengths), and any routing.

    given   proof of the capacity under uniform traffic. Raises as `flows_proof`.
    """
    check_derived(topology)
    (tail, head, _), n, links, odds = topology.arcs, topology.nodes, links_of(topology), _rounded(found.odds)
    twice, least, ones = 2 * int(odds.sum()), odds.min(), np.ones(n)
    pairs = scipy.sparse.csr_array((odds - least)[:, None] / twice * ones)
    between = Traffic(ones, (odds + least) / twice, pairs, symmetric=False)  # half of what two phases send at most
    flows = _flows_proof(topology, WORST, between, twice, "all", None if np.ptp(odds) else given)
    proof = {"odds": odds.tolist()} | {name: part for name, part in flows.proof.items() if name != "lengths"}
    claim: dict[str, Any] = {"topology": topology.spelling, "at_least": None, "at_most": None}
    lower = None if proof["flows"] is None else flows.carried / 2
    lines, metric = [certificate("two_phase", claim | {"at_least": lower}, proof)], Metric(topology)
    if found.length is not None:
        length = _rounded(found.length)
        far, group = metric.between(length).sum(axis=0).astype(np.int64), _keeping(topology, length)
        room = int(links @ (n * length + abs(far[tail] - far[head])))
        proof = {"generators": group.listed, "lengths": _lengths(topology, length, group)}
        lines.append(certificate("oblivious", claim | {"at_most": Fraction(room, 2 * int(far.sum()))}, proof))
    if found.worst is None:
        return "".join(lines) + capacity_certificate(topology, "uniform", "all", given)
    length, to = _rounded(found.worst.length), found.worst.destination
    needed = int(metric.between(length)[to, np.arange(n)].sum())
    proof = {"permutation": to.tolist(), "lengths": _lengths(topology, length, group_of(topology, [], bool))}
    lines.append(certificate("permutation", claim | {"at_most": Fraction(int(links @ length), needed)}, proof))
    return "".join(lines)


def _keeping(topology: Topology, length: np.ndarray) -> Group:
    """Return the group of the proved automorphisms that keep the lengths of channels, int64[A]."""
    tail, head, _ = topology.arcs
    matrix = scipy.sparse.csr_array(scipy.sparse.coo_array((length, (tail, head)), shape=(topology.nodes,) * 2))
    keeps = lambda image: (matrix[image][:, image] != matrix).nnz == 0  # noqa: E731
    return group_of(topology, proved_symmetries(topology), keeps)


def _lengths(topology: Topology, length: np.ndarray, group: Group) -> list[list[int]]:
    """Return [tail, head, length] of the first channel, by (tail, head), of each orbit with a length above 0."""
    tail, head, _ = topology.arcs
    order = np.lexsort((head, tail))
    firsts = sorted(order[np.unique(group.channel[order], return_index=True)[1]].tolist())
    return [[int(tail[a]), int(head[a]), int(length[a])] for a in firsts if length[a]]


def _rounded(values: np.ndarray) -> np.ndarray:
    """Return coprime whole numbers proportional to values ≥ 0, int64[…]. They are rounded if exact ones are large."""
    whole = _whole(values / values.max(), PARTS)
    found = np.rint(FINE * values / values.max()).astype(np.int64) if whole is None else whole
    return found // np.gcd.reduce(found)


def _whole(values: np.ndarray, parts: int) -> Any:
    """Return `values` times the least factor, 1 … parts, that makes all whole, int64[…]; None without such a factor."""
    for number in range(1, parts + 1):
        if (abs(values * number - np.rint(values * number)) < NEAR * number).all():
            return np.rint(values * number).astype(np.int64)
    return None


def _whole_flow(
    flows: Commodities, usable: UsableArcs, demand: np.ndarray, flow: np.ndarray, unit: int
) -> tuple[np.ndarray, int]:
    """Round a flow to (int64[V], scale): whole numbers that carry at least `scale` times the demand, int64[K, N].

    unit   number of units in a flit of demand
    """
    for scale in (*range(1, PARTS + 1), FINE):
        parts = np.maximum(flow, 0) * unit * scale
        if scale < FINE and (abs(parts - np.rint(parts)) > NEAR * scale * unit).any():
            continue
        whole = np.rint(parts).astype(np.int64)
        left = -scale * demand
        np.add.at(left, (usable.commodity, flows.tail[usable.arc]), whole)
        np.subtract.at(left, (usable.commodity, flows.head[usable.arc]), whole)
        left[np.arange(len(left)), flows.roots] = 0
        if (left >= 0).all():
            return whole, scale
    for k, own in enumerate(left):  # what is missing takes a shortest path
        place = {
            int(flows.tail[usable.arc[v]]): v
            for v in np.flatnonzero(usable.commodity == k)
            if flows.hops[k, flows.tail[usable.arc[v]]] == flows.hops[k, flows.head[usable.arc[v]]] + 1
        }
        for node in np.argsort(-flows.hops[k], kind="stable").tolist():
            if own[node] < 0 and node != flows.roots[k]:
                whole[place[node]] -= own[node]
                own[flows.head[usable.arc[place[node]]]] += own[node]
                own[node] = 0
    return whole, FINE
