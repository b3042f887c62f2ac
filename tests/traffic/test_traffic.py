"""Every traffic pattern against a plain loop over its definition; errors."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.symmetry import proved_symmetries
from torusweep.traffic import PATTERNS, traffic

from tests.questions.static.networks import network
from tests.traffic.test_multicast import MULTICAST

# --- the patterns as plain loops over their definitions (Dally & Towles 2004, Cámara et al. 2010, ours) ------


def everyone(n, share):
    return {(s, t): share(s, t) for s in range(n) for t in range(n)}


def permuted(n, destination):
    return {(s, destination(s)): 1 for s in range(n)}


def binary(number, bits):
    return format(number, f"0{bits}b")


def digits(number, sides):
    found = []
    for side in sides:
        found.append(number % side)
        number //= side
    return found


def number(address, sides):
    total, stride = 0, 1
    for digit, side in zip(address, sides):
        total += digit % side * stride
        stride *= side
    return total


def moved(sides, step):
    return permuted(
        math.prod(sides), lambda s: number([digit + shift for digit, shift in zip(digits(s, sides), step)], sides)
    )


def hot_region(n):
    region = math.ceil(n / 8)
    return everyone(n, lambda s, t: Fraction(3, 4) / n + (Fraction(1, 4) / region if t < region else 0))


MESH_LINKS = {
    (s, t): 1
    for s in range(9)
    for t in range(9)
    if sum(abs(a - b) for a, b in zip(digits(s, (3, 3)), digits(t, (3, 3)))) == 1
}

RING_LINKS = {(s, (s + d) % 5): Fraction(1, 2) for s in range(5) for d in (1, -1)}

# pattern, network, {(source, destination): demand}
ROWS = [
    ("uniform", "torus(k=3, n=2)", everyone(9, lambda s, t: Fraction(1, 9))),
    ("uniform_other", "torus(k=3, n=2)", everyone(9, lambda s, t: Fraction(s != t, 8))),
    ("all_to_all", "ring(k=2)", everyone(2, lambda s, t: int(s != t))),
    ("hot_region", "torus(radices=[8, 4])", hot_region(32)),
    ("hot_region", "ring(k=9)", hot_region(9)),
    ("hot_spot", "ring(k=5)", everyone(5, lambda s, t: Fraction(9, 50) + Fraction(t == 0, 10))),
    ("hot_spot(node=3, percent=100)", "ring(k=5)", everyone(5, lambda s, t: int(t == 3))),
    ("hot_spot(percent=12.5)", "ring(k=5)", everyone(5, lambda s, t: Fraction(7, 40) + Fraction(t == 0, 8))),
    ("hot_spot(percent=0)", "ring(k=5)", everyone(5, lambda s, t: Fraction(1, 5))),
    ("bit_complement", "torus(radices=[8, 4])", permuted(32, lambda s: 31 - s)),
    ("bit_reversal", "torus(radices=[8, 4])", permuted(32, lambda s: int(binary(s, 5)[::-1], 2))),
    ("perfect_shuffle", "torus(radices=[8, 4])", permuted(32, lambda s: int(binary(s, 5)[1:] + binary(s, 5)[0], 2))),
    ("perfect_shuffle", "ring(k=2)", permuted(2, lambda s: s)),
    ("transpose", "torus(k=4, n=2)", permuted(16, lambda s: int(binary(s, 4)[2:] + binary(s, 4)[:2], 2))),
    # exchanges x and y
    ("transpose", "torus(k=4, n=2)", permuted(16, lambda s: number(digits(s, (4, 4))[::-1], (4, 4)))),
    ("tornado", "ring(k=8)", permuted(8, lambda s: (s + 3) % 8)),
    ("tornado", "torus(radices=[7, 2, 4])", moved((7, 2, 4), (3, 0, 1))),
    ("neighbour", "torus(radices=[5, 3])", moved((5, 3), (1, 0))),
    ("neighbour", "mesh(k=3, n=2)", moved((3, 3), (1, 0))),
    ("ring_all_reduce", "ring(k=5)", moved((5,), (1,))),
    ("ring_all_reduce(bidirectional=true)", "ring(k=5)", RING_LINKS),
    ("all_reduce_by_dimension", "mesh(radices=[3, 2])", {
        **{pair: Fraction(4, 5) for pair in moved((3, 2), (1, 0))},
        **{pair: Fraction(1, 5) for pair in moved((3, 2), (0, 1))},
    }),
    ("shift", "ring(k=5)", {(s, (s + 2) % 5): Fraction(1) for s in range(5)}),
    ("shift(by=-3)", "hyperx(radices=[2, 2], terminals=2)", {(s, (s - 3) % 8): Fraction(1) for s in range(8)}),
    ("group_shift", "dragonfly(a=2, p=1, h=1)", {
        (s, t): Fraction(1, 2) for s in range(6) for t in range(6) if t // 2 == (s // 2 + 1) % 3
    }),
    ("group_shift(shift=-2)", "dragonfly(a=2, p=1, h=2, arrangement=consecutive)", {
        (s, t): Fraction(1, 2) for s in range(10) for t in range(10) if t // 2 == (s // 2 + 3) % 5
    }),
    ("nearest_neighbour", "ring(k=5)", RING_LINKS),
    ("nearest_neighbour", "mesh(k=3, n=2)", {pair: Fraction(9, len(MESH_LINKS)) for pair in MESH_LINKS}),
    ("nearest_neighbour", "torus(radices=[3, 3], directed=true)", {
        (s, number([a + (i == d) for i, a in enumerate(digits(s, (3, 3)))], (3, 3))): Fraction(1, 2)
        for s in range(9) for d in (0, 1)
    }),
]  # fmt: skip


def dense(matrix, n):
    dense = np.zeros((n, n))
    for (s, t), amount in matrix.items():
        dense[s, t] += float(amount)
    return dense


@pytest.mark.parametrize(("spelling", "topology", "definition"), ROWS, ids=[f"{row[0]} on {row[1]}" for row in ROWS])
def test_demands_of_a_pattern(spelling, topology, definition):
    built = build(topology)
    name, pattern = traffic(spelling, built)
    n, rows = len(built.terminals), np.arange(len(built.terminals))
    expected = dense(definition, n)
    assert name == spelling
    np.testing.assert_allclose(pattern.rows(rows), expected, rtol=1e-14, atol=0)
    np.testing.assert_allclose(pattern.columns(rows), expected.T, rtol=1e-14, atol=0)
    scaled = pattern.scaled_columns(rows)
    assert scaled is not None or name.partition("(")[0] not in ("uniform", "uniform_other", "all_to_all", "hot_region")
    if scaled is not None:
        others = ~np.eye(n, dtype=bool)
        np.testing.assert_array_equal(np.outer(*scaled)[others], pattern.columns(rows)[others])
    np.testing.assert_allclose(pattern.sent(), expected.sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(pattern.received(), expected.sum(axis=0), rtol=1e-13, atol=0)
    np.testing.assert_allclose(expected.sum(), n, rtol=1e-13)  # mean row sum 1


def test_a_random_permutation_is_one_and_depends_on_its_seed():
    ring = build("ring(k=200)")
    first, again, other = (
        traffic(f"random_permutation(seed={seed})", ring)[1].rows(np.arange(200)) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert Counter(first.ravel().tolist()) == {0.0: 200 * 199, 1.0: 200}
    assert (first.sum(axis=0) == 1).all()
    assert np.trace(first) < 10  # a random permutation has one fixed point on average


def test_every_pattern_has_a_row_and_names_its_source():
    tested = {row[0].partition("(")[0] for row in ROWS} | {"random_permutation", "demand"}
    assert tested == set(PATTERNS) - MULTICAST
    for name, pattern in PATTERNS.items():
        assert "Source: " in inspect.getdoc(pattern).splitlines()[-1], name


@pytest.mark.parametrize(
    ("pattern", "topology"),
    [
        *product(
            sorted(set(PATTERNS) - MULTICAST - {"demand", "transpose", "group_shift"}),
            ["torus(radices=[8, 4])", "mesh(k=4, n=2)", "rtt(a=4)"],
        ),
        *product(
            sorted(
                set(PATTERNS)
                - MULTICAST
                - {"demand", "transpose", "group_shift", "ring_all_reduce", "all_reduce_by_dimension"}
            ),
            ["pruned_torus(k=4, n=3)", "directed_torus(k=4, n=2)"],
        ),
    ],
)
def test_symmetric_patterns_are_preserved_by_automorphisms(pattern, topology):
    built = build(topology)
    found = traffic(pattern, built)[1]
    dense = found.rows(np.arange(built.nodes))
    kept = all(
        np.allclose(dense[np.ix_(image, image)], dense, rtol=1e-14, atol=0) for image in proved_symmetries(built)
    )
    assert kept or not found.symmetric
    if pattern in ("uniform", "uniform_other", "all_to_all", "nearest_neighbour"):
        assert found.symmetric


# --- terminals: several at a node, none at another -----------------------------------------------------


def test_traffic_between_nodes():
    # node 0 has two terminals (0 and 1), node 1 none, node 2 one (2)
    line = network(3, [(0, 1), (1, 2)], terminals=[0, 0, 2])
    pattern = traffic("uniform_other", line)[1]
    np.testing.assert_array_equal(pattern.rows(np.arange(3)), (1 - np.eye(3)) / 2)
    nodes = pattern.at_nodes(line.terminals, 3)
    expected = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 0]])  # in units of the flits of one terminal
    np.testing.assert_array_equal(nodes.rows(np.arange(3)), expected)
    np.testing.assert_array_equal(nodes.columns(np.array([2, 0])), expected.T[[2, 0]])
    np.testing.assert_array_equal(nodes.sent(), [2, 0, 1])


def test_the_terminals_of_a_hot_node_share_its_traffic():
    line = network(3, [(0, 1), (1, 2)], terminals=[0, 0, 2])
    np.testing.assert_allclose(traffic("hot_spot(node=0, percent=40)", line)[1].rows(np.array([2])), [[0.4, 0.4, 0.2]])


def test_neighbours_of_nodes_with_several_terminals():
    # a double and a single link; the single link leads to a node without terminal, so that all flits use the double one
    line = network(4, [(0, 1, 2), (1, 2), (1, 3)], terminals=[0, 1, 1, 3])
    found = traffic("nearest_neighbour", line)[1].rows(np.arange(4))
    over = np.array([[0, 2 / 2, 2 / 2, 0], [2 / 2, 0, 0, 1 / 2], [2 / 2, 0, 0, 1 / 2], [0, 1 / 2, 1 / 2, 0]])
    np.testing.assert_allclose(found, over * 4 / over.sum())


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelling", "topology", "says"),
    [
        ("unifrom", "ring(k=4)", "(did you mean 'uniform'?); there are uniform, "),
        (
            "uniform(",
            "ring(k=4)",
            "character 9: expected a parameter's name, got nothing more; write it like uniform or",
        ),
        ("", "ring(k=4)", "expected a traffic such as uniform or"),
        ("3", "ring(k=4)", "expected a traffic such as uniform or"),
        ("hot_spot(node=0.1)", "ring(k=4)", 'node: expected a whole number or a "string", got 0.1'),
        ("hot_spot(percent=100.5)", "ring(k=4)", "percent=100.5: expected 0 … 100"),
        ("uniform(k=3)", "ring(k=4)", "unknown parameter 'k'; uniform takes no parameters"),
        ("hot_spot(nod=3)", "ring(k=4)", "(did you mean 'node'?); hot_spot takes node, percent"),
        ("hot_spot(ring(k=4))", "ring(k=4)", "only name=value arguments"),
        ("hot_spot(percent=101)", "ring(k=4)", "percent=101: expected 0 … 100"),
        ("hot_spot(node=true)", "ring(k=4)", 'node: expected a whole number or a "string", got true'),
        ("hot_spot(node=4)", "ring(k=4)", "node=4: expected a node that has a terminal"),
        ("demand", "ring(k=4)", "parameter 'path' is missing"),
        ("uniform_other", "faulty(ring(k=2), nodes=1)", "terminals=1: expected two or more"),
        ("bit_complement", "ring(k=12)", "terminals=12: expected a power of 2"),
        ("bit_reversal", "mesh(k=3, n=2)", "terminals=9: expected a power of 2"),
        ("perfect_shuffle", "faulty(ring(k=8), nodes=1)", "terminals=7: expected a power of 2"),
        ("transpose", "torus(radices=[8, 4])", "terminals=2^5: expected a power of 4"),
        ("transpose", "ring(k=12)", "expected a power of 2"),
        ("tornado", "hypercube(n=3)", "radices=[2, 2, 2]: expected a radix above 2"),
        ("tornado", "faulty(ring(k=8), nodes=1)", "expected one at each of the 8 nodes"),
        ("ring_all_reduce", "concentrated(ring(k=4), terminals=2)", "expected one at each of the 4 nodes"),
        ("all_reduce_by_dimension", "concentrated(torus(k=4, n=2), terminals=2)", "one at each of the 16 nodes"),
        ("nearest_neighbour", "faulty(ring(k=4), links=4)", "expected a link between two terminals"),
    ],
)
def test_unsuitable_networks_are_refused(spelling, topology, says):
    with pytest.raises(BadInput) as refusal:
        traffic(spelling, build(topology))
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("side", [3, 4, 6, 8])
def test_transpose_of_a_square_network_exchanges_its_coordinates(side):
    pattern = traffic("transpose", build(f"torus(k={side}, n=2)"))[1]
    for x, y in product(range(side), range(side)):
        row = pattern.rows(np.array([y * side + x]))[0]
        assert row.nonzero()[0].tolist() == [x * side + y]
        assert row[x * side + y] == 1


@pytest.mark.parametrize("pattern", ["tornado", "neighbour"])
@pytest.mark.parametrize("spelling", ['graph(path="{}")', 'faulty(graph(path="{}"), links=1)'])
def test_networks_from_files_have_no_digits(tmp_path, pattern, spelling):
    path = tmp_path / "square.edgelist"
    path.write_text("0 1\n1 2\n2 3\n3 0\n")
    with pytest.raises(BadInput, match="nodes with addresses of digits"):
        traffic(pattern, build(spelling.format(path)))


def test_canonical_spellings():
    ring = build("ring(k=8)")
    spellings = [" uniform ", "uniform()", "hot_spot()", "hot_spot(percent=10)", "hot_spot( percent=20,node=3 )"]
    assert [traffic(spelling, ring)[0] for spelling in spellings] == [
        "uniform",
        "uniform",
        "hot_spot",
        "hot_spot",
        "hot_spot(node=3, percent=20)",
    ]
