"""Columns of the guarantee, against linear programs, plain sums over shortest paths, and closed forms."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations

import duckdb
import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from torusweep.capacity import capacity
from torusweep.capacity.guarantee import guarantee as bracket
from torusweep.questions.screen.dataset import FOLLOWING
from torusweep.questions.static.record import static_record

from tests.capacity.test_guarantee import best_oblivious, best_under, drawn
from tests.networks.plain_hosts import fabric

BOUNDS = ("guarantee_lower", "guarantee_upper")

SMALL = [
    *("ring(k=7)", "torus(radices=[5, 3])", "mesh(radices=[4, 3])", "hypercube(n=3)", "torus(k=3, n=2, directed=true)"),
    *(
        "full_mesh(radices=[5])",
        "hyperx(radices=[3, 2], terminals=2)",
        "dragonfly(a=2, p=1, h=1)",
        "de_bruijn(d=2, k=3)",
    ),
    *(
        "circulant(n=12, steps=[1, 6])",
        "lattice(matrix=[[4, 1], [0, 3]])",
        "random_regular(nodes=10, degree=3, seed=2)",
    ),
    "with_links(torus(radices=[4, 3]), bandwidths=[1, 3])",
]


def bounds_of(network: str | nx.Graph) -> tuple[float, float]:
    """The columns of `screen`, which are those of `static`."""
    one = ts.network(network)
    static, screen = one.static().record, one.screen().record
    assert [static[name] for name in BOUNDS] == [screen[name] for name in BOUNDS]
    return screen["guarantee_lower"], screen["guarantee_upper"]


def loads_of(graph: nx.Graph) -> tuple[dict[tuple[int, int, int, int], Fraction], dict[int, int]]:
    """Flits over channel (u, v) of a flit from s to t, over all shortest paths alike; terminals at each node."""
    found: dict[tuple[int, int, int, int], Fraction] = {}
    for s, t in permutations(graph, 2):
        paths = [*nx.all_shortest_paths(graph, s, t)]
        for path in paths:
            for u, v in pairwise(path):
                found[s, t, u, v] = found.get((s, t, u, v), Fraction(0)) + Fraction(1, len(paths))
    return found, {node: graph.nodes[node].get("terminals", 1) for node in graph}


def busiest(graph: nx.Graph, flits: dict[tuple[int, int], Fraction]) -> float:
    """Largest load of a channel; flits: from node to node."""
    load: dict[tuple[int, int], Fraction] = {}
    for (s, t, u, v), share in loads_of(graph)[0].items():
        load[u, v] = load.get((u, v), Fraction(0)) + share * flits.get((s, t), 0)
    return max(float(flow) / graph.edges[channel].get("bandwidth", 1.0) for channel, flow in load.items())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_columns_enclose_what_programs_find(seed: int, directed: bool):
    """Terminals at some nodes, several at one, and links of three bandwidths."""
    graph = drawn(seed, directed=directed)
    many = {node: graph.nodes[node]["terminals"] for node in graph}
    at = [node for node in graph for _ in range(many[node])]
    patterns = {tuple(sorted((s, t) for s, t in zip(at, order) if s != t)) for order in permutations(at)}
    lower, upper = bounds_of(graph)
    assert min(best_under(graph, [*pairs]) for pairs in patterns if pairs) <= upper * (1 + 1e-7)
    assert lower <= best_oblivious(graph) * (1 + 1e-7)
    half = 1 / (2 * busiest(graph, {(s, t): Fraction(many[s] * many[t], len(at)) for s in many for t in many}))
    assert lower == pytest.approx(half, rel=1e-12)


@pytest.mark.parametrize("spelling", SMALL)
def test_columns_never_cross_the_bracket_of_capacity(spelling: str):
    lower, upper = bounds_of(spelling)
    row = ts.network(spelling).capacity("worst").json
    assert 0 < lower <= upper
    assert lower <= row["guarantee_oblivious"] * (1 + 1e-6)
    assert row["guarantee_lower"] <= upper * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_no_permutation_loads_valiants_routing_more(seed: int):
    """Permutations are exchanged for as long as that makes a channel busier."""
    graph, random = nx.random_regular_graph(3, 8, seed=seed), np.random.default_rng(seed)
    lower, _ = bounds_of(graph)
    order, best = random.permutation(8), 0.0
    for _ in range(40):
        a, b = random.choice(8, 2, replace=False)
        trial = order.copy()
        trial[[a, b]] = trial[[b, a]]
        flits: dict[tuple[int, int], Fraction] = {}
        for s, t in enumerate(trial.tolist()):
            for middle in range(8):
                for pair in ((s, middle), (middle, t)):
                    flits[pair] = flits.get(pair, Fraction(0)) + Fraction(1, 8)
        load = busiest(graph, flits)
        if load >= best:
            order, best = trial, load
    assert 0 < best <= 1 / lower * (1 + 1e-12)


@pytest.mark.parametrize(
    ("network", "lower", "upper"),
    [
        ("torus(k=8, n=2)", 1 / 2, 1 / 2),  # 16 links of the bisection carry 32 flits
        ("torus(k=4, n=3)", 1, 1),  # six channels a node, six hops away
        ("torus(k=8, n=3)", 1 / 2, 1 / 2),
        ("torus(radices=[8, 8, 16])", 1 / 4, 1 / 4),  # two channels, eight hops along the third dimension
        ("hyperx(radices=[12, 8], terminals=7)", 4 / 7, 4 / 7),  # 16 · 12 links, 7 · 48 terminals
        ("torus(k=4, n=2, directed=true)", 1 / 3, 1 / 3),  # three hops to the node before
        (nx.petersen_graph(), 1, 9 / 5),  # 3 · 9 ÷ 15 hops from each node to all others
        (nx.star_graph(3), 2 / 3, 1),  # a leaf's only link carries 3/4 of a flit of uniform traffic
        (nx.path_graph(2), 1, 1),
        ("ring(k=2000)", 1 / 500, 1 / 500),  # too large for a block
    ],
)
def test_known_bounds(network: str | nx.Graph, lower: float | None, upper: float | None):
    assert bounds_of(network) == pytest.approx((lower, upper), rel=1e-12)


@pytest.mark.parametrize("network", [nx.Graph([(0, 1), (2, 3)]), nx.path_graph(1), nx.DiGraph([(0, 1)])])
def test_nothing_is_guaranteed_without_paths(network: nx.Graph):
    assert bounds_of(network) == (None, None)


@pytest.mark.parametrize("seed", [2, 4, 5, 7, 11])
def test_hosts_with_two_switches(seed: int):
    """Packets cannot be turned round at both: there is no lower bound. A host's links bound from above."""
    topology = fabric(seed)
    record = static_record(topology)
    assert record["connected"]
    assert record["guarantee_lower"] is None
    links = np.bincount(topology.arcs[0])[np.unique(topology.terminals)]
    assert bracket(topology, capacity(topology, "uniform")).lower <= record["guarantee_upper"] * (1 + 1e-6)
    assert record["guarantee_upper"] <= links.max()


@pytest.mark.parametrize("sizes", [(1, 12), (2, 24), (3, 24)])
def test_rows_of_a_space_are_those_of_its_networks(sizes: tuple[int, int]):
    """In Python, and in the SQL of a data set."""
    rows = ts.screen(family="lattices", dimensions=sizes[0], nodes=sizes[1]).table
    chosen = ", ".join(f"{FOLLOWING[name]} AS {name}" for name in BOUNDS)
    queried = duckdb.connect().execute(f"SELECT {chosen} FROM rows").fetchall()
    for row, said in zip(rows.to_pylist(), queried, strict=True):
        network = bounds_of(row["topology"])
        assert said == (row["guarantee_lower"], row["guarantee_upper"])
        assert said == pytest.approx(network, rel=1e-12), row["topology"]


def test_the_bounds_of_most_lattices_are_near():
    """Of the 657 classes of 64 nodes, 60 % have bounds within a factor of 1.5, and none beyond 4."""
    rows = [row for n in (2, 3) for row in ts.screen(family="lattices", dimensions=n, nodes=64).rows]
    ratio = np.array([row["guarantee_upper"] / row["guarantee_lower"] for row in rows])
    assert len(ratio) == 657
    assert ((ratio >= 1) & (ratio < 4)).all()
    assert (ratio <= 1.5).mean() > 0.6
