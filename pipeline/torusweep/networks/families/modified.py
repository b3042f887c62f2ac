"""Networks made of other networks: with faults, or with links of given bandwidths and latencies.

Networks with random link or node faults. Any network with links of given bandwidths and latencies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.families.graph_listing import BANDWIDTH, Listing
from torusweep.networks.families.graph_numbers import in_units, whole_of
from torusweep.networks.link_lists import MOST_LATENCY, bandwidth_of, of_classes
from torusweep.networks.symmetry import those_that_keep_kinds
from torusweep.networks.topology import NO_PORT, Meaning, Plan, Whole, Wiring, no_symmetries, realise, require
from torusweep.quantities import counted

Network = Annotated[
    Plan, Meaning("any network, written before the other parameters, as in faulty(torus(k=8, n=3), links=4)")
]
Links = Annotated[int, Whole(0, "links that fail")]
Nodes = Annotated[int, Whole(0, "nodes that fail")]
Seed = Annotated[int, Whole(0, "seed of the random choice")]


def faulty(topology: Network, links: Links = 0, nodes: Nodes = 0, seed: Seed = 0) -> Plan:
    """A network with random faults: `nodes` of its nodes fail, and then `links` of the links that are left.

    A faulty node keeps its number, loses all its links, and neither sends nor receives. Parallel links
    fail one by one. The faults of one seed are nested: a larger number of faults contains a smaller one.
    The symmetries of the network are lost.

    Constraints: fewer faulty nodes than the network has, with a terminal left that works; at most as
    many faulty links as the network has left.
    Source: random numbers of Philox4x64 (Salmon et al. 2011), keyed by the seed.
    """
    fewer = f"fewer than the network's {topology.nodes:,}"
    require(nodes < topology.nodes, "nodes", nodes, fewer, "at least one node must be left")
    most = topology.nodes * topology.degree // (1 if topology.directed else 2)
    require(links <= most, "links", links, f"at most {most:,}", "the network has no more links")
    return replace(
        topology,
        wire=lambda: _apply_faults(topology, topology.wire(), links, nodes, seed),
        symmetries=no_symmetries,
        bisection=None,
        bisection_source="",
        structure=None,
        joined=False,
        notes=(*topology.notes, f"{counted(nodes, 'faulty node')}, {counted(links, 'faulty link')}, seed {seed}"),
    )


def _apply_faults(topology: Plan, wiring: Wiring, links: int, nodes: int, seed: int) -> Wiring:
    n = topology.nodes
    works = np.ones(n, bool)
    works[_draw(n, nodes, seed, stream=0)] = False
    ports = np.where(works[:, None] & np.append(works, False)[wiring.ports], wiring.ports, np.int32(NO_PORT))
    capacity = np.where(ports == NO_PORT, 0, 1 if wiring.capacity is None else wiring.capacity).astype(np.int32)

    tail, port = np.nonzero(ports != NO_PORT)
    if not topology.directed:
        once = tail < ports[tail, port]
        tail, port = tail[once], port[once]
    parallel = capacity[tail, port]
    total = int(parallel.sum())
    if links > total:
        raise BadInput(f"links={links}: expected at most {total:,}; the network has no more links that work")
    failed = np.repeat(np.arange(len(tail)), parallel)[_draw(total, links, seed, stream=1)]
    np.subtract.at(capacity, (tail[failed], port[failed]), 1)
    if not topology.directed and len(failed):
        head = ports[tail[failed], port[failed]]
        back = np.argmax(ports[head] == tail[failed, None], axis=1)
        np.subtract.at(capacity, (head, back), 1)
    ports = np.where(capacity > 0, ports, np.int32(NO_PORT))

    terminals = np.arange(n, dtype=np.int32) if wiring.terminals is None else wiring.terminals
    terminals = terminals[works[terminals]]
    if not len(terminals):
        raise BadInput(f"nodes={nodes}: expected a terminal that works, got none; choose fewer faults or another seed")
    return Wiring(ports, wiring.link_class, None if wiring.capacity is None else capacity, terminals)


def _draw(population: int, count: int, seed: int, *, stream: int) -> np.ndarray:
    """int64[count]: distinct numbers of 0 … population − 1, those with the smallest random words."""
    words = np.random.Philox(key=[seed, stream]).random_raw(population)
    return np.argsort(words, kind="stable")[:count]


Linked = Annotated[
    Plan,
    Meaning("any network, written before the other parameters, as in with_links(torus(k=8, n=3), latencies=[1, 1, 9])"),
]
Bandwidths = Annotated[
    list[float | str] | None,
    Meaning(
        'flits a cycle of one link of each link class, fractions in quotes ("25/12"), or with units ("100 Gb/s"); as'
        " they are where left out"
    ),
]
Latencies = Annotated[
    list[int | str] | None,
    Meaning('cycles over a link of each link class, or times ("5 ns"); as they are where left out'),
]


def with_links(topology: Linked, bandwidths: Bandwidths = None, latencies: Latencies = None) -> Plan:
    """A network whose link classes have a bandwidth, in flits a cycle, and a latency, in cycles.

    Bandwidths with units, for all classes, become multiples of the least one, which is one flit a cycle, and times of
    their greatest common part, which is a cycle.
    The lists are in the order of the network's link classes, which `torusweep describe` names; a list of one number
    is for all classes. A bandwidth is that of each of parallel links. Symmetries of the network that exchange links
    of different bandwidths or latencies are lost.

    Constraints: lists as long as there are classes, or of one number; bandwidths above 0, up to 1,048,576, with
    denominators up to 10⁶; latencies of 1 … 10⁹, of which a simulation takes up to 10,000.
    Source: definition.
    """
    classes = max(len(topology.classes), len(topology.bandwidths), len(topology.latencies), 1)
    names = f" ({', '.join(topology.classes)})" if topology.classes else ""
    for parameter, given in (("bandwidths", bandwidths), ("latencies", latencies)):
        if given is not None:
            lengths = counted(classes, "number") if classes == 1 else f"{classes} numbers, or one for all"
            why = f"the network has {classes} link class{'es' if classes > 1 else ''}{names}"
            require(len(given) in (1, classes), parameter, given, lengths, why)
    widths, cycles = topology.bandwidths, topology.latencies
    listed, rate = Listing(), topology.rate
    if bandwidths is not None:
        widths = of_classes([bandwidth_of(value) for value in in_units(listed, BANDWIDTH, bandwidths)], classes)
        rate = listed.units.get(BANDWIDTH)
    if latencies is not None:
        whole = [whole_of("latencies", value) for value in in_units(listed, "latency", latencies)]
        most = f"cycles of 1 … {MOST_LATENCY:,}"
        for value in whole:
            require(1 <= value <= MOST_LATENCY, "latencies", latencies, most, f"got {value:,} cycles")
        cycles = of_classes(whole, classes)
    notes = (*topology.notes, *listed.notes)
    changed = replace(topology, bandwidths=widths, latencies=cycles, notes=notes, rate=rate)
    if changed.symmetries is no_symmetries or (widths, cycles) == (topology.bandwidths, topology.latencies):
        return changed
    return replace(changed, symmetries=lambda: _kept(changed, topology.symmetries))


def _kept(plan: Plan, symmetries: Callable[[], Sequence[np.ndarray]]) -> list[np.ndarray]:
    """int32[N] each: generators of those of the network's symmetries that keep bandwidths and latencies."""
    return those_that_keep_kinds(realise("with_links", "with_links", plan, plan.bytes), symmetries())
