"""Errors of the papers, each derived by a second way that shares no code with ours."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction

import igraph
import networkx as nx
import pytest
from torusweep.papers.verification.rows import PAPERS, load_expected

from tests.papers.plain_search import Address, Neighbours, distances

ROWS = load_expected(PAPERS)


def four_classes(k: int, n: int, *, directed: bool, pruned: bool) -> Neighbours:
    """Parhami & Kwai 2004, sec. 2, as printed."""

    def neighbours(a: Address) -> Iterable[Address]:
        for i in range(n):
            if pruned and i > 0 and a[0] % (n - 1) != i - 1:
                continue
            even = (sum(a) - a[i]) % 2 == 0
            for step in ((1,) if even else (-1,)) if directed else (1, -1):
                yield (*a[:i], (a[i] + step) % k, *a[i + 1 :])

    return neighbours


def corrected(paper: str, place: str, topology: str, quantity: str) -> float | None:
    found = {
        r.corrected
        for r in ROWS
        if (r.paper, r.place, r.topology, r.quantity) == (paper, place, topology, quantity) and r.corrected is not None
    }
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize("k", [6, 10])
def test_directed_tori_of_radix_2_modulo_4(k: int) -> None:
    for pruned, topology in ((False, f"directed_torus(k={k}, n=3)"), (True, f"pruned_directed_torus(k={k}, n=3)")):
        found = distances(four_classes(k, 3, directed=True, pruned=pruned), (0, 0, 0)).values()
        assert corrected("P04", "Table 1", topology, "diameter") == max(found)
        if not pruned or k == 10:
            assert corrected("P04", "Table 1", topology, "mean_distance") == pytest.approx(sum(found) / k**3, rel=1e-12)


def test_cube_connected_cycles() -> None:
    n = 9

    def neighbours(node: Address) -> Iterable[Address]:
        i, corner = node
        yield from (((i + 1) % n, corner), ((i - 1) % n, corner), (i, corner ^ (1 << i)))

    found = distances(neighbours, (0, 0)).values()
    assert corrected("R05", "Table 1", "ccc(n=9)", "diameter") == max(found) == 20
    assert corrected("R05", "Table 1", "ccc(n=9)", "cost") == 3 * max(found)
    assert corrected("R05", "Table 1", "ccc(n=9)", "mean_distance") == pytest.approx(sum(found) / (n * 2**n), rel=1e-12)


def test_mesh_mean_divided_by_n() -> None:
    side = 64
    along = Fraction(sum(abs(i - j) for i in range(side) for j in range(side)), side * side)
    assert corrected("R05", "Table 1", "mesh(k=64, n=2)", "mean_distance") == float(2 * along)


def test_tesh_with_gates_at_every_corner() -> None:
    nodes = list(
        itertools.product(range(4), repeat=6)
    )  # level 3 row and column, level 2 row and column, row and column in the basic module
    number = {node: i for i, node in enumerate(nodes)}
    gates = {(0, 0): 0, (0, 3): 1, (3, 0): 2, (3, 3): 3}
    edges = set()
    for node in nodes:
        for digit in (4, 5, *([gates[node[4:]]] if node[4:] in gates else [])):
            upper = node[digit] + 1
            if digit < 4 or upper < 4:
                edges.add(frozenset((number[node], number[(*node[:digit], upper % 4, *node[digit + 1 :])])))
    graph = igraph.Graph(len(nodes), [tuple(edge) for edge in edges])
    tesh = "tesh(m=2, levels=3, q=0)"
    assert corrected("R05", "Table 1", tesh, "links") == graph.ecount()
    assert corrected("R05", "Table 1", tesh, "edge_connectivity") == graph.edge_connectivity()
    halves = [node[0] < 2 for node in nodes]
    assert corrected("R05", "Table 1", tesh, "bisection_upper") == sum(
        halves[e.source] != halves[e.target] for e in graph.es
    )


@pytest.mark.parametrize(
    ("q", "topology"), [(q, f"{name}(m=4, n=4, levels=2, q={q})") for q in (0, 2) for name in ("h3dt", "mh3dt")]
)
def test_wiring_counted_link_by_link(q: int, topology: str) -> None:
    """R05 sec. 2: a mesh or torus of 4 x 4 x 4, and rings through the modules at 2^q corners of three planes."""
    wraps = topology.startswith("mh3dt")
    module = sum(1 for a in itertools.product(range(4), repeat=3) for digit in a if wraps or digit < 3)
    between = 3 * 2**q * 64
    row = next(
        r
        for r in ROWS
        if r.paper == "R05" and r.place == "Table 1" and r.topology == topology and r.quantity == "links"
    )
    assert (row.value if row.corrected is None else row.corrected) == 64 * module + between


def link_orbits(neighbours: Neighbours, nodes: list[Address], *, directed: bool) -> int:
    """Orbits of links under all automorphisms, by BLISS: each arc a path through two coloured vertices of its own."""
    number = {node: i for i, node in enumerate(nodes)}
    arcs = [(number[node], number[head]) for node in nodes for head in neighbours(node)]
    edges, colours = [], [0] * len(nodes)
    for u, v in arcs:
        tail, head = len(colours), len(colours) + 1
        colours += [1, 2 if directed else 1]
        edges += [(u, tail), (tail, head), (head, v)]
    orbits = nx.Graph()
    for generator in igraph.Graph(len(colours), edges).automorphism_group(color=colours):
        orbits.add_edges_from((vertex, image) for vertex, image in enumerate(generator) if vertex != image)
    orbits.add_nodes_from(range(len(colours)))
    return sum(1 for orbit in nx.connected_components(orbits) if colours[next(iter(orbit))] == 1)


@pytest.mark.parametrize(
    ("directed", "pruned", "k", "n", "orbits"),
    [
        (False, False, 4, 3, 1),
        (True, False, 4, 3, 1),
        (False, True, 4, 3, 2),
        (True, True, 4, 3, 2),
        (False, True, 8, 3, 2),
        (True, True, 8, 3, 2),
    ],
)
def test_p04_section_3e_is_false_for_pruned_tori(directed: bool, pruned: bool, k: int, n: int, orbits: int) -> None:
    nodes = list(itertools.product(range(k), repeat=n))
    assert link_orbits(four_classes(k, n, directed=directed, pruned=pruned), nodes, directed=directed) == orbits
    family = ("pruned_" if pruned else "") + ("directed_" if directed else "") + "torus"
    row = next(
        r
        for r in ROWS
        if r.place == "Sec. 3.E" and r.topology == f"{family}(k={k}, n={n})" and r.quantity == "edge_transitive"
    )
    assert row.value == 1
    assert row.corrected == (0 if orbits > 1 else None)


def test_p04_links_of_a_pruned_torus_do_not_carry_the_same_load() -> None:
    """The channels of a class carry the same: all of them lie in one orbit of links, as the test above found."""
    loads = loads_by_class(8, directed=False)
    assert loads == {True: Fraction(71, 64), False: 2}
    assert corrected("P04", "Sec. 5", "pruned_torus(k=8, n=3)", "link_utilization") == float(
        sum(loads.values()) / 2 / max(loads.values())
    )


def test_p04_links_of_a_pruned_directed_torus_do_not_carry_the_same_load() -> None:
    loads = loads_by_class(8, directed=True)
    assert [float(loads[dimension_0]) for dimension_0 in (True, False)] == pytest.approx([3.741, 5.080], abs=5e-4)
    found = corrected("P04", "Sec. 5", "pruned_directed_torus(k=8, n=3)", "link_utilization")
    assert found == pytest.approx(float(sum(loads.values()) / 2 / max(loads.values())), rel=1e-15)


def loads_by_class(k: int, *, directed: bool) -> dict[bool, Fraction]:
    """Load of a channel of dimension 0 (True) and of any other in a pruned 3D torus, uniform traffic, minimal.

    By vertex-transitivity one source tells it: as many channels of both sorts leave a node.
    """
    source = (0, 0, 0)
    neighbours = four_classes(k, 3, directed=directed, pruned=True)
    away = distances(neighbours, source)
    into: dict[Address, list[Address]] = {}
    for node in away:
        for head in neighbours(node):
            into.setdefault(head, []).append(node)
    ways: dict[Address, int] = {source: 1}
    for node in sorted(away, key=away.__getitem__):
        for head in neighbours(node):
            if away[head] == away[node] + 1:
                ways[head] = ways.get(head, 0) + ways[node]
    passing = {node: Fraction(1, k**3) for node in away}
    carried = {True: Fraction(0), False: Fraction(0)}  # along dimension 0, or not
    for node in sorted(away, key=away.__getitem__, reverse=True):
        for tail in into[node]:
            if away[tail] == away[node] - 1:
                share = passing[node] * ways[tail] / ways[node]
                passing[tail] += share
                carried[tail[0] != node[0]] += share
    return {dimension_0: total / (1 if directed else 2) for dimension_0, total in carried.items()}
