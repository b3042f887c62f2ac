"""papers/expected: the papers' numbers as printed, and the files that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import plan
from torusweep.networks.spelling import parse
from torusweep.papers.verification.quantities import is_deadlock, is_latency, is_layout, is_load, is_static
from torusweep.papers.verification.rows import PAPERS, Expected, expected_requests, expected_topologies, load_expected
from torusweep.questions.loads.stage import LoadsRequest

from tests.papers.plain_search import Address, distances

ROWS = load_expected(PAPERS)


def value(paper: str, place: str, topology: str, quantity: str) -> float:
    """The one number that the file has there."""
    found = [
        row.value
        for row in ROWS
        if (row.paper, row.place, row.topology, row.quantity) == (paper, place, topology, quantity)
    ]
    assert len(found) == 1, (paper, place, topology, quantity, found)
    return found[0]


# --- as printed -----------------------------------------------------------------------------------

P98_TABLE_1 = [  # k, diameter of all three, mean distance of the torus, T1, T2
    (4, 6, 3, 3.38, 3.31),
    (8, 12, 6, 6.22, 6.83),
    (16, 24, 12, 12.12, 13.74),
    (32, 48, 24, 24.06, 27.52),
    (64, 96, 48, 48.03, 55.07),
]


@pytest.mark.parametrize(("k", "diameter", "torus", "t1", "t2"), P98_TABLE_1)
def test_p98_table_1(k: int, diameter: int, torus: float, t1: float, t2: float) -> None:
    for topology, mean in ((f"torus(k={k}, n=3)", torus), (f"pruned_t1(k={k})", t1), (f"pruned_t2(k={k})", t2)):
        assert value("P98", "Table 1", topology, "diameter") == diameter
        assert value("P98", "Table 1", topology, "mean_distance") == mean


R05_COLUMNS = (
    "hypercube(n=12)",
    "mesh(k=64, n=2)",
    "ccc(n=9)",
    "tesh(m=2, levels=3, q=0)",
    "h3dt(m=4, n=4, levels=2, q=0)",
    "mh3dt(m=4, n=4, levels=2, q=0)",
    "h3dt(m=4, n=4, levels=2, q=2)",
    "mh3dt(m=4, n=4, levels=2, q=2)",
)
R05_TABLE_1 = {
    "node degree": (12, 4, 3, 4, 6, 8, 6, 8),
    "diameter": (12, 126, 22, 32, 25, 20, 21, 18),
    "cost": (144, 504, 66, 128, 150, 160, 126, 144),
    "average distance": (6, 42.67, 12.75, 17.80, 12.74, 10.36, 10.77, 9.37),
    "arc connectivity": (12, 2, 3, 2, 3, 6, 3, 6),
    "bisection width": (2048, 64, 256, 8, 32, 32, 128, 128),
    "wiring complexity": (24576, 8064, 6912, 6688, 9408, 12480, 9792, 12864),
}


@pytest.mark.parametrize("row", R05_TABLE_1)
def test_r05_table_1(row: str) -> None:
    for topology, printed in zip(R05_COLUMNS, R05_TABLE_1[row], strict=True):
        found = [
            r.value
            for r in ROWS
            if r.paper == "R05" and r.place == "Table 1" and r.topology == topology and r.row.endswith(f": {row}")
        ]
        assert found == [printed]


def half(k: int) -> int:
    return k // 2


# place, family, quantity, what the paper's formula gives at the network's parameters
FORMULAS: list[tuple[str, str, str, str, Callable[..., Fraction | int]]] = [
    ("P98", "Theorem 3", "pruned_t1", "diameter", lambda k: Fraction(3 * k, 2)),
    ("P98", "Theorem 3", "pruned_t2", "diameter", lambda k: Fraction(3 * k, 2)),
    (
        "P98",
        "Theorem 4",
        "pruned_t1",
        "mean_distance",
        lambda k: Fraction(3 * k, 4) + 2 * (Fraction(1, k) - Fraction(1, k * k)),
    ),
    ("P04", "Table 1", "torus", "degree_max", lambda k, n: 6),
    ("P04", "Table 1", "torus", "diameter", lambda k, n: Fraction(3 * k, 2)),
    ("P04", "Table 1", "torus", "mean_distance", lambda k, n: Fraction(3 * k, 4)),
    ("P04", "Table 1", "torus", "fault_diameter[2]", lambda k, n: Fraction(3 * k, 2) + 1),
    ("P04", "Table 1", "torus", "bisection_upper", lambda k, n: 2 * k * k),
    ("P04", "Table 1", "pruned_torus", "degree_max", lambda k, n: 4),
    ("P04", "Table 1", "pruned_torus", "diameter", lambda k, n: Fraction(3 * k, 2)),
    (
        "P04",
        "Table 1",
        "pruned_torus",
        "mean_distance",
        lambda k, n: Fraction(3 * k, 4) + Fraction(2, k) - Fraction(2, k * k),
    ),
    ("P04", "Table 1", "pruned_torus", "fault_diameter[3]", lambda k, n: Fraction(3 * k, 2) + half(k + 1) - n + 2),
    ("P04", "Table 1", "pruned_torus", "bisection_upper", lambda k, n: k * k),
    ("P04", "Table 1", "directed_torus", "degree_max", lambda k, n: 3),
    ("P04", "Table 1", "directed_torus", "diameter", lambda k, n: Fraction(3 * k, 2) + 1),
    ("P04", "Table 1", "directed_torus", "mean_distance", lambda k, n: Fraction(3 * k, 4) + 1 - Fraction(4, k**3)),
    ("P04", "Table 1", "directed_torus", "bisection_upper", lambda k, n: k * k),
    ("P04", "Table 1", "pruned_directed_torus", "degree_max", lambda k, n: 2),
    ("P04", "Table 1", "pruned_directed_torus", "diameter", lambda k, n: Fraction(3 * k, 2) + 3),
    (
        "P04",
        "Table 1",
        "pruned_directed_torus",
        "mean_distance",
        lambda k, n: Fraction(3 * k, 4) + Fraction(7, 2) - Fraction(4, k),
    ),
    ("P04", "Table 1", "pruned_directed_torus", "bisection_upper", lambda k, n: Fraction(k * k, 2)),
    (
        "P04",
        "Theorem 1",
        "pruned_torus",
        "diameter",
        lambda k, n: (n - 1) * half(k) + (max(n - 3 + half(k), k) if k == n - 1 else max(2 * n - 4, half(k))),
    ),
    (
        "P04",
        "Theorem 2",
        "pruned_torus",
        "mean_distance",
        lambda k, n: Fraction(3 * k, 4) + Fraction(2, k) - Fraction(2, k * k),
    ),
    ("P04", "Theorem 3", "pruned_torus", "fault_diameter[3]", lambda k, n: (n - 1) * half(k) + k - n + 2),
    ("P04", "Theorem 4", "pruned_torus", "bisection_upper", lambda k, n: Fraction(2 * k ** (n - 1), n - 1)),
    ("P04", "Sec. 5", "torus", "saturation_load", lambda k, n: 6 / Fraction(3 * k, 4)),
    (
        "P04",
        "Sec. 5",
        "pruned_torus",
        "saturation_load",
        lambda k, n: 4 / (Fraction(3 * k, 4) + Fraction(2, k) - Fraction(2, k * k)),
    ),
    (
        "P04",
        "Sec. 5",
        "directed_torus",
        "saturation_load",
        lambda k, n: 3 / (Fraction(3 * k, 4) + 1 - Fraction(4, k**3)),
    ),
    ("D90", "Eq. 1", "torus", "nodes", lambda k, n, directed: k**n),
    ("D90", "Eq. 11", "torus", "mean_distance", lambda k, n, directed: Fraction(k - 1, 2) * n),
    ("D90", "Eq. 6", "torus", "bisection_channels", lambda k, n, directed: Fraction(2 * k**n, k)),
    ("C10", "Remark 2", "ring", "diameter", lambda k: Fraction(k, 2)),
    ("C10", "Remark 2", "ring", "mean_distance", lambda k: Fraction(k, 4)),
    ("C10", "Remark 3", "rt", "diameter", lambda a: Fraction(3 * a, 2)),
    ("C10", "Remark 3", "rt", "mean_distance", lambda a: Fraction(3 * a, 4)),
    ("C10", "Remark 4", "pt", "diameter", lambda a: 2 * a),
    ("C10", "Remark 4", "pt", "mean_distance", lambda a: a),
    ("C10", "Corollary 7", "rtt", "diameter", lambda a: a),
    ("C10", "Corollary 7", "rtt", "mean_distance", lambda a: Fraction(2 * a, 3)),
    ("C10", "Proposition 9", "ptt", "diameter", lambda a: Fraction(3 * a, 2)),
    ("C10", "Proposition 9", "ptt", "mean_distance", lambda a: Fraction(11 * a, 12)),
    ("C10", "Remark 11", "pdtt", "diameter", lambda a: Fraction(3 * a, 2)),
    ("C10", "Remark 11", "pdtt", "mean_distance", lambda a: Fraction(7 * a, 8)),
    ("C10", "Sec. 5.1", "rt", "bisection_upper", lambda a: 2 * a),
    ("C10", "Sec. 5.2", "rtt", "bisection_upper", lambda a: 4 * a),
    ("C10", "Sec. 5", "rt", "saturation_load", lambda a: Fraction(4, a)),
    ("C10", "Sec. 5", "rtt", "saturation_load", lambda a: Fraction(6, a)),
    ("C10", "Sec. 5", "pdtt", "saturation_load", lambda a: Fraction(48, 7 * a)),
    ("C10", "Sec. 5", "pt", "saturation_load", lambda a: Fraction(4, a)),
    ("C10", "Sec. 5", "ptt", "saturation_load", lambda a: Fraction(6, a)),
    ("C10", "Sec. 3", "ptt", "mean_hops[x]", lambda a: Fraction(a, 3)),
    ("C10", "Sec. 3", "ptt", "mean_hops[z]", lambda a: Fraction(a, 4)),
    ("C10", "Sec. 3", "pdtt", "mean_hops[y]", lambda a: Fraction(7 * a, 24)),
    ("R05", "Sec. 2", "mh3dt", "nodes", lambda m, n, levels, q: m**3 * n ** (3 * (levels - 1))),
    ("R05", "Eq. 6", "mh3dt", "bisection_upper", lambda m, n, levels, q: 2 ** (q + 1) * m * n),
    (
        "R05",
        "Eq. 7",
        "mh3dt",
        "links",
        lambda m, n, levels, q: (
            3 * m**3 * n ** (3 * (levels - 1)) + sum(3 * 2**q * n ** (3 * (levels - 1)) for _ in range(2, levels + 1))
        ),
    ),
]


@pytest.mark.parametrize(("paper", "place", "family", "quantity", "formula"), FORMULAS)
def test_values_are_the_papers_formulas(
    paper: str, place: str, family: str, quantity: str, formula: Callable[..., Fraction | int]
) -> None:
    chosen = [
        r
        for r in ROWS
        if (r.paper, r.place, r.quantity) == (paper, place, quantity) and parse(r.topology or "none()").name == family
    ]
    assert chosen
    for row in chosen:
        assert row.value == pytest.approx(float(formula(**parse(row.topology).arguments)), rel=1e-12), row


@pytest.mark.parametrize(("a", "last"), [(4, 7), (8, 15), (16, 31), (32, 63)])
def test_c10_proposition_6(a: int, last: int) -> None:
    rows = [r for r in ROWS if r.place == "Proposition 6" and r.topology == f"rtt(a={a})"]
    distances = [int(r.quantity.removeprefix("nodes_at_distance[").rstrip("]")) for r in rows]
    assert [r.value for r in rows] == [{0: 1, a: last}.get(d, 4 * d) for d in distances]
    if a <= 8:
        assert sum(r.value for r in rows) == 2 * a * a  # all of them, so all nodes


# --- the files ------------------------------------------------------------------------------------


def test_spellings_are_canonical_and_quantities_known() -> None:
    for row in ROWS:
        assert row.waits_for or any(
            answers(row.quantity) for answers in (is_static, is_load, is_deadlock, is_layout, is_latency)
        ), row
        assert not row.topology or plan(row.topology)[0] == row.topology, row
        assert row.corrected is None or abs(row.corrected - row.value) > row.tolerance, row
        assert row.tolerance >= 0


def rtt_mean(a: int) -> Fraction:
    """Mean distance of an RTT, exact for even a: 4d nodes at each distance d < a, 2a - 1 at a (C10, Prop. 6)."""
    return Fraction(sum(4 * d * d for d in range(a)) + a * (2 * a - 1), 2 * a * a)


def pdtt_mean(a: int) -> Fraction:
    """Mean distance of a PDTT, by breadth-first search: both wraparounds shift x by a (C10, sec. 3.4)."""

    def neighbours(node: Address) -> Iterable[Address]:
        x, y, z = node
        for step in (1, -1):
            yield ((x + step) % (2 * a), y, z)
            yield ((x + a * (not 0 <= y + step < a)) % (2 * a), (y + step) % a, z)
            yield ((x + a * (not 0 <= z + step < a)) % (2 * a), y, (z + step) % a)

    found = distances(neighbours, (0, 0, 0)).values()
    return Fraction(sum(found), len(found))


@pytest.mark.parametrize("a", [4, 16, 32])
def test_what_c10s_limits_are_granted_is_their_distance_from_the_exact_value(a: int) -> None:
    """Edge-symmetric tori: all channels carry the mean. PTT: x and y channels the RTT's, z channels a ring's a/8."""
    plane, ball = rtt_mean(a), pdtt_mean(a)
    exact = {
        ("rtt", "saturation_load"): 4 / plane,
        ("ptt", "saturation_load"): 4 / plane,
        ("pdtt", "saturation_load"): 6 / ball,
        ("ptt", "link_utilization"): (plane + Fraction(a, 4)) / 6 / (plane / 4),
        **{(family, f"mean_hops[{axis}]"): plane / 2 for family in ("rtt", "ptt") for axis in "xy"},
        **{("pdtt", f"mean_hops[{axis}]"): ball / 3 for axis in "xyz"},
    }
    rows = [
        r
        for r in ROWS
        if r.paper == "C10" and is_load(r.quantity) and r.relation == "~=" and r.topology.endswith(f"(a={a})")
    ]
    assert rows
    for row in rows:
        family = parse(row.topology).name
        name, _, other = row.quantity.partition(" / ")
        ours = exact[family, name] / (Fraction(4, a) if other else 1)
        assert row.tolerance == pytest.approx(abs(float(ours) - row.value), rel=1e-6), row
        assert row.reason


def test_no_number_stands_twice() -> None:
    keys = [row[:5] for row in ROWS]
    assert len(set(keys)) == len(keys)


def test_expected_topologies_leaves_out_what_only_waits() -> None:
    needed = expected_topologies(["D90"])
    assert "torus(k=16, n=2, directed=true)" in needed
    assert "torus(k=2, n=20, directed=true)" not in needed  # pins, wires: no static property
    assert "" not in needed
    assert expected_topologies([]) == []
    assert "rtt(a=32)" in expected_topologies(["C10"])


def test_expected_requests() -> None:
    assert ("pdtt(a=32)", LoadsRequest("minimal", "uniform")) in expected_requests(["C10"])["loads"]
    assert {topology for topology, _ in expected_requests(["P04"])["loads"]} == {
        f"{family}(k={k}, n=3)"
        for k in (8, 16)
        for family in ("torus", "pruned_torus", "directed_torus", "pruned_directed_torus")
        if (k, family) != (16, "pruned_directed_torus")
    }
    assert "loads" not in expected_requests(["P98", "D90", "R05"])


def test_largest_network_that_r05_mentions() -> None:
    """Sec. 2: 2^30 nodes at level 5. Too large for a record; its plan is enough."""
    assert plan("mh3dt(m=4, n=4, levels=5, q=0)")[1].nodes == 2**30


HEADER = ",".join(Expected._fields) + "\n"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("paper,place\n", "p98.csv:1: expected the columns paper,place,row"),
        (HEADER + "P98,Table 1,r,ring(k=4),diameter,2\n", "p98.csv:2: expected 11 cells"),
        (HEADER + "P04,Table 1,r,ring(k=4),diameter,2,0,=,,,\n", "p98.csv:2: expected paper P98, got 'P04'"),
        (
            HEADER + "P98,Table 1,r,ring(k=4),diameter,2,0,==,,,\n",
            "p98.csv:2: relation: expected = or ~= or <= or < or > or sign, got '=='",
        ),
        (
            HEADER + "P98,Table 1,r,ring(k=4),diameter,two,0,=,,,\n",
            "p98.csv:2: value, tolerance and corrected: expected numbers",
        ),
        (HEADER + "P98,Table 1,r,ring(k=4),diameter,2,0,=,3,,\n", "p98.csv:2: expected a reason"),
        (
            HEADER + "P98,Table 1,r,ring(k=4),diameter of it,2,0,=,,,\n",
            "quantity 'diameter of it': expected a column's name",
        ),
        ("\xff", "p98.csv: expected a readable CSV file"),
        (None, "p98.csv is missing"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: str | None, complaint: str) -> None:
    if content is not None:
        (tmp_path / "p98.csv").write_bytes(content.encode("latin-1"))
    with pytest.raises(BadInput) as refusal:
        load_expected(["P98"], tmp_path)
    assert complaint in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_an_unknown_paper_is_refused() -> None:
    with pytest.raises(BadInput, match=r"unknown paper 'P89' \(did you mean 'P98'"):
        load_expected(["P89"])
