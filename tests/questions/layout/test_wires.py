"""Lengths and density of wires: plain counting, random networks, D90's rows of cubes, P04's volumes, errata."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep.networks.families import build
from torusweep.networks.topology import NO_PORT
from torusweep.papers.verification import verification_rows
from torusweep.papers.verification.quantities import is_layout
from torusweep.papers.verification.rows import PAPERS, expected_requests, load_expected
from torusweep.questions.layout.columns import LAYOUT
from torusweep.questions.layout.record import layout_record

from tests.questions.layout.plain_layout import (
    every,
    folded_ring,
    measured,
    straight_or_folded,
    torus_links,
    twisted_links,
)

ROWS = [row for row in load_expected(PAPERS) if is_layout(row.quantity)]


def assert_alike(record, expected):
    for name, value in expected.items():
        assert record[name] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value), name


@st.composite
def layouts(draw):
    sides = tuple(draw(st.lists(st.integers(2, 5), min_size=1, max_size=4)))
    space = draw(st.integers(1, min(3, len(sides))))
    block = draw(st.none() | st.tuples(*(st.sampled_from([b for b in range(1, k + 1) if k % b == 0]) for k in sides)))
    return sides, space, block, draw(st.booleans()), draw(st.booleans())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(layouts())
def test_random_tori_against_plain_counting(drawn):
    sides, space, block, fold, directed = drawn
    placement = (
        f"{'folded' if fold else 'straight'}(dimensions={space}{'' if block is None else f', block={list(block)}'})"
    )
    record = layout_record(build(f"torus(radices={list(sides)}{', directed=true' if directed else ''})"), placement)
    links = torus_links(sides, directed=directed)
    expected = measured(straight_or_folded(sides, space, fold=fold, block=block), links, directed=directed)
    assert_alike(record, expected)
    assert tuple(record) == tuple(column.name for column in LAYOUT)
    assert record["cables"] == (
        None if block is None else sum(row["wires"] for row in expected["wire_length_histogram"])
    )


@pytest.mark.parametrize(
    "topology",
    [
        "pruned_torus(k=4, n=3)",
        "directed_torus(k=4, n=2)",
        "mesh(k=4, n=3)",
        "h3dt(m=3, n=2, levels=2, q=0)",
        "ccc(n=3)",
    ],
)
def test_other_families_against_plain_counting(topology):
    network = build(topology)
    sides = network.plan.radices
    address = [tuple(reversed(a)) for a in every(tuple(reversed(sides)))]
    arcs = [(address[u], address[v]) for u, row in enumerate(network.ports.tolist()) for v in row if v != NO_PORT]
    links = arcs if network.directed else [tuple(sorted(link)) for link in {frozenset(link) for link in arcs}]
    for space in (2, 3)[: len(sides) - 1]:
        expected = measured(straight_or_folded(sides, space, fold=True), links, directed=network.directed)
        record = layout_record(network, f"folded(dimensions={space})")
        assert_alike(record, expected)


def test_lengths_by_class_are_those_of_the_dimensions():
    record = layout_record(build("torus(radices=[5, 4, 3])"), "straight(dimensions=2)")
    means = {"x": Fraction(4 * 1 + 4, 5), "y": Fraction(3 * 1 + 3, 4), "z": Fraction(5 * (2 * 1 + 2), 3)}
    assert record["per_class_wire_length"] == {
        name: {"mean": pytest.approx(float(mean)), "max": longest}
        for (name, mean), longest in zip(means.items(), (4, 3, 10))
    }


def test_one_cabinet_has_no_wires():
    record = layout_record(build("torus(k=4, n=2)"), "folded(block=[4, 4])")
    assert (
        record["cables"],
        record["wire_length_total"],
        record["wire_length_histogram"],
        record["per_class_wire_length"],
    ) == (0, 0, [], {})
    assert all(
        record[name] is None
        for name in ("wire_length_max", "wire_length_mean", "channel_width", "pins", "wire_density_position")
    )


def test_failed_nodes_keep_their_places():
    whole, faulty = (
        layout_record(build(spelling), "folded")
        for spelling in ("torus(k=5, n=2)", "faulty(torus(k=5, n=2), nodes=1, links=2)")
    )
    assert faulty["extent"] == whole["extent"]
    assert sum(row["wires"] for row in faulty["wire_length_histogram"]) == 50 - 4 - 2
    assert "1 faulty node" in faulty["notes"]


# --- D90 ---


def row_of_a_binary_cube(dimensions: int) -> list[int]:
    """Channels across each gap of a row of 2^dimensions nodes: two for every pair of nodes that differ in one bit."""
    size = 2**dimensions
    density = [0] * (size - 1)
    for node in range(size):
        for bit in range(dimensions):
            if not node >> bit & 1:
                for gap in range(node, node + 2**bit):
                    density[gap] += 2
    return density


def test_d90_fig_6_by_plain_counting():
    density = row_of_a_binary_cube(10)
    assert (max(density), density.index(max(density)) + 1, density[511]) == (1364, 341, 1024)
    printed = {row.quantity: row.value for row in ROWS if row.place == "Fig. 6"}
    assert printed == {"wire_density_peak": 1364, "wire_density_peak_position": 341, "wire_density_middle": 1024}


@pytest.mark.parametrize("n", [4, 8, 12])
@pytest.mark.parametrize("family", ["torus(k=2, n={n}, directed=true)", "hypercube(n={n})"])
def test_a_row_of_a_smaller_binary_cube(family, n):
    """Half of the dimensions lie in a row; at channel width 1, the middle has as many wires as there are nodes."""
    density = row_of_a_binary_cube(n // 2)
    record = layout_record(build(family.format(n=n)), "folded")
    assert record["wire_density_max"] == max(density)
    assert record["wire_density_position"] == density.index(max(density)) + 1
    assert record["wire_density_middle"] == density[len(density) // 2] == 2 ** (n // 2)
    assert (record["channel_width"], record["pins"]) == (1, 2 * n)
    assert record["wire_length_max"] == 2 ** (n // 2 - 1)


@pytest.mark.parametrize(("k", "n"), [(4, 2), (8, 2), (4, 4), (6, 2), (3, 2)])
def test_pins_and_width_under_d90s_bisection(k, n):
    """Eqs. 6, 7 and 9: 2N/k channels cross the middle, so W = k/2 and each of 2n channels of a node has W pins."""
    record = layout_record(build(f"torus(k={k}, n={n}, directed=true)"), "folded")
    assert (record["middle_channels"], record["channel_width"], record["pins"]) == (2 * k ** (n - 1), k / 2, n * k)


@pytest.mark.parametrize("row", [row for row in ROWS if row.place == "Eq. 13"], ids=lambda row: row.row)
def test_d90_eq_13_ignores_the_folding(row):
    """In a row, the nodes of a ring of the highest dimension are k^(n/2−1) places apart, in folded order."""
    k, n = {
        "torus(k=1024, n=2, directed=true)": (1024, 2),
        "torus(k=32, n=4, directed=true)": (32, 4),
        "torus(k=2, n=20, directed=true)": (2, 20),
    }[row.topology]
    order = folded_ring(k)
    at = {node: i for i, node in enumerate(order)}
    longest = k ** (n // 2 - 1) * max(abs(at[node] - at[(node + 1) % k]) for node in range(k))
    assert row.value == k ** (n // 2 - 1)
    assert (row.corrected or row.value) == longest


# --- P04 ---


@pytest.mark.parametrize("k", [4, 6, 8])
def test_volumes_of_folded_tori(k):
    """Every row along a dimension is a folded ring with two links across each gap: k² rows, or half if pruned."""
    torus, pruned = (
        layout_record(build(f"{family}(k={k}, n=3)"), "folded")["layout_volume"] for family in ("torus", "pruned_torus")
    )
    assert torus == pytest.approx(math.sqrt((2 * k * k) ** 3), rel=1e-12)
    assert pruned == pytest.approx(math.sqrt(2 * k * k * k * k * k * k), rel=1e-12)
    assert pruned < 3 * k**3  # P04's count
    assert torus < 8 * k**3


@pytest.mark.parametrize(
    ("topology", "placement", "volume"),
    [
        ("mesh(k=4, n=3)", "straight", 64),  # the nodes determine the volume: each row has one wire
        ("torus(k=5, n=2)", "folded", 10 * 10),
        ("ring(k=7)", "folded", 2 * 7),
        ("mesh(k=5, n=1)", "straight", 5),
        ("hypercube(n=4)", "straight", 8 * 8),  # two links across each gap of a row of 4; 4 rows
    ],
)
def test_volumes_by_hand(topology, placement, volume):
    assert layout_record(build(topology), placement)["layout_volume"] == volume


# --- the papers ---


def test_c10_and_p04_as_printed():
    found = {(row.paper, row.place, row.topology): row.value for row in ROWS if row.paper != "D90"}
    assert found[("C10", "Sec. 8.1", "rt(a=4)")] == 2
    assert found[("C10", "Sec. 8.2", "pdtt(a=8)")] == 4
    assert {value for (paper, _, topology), value in found.items() if paper == "C10" and "t(a" in topology} >= {
        math.sqrt(5)
    }
    for k in (8, 16):
        assert found[("P04", "Sec. 4.E", f"torus(k={k}, n=3)")] == 8 * k**3
        assert found[("P04", "Sec. 4.E", f"pruned_torus(k={k}, n=3)")] == 8 * k**3 / (2 * Fraction(4, 3))


def verdicts(papers, limit):
    requests = [pair for pair in expected_requests(papers)["layout"] if build(pair[0]).nodes <= limit]
    records = [layout_record(build(topology), request.placement) for topology, request in requests]
    rows = verification_rows({"layout": records}, papers)
    return {(row["topology"], row["quantity"]): row["verdict"] for row in rows if row["our_value"] is not None}


def test_the_papers_small_layouts_agree():
    found = verdicts(["P04", "C10"], 10_000)
    assert set(found.values()) == {"agrees"}
    assert len(found) == 10


def test_d90s_million_nodes():
    found = verdicts(["D90"], 2**20)
    assert sorted(found.values()) == ["agrees"] * 7 + ["paper in error"] * 2


def test_twisted_tori_by_hand():
    expected = measured(straight_or_folded((8, 4), 2, fold=True), twisted_links((8, 4), {1: (4, 0)}))
    assert_alike(layout_record(build("rtt(a=4)"), "folded"), expected)


def test_parallel_links_are_wires_of_their_own():
    """A 2-cube whose x links are three parallel ones, straight: 3 wires in each row, 1 in each column."""
    record = layout_record(build("hyperx(radices=[2, 2], widths=[3, 1])"), "straight")
    assert record["wire_length_histogram"] == [{"length": 1, "wires": 2 * 3 + 2 * 1}]
    assert (record["wire_length_total"], record["wire_density_max"]) == (8, 2 * 3)
    # two channels of each wire: 2 · 2 · 3 across x, 2 · 2 · 1 across y; a node has 4 wires, so 8 channels
    assert (record["middle_channels"], record["channel_width"], record["pins"]) == (4, 4 / 4, 8 * 4 / 4)


def test_failed_nodes_pay_for_no_wire_across_the_middle():
    """A ring of 6 less node 0, straight: 5 nodes in a line, one link, two channels, across the middle."""
    record = layout_record(build("without(ring(k=6), nodes=[0])"), "straight")
    assert (record["middle_channels"], record["channel_width"], record["pins"]) == (2, 5 / 2, 4 * 5 / 2)
