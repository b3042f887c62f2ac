"""The papers' numbers: papers/expected holds them as printed, errors are derived a second way; verdicts."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import igraph
import networkx as nx
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build, plan
from torusweep.networks.spelling import parse
from torusweep.papers.verification import (
    COLUMNS,
    PAPERS,
    VERDICTS,
    Expected,
    expected_requests,
    expected_topologies,
    is_deadlock,
    is_latency,
    is_layout,
    is_load,
    is_simulated,
    is_static,
    judge,
    load_expected,
    summary,
    verification_rows,
)
from torusweep.stages.all_columns import VERIFICATION
from torusweep.stages.loads import loads_record
from torusweep.stages.loads.stage import LoadsRequest
from torusweep.stages.static import static_record
from torusweep.stages.static.columns import STATIC

ROWS = load_expected(PAPERS)
Address = tuple[int, ...]
Neighbours = Callable[[Address], Iterable[Address]]


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


HEADER = ",".join(COLUMNS) + "\n"


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


# --- verdicts -------------------------------------------------------------------------------------


def expected(
    relation: str = "=", printed: float = 10.0, tolerance: float = 0.5, corrected: float | None = None
) -> Expected:
    return Expected(
        "P98",
        "Table 1",
        "a row",
        "ring(k=4)",
        "diameter",
        printed,
        tolerance,
        relation,
        corrected,
        "why" if corrected else "",
        "",
    )


@pytest.mark.parametrize(
    ("row", "ours", "verdict"),
    [
        (expected(), 10.5, "agrees"),
        (expected(), 10.51, "unexplained"),
        (expected(), 9.49, "unexplained"),
        (expected("~="), 9.5, "agrees"),
        (expected("<="), 3.0, "agrees"),
        (expected("<="), 10.6, "unexplained"),
        (
            expected(printed=9.37, tolerance=0.005),
            9.375,
            "agrees",
        ),  # the edge is inside, whatever floating point makes of it
        (expected(corrected=12.0), 12.0, "paper in error"),
        (expected(corrected=12.0), 12.0 + 1e-10, "paper in error"),
        (expected(corrected=12.0), 12.001, "unexplained"),
        (expected(corrected=12.0), 10.0, "unexplained"),  # as the paper prints it: then the erratum is wrong
    ],
)
def test_verdicts(row: Expected, ours: float, verdict: str) -> None:
    assert judge(row, ours)[0] == verdict
    assert (judge(row, ours)[1] == "why") == (verdict == "paper in error")


def test_a_network_that_is_not_in_the_sweep_is_unexplained_and_one_that_cannot_be_computed_waits() -> None:
    rows = verification_rows({}, PAPERS)
    assert len(rows) == len(ROWS)
    assert all(tuple(row) == tuple(column.name for column in VERIFICATION) for row in rows)
    for row, theirs in zip(rows, ROWS, strict=True):
        assert row["our_value"] is None
        if is_simulated(theirs.quantity):
            assert (row["verdict"], row["reason"].split("; ")[-1]) == ("not run", f"{theirs.waits_for} simulates it")
            continue
        assert row["verdict"] == ("waits" if theirs.waits_for else "unexplained")
        assert row["reason"] == (f"waits for {theirs.waits_for}" if theirs.waits_for else row["reason"])
        assert theirs.waits_for or "is not in the sweep" in row["reason"]
    counts = summary(rows)
    assert tuple(counts) == VERDICTS
    assert sum(counts.values()) == len(rows)


def record(topology: str, **values: object) -> dict[str, object]:
    return {
        **dict.fromkeys(column.name for column in STATIC),
        "topology": topology,
        "parameters": {"k": 8},
        "terminals": 10,
        "distance_histogram": [10, 20],
        **values,
    }


def verdict_of(records: list[dict[str, object]], topology: str, quantity: str, paper: str) -> tuple[str, float | None]:
    found = {
        (row["verdict"], row["our_value"])
        for row in verification_rows({"static": records}, [paper])
        if (row["topology"], row["quantity"]) == (topology, quantity)
    }
    assert len(found) == 1
    return found.pop()


def reasons_of(records: list[dict[str, object]], topology: str, quantity: str, paper: str) -> set[str]:
    found = verification_rows({"static": records}, [paper])
    rows = [row for row in found if (row["topology"], row["quantity"]) == (topology, quantity)]
    return {row["reason"] for row in rows if row["verdict"] == "agrees"}


def test_expressions() -> None:
    pruned = "pruned_torus(k=8, n=3)"
    assert verdict_of([record(pruned, fault_nodes=2, fault_diameter=13)], pruned, "fault_diameter[3]", "P04") == (
        "waits",
        None,
    )
    faulted = {"fault_nodes": 3, "fault_sets": 9, "fault_method": "exhaustive"}
    assert verdict_of([record(pruned, **faulted, fault_diameter=15)], pruned, "fault_diameter[3]", "P04") == (
        "agrees",
        15,
    )
    assert verdict_of([record(pruned, **faulted, fault_diameter=16)], pruned, "fault_diameter[3]", "P04") == (
        "unexplained",
        16,
    )
    # a set of faults that disconnects refutes a bound on the diameter
    assert verdict_of([record(pruned, **faulted)], pruned, "fault_diameter[3]", "P04") == ("unexplained", None)
    assert verdict_of([record(pruned, bisection_upper=64)], pruned, "bisection_channels", "P04") == (
        "paper in error",
        128,
    )
    directed = "pruned_directed_torus(k=8, n=3)"
    assert reasons_of(
        [record(pruned, **{**faulted, "fault_method": "sampled, seed 0"}, fault_diameter=15)],
        pruned,
        "fault_diameter[3]",
        "P04",
    ) == {"not refuted by 9 sets of faults, a sample"}
    assert reasons_of([record(pruned, bisection_lower=60, bisection_upper=64)], pruned, "bisection_upper", "P04") == {
        "ours is a bound, the width is 60 to 64"
    }
    both = [record(pruned, bisection_upper=64), record(directed, bisection_upper=32)]
    assert verdict_of(both, directed, f"bisection_upper / {pruned}", "P04") == ("agrees", 0.5)
    assert verdict_of(both[1:], directed, f"bisection_upper / {pruned}", "P04") == ("unexplained", None)
    tesh = "tesh(m=2, levels=3, q=0)"
    assert verdict_of([record(tesh, routed_mean_distance=18)], tesh, "routed_mean_distance_distinct", "R05") == (
        "unexplained",
        20,
    )
    assert verdict_of([record(tesh)], tesh, "routed_mean_distance_distinct", "R05") == ("unexplained", None)
    rtt = [record("rtt(a=4)", terminals=5, distance_histogram=[5, 20])]
    assert verdict_of(rtt, "rtt(a=4)", "nodes_at_distance[1]", "C10") == ("agrees", 4)
    assert verdict_of(rtt, "rtt(a=4)", "nodes_at_distance[2]", "C10") == ("unexplained", 0)


# --- errors of the papers, by a second way --------------------------------------------------------


def distances(neighbours: Neighbours, start: Address) -> dict[Address, int]:
    found, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for head in neighbours(node):
            if head not in found:
                found[head] = found[node] + 1
                queue.append(head)
    return found


def four_classes(k: int, n: int, *, directed: bool, pruned: bool) -> Neighbours:
    """Parhami & Kwai 2004, sec. 2, as printed."""

    def neighbours(a: Address) -> Iterable[Address]:
        for i in range(n):
            if pruned and i > 0 and a[0] % (n - 1) != i - 1:
                continue
            even = (sum(a) - a[i]) % 2 == 0
            for step in ((1,) if even else (-1,)) if directed else (1, -1):
                yield (*a[:i], (a[i] + step) % k, *a[i + 1 :])

    return neighbours


def corrected(paper: str, place: str, topology: str, quantity: str) -> float | None:
    found = {
        r.corrected
        for r in ROWS
        if (r.paper, r.place, r.topology, r.quantity) == (paper, place, topology, quantity) and r.corrected is not None
    }
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize("k", [6, 10])
def test_directed_tori_of_radix_2_modulo_4(k: int) -> None:
    for pruned, topology in ((False, f"directed_torus(k={k}, n=3)"), (True, f"pruned_directed_torus(k={k}, n=3)")):
        found = distances(four_classes(k, 3, directed=True, pruned=pruned), (0, 0, 0)).values()
        assert corrected("P04", "Table 1", topology, "diameter") == max(found)
        if not pruned or k == 10:
            assert corrected("P04", "Table 1", topology, "mean_distance") == pytest.approx(sum(found) / k**3, rel=1e-12)


def test_cube_connected_cycles() -> None:
    n = 9

    def neighbours(node: Address) -> Iterable[Address]:
        i, corner = node
        yield from (((i + 1) % n, corner), ((i - 1) % n, corner), (i, corner ^ (1 << i)))

    found = distances(neighbours, (0, 0)).values()
    assert corrected("R05", "Table 1", "ccc(n=9)", "diameter") == max(found) == 20
    assert corrected("R05", "Table 1", "ccc(n=9)", "cost") == 3 * max(found)
    assert corrected("R05", "Table 1", "ccc(n=9)", "mean_distance") == pytest.approx(sum(found) / (n * 2**n), rel=1e-12)


def test_mesh_mean_divided_by_n() -> None:
    side = 64
    along = Fraction(sum(abs(i - j) for i in range(side) for j in range(side)), side * side)
    assert corrected("R05", "Table 1", "mesh(k=64, n=2)", "mean_distance") == float(2 * along)


def test_tesh_with_gates_at_every_corner() -> None:
    nodes = list(
        itertools.product(range(4), repeat=6)
    )  # level 3 row and column, level 2 row and column, row and column in the basic module
    number = {node: i for i, node in enumerate(nodes)}
    gates = {(0, 0): 0, (0, 3): 1, (3, 0): 2, (3, 3): 3}
    edges = set()
    for node in nodes:
        for digit in (4, 5, *([gates[node[4:]]] if node[4:] in gates else [])):
            upper = node[digit] + 1
            if digit < 4 or upper < 4:
                edges.add(frozenset((number[node], number[(*node[:digit], upper % 4, *node[digit + 1 :])])))
    graph = igraph.Graph(len(nodes), [tuple(edge) for edge in edges])
    tesh = "tesh(m=2, levels=3, q=0)"
    assert corrected("R05", "Table 1", tesh, "links") == graph.ecount()
    assert corrected("R05", "Table 1", tesh, "edge_connectivity") == graph.edge_connectivity()
    halves = [node[0] < 2 for node in nodes]
    assert corrected("R05", "Table 1", tesh, "bisection_upper") == sum(
        halves[e.source] != halves[e.target] for e in graph.es
    )


@pytest.mark.parametrize(
    ("q", "topology"), [(q, f"{name}(m=4, n=4, levels=2, q={q})") for q in (0, 2) for name in ("h3dt", "mh3dt")]
)
def test_wiring_counted_link_by_link(q: int, topology: str) -> None:
    """R05 sec. 2: a mesh or torus of 4 x 4 x 4, and rings through the modules at 2^q corners of three planes."""
    wraps = topology.startswith("mh3dt")
    module = sum(1 for a in itertools.product(range(4), repeat=3) for digit in a if wraps or digit < 3)
    between = 3 * 2**q * 64
    row = next(
        r
        for r in ROWS
        if r.paper == "R05" and r.place == "Table 1" and r.topology == topology and r.quantity == "links"
    )
    assert (row.value if row.corrected is None else row.corrected) == 64 * module + between


def link_orbits(neighbours: Neighbours, nodes: list[Address], *, directed: bool) -> int:
    """Orbits of links under all automorphisms, by BLISS: each arc a path through two coloured vertices of its own."""
    number = {node: i for i, node in enumerate(nodes)}
    arcs = [(number[node], number[head]) for node in nodes for head in neighbours(node)]
    edges, colours = [], [0] * len(nodes)
    for u, v in arcs:
        tail, head = len(colours), len(colours) + 1
        colours += [1, 2 if directed else 1]
        edges += [(u, tail), (tail, head), (head, v)]
    orbits = nx.Graph()
    for generator in igraph.Graph(len(colours), edges).automorphism_group(color=colours):
        orbits.add_edges_from((vertex, image) for vertex, image in enumerate(generator) if vertex != image)
    orbits.add_nodes_from(range(len(colours)))
    return sum(1 for orbit in nx.connected_components(orbits) if colours[next(iter(orbit))] == 1)


@pytest.mark.parametrize(
    ("directed", "pruned", "k", "n", "orbits"),
    [
        (False, False, 4, 3, 1),
        (True, False, 4, 3, 1),
        (False, True, 4, 3, 2),
        (True, True, 4, 3, 2),
        (False, True, 8, 3, 2),
        (True, True, 8, 3, 2),
    ],
)
def test_p04_section_3e_is_false_for_pruned_tori(directed: bool, pruned: bool, k: int, n: int, orbits: int) -> None:
    nodes = list(itertools.product(range(k), repeat=n))
    assert link_orbits(four_classes(k, n, directed=directed, pruned=pruned), nodes, directed=directed) == orbits
    family = ("pruned_" if pruned else "") + ("directed_" if directed else "") + "torus"
    row = next(
        r
        for r in ROWS
        if r.place == "Sec. 3.E" and r.topology == f"{family}(k={k}, n={n})" and r.quantity == "edge_transitive"
    )
    assert row.value == 1
    assert row.corrected == (0 if orbits > 1 else None)


def test_p04_links_of_a_pruned_torus_do_not_carry_the_same_load() -> None:
    """The channels of a class carry the same: all of them lie in one orbit of links, as the test above found."""
    loads = loads_by_class(8, directed=False)
    assert loads == {True: Fraction(71, 64), False: 2}
    assert corrected("P04", "Sec. 5", "pruned_torus(k=8, n=3)", "link_utilization") == float(
        sum(loads.values()) / 2 / max(loads.values())
    )


def test_p04_links_of_a_pruned_directed_torus_do_not_carry_the_same_load() -> None:
    loads = loads_by_class(8, directed=True)
    assert [float(loads[dimension_0]) for dimension_0 in (True, False)] == pytest.approx([3.741, 5.080], abs=5e-4)
    found = corrected("P04", "Sec. 5", "pruned_directed_torus(k=8, n=3)", "link_utilization")
    assert found == pytest.approx(float(sum(loads.values()) / 2 / max(loads.values())), rel=1e-15)


def loads_by_class(k: int, *, directed: bool) -> dict[bool, Fraction]:
    """Load of a channel of dimension 0 (True) and of any other in a pruned 3D torus, uniform traffic, minimal.

    By vertex-transitivity one source tells it: as many channels of both sorts leave a node.
    """
    source = (0, 0, 0)
    neighbours = four_classes(k, 3, directed=directed, pruned=True)
    away = distances(neighbours, source)
    into: dict[Address, list[Address]] = {}
    for node in away:
        for head in neighbours(node):
            into.setdefault(head, []).append(node)
    ways: dict[Address, int] = {source: 1}
    for node in sorted(away, key=away.__getitem__):
        for head in neighbours(node):
            if away[head] == away[node] + 1:
                ways[head] = ways.get(head, 0) + ways[node]
    passing = {node: Fraction(1, k**3) for node in away}
    carried = {True: Fraction(0), False: Fraction(0)}  # along dimension 0, or not
    for node in sorted(away, key=away.__getitem__, reverse=True):
        for tail in into[node]:
            if away[tail] == away[node] - 1:
                share = passing[node] * ways[tail] / ways[node]
                passing[tail] += share
                carried[tail[0] != node[0]] += share
    return {dimension_0: total / (1 if directed else 2) for dimension_0, total in carried.items()}


# --- end to end -----------------------------------------------------------------------------------


def test_small_networks_of_all_papers_leave_nothing_unexplained() -> None:
    small = [topology for topology in expected_topologies(PAPERS) if plan(topology)[1].nodes <= 520]
    small_loads = [pair for pair in expected_requests(PAPERS)["loads"] if plan(pair[0])[1].nodes <= 8192]
    loads = [
        loads_record(build(topology), routing=request.routing, traffic=request.traffic)
        for topology, request in small_loads
    ]
    other = [
        {**record, "traffic": "hot_region", "saturation_load": 0.0} for record in loads
    ]  # other traffic is no answer
    static = [static_record(build(topology)) for topology in small]
    rows = verification_rows({"static": static, "loads": [*other, *loads]}, PAPERS)
    compared = [row for row in rows if row["our_value"] is not None]
    assert [row for row in compared if row["verdict"] == "unexplained"] == []
    assert {row["paper"] for row in compared} == {"P98", "P04", "D90", "C10", "R05"}
    assert sum(row["verdict"] == "paper in error" for row in compared) >= 10
    missing = [row for row in rows if row["verdict"] == "unexplained"]
    assert all("is not in the sweep" in row["reason"] for row in missing)
