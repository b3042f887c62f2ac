"""What can be known about the walks' GPU code without a GPU: blocks, launches, errors; that it compiles is tested for
all sources."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from torusweep_kernels import backend, cuda, walks
from torusweep_kernels.loads import SPLITS
from torusweep_kernels.pairs import pair_tables
from torusweep_kernels.walks import RandomPackets, Searches, Walks, gpu, sampled_walks, shortest_walks

from tests.kernels import oracle

AsCupy = Callable[..., ModuleType]
NODES, PACKETS = 256, 5000
LANE = (4 + 4 * 7) * NODES  # bytes
SCRATCH = 12 * NODES  # bytes of a block of the search
BLOCKS = cuda.RESIDENT // cuda.THREADS  # of a multiprocessor


def torus() -> np.ndarray:
    """256 nodes, with 7 channels each."""
    return np.concatenate([oracle.torus(16, 16), np.random.default_rng(1).integers(0, NODES, (NODES, 3))], axis=1)


def walked(backend: str, split: str = "paths") -> Walks:
    start, destination = np.random.default_rng(2).integers(0, NODES, (2, PACKETS))
    return shortest_walks(
        torus(), start, destination, np.arange(PACKETS) % 3, groups=3, seed=5, split=split, backend=backend
    )


@pytest.mark.parametrize(
    ("device", "lanes"),
    [
        ({"cache": 2**30}, 256),  # no more lanes than destinations
        ({"cache": 2**10}, 32),  # not below 32 for the cache's sake
        ({"cache": 100 * LANE}, 70),  # as the cache holds
        ({"cache": 2**30, "free": 2 * (5 * LANE + BLOCKS * SCRATCH)}, 5),  # as half of the free memory holds
        ({"cache": 2**30, "free": 1}, 1),
        ({"cache": 2**30, "multiprocessors": 132}, 256),  # more threads than packets
    ],
)
def test_blocks_and_launches(
    device: dict[str, int], lanes: int, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = walked("numpy")
    used = []
    make_room = gpu.Network.make_room
    monkeypatch.setattr(gpu.Network, "make_room", lambda self, lanes: used.append(lanes) or make_room(self, lanes))
    as_cupy(**device)
    found = walked("cupy")
    assert found.count.tolist() == expected.count.tolist()
    assert used == [lanes]


def launches(cupy: ModuleType) -> list[str]:
    """Receives the name of each kernel that is launched."""
    names: list[str] = []
    launch = cupy.RawModule.launch
    cupy.RawModule.launch = lambda *how: names.append(how[1]) or launch(*how)
    return names


def round_of(number: int, backend: str, searches: Searches | None, **change: Any) -> Walks:
    """Packets of a round of the same experiment."""
    start, destination = np.random.default_rng(number).integers(0, NODES, (2, PACKETS))
    how = {"ports": torus(), "split": "paths", "seed": 5, "first": number * PACKETS} | change
    return shortest_walks(start=start, destination=destination, backend=backend, searches=searches, **how)


@pytest.mark.parametrize("split", SPLITS)
def test_rows_are_kept_for_later_rounds(split: str, as_cupy: AsCupy) -> None:
    cupy, searches, counted = as_cupy(cache=2**10), Searches(), []
    names = launches(cupy)
    for number in range(3):
        found = round_of(number, "cupy", searches, split=split)
        assert found.count.tolist() == round_of(number, "numpy", None, split=split).count.tolist()
        counted.append((names.count("reach"), names.count("walk")))
        names.clear()
    assert counted == [(1, 1), (0, 1), (0, 1)]
    round_of(0, "cupy", None, split=split)
    assert (names.count("reach"), names.count("walk")) == (8, 8)  # blocks of 32 destinations


def sampled(number: int, backend: str, searches: Searches | None, packets: RandomPackets, **change: Any) -> Walks:
    """A round of random packets of an experiment."""
    how = {"groups": 3, "seed": 5, "first": number * PACKETS} | change
    return sampled_walks(torus(), packets, PACKETS, backend=backend, searches=searches, **how)


def uniform(nodes: int = NODES) -> Any:
    return pair_tables(np.ones(nodes), np.ones(nodes), *np.zeros((3, 0), int))


def test_random_packets_are_drawn_where_they_walk(as_cupy: AsCupy) -> None:
    """Neither sorted nor copied: after the first round there is nothing to copy to the device."""
    cupy, searches, packets = as_cupy(cache=2**10), Searches(), RandomPackets(uniform())
    names, copies = launches(cupy), []
    cupy.argsort = None
    asarray = cupy.asarray
    cupy.asarray = lambda array: copies.append(array) or asarray(array)
    for number in range(3):
        expected = sampled(number, "numpy", None, packets)
        assert sampled(number, "cupy", searches, packets).count.tolist() == expected.count.tolist()
        if number:
            assert (names, copies) == (["walk_drawn"], [])
        assert all(np.size(array) < PACKETS for array in copies)
        names.clear()
        copies.clear()


def test_random_packets_of_blocks_are_drawn_into_memory(as_cupy: AsCupy) -> None:
    names, packets = launches(as_cupy(cache=2**10)), RandomPackets(uniform())
    assert sampled(0, "cupy", None, packets).count.tolist() == sampled(0, "numpy", None, packets).count.tolist()
    assert (names.count("draw"), names.count("walk"), names.count("walk_drawn")) == (1, 8, 0)


def test_other_random_packets_are_not_taken_for_the_last_ones(as_cupy: AsCupy) -> None:
    as_cupy()
    searches, half = Searches(), uniform(NODES // 2)
    every = np.arange(NODES // 2)
    for packets in (RandomPackets(uniform()), RandomPackets(half, every, every + 9), RandomPackets(half, every)):
        found = sampled(1, "cupy", searches, packets)
        assert found.count.tolist() == sampled(1, "numpy", None, packets).count.tolist()
    assert searches.rows is not None


def test_packets_are_sorted_only_for_blocks(as_cupy: AsCupy) -> None:
    cupy = as_cupy(cache=2**30)
    cupy.argsort = None
    for searches in (None, Searches()):
        assert round_of(1, "cupy", searches).count.tolist() == round_of(1, "numpy", None).count.tolist()
    cupy = as_cupy(cache=2**10)
    cupy.argsort = None
    with pytest.raises(TypeError):
        round_of(1, "cupy", None)


def test_auto_goes_on_where_the_rows_are(as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last packets of an experiment may be few."""
    as_cupy()
    searches, packets = Searches(), RandomPackets(uniform())
    for large, used in ((2**22, {"numba"}), (PACKETS, {"cupy"}), (2**22, {"cupy"})):
        monkeypatch.setattr(walks, "LARGE", large)
        with backend.resolved_backends() as found:
            sampled(1, "auto", searches, packets)
        assert found == used


@pytest.mark.parametrize("change", ["ports", "capacity", "split"])
def test_rows_of_another_network_are_not_taken(change: str, as_cupy: AsCupy) -> None:
    as_cupy()
    searches, rng = Searches(), np.random.default_rng(3)
    links = rng.integers(1, 4, torus().shape)
    others: dict[str, list[dict[str, Any]]] = {
        "ports": [{}, {"ports": np.roll(torus(), 1, axis=0)}],
        "capacity": [{}, {"capacity": links}, {"capacity": links % 3 + 1}, {}],
        "split": [{}, {"split": "next-hops"}, {}],
    }
    for how in others[change]:
        found = round_of(1, "cupy", searches, **how)
        assert found.count.tolist() == round_of(1, "numpy", None, **how).count.tolist()


@pytest.mark.parametrize("device", [{"free": 4 * LANE}, {"memory": NODES * NODES * 4}])
def test_rows_that_do_not_fit_are_not_kept(device: dict[str, int], as_cupy: AsCupy) -> None:
    """Known before, or found out when memory is asked for."""
    as_cupy(**device)
    searches = Searches()
    for number in range(2):
        found = round_of(number, "cupy", searches)
        assert found.count.tolist() == round_of(number, "numpy", None).count.tolist()
    assert searches.rows is None


def test_few_destinations_are_searched_from_alone(as_cupy: AsCupy) -> None:
    names, searches = launches(as_cupy()), Searches()
    start = np.arange(NODES)
    for _ in range(2):
        found = shortest_walks(torus(), start, start % 3, seed=5, backend="cupy", searches=searches)
        assert found.count.tolist() == shortest_walks(torus(), start, start % 3, seed=5, backend="numpy").count.tolist()
    assert searches.rows is None
    assert names.count("walk") == 2


def test_too_many_paths_to_a_node_that_is_no_destination(as_cupy: AsCupy) -> None:
    """40 links one after another, each of 2³⁰ parallel ones: 2¹²⁰⁰ paths to the last node, which no packet goes to."""
    as_cupy()
    line, near = np.append(np.arange(1, 41), -1)[:, None], np.arange(30)
    network: dict[str, Any] = {"ports": line, "capacity": np.full(line.shape, 2**30)}
    how: dict[str, Any] = {"start": near, "destination": near + 5, "seed": 1}
    found = shortest_walks(**network, **how, backend="cupy", searches=Searches())
    assert found.count.tolist() == shortest_walks(**network, **how, backend="numpy").count.tolist()
    assert found.count.sum() == 5 * 30
    with pytest.raises(OverflowError):
        shortest_walks(**network, start=np.zeros(1, int), destination=np.full(1, 40), backend="cupy")


@pytest.mark.parametrize("leaves", [cuda.THREADS - 1, cuda.THREADS, 3 * cuda.THREADS + 1])
def test_levels_of_more_nodes_than_a_block_has_threads(leaves: int, as_cupy: AsCupy) -> None:
    """Node 0 leads to all leaves, they to the last node; and to each other, at the same distance."""
    as_cupy()
    rows = [
        [1 + leaf for leaf in range(leaves)],
        *([leaves + 1, 1 + (leaf + 1) % leaves] for leaf in range(leaves)),
        [],
    ]
    ports, packets = oracle.table(rows), 4 * leaves
    ends = np.zeros(packets, int), np.full(packets, leaves + 1)
    found = shortest_walks(ports, *ends, backend="cupy")
    assert found.count.tolist() == shortest_walks(ports, *ends, backend="numpy").count.tolist()
    assert found.count.sum() == 2 * packets


@pytest.mark.parametrize("length", [1, 2, 33, 700])
def test_many_levels(length: int, as_cupy: AsCupy) -> None:
    names = launches(as_cupy())
    line = np.append(np.arange(1, length + 1), -1)[:, None]  # the last of length + 1 nodes is `length` links away
    found = shortest_walks(line, np.arange(length + 1), np.full(length + 1, length), backend="cupy")
    assert found.count[0, :, 0].tolist() == [*range(1, length + 1), 0]
    assert not found.unreachable.any()
    assert names == ["reach", "walk"]


@pytest.mark.gpu
@pytest.mark.skipif(not backend.gpu_count(), reason="needs a GPU that CuPy can use; none found here")
@pytest.mark.parametrize("split", SPLITS)
def test_a_real_gpu_gives_the_same_counts(split: str) -> None:
    rng = np.random.default_rng(1)
    nodes, packets = 2000, 300_000
    task = {
        "ports": rng.integers(-1, nodes, (nodes, 3)),
        "capacity": rng.integers(1, 4, (nodes, 3)),
        "group": rng.integers(0, 32, packets),
    }
    task |= dict(zip(("start", "destination"), rng.integers(0, nodes, (2, packets))))
    here, there = (
        shortest_walks(**task, groups=32, first=2**32 - 1000, seed=2**40 + 1, split=split, backend=name)
        for name in ("numba", "cupy")
    )
    assert here.count.tolist() == there.count.tolist()
    assert here.unreachable.tolist() == there.unreachable.tolist()
