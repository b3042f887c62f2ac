"""Transitivity and bounds of the bisection width for a block of networks, by the same proofs as for one network.

Array operations decide the cases that most networks of a run share: degrees differ, there are no translations, and
the bounds are a cut across the addresses and the spectrum. METIS partitions each network. Other networks are measured
alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from torusweep.networks.cuts import BY_METIS, across, coordinate_cuts, narrower_cut, whole_width
from torusweep.networks.topology import NO_PORT, Plan, addresses, node_index
from torusweep.questions.blocks import BlockNumbers
from torusweep.questions.static.bisection import BY_BLOCKS, DENSE_NODES, both_bounds, without_error
from torusweep.questions.static.connectivity import DEGREES, DEGREES_OF_ENDS, of_both

AT_ONCE = 1 << 22  # entries of Laplacians whose eigenvalues are computed together


def may_prove(planned: Plan) -> bool:
    """Return whether networks of this plan can be decided together: undirected, small, with all links alike."""
    alike = len(set(planned.bandwidths)) <= 1 and len(set(planned.latencies)) <= 1
    return alike and 1 < planned.nodes <= DENSE_NODES and not planned.directed and planned.bisection is None


def can_prove(numbers: BlockNumbers) -> np.ndarray:
    """Return bool[B]: whether a network that `may_prove` accepts has all its nodes and no parallel links."""
    heads = np.sort(numbers.block.ports, axis=2)
    parallel = ((heads[:, :, 1:] == heads[:, :, :-1]) & (heads[:, :, 1:] != NO_PORT)).any(axis=(1, 2))
    if numbers.block.capacity is not None:
        parallel |= (numbers.present & (numbers.block.capacity > 1)).any(axis=(1, 2))
    return ~parallel & numbers.works.all(axis=1)


def transitivity(numbers: BlockNumbers) -> tuple[np.ndarray, list[Any]]:
    """Return bool[B]: networks proved intransitive by their degrees; and the columns' values for all of these."""
    degrees, present = numbers.degrees, numbers.present
    ends = degrees[:, :, None], degrees[np.arange(numbers.many)[:, None, None], numbers.block.ports]
    decided = degrees.max(axis=1) > degrees.min(axis=1)
    unlike = np.zeros(numbers.many, bool)
    for which in (np.minimum, np.maximum):
        end = which(*ends)
        most, least = np.where(present, end, -1).max(axis=(1, 2)), np.where(present, end, 1 << 30).min(axis=(1, 2))
        unlike |= most > least
    return decided & unlike, [False, False, of_both(DEGREES, DEGREES_OF_ENDS)]


def bisection(numbers: BlockNumbers, connectivity: np.ndarray, alike: np.ndarray) -> tuple[np.ndarray, list[list[Any]]]:
    """Return whether each network's bounds were found, bool[B], and the values of each network's columns.

    connectivity  edge connectivity, a lower bound of every cut
    alike         bool[B]: the networks to decide
    """
    if not alike.any():
        return alike, [[None, None, None] for _ in alike]
    many, nodes, ports = numbers.many, numbers.nodes, numbers.block.ports
    owner, tail, port = np.nonzero(numbers.present)
    head = ports[owner, tail, port]
    radices = numbers.plan.radices
    cuts = [coordinate_cuts(radices, place, many, owner, tail, head, None)[0] for place in range(len(radices))]
    widths = np.stack(cuts)
    best, dimension = widths.min(axis=0), widths.argmin(axis=0)
    half = nodes // 2
    found = alike & numbers.measured.connected & (best > 0) & ~has_translations(numbers)
    bounds: list[list[Any]] = [[None, None, None] for _ in range(many)]
    heads = np.sort(np.where(numbers.present, ports, nodes), axis=2)
    together = max(1, AT_ONCE // nodes**2)
    for first in range(0, many, together):
        links = np.zeros((min(many, first + together) - first, nodes, nodes), bool)
        mine = (owner >= first) & (owner < first + together)
        links[owner[mine] - first, tail[mine], head[mine]] = True
        for place, second in enumerate(second_eigenvalues(links).tolist(), start=first):
            if not found[place]:
                continue
            lower, upper = whole_width(second * half * (nodes - half) / nodes), int(best[place])
            method = across(int(dimension[place]), len(radices))
            index = np.append(0, np.cumsum(numbers.degrees[place])).astype(np.int32)
            own = heads[place][heads[place] < nodes]
            matrix = scipy.sparse.csr_array((np.ones(len(own), np.int64), own, index), shape=(nodes, nodes))
            least = max(lower, int(connectivity[place]))
            narrower = narrower_cut(matrix, matrix, upper, least)
            if narrower is not None:
                upper, method = narrower[0], BY_METIS
            found[place] = lower <= upper
            bounds[place] = [
                *both_bounds(lower, BY_BLOCKS.format("1 block", nodes), upper, method, int(connectivity[place]))
            ]
    return found, bounds


def has_translations(numbers: BlockNumbers) -> np.ndarray:
    """Return bool[B]: whether a cyclic shift of a digit is an automorphism, which gives better bounds."""
    radices, ports = numbers.plan.radices, numbers.block.ports
    digits = addresses(radices)
    found = np.zeros(numbers.many, bool)
    for dimension, radix in enumerate(radices):
        for step in (step for step in range(1, radix // 2 + 1) if radix % step == 0):
            shifted = digits.copy()
            shifted[:, dimension] += step
            image = node_index(shifted, radices)
            maybe = np.flatnonzero((numbers.degrees[:, image] == numbers.degrees).all(axis=1) & ~found)
            moved = np.append(image, NO_PORT)[ports[maybe]]
            there = ports[maybe][:, image]
            found[maybe] = (np.sort(moved, axis=2) == np.sort(there, axis=2)).all(axis=(1, 2))
    return found


def second_eigenvalues(links: np.ndarray) -> np.ndarray:
    """Return lower bounds of λ₂ of the Laplacian, float64[B], equal to those of `bisection.second_eigenvalue`.

    links   symmetric matrices, bool[B, N, N]: whether two nodes have a link. N is at most DENSE_NODES
    """
    degrees = links.sum(axis=2)
    blocks = -links.astype(float)
    nodes = np.arange(links.shape[1])
    blocks[:, nodes, nodes] = degrees
    most = degrees.max(axis=1)
    return without_error(np.linalg.eigvalsh(blocks)[:, 1], most, len(nodes), most)
