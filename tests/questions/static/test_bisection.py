"""Bisection bounds against every balanced cut of small networks, and the spectrum against dense matrices."""

from dataclasses import replace
from math import ceil

import igraph
import numpy as np
import pytest
from scipy.sparse import csr_array
from torusweep.networks.cuts import balance, coordinate_cut, cut_width, metis, refined
from torusweep.networks.families import build
from torusweep.networks.links import channel_matrix
from torusweep.networks.symmetry import proved_symmetries
from torusweep.questions.static import bisection
from torusweep.questions.static.bisection import bisection_bounds, lower_bound, second_eigenvalue, translations

from tests.questions.static.networks import exact_bisection, network, random_network


def without_theorem(topology):
    return replace(topology, plan=replace(topology.plan, bisection=None))


def measured(topology, *, edge_connectivity=None):
    return bisection_bounds(
        topology, channel_matrix(topology), proved_symmetries(topology), edge_connectivity=edge_connectivity
    )


def laplacian(topology):
    weights = channel_matrix(topology).toarray().astype(float)
    weights = weights + weights.T if topology.directed else weights
    return np.diag(weights.sum(axis=1)) - weights


@pytest.mark.parametrize(
    "spelling",
    [
        "ring(k=9)",
        "torus(k=4, n=2)",
        "torus(k=3, n=2)",
        "mesh(radices=[3, 4])",
        "hypercube(n=4)",
        "directed_torus(k=4, n=2)",
        "sequin(k=4, s=1, t=2)",
    ]
    + [
        "torus(radices=[3, 4], directed=true)",
        "lattice(matrix=[[4, 1], [0, 3]])",
        "illiac(k=4)",
        "pruned_torus(k=2, n=3)",
    ]
    + ["rtt(a=2)", "rtt(a=3)"],
)
def test_every_balanced_cut_of_small_networks(spelling):
    topology = build(spelling)
    exact = exact_bisection(topology)
    found = measured(without_theorem(topology))
    assert found.lower <= exact == found.upper
    if topology.plan.bisection is not None:
        assert topology.plan.bisection == exact


@pytest.mark.parametrize("capacities", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_every_balanced_cut_of_random_networks(seed, directed, capacities):
    topology = random_network(9 + seed % 3, 2 + seed % 2, seed, directed=directed, capacities=capacities)
    found = measured(topology)
    assert found.lower <= exact_bisection(topology) <= found.upper


@pytest.mark.parametrize(
    ("spelling", "links"),
    [
        ("torus(k=8, n=3)", 128),  # P04 Table 1: 2k², k², k², 0.5k²
        ("pruned_torus(k=8, n=3)", 64),
        ("directed_torus(k=8, n=3)", 64),
        ("pruned_directed_torus(k=8, n=3)", 32),
        ("mh3dt(m=4, n=4, levels=2, q=0)", 32),  # R05 Table 1: 2^(q+1)·m·n
        ("mh3dt(m=4, n=4, levels=2, q=2)", 128),
        ("hypercube(n=10)", 512),
        ("mesh(k=64, n=2)", 64),  # R05 Table 1
        ("rtt(a=8)", 32),  # C10: 4a
    ],
)
def test_the_papers_values_are_the_best_cut(spelling, links):
    """Where a theorem is declared, the search finds a cut of that width without it."""
    topology = build(spelling)
    assert measured(topology).upper == links
    assert measured(without_theorem(topology)).upper == links


@pytest.mark.parametrize(
    "spelling",
    [
        "torus(k=8, n=3)",
        "pruned_torus(k=8, n=3)",
        "directed_torus(k=8, n=3)",
        "pruned_directed_torus(k=8, n=3)",
        "mh3dt(m=4, n=4, levels=2, q=2)",
    ]
    + ["hypercube(n=10)", "mesh(k=16, n=2)", "rtt(a=8)"],
)
def test_spectral_bound_against_a_cut_across_one_digit(spelling):
    """Two bounds that share no code: eigenvalues, and links counted across the middle of a digit."""
    topology = build(spelling)
    matrix = channel_matrix(topology)
    undirected = csr_array(matrix + matrix.T) if topology.directed else matrix
    bound, _ = lower_bound(topology, matrix, undirected, proved_symmetries(topology))
    digits, (tail, head, _) = topology.addresses(), topology.arcs
    cuts = [digits[:, d] < radix // 2 for d, radix in enumerate(topology.plan.radices) if radix % 2 == 0]
    assert 0 < bound <= min(int((cut[tail] & ~cut[head]).sum()) for cut in cuts)


@pytest.mark.parametrize(
    "spelling",
    [
        *(
            "pruned_torus(k=4, n=3)",
            "pruned_torus(k=6, n=3)",
            "pruned_torus(k=8, n=3)",
            "pruned_torus(k=6, n=4)",
            "pruned_t1(k=8)",
        ),
        *("pruned_directed_torus(k=4, n=3)", "pruned_directed_torus(k=8, n=3)", "pruned_directed_torus(k=6, n=4)"),
        *("torus(k=6, n=3)", "torus(radices=[8, 4])", "directed_torus(k=8, n=2)", "hypercube(n=6)"),
    ],
)
def test_no_cut_is_narrower_than_the_theorem(spelling):
    """Each pair of nodes on either side of a cut has a shortest path across it, so the ⌊N/2⌋⌈N/2⌉ pairs that
    a bisection parts need that number over the largest edge betweenness (by igraph). Where links have
    one direction and as many enter a node as leave it, half the links of the bidirectional network."""
    topology = build(spelling)
    tail, head, _ = topology.arcs
    links = {(min(u, v), max(u, v)) for u, v in zip(tail.tolist(), head.tolist())}
    n = topology.nodes
    betweenness = max(igraph.Graph(n, sorted(links)).edge_betweenness())
    narrowest = ceil((n // 2) * (n - n // 2) / betweenness - 1e-6)
    if topology.directed:
        assert len(links) == len(tail)
        assert np.array_equal(np.bincount(tail, minlength=n), np.bincount(head, minlength=n))
        narrowest = ceil(narrowest / 2)
    assert topology.plan.bisection == narrowest


@pytest.mark.parametrize("a", range(2, 9))
def test_the_girth_in_the_theorem_of_the_twisted_torus(a):
    """C10 sec. 5.2: a closed non-contractible boundary has at least 2a steps, the shortest vector of the lattice of
    (2a, 0) and (a, a)."""
    vectors = [(2 * a * i + a * j, a * j) for i in range(-3, 4) for j in range(-3, 4) if (i, j) != (0, 0)]
    assert build(f"rtt(a={a})").plan.bisection == 2 * min(abs(x) + abs(y) for x, y in vectors)


def test_a_theorem_gives_both_bounds_and_its_source():
    found = measured(build("pruned_torus(k=8, n=3)"))
    assert found[:2] == (64, 64)
    assert found.method.startswith("exact: Parhami & Kwai 2004, Theorem 4; ")


@pytest.mark.parametrize(
    ("nodes", "links", "expected"),
    [
        (1, [], (0, 0)),
        (4, [], (0, 0)),
        (4, [(0, 1), (2, 3)], (0, 0)),
        (2, [(0, 1, 5)], (5, 5)),
        (3, [(0, 1), (1, 2)], (1, 1)),
    ],
)
def test_tiny(nodes, links, expected):
    assert measured(network(nodes, links))[:2] == expected


def test_edge_connectivity_is_a_lower_bound_too():
    long_ring = without_theorem(build("ring(k=101)"))
    assert measured(long_ring)[:2] == (1, 2)
    assert measured(long_ring, edge_connectivity=2) == (
        2,
        2,
        "lower: edge connectivity; upper: cut across the nodes' numbers",
    )


@pytest.mark.parametrize(
    "spelling",
    ["torus(radices=[5, 4], directed=true)", "mesh(radices=[5, 3])", "ccc(n=3)", "faulty(torus(k=5, n=2), links=9)"],
)
def test_a_coordinate_cut_is_the_narrowest_of_all_windows(spelling):
    topology = build(spelling)
    matrix, n = channel_matrix(topology), topology.nodes
    for dimension in range(len(topology.plan.radices)):
        order = np.argsort(topology.addresses()[:, dimension], kind="stable")
        widths = []
        for offset in range(n):
            half = np.zeros(n, bool)
            half[np.roll(order, -offset)[: n // 2]] = True
            widths.append(cut_width(matrix, half))
        width, half = coordinate_cut(topology, dimension)
        assert (width, half.sum()) == (min(widths), n // 2)
        assert cut_width(matrix, half) == width


@pytest.mark.parametrize("seed", range(3))
def test_balancing_and_exchanges_keep_halves_and_never_widen(seed):
    topology = random_network(41, 4, seed, capacities=True)
    matrix = channel_matrix(topology)
    lopsided = np.arange(41) < 33
    half = balance(matrix, lopsided)
    better, width = refined(matrix, lopsided)
    assert half.sum() == better.sum() == 20
    assert width == cut_width(matrix, better) <= cut_width(matrix, half)
    once, again = list(metis(matrix, 8)), list(metis(matrix, 8))
    assert np.array_equal(once, again)
    assert len({half.tobytes() for half in once}) == len(once) <= 8


@pytest.mark.parametrize(
    ("spelling", "block"),  # block: number of orbits under translations
    [
        ("torus(radices=[4, 5, 2])", 1),
        ("torus(radices=[4, 3], directed=true)", 1),
        ("rtt(a=4)", 1),
        ("pdtt(a=3)", 1),
        ("lattice(matrix=[[6, 2, 1], [0, 5, 2], [0, 0, 3]])", 1),
        ("ccc(n=4)", 4),
        ("pruned_t2(k=4)", 8),
        ("h3dt(m=3, n=2, levels=2, q=0)", 27),
        ("sequin(k=5, s=1, t=2)", 25),
        ("faulty(torus(k=4, n=2), links=3)", 16),
    ],
)
def test_second_eigenvalue_by_blocks_against_the_dense_matrix(spelling, block):
    topology = build(spelling)
    images = proved_symmetries(topology)
    group = translations(topology, images)
    assert sorted(group.grid.ravel()) == list(range(topology.nodes))
    assert len(group.grid) <= block
    matrix = channel_matrix(topology)
    undirected = csr_array(matrix + matrix.T) if topology.directed else matrix
    exact = np.linalg.eigvalsh(laplacian(topology))[1]
    found = second_eigenvalue(topology, undirected, images)[0]
    assert exact - 1e-9 < found < exact + 1e-12


def test_the_margin_covers_rounding():
    """λ₂ = min over j of 4 sin²(πj/N) + 4 sin²(π·1009j/N), N = 1,000,003: characters of angles up to N turns."""
    n = 1_000_003
    topology = build(f"lattice(matrix=[[{n}, -1009], [0, 1]])")
    j = np.arange(1, n, dtype=np.int64)
    exact = (4 * np.sin(np.pi * j / n) ** 2 + 4 * np.sin(np.pi * (1009 * j % n) / n) ** 2).min()
    found = second_eigenvalue(topology, channel_matrix(topology), proved_symmetries(topology))[0]
    assert exact - 1e-13 < found < exact


def test_a_bound_that_contradicts_the_cut_is_discarded(monkeypatch):
    monkeypatch.setattr(bisection, "second_eigenvalue", lambda *_: (100.0, "wrong"))
    found = measured(without_theorem(build("ring(k=8)")))
    assert (found.lower, found.upper) == (None, 2)
    assert found.method.startswith("lower: no spectral bound: 200 contradicts the cut; upper: ")


@pytest.mark.parametrize(
    "spelling", ["mesh(radices=[7, 9])", "sequin(k=8, s=1, t=2)", "faulty(torus(k=8, n=2), links=20)", "ccc(n=4)"]
)
def test_inertia_proves_a_bound_close_to_the_eigenvalue(spelling, monkeypatch):
    monkeypatch.setattr(bisection, "BLOCK_WORK", 0)
    topology = build(spelling)
    found, method = second_eigenvalue(topology, channel_matrix(topology), [])
    exact = np.linalg.eigvalsh(laplacian(topology))[1]
    assert exact * (1 - 2e-6) < found < exact
    assert method == "spectral (Lanczos, proved by inertia)"


@pytest.mark.parametrize("eigenvalue", [2, 3, 10])
def test_inertia_rejects_another_eigenvalue(eigenvalue, monkeypatch):
    """Lanczos may converge to another eigenvalue, which is not a bound."""
    topology = build("mesh(radices=[7, 9])")
    wrong = np.linalg.eigvalsh(laplacian(topology))[eigenvalue]
    monkeypatch.setattr(bisection, "BLOCK_WORK", 0)
    monkeypatch.setattr(bisection, "_lanczos", lambda *_: wrong)
    assert second_eigenvalue(topology, channel_matrix(topology), [])[0] is None


@pytest.mark.parametrize("spelling", ["faulty(torus(k=8, n=3), links=2, seed=3)", "mesh(radices=[21, 23])"])
def test_one_large_block_by_inertia_and_by_solution(spelling, monkeypatch):
    """The two methods differ by at most two millionths."""
    topology = build(spelling)
    proved, how = second_eigenvalue(topology, channel_matrix(topology), [])
    assert how == "spectral (Lanczos, proved by inertia)"
    monkeypatch.setattr(bisection, "_lanczos", lambda *_: None)
    solved, how = second_eigenvalue(topology, channel_matrix(topology), [])
    assert how == f"spectral (all eigenvalues, 1 block of {topology.nodes})"
    exact = np.linalg.eigvalsh(laplacian(topology))[1]
    assert exact * (1 - 2e-6) < proved < solved < exact


def test_reason_for_no_spectral_bound(monkeypatch):
    monkeypatch.setattr(bisection, "BLOCK_WORK", 0)
    monkeypatch.setattr(bisection, "INERTIA_NODES", 10)
    monkeypatch.setattr(bisection, "CHOLESKY_NODES", 10)
    topology = build("faulty(torus(k=8, n=2), links=1)")
    found = measured(topology)
    assert found.lower is None
    assert found.method.startswith("lower: no spectral bound: blocks of 64 nodes")


def slim_fly(q: int) -> list[tuple[int, int]]:
    """Links of the graph of McKay, Miller and Širáň (1998) for a prime q = 1 mod 4: 2q² nodes of degree (3q − 1)/2."""
    squares = {x * x % q for x in range(1, q)}
    others = set(range(1, q)) - squares
    links = [(x * q + y, x * q + z) for x in range(q) for y in range(q) for z in range(y) if (y - z) % q in squares]
    links += [
        (q * q + m * q + c, q * q + m * q + d)
        for m in range(q)
        for c in range(q)
        for d in range(c)
        if (c - d) % q in others
    ]
    return links + [(x * q + (m * x + c) % q, q * q + m * q + c) for x in range(q) for m in range(q) for c in range(q)]


def test_the_spectral_bound_of_a_slim_fly():
    """q = 29: the second eigenvalue of its adjacency matrix is (q − 1)/2, that of its Laplacian q."""
    q = 29
    topology = network(2 * q * q, slim_fly(q))
    assert (topology.nodes, topology.plan.degree) == (2 * q * q, (3 * q - 1) // 2)
    matrix = channel_matrix(topology)
    lower, method = lower_bound(topology, matrix, matrix, ())
    assert "Cholesky" in method
    assert lower == ceil(q * topology.nodes / 4) == 12_195


@pytest.mark.parametrize("seed", range(4))
def test_cholesky_and_all_eigenvalues_agree(seed):
    topology = random_network(120, 30, seed, capacities=True)
    exact = np.linalg.eigvalsh(laplacian(topology))[1]
    found, _ = bisection._bound_by_cholesky(channel_matrix(topology))
    assert found is not None
    assert exact * (1 - 2e-6) < found <= exact
