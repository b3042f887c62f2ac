"""A run of networks that differ in their seed is one point: the same rows, failures and resumption as one by one."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import FAMILIES, plan
from torusweep.networks.seed_runs import (
    SEED,
    Networks,
    SeedRun,
    before_seed,
    of_seed,
    pieces,
    read_run,
    spellings_of,
)
from torusweep.questions.how import How
from torusweep.questions.screen.stage import ScreenRequest
from torusweep.questions.stage import LazyNetwork, attempt
from torusweep.questions.static.stage import StaticRequest
from torusweep.stages import STAGES
from torusweep.sweeps.batches import Batch, Batches
from torusweep.sweeps.configuration import of_mapping
from torusweep.sweeps.configuration.schema import Cluster
from torusweep.sweeps.expansion import SweepNetwork, expand
from torusweep.sweeps.forecast import START_SECONDS, forecast
from torusweep.sweeps.left_out import notes_of
from torusweep.sweeps.points import Partly, Point, networks_of, rows_of_many
from torusweep.sweeps.requested_points import requested_points

from tests.run.faulty_worker import made_up_rows
from tests.run.rings import Run
from tests.run.test_rows_together import one_after_the_other

FAULTY = "faulty(mesh(k=3, n=2), links=2"
DRAWN = {"family": "faulty", "topology": "mesh(k=3, n=2)", "links": 2}


# entries of every stage that has a section, of which some have several requests, some the same, or one network alone
UP_DOWN = {"routing": "up_down", "vc_rule": "none", "virtual_channels": 1}
ASKED = {
    "loads": [
        {"routing": ["minimal", "up_down"], "traffic": ["uniform", "random_permutation(seed=1)"]},
        {"traffic": "uniform"},
        {"routing": "minimal", "sample": {"packets": 1000}},
    ],
    "deadlock": [UP_DOWN | {"virtual_channels": [1, 2]}, {**UP_DOWN, "routing": "minimal"}],
    "layout": [{"placement": ["straight", "folded"]}],
    "simulation": [{"loads": [0.05, 0.1], "cycles": 60, "warm_up": 20, **UP_DOWN, "traffic": ["uniform", "neighbour"]}],
    "collectives": [{"operation": ["all_gather", "all_reduce"], "algorithm": ["optimum", "trees"]}],
    "cost": [{}, {"topologies": [f"{FAULTY}, seed=5)"], "model": ["2014-besta", "2023-circuits"]}],
    "availability": [{"failures": [1, 2], "draws": 4, "measures": ["connectivity", "distances"]}],
    "screen": [{}],
}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seeds are a run, of which the first is checked."""
    monkeypatch.setattr("torusweep.sweeps.expansion.MANY", 10)
    monkeypatch.setattr("torusweep.sweeps.expansion.CHECKED", 10)


def entry(first: int, last: int, **more: object) -> dict[str, object]:
    return {**DRAWN, "seed": {"from": first, "to": last}, **more}


def sweep_of(*entries: object, **more: object):
    return of_mapping({"sweep": "drawn", "topologies": list(entries), **more})


def one_by_one(networks: list[SweepNetwork]) -> list[SweepNetwork]:
    """The networks, without their plans."""
    return [SweepNetwork(name, network.fault_nodes) for network in networks for name in spellings_of(network.topology)]


def test_every_family_that_draws_has_its_seed_last_and_0_by_default():
    drawn = [family for family in FAMILIES.values() if SEED in inspect.signature(family).parameters]
    assert len(drawn) >= 6
    for family in drawn:
        *others, seed = inspect.signature(family).parameters.values()
        assert others
        assert (seed.name, seed.default) == (SEED, 0)


def test_spellings_are_those_of_the_networks():
    run = SeedRun(FAULTY, 0, 12)
    assert list(run.spellings) == [plan(f"{FAULTY}, seed={seed})")[0] for seed in range(13)]
    assert read_run(str(run)) == run
    assert [before_seed(spelling) for spelling in run.spellings] == [(FAULTY, seed) for seed in range(13)]
    for text in (of_seed(FAULTY, 3), "lattices(dimensions=3, nodes=512)"):
        assert read_run(text) == text
    assert before_seed("torus(k=4, n=2)") == ("torus(k=4, n=2", 0)


def test_a_run_without_intervals_is_what_a_loop_leaves():
    random = Random(2)
    for _ in range(300):
        run = SeedRun(FAULTY, *sorted(random.sample(range(30), 2)))
        others = [tuple(sorted(random.choices(range(30), k=2))) for _ in range(random.randrange(5))]
        left = list(run.without(others))
        assert all(part.size > 0 for part in left)
        seeds = [seed for part in left for seed in range(part.first, part.last + 1)]
        taken = {seed for first, last in others for seed in range(first, last + 1)}
        assert seeds == [seed for seed in range(run.first, run.last + 1) if seed not in taken]


def test_what_is_new_and_how_it_is_cut_are_what_sets_say():
    random = Random(3)
    for _ in range(200):
        asked, known = [Networks() for _ in range(3)], [set[int]() for _ in range(3)]
        for _ in range(random.randrange(1, 6)):
            alone = random.random() < 0.3
            first = random.randrange(30)
            last = first if alone else random.randrange(first, 31)
            topology = of_seed(FAULTY, first) if alone else SeedRun(FAULTY, first, last)
            some = random.sample(range(3), 2)
            new = {place: asked[place].add(topology) for place in some}
            fresh = {place: set(range(first, last + 1)) - known[place] for place in some}
            for place in some:
                spelled = [spelling for part in new[place] for spelling in spellings_of(part)]
                assert spelled == [of_seed(FAULTY, seed) for seed in sorted(fresh[place])]
                known[place] |= fresh[place]
                assert {seed for seed in range(40) if of_seed(FAULTY, seed) in asked[place]} == known[place]
            if alone:
                continue
            cut = list(pieces(new.values()))
            seeds = [seed for piece, _ in cut for seed in range(piece.first, piece.last + 1)]
            assert seeds == sorted(set.union(*fresh.values()))
            for piece, places in cut:
                for seed in range(piece.first, piece.last + 1):
                    assert places == [number for number, place in enumerate(some) if seed in fresh[place]]


def test_layouts_that_latency_needs_are_of_runs(few: None):
    asked = {"model": "parhami-kwai-2004", "message_bits": 384, "rates": 0, "constant": "wiring_volume"}
    points = requested_points(sweep_of(entry(1, 12), latency=[{**asked, "placement": "straight"}]))
    assert [point.topology for point in points if point.stage == "layout"] == [SeedRun(FAULTY, 1, 12)]


def test_each_network_once_whatever_the_entries(few: None, monkeypatch: pytest.MonkeyPatch):
    entries = [
        f"{FAULTY}, seed=7)",
        entry(0, 19),
        f"{FAULTY}, seed=12)",
        "mesh(k=3, n=2)",
        entry(15, 40, links=[1, 2]),
        entry(30, 34),
        f"{FAULTY})",
    ]
    together = expand(sweep_of(*entries))
    assert sum(isinstance(network.topology, SeedRun) for network in together) == 4
    monkeypatch.setattr("torusweep.sweeps.expansion.MANY", 1_000)
    alone = expand(sweep_of(*entries))
    assert one_by_one(together) == one_by_one(alone)
    assert len({network.topology for network in alone}) == len(alone) == 41 + 1 + 26


OTHER = [{"from": 0, "to": 40, "step": 2}, {"from": 0, "to": 8}, [*range(9)], [*range(20), 19], [*range(10, 0, -1)]]


@pytest.mark.parametrize("seed", OTHER)
def test_other_seeds_are_networks_one_by_one(few: None, seed: object):
    found = expand(sweep_of({**DRAWN, "seed": seed}))
    assert all(isinstance(network.topology, str) for network in found)


def test_a_list_of_seeds_that_follow_each_other_is_a_run(few: None):
    assert expand(sweep_of({**DRAWN, "seed": [*range(3, 20)]})) == expand(sweep_of(entry(3, 19)))
    assert expand(sweep_of(entry(3, 19)))[0].topology == SeedRun(FAULTY, 3, 19)
    with pytest.raises(BadInput, match="seed"):
        expand(sweep_of({**DRAWN, "seed": [0, True, *range(2, 20)]}))


def test_where_faults_are_counted_networks_are_points(few: None):
    assert len(expand(sweep_of(entry(1, 20, fault_nodes=1)))) == 20
    with pytest.raises(BadInput, match="fault_nodes 1, and among many seeds without"):
        expand(sweep_of(entry(0, 20), entry(3, 4, fault_nodes=1)))


def test_the_limit_counts_networks(few: None):
    with pytest.raises(Refused, match=r"limits\.points is 20"):
        expand(sweep_of(entry(0, 20), limits={"points": 20}))
    twice = requested_points(sweep_of(entry(0, 20), screen=[{}, {}], limits={"points": 42}))
    assert networks_of(point for point in twice if point.stage == "screen") == 21  # the second entry adds none
    with pytest.raises(Refused, match=r"21 points of screen; limits\.points is 30"):
        requested_points(sweep_of(entry(0, 20), screen=[{}, {"nodes": 9}], limits={"points": 30}))


def test_every_stage_takes_runs(few: None):
    points = requested_points(sweep_of(entry(0, 12), **ASKED))
    assert {point.stage for point in points} == {*STAGES}
    runs = {point.topology for point in points} - {f"{FAULTY}, seed=5)"}
    assert runs == {SeedRun(FAULTY, 0, 12)}
    assert [point.entry for point in points if point.stage == "loads"] == [0, 0, 0, 0, 2]  # the second asks nothing new


def test_a_note_counts_the_networks_of_runs_each_once(few: None):
    slow = {"topology": "with_links(mesh(k=3, n=2), latencies=[3])"}
    loads = [{"topologies": [f"faulty({slow['topology']}, links=2, seed=5)"]}, {}, {"traffic": "neighbour"}]
    points = requested_points(sweep_of(entry(0, 12, **slow), entry(10, 22, **slow), loads=loads))
    assert notes_of(points) == ("loads leaves out latency (23 networks)",)


def test_an_entry_may_name_a_network_of_a_run(few: None):
    named = f"{FAULTY}, seed=5)"
    points = requested_points(sweep_of(entry(1, 12), screen=[{"topologies": [named]}]))
    assert [point.topology for point in points if point.stage == "screen"] == [named]


@pytest.mark.parametrize("pace", [0.05, 1.0, 30.0])
def test_a_run_is_cut_into_batches_of_the_time_that_networks_take(pace: float):
    run = Point("static", SeedRun(FAULTY, 5, 20_004), StaticRequest())
    other = Point("static", "ring(k=5)", StaticRequest())
    batches = Batches({run: 200.0, other: 0.01}, batch_seconds=1.0)
    seen: list[Point] = []
    while batches:
        batch = batches.next(places=2)
        batches.took(batch, batch.cost * pace)
        seen += batch.points
        if len(seen) > 1:
            assert batch.cost * pace < 1.001 + 0.01 * pace  # a network more than the time allows, at most
    assert seen.count(other) == 1
    seeds = [seed for point in seen if point != other for seed in range(point.seeds[0], point.seeds[1] + 1)]
    assert seeds == list(range(5, 20_005))


def test_a_run_alone_in_its_batch_is_halved():
    run = Point("static", SeedRun(FAULTY, 0, 6), StaticRequest())
    batches = Batches({}, batch_seconds=100.0)
    batches.halve(Batch([run], 7.0))
    halves = [batches.next(places=1), batches.next(places=1)]
    assert [half.points[0].seeds for half in halves] == [(0, 3), (4, 6)]
    assert [half.cost for half in halves] == [pytest.approx(4.0), pytest.approx(3.0)]


def drawn(home: Path, last: int, stage: str = "") -> Run:
    run = Run(home)
    run.folder = home / "results" / "drawn"
    entry = f"{{family: faulty, topology: 'mesh(k=3, n=2)', links: 2, seed: {{from: 0, to: {last}}}}}"
    run.config.write_text(f"sweep: drawn\ntopologies:\n  - {entry}\n{stage}cluster: {{batch_seconds: 0.01}}\n")
    return run


@pytest.mark.parametrize("stage", ["", *ASKED])
def test_tables_are_the_same_bytes_as_one_by_one(stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tables = {}
    for many in (10, 1_000):
        monkeypatch.setattr("torusweep.sweeps.expansion.MANY", many)
        (tmp_path / str(many)).mkdir()
        entries = json.dumps({stage: ASKED[stage]} if stage else {"screen": [{}]})[1:-1]
        run = drawn(tmp_path / str(many), 12 if stage else 40, f"{entries}\n")
        for step in ("points", *((stage,) if stage else ("static", "screen", "distances"))):
            assert run.here(step, **({"workers": 0} if step in STAGES else {})) == 0
        points = pq.read_table(run.folder / "points.parquet").column("topology").to_pylist()
        assert any(text != read_run(text) for text in points) == (many == 10)
        names = [path.stem for path in run.folder.glob("*.parquet") if path.stem != "points"]
        tables[many] = {name: (run.folder / f"{name}.parquet").read_bytes() for name in names}
        assert pq.read_table(run.folder / f"{stage or 'static'}.parquet").num_rows >= 13
    assert tables[10] == tables[1_000]


BROKEN = "faulty(mesh(k=3, n=2), links=2, nodes=1"  # some are in pieces; numbers of links differ
PARTIAL: dict[str, list[dict[str, object]]] = {
    "loads": [{"routing": ["up_down", "minimal"], "traffic": ["uniform", "shift(by=1)"]}],
    "deadlock": [UP_DOWN],
    "simulation": [{"loads": [0.05], "cycles": 60, "warm_up": 20, **UP_DOWN}],
    "availability": [{"failures": 8, "draws": 4, "measures": "connectivity"}],
}


def points_of(stage: str, before: str, first: int, last: int, *asked: object) -> list[Point]:
    topology = before.removeprefix("faulty(").partition("), ")[0] + ")"
    values = dict(item.split("=") for item in before.partition("), ")[2].split(", "))
    numbers = {name: int(value) for name, value in values.items()}
    entry = {"family": "faulty", "topology": topology, **numbers, "seed": {"from": first, "to": last}}
    points = requested_points(sweep_of(entry, static="none", **{stage: list(asked)}))
    return [point for point in points if point.stage == stage]


def refused(point: Point) -> bool:
    """Whether it is before anything is computed, where the network stands alone."""
    return isinstance(attempt(STAGES[point.stage].check, LazyNetwork(point.topology), point.request), BadInput)


def test_what_does_not_suit_is_left_out_where_an_entry_says_so(few: None, monkeypatch: pytest.MonkeyPatch):
    """As one by one. A second entry adds what is new; points of an entry are of the same seeds, or of others."""
    (asked,) = PARTIAL["loads"]
    entries = [{**one, "skip_unsuitable": True} for one in (asked | {"traffic": "shift(by=1)"}, asked)]
    monkeypatch.setattr("torusweep.sweeps.expansion.MANY", 1_000)
    alone = points_of("loads", BROKEN, 0, 60, *entries)
    monkeypatch.setattr("torusweep.sweeps.expansion.MANY", 10)
    together = points_of("loads", BROKEN, 0, 60, *entries)
    assert 61 < len(alone) < 4 * 61
    assert len(together) < len(alone)
    rows = [(point.entry, seed, point) for point in together for seed in range(point.seeds[0], point.seeds[1] + 1)]
    rows.sort(key=lambda row: row[:2])  # by member: stable
    found = [(of_seed(BROKEN, seed), point.request) for _, seed, point in rows]
    assert found == [(point.topology, point.request) for point in alone]
    pairs = [(one, other) for one in together for other in together if one.entry == other.entry]
    for one, other in pairs:
        assert one.seeds == other.seeds or one.seeds[1] < other.seeds[0] or other.seeds[1] < one.seeds[0]


@pytest.mark.parametrize("stage", PARTIAL)
def test_the_first_network_is_checked_for_all_and_others_fail_alone(few: None, stage: str):
    networks = [replace(point, topology=of_seed(BROKEN, seed)) for point in _unchecked(stage) for seed in range(24)]
    wrong = {network.topology for network in networks if refused(network)}
    whole = [seed for seed in range(12) if of_seed(BROKEN, seed) not in wrong]
    broken = [seed for seed in range(12) if seed not in whole]
    assert whole
    assert broken
    with pytest.raises(BadInput, match=r"skip_unsuitable|choose fewer"):
        points_of(stage, BROKEN, broken[0], broken[0] + 12, *PARTIAL[stage])
    first = whole[0]
    for point in points_of(stage, BROKEN, first, first + 11, *PARTIAL[stage]):
        assert point.seeds == (first, first + 11)
        expected = [refused(network) for network in point.networks]
        (found,) = rows_of_many([point], How("numpy"))
        failed = found.failed if isinstance(found, Partly) else {}
        assert [network in failed for network in point.networks] == expected
        assert all(isinstance(error, BadInput) for error in failed.values())
        rows = found.rows if isinstance(found, Partly) else found
        whole = [one for one, wrong in zip(point.networks, expected) if not wrong]
        alone = pa.concat_tables(one_after_the_other(whole, How("numpy")))
        assert rows.drop_columns(["key", "member"]).equals(alone.drop_columns(["key", "member"]))


@pytest.mark.parametrize("stage", PARTIAL)
def test_of_few_seeds_each_is_checked(stage: str):
    """As if it stood alone: what does not suit is refused before anything is computed."""
    points = _unchecked(stage)
    suits = [not any(refused(replace(point, topology=of_seed(BROKEN, seed))) for point in points) for seed in range(24)]
    first = suits.index(True)
    wrong = suits.index(False, first)
    with pytest.raises(BadInput, match=r"skip_unsuitable|choose fewer") as refusal:
        points_of(stage, BROKEN, first, first + 23, *PARTIAL[stage])
    assert of_seed(BROKEN, wrong) in str(refusal.value)


def _unchecked(stage: str) -> list[Point]:
    """The points of a network that all of them suit."""
    with_all = "faulty(mesh(k=3, n=2), links=0, nodes=0"
    return points_of(stage, with_all, 0, 11, *PARTIAL[stage])


def test_more_seeds_compute_what_is_new(tmp_path: Path, few: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("torusweep.run.driver.rows_of_many", made_up_rows)
    computed = []
    for last in (20, 30, 10, 30):
        run = drawn(tmp_path, last)
        before = set(run.shards())
        assert run.here("points") == run.here("static", workers=0) == 0
        computed.append(sum(pq.read_metadata(path).num_rows for path in set(run.shards()) - before))
        assert topologies(run) == [of_seed(FAULTY, seed) for seed in range(last + 1)]
    assert computed == [21, 10, 0, 0]


@pytest.mark.faults
def test_poisoned_networks_of_a_run_are_named_and_the_rest_completes(tmp_path: Path):
    run = drawn(tmp_path, 1_049)
    run.here("points")
    poisoned, defect = of_seed(FAULTY, 17), of_seed(FAULTY, 900)
    status, said = run.step("static", "--workers", "2", fault=f"kill {poisoned}; raise {defect}")
    run.end()
    assert status == 0, said
    failed = run.failed()
    assert set(failed) == {poisoned, defect}
    assert "its worker died 3 times" in failed[poisoned]
    assert failed[defect] == "ZeroDivisionError: a made-up defect"
    names = list(spellings_of(SeedRun(FAULTY, 0, 1_049)))
    assert topologies(run) == [name for name in names if name not in failed]


def topologies(run: Run) -> list[str]:
    return pq.read_table(run.folder / "static.parquet").column("topology").to_pylist()


def test_a_forecast_divides_a_run_among_the_workers():
    run = Point("screen", SeedRun(FAULTY, 0, 9_999), ScreenRequest(None))
    found = forecast({run: 100.0}, Cluster(workers=2))
    assert found.seconds == pytest.approx(START_SECONDS + 50)
    assert (found.points, found.stages[0].longest) == (10_000, pytest.approx(0.01))
