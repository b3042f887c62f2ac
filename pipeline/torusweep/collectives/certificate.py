"""Prove the optimum of a collective operation in whole numbers: a cut or partition, and trees that attain it.

Where a network has automorphisms, trees out of one node per orbit represent all their images, which together load the
channels of an orbit equally. A small linear program finds trees that load the orbits as the optimum requires. It
chooses among trees that take as many links as possible from one orbit, then from the next, for all orders of the orbits
(Edmonds 1971: the vertices of what spanning trees can take of each orbit). Elsewhere trees are packed one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, permutations
from math import lcm
from typing import Any

import numpy as np
import scipy
from torusweep_kernels.cuts import Channels, strength
from torusweep_kernels.trees import Trees, pack_trees, shortest_path_trees

from torusweep.capacity.certificate import flows_proof
from torusweep.collectives.operations import IN_NETWORK, OPERATIONS, channels_of
from torusweep.collectives.optimum import Cut, Optimum, Partition
from torusweep.collectives.trees import MOST_PACKED
from torusweep.errors import BadInput
from torusweep.networks.certificates import MOST_NUMBERS, Group, certificate, check_derived, group_of, links_of
from torusweep.networks.symmetry import proved_symmetries
from torusweep.networks.topology import Topology

MOST_ORDERS = 120  # orders of the orbits of channels that are tried
PARTS = 10**6  # largest denominator of a tree's weight
Weighted = list[tuple[int, list[int]]]  # trees: (weight, parent of each node, −1 for the root)


def collective_certificate(topology: Topology, operation: str, root: int, bounds: Optimum) -> str:
    """Return the certificate of an operation's lower bound, and of the time that trees or flows attain.

    Raises BadInput for a network that certify/check.py cannot derive, Refused if a proof is too large.
    """
    if operation == IN_NETWORK:
        raise BadInput(f"certificate of {operation}: expected an operation without sums in switches; choose all_reduce")
    check_derived(topology)
    claim: dict[str, Any] = {"topology": topology.spelling, "operation": operation}
    claim["root"] = root if OPERATIONS[operation].rooted else None
    if operation == "all_to_all":
        found = flows_proof(topology, "uniform")
        return certificate(
            "collective", claim | {"at_least": 1 / found.bound, "at_most": 1 / found.carried}, found.proof
        )
    part, at_least = _cut_of(topology, operation, root, bounds.proof)
    trees, group = _trees(topology, operation, root, at_least)
    at_most = None if trees is None else _time(topology, operation, trees, group)
    proof = {"cut": part, "trees": trees, "generators": None if trees is None else group.listed}
    return certificate("collective", claim | {"at_least": at_least, "at_most": at_most}, proof)


def _cut_of(topology: Topology, operation: str, root: int, proof: Cut | Partition | None) -> tuple[list[int], Fraction]:
    """Return (set of each node, numbered in order of appearance; lower bound that the cut between the sets proves)."""
    part = np.zeros(topology.nodes, np.int64)
    if isinstance(proof, Partition):
        part = proof.part.astype(np.int64)
    elif proof is not None:
        part[proof.nodes] = 1
    _, first, part = np.unique(part, return_index=True, return_inverse=True)
    part = np.argsort(np.argsort(first))[part]
    tail, head, _ = topology.arcs
    crosses, links = part[tail] != part[head], links_of(topology)
    if operation == "all_reduce":
        leaving = np.bincount(part[tail[crosses]], links[crosses])
        return part.tolist(), max(Fraction(2 * int(part.max()), int(leaving.sum())), Fraction(1, int(leaving.min())))
    from_side = part[head if operation in ("reduce_scatter", "reduce") else tail]
    sides = [int(part[root])] if OPERATIONS[operation].rooted else [0, 1]
    through = [int(links[crosses & (from_side == side)].sum()) for side in sides]
    needed = [
        1 if OPERATIONS[operation].rooted else Fraction(int((part == side).sum()), topology.nodes) for side in sides
    ]
    return part.tolist(), max(Fraction(need) / flits for need, flits in zip(needed, through))


def _trees(topology: Topology, operation: str, root: int, wanted: Fraction) -> tuple[Weighted | None, Group]:
    """Return (trees that attain the time `wanted`, or the best trees found; automorphism group of their images)."""
    rooted = OPERATIONS[operation].rooted
    trivial = group_of(topology, [], lambda image: True)
    if operation == "all_reduce" and topology.directed:  # sums that go up a tree come down against it
        return None, trivial
    group = group_of(topology, proved_symmetries(topology), lambda image: not rooted or int(image[root]) == root)
    averaged = None
    if group.generators:
        averaged = _averaged(topology, operation, root, group)
        if averaged and _time(topology, operation, averaged, group) == wanted:
            return averaged, group
    packed = _packed(topology, operation, root, wanted)
    if packed is not None and sum(len(parent) for _, parent in packed) <= MOST_NUMBERS:
        return packed, trivial
    return averaged, group


def _time(topology: Topology, operation: str, trees: Weighted, group: Group) -> Fraction:
    """Return the time in cycles per flit of the operation's size, if trees share data in proportion to their weights.

    This is the load of the busiest link, averaged over the images of the trees under the group.
    """
    tail, head, _ = topology.arcs
    place = dict(zip(zip(tail.tolist(), head.tolist()), group.channel.tolist()))
    load = [0] * (int(group.channel.max()) + 1)
    for weight, parent in trees:
        for orbit in _taken(operation, parent, place):
            load[orbit] += weight
    room = np.bincount(group.channel, links_of(topology)).astype(int).tolist()
    return max(Fraction(*pair) for pair in zip(load, room)) / sum(weight for weight, _ in trees)


def _taken(operation: str, parent: Sequence[int], place: dict[tuple[int, int], int]) -> Iterator[int]:
    """Yield the orbit of each channel that an operation uses in a tree; `parent` has the parent of each node."""
    for node, above in enumerate(parent):
        if above >= 0 and operation in ("all_gather", "broadcast", "all_reduce"):
            yield place[above, node]
        if above >= 0 and operation in ("reduce_scatter", "reduce", "all_reduce"):
            yield place[node, above]


def _averaged(topology: Topology, operation: str, root: int, group: Group) -> Weighted | None:
    """Find trees, out of one node per orbit, whose images load channels as evenly as possible; None if that fails."""
    tail, head, _ = (array.tolist() for array in topology.arcs)
    place = dict(zip(zip(tail, head), group.channel.tolist()))
    if OPERATIONS[operation].rooted:
        roots, sizes = [root], [1]
    else:
        firsts, counts = np.unique(group.node, return_counts=True)
        roots, sizes = firsts.tolist(), counts.tolist()
    if operation == "all_reduce":
        roots, sizes = roots[:1], [1]  # a tree without direction has its root anywhere
    reverse = operation in ("reduce_scatter", "reduce")
    orders = list(islice(permutations(range(int(group.channel.max()) + 1)), MOST_ORDERS))
    candidates = [
        (k, parent) for k, start in enumerate(roots) for parent in _greedy(topology, start, group, orders, reverse)
    ]
    room = np.bincount(group.channel, links_of(topology))
    loads = np.zeros((len(room), len(candidates)))
    for column, (_, parent) in enumerate(candidates):
        for orbit in _taken(operation, parent, place):
            loads[orbit, column] += 1 / room[orbit]
    shares = np.array([[float(k == own) for own, _ in candidates] for k in range(len(roots))])
    found = scipy.optimize.linprog(
        np.append(np.zeros(len(candidates)), 1.0),
        A_ub=np.hstack([loads, -np.ones((len(room), 1))]),
        b_ub=np.zeros(len(room)),
        A_eq=np.hstack([shares, np.zeros((len(roots), 1))]),
        b_eq=np.array(sizes, float) / sum(sizes),
        method="highs-ds",
    )
    if found.status != 0:
        return None
    weights = [Fraction(float(value)).limit_denominator(PARTS) for value in found.x[:-1]]
    for k, size in enumerate(sizes):  # each orbit's trees carry what its nodes bring, exactly
        own = [i for i, (of, _) in enumerate(candidates) if of == k]
        most = max(own, key=lambda i: weights[i])
        weights[most] += Fraction(size, sum(sizes)) - sum(weights[i] for i in own)
    whole = lcm(*(weight.denominator for weight in weights))
    return [(int(weight * whole), parent) for weight, (_, parent) in zip(weights, candidates) if weight > 0]


def _greedy(
    topology: Topology, root: int, group: Group, orders: Sequence[Sequence[int]], reverse: bool
) -> Iterator[list[int]]:
    """Yield, for each order of the orbits, a tree out of a root with most links from the first orbit, then the next.

    Trees grow as in Prim's algorithm (1957). They are minimum spanning trees if orbits hold both directions of links.
    """
    tail, head, _ = (array.tolist() for array in topology.arcs)
    onwards: list[list[tuple[int, int]]] = [[] for _ in range(topology.nodes)]
    for u, v, orbit in zip(tail, head, group.channel.tolist()):
        onwards[v if reverse else u].append((u if reverse else v, orbit))
    seen = set()
    for order in orders:
        rank = {orbit: place for place, orbit in enumerate(order)}
        parent, waiting = [-2] * topology.nodes, [[] for _ in order]  # type: list[int], list[list[tuple[int, int]]]
        waiting[0].append((root, -1))
        while any(waiting):
            node, above = next(one for one in waiting if one).pop()
            if parent[node] == -2:
                parent[node] = above
                for other, orbit in onwards[node]:
                    if parent[other] == -2:
                        waiting[rank[orbit]].append((other, node))
        if tuple(parent) not in seen and -2 not in parent:
            seen.add(tuple(parent))
            yield parent


def _packed(topology: Topology, operation: str, root: int, wanted: Fraction) -> Weighted | None:
    """Pack trees out of every node, or out of the root, into the channels; None if none fit or nodes are too many."""
    channels = channels_of(topology, reverse=operation in ("reduce_scatter", "reduce"))
    nodes, units = topology.nodes, np.zeros(topology.nodes, np.int64)
    if OPERATIONS[operation].rooted:
        units[root] = wanted.denominator
        return _pack(channels, units, wanted.numerator, quick=False)
    if operation == "all_reduce":
        if nodes > MOST_PACKED:
            return None
        found = strength(channels)
        units[0] = 2 * found.trees
        return _listed(pack_trees(channels._replace(capacity=found.entering), units))
    share = 1 / (wanted * nodes)  # of each terminal's data in a cycle
    return _pack(channels, units + share.numerator, share.denominator, quick=True)


def _pack(channels: Channels, units: np.ndarray, scale: int, *, quick: bool) -> Weighted | None:
    scaled = channels._replace(capacity=channels.capacity * scale)
    found = shortest_path_trees(scaled, units) if quick else None
    if found is None and quick and len(units) > MOST_PACKED:
        return None
    try:
        return _listed(pack_trees(scaled, units) if found is None else found)
    except ValueError:
        return None  # cuts do not decide


def _listed(trees: Trees) -> Weighted:
    return [(weight, parent) for weight, parent in zip(trees.units.tolist(), trees.parent.tolist())]
