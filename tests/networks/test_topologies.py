"""Every family: its links against plain loops, its plan, symmetries and bisection width."""

from __future__ import annotations

import random
from itertools import combinations
from math import prod

import igraph
import numpy as np
import pytest
from torusweep.networks.families import FAMILIES, build, parameters, plan
from torusweep.networks.symmetry import is_automorphism, orbits, orbits_under
from torusweep.networks.topology import Topology

from tests.networks import plain_networks as plain
from tests.networks.plain_networks import arcs_of

# spelling, its arcs by plain loops, number of node orbits
ROWS = [
    ("ring(k=5)", lambda: plain.torus(5), 1),
    ("ring(k=2)", lambda: plain.torus(2), 1),
    ("torus(k=2, n=3)", lambda: plain.torus(2, 2, 2), 1),
    ("torus(radices=[5, 2, 3, 3])", lambda: plain.torus(5, 2, 3, 3), 1),
    ("torus(radices=[5, 2, 3], directed=true)", lambda: plain.torus(5, 2, 3, steps=(1,)), 1),
    ("mesh(k=4, n=2)", lambda: plain.torus(4, 4, wrap=False), 3),
    ("mesh(radices=[4, 2, 3])", lambda: plain.torus(4, 2, 3, wrap=False), 4),
    ("slice(radices=[5, 4], wrap=[true, false])", lambda: plain.torus(5, 4, wrap=(True, False)), 2),
    ("slice(radices=[3, 4, 2], wrap=[false, true, true])", lambda: plain.torus(3, 4, 2, wrap=(False, True, True)), 2),
    (
        "slice(radices=[4, 4, 4], wrap=[false, true, false])",
        lambda: plain.torus(4, 4, 4, wrap=(False, True, False)),
        3,
    ),
    ("slice(radices=[4, 3], wrap=[true, true])", lambda: plain.torus(4, 3), 1),
    ("slice(radices=[4, 2], wrap=[false, true])", lambda: plain.torus(4, 2, wrap=False), 2),
    ("pod_slice(shape=[4, 8])", lambda: plain.torus(4, 8, wrap=False), 8),
    ("pod_slice(shape=[8, 16])", lambda: plain.torus(8, 16, wrap=(False, True)), 4),
    ("pod_slice(shape=[2, 2, 1])", lambda: plain.torus(2, 2, wrap=False), 1),
    ("pod_slice(shape=[2, 4, 4])", lambda: plain.torus(2, 4, 4, wrap=False), 3),
    ("pod_slice(shape=[4, 4, 8])", lambda: plain.torus(4, 4, 8), 1),
    ("pod_slice(shape=[2, 4], twisted=true)", lambda: plain.twisted((2, 4), {0: {1: 2}}), 1),
    ("pod_slice(shape=[4, 4, 8], twisted=true)", lambda: plain.twisted((4, 4, 8), {0: {2: 4}, 1: {2: 4}}), 1),
    ("pod_slice(shape=[8, 4, 8], twisted=true)", lambda: plain.twisted((8, 4, 8), {1: {0: 4, 2: 4}}), 1),
    ("hypercube(n=5)", lambda: plain.torus(2, 2, 2, 2, 2), 1),
    ("pruned_torus(k=2, n=3)", lambda: plain.pruned(2, 3), 1),
    ("pruned_torus(k=4, n=3)", lambda: plain.pruned(4, 3), 1),
    ("pruned_torus(k=6, n=4)", lambda: plain.pruned(6, 4), 1),
    ("partly_pruned_torus(k=4, n=4, intact=2)", lambda: plain.pruned(4, 4, 2), 1),
    ("partly_pruned_torus(k=3, n=5, intact=2)", lambda: plain.pruned(3, 5, 2), 1),
    ("partly_pruned_torus(k=2, n=5, intact=3)", lambda: plain.pruned(2, 5, 3), 1),
    ("pruned_t1(k=2)", lambda: plain.t1(2), 1),
    ("pruned_t1(k=6)", lambda: plain.t1(6), 1),
    ("pruned_t2(k=2)", lambda: plain.t2(2), 1),
    ("pruned_t2(k=6)", lambda: plain.t2(6), 1),
    ("pruned_xy(k=2)", lambda: plain.t2(2, along_z=False), 1),
    ("pruned_xy(k=6)", lambda: plain.t2(6, along_z=False), 1),
    ("directed_torus(k=2, n=3)", lambda: plain.directed(2, 3), 1),
    ("directed_torus(k=6, n=2)", lambda: plain.directed(6, 2), 1),
    ("directed_torus(k=4, n=4)", lambda: plain.directed(4, 4), 1),
    ("pruned_directed_torus(k=2, n=3)", lambda: plain.pruned_directed(2, 3), 1),
    ("pruned_directed_torus(k=6, n=3)", lambda: plain.pruned_directed(6, 3), 1),
    ("pruned_directed_torus(k=6, n=4)", lambda: plain.pruned_directed(6, 4), 1),
    ("rt(a=3)", lambda: plain.torus(6, 3), 1),
    ("rtt(a=2)", lambda: plain.rtt(2), 1),
    ("rtt(a=5)", lambda: plain.rtt(5), 1),
    ("pt(a=3)", lambda: plain.torus(6, 3, 3), 1),
    ("ptt(a=3)", lambda: plain.ptt(3), 1),
    ("ptt(a=4)", lambda: plain.ptt(4), 1),
    ("pdtt(a=3)", lambda: plain.pdtt(3), 1),
    ("pdtt(a=4)", lambda: plain.pdtt(4), 1),
    ("twisted_torus(radices=[5, 4], twists={})", lambda: plain.torus(5, 4), 1),
    ("twisted_torus(radices=[5, 4], twists={1: {0: 3}})", lambda: plain.twisted((5, 4), {1: {0: 3}}), 1),
    (
        "twisted_torus(radices=[4, 3, 5], twists={1: {0: 9}, 2: {0: 2, 1: 4}})",
        lambda: plain.twisted((4, 3, 5), {1: {0: 9}, 2: {0: 2, 1: 4}}),
        1,
    ),
    (
        "twisted_torus(radices=[4, 3, 5], twists={0: {2: 1}, 2: {1: 4}})",
        lambda: plain.twisted((4, 3, 5), {0: {2: 1}, 2: {1: 4}}),
        1,
    ),
    ("illiac(k=5)", lambda: plain.twisted((5, 5), {0: {1: 1}}), 1),
    ("circulant(n=13, steps=[1, 5])", lambda: plain.circulant(13, 1, 5), 1),
    ("circulant(n=8, steps=[1, 3, 5])", lambda: plain.circulant(8, 1, 3, 5), 1),
    ("circulant(n=9, steps=[1])", lambda: plain.circulant(9, 1), 1),
    ("circulant(n=12, steps=[1, 6])", lambda: plain.circulant(12, 1, 6), 1),
    ("hexagonal_torus(a=3, b=4)", lambda: plain.circulant(37, 1, 27, 26), 1),  # 3 + 4 · 27 is 0 modulo 37
    ("sequin(k=3, s=1, t=1)", lambda: plain.sequin(3, 1, 1), 4),
    ("sequin(k=6, s=1, t=2)", lambda: plain.sequin(6, 1, 2), 18),
    ("sequin(k=7, s=3, t=3)", lambda: plain.sequin(7, 3, 3), 16),
    ("ccc(n=3)", lambda: plain.ccc(3), 1),
    ("ccc(n=5)", lambda: plain.ccc(5), 1),
    ("tesh(m=2, levels=2, q=0)", lambda: plain.tesh(2), 8),
    ("tesh(m=2, levels=3, q=0)", lambda: plain.tesh(3), 3),
    ("h3dt(m=4, n=3, levels=2, q=0)", lambda: plain.hierarchy(4, 3, 2, 0, wrap=False), 40),
    ("h3dt(m=3, n=2, levels=3, q=1)", lambda: plain.hierarchy(3, 2, 3, 1, wrap=False), 8),
    ("h3dt(m=5, n=2, levels=2, q=2)", lambda: plain.hierarchy(5, 2, 2, 2, wrap=False), 30),
    ("mh3dt(m=4, n=4, levels=2, q=0)", lambda: plain.hierarchy(4, 4, 2, 0, wrap=True), 18),
    ("mh3dt(m=3, n=3, levels=2, q=1)", lambda: plain.hierarchy(3, 3, 2, 1, wrap=True), 4),
    ("mh3dt(m=4, n=2, levels=3, q=1)", lambda: plain.hierarchy(4, 2, 3, 1, wrap=True), 12),
    ("mh3dt(m=4, n=4, levels=2, q=2)", lambda: plain.hierarchy(4, 4, 2, 2, wrap=True), 9),
]


@pytest.mark.parametrize(("spelling", "plain_arcs", "node_orbits"), ROWS, ids=[row[0] for row in ROWS])
def test_links_plan_and_orbits_of_a_family(spelling, plain_arcs, node_orbits):
    topology, expected = build(spelling), plain_arcs()
    assert arcs_of(topology).keys() == expected.keys()
    # if links of two classes coincide, only one is kept, of either class
    coincide = plan(spelling)[1].degree < len(topology.plan.radices) * (1 if topology.directed else 2)
    if not coincide:
        assert arcs_of(topology) == expected
    assert topology.plan.nodes == topology.nodes == prod(topology.plan.radices)
    assert topology.plan.degree == topology.degrees.max() == topology.ports.shape[1]
    assert topology.link_class.max() < len(topology.plan.classes)
    assert len(orbits(topology).sizes) == node_orbits


@pytest.mark.parametrize(
    "spelling",
    [
        "mesh(radices=[3, 3, 2])",
        "slice(radices=[5, 4], wrap=[true, false])",
        "slice(radices=[4, 3, 4], wrap=[false, true, false])",
        "slice(radices=[5, 3, 5], wrap=[true, false, true])",
        "sequin(k=6, s=1, t=2)",
        "sequin(k=5, s=2, t=2)",
        "tesh(m=2, levels=2, q=0)",
        "h3dt(m=4, n=3, levels=2, q=0)",
        "h3dt(m=3, n=3, levels=2, q=1)",
        "h3dt(m=3, n=2, levels=3, q=0)",
        "mh3dt(m=3, n=3, levels=2, q=0)",
        "mh3dt(m=5, n=3, levels=2, q=0)",
        "mh3dt(m=3, n=2, levels=3, q=1)",
        "mh3dt(m=4, n=3, levels=2, q=2)",
        "hyperx(radices=[3, 3])",
        "hyperx(radices=[4, 3, 2])",
        "dragonfly(a=4, p=1, h=2)",
        "fat_tree(k=3, n=3)",
        "xgft(down=[2, 3, 2], up=[1, 2, 3])",
        "hamming_mesh(board=[2, 3], boards=[3, 2])",
        "slim_fly(q=7)",
        "slim_fly(q=8)",
        "polarfly(q=4)",
        "polarfly(q=7)",
    ],
)
def test_declared_symmetries_are_complete(spelling):
    """Node orbits of all automorphisms that keep the terminals, by BLISS."""
    topology = build(spelling)
    tail, head, _ = topology.arcs
    links = igraph.Graph(topology.nodes, np.stack([tail, head], axis=1)[tail < head].tolist())
    terminals = np.bincount(topology.terminals, minlength=topology.nodes).tolist()
    whole = orbits_under(topology.nodes, [np.array(image) for image in links.automorphism_group(color=terminals)])
    assert np.array_equal(orbits(topology).member, whole.member)


def test_three_names_of_one_network():
    """C10 definition 5: the RTT is a twisted torus and a lattice graph, node for node."""
    named, twisted, lattice = (
        build(s)
        for s in ("rtt(a=6)", "twisted_torus(radices=[12, 6], twists={1: {0: 6}})", "lattice(matrix=[[12, 6], [0, 6]])")
    )
    for other in (twisted, lattice):
        assert np.array_equal(named.ports, other.ports)
        assert np.array_equal(named.link_class, other.link_class)


# --- symmetry is verified ----------------------------------------------------------------------------


def test_wrong_permutations_are_no_automorphisms():
    topology = build("torus(k=4, n=2)")
    same = np.arange(16, dtype=np.int32)
    exchanged = same.copy()
    exchanged[[0, 1]] = 1, 0
    assert is_automorphism(topology, same)
    assert not is_automorphism(topology, exchanged)
    assert not is_automorphism(topology, np.zeros(16, np.int32))
    one_terminal_less = Topology("", "", topology.plan, topology.ports, topology.link_class, None, same[1:])
    assert not is_automorphism(one_terminal_less, np.roll(same, 1))


# --- bisection ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelling",
    [
        *(
            "ring(k=5)",
            "ring(k=8)",
            "hypercube(n=4)",
            "mesh(k=3, n=2)",
            "mesh(radices=[5, 3])",
            "mesh(radices=[4, 3])",
            "mesh(radices=[3, 2, 2])",
        ),
        *(
            "torus(k=3, n=2)",
            "torus(k=4, n=2)",
            "torus(radices=[5, 3])",
            "torus(radices=[4, 3])",
            "torus(radices=[4, 2, 2])",
        ),
        *(
            "torus(k=4, n=2, directed=true)",
            "torus(k=3, n=2, directed=true)",
            "torus(radices=[4, 2, 2], directed=true)",
        ),
        *("directed_torus(k=4, n=2)", "directed_torus(k=2, n=3)", "rtt(a=2)", "rtt(a=3)"),
        *(
            "slice(radices=[4, 4], wrap=[true, false])",
            "slice(radices=[8, 2], wrap=[true, false])",
            "slice(radices=[6, 3], wrap=[true, false])",
            "slice(radices=[3, 4], wrap=[true, false])",
        ),
    ],
)
def test_bisection_by_trying_every_half(spelling):
    """The smallest number of arcs that leave or enter a set of ⌊N/2⌋ nodes."""
    topology = build(spelling)
    n = topology.nodes
    adjacent = np.zeros((n, n), np.int64)
    tail, head, _ = topology.arcs
    adjacent[tail, head] = 1
    halves = np.array([[i in half for i in range(n)] for half in combinations(range(n), n // 2)], np.int64)
    out = ((halves @ adjacent) * (1 - halves)).sum(axis=1)
    into = (((1 - halves) @ adjacent) * halves).sum(axis=1)
    assert topology.plan.bisection == min(out.min(), into.min())
    assert topology.plan.bisection_source


def test_plans_of_networks_that_do_not_fit_into_memory():
    """A sweep counts designs that no machine could hold."""
    assert plan("torus(k=10000, n=3)")[1].nodes == 10**12
    assert plan("faulty(torus(k=10000, n=3), links=4)")[1].nodes == 10**12


def test_canonical_spelling_has_no_defaults_and_the_order_of_the_signature():
    assert plan("torus(n=3,k=8,directed=false)")[0] == "torus(k=8, n=3)"
    assert plan("faulty(torus(n=2,k=8), seed=0, links=4)")[0] == "faulty(torus(k=8, n=2), links=4)"


@pytest.mark.parametrize("name", FAMILIES)
def test_every_parameter_has_a_meaning(name):
    assert "Source:" in FAMILIES[name].__doc__
    assert all(parameter.meaning for parameter in parameters(name))


def test_random_parameters():
    """Random sizes: `build` checks the arrays, `orbits` verifies the symmetries."""
    draw = random.Random(5)
    for _ in range(40):
        k, n, a, intact = 2 * draw.randint(1, 4), draw.randint(3, 4), draw.randint(2, 6), draw.randint(1, 2)
        period = n - intact
        twists = {1: {0: draw.randint(-9, 9)}, 2: {0: draw.randint(-9, 9), 1: draw.randint(-9, 9)}}
        for spelling in (
            f"pdtt(a={a})",
            f"directed_torus(k={k}, n={n - 1})",
            f"twisted_torus(radices=[{k}, {a}, {n}], twists={twists})",
            f"sequin(k={k + 1}, s={draw.randint(0, 9)}, t={draw.randint(0, 9)})",
            *(
                [f"partly_pruned_torus(k={period * draw.randint(1, 2) + period}, n={n}, intact={intact})"]
                if period > 1
                else []
            ),
        ):
            topology = build(spelling)
            assert topology.plan.degree == topology.degrees.max(), spelling
            orbits(topology)
