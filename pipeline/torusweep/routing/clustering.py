"""Clustering routing on pruned tori: hops in other dimensions are made in planes on the way along dimension 0."""

from __future__ import annotations

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.families.algebra import box
from torusweep.networks.families.pruned import Pruning
from torusweep.networks.families.wiring import class_names
from torusweep.networks.topology import Topology
from torusweep.routing.dimension_order import Tie
from torusweep.routing.forms import Moves, Routes, SourceRouting, combinations
from torusweep.routing.lattices import along_axes


def clustering(topology: Topology, tie: Tie = "split") -> SourceRouting:
    """Go the shorter way along the base dimension, and complete the others in the first plane with their links.

    The base is a_0 (z in pruned_t1). The planes on the way are all planes from source to destination, both
    included. If no plane on the way has the links of a needed dimension, the packet also visits the nearest
    plane that has them, beyond the destination or before the source, and returns from there; if both are
    equally near, it visits the plane beyond. Planes before the source are visited first, right after the source's
    plane. A dimension that keeps all its links is completed in the source's plane, before the pruned dimension.

    Each pruned dimension goes the shorter way round its ring. `tie` decides at half a ring, in every
    dimension. If source and destination share a plane that lacks links, it also decides which side counts
    as beyond (sign: +).

    Routes are not always shortest. If k is the number of pruned dimensions, the longer way round meets
    all their planes. With four or more pruned dimensions, leaving on one side only may be shorter than
    leaving for the nearest plane on either side.

    Constraint: pruned_torus, partly_pruned_torus or pruned_t1, with all its links.
    Source: Kwai & Parhami 1998, proof of Theorem 3 (planes clustered so that each cluster has all dimensions);
    Parhami & Kwai 2004.
    """
    pruning = topology.plan.structure
    sides = topology.plan.radices
    moves = along_axes(topology, box(sides), class_names(len(sides))) if isinstance(pruning, Pruning) else None
    if not isinstance(pruning, Pruning) or moves is None:
        raise BadInput(
            f"routing clustering on {topology.spelling}: expected pruned_torus, partly_pruned_torus or pruned_t1"
            f" with all its links, got {topology.family}; choose minimal, which suits every network"
        )
    return _Router(moves, pruning, sides[0], tie).routing()


class _Router:
    """Routes on a pruned torus of side k. Relative addresses are differences of digits, modulo k unless tie=sign."""

    def __init__(self, moves: Moves, pruning: Pruning, k: int, tie: str) -> None:
        self.moves, self.pruning, self.k, self.tie = moves, pruning, k, tie
        self.dimensions = moves.port.shape[1] // 2
        self.modular = tie != "sign" or k % 2 == 1 or k == 2
        self.values = k if self.modular else 2 * k - 1

    def routing(self) -> SourceRouting:
        k, base, planes = self.k, self.pruning.base, len(self.pruning.alternating)
        values, modular, dimensions = self.values, self.modular, self.dimensions

        def key(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
            number = source.astype(np.int64) // k**base % k % planes
            for i in reversed(range(dimensions)):
                apart = destination // k**i % k - source // k**i % k
                number = number * values + (apart % k if modular else apart + k - 1)
            return number

        cell = np.arange(self.moves.topology.nodes, dtype=np.int32) // k**base % k % planes
        return SourceRouting(self.moves, cell, planes * values**dimensions, key, self.routes)

    def routes(self, keys: np.ndarray) -> Routes:
        k, base, planes = self.k, self.pruning.base, len(self.pruning.alternating)
        rest, apart = np.asarray(keys, np.int64), np.empty((len(keys), self.dimensions), np.int64)
        for i in range(self.dimensions):
            rest, digit = np.divmod(rest, self.values)
            apart[:, i] = digit - (0 if self.modular else k - 1)
        # steps from the source's plane, in + direction, to the nearest plane with links of each dimension
        plane = np.zeros_like(apart)
        for number, i in enumerate(self.pruning.alternating):
            plane[:, i] = (number - rest) % planes

        astray = (apart[:, base] % k == 0) & ((apart % k != 0) & (plane != 0)).any(axis=1)
        ways = np.ones_like(apart)
        if self.tie in ("split", "random") and k > 2:
            ways += 2 * (apart % k) == k
            ways[:, base] += astray
        first, choice = combinations(ways)
        row = np.repeat(np.arange(len(keys)), np.diff(first))
        apart, plane = apart[row], plane[row]

        ahead = apart % k
        back = (2 * ahead > k) | ((2 * ahead == k) & ((choice == 1) | ((self.tie == "sign") & (apart < 0) & (k > 2))))
        length = np.minimum(ahead, k - ahead)
        backwards, travel = back[:, base] | (choice[:, base] == 1), length[:, base]
        stop = self._planes_of_completion(np.where(backwards[:, None], -plane % planes, plane), travel[:, None])

        others = [i for i in range(self.dimensions) if i != base]
        idle = ahead[:, others] == 0
        stop = np.where(idle, travel[:, None], stop[:, others])
        # order: the source's plane, planes before it, planes ahead
        turn = np.where(idle, 2 * k, np.where(stop > 0, planes + stop, -stop))
        order = np.argsort(turn, axis=1, kind="stable")
        stop = np.take_along_axis(stop, order, axis=1)
        leg = np.diff(stop, axis=1, prepend=0, append=travel[:, None])

        direction = np.empty((len(row), 2 * len(others) + 1), np.int8)
        hops = np.empty(direction.shape, np.int16)
        direction[:, ::2], hops[:, ::2] = 2 * base + (backwards[:, None] ^ (leg < 0)), abs(leg)
        direction[:, 1::2] = np.take_along_axis(2 * np.array(others) + back[:, others], order, axis=1)
        hops[:, 1::2] = np.take_along_axis(length[:, others], order, axis=1)
        return Routes(first, 1 / ways.prod(axis=1)[row], direction, hops, np.zeros_like(direction))

    def _planes_of_completion(self, plane: np.ndarray, travel: np.ndarray) -> np.ndarray:
        """Return the plane that completes each dimension: 0 … travel on the way, larger beyond, negative before."""
        planes = len(self.pruning.alternating)
        return np.where((plane <= travel) | (plane - travel <= planes - plane), plane, plane - planes)
