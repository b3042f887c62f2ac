"""Walks of random packets: those of the same packets in arrays, on every backend."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from torusweep_kernels.pairs import draw_pairs, pair_tables
from torusweep_kernels.walks import RandomPackets, Searches, sampled_walks, shortest_walks

from tests.kernels import oracle
from tests.kernels.walks_cases import drawn, same

BACKENDS = ("numpy", "numba", "cupy")
RING, RING_OF_5 = oracle.torus(6), oracle.torus(5)
AsCupy = Callable[..., ModuleType]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, as_cupy: AsCupy) -> str:
    """Every backend in turn; cupy is the fake, with few threads, so that each takes several packets."""
    if request.param == "cupy":
        as_cupy(multiprocessors=1, cache=2**12)
    return request.param


def mixed_traffic(nodes: int, hot: int = 0) -> Any:
    """A product, and entries that add to it or reduce it; hot: all packets go to so many nodes."""
    rng = np.random.default_rng(nodes)
    where = rng.choice(nodes * nodes, 3 * nodes, replace=False)
    weight, common = rng.random(nodes), rng.random(nodes) * (np.arange(nodes) < (hot or nodes))
    row, column = where // nodes, where % nodes
    amount = rng.uniform(-1, 1, len(where)) * weight[row] * common[column]
    return pair_tables(weight, common, row, column, amount)


@pytest.mark.parametrize("hot", [0, 5])
@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("first", [0, 2**32 - 1001, 2**64 - 3000])
def test_random_packets_are_those_of_arrays(first: int, elsewhere: bool, hot: int, backend: str) -> None:
    """elsewhere: they start and end at other nodes of the network than those of their traffic."""
    rng, number = np.random.default_rng(2), 3000
    ports = drawn(4, 60, 4, 0)["ports"]
    ports[50] = -1  # nothing leaves node 50
    tables = mixed_traffic(40 if elsewhere else 60, hot)
    start, finish = rng.integers(0, 60, (2, 40)) if elsewhere else [np.arange(60)] * 2
    packets = RandomPackets(tables, start, finish) if elsewhere else RandomPackets(tables)
    source, destination = draw_pairs(tables, first, number, 2**33 + 1, backend="numpy")
    group = np.array([(first + i) % 7 for i in range(number)])
    how: dict[str, Any] = {"groups": 7, "first": first, "seed": 2**33 + 1}
    expected = shortest_walks(ports, start[source], finish[destination], group, **how, backend="numba")
    by_number = shortest_walks(ports, start[source], finish[destination], **how, backend=backend)
    assert same((expected.count, expected.unreachable), by_number)
    assert expected.unreachable.all()
    searches = Searches()
    for kept in (None, searches, searches):
        found = sampled_walks(ports, packets, number, **how, backend=backend, searches=kept)
        assert same((expected.count, expected.unreachable), found)


def test_no_random_packets(backend: str) -> None:
    found = sampled_walks(RING, RandomPackets(mixed_traffic(6)), 0, groups=3, backend=backend)
    assert (found.count.shape, found.count.sum(), found.unreachable.tolist()) == ((3, 6, 2), 0, [0] * 3)


REFUSED_PACKETS: dict[str, tuple[dict[str, Any], str]] = {
    "starts of another length": ({"packets": ([0], None)}, r"start of shape \(6,\), got \(1,\)"),
    "finish outside": ({"packets": (None, [6] * 6)}, "finish of 0 … 5, got 6 … 6"),
    "more nodes than the network's": ({"ports": RING_OF_5}, "start of 0 … 4, got 0 … 5"),
    "fewer than no packets": ({"number": -1}, "at most 2147483647 packets a call, got -1"),
    "number too great": ({"first": 2**64 - 1}, "first of 0 … 2⁶⁴ − 2, got 18446744073709551615"),
}


@pytest.mark.parametrize("name", REFUSED_PACKETS)
def test_contradictions_of_random_packets_are_refused(name: str) -> None:
    change, message = REFUSED_PACKETS[name]
    packets = RandomPackets(mixed_traffic(6), *change.get("packets", ()))
    with pytest.raises(ValueError, match=f"sampled_walks: expected {message}"):
        sampled_walks(**{"ports": RING, "number": 2, "backend": "numpy"} | change | {"packets": packets})
