"""Sweeps written out: which points, in which order, how many, and what they cost."""

from __future__ import annotations

import gc
from collections import Counter
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path

import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks import families
from torusweep.networks.seed_runs import count_of
from torusweep.questions.availability.stage import AvailabilityRequest
from torusweep.questions.stage import LazyNetwork
from torusweep.questions.static.stage import StaticRequest
from torusweep.stages import STAGES
from torusweep.sweeps.configuration import load
from torusweep.sweeps.expansion import expand
from torusweep.sweeps.forecast import forecast
from torusweep.sweeps.points import Point, estimates
from torusweep.sweeps.requested_points import input_files, labels, requested_derived, requested_points

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = sorted([*ROOT.glob("config/*.yaml"), *ROOT.glob("config/papers/*.yaml")])


def static(topology: str, fault_nodes: int | None = None) -> Point:
    return Point("static", topology, StaticRequest(fault_nodes))


def sweep_of(folder: Path, topologies: str, rest: str = ""):
    """A sweep of some YAML lines below 'topologies:'."""
    path = folder / "my.yaml"
    path.write_text("sweep: a\n" + rest + "topologies:\n" + "".join(f"  {line}\n" for line in topologies.splitlines()))
    return load(path)


def spellings(folder: Path, topologies: str, rest: str = "") -> list[str]:
    return [point.topology for point in expand(sweep_of(folder, topologies, rest))]


WRITTEN_OUT = [
    ("- torus( n = 3, k=8 )", ["torus(k=8, n=3)"]),
    ("- ring(k=8)\n- torus(k=4, n=2, directed=false)\n- ring(k=8)", ["ring(k=8)", "torus(k=4, n=2)"]),
    ("- {family: ring, k: {from: 4, to: 10, step: 3}}", ["ring(k=4)", "ring(k=7)", "ring(k=10)"]),
    (
        "- {family: torus, n: [1, 2], k: [3, 4]}",
        ["torus(k=3, n=1)", "torus(k=3, n=2)", "torus(k=4, n=1)", "torus(k=4, n=2)"],
    ),
    ("- {family: torus, radices: [4, 3]}", ["torus(radices=[4, 3])"]),
    ("- {family: torus, radices: [[4, 3], [5]]}", ["torus(radices=[4, 3])", "torus(radices=[5])"]),
    ("- {family: torus, k: 3, n: 2, directed: [true, false]}", ["torus(k=3, n=2, directed=true)", "torus(k=3, n=2)"]),
    ("- {family: lattice, matrix: [[4, 2], [0, 2]]}", ["lattice(matrix=[[4, 2], [0, 2]])"]),
    (
        "- {family: lattice, matrix: [[[4, 2], [0, 2]], [[3, 0], [0, 3]]]}",
        ["lattice(matrix=[[4, 2], [0, 2]])", "lattice(matrix=[[3, 0], [0, 3]])"],
    ),
    (
        "- {family: twisted_torus, radices: [4, 2], twists: {1: {0: 2}}}",
        ["twisted_torus(radices=[4, 2], twists={1: {0: 2}})"],
    ),
    (
        "- {family: faulty, topology: 'torus(k=4, n=2)', links: 1, seed: [1, 2]}",
        ["faulty(torus(k=4, n=2), links=1, seed=1)", "faulty(torus(k=4, n=2), links=1, seed=2)"],
    ),
    ("- {topology: 'torus(n=2, k=4)', label: A, year: 1999, source: S}", ["torus(k=4, n=2)"]),
    ("- {topology: [ring(k=8), ring(k=7), ring(k=8)], comparison: small}", ["ring(k=8)", "ring(k=7)"]),
    ("- {family: pruned_torus, k: [3, 4, 5], n: 4, skip_invalid: true}", ["pruned_torus(k=3, n=4)"]),
    ("- require: {families: [ring], nodes: {from: 4, to: 6}}", ["ring(k=4)", "ring(k=5)", "ring(k=6)"]),
    (
        "- require: {families: [faulty], nodes: 9, parameters: {topology: 'torus(k=3, n=2)', seed: 4, links: 1}}",
        ["faulty(torus(k=3, n=2), links=1, seed=4)"],
    ),
]


@pytest.mark.parametrize(("topologies", "expected"), WRITTEN_OUT, ids=[row[0] for row in WRITTEN_OUT])
def test_values_lists_ranges_and_requirements_are_written_out_in_order(tmp_path, topologies, expected):
    assert spellings(tmp_path, topologies) == expected


def test_the_papers_networks_come_last_and_once(tmp_path):
    sweep = sweep_of(tmp_path, "- ring(k=8)", "papers: [P98]\n")
    assert [p.topology for p in expand(sweep, expected_topologies=["torus(n=2, k=4)", "ring(k=8)"])] == [
        "ring(k=8)",
        "torus(k=4, n=2)",
    ]


def test_a_network_with_and_without_faults_is_one_point_with_them(tmp_path):
    sweep = sweep_of(tmp_path, "- ring(k=8)\n- {family: ring, k: [8, 9], fault_nodes: 1}\n- ring(k=9)\n- ring(k=10)")
    found = [network[:2] for network in expand(sweep, expected_topologies=["ring(k=8)"])]
    assert found == [("ring(k=8)", 1), ("ring(k=9)", 1), ("ring(k=10)", None)]


def test_the_sweeps_faults_are_every_networks_unless_it_has_its_own(tmp_path):
    sweep = sweep_of(tmp_path, "- ring(k=8)\n- {family: ring, k: 9, fault_nodes: 1}", "fault_nodes: 2\n")
    found = [network[:2] for network in expand(sweep, expected_topologies=["ring(k=7)", "ring(k=9)"])]
    assert found == [("ring(k=8)", 2), ("ring(k=9)", 1), ("ring(k=7)", 2)]


def test_labels_are_a_table_and_change_no_point(tmp_path):
    said = "- {topology: 'torus(n=2, k=4)', label: A, year: 1999, source: S, note: N, comparison: C}"
    sweep = sweep_of(tmp_path, f"{said}\n- {{topology: [ring(k=8), ring(k=7)], comparison: C}}\n- ring(k=9)")
    assert "labels" in requested_derived(sweep)
    empty = {"label": "", "year": None, "source": "", "note": "", "comparison": "C"}
    assert labels(sweep, {}).to_pylist() == [
        {"topology": "torus(k=4, n=2)", "label": "A", "year": 1999, "source": "S", "note": "N", "comparison": "C"},
        {"topology": "ring(k=8)", **empty},
        {"topology": "ring(k=7)", **empty},
    ]
    found = [point.key for point in requested_points(sweep)]
    plain = sweep_of(tmp_path, "- torus(k=4, n=2)\n- ring(k=8)\n- ring(k=7)\n- ring(k=9)")
    assert found == [point.key for point in requested_points(plain)]
    assert "labels" not in requested_derived(plain)


def test_labelled_networks_are_counted_before_they_are_planned(tmp_path):
    sweep = sweep_of(tmp_path, "- {topology: [ring(k=8), ring(k=7)], comparison: C}", "limits: {points: 1}\n")
    with pytest.raises(Refused, match="2 networks here, 2 up to here"):
        expand(sweep)


def test_the_files_of_labelled_networks_are_inputs(tmp_path):
    sweep = sweep_of(tmp_path, "- {topology: ['graph(path=\"a.txt\")', ring(k=8)], comparison: C}")
    assert input_files(sweep) == ["a.txt"]


REFUSED = [
    ("- toruss(k=8, n=3)", "3:5: topologies[0]", "did you mean 'torus'?"),
    ("- ring(k=8)\n- torus(k=8, n=3", "4:5: topologies[1]", "character 15"),
    ("- __import__('os').system('true')", "3:5: topologies[0]", "character"),
    ("- family: toru\n  k: 8", "3:5: topologies[0]", "did you mean 'torus'?"),
    ("- family: torus\n  k: 8\n  nn: 3", "5:9: topologies[0].nn", "did you mean 'n'?"),
    ("- {family: pruned_torus, k: [3, 4], n: 4}", "3:5: topologies[0]", "k=4"),
    ("- {family: pruned_torus, k: [3, 4], n: 4}", "3:5: topologies[0]", "skip_invalid"),
    (
        "- {family: pruned_torus, k: [4, 5], n: 4, skip_invalid: true}",
        "3:5: topologies[0]",
        "all combinations are invalid",
    ),
    ("- {family: torus, k: -8, n: 3}", "3:5: topologies[0]", "≥ 2"),
    ("- {family: torus, k: true, n: 3}", "3:5: topologies[0]", "got true"),
    ("- {family: torus, k: .nan, n: 3}", "3:24: topologies[0].k", "got nan"),
    ("- {family: torus, k: 1e308, n: 3}", "3:24: topologies[0].k", "got 1e+308"),
    ("- {family: torus, k: 8.0, n: 3}", "3:24: topologies[0].k", "got 8.0"),
    ("- {family: torus, k: null, n: 3}", "3:24: topologies[0].k", "got None"),
    ("- {family: torus, k: eight, n: 3}", "3:5: topologies[0]", 'got "eight"'),
    ("- {family: torus, k: [], n: 3}", "3:24: topologies[0].k", "empty"),
    ("- {family: torus, k: {from: 4}, n: 3}", "3:24: topologies[0].k", "'from' and 'to'"),
    ("- {family: torus, k: {from: 4, to: 8, stp: 2}, n: 3}", "3:24: topologies[0].k", "did you mean 'step'?"),
    ("- {family: torus, k: {from: 4, to: 8, step: 0}, n: 3}", "3:24: topologies[0].k", "step ≥ 1"),
    (
        "- {family: torus, k: {from: 4, to: 8, count: 4}, n: 3}",
        "3:24: topologies[0].k",
        "with a count of 2 or more that",
    ),
    ("- {family: torus, k: {from: 8, to: 4}, n: 3}", "3:24: topologies[0].k", "from ≤ to"),
    ("- {family: torus, k: {from: 4, to: true}, n: 3}", "3:24: topologies[0].k", "got True"),
    ("- {family: faulty, topology: 3, links: 1, seed: 1}", "3:32: topologies[0].topology", "torus(k=8, n=3)"),
    ('- "toru\\e[31m(k=8, n=3)"', "3:5: topologies[0]", "expected '('"),
    (
        "- {family: torus, k: 4, n: 2, nodes: 16}",
        "3:40: topologies[0].nodes",
        "unknown key (wanted of a network: require: {families: [torus], nodes: …}); torus takes k",
    ),
    ('- {family: "toru\\e[31m", k: 8}', "3:5: topologies[0]", "unknown topology 'toru�[31m'"),
    ("- {family: ring, k: 4, fault_nodes: 4}", "3:5: topologies[0]", "fewer than its 4 nodes"),
    ("- {family: ring, k: 8, fault_nodes: 1}\n- {family: ring, k: 8, fault_nodes: 2}", "4:5: topologies[1]", "1 and 2"),
    ("- require: {families: [rin], nodes: 8}", "3:5: topologies[0]", "did you mean 'ring'?"),
    ("- require: {except: [rin], nodes: 8}", "3:5: topologies[0]", "did you mean 'ring'?"),
    ("- require: {families: [graph], nodes: 8}", "3:5: topologies[0]", "path"),
    ("- require: {families: [sequin], nodes: 64}", "3:5: topologies[0]", "s and t"),
    ("- require: {nodes: 8, parameters: {kk: 3}}", "3:5: topologies[0]", "unknown parameter 'kk'"),
    ("- require: {nodes: 8, parameters: {k: [1.5]}}", "3:5: topologies[0]", "parameters.k"),
    ("- require: {families: [hypercube], nodes: {from: 5, to: 7}}", "3:5: topologies[0]", "no network meets it"),
]


@pytest.mark.parametrize(("topologies", "place", "says"), REFUSED, ids=[row[0] for row in REFUSED])
def test_networks_that_do_not_exist_are_refused_where_they_stand(tmp_path, topologies, place, says):
    with pytest.raises(BadInput) as caught:
        expand(sweep_of(tmp_path, topologies))
    message = str(caught.value)
    assert message.isprintable()
    assert message.startswith(f"{tmp_path}/my.yaml:{place}: ")
    assert says in message


TOO_MUCH = [
    ("- {family: torus, k: {from: 2, to: 1000000001}, n: 1}", "", "1,000,000,000 networks"),
    (
        "- {family: torus, k: {from: 2, to: 1001}, n: {from: 1, to: 30}, directed: [true, false]}",
        "limits: {points: 50000}\n",
        "60,000 networks",
    ),
    ("- ring(k=8)\n- ring(k=9)\n- ring(k=10)", "limits: {points: 2}\n", "limits.points is 2"),
    ("- {family: ring, k: [8, 9]}\n- {family: mesh, k: [8, 9], n: 2}", "limits: {points: 3}\n", "4 up to here"),
    ("- require: {nodes: {to: 2147483647}}", "", "2,147,483,646 networks"),
    (
        "- require: {nodes: {from: 100, to: 1200}, families: [ring]}",
        "limits: {points: 1000}\n",
        "more than 1,000 networks",
    ),
    (
        "- require: {nodes: 64, families: [torus], parameters: {k: {from: 2, to: 2000000}}}",
        "",
        "1,999,999 combinations up to torus",
    ),
    ("- torus(k=10000, n=3)", "", "1,000,000,000,000 nodes, about 149,011 GiB"),
    ("- torus(k=999999999999999999, n=30)", "", "10^540 nodes"),
    ("- torus(k=100, n=3)", "limits: {memory_gib: 0.1}\n", "the limit is 0.1 GiB"),
    ("- {family: torus, k: [2, 100], n: 3, skip_invalid: true}", "limits: {memory_gib: 0.1}\n", "the limit is 0.1 GiB"),
]


@pytest.mark.parametrize(("topologies", "rest", "says"), TOO_MUCH, ids=[row[0] for row in TOO_MUCH])
def test_too_much_is_refused_with_its_count_before_it_is_written_out(tmp_path, topologies, rest, says):
    sweep = sweep_of(tmp_path, topologies, rest)
    with pytest.raises(Refused) as caught:
        expand(sweep)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_expected_networks_are_checked_too(tmp_path):
    sweep = sweep_of(tmp_path, "- ring(k=8)", "limits: {memory_gib: 0.1}\n")
    with pytest.raises(Refused):
        expand(sweep, expected_topologies=["torus(k=100, n=3)"])


UNFIT = [  # of the first network: 5 links are left; its centre would send 1.35 packets a cycle
    ("- faulty(ring(k=20), links=15)\n- ring(k=20)", "availability", "failures: 8", "failures: expected at most the 5"),
    (
        "- mesh(k=3, n=2)\n- ring(k=8)",
        "simulation",
        "loads: [0.9], packet_flits: 1, traffic: nearest_neighbour",
        "loads: load=0.9",
    ),
]


@pytest.mark.parametrize(("topologies", "stage", "entry", "says"), UNFIT, ids=[row[1] for row in UNFIT])
def test_what_a_number_does_not_suit_is_skipped_where_others_have_it(tmp_path, topologies, stage, entry, says):
    def asked(more: str) -> list[str]:
        sweep = sweep_of(tmp_path, topologies, f"{stage}: [{{{entry}{more}}}]\n")
        return [point.topology for point in requested_points(sweep) if point.stage == stage]

    with pytest.raises(BadInput) as refused:
        asked("")
    assert f"{stage}[0].{says}" in str(refused.value)
    assert str(refused.value).endswith("(skip_unsuitable: true leaves such networks out)")
    assert asked(", skip_unsuitable: true") == [topologies.split("- ")[-1]]


def test_a_load_suits_terminals_that_send_less_as_faults_took_their_routes(tmp_path):
    """Two pieces of a ring, of 3 and 5 nodes: each terminal sends 2/7 or 4/7 of the load."""
    entry = "loads: [1.2], packet_flits: 1, routing: minimal, traffic: uniform_other, vc_rule: none"
    sweep = sweep_of(tmp_path, '- "without(ring(k=8), links=[[0, 1], [3, 4]])"', f"simulation: [{{{entry}}}]\n")
    assert sum(point.stage == "simulation" for point in requested_points(sweep)) == 1


def test_few_failures_of_a_faulty_network_are_checked_without_its_arrays():
    """A ring of 40 with 15 links that failed has 25."""
    for failures, built in ((4, False), (25, True), (26, None)):
        network = LazyNetwork("faulty(ring(k=40), links=15)")
        request = AvailabilityRequest("links", failures, None, 9, 0, 0, "connected")
        with pytest.raises(BadInput, match="at most the 25 links") if built is None else nullcontext():
            STAGES["availability"].check(network, request)
        assert built is None or ("topology" in vars(network)) == built


def test_costs_are_positive_and_grow_with_the_network():
    chain = ["ring(k=2)", "torus(k=8, n=3)", "torus(k=16, n=3)", "torus(k=64, n=3)", "torus(k=100, n=3)"]
    costs = [static(spelling).seconds for spelling in chain]
    assert costs == sorted(costs)
    assert 0 < costs[0] < 0.1
    assert costs[-1] < 60
    assert static("pruned_torus(k=8, n=3)", 3).seconds > static("pruned_torus(k=8, n=3)").seconds
    assert static("faulty(torus(k=16, n=3), links=1, seed=1)").seconds > static("torus(k=16, n=3)").seconds


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_sweeps_expand_and_are_small(path):
    from torusweep.papers.verification.rows import expected_topologies

    sweep = load(path)
    found = expand(sweep, expected_topologies=expected_topologies(sweep.papers))
    if path.stem == "design-space":
        assert sum(count_of(network.topology) for network in found) > 1_000_000
        assert len(found) < 1_000
        return
    assert len(found) <= 400
    assert {point.topology for point in found} >= set(expected_topologies(sweep.papers))
    assert sum(static(*network[:2]).seconds for network in found) < 200


def test_a_sweep_longer_than_any_cache_plans_each_network_once(tmp_path, monkeypatch):
    """Three stages, the estimates and the forecast read the networks in order, of which a smaller cache has none."""
    made = Counter[str]()
    whole = families._make_plan
    monkeypatch.setattr(families, "_cached_plan", lru_cache(4)(families._cached_plan.__wrapped__))
    monkeypatch.setattr(families, "_make_plan", lambda call: made.update([str(call)]) or whole(call))
    entry = "- {family: circulant, n: {from: 9001, to: 9040}, steps: [1, 7]}"
    sweep = sweep_of(tmp_path, entry, "loads: [{traffic: uniform}]\nscreen: [{}]\n")
    points = estimates(requested_points(sweep))
    assert forecast(points, sweep.cluster).points == 3 * 40
    assert len(made) == 40
    assert set(made.values()) == {1}
    gc.collect()
    assert sum("n=90" in spelling for spelling in families._HELD) <= 4, "a sweep that is over holds no plan"
