"""Placements: every place once, folded rings, bounds of trellis and shuffled foldings, cabinets, refusals."""

from __future__ import annotations

import itertools
import math

import igraph
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build, plan
from torusweep.questions.layout.placements import canonical, check_suits, place, sides_of, spelling_of
from torusweep.questions.layout.record import layout_record

from tests.questions.layout.plain_layout import every, folded_ring, straight_or_folded, torus_links, twisted_links


def places(topology: str, placement: str) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The place of every node by its address, x first."""
    planned = plan(topology)[1]
    found = place(placement, planned, topology)
    digits = (tuple(reversed(reversed_digits)) for reversed_digits in every(tuple(reversed(planned.radices))))
    return {a: tuple(found.positions[cabinet].tolist()) for a, cabinet in zip(digits, found.cabinet.tolist())}


def lengths(where: dict, links: list) -> list[tuple[int, ...]]:
    """The distance of the ends of each link along each dimension of space."""
    return [tuple(abs(p - q) for p, q in zip(where[u], where[v])) for u, v in links]


@pytest.mark.parametrize("k", range(2, 18))
def test_a_folded_ring_fills_its_row_from_both_ends(k):
    where = places(f"ring(k={k})", "folded")
    assert [where[(node,)] for node in folded_ring(k)] == [(i,) for i in range(k)]
    assert max(lengths(where, torus_links((k,)))) == (min(k - 1, 2),)


@pytest.mark.parametrize(("k", "n"), [*((k, 2) for k in range(3, 10)), *((k, 3) for k in range(3, 8))])
def test_a_folded_torus_has_no_wire_longer_than_two(k, n):
    found = lengths(places(f"torus(k={k}, n={n})", "folded"), torus_links((k,) * n))
    assert max(map(sum, found)) == 2
    record = layout_record(build(f"torus(k={k}, n={n})"), "folded")
    assert (record["wire_length_max"], record["wire_length_max_euclidean"]) == (2, 2.0)


@pytest.mark.parametrize(
    ("topology", "placement", "address", "where"),
    [
        ("torus(radices=[5, 4])", "straight", (3, 2), (3, 2)),
        ("torus(radices=[5, 4, 3])", "straight", (3, 2, 1), (3, 2, 1)),
        ("torus(radices=[5, 4, 3])", "straight(dimensions=2)", (3, 2, 1), (3 + 5 * 1, 2)),  # planes side by side
        ("torus(radices=[5, 4, 3])", "straight(dimensions=1)", (3, 2, 1), (3 + 5 * (2 + 4 * 1),)),
        ("torus(radices=[5, 4, 3])", "folded(dimensions=2)", (3, 2, 1), (3 + 5 * 2, 3)),
        ("mesh(k=3, n=4)", "straight", (2, 1, 1, 2), (2 + 3 * 1, 1 + 3 * 2)),  # beyond three dimensions, the plane
        (
            "mh3dt(m=3, n=2, levels=2, q=0)",
            "straight",
            (2, 1, 0, 0, 1, 1),
            (2, 1 + 3, 0 + 3),
        ),  # a module is a block in space
        ("tesh(m=2, levels=2, q=0)", "straight", (3, 1, 2, 0), (3 + 4 * 2, 1)),
        ("ccc(n=3)", "folded", (2, 1, 0, 1), (1 + 3 * 0, 1 + 2 * 1)),
        ("rtt(a=2)", "trellis", (0, 0), (0, 0)),
        ("rtt(a=2)", "trellis", (1, 0), (2, 1)),  # u = v = 1
        ("rtt(a=2)", "trellis", (3, 1), (0, 1)),  # u = 0, v = 2
        ("pdtt(a=3)", "shuffled", (4, 2, 1), (2 * 2 + 1, 1, 2)),
        ("torus(k=8, n=2)", "straight(block=[4, 2])", (5, 7), (1, 3)),
        ("torus(k=8, n=2)", "folded(block=[2, 2])", (5, 7), (3, 1)),
    ],
)
def test_the_place_of_a_node(topology, placement, address, where):
    assert places(topology, placement)[address] == where


@pytest.mark.parametrize("a", range(2, 17))
def test_trellis_folding_bounds_the_wires_of_an_rtt(a):
    where = places(f"rtt(a={a})", "trellis")
    assert sorted(where.values()) == every((2 * a, a))
    found = lengths(where, twisted_links((2 * a, a), {1: (a, 0)}))
    assert len(found) == 4 * a * a
    assert max(x * x + y * y for x, y in found) == 5
    assert max(map(sum, found)) == 3
    record = layout_record(build(f"rtt(a={a})"), "trellis")
    assert (record["wire_length_max"], record["wire_length_max_euclidean"]) == (3, math.sqrt(5))


@pytest.mark.parametrize("a", range(2, 7))
def test_trellis_folding_bounds_the_wires_of_a_ptt(a):
    where = places(f"ptt(a={a})", "trellis")
    assert sorted(where.values()) == every((2 * a, a, a))
    found = lengths(where, twisted_links((2 * a, a, a), {1: (a, 0, 0)}))
    assert max(sum(x * x for x in reach) for reach in found) == 5
    assert {reach for reach in found if reach[2]} <= {(0, 0, 1), (0, 0, 2)}  # z is a folded ring of its own


@pytest.mark.parametrize("a", range(2, 9))
@pytest.mark.parametrize(
    ("family", "dimensions", "twists"),
    [("rtt", 2, {1: (1, 0)}), ("ptt", 3, {1: (1, 0, 0)}), ("pdtt", 3, {1: (1, 0, 0), 2: (1, 0, 0)})],
)
def test_shuffling_bounds_the_wires_of_all_twisted_tori(family, dimensions, twists, a):
    sides = (2 * a, a, a)[:dimensions]
    where = places(f"{family}(a={a})", "shuffled")
    assert sorted(where.values()) == every(sides)
    found = lengths(where, twisted_links(sides, {j: tuple(a * s for s in shift) for j, shift in twists.items()}))
    assert max(map(sum, found)) == (4 if a > 2 else 3)


@pytest.mark.parametrize("a", [2, 4, 8, 16])
def test_wires_of_a_folded_rtt_grow(a):
    where = straight_or_folded((2 * a, a), 2, fold=True)
    longest = max(map(sum, lengths(where, twisted_links((2 * a, a), {1: (a, 0)}))))
    assert layout_record(build(f"rtt(a={a})"), "folded")["wire_length_max"] == longest == 2 * a


@pytest.mark.parametrize("a", [2, 3])
def test_no_layout_of_an_rtt_in_its_box_has_wires_within_two(a):
    """By exhaustive search (LAD) of the network as a subgraph of the places within 2, and within √5, of each other."""
    nodes, box = every((2 * a, a)), every((2 * a, a))
    network = igraph.Graph(
        len(nodes), [(nodes.index(u), nodes.index(v)) for u, v in twisted_links((2 * a, a), {1: (a, 0)})]
    )
    for reach, possible in ((4, False), (5, True)):
        near = [
            (i, j)
            for (i, p), (j, q) in itertools.combinations(enumerate(box), 2)
            if (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 <= reach
        ]
        assert igraph.Graph(len(box), near).subisomorphic_lad(network) is possible


@pytest.mark.parametrize(
    ("topology", "like"),
    [
        ("lattice(matrix=[[8, 4], [0, 4]])", "rtt(a=4)"),
        ("lattice(matrix=[[4, 4], [4, -4]])", "rtt(a=4)"),
        ("twisted_torus(radices=[8, 4, 4], twists={1: {0: 4}})", "ptt(a=4)"),
    ],
)
def test_a_twisted_torus_is_recognised_by_its_lattice(topology, like):
    assert np.array_equal(
        place("trellis", plan(topology)[1], "").positions, place("trellis", plan(like)[1], "").positions
    )


def test_the_long_dimension_may_be_y():
    where = places("twisted_torus(radices=[4, 8], twists={0: {1: 4}})", "trellis")
    found = lengths(where, twisted_links((4, 8), {0: (0, 4)}))
    assert sorted(where.values()) == every((4, 8))
    assert max(x * x + y * y for x, y in found) == 5


def test_cabinets_of_an_rtt_are_placed_as_a_smaller_rtt():
    """C10, sec. 8.1: 4 × 4 submeshes of the 32 × 16 RTT form the 8 × 4 RTT, with four parallel links for each link."""
    cabinets, small = (
        place("trellis(block=[4, 4])", plan("rtt(a=16)")[1], ""),
        place("trellis", plan("rtt(a=4)")[1], ""),
    )
    assert np.array_equal(cabinets.positions, small.positions)
    record, one = (
        layout_record(build("rtt(a=16)"), "trellis(block=[4, 4])"),
        layout_record(build("rtt(a=4)"), "trellis"),
    )
    assert record["cables"] == 4 * 64
    assert record["wire_length_histogram"] == [
        {"length": row["length"], "wires": 4 * row["wires"]} for row in one["wire_length_histogram"]
    ]
    assert (record["block"], record["layout_volume"]) == ([4, 4], None)


def test_cabinets_that_hold_the_whole_of_z_leave_a_ptt_flat():
    """C10, sec. 8.2: 8 × 8 × 32 nodes a cabinet (pair) of the 64 × 32 × 32 PTT, laid out as the 8 × 4 RTT."""
    record = layout_record(build("ptt(a=32)"), "trellis(block=[8, 8, 32])")
    assert record["extent"] == [8, 4, 1]
    assert record["cables"] == 64 * 8 * 32
    assert record["wire_length_max_euclidean"] == math.sqrt(5)


REFUSED = [
    ("torus(k=4, n=2)", "trellis", "one without twists"),
    ("pdtt(a=4)", "trellis", "dimensions 1 and 2; choose shuffled"),
    ("twisted_torus(radices=[16, 4], twists={1: {0: 8}})", "trellis", "got 16 × 4; choose shuffled"),
    ("illiac(k=4)", "shuffled", "twists of 3 along dimension 1"),
    ("sequin(k=8, s=1, t=2)", "shuffled", "no lattice"),
    ("faulty(rtt(a=4), links=1)", "trellis", "no lattice"),
    ("rtt(a=6)", "trellis(block=[4, 3])", "that a wraparound would split"),
    ("torus(k=4, n=2)", "folded(block=[3, 2])", "got 3 for 4"),
    ("torus(k=4, n=2)", "folded(block=[0, 2])", "got 0 for 4"),
    ("torus(k=4, n=2)", "folded(block=[2])", "expected 2 sides"),
    ("torus(k=4, n=2)", "folded(dimensions=3)", "expected at most 2"),
    ("torus(k=4, n=2)", "folded(dimensions=4)", "1 … 3"),
    ("torus(k=4, n=2)", "unfolded", "did you mean 'folded'"),
    ("torus(k=4, n=2)", "folded(sides=2)", "unknown parameter 'sides'"),
]


@pytest.mark.parametrize(("topology", "placement", "message"), REFUSED)
def test_refusals_take_one_line_and_precede_building(topology, placement, message):
    for refuse in (check_suits, place):
        with pytest.raises(BadInput) as caught:
            refuse(placement, plan(topology)[1], topology)
        assert message in str(caught.value)
        assert str(caught.value).isprintable()


def test_a_graph_has_no_addresses(tmp_path):
    file = tmp_path / "some.edges"
    file.write_text("0 1\n1 2\n")
    for spelling in (f'graph(path="{file}")', f'faulty(graph(path="{file}"), links=1)'):
        with pytest.raises(BadInput, match="nodes are only numbered"):
            check_suits("straight", plan(spelling)[1], spelling)


def test_placements_have_one_spelling():
    assert (
        canonical(" folded( block=[4,4] , dimensions=2 ) ")
        == "folded(dimensions=2, block=[4, 4])"
        == spelling_of("folded", 2, sides_of(["4, 4"]))
    )
    assert spelling_of("trellis") == canonical("trellis()") == "trellis"
    assert check_suits("trellis(block=[4,4])", plan("rtt(a=16)")[1], "") == "trellis(block=[4, 4])"
    with pytest.raises(BadInput):
        spelling_of("folded(dimensions=2)", 2)
    for wrong in ("4,x", ""):
        with pytest.raises(BadInput):
            sides_of([wrong])
