"""What a configuration asks of the stages: the requests of its entries, those of papers, what they cost, and limits."""

from __future__ import annotations

from pathlib import Path

import pytest
from torusweep.errors import Refused
from torusweep.networks.families import build
from torusweep.questions.cost.model import MODELS, cost_model
from torusweep.questions.deadlock.stage import DeadlockRequest
from torusweep.questions.loads.stage import LoadsRequest
from torusweep.run import command
from torusweep.stages import STAGES
from torusweep.sweeps.configuration import load
from torusweep.sweeps.expansion import expand, expand_stage
from torusweep.sweeps.points import Point
from torusweep.sweeps.requested_points import requested_derived, requested_points
from torusweep.traffic import PATTERNS, SYMMETRIC, traffic

from tests.run.rings import Run
from tests.run.test_stages import ASKED, LOADED


def asked(folder: Path, stage: str, config: str) -> list[Point]:
    path = folder / "my.yaml"
    path.write_text(f"sweep: my\n{config}\n")
    return [point for point in requested_points(load(path)) if point.stage == stage]


def test_every_number_with_every_part(tmp_path: Path):
    entry = "{fails: [links, routers], failures: [1, 2], probability: 0.5, measures: all}"
    points = asked(tmp_path, "availability", f'topologies: ["torus(k=4, n=2)"]\navailability: [{entry}]')
    assert [str(point.request) for point in points] == [
        f"with {failed}"
        for part in ("link", "router")
        for failed in (f"1 failed {part}", f"2 failed {part}s", f"each {part} failed with probability 0.5")
    ]


def test_all_algorithms_of_an_operation(tmp_path: Path):
    section = "collectives: [{operation: broadcast, algorithm: all}]"
    points = asked(tmp_path, "collectives", f'topologies: ["torus(k=4, n=2)"]\n{section}')
    assert [point.request.algorithm for point in points] == ["optimum", "direct", "tree", "trees"]


def test_a_point_is_another_one_when_its_file_changes(tmp_path: Path):
    """Shards are named by what they depend on: the prices in a user's file, too."""
    mine, keys = tmp_path / "mine.yaml", []
    for price in ("350.4", "350.4", "1"):
        mine.write_text(MODELS["2014-besta"].read_text().replace("350.4", price))
        assert cost_model(str(mine)).router.per_port == float(price)
        points = asked(tmp_path, "cost", f'topologies: ["ring(k=8)"]\ncost: [{{model: {mine}}}]')
        keys += [point.key for point in points]
    assert keys[0] == keys[1] != keys[2]


def test_theorem_1_is_asked_for_with_its_paper(tmp_path: Path):
    assert set(asked(tmp_path, "deadlock", "papers: [R05]")) == {
        Point("deadlock", f"{name}(m=4, n=4, levels=2, q={q})", DeadlockRequest("hierarchical", rule, 2))
        for name in ("mh3dt", "h3dt")
        for q in (0, 2)
        for rule in ("r05_wrap", "r05_phases")
    }


def test_the_papers_layouts_are_asked_for_with_them(tmp_path: Path):
    points = asked(tmp_path, "layout", "papers: [P04, D90]")
    assert [(point.topology, point.request.placement) for point in points] == [
        *((f"{family}(k={k}, n=3)", "folded") for k in (8, 16) for family in ("torus", "pruned_torus")),
        *((f"torus(k={k}, n={n}, directed=true)", "folded") for k, n in ((1024, 2), (32, 4), (2, 20))),
    ]


def test_the_papers_loads_come_last_and_once(tmp_path: Path):
    path = tmp_path / "my.yaml"
    networks = f"sweep: rings\ntopologies: {list(LOADED)}\n"
    path.write_text(f"{networks}loads: [{{traffic: [uniform, 'uniform'], families: [torus, hypercube]}}]\n")
    paper = [(name, LoadsRequest("minimal", "uniform")) for name in ("rtt(a=4)", "torus(k=4, n=2)")]
    sweep = load(path)
    found = expand_stage(sweep, STAGES["loads"], expand(sweep), expected=paper)
    assert [point.topology for point in found] == ["torus(k=4, n=2)", "hypercube(n=4)", "rtt(a=4)"]
    assert {(point.stage, point.request) for point in found} == {("loads", LoadsRequest("minimal", "uniform"))}


def test_symmetric_patterns_are_those_that_say_so():
    topology = build("torus(k=4, n=2)")
    others = {"demand", "group_shift", "multicast", "multicast_all"}  # which need a file, groups, or copies of flits
    assert {name for name in PATTERNS if name not in others and traffic(name, topology)[1].symmetric} == set(SYMMETRIC)


def test_costs_grow_with_the_network_and_without_symmetry():
    chain = [
        ("ring(k=4)", "uniform"),
        ("torus(k=16, n=3)", "uniform"),
        ("torus(k=16, n=3)", "transpose"),
        ("torus(k=32, n=3)", "transpose"),
    ]
    costs = [Point("loads", topology, LoadsRequest("minimal", pattern)).seconds for topology, pattern in chain]
    assert costs == sorted(costs)
    faulty = Point("loads", "faulty(torus(k=16, n=3), links=1, seed=1)", LoadsRequest("minimal", "uniform"))
    assert faulty.seconds > costs[1]


@pytest.mark.parametrize(
    ("stage", "networks", "section", "limits", "says"),
    [
        *(
            (stage, ASKED[stage].networks, f"{stage}:{ASKED[stage].section}", f"points: {limit}", says)
            for stage, limit, says in (
                ("deadlock", 12, "16 points of deadlock"),
                ("layout", 8, "9 points of layout"),
                ("simulation", 3, "4 points of simulation"),
            )
        ),
        (
            "loads",
            LOADED,
            "loads: [{traffic: [uniform, hot_region], routing: [minimal, minimal_ecmp], families: [torus, mesh]}]\n",
            "points: 7",
            "8 points of loads",
        ),
        (
            "loads",
            ["torus(k=64, n=2)"],
            "loads: [{traffic: hot_region, families: [torus]}]\n",
            "memory_gib: 0.01",
            ": expected at most 0.0 GiB of memory, got about 0.1 GiB; choose fewer nodes",
        ),
    ],
)
def test_too_much_is_refused_before_it_is_built(tmp_path, stage, networks, section, limits, says):
    with pytest.raises(Refused) as refusal:
        asked(tmp_path, stage, f"topologies: {list(networks)}\n{section}limits: {{{limits}}}")
    assert says in str(refusal.value)
    place = "3:9: loads[0]: " if stage == "loads" else ""
    assert str(refusal.value).startswith(f"{tmp_path}/my.yaml:{place}")


@pytest.mark.parametrize(
    ("section", "measures", "distances"),
    [
        ("", {None}, True),
        ("static: {measures: all}", {None}, True),
        ("static: {measures: [connectivity, distances]}", {"distances, connectivity"}, True),
        ("static: {measures: connectivity}", {"connectivity"}, False),
        ("static: none", set(), False),
    ],
)
def test_what_is_measured_of_every_network(tmp_path: Path, section: str, measures: set[str | None], distances: bool):
    """Tables that are made of what is not measured are not made; other questions ask as before."""
    config = f'topologies: ["torus(k=4, n=2)", "ring(k=5)"]\nloads: [{{}}]\ncost: [{{model: 2014-besta}}]\n{section}'
    points = asked(tmp_path, "static", config)
    assert {point.request.measures for point in points} == measures
    assert len(points) == 2 * len(measures)
    assert len(asked(tmp_path, "loads", config)) == 2
    derived = requested_derived(load(tmp_path / "my.yaml"))
    assert ("distances" in derived) == distances
    assert ("equal_cost" in derived) == (measures == {None})


def test_points_of_another_configuration_are_forced_without_a_record_of_snakemake(rings: Run):
    """Steps by hand leave none: the run of another configuration took the points that were there for made."""
    rings.here("points")
    assert command._forced(load(rings.config), rings.folder) == []
    rings.config.write_text(rings.config.read_text() + "loads: [{traffic: uniform, nodes: {to: 8}}]\n")
    assert command._forced(load(rings.config), rings.folder) == ["--forcerun", "points"]
