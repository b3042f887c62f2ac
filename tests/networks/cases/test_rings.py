"""Rings of parallel, wide and one-way links beside all Hamiltonian cycles of small graphs, and closed forms."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, permutations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from scipy.optimize import Bounds, LinearConstraint, milp
from torusweep.collectives.rings import disjoint_rings, ring_of
from torusweep.errors import BadInput
from torusweep.networks.families import build

from tests.faults.command_line import torusweep
from tests.questions.static.networks import network

HERE = Path(__file__).parent


def cycles(name: str, operation: str, algorithm: str) -> float:
    found = ts.network(name).collective(operation, algorithm)
    return float(found.rows[1]["cycles"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"{HERE}/k4x2.edges", 0.125),
        (f"{HERE}/k6x2.edges", 1 / 12),
        # half of the links of a node are rings, each used both ways: (N − 1) / N / links
        ("with_links(torus(radices=[4, 3]), bandwidths=[1, 2])", 11 / 12 / 6),
        ("with_links(torus(k=4, n=2), bandwidths=[3])", 15 / 16 / 12),
        ("torus(radices=[4, 4, 8])", 127 / 128 / 6),
    ],
)
def test_rings_of_parallel_and_wide_links(name: str, expected: float):
    assert cycles(name, "all_gather", "rings") == pytest.approx(expected)


@pytest.mark.parametrize("algorithm", ["one_way_ring", "rings"])
@pytest.mark.parametrize("nodes", [4, 5, 6, 9])
def test_a_ring_of_one_way_links(nodes: int, algorithm: str):
    """Each of the N − 1 steps of a half takes an N-th of the vector over every link."""
    name = f"torus(radices=[{nodes}], directed=true)"
    half = (nodes - 1) / nodes
    assert cycles(name, "all_gather", algorithm) == pytest.approx(half)
    assert cycles(name, "reduce_scatter", algorithm) == pytest.approx(half)
    assert cycles(name, "all_reduce", algorithm) == pytest.approx(2 * half)


@pytest.mark.parametrize(
    "name", ["de_bruijn(d=2, k=6)", "kautz(d=2, k=4)", "directed_torus(k=4, n=2)", "de_bruijn(d=3, k=3)"]
)
def test_one_way_networks_have_directed_rings(name: str):
    topology = build(name)
    order, hops = ring_of(topology)
    links = {(int(u), int(v)) for u, v, _ in zip(*topology.arcs)}
    assert hops == 1
    assert sorted(order.tolist()) == list(range(topology.nodes))
    assert links.issuperset(pairwise([*order.tolist(), int(order[0])]))


def test_a_ring_of_both_ways_is_refused_on_one_way_links():
    said = torusweep("collective", f'graph(path="{HERE}/dring4.edges", directed=true)', "all_reduce")
    assert "left out: algorithm ring on" in said.out
    assert "expected links in both directions; choose one_way_ring, direct or trees" in said.out
    assert "Hamiltonian" not in said.out


def test_a_network_without_a_ring_says_so(tmp_path: Path):
    """Two rings that share a node have none, whatever their sides."""
    (tmp_path / "g.edges").write_text("0 1\n1 2\n2 0\n0 3\n3 4\n4 0\n")
    said = torusweep("collective", f'graph(path="{tmp_path}/g.edges", directed=true)', "all_gather")
    assert "one_way_ring: no Hamiltonian cycle is known here" in said.out
    assert "odd sides" not in said.out


@cache
def rings_of(nodes: int, *, directed: bool) -> list[list[tuple[int, int]]]:
    """All cycles through all nodes of a complete graph, as links."""
    orders = [(0, *rest) for rest in permutations(range(1, nodes)) if directed or nodes < 3 or rest[0] < rest[-1]]
    return [[*pairwise([*order, 0])] for order in orders]


def most_rings(nodes: int, links: dict[tuple[int, int], int], *, directed: bool) -> int:
    """The most rings of which no more go over a link than it carries, by integer programming over all rings."""
    names = list(links)
    place = {ends: row for row, ends in enumerate(names)}
    columns = []
    for ring in rings_of(nodes, directed=directed):
        ends = ring if directed else [(min(pair), max(pair)) for pair in ring]
        if all(pair in place for pair in ends):
            columns.append(np.bincount([place[pair] for pair in ends], minlength=len(names)))
    if not columns:
        return 0
    limit = LinearConstraint(np.array(columns).T, ub=[links[ends] for ends in names])
    found = milp(-np.ones(len(columns)), constraints=limit, integrality=np.ones(len(columns)), bounds=Bounds(0, 9))
    return round(-found.fun)


@pytest.mark.parametrize("directed", [False, True])
def test_no_packing_has_more_rings(directed: bool):
    several = none = short = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        nodes = int(random.integers(3, 7))
        pairs = [(u, v) for u in range(nodes) for v in range(nodes) if (u != v if directed else u < v)]
        chosen = random.permutation(len(pairs))[: int(random.integers(nodes, len(pairs) + 1))]
        links = {pairs[i]: int(random.integers(1, 4)) for i in chosen}
        graph = nx.DiGraph(list(links) + ([] if directed else [(v, u) for u, v in links]))
        if len(graph) < nodes or not nx.is_strongly_connected(graph):
            continue
        most = most_rings(nodes, links, directed=directed)
        topology = network(nodes, [(*ends, width) for ends, width in links.items()], directed=directed)
        if not most:
            none += 1
            with pytest.raises(BadInput, match="Hamiltonian cycle"):
                disjoint_rings(topology)
            continue
        found = disjoint_rings(topology)
        used: dict[tuple[int, int], int] = {}
        for ring in found:
            assert sorted(ring.tolist()) == list(range(nodes))
            for u, v in pairwise([*ring.tolist(), int(ring[0])]):
                ends = (u, v) if directed else (min(u, v), max(u, v))
                used[ends] = used.get(ends, 0) + 1
        assert all(number <= links[ends] for ends, number in used.items())
        assert 0 < len(found) <= most, seed
        short += len(found) < most
        several += most > 1
    assert several > 5
    assert none > 0
    assert short <= (6 if directed else 0)  # the search is random
