"""Verdicts on the papers' numbers, of made-up records and of real networks."""

from __future__ import annotations

import pytest
from torusweep.all_columns import VERIFICATION
from torusweep.networks.families import build, plan
from torusweep.papers.verification import VERDICTS, judge, summary, verification_rows
from torusweep.papers.verification.quantities import is_simulated
from torusweep.papers.verification.rows import PAPERS, Expected, expected_requests, expected_topologies, load_expected
from torusweep.questions.static.columns import STATIC
from torusweep.questions.static.record import static_record

from tests.records import loads_record

ROWS = load_expected(PAPERS)


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


def test_a_network_that_is_not_in_the_sweep_is_not_run_and_one_that_cannot_be_computed_waits() -> None:
    rows = verification_rows({}, PAPERS)
    assert len(rows) == len(ROWS)
    assert all(tuple(row) == tuple(VERIFICATION.names) for row in rows)
    for row, theirs in zip(rows, ROWS, strict=True):
        assert row["our_value"] is None
        if is_simulated(theirs.quantity):
            assert (row["verdict"], row["reason"].split("; ")[-1]) == ("not run", f"{theirs.waits_for} simulates it")
            continue
        assert row["verdict"] == ("waits" if theirs.waits_for else "not run")
        assert row["reason"] == (f"waits for {theirs.waits_for}" if theirs.waits_for else row["reason"])
        assert theirs.waits_for or row["reason"].endswith(
            f"is not in the sweep; 'papers: [{row['paper']}]' computes it"
        )
    counts = summary(rows)
    assert tuple(counts) == VERDICTS
    assert sum(counts.values()) == len(rows)


def test_a_sweep_that_computes_a_paper_has_all_its_numbers() -> None:
    """Those of `papers` that lack are unexplained, and the step `check` fails; those of `verify` were not asked for."""
    rows = verification_rows({}, ["P04", "R05"], ["P04"])
    listed = [row for row, theirs in zip(rows, load_expected(["P04", "R05"])) if not is_simulated(theirs.quantity)]
    found = {(row["paper"], row["verdict"]) for row in listed}
    assert found - {("P04", "waits"), ("R05", "waits")} == {("P04", "unexplained"), ("R05", "not run")}


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
        for row in verification_rows({"static": records}, [paper], [paper])
        if (row["topology"], row["quantity"]) == (topology, quantity)
    }
    assert len(found) == 1
    return found.pop()


def reasons_of(records: list[dict[str, object]], topology: str, quantity: str, paper: str) -> set[str]:
    found = verification_rows({"static": records}, [paper], [paper])
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
    assert "unexplained" not in {row["verdict"] for row in rows}
