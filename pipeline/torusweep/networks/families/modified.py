"""Networks made from other networks: with random or named faults, or with several terminals at each node.

`with_links` changes the bandwidths and latencies of a network's links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from torusweep_kernels.failures import with_faults

from torusweep.errors import BadInput
from torusweep.networks.families.graph_listing import BANDWIDTH, Listing
from torusweep.networks.families.graph_numbers import in_units, whole_of
from torusweep.networks.families.wiring import terminals_of
from torusweep.networks.link_lists import MOST_LATENCY, bandwidth_of, of_classes
from torusweep.networks.names import number_of
from torusweep.networks.realisation import check_size, realise
from torusweep.networks.spelling import format_value
from torusweep.networks.symmetry import those_that_keep_kinds
from torusweep.networks.topology import (
    NO_PORT,
    Meaning,
    Plan,
    Whole,
    Wiring,
    Wirings,
    default_memory,
    no_symmetries,
    require,
)
from torusweep.quantities import counted

Network = Annotated[
    Plan, Meaning("any network, written before the other parameters, as in faulty(torus(k=8, n=3), links=4)")
]
Links = Annotated[int, Whole(0, "links that fail")]
Nodes = Annotated[int, Whole(0, "nodes that fail")]
Seed = Annotated[int, Whole(0, "seed of the random choice")]


def faulty(topology: Network, links: Links = 0, nodes: Nodes = 0, seed: Seed = 0) -> Plan:
    """A network with random faults: `nodes` of its nodes fail, and then `links` of the remaining links.

    A faulty node keeps its number, loses all its links, and neither sends nor receives. Parallel links
    fail one by one. The faults of one seed are nested: a larger number of faults contains a smaller one.
    The symmetries of the network are lost.

    Constraints: fewer faulty nodes than the network has nodes, with a working terminal left; at most as
    many faulty links as the network has left.
    Source: random numbers of Philox4x64 (Salmon et al. 2011), keyed by the seed.
    """
    fewer = f"fewer than the network's {topology.nodes:,}"
    require(nodes < topology.nodes, "nodes", nodes, fewer, "at least one node must be left")
    most = topology.nodes * topology.degree // (1 if topology.directed else 2)
    require(links <= most, "links", links, f"at most {most:,}", "the network has no more links")

    def wire() -> Wiring:
        left = _without_nodes(topology.wire(), _draw(topology.nodes, nodes, seed, stream=0))
        tail, port, parallel = _links_once(left, topology.directed)
        total = int(parallel.sum())
        if links > total:
            raise BadInput(f"links={links}: expected at most {total:,}; the network has no more links that work")
        failed = np.repeat(np.arange(len(tail)), parallel)[_draw(total, links, seed, stream=1)]
        return _expect_terminals(_without_links(left, tail[failed], port[failed], topology.directed), nodes)

    return _damaged(topology, wire, links, nodes, f", seed {seed}")


def _damaged(topology: Plan, wire: Callable[[], Wiring], links: int, nodes: int, chosen: str = "") -> Plan:
    return replace(
        topology,
        wire=wire,
        symmetries=no_symmetries,
        bisection=None,
        bisection_source="",
        structure=None,
        whole=topology.whole or topology,
        failed=topology.failed + links + nodes * topology.degree,
        joined=False,
        notes=(*topology.notes, f"{counted(nodes, 'faulty node')}, {counted(links, 'faulty link')}{chosen}"),
    )


def _without_nodes(wiring: Wiring, failed: np.ndarray) -> Wiring:
    """Remove all links and terminals of the failed nodes, int[F]. The result lists its terminals explicitly."""
    works = np.ones(len(wiring.ports), bool)
    works[failed] = False
    ports = np.where(works[:, None] & np.append(works, False)[wiring.ports], wiring.ports, np.int32(NO_PORT))
    capacity = None if wiring.capacity is None else np.where(ports == NO_PORT, 0, wiring.capacity).astype(np.int32)
    terminals = np.arange(len(ports), dtype=np.int32) if wiring.terminals is None else wiring.terminals
    return wiring._replace(ports=ports, capacity=capacity, terminals=terminals[works[terminals]])


def _links_once(wiring: Wiring, directed: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (tail, port, number of parallel links), int64[L] each. An undirected link is listed at one end only."""
    tail, port = np.nonzero(wiring.ports != NO_PORT)
    if not directed:
        once = tail < wiring.ports[tail, port]
        tail, port = tail[once], port[once]
    parallel = np.ones(len(tail), np.int64) if wiring.capacity is None else wiring.capacity[tail, port]
    return tail, port, parallel


def _without_links(wiring: Wiring, tail: np.ndarray, port: np.ndarray, directed: bool) -> Wiring:
    """Remove the links at (tail, port), int[F] each. Each repetition removes one more of the parallel links."""
    ports = wiring.ports
    capacity = (ports != NO_PORT).astype(np.int32) if wiring.capacity is None else wiring.capacity.astype(np.int32)
    np.subtract.at(capacity, (tail, port), 1)
    if not directed and len(tail):
        head = ports[tail, port]
        np.subtract.at(capacity, (head, np.argmax(ports[head] == tail[:, None], axis=1)), 1)
    ports = np.where(capacity > 0, ports, np.int32(NO_PORT))
    return wiring._replace(ports=ports, capacity=None if wiring.capacity is None else capacity)


def _expect_terminals(wiring: Wiring, nodes: object) -> Wiring:
    if wiring.terminals is None or len(wiring.terminals):
        return wiring
    raise BadInput(f"nodes={nodes}: expected a terminal that works, got none; choose fewer faults or other ones")


Failed = Annotated[
    Plan, Meaning("any network, written before the other parameters, as in without(mesh(k=4, n=2), links=[[1, 2]])")
]
FailedLinks = Annotated[
    list[list[int | str]] | None,
    Meaning("links that fail, each as its two nodes (if directed: from, to): [[1, 2], [5, 6]]; names in quotes"),
]
FailedNodes = Annotated[list[int | str] | None, Meaning("nodes that fail, with their links: [5, 6]; names in quotes")]


def without(topology: Failed, links: FailedLinks = None, nodes: FailedNodes = None) -> Plan:
    """A network after the named links and nodes have failed.

    Nodes are given by number, or by their names in the network's file or graph. A faulty node keeps its number, loses
    all its links, and neither sends nor receives. To fail several parallel links, name the link several times. The
    symmetries of the network are lost.

    Constraints: nodes of the network, with a working terminal left; links of the network,
    each named once, or up to as often as it has parallel links.
    Source: definition.
    """
    failed = [_node(topology, node, "nodes") for node in nodes or []]
    ends = []
    for link in links or []:
        if len(link) != 2:
            raise BadInput(f"links: expected two nodes for each link, as in [[1, 2]], got {format_value([*link])}")
        ends.append((_node(topology, link[0], "links"), _node(topology, link[1], "links")))

    def wire() -> Wiring:
        wiring = topology.wire()
        tail, port = _named_links(topology, wiring, ends)
        left = _without_links(wiring, tail, port, topology.directed)
        return _expect_terminals(_without_nodes(left, np.array(failed, np.int64)), nodes)

    return _damaged(topology, wire, len(ends), len(set(failed)))


def _node(topology: Plan, given: int | str, parameter: str) -> int:
    found = given if topology.names is None else number_of(topology.names, given, parameter)
    if not isinstance(found, int) or not 0 <= found < topology.nodes:
        raise BadInput(
            f"{parameter}: expected nodes of the network, 0 … {topology.nodes - 1:,}, got {format_value(given)}"
        )
    return found


def _named_links(topology: Plan, wiring: Wiring, ends: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return (tail, port) of named links, int64[F] each. Raises BadInput for a link named more often than it exists."""
    found: list[tuple[int, int]] = []
    names: Sequence[object] = range(topology.nodes) if topology.names is None else topology.names
    for place, (one, other) in enumerate(ends):
        tail, head = (one, other) if topology.directed or one < other else (other, one)
        port = int(np.argmax(wiring.ports[tail] == head))
        known = bool(wiring.ports[tail, port] == head)
        many = int(known) if wiring.capacity is None else int(wiring.capacity[tail, port]) * known
        if found.count((tail, port)) >= many:
            last = ", which are parallel" if many > 1 else ""
            neighbours = ", ".join(str(names[to]) for to in wiring.ports[one].tolist() if to != NO_PORT)
            raise BadInput(
                f"links: expected links of the network, got {names[one]} – {names[other]} in place {place + 1}, of"
                f" which it has {counted(many, 'link')}{last}; {names[one]} has links to {neighbours or 'none'}"
            )
        found.append((tail, port))
    tails, ports = np.array(found, np.int64).reshape(-1, 2).T
    return tails, ports


Concentrated = Annotated[
    Plan, Meaning("any network, written before the other parameters, as in concentrated(mesh(k=4, n=2), terminals=2)")
]
Each = Annotated[int, Whole(1, "terminals of each router")]


def concentrated(topology: Concentrated, terminals: Each) -> Plan:
    """A network with several terminals at each router instead of one, such as a concentrated mesh.

    Every node that has terminals gets `terminals` of them, numbered consecutively. Nodes without terminals get none.

    Source: Balfour & Dally 2006 (concentrated mesh).
    """

    def wire() -> Wiring:
        wiring = topology.wire()
        routers = np.arange(topology.nodes) if wiring.terminals is None else np.unique(wiring.terminals)
        return wiring._replace(terminals=terminals_of(routers, terminals))

    whole = None if topology.whole is None else concentrated(topology.whole, terminals)
    return replace(
        topology,
        wire=wire,
        joined=topology.joined and not topology.unequal,
        terminals=topology.nodes * terminals,  # fewer if some nodes have none
        terminal_names=None,
        whole=whole,
    )


def faulty_networks(values: dict[str, Any]) -> Wirings:
    """Return the arrays of `faulty` for many seeds, identical to those made for each seed alone."""
    spelled, topology = values["topology"]
    number = len(values["seed"])
    numbers = {
        name: np.broadcast_to(np.asarray(values.get(name, 0), np.int64), number).copy()
        for name in ("links", "nodes", "seed")
    }
    check_size(spelled, topology, default_memory())
    wiring = topology.wire()
    most = topology.nodes * topology.degree // (1 if topology.directed else 2)
    refused = {}
    for place in np.flatnonzero(numbers["nodes"] >= topology.nodes).tolist():
        fewer = f"fewer than the network's {topology.nodes:,}"
        refused[place] = f"nodes={numbers['nodes'][place]}: expected {fewer}; at least one node must be left"
    numbers["nodes"][list(refused)] = 0
    found = with_faults(
        wiring.ports,
        wiring.capacity,
        directed=topology.directed,
        links=numbers["links"],
        nodes=numbers["nodes"],
        seeds=numbers["seed"],
    )
    for place in np.flatnonzero(numbers["links"] > found.links).tolist():
        if place not in refused:
            wanted, left = numbers["links"][place], found.links[place]
            limit = (
                f"{most:,}; the network has no more links"
                if wanted > most
                else f"{left:,}; the network has no more links that work"
            )
            refused[place] = f"links={wanted}: expected at most {limit}"
    terminals = np.ones(topology.nodes, np.int64)
    if wiring.terminals is not None:
        terminals = np.bincount(wiring.terminals, minlength=topology.nodes)
    left = np.where(found.works, terminals, 0).astype(np.int32)
    for place in np.flatnonzero(~left.any(axis=1)).tolist():
        if place not in refused:
            nodes = numbers["nodes"][place]
            refused[place] = (
                f"nodes={nodes}: expected a terminal that works, got none; choose fewer faults or another seed"
            )
    found.ports[list(refused)] = NO_PORT
    return Wirings(
        found.ports,
        np.broadcast_to(wiring.link_class, found.ports.shape),
        found.capacity,
        None if (left == 1).all() else left,
        refused,
    )


def _draw(population: int, count: int, seed: int, *, stream: int) -> np.ndarray:
    """int64[count]: the numbers among 0 … population − 1 that have the smallest random words."""
    words = np.random.Philox(key=[seed, stream]).random_raw(population)
    return np.argsort(words, kind="stable")[:count]


Linked = Annotated[
    Plan,
    Meaning("any network, written before the other parameters, as in with_links(torus(k=8, n=3), latencies=[1, 1, 9])"),
]
Bandwidths = Annotated[
    list[float | str] | None,
    Meaning(
        'bandwidth of a link of each link class: flits a cycle, fractions in quotes ("25/12"), or with units'
        ' ("100 Gb/s"); unchanged by default'
    ),
]
Latencies = Annotated[
    list[int | str] | None,
    Meaning('latency of a link of each link class: cycles, or times ("5 ns"); unchanged by default'),
]


def with_links(topology: Linked, bandwidths: Bandwidths = None, latencies: Latencies = None) -> Plan:
    """A network whose link classes have a bandwidth, in flits a cycle, and a latency, in cycles.

    Both lists are in the order of the network's link classes, which `torusweep describe` names; a list of one number
    is for all classes. If bandwidths have units, the least bandwidth is one flit a cycle, and the others are multiples
    of it. If latencies have units, their greatest common divisor is a cycle. Each parallel link has the full bandwidth.
    Symmetries of the network that exchange links of different bandwidths or latencies are lost.

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
    listed, rate, tick = Listing(), topology.rate, topology.tick
    if bandwidths is not None:
        widths = of_classes([bandwidth_of(value) for value in in_units(listed, BANDWIDTH, bandwidths)], classes)
        rate = listed.units.get(BANDWIDTH)
    if latencies is not None:
        whole = [whole_of("latencies", value) for value in in_units(listed, "latency", latencies)]
        most = f"cycles of 1 … {MOST_LATENCY:,}"
        for value in whole:
            require(1 <= value <= MOST_LATENCY, "latencies", latencies, most, f"got {value:,} cycles")
        cycles = of_classes(whole, classes)
        tick = listed.units.get("latency")
    notes = (*topology.notes, *listed.notes)
    changed = replace(topology, bandwidths=widths, latencies=cycles, notes=notes, rate=rate, tick=tick)
    if latencies is not None and topology.link_latencies:
        changed = replace(changed, link_latencies=False, wire=lambda: topology.wire()._replace(latency=None))
    if changed.symmetries is no_symmetries or (widths, cycles) == (topology.bandwidths, topology.latencies):
        return changed
    return replace(changed, symmetries=lambda: _kept(changed, topology.symmetries))


def _kept(plan: Plan, symmetries: Callable[[], Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Return generators, int32[N] each, of the symmetries that keep bandwidths and latencies."""
    return those_that_keep_kinds(realise("with_links", "with_links", plan, plan.bytes), symmetries())
