"""Networks of a batch are computed together, whatever their families: the same rows and failures as of each alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import networkx as nx
import pyarrow as pa
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import FAMILIES, plan
from torusweep.networks.picture import SMALL
from torusweep.networks.seed_runs import SeedRun, first_of, in_parts, spellings_of
from torusweep.questions.how import How
from torusweep.questions.loads.stage import LoadsRequest
from torusweep.questions.screen.stage import ScreenRequest
from torusweep.questions.stage import FEW, LazyNetwork
from torusweep.questions.static.stage import StaticRequest
from torusweep.stages import STAGES
from torusweep.sweeps.points import Partly, Point, rows_of_many

NETWORKS = [
    *(spelling for choices in SMALL.values() for spelling in choices.values()),
    *(f"mesh(k={k}, n=2)" for k in (2, 3, 5, 9)),
    *("torus(radices=[2, 3])", "torus(radices=[8, 4, 2])", "full_mesh(radices=[24])", "faulty(ring(k=3), nodes=2)"),
    *("faulty(torus(k=4, n=2), links=31)", "faulty(dragonfly(a=4, h=2, p=2), nodes=1, links=2)"),
    *("faulty(kautz(d=2, k=3), links=3, nodes=1)", "faulty(fat_tree(k=4, n=2), links=3, seed=2)"),
    "with_links(mesh(k=3, n=2), latencies=[3])",
]
SPELLINGS = [
    *dict.fromkeys(plan(spelling)[0] for spelling in NETWORKS),
    *(SeedRun(f"faulty({inner}, links=2", 3, 9) for inner in ("torus(k=4, n=2)", "mesh(k=3, n=3)")),
    SeedRun("random_regular(nodes=18, degree=3", 0, 4),
]
REQUESTS = {
    "screen": ScreenRequest(None),
    "loads": LoadsRequest("minimal", "uniform"),
    "static": StaticRequest(None, "distances"),
    "static, own routing": StaticRequest(None, "own_routing, distances, latencies"),
    "static, four": StaticRequest(None, "own_routing, distances, latencies, connectivity"),
    "static, all": StaticRequest(None),
    "static, bisection": StaticRequest(None, "distances, bisection"),
}
OF_FAMILIES = [asked for asked in REQUESTS if asked != "static, bisection"]
OF_RUNS = [asked for asked in REQUESTS if asked != "static, own routing"]


@pytest.fixture
def graphs(tmp_path: Path) -> list[str]:
    """Spellings of files of 12, and of 20 nodes: regular ones and others, in pieces, with parallel links."""
    drawn = [nx.gnm_random_graph(nodes, links, seed=nodes) for nodes in (12, 20) for links in (11, 20, 33)]
    drawn += [nx.random_regular_graph(3, nodes, seed=seed) for nodes in (12, 20) for seed in range(3)]
    drawn += [nx.circulant_graph(12, [1, 5]), nx.complete_graph(12), nx.star_graph(11), nx.path_graph(12)]
    found = []
    for number, graph in enumerate(drawn):
        path = tmp_path / f"{number}.edgelist"
        again = "0 1\n" * (number % 2)
        path.write_text("".join(f"{tail} {head}\n" for tail, head in [*graph.edges, *nx.path_graph(3).edges]) + again)
        found.append(plan(f'graph(path="{path}")')[0])
    return found


def one_after_the_other(networks: list[Point], how: How) -> list[pa.Table | Exception | Partly]:
    """A network in a batch is computed alone."""
    return [rows for network in networks for rows in rows_of_many([network], how)]


def rows(found: pa.Table | Exception | Partly) -> pa.Table:
    assert isinstance(found, pa.Table)
    return found


@pytest.mark.parametrize(
    ("backend", "large"), [("numpy", 80), ("numba", 130), pytest.param("numba", 300, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("asked", OF_FAMILIES)
def test_all_families_together_have_the_rows_of_each_alone(
    asked: str, backend: str, large: int, graphs: list[str], monkeypatch: pytest.MonkeyPatch
):
    """To the bit, in whatever order and number; those of some points are computed one by one."""
    assert {first_of(topology).partition("(")[0] for topology in [*SPELLINGS, *graphs]} == set(FAMILIES)
    stage, how = STAGES[asked.partition(",")[0]], How(backend, threads=1)
    points = [Point(stage.name, spelling, REQUESTS[asked]) for spelling in [*SPELLINGS, *graphs]]
    points = [point for point in points if LazyNetwork(next(spellings_of(point.topology))).plan.nodes <= large]
    each = [one_after_the_other([*point.networks], how) for point in points]
    alone = {
        point: pa.concat_tables(map(rows, found))
        for point, found in zip(points, each)
        if not any(isinstance(one, Exception) for one in found)
    }
    points = list(alone)
    assert len(points) > (0.9 if stage.name != "loads" else 0.8) * len(each)  # not those that are in pieces
    called = []
    compute = type(stage).rows_of_block
    monkeypatch.setattr(type(stage), "rows_of_block", lambda *given: called.append(given[1]) or compute(*given))
    for seed, channels in ((None, 1 << 22), (1, 700), (2, 5_000)):
        monkeypatch.setattr("torusweep.questions.blocks.CHANNELS", channels)
        if seed is not None:
            Random(seed).shuffle(points)
        called.clear()
        for point, computed in zip(points, rows_of_many(points, how), strict=True):
            table, expected = rows(computed), alone[point].drop_columns(["key", "member"])
            for name in expected.column_names:
                assert table.column(name).to_pylist() == expected.column(name).to_pylist(), (point, name)
            assert table.drop_columns(["key", "member"]).equals(expected)
            first, last = point.seeds
            assert table.column("member").to_pylist() == list(range(first, last + 1))
            assert table.column("key").to_pylist() == [point.key] * point.count
        together = sum(len(networks) for networks in called)
        assert together >= (0.15 if "all" in asked or "four" in asked else 0.85) * len(points)


@pytest.mark.parametrize("asked", ["screen", "static", "loads"])
def test_a_network_that_cannot_be_computed_fails_alone(asked: str, graphs: list[str], monkeypatch: pytest.MonkeyPatch):
    """A file that is gone when its batch is computed; a draw that leaves no terminals."""
    drawn = SeedRun("faulty(fat_tree(k=2, n=2), nodes=2", 0, 39)
    points = [Point(asked, spelling, REQUESTS[asked]) for spelling in [*graphs, *drawn.spellings, "ring(k=9)"]]
    alone = one_after_the_other(points, How("numba"))
    assert 0 < sum(isinstance(one, Exception) for one in alone) < 40
    for one, other in zip(rows_of_many(points, How("numba")), alone, strict=True):
        assert str(one) == str(other) if isinstance(one, Exception) else rows(one).equals(rows(other))
    gone = Path(graphs[3].partition('"')[2].rstrip('")'))
    gone.unlink()
    found = rows_of_many(points, How("numba"))
    assert isinstance(found[3], BadInput)
    assert all(rows(one).equals(rows(other)) for one, other in zip(found[:3], alone[:3]))


RUNS = [
    "faulty(torus(k=4, n=2), links=2",
    "faulty(torus(k=6, n=2), links=1",  # more than 128 channels, which NumPy adds up in parts
    "faulty(torus(k=2, n=3), links=2",  # links side by side
    "faulty(mesh(k=4, n=2), links=9, nodes=2",  # in pieces
    "faulty(torus(k=4, n=2), links=31",  # nodes without links
    "faulty(directed_torus(k=4, n=2), links=1",
    "faulty(fat_tree(k=4, n=2), links=3",
    "faulty(hyperx(radices=[3, 4], terminals=2, widths=[1, 2]), links=3, nodes=1",
    "faulty(with_links(mesh(k=3, n=2), bandwidths=[2], latencies=[3]), links=1",
    "faulty(hyperx(radices=[6]), links=3",  # nodes next to all others
    "faulty(ring(k=3), nodes=2",  # one is left
    "random_regular(nodes=16, degree=4",
    "jellyfish(switches=12, ports=6, degree=4",
    "xpander(degree=4, lift=3",
    "dragonfly(a=4, p=2, h=2, arrangement=random",
    "megafly(leaves=2, spines=2, p=2, h=2, arrangement=random",
]


def cases() -> Iterator[object]:
    """`make test` has half of the pairs of runs and what is asked under NumPy, and a dozen networks under Numba."""
    for place, before in enumerate(RUNS):
        for number, asked in enumerate(OF_RUNS):
            yield pytest.param(before, asked, "numpy", 6, marks=[pytest.mark.slow] * ((place + number) % 2))
            yield pytest.param(before, asked, "numba", 12)
            yield pytest.param(before, asked, "numba", 40, marks=pytest.mark.slow)


@pytest.mark.parametrize(("before", "asked", "backend", "many"), [*cases()])
def test_networks_together_have_the_rows_of_each_alone(
    before: str, asked: str, backend: str, many: int, monkeypatch: pytest.MonkeyPatch
):
    """To the bit, whatever is computed at once."""
    point = Point(asked.partition(",")[0], SeedRun(before, 0, many - 1), REQUESTS[asked])
    how = How(backend, threads=1)
    alone = pa.concat_tables(one_after_the_other(point.networks, how))
    for channels in (1 << 22, 700):
        monkeypatch.setattr("torusweep.questions.blocks.CHANNELS", channels)
        stage, first = STAGES[point.stage], LazyNetwork(first_of(point.topology))
        cuts = asked in ("static, four", "static, all", "static, bisection")
        symmetric = cuts and before.startswith(("dragonfly", "megafly"))
        unlike = asked in ("static, all", "static, bisection") and "directed" in before
        if symmetric or unlike or (asked in ("screen", "loads") and "bandwidths" in before):
            assert stage.together(first, point.request) is None  # they are computed one by one
        else:
            assert stage.together(first, point.request) is not None
            together = stage.rows_of_block([(point.topology, first.plan)], point.request, how)
            for name in together.column_names:
                assert together.column(name).to_pylist() == alone.column(name).to_pylist(), name
            assert together.equals(alone.drop_columns(["key", "member"]))
    (found,) = rows_of_many([point], how)
    assert found.column("member").to_pylist() == list(range(many))
    assert found.drop_columns(["key", "member"]).equals(alone.drop_columns(["key", "member"]))


def test_measures_that_are_not_computed_together_are_computed_one_by_one():
    network = LazyNetwork("faulty(mesh(k=3, n=2), links=2)")
    for measures in ("connectivity", "latencies, bisection", "latencies"):
        assert STAGES["static"].together(network, StaticRequest(None, measures)) is None


def test_a_network_that_cannot_be_built_fails_alone():
    """Two of four switches fail, of which two have all terminals: some draws leave none, and are refused."""
    point = Point("screen", SeedRun("faulty(fat_tree(k=2, n=2), nodes=2", 0, 39), ScreenRequest(None))
    alone = one_after_the_other(point.networks, How("numba"))
    wrong = [network for network, rows in zip(point.networks, alone) if isinstance(rows, Exception)]
    assert 0 < len(wrong) < 40
    (found,) = rows_of_many([point], How("numba"))
    assert list(found.failed) == wrong
    assert found.rows.num_rows == 40 - len(wrong)


def test_few_networks_large_ones_and_unlike_ones_are_computed_alone(monkeypatch: pytest.MonkeyPatch):
    sizes = []
    stage = type(STAGES["screen"])
    compute = stage.rows_of_block
    monkeypatch.setattr(stage, "rows_of_block", lambda *given: sizes.append(len(given[1])) or compute(*given))

    def blocks(spellings: list[str]) -> list[int]:
        sizes.clear()
        points = [Point("screen", spelling, REQUESTS["screen"]) for spelling in spellings]
        assert all(isinstance(found, pa.Table) for found in rows_of_many(points, How("numba")))
        return sorted(sizes)

    rings = [f"ring(k={k})" for k in range(5, 5 + FEW)]
    assert blocks(rings[1:]) == []
    assert blocks(rings) == [FEW]
    assert blocks([*rings, "kautz(d=2, k=3)", "torus(k=20, n=2)", "full_mesh(radices=[40])"]) == [FEW]
    assert blocks([*rings, *(f"torus(radices=[{x}, 20])" for x in range(19, 25))]) == [FEW]
    assert blocks([*rings, *(f"faulty(ring(k={k}), links=1)" for k in range(1025, 1029))]) == [FEW]
    assert blocks([*rings, "with_links(ring(k=9), bandwidths=[2])"]) == [FEW]
    assert blocks([*rings, *(f"kautz(d=2, k={k})" for k in range(2, 2 + FEW))]) == [FEW, FEW]


def test_parts_have_the_networks_in_order():
    random, plans = Random(1), [plan(f"ring(k={k})") for k in range(3, 9)]
    for _ in range(100):
        networks = [
            (SeedRun("faulty(ring(k=9), links=1", begin, begin + random.randrange(12)), planned)
            if random.random() < 0.5
            else (spelling, planned)
            for begin, (spelling, planned) in enumerate(random.choices(plans, k=random.randrange(8)))
        ]
        most = random.randrange(1, 9)
        parts = [[one for topology, _ in part for one in spellings_of(topology)] for part in in_parts(networks, most)]
        assert all(len(part) == most for part in parts[:-1])
        assert all(0 < len(part) <= most for part in parts[-1:])
        assert [one for part in parts for one in part] == [
            one for topology, _ in networks for one in spellings_of(topology)
        ]
