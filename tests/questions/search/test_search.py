"""A search: known optima, the same result however it was divided, what is written, what is refused."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import networkx
import numpy as np
import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.search import run as chains_of
from torusweep.questions.search.run import Chain, advance, begin, best_of, publish, search
from torusweep.questions.search.wanted import Wanted, places, random_graph
from torusweep.questions.static.record import static_record
from torusweep.tables.store import open_table
from torusweep_kernels.annealing import Quotient, energy, lifted
from torusweep_kernels.backend import BackendUnavailable, gpu_count


@pytest.mark.parametrize(
    ("nodes", "degree", "diameter"),
    [(10, 3, 2), (15, 4, 2), (20, 3, 3), (20, 5, 2), (25, 6, 2), (30, 5, 3), (40, 6, 3)],
)
def test_optimal_diameters_are_found(nodes, degree, diameter, tmp_path):
    row = search(Wanted(nodes, degree, "diameter", chains=2), tmp_path, moves=200_000)
    assert (row["diameter"], row["optimal"], row["gap"]) == (diameter, True, 0)
    assert row["diameter"] == row["diameter_bound"]


def test_the_petersen_graph_is_found(tmp_path):
    """The only graph of 10 nodes and degree 3 that attains the bound of the mean distance."""
    row = search(Wanted(10, 3, symmetry=5), tmp_path, moves=100_000)
    graph = networkx.Graph(list(map(tuple, np.loadtxt(next(tmp_path.glob("*.edges")), int).tolist())))
    assert row["optimal"]
    assert row["mean_distance_distinct"] == pytest.approx(15 / 9)
    assert networkx.is_isomorphic(graph, networkx.petersen_graph())


def test_python_finds_the_petersen_graph(tmp_path):
    """The same row as the search's, its graph as a network, in a thread that gets no signals too."""
    asked = {"nodes": 10, "degree": 3, "symmetry": 5, "moves": 100_000, "chains": 1}
    found = ts.search(**asked, results=tmp_path / "function")
    row = search(Wanted(10, 3, symmetry=5), tmp_path / "run", moves=100_000)
    assert found.record | {"topology": ""} == row | {"topology": ""}
    graph = ts.network(found.topology).to_networkx()
    assert networkx.is_isomorphic(graph, networkx.petersen_graph())
    assert found.table["optimal"].to_pylist() == [True]
    assert "optimal              yes" in repr(found)
    with ThreadPoolExecutor(1) as pool:
        again = pool.submit(lambda: ts.search(**asked, results=tmp_path / "thread")).result()
    assert again.record | {"topology": ""} == row | {"topology": ""}


def test_the_row_is_what_the_file_has(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = search(Wanted(48, 4, symmetry=4, seed=3), tmp_path / "found", moves=3000)
    static = static_record(build(row["topology"]))
    for name in ("nodes", "diameter", "mean_distance", "mean_distance_distinct"):
        assert row[name] == static[name], name
    assert row["degree"] == static["degree_max"] == static["degree_min"]
    assert row["mean_distance_bound"] < row["mean_distance"]
    assert row["moves"] == 3072
    search(Wanted(48, 4, symmetry=4, seed=1), tmp_path / "found", moves=300)
    search(Wanted(48, 4, symmetry=4, seed=3), tmp_path / "found", moves=6000)
    rows = open_table(tmp_path / "found" / "search.parquet").to_pylist()
    assert [(each["seed"], each["moves"]) for each in rows] == [(1, 512), (3, 6144)]


def test_the_result_depends_on_the_moves_alone(tmp_path, monkeypatch):
    """Not on threads, on how often the search was saved, nor on where it was stopped."""
    wanted = Wanted(36, 4, symmetry=3, seed=5, chains=3)
    files = []
    for name, threads, stops in (("one", 1, [30_000]), ("many", 4, [30_000]), ("stopped", 2, [256, 9_000, 30_000])):
        monkeypatch.setattr("torusweep.questions.search.run.SAVE_SECONDS", 0.001 if name == "many" else 2.0)
        rows = [search(wanted, tmp_path / name, moves=moves, threads=threads) for moves in stops]
        files.append(((tmp_path / name / f"{wanted.name}.edges").read_bytes(), rows[-1] | {"topology": ""}))
    assert files[0] == files[1] == files[2]


def test_chains_advance_alike_in_any_parts():
    wanted = Wanted(20, 3, seed=2, chains=2)
    whole = advance(wanted, begin(wanted), 150, 1)
    parts = begin(wanted)
    for blocks in (1, 62, 2, 80, 5):  # the first cycle has 64 blocks
        parts = advance(wanted, parts, blocks, 2)
    for one, other in zip(whole, parts):
        assert one[2:] == other[2:]
        assert np.array_equal(lifted(one.graph), lifted(other.graph))
        assert np.array_equal(lifted(one.best), lifted(other.best))
    assert best_of(wanted, whole).energy == min(chain.energy for chain in whole)


def test_a_gpu_finds_the_same(tmp_path, as_cupy):
    """In a search of its own, and where the other backend stopped."""
    as_cupy()
    wanted = Wanted(24, 3, symmetry=4, seed=2, chains=2)
    for moves, backends in ((65, ("numba", "cupy")), (67, ("cupy", "numba"))):  # the first cycle has 64 blocks
        found = []
        for name, backend in zip(("one", "other"), backends):
            row = search(wanted, tmp_path / name, moves=moves * 256, backend=backend)
            found.append(((tmp_path / name / f"{wanted.name}.edges").read_bytes(), row | {"topology": ""}))
        assert found[0] == found[1]
        assert found[0][1]["moves"] == moves * 256


@pytest.mark.skipif(bool(gpu_count()), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(BackendUnavailable, match="expected a GPU that CuPy can use"):
        search(Wanted(20, 3), tmp_path / "none", moves=256, backend="cupy")
    assert not (tmp_path / "none").exists()


def test_cycles_cool_and_begin_anew():
    parts = list(chains_of._cycles(Wanted(64, 4), 0, 64 + 128 + 10))
    assert [(first, len(temperatures)) for first, temperatures in parts] == [(0, 64), (64, 128), (192, 10)]
    for _, temperatures in parts:
        assert temperatures[0] == parts[0][1][0]
        assert (np.diff(temperatures) < 0).all()
    inside = next(chains_of._cycles(Wanted(64, 4), 100, 5))
    assert np.array_equal(inside[1], parts[1][1][36:41])


@pytest.mark.parametrize(("nodes", "degree", "symmetry"), [(15, 3, 3), (12, 11, 1), (60, 7, 4), (7, 6, 7)])
def test_a_search_begins_with_a_regular_graph(nodes, degree, symmetry):
    ports = lifted(random_graph(Wanted(nodes, degree, "diameter", symmetry), 0))
    neighbours = [set(row[row >= 0].tolist()) for row in ports]
    degrees = [len(each - {node}) for node, each in enumerate(neighbours)]
    assert sum(degrees) == (ports >= 0).sum()  # none parallel, none to itself
    assert min(degrees) >= degree - 1
    assert degrees.count(degree) >= nodes - (symmetry if nodes // symmetry * degree % 2 else 0)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(8, 8), "degree: expected less than the 8 nodes"),
        (Wanted(20, 3, symmetry=3), "symmetry: expected a divisor of the 20 nodes, got 3; 2 is one"),
        (Wanted(20, 3, symmetry=21), "symmetry: expected a divisor of the 20 nodes, got 21; 20 is one"),
        (Wanted(20, 3, grid=(5, 5), max_wire=2), "grid: expected columns x rows of 20 places, got 5x5"),
        (Wanted(20, 3, grid=(5, 4)), "only one of them"),
        (Wanted(20, 3, grid=(0, 4), max_wire=2), "grid: expected columns x rows of 20 places, got 0x4"),
        (Wanted(20, 3, symmetry=4, grid=(5, 4), max_wire=2), "symmetry: expected one of 1, 2 on a grid of 5x4"),
    ],
)
def test_what_cannot_be_searched_is_one_line(wanted, said, tmp_path):
    with pytest.raises(BadInput, match=said):
        search(wanted, tmp_path / "none", moves=1)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"nodes": 2, "degree": 2}, "nodes=2: expected 3 … 16,384"),
        ({"degree": 1}, "degree=1: expected 2 … 64"),
        ({"symmetry": 0}, "symmetry=0: expected ≥ 1"),
        ({"minimise": "girth"}, "minimise='girth': expected one of mean_distance, diameter"),
        ({"chains": 0}, "chains=0: expected 1 … 256"),
        ({"seed": -1}, "seed=-1: expected 0 …"),
        ({"grid": "5x4", "max_wire": 0}, "max_wire=0: expected ≥ 1"),
    ],
)
def test_what_is_out_of_range_is_refused_where_it_is_asked_for(asked, said, tmp_path):
    with pytest.raises(BadInput, match=f"^{said}"):
        ts.search(**{"nodes": 20, "degree": 3, **asked}, moves=1, results=tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("grid", "symmetry"), [((6, 6), 1), ((6, 6), 2), ((6, 6), 4), ((9, 4), 2), ((5, 5), 1), ((4, 9), 1)]
)
def test_places_turn_into_themselves(grid, symmetry):
    wanted = Wanted(grid[0] * grid[1], 3, symmetry=symmetry, grid=grid, max_wire=2)
    wanted.check()
    place = places(wanted)
    assert {tuple(each) for each in place.tolist()} == {(x, y) for x in range(grid[0]) for y in range(grid[1])}
    between = np.abs(place[:, None] - place).sum(axis=2)
    turned = np.roll(place, -wanted.orbits, axis=0)
    assert np.array_equal(between, np.abs(turned[:, None] - turned).sum(axis=2))


def test_the_bound_of_short_wires_by_a_plain_loop():
    """No node is nearer than its wires permit, and no more nodes are near than in a tree."""
    wanted = Wanted(20, 3, grid=(5, 4), max_wire=2)
    diameter = total = 0
    for x, y in places(wanted).tolist():
        reached, hops = 1, 0
        while reached < 20:
            hops += 1
            in_tree = 1 + sum(3 * 2**level for level in range(hops))
            near = sum(abs(x - u) + abs(y - v) <= 2 * hops for u, v in places(wanted).tolist())
            total += hops * (min(in_tree, near, 20) - reached)
            reached = min(in_tree, near, 20)
        diameter = max(diameter, hops)
    assert wanted.bound == (diameter, total)
    assert Wanted(20, 3, grid=(5, 4), max_wire=99).bound == Wanted(20, 3).bound


def test_the_kernel_is_loaded_before_the_clock_begins(tmp_path, monkeypatch):
    """The kernel takes three times as long to load as the search may take; after that, a block of moves takes ms."""
    calls = []
    anneal_chains = chains_of.anneal_chains

    def slow_at_first(*given, **named):
        if not calls:
            time.sleep(1.5)
        calls.append(given)
        return anneal_chains(*given, **named)

    monkeypatch.setattr(chains_of, "anneal_chains", slow_at_first)
    row = search(Wanted(64, 4, chains=1), tmp_path, seconds=0.5)
    assert row["moves"] > 256


def test_a_grid_of_short_wires_is_searched(tmp_path):
    """A 4 × 4 mesh has all the links that there can be."""
    row = search(Wanted(16, 4, grid=(4, 4), max_wire=1), tmp_path, moves=20_000)
    mesh = static_record(build("mesh(k=4, n=2)"))
    assert row["mean_distance"] >= mesh["mean_distance"] >= row["mean_distance_bound"]
    assert (row["grid"], row["max_wire"]) == ("4x4", 1)
    links = np.loadtxt(next(tmp_path.glob("*.edges")), int)
    apart = np.abs(links[:, 0] % 4 - links[:, 1] % 4) + np.abs(links[:, 0] // 4 - links[:, 1] // 4)
    assert set(apart.tolist()) == {1}


def test_a_sweeps_folder_is_refused(tmp_path):
    (tmp_path / "points.parquet").touch()
    with pytest.raises(BadInput, match="expected a folder of searches, got a sweep's results"):
        search(Wanted(12, 3), tmp_path, moves=256)
    assert len(list(tmp_path.iterdir())) == 1


def test_parts_that_stay_apart_are_no_result(tmp_path):
    with pytest.raises(BadInput, match="found no connected graph after 0 moves"):
        publish(tmp_path, wanted := Wanted(8, 2), [_two_rings(wanted)])
    assert not list(tmp_path.glob("*.edges"))


def _two_rings(wanted: Wanted) -> Chain:
    head = np.array([[1, 3], [2, 0], [3, 1], [0, 2], [5, 7], [6, 4], [7, 5], [4, 6]], np.int32)
    mate = np.array([[3, 6], [5, 0], [7, 2], [1, 4], [11, 14], [13, 8], [15, 10], [9, 12]], np.int32)
    graph = Quotient(1, head, np.zeros_like(head), mate)
    return Chain(graph, graph, *energy(graph, wanted.goal), 0)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    wanted = Wanted(12, 3)
    search(wanted, tmp_path, moves=256)
    (checkpoint,) = tmp_path.glob("*.npz")
    whole = checkpoint.read_bytes()
    for content in (whole[:-40], whole[:300] + bytes(9) + whole[309:], b"", b"PK\x03\x04" + bytes(200)):
        checkpoint.write_bytes(content)
        with pytest.raises(BadInput, match="is damaged, or of another search: delete it"):
            search(wanted, tmp_path, moves=512)
    other = Wanted(12, 3, seed=2)
    search(other, tmp_path, moves=256)
    checkpoint.write_bytes((tmp_path / f"{other.name}.checkpoint.npz").read_bytes())
    with pytest.raises(BadInput, match="of another search"):
        search(wanted, tmp_path, moves=512)


def test_an_interrupted_search_says_that_it_goes_on(tmp_path):
    command = [sys.executable, "-c", "from torusweep.cli import main; main()", "search", "--nodes", "64", "--degree"]
    asked = [*command, "5", "--seconds", "100", "--results", str(tmp_path)]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.glob("*.checkpoint.npz")) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        written, said = process.communicate(timeout=90)
    assert (process.returncode, written) == (130, "")
    assert said == "torusweep: interrupted; the same command goes on with the search\n"
