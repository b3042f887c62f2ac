"""Parameters that no network has: refused in one line, by constraints that the docstrings state."""

from __future__ import annotations

import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import FAMILIES, build, plan

REFUSED = [
    ("torus(k=1, n=2)", "k=1: expected ≥ 2"),
    ("torus(k=-4, n=2)", "k=-4: expected ≥ 2"),
    ("torus(k=4)", "expected k and n"),
    ("torus(k=4, n=2, radices=[4, 4])", "not both"),
    ("torus(radices=[4, 1])", "sides ≥ 2"),
    ("torus(radices=[])", "at least one side"),
    ("torus(k=true, n=2)", "k: expected a whole number"),
    ("torus(k=4, n=31)", "1 … 30"),
    ("toruss(k=4, n=2)", "did you mean 'torus'?"),
    ("torus(K=4, n=2)", "unknown parameter 'K'"),
    ("ring()", "parameter 'k' is missing"),
    ("ring(torus(k=4, n=2))", "expected only name=value"),
    ("pruned_torus(k=5, n=3)", "k=5: expected a multiple of 2"),
    ("pruned_torus(k=4, n=2)", "n=2: expected 3 …"),
    ("partly_pruned_torus(k=6, n=4, intact=3)", "intact=3: expected at most n − 2 = 2"),
    ("partly_pruned_torus(k=5, n=4, intact=2)", "a multiple of 2"),
    ("pruned_t1(k=5)", "an even radix"),
    ("pruned_t2(k=7)", "an even radix"),
    ("pruned_xy(k=3)", "an even radix"),
    ("directed_torus(k=5, n=3)", "an even radix"),
    ("pruned_directed_torus(k=4, n=4)", "a multiple of 3"),
    ("pruned_directed_torus(k=9, n=4)", "an even radix"),
    ("rtt(a=1)", "a=1: expected ≥ 2"),
    ("twisted_torus(radices=[4, 4], twists={0: {1: 1}, 1: {0: 1}})", "in a circle"),
    ("twisted_torus(radices=[4, 4], twists={2: {0: 1}})", "dimensions 0 … 1"),
    ("twisted_torus(radices=[4, 4], twists={1: {1: 1}})", "other dimensions"),
    ("twisted_torus(radices=[4, 4], twists={1: 3})", "expected a map"),
    ("lattice(matrix=[[2, 4], [1, 2]])", "nonsingular"),
    ("lattice(matrix=[[2, 4], [1]])", "2 rows of 2 numbers"),
    ("lattice(matrix=[])", "1 … 16 rows"),
    ("sequin(k=2, s=1, t=1)", "k=2: expected ≥ 3"),
    ("ccc(n=2)", "n=2: expected 3 …"),
    ("tesh(m=3, levels=2, q=0)", "the papers at hand do not give the gates"),
    ("tesh(m=2, levels=4, q=0)", "the papers at hand do not give the gates"),
    ("tesh(m=2, levels=3, q=1)", "the papers at hand do not give the gates"),
    ("mh3dt(m=2, n=4, levels=2, q=0)", "m=2: expected ≥ 3"),
    ("mh3dt(m=4, n=4, levels=6, q=0)", "at most 5 levels with q=0"),
    ("h3dt(m=4, n=4, levels=3, q=2)", "at most 2 levels with q=2"),
    ("h3dt(m=4, n=4, levels=2, q=3)", "q=3: expected 0 … 2"),
    ("slice(radices=[4, 4], wrap=[true])", "wrap=[True]: expected 2 values"),
    ("slice(radices=[4, 4], wrap=[1, 0])", "wrap: expected a list of true and false, got [1, 0]"),
    ("slice(radices=[4, 1], wrap=[true, true])", "sides ≥ 2"),
    ("pod_slice(shape=[4])", "2 or 3 axes"),
    ("pod_slice(shape=[1, 1])", "2 chips or more"),
    ("pod_slice(shape=[4, 0])", "sides ≥ 1"),
    ("pod_slice(shape=[8, 32])", "sides of at most 16"),
    ("pod_slice(shape=[4, 4, 6])", "multiples of 4"),
    ("pod_slice(shape=[2, 8, 8])", "multiples of 4"),
    ("pod_slice(shape=[3, 3, 3])", "that divide 4"),
    ("pod_slice(shape=[4, 4, 4], twisted=true)", "sides k and 2k"),
    ("pod_slice(shape=[4, 4, 16], twisted=true)", "sides k and 2k"),
    ("pod_slice(shape=[1, 2, 2], twisted=true)", "sides k and 2k"),
    ("faulty(links=3)", "expected a network as the first argument"),
    ("faulty(ring(k=4), nodes=4)", "fewer than the network's 4"),
    ("faulty(ring(k=4), links=5)", "at most 4"),
    ("faulty(mesh(k=2, n=1), links=2)", "at most 1"),
    ("faulty(mesh(k=3, n=2), links=13)", "at most 12"),
    ("faulty(torus(k=1, n=2), links=1)", "k=1: expected ≥ 2"),
    ("hyperx(radices=[4, 1])", "sides ≥ 2"),
    ("hyperx(radices=[4, 4], widths=[1])", "widths=[1]: expected 2 values of 1 … 2³¹ − 1"),
    ("hyperx(radices=[4, 4], widths=[1, 0])", "expected 2 values of 1 … 2³¹ − 1"),
    ("dragonfly(a=4, p=2, h=2, groups=10)", "groups=10: expected 2 … 9"),
    ("dragonfly(a=4, p=2, h=2, groups=1)", "groups=1: expected 2 … 9"),
    ("dragonfly(a=4, p=2, h=2, local=[3, 2])", "sides with the product 4"),
    ("dragonfly(a=1, p=1, h=2, local=[])", "sides with the product 1"),
    ("dragonfly(a=4, p=2, h=2, arrangement=palm)", "palm_tree"),
    ("boardfly(groups=36, optical=1)", "groups=36: expected at most 33; every two groups share a link"),
    ("megafly(leaves=4, spines=4, p=4, h=4, groups=18)", "expected 2 … 17"),
    ("fat_tree(k=1, n=3)", "k=1: expected ≥ 2"),
    ("xgft(down=[4, 4], up=[2, 2])", "1 as the first value"),
    ("xgft(down=[4, 4], up=[1])", "2 values ≥ 1"),
    ("slim_fly(q=6)", "a power of a prime"),
    ("slim_fly(q=2)", "3 or more"),
    ("polarfly(q=10)", "a power of a prime"),
    ("polarfly(q=257)", "expected 2 … 256"),
    ("random_regular(nodes=5, degree=3)", "an even number"),
    ("random_regular(nodes=5, degree=5)", "fewer than the 5"),
    ("random_regular(nodes=8, degree=1)", "expected a connected graph"),
    ("jellyfish(switches=20, ports=5, degree=5)", "fewer than the 5 ports"),
    ("hamming_mesh(board=[2], boards=[3, 2])", "two values"),
    ("tofu(radices=[3, 3])", "three sides"),
    ("tofu(radices=[3, 1, 3])", "sides ≥ 2"),
    ("cube_pod(x=[1, 1], y=[0, 1], z=[0, 1])", "each of 0 … 1 once"),
    ("cube_pod(x=[1, 0], y=[0], z=[0, 1])", "each of 0 … 1 once"),
]


@pytest.mark.parametrize(("spelling", "reason"), REFUSED, ids=[row[0] for row in REFUSED])
def test_wrong_parameters_are_refused_in_one_line(spelling, reason):
    with pytest.raises(BadInput) as refusal:
        build(spelling)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).startswith((spelling.partition("(")[0], "unknown", "torus"))


@pytest.mark.parametrize(
    ("spelling", "reason"),
    [
        ("torus(k=10000, n=3)", "1,000,000,000,000 nodes"),
        ("torus(k=1000, n=3)", "GiB"),
        ("mh3dt(m=4, n=4, levels=5, q=0)", "1,073,741,824 nodes"),
        ("lattice(matrix=[[100000, 1], [1, 100000]])", "9,999,999,999"),
        ("faulty(torus(k=1000, n=3), links=4)", "GiB"),
    ],
)
def test_too_large_networks_are_refused_before_allocation(spelling, reason):
    with pytest.raises(Refused, match=reason):
        build(spelling, memory=2**33)


# spelling that violates a constraint although each parameter is in its range, words of the docstring that state it
CONSTRAINTS = [
    ("torus(k=4)", "Give k and n, or mixed radices"),
    ("mesh(k=4)", "Give k and n, or mixed radices"),
    ("torus(k=4, n=2, radices=[4, 4])", "not both"),
    ("mesh(k=4, n=2, radices=[4, 4])", "not both"),
    ("slice(radices=[4, 4], wrap=[true])", "wrap has as many values as radices"),
    ("pod_slice(shape=[4])", "2 or 3 axes"),
    ("pod_slice(shape=[8, 32])", "sides of at most 16"),
    ("pod_slice(shape=[4, 4, 6])", "multiples of 4, or all 1, 2 or 4"),
    ("pod_slice(shape=[4, 4, 4], twisted=true)", "sides k and 2k with k ≥ 2"),
    ("pruned_torus(k=5, n=3)", "k is a multiple of n − 1"),
    ("partly_pruned_torus(k=6, n=4, intact=3)", "intact is at most n − 2"),
    ("partly_pruned_torus(k=5, n=4, intact=2)", "k is a multiple of n − intact"),
    ("pruned_t1(k=5)", "k is even"),
    ("pruned_t2(k=7)", "k is even"),
    ("pruned_xy(k=3)", "k is even"),
    ("directed_torus(k=5, n=3)", "k is even"),
    ("pruned_directed_torus(k=9, n=4)", "k is even"),
    ("pruned_directed_torus(k=4, n=4)", "a multiple of n − 1"),
    ("twisted_torus(radices=[4, 4], twists={0: {1: 1}, 1: {0: 1}})", "in a circle are refused"),
    ("twisted_torus(radices=[4, 4], twists={2: {0: 1}})", "dimensions from 0 to n − 1"),
    ("twisted_torus(radices=[4, 4], twists={1: {1: 1}})", "other dimensions than their own"),
    ("lattice(matrix=[[2, 4], [1, 2]])", "nonsingular"),
    ("lattice(matrix=[[2, 4], [1]])", "square"),
    ("lattice(matrix=[])", "1 to 16 rows"),
    ("lattice(matrix=[[100000, 1], [1, 100000]])", "below 2³¹"),
    ("circulant(n=8, steps=[8])", "steps from 1 to n − 1"),
    ("circulant(n=8, steps=[2, 6])", "n and all steps have no common divisor"),
    ("hexagonal_torus(a=0, b=2)", "at least 7 nodes"),
    ("tesh(m=3, levels=2, q=0)", "m=2, 2 or 3 levels, q=0"),
    ("tesh(m=2, levels=4, q=0)", "m=2, 2 or 3 levels, q=0"),
    ("tesh(m=2, levels=3, q=1)", "m=2, 2 or 3 levels, q=0"),
    ("mh3dt(m=4, n=4, levels=6, q=0)", "at most 2^(2 − q) + 1 levels"),
    ("h3dt(m=4, n=4, levels=3, q=2)", "at most 2^(2 − q) + 1 levels"),
    ("faulty(ring(k=4), nodes=4)", "fewer faulty nodes than the network has"),
    ("faulty(ring(k=4), links=5)", "as many faulty links as the network has left"),
    ("without(ring(k=4), nodes=[4])", "nodes of the network"),
    ("with_links(ring(k=4), bandwidths=[1, 2])", "lists as long as there are classes"),
    ("hyperx(radices=[4, 4], widths=[1])", "widths has as many values as radices"),
    ("dragonfly(a=4, p=2, h=2, groups=10)", "2 … a·h + 1 groups"),
    ("dragonfly(a=4, p=2, h=2, local=[3, 2])", "the sides of local have the product a"),
    ("boardfly(groups=36, optical=1)", "at least as many optical links as there are other groups"),
    ("megafly(leaves=4, spines=4, p=4, h=4, groups=18)", "2 … spines·h + 1 groups"),
    ("xgft(down=[4, 4], up=[2, 2])", "w₁ = 1"),
    ("slim_fly(q=6)", "at least 3, and not 2 more than a multiple of 4"),
    ("polarfly(q=10)", "q is a power of a prime"),
    ("random_regular(nodes=5, degree=3)", "nodes × degree even"),
    ("random_regular(nodes=5, degree=5)", "degree < nodes"),
    ("jellyfish(switches=20, ports=5, degree=5)", "degree < ports"),
    ("hamming_mesh(board=[2], boards=[3, 2])", "two values in board and in boards"),
    ("cube_pod(x=[1, 1], y=[0, 1], z=[0, 1])", "permutations of the cubes"),
    ("tofu(radices=[3, 3])", "three radices"),
    ('graph(path="links.txt")', "a format that the contents or the suffix show"),
    ('graph(path="links.txt", format="csv")', "edgelist, adjlist, graphml, anynet"),
]


@pytest.mark.parametrize(("spelling", "words"), CONSTRAINTS, ids=[row[0] for row in CONSTRAINTS])
def test_docstrings_state_constraints(spelling, words):
    with pytest.raises(BadInput):
        plan(spelling)
    assert words in " ".join(FAMILIES[spelling.partition("(")[0]].__doc__.split())


def test_every_family_with_constraints_has_a_row():
    """Families that call `require` or whose docstring states constraints."""
    strict = {
        name
        for name, family in FAMILIES.items()
        if "Constraint" in family.__doc__ or "require" in family.__code__.co_names
    }
    assert strict <= {spelling.partition("(")[0] for spelling, _ in CONSTRAINTS}
