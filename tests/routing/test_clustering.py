"""Clustering routing on pruned tori, against a packet that follows the rule in plain loops."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.routing import SourceRouting, routing

from tests.networks import plain_networks as plain

Address = tuple[int, ...]


def routed(spelling: str, network: str) -> SourceRouting:
    found = routing(spelling, build(network))[1]
    assert isinstance(found, SourceRouting)
    return found


def turns(here: int, there: int, k: int, tie: str) -> list[int]:
    """Directions round a ring of k that are taken equally often."""
    ahead = (there - here) % k
    if 2 * ahead != k or k == 2:
        return [1 if 2 * ahead <= k else -1]
    return {"split": [1, -1], "random": [1, -1], "positive": [1], "sign": [1 if there > here else -1]}[tie]


def walk(
    source: Address, target: Address, k: int, base: int, alternating: list[int], turn: dict[int, int]
) -> list[Address]:
    """The nodes of the route, source and target included; turn: direction in each dimension, −1 or 1."""
    here, path = list(source), [source]

    def step(i: int, by: int) -> None:
        here[i] = (here[i] + by) % k
        path.append(tuple(here))

    def served(i: int, plane: int) -> bool:
        return i not in alternating or plane % len(alternating) == alternating.index(i)

    def complete_dimensions() -> None:
        for i in range(len(source)):
            if i != base and served(i, here[base]):
                while here[i] != target[i]:
                    step(i, turn[i])

    onwards = turn[base]
    planes = [source[base]]
    while planes[-1] % k != target[base]:
        planes.append(planes[-1] + onwards)
    beyond = before = 0
    for i in range(len(source)):
        if i == base or source[i] == target[i] or any(served(i, plane % k) for plane in planes):
            continue
        far = 1
        while not served(i, (target[base] + far * onwards) % k) and not served(i, (source[base] - far * onwards) % k):
            far += 1
        if served(i, (target[base] + far * onwards) % k):
            beyond = max(beyond, far)
        else:
            before = max(before, far)
    way = [-onwards] * before + [onwards] * (before + len(planes) - 1 + beyond) + [-onwards] * beyond
    complete_dimensions()
    for by in way:
        step(base, by)
        complete_dimensions()
    assert tuple(here) == target
    return path


def expected(
    source: Address, target: Address, k: int, base: int, alternating: list[int], tie: str
) -> dict[tuple[Address, ...], Fraction]:
    """The share of every path."""
    options = [turns(a, b, k, tie) for a, b in zip(source, target)]
    if source[base] == target[base]:
        plane = source[base] % len(alternating)
        astray = any(source[i] != target[i] and alternating.index(i) != plane for i in alternating)
        options[base] = [1, -1] if astray and tie in ("split", "random") and k > 2 else [1]
    shares: Counter = Counter()
    ways = list(product(*options))
    for way in ways:
        shares[tuple(walk(source, target, k, base, alternating, dict(enumerate(way))))] += Fraction(1, len(ways))
    return shares


def found(
    route: SourceRouting, sources: list[int], targets: list[int], nodes: list[Address]
) -> list[dict[tuple[Address, ...], float]]:
    """The share of every path under the tested routing, for every pair of the two lists."""
    source, target = (array.reshape(-1) for array in np.meshgrid(sources, targets, indexing="ij"))
    table = route.routes(route.key(source, target))
    onwards = route.moves.next.tolist()
    paths = []
    for pair, node in enumerate(source.tolist()):
        shares: Counter = Counter()
        for row in range(table.first[pair], table.first[pair + 1]):
            path = [node]
            for direction in np.repeat(table.direction[row], table.hops[row]).tolist():
                path.append(onwards[path[-1]][direction])
            assert -1 not in path
            shares[tuple(nodes[u] for u in path)] += float(table.weight[row])
        paths.append(shares)
    return paths


@pytest.mark.parametrize(
    ("network", "k", "base", "alternating", "tie"),
    [
        *(("pruned_torus(k=4, n=3)", 4, 0, [1, 2], tie) for tie in ("split", "random", "positive", "sign")),
        ("pruned_torus(k=2, n=3)", 2, 0, [1, 2], "split"),
        ("pruned_torus(k=2, n=3)", 2, 0, [1, 2], "sign"),
        ("pruned_torus(k=6, n=3)", 6, 0, [1, 2], "split"),
        ("pruned_torus(k=3, n=4)", 3, 0, [1, 2, 3], "split"),
        ("pruned_torus(k=6, n=4)", 6, 0, [1, 2, 3], "sign"),
        ("pruned_torus(k=4, n=5)", 4, 0, [1, 2, 3, 4], "positive"),
        ("pruned_t1(k=4)", 4, 2, [0, 1], "split"),
        ("partly_pruned_torus(k=4, n=4, intact=2)", 4, 0, [2, 3], "positive"),
        ("partly_pruned_torus(k=3, n=5, intact=2)", 3, 0, [2, 3, 4], "split"),
    ],
)
def test_routes_follow_the_rule(network, k, base, alternating, tie):
    route = routed(f"clustering(tie={tie})", network)
    nodes = [tuple(map(int, digits)) for digits in route.topology.addresses()]
    assert np.array_equal(route.cell, [address[base] % len(alternating) for address in nodes])
    # from a random node of every plane to a sample of the network
    sources = [
        next(u for u, address in enumerate(nodes) if address[base] == plane and u % 5 >= plane % 2)
        for plane in range(k)
    ]
    targets = list(range(0, len(nodes), 1 + len(nodes) // 250 // 2 * 2))
    known = found(route, sources, targets, nodes)
    for (u, v), shares in zip(product(sources, targets), known):
        assert shares == pytest.approx(
            {path: float(share) for path, share in expected(nodes[u], nodes[v], k, base, alternating, tie).items()}
        )


@pytest.mark.parametrize(
    ("network", "excess", "most"),
    [
        ("pruned_torus(k=4, n=3)", 0, 0),
        ("pruned_torus(k=8, n=3)", 0, 0),
        ("pruned_torus(k=16, n=3)", 0, 0),
        ("pruned_t1(k=8)", 0, 0),
        ("pruned_torus(k=6, n=4)", 0, 0),
        ("pruned_torus(k=9, n=4)", 0, 0),
        ("partly_pruned_torus(k=6, n=4, intact=2)", 0, 0),
        ("pruned_torus(k=3, n=4)", 48, 1),
        ("pruned_torus(k=4, n=5)", 960, 2),
        ("pruned_torus(k=8, n=5)", 784, 2),
    ],
)
def test_excess_over_shortest_paths(network, excess, most):
    """excess: hops minus distance, summed over all destinations of a source; most: the largest."""
    route = routed("clustering(tie=positive)", network)
    cells = np.unique(route.cell, return_index=True)[1]
    table = route.routes(route.key(cells[:, None], np.arange(route.topology.nodes)).reshape(-1))
    more = table.hops.sum(axis=1).reshape(len(cells), -1) - plain.distances(route.topology.ports, cells)
    assert more.sum() == excess * len(cells)
    assert (more.min(), more.max()) == (0, most)


def test_split_ties_balance_loads():
    """Under uniform traffic, all links of a dimension have the same load in both directions."""
    route = routed("clustering", "pruned_torus(k=4, n=3)")
    assert route.regular
    table = route.routes(np.arange(route.keys))
    hops = np.bincount(table.direction.reshape(-1), weights=(table.hops * table.weight[:, None]).reshape(-1))
    assert hops[::2] == pytest.approx(hops[1::2])
    assert hops.sum() / route.keys == 27 / 8  # the mean distance, Kwai & Parhami 1998, Table 1


@pytest.mark.parametrize("network", ["torus(k=4, n=3)", "pruned_t2(k=4)", "faulty(torus(k=4, n=3), links=1)"])
def test_other_networks_are_refused(network):
    with pytest.raises(
        BadInput,
        match=r"^routing clustering on .*: expected pruned_torus, .*; choose minimal, which suits every network$",
    ):
        routed("clustering", network)
