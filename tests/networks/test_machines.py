"""Networks of machines: their links against plain loops, their constants from the papers, diameters by networkx."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from torusweep.networks.families import build, plan
from torusweep.networks.families.algebra import finite_field
from torusweep.networks.symmetry import proved_symmetries

from tests.networks import plain_machines as plain


def arcs_of(topology):
    """{(tail, head): parallel links}"""
    tail, head, port = topology.arcs
    many = np.ones(len(tail), int) if topology.capacity is None else topology.capacity[tail, port]
    return Counter(dict(zip(zip(tail.tolist(), head.tolist()), many.tolist())))


def graph_of(topology):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(topology.nodes))
    graph.add_edges_from(arcs_of(topology))
    return graph


ROWS = [
    ("hyperx(radices=[4, 3])", lambda: plain.hyperx([4, 3])),
    ("hyperx(radices=[3, 2, 3], terminals=3)", lambda: plain.hyperx([3, 2, 3], 3)),
    ("hyperx(radices=[4, 2], widths=[1, 3], terminals=2)", lambda: plain.hyperx([4, 2], 2, [1, 3])),
    ("hamming(radices=[5, 2])", lambda: plain.hyperx([5, 2])),
    ("generalised_hypercube(radices=[2, 3, 4])", lambda: plain.hyperx([2, 3, 4])),
    ("full_mesh(radices=[4, 4], terminals=2)", lambda: plain.hyperx([4, 4], 2)),
    ("dragonfly(a=4, p=2, h=2)", lambda: plain.dragonfly(4, 2, 2)),
    ("dragonfly(a=4, p=1, h=2, groups=6)", lambda: plain.dragonfly(4, 1, 2, 6)),
    ("dragonfly(a=4, p=2, h=3, groups=4)", lambda: plain.dragonfly(4, 2, 3, 4)),
    ("dragonfly(a=2, p=1, h=4, groups=2)", lambda: plain.dragonfly(2, 1, 4, 2)),
    (
        "dragonfly(a=4, p=2, h=2, arrangement=consecutive)",
        lambda: plain.dragonfly(4, 2, 2, arrangement="consecutive"),
    ),
    (
        "dragonfly(a=3, p=2, h=3, groups=4, arrangement=consecutive)",
        lambda: plain.dragonfly(3, 2, 3, 4, arrangement="consecutive"),
    ),
    ("dragonfly(a=6, p=1, h=1, local=[3, 2])", lambda: plain.dragonfly(6, 1, 1, local=[3, 2])),
    ("boardfly(groups=5, copper=3)", lambda: plain.boardfly(5, 3, 2, "blocks", "blocks")),
    (
        "boardfly(groups=9, optical=1, copper_order=turns, optical_order=turns)",
        lambda: plain.boardfly(9, 2, 1, "turns", "turns"),
    ),
    ("boardfly(groups=2, optical_order=turns)", lambda: plain.boardfly(2, 2, 2, "blocks", "turns")),
    ("megafly(leaves=3, spines=2, p=4, h=2)", lambda: plain.megafly(3, 2, 4, 2)),
    (
        "megafly(leaves=2, spines=3, p=1, h=2, groups=4, arrangement=consecutive)",
        lambda: plain.megafly(2, 3, 1, 2, 4, "consecutive"),
    ),
    ("fat_tree(k=2, n=3)", lambda: plain.fat_tree(2, 3)),
    ("fat_tree(k=3, n=3)", lambda: plain.fat_tree(3, 3)),
    ("fat_tree(k=4, n=2)", lambda: plain.fat_tree(4, 2)),
    ("polarfly(q=2)", lambda: plain.polarfly(2)),
    ("polarfly(q=5)", lambda: plain.polarfly(5)),
    ("polarfly(q=7)", lambda: plain.polarfly(7)),
    ("de_bruijn(d=2, k=4)", lambda: plain.de_bruijn(2, 4)),
    ("de_bruijn(d=3, k=2)", lambda: plain.de_bruijn(3, 2)),
    ("kautz(d=2, k=4)", lambda: plain.kautz(2, 4)),
    ("kautz(d=3, k=2)", lambda: plain.kautz(3, 2)),
    ("hamming_mesh(board=[2, 2], boards=[3, 2])", lambda: plain.hamming_mesh((2, 2), (3, 2))),
    ("hamming_mesh(board=[1, 3], boards=[2, 4])", lambda: plain.hamming_mesh((1, 3), (2, 4))),
    ("tofu(radices=[3, 2, 4])", lambda: plain.tofu(3, 2, 4)),
    ("cube_pod(x=[1, 0], y=[0, 1], z=[1, 0], side=3)", lambda: plain.cube_pod([[1, 0], [0, 1], [1, 0]], 3)),
    ("cube_pod(x=[1, 2, 0], y=[0, 2, 1], z=[2, 0, 1])", lambda: plain.cube_pod([[1, 2, 0], [0, 2, 1], [2, 0, 1]], 4)),
]


@pytest.mark.parametrize(("spelling", "oracle"), ROWS, ids=[row[0] for row in ROWS])
def test_links_and_terminals_of_a_machine(spelling, oracle):
    topology = build(spelling)
    arcs, terminals = oracle()
    assert arcs_of(topology) == arcs
    assert topology.terminals.tolist() == terminals
    width = max(Counter(u for u, _ in arcs).values(), default=0)
    assert topology.ports.shape[1] == width <= topology.plan.degree
    assert topology.capacity is not None or topology.plan.degree == width
    assert topology.link_class.max(initial=0) < len(topology.plan.classes)
    assert topology.plan.one_each <= (terminals == list(range(topology.nodes)))
    proved_symmetries(topology)  # raises where a declared one is none


def test_every_family_has_a_row():
    from torusweep.networks.families import FAMILIES

    from tests.networks import test_topologies

    here = {spelling.partition("(")[0] for spelling, _ in [*ROWS, *((row[0], None) for row in CONSTANTS)]}
    there = {spelling.partition("(")[0] for spelling, _, _ in test_topologies.ROWS}
    assert FAMILIES.keys() - there - {"lattice", "graph", "faulty", "without", "concentrated", "with_links"} == here


# spelling: nodes, terminals, links, least and greatest degree, diameter between nodes, and where these are printed
CONSTANTS = [
    ("dragonfly(a=4, p=2, h=2)", 36, 72, 36 * 5 // 2, 5, 5, 3),  # Kim et al. 2008, Fig. 5: 72 terminals
    ("dragonfly(a=8, p=4, h=4)", 264, 1056, 264 * 11 // 2, 11, 11, 3),  # the 1K-node network of its simulations
    ("dragonfly(a=8, p=4, h=4, arrangement=random, seed=3)", 264, 1056, 264 * 11 // 2, 11, 11, 3),
    ("boardfly()", 1024, 1024, 1024 + 32 * 28 + 31 * 32, 3, 6, 7),  # Google 2026: 7 hops for 1,024 chips
    ("boardfly(optical_order=turns)", 1024, 1024, 1024 + 32 * 28 + 31 * 32, 4, 6, 7),
    ("boardfly(copper_order=turns, optical_order=turns)", 1024, 1024, 1024 + 32 * 28 + 31 * 32, 4, 6, 7),
    ("boardfly(copper_order=turns)", 1024, 1024, 1024 + 32 * 28 + 31 * 32, 3, 6, 8),
    ("megafly(leaves=4, spines=4, p=4, h=4)", 136, 272, 17 * 16 + 17 * 8, 4, 8, 5),
    ("hyperx(radices=[4, 4, 4], terminals=4)", 64, 256, 64 * 9 // 2, 9, 9, 3),  # diameter L
    ("fat_tree(k=4, n=3)", 48, 64, 128, 4, 8, 4),  # k^n terminals, n k^(n−1) switches
    ("xgft(down=[4, 4, 3], up=[1, 2, 2])", 12 + 6 + 4, 48, 12 * 2 + 6 * 2, 2, 6, 4),
    ("slim_fly(q=3)", 18, 18, 45, 5, 5, 2),
    ("slim_fly(q=4)", 32, 32, 96, 6, 6, 2),
    ("slim_fly(q=5)", 50, 50, 175, 7, 7, 2),  # the Hoffman–Singleton graph
    ("slim_fly(q=8)", 128, 128, 128 * 6, 12, 12, 2),
    ("slim_fly(q=9, terminals=2)", 162, 324, 162 * 13 // 2, 13, 13, 2),
    ("slim_fly(q=19, terminals=15)", 722, 10_830, 722 * 29 // 2, 29, 29, 2),  # Besta & Hoefler 2014: 10,830 endpoints
    ("polarfly(q=4)", 21, 21, 50, 4, 5, 2),
    ("polarfly(q=9)", 91, 91, 450, 9, 10, 2),
    ("polarfly(q=31)", 993, 993, 31 * 32 * 32 // 2, 31, 32, 2),  # Lakhotia et al. 2022: radix 32, 993 routers
    ("random_regular(nodes=50, degree=3)", 50, 50, 75, 3, 3, None),
    ("random_regular(nodes=10, degree=8, seed=2)", 10, 10, 40, 8, 8, None),
    ("random_regular(nodes=9, degree=8)", 9, 9, 36, 8, 8, 1),
    ("random_regular(nodes=1000, degree=7, seed=5)", 1000, 1000, 3500, 7, 7, None),
    ("jellyfish(switches=20, ports=8, degree=5)", 20, 60, 50, 5, 5, None),
    ("xpander(degree=5, lift=4, terminals=2)", 24, 48, 60, 5, 5, None),
    ("kautz(d=4, k=3)", 80, 80, 320, 4, 4, 3),
    ("de_bruijn(d=3, k=4)", 81, 81, 243 - 3, 2, 3, 4),
    ("tofu(radices=[2, 2, 2])", 96, 96, None, 7, 7, None),
    ("hamming_mesh(board=[2, 2], boards=[4, 4])", 80, 64, None, 4, 8, 4),
]


@pytest.mark.parametrize("row", CONSTANTS, ids=[row[0] for row in CONSTANTS])
def test_constants_of_a_machine(row):
    spelling, nodes, terminals, links, least, most, diameter = row
    topology = build(spelling)
    assert (topology.nodes, len(topology.terminals)) == (nodes, terminals)
    assert (topology.degrees.min(), topology.degrees.max()) == (least, most)
    assert links is None or topology.links == links
    graph = graph_of(topology)
    assert nx.is_strongly_connected(graph)
    assert diameter is None or nx.diameter(graph) == diameter


@pytest.mark.parametrize("q", [3, 5, 7, 11, 13])
def test_slim_fly_satisfies_its_definition(q):
    arcs = arcs_of(build(f"slim_fly(q={q})"))
    assert plain.slim_fly_is(arcs, q)


def test_the_smallest_slim_flies_of_odd_order_are_known_graphs():
    hoffman_singleton = nx.hoffman_singleton_graph()
    assert nx.is_isomorphic(graph_of(build("slim_fly(q=5)")).to_undirected(), hoffman_singleton)


def test_polarfly_has_its_quadrics():
    """q + 1 nodes of degree q, joined to none of each other (Lakhotia et al. 2022, sec. IV)."""
    for q in (3, 4, 5, 7, 8, 9):
        topology = build(f"polarfly(q={q})")
        quadrics = np.flatnonzero(topology.degrees == q)
        assert len(quadrics) == q + 1
        if q % 2:
            assert not np.isin(topology.ports[quadrics], quadrics).any()


@pytest.mark.parametrize(("down", "up"), [([2, 2], [1, 2]), ([3, 2, 2], [1, 2, 3]), ([2, 3, 2], [1, 3, 1])])
def test_generalised_fat_trees_are_built_recursively(down, up):
    topology = build(f"xgft(down={down}, up={up})")
    levels, edges = plain.xgft(down, up)
    switches = nx.Graph(edges)
    switches.remove_nodes_from(levels[0])
    assert topology.nodes == switches.number_of_nodes()
    terminals = Counter(topology.terminals.tolist())
    ours = nx.Graph(list(graph_of(topology).edges))
    nx.set_node_attributes(ours, {node: terminals[node] for node in ours}, "terminals")
    leaves = Counter(v for u, v in edges if u in set(levels[0]))
    nx.set_node_attributes(switches, {node: leaves[node] for node in switches}, "terminals")
    same = nx.algorithms.isomorphism.categorical_node_match("terminals", 0)
    assert nx.is_isomorphic(ours, switches, node_match=same)


def test_a_fat_tree_is_a_generalised_one():
    for k, n in ((2, 3), (3, 2), (4, 3)):
        tree, general = build(f"fat_tree(k={k}, n={n})"), build(f"xgft(down={[k] * n}, up={[1] + [k] * (n - 1)})")
        assert np.array_equal(tree.ports, general.ports)


def test_tofu_is_a_product_of_rings_and_lines():
    expected = nx.cycle_graph(3)
    for factor in (nx.cycle_graph(4), nx.cycle_graph(3), nx.path_graph(2), nx.cycle_graph(3), nx.path_graph(2)):
        expected = nx.cartesian_product(expected, factor)
    ours = graph_of(build("tofu(radices=[3, 4, 3])")).to_undirected()
    assert sorted(d for _, d in ours.degree) == sorted(d for _, d in expected.degree)
    assert nx.diameter(ours) == nx.diameter(expected)
    assert ours.number_of_edges() == expected.number_of_edges()


def test_random_graphs_depend_on_their_seed_only():
    for family in (
        "random_regular(nodes=40, degree=3",
        "xpander(degree=3, lift=10",
        "dragonfly(a=4, p=1, h=1, arrangement=random",
    ):
        first, again, other = (build(f"{family}, seed={seed})") for seed in (1, 1, 2))
        assert np.array_equal(first.ports, again.ports)
        assert not np.array_equal(first.ports, other.ports)


def test_random_dragonflies_join_every_two_groups_equally_often():
    for groups, each in ((9, 1), (5, 2), (3, 4)):
        arcs = arcs_of(build(f"dragonfly(a=4, p=1, h=2, groups={groups}, arrangement=random, seed=7)"))
        between = Counter()
        for (u, v), many in arcs.items():
            if u // 4 != v // 4:
                between[u // 4, v // 4] += many
        assert set(between.values()) == {each}
        assert len(between) == groups * (groups - 1)


def test_random_regular_graphs_are_spread():
    """Of 4 nodes with 2 links there are three rings, drawn about equally often (χ², 2 degrees of freedom)."""
    drawn = Counter(
        tuple(sorted(arcs_of(build(f"random_regular(nodes=4, degree=2, seed={seed})")))) for seed in range(300)
    )
    assert len(drawn) == 3
    assert sum((count - 100) ** 2 / 100 for count in drawn.values()) < 13.8  # 0.1 %; the seeds are fixed


def test_an_xpander_is_a_lift():
    """Every node has one neighbour among the copies of each other node of the complete graph."""
    topology = build("xpander(degree=6, lift=5)")
    for node in range(topology.nodes):
        assert sorted((topology.ports[node] // 5).tolist()) == [group for group in range(7) if group != node // 5]


@pytest.mark.parametrize(
    "spelling", ["hyperx(radices=[4, 2])", "hyperx(radices=[2, 3])", "hyperx(radices=[2, 2], widths=[3, 1])"]
)
def test_bisection_of_a_hyperx_by_trying_every_half(spelling):
    from itertools import combinations

    topology = build(spelling)
    n, arcs = topology.nodes, arcs_of(topology)
    least = min(
        sum(many for (u, v), many in arcs.items() if u in half and v not in half)
        for half in map(set, combinations(range(n), n // 2))
    )
    assert topology.plan.bisection == least


@pytest.mark.parametrize("q", [2, 3, 4, 5, 8, 9, 16, 25, 27])
def test_finite_fields(q):
    """The axioms, one by one."""
    add, negative, multiply, powers = finite_field(q)
    everyone = np.arange(q)
    for table in (add, multiply):
        assert np.array_equal(table, table.T)
        assert np.array_equal(table[table][:, :, everyone], table[everyone[:, None, None], table[None]])
    assert np.array_equal(add[0], everyone)
    assert np.array_equal(multiply[1], everyone)
    assert not add[everyone, negative].any()
    assert np.array_equal(multiply[everyone[:, None, None], add[None]], add[multiply[:, :, None], multiply[:, None, :]])
    assert all(sorted(row[1:]) == list(range(1, q)) for row in multiply[1:].tolist())
    assert sorted(powers.tolist()) == list(range(1, q))
    assert np.array_equal(powers[1:], multiply[powers[:-1], powers[1 % len(powers)]])


def test_plans_need_no_arrays():
    """A sweep counts machines that no computer could hold."""
    assert plan("dragonfly(a=512, p=256, h=256)")[1].nodes == 512 * (512 * 256 + 1)
    assert plan("fat_tree(k=64, n=8)")[1].nodes == 8 * 64**7
