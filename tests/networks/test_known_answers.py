"""Numbers of the papers and closed forms, against distances by SciPy's breadth-first search on our networks.

Short names: P98 Kwai & Parhami 1998, P04 Parhami & Kwai 2004, C10 Cámara et al. 2010, R05
Rahman et al. 2005. Means are per node (divided by N).
"""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction

import igraph
import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import Topology

from tests.networks.plain_networks import distances


def histogram(topology: Topology) -> np.ndarray:
    """int64[D+1]: ordered pairs at each distance, by one search per orbit of the verified symmetries."""
    found = orbits(topology)
    counts = np.zeros(topology.nodes, np.int64)
    for source, size in zip(found.representatives, found.sizes):
        hops = distances(topology.ports, source)
        counts += size * np.bincount(hops[np.isfinite(hops)].astype(np.int64), minlength=topology.nodes)
    return np.trim_zeros(counts, "b")


def diameter_and_mean(spelling: str) -> tuple[int, Fraction]:
    topology = build(spelling)
    pairs = histogram(topology)
    assert pairs.sum() == topology.nodes**2, "not connected"
    return len(pairs) - 1, Fraction(int(pairs @ np.arange(len(pairs))), topology.nodes**2)


# --- pruned and directed tori ------------------------------------------------------------------------

P98_P04_TABLE_1 = [
    # k, torus, T1 = pruned, T2, directed, pruned directed: diameter, mean
    (4, (6, 3), (6, 3.375), (6, 3.3125), (7, 3.9375), (9, 5.0625)),
    (8, (12, 6), (12, 6.21875), (12, 6.828125), (13, 6.9921875), (15, 8.8203125)),
    (16, (24, 12), (24, 12.1171875), (24, 13.7392578125), (25, 12.9990234375), (27, 15.2080078125)),
    (32, (48, 24), (48, 24.060546875), (48, 27.5225830078125), (49, 24.9998779296875), (51, 27.3648681640625)),
    (64, (96, 48), (96, 48.03076171875), (96, 55.06678771972656), (97, 48.99998474121094), (99, 51.43501281738281)),
]


@pytest.mark.parametrize("row", P98_P04_TABLE_1, ids=lambda row: f"k={row[0]}")
def test_p98_and_p04_table_1(row):
    k, torus, pruned, t2, directed, pruned_directed = row
    for spelling, (diameter, mean) in (
        (f"torus(k={k}, n=3)", torus),
        (f"pruned_torus(k={k}, n=3)", pruned),
        (f"pruned_t1(k={k})", pruned),
        (f"pruned_t2(k={k})", t2),
        (f"directed_torus(k={k}, n=3)", directed),
        (f"pruned_directed_torus(k={k}, n=3)", pruned_directed),
    ):
        ours = diameter_and_mean(spelling)
        assert (ours[0], float(ours[1])) == (diameter, mean), spelling


@pytest.mark.parametrize("k", [4, 6, 10, 14, 20])
def test_p98_theorem_4_and_p04_theorem_2(k):
    assert diameter_and_mean(f"pruned_torus(k={k}, n=3)") == (
        3 * k // 2,
        Fraction(3 * k, 4) + Fraction(2, k) - Fraction(2, k**2),
    )


@pytest.mark.parametrize("k", [4, 12, 20])
def test_p04_table_1_directed_where_4_divides_k(k):
    assert diameter_and_mean(f"directed_torus(k={k}, n=3)") == (
        3 * k // 2 + 1,
        Fraction(3 * k, 4) + 1 - Fraction(4, k**3),
    )


def test_p04_table_1_directed_is_wrong_for_k_6():
    """ "k even" is too wide: 1.5k + 1 = 10 and 1.5k + 3 = 12 are printed."""
    diameter, mean = diameter_and_mean("directed_torus(k=6, n=3)")
    assert (diameter, round(float(mean), 5)) == (9, 5.06481)
    assert diameter_and_mean("pruned_directed_torus(k=6, n=3)")[0] == 11


@pytest.mark.parametrize(
    ("k", "n", "diameter"), [(3, 4, 6), (6, 4, 13), (9, 4, 16), (12, 4, 24), (4, 5, 12), (8, 5, 22), (12, 5, 30)]
)
def test_p04_theorem_1(k, n, diameter):
    half = k // 2
    assert diameter == (n - 1) * half + (max(2 * n - 4, half) if k >= 2 * (n - 1) else max(n - 3 + half, k))
    assert diameter_and_mean(f"pruned_torus(k={k}, n={n})")[0] == diameter


def as_igraph(topology: Topology) -> igraph.Graph:
    tail, head, _ = topology.arcs
    return igraph.Graph(topology.nodes, np.stack([tail, head], axis=1)[tail < head].tolist())


@pytest.mark.parametrize("k", [2, 4, 6])
def test_p98_t1_is_the_pruned_torus(k):
    assert as_igraph(build(f"pruned_t1(k={k})")).isomorphic(as_igraph(build(f"pruned_torus(k={k}, n=3)")))


def test_p98_t1_and_t2_differ():
    assert not as_igraph(build("pruned_t1(k=4)")).isomorphic(as_igraph(build("pruned_t2(k=4)")))


def test_p98_pruned_2x2x2_torus_is_a_ring():
    tail, head, _ = build("pruned_torus(k=2, n=3)").arcs
    assert nx.is_isomorphic(nx.Graph(zip(tail.tolist(), head.tolist())), nx.cycle_graph(8))


@pytest.mark.parametrize("k", [2, 4, 6])
def test_p98_figure_2_pruned_along_xy_is_disconnected(k):
    """Into k/2 parts: x + y changes between 2j and 2j + 1 only."""
    assert len(as_igraph(build(f"pruned_xy(k={k})")).connected_components()) == k // 2


def test_p04_conclusions_partly_pruned_4d_torus():
    """Degree 6 instead of 8; the mean distance is between those of the torus, n·k/4, and of the pruned torus."""
    topology = build("partly_pruned_torus(k=6, n=4, intact=2)")
    assert topology.degrees.min() == topology.degrees.max() == 6
    assert Fraction(6) < diameter_and_mean(topology.spelling)[1] < diameter_and_mean("pruned_torus(k=6, n=4)")[1]


@pytest.mark.parametrize(
    ("spelling", "bisection"),
    [
        ("torus(k=8, n=3)", 128),  # P04 Table 1: 2k², k², k², 0.5k²
        ("pruned_torus(k=8, n=3)", 64),
        ("pruned_t1(k=8)", 64),
        ("directed_torus(k=8, n=3)", 64),
        ("pruned_directed_torus(k=8, n=3)", 32),
        ("pruned_torus(k=6, n=4)", 144),  # P04 Theorem 4: 2k^(n−1)/(n−1)
        ("pruned_torus(k=2, n=3)", None),  # the theorem does not apply: this is a ring of 8
        ("hypercube(n=12)", 2048),  # R05 Table 1
        ("mesh(k=64, n=2)", 64),
        ("rtt(a=8)", 32),  # C10 sec. 5.2: 4a
        ("rt(a=8)", 16),  # C10 sec. 5.1: 2a
        ("slice(radices=[5, 3], wrap=[true, false])", None),  # no even dimension
        ("slice(radices=[4, 3], wrap=[true, false])", None),  # the odd line is loaded most
        ("torus(radices=[5, 2])", None),  # no theorem: a side of 2 is one link, and the longest side is odd
    ],
)
def test_bisection_as_printed(spelling, bisection):
    assert build(spelling).plan.bisection == bisection


# --- twisted tori ------------------------------------------------------------------------------------

C10 = {
    "rt": lambda a: (Fraction(3 * a, 2), Fraction(3 * a, 4)),  # remark 3
    "rtt": lambda a: (a, Fraction(2 * a, 3) - Fraction(1, 6 * a)),  # corollary 7, exact for even a
    "pt": lambda a: (2 * a, a),  # remark 4
    "ptt": lambda a: (Fraction(3 * a, 2), Fraction(11 * a, 12) - Fraction(1, 6 * a)),  # proposition 9
    "pdtt": lambda a: (Fraction(3 * a, 2), Fraction(7 * a, 8) - Fraction(1, 4 * a)),  # remark 11
}


@pytest.mark.parametrize("a", [2, 4, 8, 10, 16])
@pytest.mark.parametrize("name", C10)
def test_c10_distances(name, a):
    assert diameter_and_mean(f"{name}(a={a})") == C10[name](a)


@pytest.mark.parametrize("a", [2, 3, 4, 5, 9, 16])
def test_c10_proposition_6(a):
    """Nodes of an RTT at each distance: 1, then 4d, and 2a − 1 at the diameter."""
    topology = build(f"rtt(a={a})")
    assert (histogram(topology) // topology.nodes).tolist() == [1, *(4 * d for d in range(1, a)), 2 * a - 1]


@pytest.mark.parametrize("a", [2, 3, 4, 6])
def test_c10_proposition_9_by_convolution(a):
    """PTT = RTT × ring of a nodes: distances add."""
    rtt = [1, *(4 * d for d in range(1, a)), 2 * a - 1]
    ring = np.bincount([min(i, a - i) for i in range(a)])
    topology = build(f"ptt(a={a})")
    assert (histogram(topology) // topology.nodes).tolist() == np.convolve(rtt, ring).tolist()


def test_illiac_is_a_circulant():
    """Index i = x + k·y joins i ± 1 and i ± k modulo k²: 'embeds a Hamiltonian ring' (C10 sec. 2)."""
    k = 7
    ports = build(f"illiac(k={k})").ports
    expected = {(i, (i + step) % (k * k)) for i in range(k * k) for step in (1, -1, k, -k)}
    assert {(i, int(j)) for i in range(k * k) for j in ports[i]} == expected


@pytest.mark.parametrize(("n", "steps"), [(6, [2, 3]), (15, [3, 5]), (16, [4, 3, 6]), (30, [6, 10, 15]), (17, [5])])
def test_circulants_without_step_1_are_isomorphic_to_networkx(n, steps):
    ours = nx.Graph()
    ours.add_edges_from(
        (i, int(j)) for i, row in enumerate(build(f"circulant(n={n}, steps={steps})").ports) for j in row
    )
    assert nx.is_isomorphic(ours, nx.circulant_graph(n, steps))


@pytest.mark.parametrize("side", range(2, 9))
def test_the_hexagonal_mesh_with_wraparounds_has_a_circle_of_6_d_nodes_at_each_distance(side):
    """Chen, Shin & Kandlur 1990: 3 t² − 3 t + 1 nodes, diameter t − 1."""
    found = (histogram(topology := build(f"hexagonal_torus(a={side - 1}, b={side})")) // topology.nodes).tolist()
    assert topology.nodes == 3 * side * side - 3 * side + 1
    assert found == [1, *(6 * distance for distance in range(1, side))]


@pytest.mark.parametrize(("a", "b"), [(1, 2), (2, 1), (0, 3), (2, 2), (3, 3), (2, 4), (1, 6), (5, 2), (6, 3)])
def test_a_hexagonal_torus_is_the_triangular_grid_wrapped(a, b):
    """Points of the plane that differ by whole numbers of a + bρ and of that turned by 60° are one node."""
    rho = complex(0.5, 3**0.5 / 2)
    alpha, nodes = a + b * rho, a * a + a * b + b * b

    def node(x, y):
        quotient = (x + y * rho) / alpha
        second = quotient.imag / rho.imag
        parts = quotient.real - second * rho.real, second
        return tuple(round(part * nodes) % nodes for part in parts)  # a fraction with this denominator

    plain = nx.Graph()
    for x, y in itertools.product(range(-a - b, a + b + 1), repeat=2):
        plain.add_edges_from((node(x, y), node(x + right, y + up)) for right, up in ((1, 0), (0, 1), (-1, 1)))
    ours = nx.Graph((i, int(j)) for i, row in enumerate(build(f"hexagonal_torus(a={a}, b={b})").ports) for j in row)
    assert len(plain) == len(ours) == nodes
    assert nx.is_isomorphic(ours, plain)
    if math.gcd(a, b) == 1:
        step = next(step for step in range(nodes) if (a + b * step) % nodes == 0)
        assert nx.is_isomorphic(ours, nx.circulant_graph(nodes, [1, step, step - 1]))


@pytest.mark.parametrize(
    ("n", "steps", "says"),
    [
        (8, [2, 4], "expected no divisor of n=8 common to all steps; all are multiples of 2"),
        (9, [0], "expected steps from 1 to 8"),
        (9, [10], "expected steps from 1 to 8; n + s is the same step as s"),
        (9, [], "expected 1 … 16 steps"),
        (1, [1], "n=1: expected ≥ 2"),
    ],
)
def test_circulants_that_are_none(n, steps, says):
    with pytest.raises(BadInput, match=re.escape(says)):
        build(f"circulant(n={n}, steps={steps})")


# --- hierarchical networks and their rivals ----------------------------------------------------------


@pytest.mark.parametrize(
    ("spelling", "links", "diameter", "mean"),
    [
        # R05 Table 1's networks; distances in the graph (R05 prints those of its routing)
        ("mh3dt(m=4, n=4, levels=2, q=0)", 12480, 18, Fraction("9.796875")),
        ("mh3dt(m=4, n=4, levels=2, q=1)", 12672, 17, Fraction("9.3046875")),
        ("mh3dt(m=4, n=4, levels=2, q=2)", 13056, 16, Fraction("8.8125")),
        ("h3dt(m=4, n=4, levels=2, q=0)", 9408, 24, Fraction("12.123046875")),
        ("h3dt(m=4, n=4, levels=2, q=2)", 9984, 18, Fraction("9.662109375")),
        ("hypercube(n=12)", 24576, 12, Fraction(6)),
    ],
)
def test_r05_table_1(spelling, links, diameter, mean):
    assert build(spelling).links == links
    assert diameter_and_mean(spelling) == (diameter, mean)


def test_r05_mesh_with_both_means():
    """64 × 64: R05 prints 42.67, the mean over distinct pairs."""
    topology = build("mesh(k=64, n=2)")
    rows = distances(build("mesh(k=64, n=1)").ports, np.arange(64))  # distances of the two dimensions add
    mean = 2 * Fraction(int(rows.sum()), 64**2)
    assert topology.links == 8064
    assert (round(float(mean), 3), round(float(mean * 4096 / 4095), 3)) == (42.656, 42.667)
    assert distances(topology.ports, 0).max() == 126


def test_r05_cube_connected_cycles():
    """The graph's own values, not R05's formulas ⌊5n/2⌋ = 22 and 7n/4 − 3 = 12.75."""
    diameter, mean = diameter_and_mean("ccc(n=9)")
    assert (build("ccc(n=9)").links, diameter, round(float(mean), 6)) == (6912, 20, 12.100694)


@pytest.mark.parametrize("n", [4, 5, 6, 8])
def test_cube_connected_cycles_diameter(n):
    """2n + ⌊n/2⌋ − 2 for n ≥ 4 (Friš, Havel & Liebl 1997)."""
    assert diameter_and_mean(f"ccc(n={n})")[0] == 2 * n + n // 2 - 2


def test_level_3_mh3dt():
    topology = build("mh3dt(m=4, n=4, levels=3, q=0)")
    diameter, mean = diameter_and_mean(topology.spelling)
    assert (topology.nodes, topology.links, diameter, round(float(mean), 4)) == (262144, 811008, 26, 14.4393)


@pytest.mark.parametrize(
    ("spelling", "links"),
    [
        # R05 Eq. 7: 3 m³ n^{3(L−1)} + Σ_{i=2..L} 3·2^q n^{3(L−1)}
        ("mh3dt(m=5, n=3, levels=2, q=1)", 3 * 125 * 27 + 3 * 2 * 27),
        ("mh3dt(m=3, n=3, levels=3, q=1)", 3 * 27 * 27**2 + 2 * 3 * 2 * 27**2),
        # 24 links in each 4 × 4 mesh; at levels 2 and 3 one link per gate
        ("tesh(m=2, levels=3, q=0)", 24 * 256 + 2 * 256 + 2 * 256),
    ],
)
def test_number_of_links(spelling, links):
    assert build(spelling).links == links
