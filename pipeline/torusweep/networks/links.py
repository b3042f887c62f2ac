"""Represent the channels of a network as a matrix, and find their orbits under automorphisms.

The module also makes the network without its failed nodes, and the network after given failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import compress
from math import gcd, lcm
from typing import NamedTuple

import numpy as np
import scipy

from torusweep.errors import Refused
from torusweep.networks.symmetry import Orbits, orbits_under
from torusweep.networks.topology import NO_PORT, Topology, no_symmetries

CHUNK = 1 << 18  # nodes whose channels are compared at once


def channel_matrix(topology: Topology) -> scipy.sparse.csr_array:
    """Return the sparse matrix int64[N, N] of the number of links from one node (row) to another (column)."""
    # rows are made in order: SciPy's way from triples takes ten times as long for a small network
    order = np.argsort(topology.ports, axis=1)
    heads = np.take_along_axis(topology.ports, order, axis=1)
    present = heads != NO_PORT
    first = np.append(0, np.cumsum(present.sum(axis=1)))
    weight = np.ones(int(first[-1]), np.int64)
    first = first.astype(np.int32 if len(weight) < 2**31 else np.int64)  # as SciPy chooses
    if topology.capacity is not None:
        weight = np.take_along_axis(topology.capacity, order, axis=1)[present].astype(np.int64)
    matrix = scipy.sparse.csr_array((weight, heads[present], first), shape=(topology.nodes, topology.nodes))
    matrix.sum_duplicates()
    return matrix


def fewest_cycles(bandwidths: Sequence[Fraction]) -> Fraction:
    """Return the least number of cycles in which links of these bandwidths carry whole flits; 1 for no bandwidths."""
    common = gcd(*(width.numerator for width in bandwidths)) if bandwidths else 1
    return Fraction(lcm(*(width.denominator for width in bandwidths)), common)


def flit_matrix(topology: Topology) -> tuple[scipy.sparse.csr_array, Fraction]:
    """Return (flits of each channel, sparse int64[N, N]; number of cycles), for the fewest cycles with whole flits.

    In half a cycle, for example, links of 2 and 6 flits a cycle carry 1 flit and 3 flits.

    Raises Refused if the numbers are too large for the kernels that find cuts, which compute with 64-bit integers.
    """
    tail, head, port = topology.arcs
    widths = topology.plan.bandwidths
    if not widths:
        return channel_matrix(topology), Fraction(1)
    cycles = fewest_cycles(widths)
    whole = [int(width * cycles) for width in widths]
    parallel = 1 if topology.capacity is None else int(topology.capacity.max(initial=1))
    if max(whole) * parallel * max(len(tail), 1) * topology.nodes >= 2**62:
        raise Refused(
            f"{topology.spelling}: expected bandwidths that are whole numbers in some cycles, such that their sum fits"
            f" into 64 bits, got {cycles.numerator:,} cycles; round the bandwidths to a smaller common denominator"
        )
    weight = np.array(whole, np.int64)[topology.link_class[tail, port]]
    if topology.capacity is not None:
        weight *= topology.capacity[tail, port]
    matrix = scipy.sparse.csr_array(
        scipy.sparse.coo_array((weight, (tail, head)), shape=(topology.nodes, topology.nodes))
    )
    matrix.sum_duplicates()
    return matrix, cycles


def kind_matrix(topology: Topology) -> scipy.sparse.csr_array:
    """int64[N, N], sparse: the kind of each channel (`Topology.kinds`); `channel_matrix` if all kinds are equal."""
    kinds = topology.kinds
    if kinds is None:
        return channel_matrix(topology)
    tail, head, port = topology.arcs
    kind = kinds[tail, port].astype(np.int64)
    return scipy.sparse.csr_array(scipy.sparse.coo_array((kind, (tail, head)), shape=(topology.nodes, topology.nodes)))


def strengths(matrix: scipy.sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return (int64[N], int64[N]): number of links that leave and number of links that enter each node.

    These are matrix products because SciPy's sums allocate temporary matrices.
    """
    ones = np.ones(matrix.shape[0], np.int64)
    return matrix @ ones, matrix.T @ ones


Rows = tuple[np.ndarray, np.ndarray]  # (int64[N + 1], int32[E]): first channel of each node, far end of each channel


def rows_of(matrix: scipy.sparse.csr_array) -> Rows:
    """Return the channels of a matrix as the arrays `Rows`, which is the form that the kernels for cuts take."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)


def with_reverse_channels(matrix: scipy.sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (first, to, capacity) of all channels and their reverses; capacity is 0 if a reverse is no channel."""
    channels = matrix.tocoo()
    ends = np.append(channels.row, channels.col), np.append(channels.col, channels.row)
    both = scipy.sparse.csr_array(
        scipy.sparse.coo_array((np.append(channels.data, np.zeros_like(channels.data)), ends), shape=matrix.shape)
    )
    return *rows_of(both), both.data


def reversed_network(topology: Topology) -> Topology:
    """Return the network with every channel reversed. An undirected network is returned unchanged."""
    if not topology.directed:
        return topology
    tail, head, port = topology.arcs
    order = np.argsort(head, kind="stable")
    place = np.arange(len(order)) - np.searchsorted(head[order], head[order])
    shape = topology.nodes, int(place.max(initial=-1)) + 1
    ports, kind = np.full(shape, NO_PORT, np.int32), np.zeros(shape, np.int8)
    ports[head[order], place] = tail[order]
    kind[head[order], place] = topology.link_class[tail, port][order]

    def turned(numbers: np.ndarray | None, dtype: type) -> np.ndarray | None:
        if numbers is None:
            return None
        found: np.ndarray = np.zeros(shape, dtype)
        found[head[order], place] = numbers[tail, port][order]
        return found

    capacity, latency = turned(topology.capacity, np.int32), turned(topology.link_latency, np.int32)
    weight = turned(topology.weight, np.float64)
    return replace(topology, ports=ports, link_class=kind, capacity=capacity, link_latency=latency, weight=weight)


class LinkOrbits(NamedTuple):
    """The orbits of the channels.

    number  number of orbits; both directions of an undirected link are the same link
    label   int32[R, P] orbit of each channel that leaves the representative of a node orbit, -1 = no channel
    frame   int32[N, P] frame[x, j] is the head of the image of channel j of x's representative under an
            automorphism that maps this representative to x; -1 = no channel.
            So every channel of the network is (x, frame[x, j]) for one j, in orbit label[node orbit of x, j].
    """

    number: int
    label: np.ndarray
    frame: np.ndarray


def link_orbits(topology: Topology, images: Sequence[np.ndarray], nodes: Orbits) -> LinkOrbits:
    """Find the orbits of the channels under the group generated by `images`, verified automorphisms, int32[N] each.

    `nodes` are the orbits of the nodes under the same group. By Schreier's lemma, the stabiliser of a representative
    is generated by round trips: map it to x, apply a generator, map back. Two channels of a representative are in one
    orbit if and only if a sequence of round trips maps one to the other.
    """
    frame = _frames(topology, images, nodes.representatives)
    orbit_count, width = len(nodes.representatives), frame.shape[1]
    if not width:
        return LinkOrbits(0, frame[nodes.representatives], frame)
    classes = orbit_count * width
    joins = [] if topology.directed else [_reverse_pairs(frame, nodes)]
    # merged[orbit, j, j']: a round trip maps channel j to channel j'
    merged = np.zeros(classes * width if images else 0, bool)
    base = nodes.member.astype(np.int64) * width
    for start in range(0, topology.nodes, CHUNK):
        rows = slice(start, start + CHUNK)
        for image in images:
            carried = np.append(image, NO_PORT)[frame[rows]]
            order = np.argsort(carried, axis=1, kind="stable")
            target = np.argsort(frame[image[rows]], axis=1, kind="stable")
            merged[((base[rows, None] + order) * width + target).ravel()] = True
        if (
            start == 0
            and topology.nodes > CHUNK
            and orbit_count == 1
            and _label(topology, frame, nodes, merged, joins)[0] <= 1
        ):
            break  # already one orbit
    number, label = _label(topology, frame, nodes, merged, joins)
    return LinkOrbits(number, label, frame)


def channel_orbits(topology: Topology, images: Sequence[np.ndarray], nodes: Orbits | None = None) -> np.ndarray:
    """int32[A]: orbit of every directed channel, in node and port order, under the group generated by `images`.

    `images` are verified automorphisms. The two directions of a link may be in different orbits. Two
    channels must not have the same tail and head; families make them one channel of larger capacity.

    nodes   orbits of the nodes under this group; None if they are not known yet
    """
    if nodes is None:
        nodes = orbits_under(topology.nodes, images)
    arcs = link_orbits(replace(topology, plan=replace(topology.plan, directed=True)), images, nodes)
    # the frame lists the channels of a node in the order of its representative; sort both by head
    label = np.empty(topology.ports.shape, np.int32)
    carried = np.take_along_axis(arcs.label[nodes.member], np.argsort(arcs.frame, axis=1), axis=1)
    np.put_along_axis(label, np.argsort(topology.ports, axis=1), carried, axis=1)
    return label[topology.ports != NO_PORT]


def _frames(topology: Topology, images: Sequence[np.ndarray], representatives: np.ndarray) -> np.ndarray:
    """Compute `LinkOrbits.frame`: map the heads of each representative to every node of its orbit.

    Each permutation is applied to all nodes reached so far, then its square, and so on, so that a cycle
    of a million nodes takes twenty steps.
    """
    frame = np.full(topology.ports.shape, NO_PORT, np.int32)
    reached = np.zeros(topology.nodes, bool)
    frame[representatives] = topology.ports[representatives]
    reached[representatives] = True
    growing = not reached.all()
    while growing:
        growing = False
        for image in images:
            power = image
            while True:
                origin = np.flatnonzero(reached)
                origin = origin[~reached[power[origin]]]
                if not len(origin):
                    break
                frame[power[origin]] = np.append(power, NO_PORT)[frame[origin]]
                reached[power[origin]] = True
                power = power[power]
                growing = True
    return frame


def _reverse_pairs(frame: np.ndarray, nodes: Orbits) -> tuple[np.ndarray, np.ndarray]:
    """Return the class numbers of all channels of representatives, and the class numbers of their reverses."""
    forth = frame[nodes.representatives]
    orbit, port = np.nonzero(forth != NO_PORT)
    head = forth[orbit, port]
    back = (frame[head] == nodes.representatives[orbit, None]).argmax(axis=1)
    width = frame.shape[1]
    return orbit * width + port, nodes.member[head].astype(np.int64) * width + back


def _label(
    topology: Topology, frame: np.ndarray, nodes: Orbits, merged: np.ndarray, joins: list[tuple[np.ndarray, np.ndarray]]
) -> tuple[int, np.ndarray]:
    """Merge classes of channels by round trips and reversals. Return (number of orbits, `LinkOrbits.label`)."""
    present = frame[nodes.representatives] != NO_PORT
    width, classes = present.shape[1], present.size
    trips = np.flatnonzero(merged)
    first = [trips // width, *(pair[0] for pair in joins)]
    second = [trips // (width * width) * width + trips % width, *(pair[1] for pair in joins)]
    a, b = np.concatenate(first), np.concatenate(second)
    _, component = scipy.sparse.csgraph.connected_components(
        scipy.sparse.coo_array((np.ones(len(a), np.int8), (a, b)), shape=(classes, classes)), directed=False
    )
    label = np.full(present.shape, NO_PORT, np.int32)
    found, numbers = np.unique(component.reshape(present.shape)[present], return_inverse=True)
    label[present] = numbers
    return len(found), label


def surviving_network(topology: Topology) -> Topology:
    """Return the network without nodes that have neither a link nor a terminal, renumbered.

    The network is unchanged if there is no such node. A topology keeps failed nodes so that addresses do not change.
    Properties such as connectivity concern the surviving nodes only.
    """
    alive = topology.works
    survivors = int(alive.sum())
    if survivors == topology.nodes:
        return topology
    number = np.append(np.where(alive, np.cumsum(alive, dtype=np.int32) - 1, NO_PORT), NO_PORT).astype(np.int32)
    return Topology(
        topology.spelling,
        topology.family,
        replace(
            topology.plan,
            nodes=survivors,
            radices=(survivors,),
            symmetries=no_symmetries,
            bisection=None,
            bisection_source="",
            names=None if topology.plan.names is None else tuple(compress(topology.plan.names, alive)),
        ),
        number[topology.ports[alive]],
        topology.link_class[alive],
        None if topology.capacity is None else topology.capacity[alive],
        number[topology.terminals],
        None if topology.link_latency is None else topology.link_latency[alive],
        None if topology.weight is None else topology.weight[alive],
    )


def network_after(topology: Topology, left: np.ndarray, works: np.ndarray) -> Topology:
    """Return the network after failures. Nodes keep their numbers, and the network keeps its spelling.

    left   int32[N, P]  number of remaining parallel links of each channel, 0 = none
    works  bool[N]      nodes that work; failed nodes have no channels left, and lose their terminals
    """
    return Topology(
        topology.spelling,
        topology.family,
        replace(
            topology.plan, symmetries=no_symmetries, bisection=None, bisection_source="", structure=None, joined=False
        ),
        np.where(left > 0, topology.ports, np.int32(NO_PORT)),
        topology.link_class,
        None if topology.capacity is None else left,
        topology.terminals[works[topology.terminals]],
        topology.link_latency,
        topology.weight,
    )
