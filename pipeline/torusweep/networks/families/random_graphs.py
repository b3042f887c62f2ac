"""Networks drawn at random: random regular graphs, Jellyfish, Xpander."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
import scipy

from torusweep.errors import BadInput
from torusweep.networks.families.linked import ClassLinks, Terminals, terminals_of, wiring_of_links
from torusweep.networks.topology import Plan, Whole, Wiring, require

Nodes = Annotated[int, Whole(2, "nodes")]
Degree = Annotated[int, Whole(1, "links of each router to others")]
Switches = Annotated[int, Whole(2, "switches")]
Ports = Annotated[int, Whole(2, "ports of each switch, those of its terminals included")]
Lift = Annotated[int, Whole(1, "copies of each node of the complete graph")]
Seed = Annotated[int, Whole(0, "seed of the random choice")]

ATTEMPTS = 100  # graphs drawn until one is connected
ROUNDS = 10_000  # of joining again what was a loop or a second link
MIXED = 8  # links at least that are taken apart with those

Ends = tuple[np.ndarray, np.ndarray]


def random_regular(nodes: Nodes, degree: Degree, seed: Seed = 0) -> Plan:
    """Random graph in which every node has the same number of links, connected.

    Ends of links are joined in random pairs; loops and second links are taken apart with as many others, and
    joined again. A graph that is not connected is drawn again.

    Constraints: nodes × degree even, degree < nodes.
    Source: random numbers of Philox4x64 (Salmon et al. 2011), keyed by the seed; Bollobás 1980 (pairing).
    """
    return _regular(nodes, degree, 1, seed, name="nodes")


def jellyfish(switches: Switches, ports: Ports, degree: Degree, seed: Seed = 0) -> Plan:
    """Jellyfish: a random regular graph of switches; the ports − degree other ports of a switch have terminals.

    Constraints: switches × degree even, degree < switches, degree < ports.
    Source: Singla et al. 2012, sec. 3.
    """
    require(degree < ports, "degree", degree, f"fewer than the {ports} ports", "a switch has a terminal")
    return _regular(switches, degree, ports - degree, seed, name="switches")


def xpander(degree: Degree, lift: Lift, terminals: Terminals = 1, seed: Seed = 0) -> Plan:
    """Xpander: a random lift of the complete graph of degree + 1 nodes, connected.

    Digits: the copy, then the node of the complete graph. The copies of two of its nodes are joined one to one,
    at random.
    Source: Valadarsky et al. 2016, sec. 3.
    """
    nodes = (degree + 1) * lift

    def draw(attempt: int) -> Ends:
        low, high = np.triu_indices(degree + 1, 1)
        words = _words(len(low) * lift, seed, attempt).reshape(len(low), lift)
        partner = np.argsort(words, axis=1, kind="stable")
        return (np.arange(lift) + lift * low[:, None]).reshape(-1), (partner + lift * high[:, None]).reshape(-1)

    return Plan(
        nodes=nodes,
        degree=degree,
        radices=(lift, degree + 1),
        wire=lambda: _connected(nodes, draw, terminals),
        classes=("link",),
        joined=terminals == 1,
    )


def _regular(nodes: int, degree: int, terminals: int, seed: int, *, name: str) -> Plan:
    require(degree < nodes, "degree", degree, f"fewer than the {nodes} {name}", "there are no second links")
    require(nodes * degree % 2 == 0, name, nodes, "an even number, or an even degree", "each link has two ends")
    return Plan(
        nodes=nodes,
        degree=degree,
        radices=(nodes,),
        wire=lambda: _connected(nodes, lambda attempt: _draw_regular(nodes, degree, seed, attempt), terminals),
        classes=("link",),
        joined=terminals == 1,
    )


def _connected(nodes: int, draw: Callable[[int], Ends], terminals: int) -> Wiring:
    """The first graph drawn that is connected. Raises BadInput where none of `ATTEMPTS` is."""
    for attempt in range(ATTEMPTS):
        tail, head = draw(attempt)
        links = scipy.sparse.coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(nodes, nodes))
        if scipy.sparse.csgraph.connected_components(links, directed=False, return_labels=False) == 1:
            sites = None if terminals == 1 else terminals_of(np.arange(nodes), terminals)
            return wiring_of_links(nodes, [ClassLinks(tail, head)], terminals=sites)
    raise BadInput(f"expected a connected graph, got none of {ATTEMPTS}; choose a larger degree")


def _draw_regular(nodes: int, degree: int, seed: int, attempt: int) -> Ends:
    """(tail int64[L], head int64[L]) of a random graph, tail < head."""
    if degree > (nodes - 1) // 2:  # too dense to pair: the links that a random graph does not have
        low, high = np.triu_indices(nodes, 1)
        tail, head = _draw_sparse(nodes, nodes - 1 - degree, seed, attempt)
        kept = ~np.isin(low * nodes + high, tail * nodes + head)
        return low[kept], high[kept]
    return _draw_sparse(nodes, degree, seed, attempt)


def _draw_sparse(nodes: int, degree: int, seed: int, attempt: int) -> Ends:
    ends: np.ndarray = np.repeat(np.arange(nodes), degree)
    ends = ends[np.argsort(_words(len(ends), seed, attempt), kind="stable")].reshape(-1, 2)
    for again in range(1, ROUNDS):
        key = ends.min(axis=1) * nodes + ends.max(axis=1)
        order = np.argsort(key, kind="stable")
        wrong = ends[:, 0] == ends[:, 1]
        wrong[order[1:]] |= key[order[1:]] == key[order[:-1]]
        apart = np.flatnonzero(wrong)
        if not len(apart):
            return ends.min(axis=1), ends.max(axis=1)
        words = _words(len(apart) * 4 + 4 * MIXED + len(ends), seed, attempt, again)
        others = np.argsort(words[: len(ends)], kind="stable")[: max(MIXED, len(apart))]
        mixed = np.union1d(apart, others)
        loose = ends[mixed].reshape(-1)
        ends[mixed] = loose[np.argsort(words[-len(loose) :], kind="stable")].reshape(-1, 2)
    raise BadInput(f"found no graph of {nodes} nodes and degree {degree}; choose another seed")


def _words(number: int, seed: int, attempt: int, again: int = 0) -> np.ndarray:
    """uint64[number]: random words of a stream of its own for each attempt and round."""
    return np.random.Philox(key=[seed, attempt << 32 | again]).random_raw(number)
