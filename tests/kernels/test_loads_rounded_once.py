"""Loads with twice the digits, rounded once: the fractions that follow the definitions, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep_kernels.loads import SPLITS, cpu, minimal_loads

from tests.kernels import loads_oracle
from tests.kernels.loads_cases import diamonds, large_task, small_tasks

BACKENDS = ("numpy", "numba", "cupy")
CLOSE = 1e-12
AsCupy = Callable[..., ModuleType]


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    task=small_tasks(["by root and node"]),
    unit=st.sampled_from([1.0, 1 / 3, 0.1]),  # exact loads are then often between two numbers
    ways=st.sampled_from([("paths", False), ("paths", True), ("next-hops", True)]),
)
def test_exact_loads_are_fractions_rounded_once(
    task: dict[str, Any], unit: float, ways: tuple[str, bool], as_cupy: AsCupy
) -> None:
    as_cupy(multiprocessors=1)
    task["weights"] = np.full(len(task["roots"]), 2.0)  # products with demands are exact
    task["demand"] = task["demand"] * unit
    split, inward = ways
    ports = task["ports"]
    if split == "paths" and inward:  # the oracle's roots are sources: turn all links
        tails, places = np.nonzero(ports >= 0)
        heads = ports[tails, places]
        turned = [[int(tail) for tail in tails[heads == node]] for node in range(len(ports))]
        across = [[(int(tail), int(place)) for tail, place in zip(tails[heads == node], places[heads == node])]
                  for node in range(len(ports))]  # fmt: skip
    else:
        turned, across = (
            ports.tolist(),
            [[(node, port) for port in range(ports.shape[1])] for node in range(len(ports))],
        )
    capacity = None
    if task["capacity"] is not None:
        capacity = [[int(task["capacity"][link]) for link in row] for row in across]
    amounts = [[Fraction(float(amount)) for amount in row] for row in task["demand"]]
    exact = loads_oracle.loads(turned, task["roots"].tolist(), [Fraction(2)] * len(amounts), amounts, capacity, split)[
        0
    ]
    expected = np.zeros(ports.shape)
    for row, links in zip(exact, across):
        for load, link in zip(row, links):
            expected[link] = float(load)
    for backend in BACKENDS:
        found = minimal_loads(**task, exact=True, split=split, inward=inward, backend=backend)
        assert found.load.tolist() == expected.tolist(), backend
        assert (np.abs(found.rest) <= np.spacing(found.load) / 2).all()


@pytest.mark.parametrize("split", SPLITS)
def test_exact_loads_have_the_same_bits_on_every_backend_and_from_either_end(split: str, as_cupy: AsCupy) -> None:
    task = large_task()
    whole = minimal_loads(**task, exact=True, split=split, backend="numba", threads=1)
    np.testing.assert_allclose(whole.load, minimal_loads(**task, split=split).load, rtol=CLOSE)
    as_cupy()
    for backend, threads in (("numba", 3), ("numpy", None), ("cupy", None)):
        other = minimal_loads(**task, exact=True, split=split, backend=backend, threads=threads)
        assert other.load.tolist() == whole.load.tolist(), backend
    if split == "paths":
        demand, nodes = np.random.default_rng(1).random((400, 400)), np.arange(400)
        out = minimal_loads(task["ports"], nodes, exact=True, demand=demand)
        into = minimal_loads(task["ports"], nodes, exact=True, demand=demand.T, inward=True)
        assert out.load.tolist() == into.load.tolist()


def test_exact_loads_of_one_lane_and_of_more_paths_than_whole_numbers_of_float64(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = large_task()
    wide = minimal_loads(**task, exact=True, backend="numba")
    ports = diamonds(1000)
    demand = np.zeros(len(ports))
    demand[-1] = 1 / 3
    for backend in ("numpy", "numba"):
        found = minimal_loads(ports, np.array([0]), exact=True, demand=demand, backend=backend)
        assert (found.load[::3][:1000] == np.array(1 / 3) / 2).all()
    monkeypatch.setattr(cpu, "SCRATCH", 0)
    assert minimal_loads(**task, exact=True, backend="numba").load.tolist() == wide.load.tolist()
