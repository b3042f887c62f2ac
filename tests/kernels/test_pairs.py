"""Random packets of a traffic on every backend, against packets drawn one by one in plain Python."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba import njit
from torusweep_kernels import backend as backends
from torusweep_kernels.cuda import OPTIONS, cuda_source
from torusweep_kernels.pairs import choice_by_weight, cpu, draw_pairs, pair_tables, reference

from tests.kernels import walks_oracle

BACKENDS = ("numpy", "numba", "cupy")
AsCupy = Callable[..., ModuleType]
NODES = 12
Matrix = dict[tuple[int, int], float]
Drawing = tuple[list[float], list[float], Matrix]


def random_traffic(seed: int, entries: int, least: float) -> Drawing:
    """Weights that differ, some 0, and entries of own from `least` times the product on."""
    rng = np.random.default_rng(seed)
    weight, common = np.where(rng.random((2, NODES)) < 0.2, 0, rng.random((2, NODES)) + 0.1)
    some = rng.choice(NODES * NODES, entries, replace=False)
    own = {}
    for s, t in zip((some // NODES).tolist(), (some % NODES).tolist()):
        product = float(weight[s] * common[t])
        amount = float(rng.uniform(least * product, product + 0.1))
        if amount >= 0 or product > 0:
            own[s, t] = amount
    return weight.tolist(), common.tolist(), own


ONES, NONE = [1.0] * NODES, [0.0] * NODES
TRAFFIC: dict[str, Drawing] = {
    "uniform": (ONES, [1 / NODES] * NODES, {}),
    "all but the source": (ONES, [1 / (NODES - 1)] * NODES, {(s, s): -1 / (NODES - 1) for s in range(NODES)}),
    "one pair in 12 is left": (ONES, ONES, {(s, t): -1.0 for s in range(NODES) for t in range(NODES) if t != s // 2}),
    "a permutation": (ONES, NONE, {(s, s * 5 % NODES): 1.0 for s in range(NODES)}),
    "unequal pairs": (ONES, NONE, {(s, (s + d) % NODES): 1.0 + s for s in range(NODES) for d in (1, 4)}),
    "a hot spot": (ONES, [0.5 / NODES + 0.5 * (t == 3) for t in range(NODES)], {}),
    "one node sends": ([float(s == 11) for s in range(NODES)], [float(t == 0) for t in range(NODES)], {}),
    "product and more": random_traffic(1, 20, 0.0),
    "product, more and less": random_traffic(2, 60, -1.0),
    "mostly rejected": random_traffic(3, 140, -1.0),
}


def tables(name: str) -> Any:
    weight, common, own = TRAFFIC[name]
    where = np.array(list(own), int).reshape(-1, 2)
    order = np.random.default_rng(5).permutation(len(where))  # entries may come in any order
    amount = np.array(list(own.values()))[order]
    return pair_tables(np.array(weight), np.array(common), where[order, 0], where[order, 1], amount)


class Oracle:
    """`order`: of the entries of own, which the choice among them follows."""

    def __init__(self, name: str, seed: int) -> None:
        self.weight, self.common, own = TRAFFIC[name]
        entries = list(own.items())
        order = np.random.default_rng(5).permutation(len(entries)).tolist()
        self.own = dict(entries[place] for place in order)
        self.pairs = [pair for pair, amount in self.own.items() if amount > 0]
        self.amounts = [self.own[pair] for pair in self.pairs]
        self.product = float(np.sum(self.weight) * np.sum(self.common))
        self.sum_of_own = float(np.sum(self.amounts))
        self.key = seed % 2**32, seed // 2**32

    def words(self, packet: int, attempt: int, stream: int) -> list[int]:
        return walks_oracle.philox((packet % 2**32, packet // 2**32, attempt, stream), self.key)

    def draw(self, packet: int) -> tuple[int, int]:
        attempt = 0
        while True:
            a, b, c, d = self.words(packet, attempt, 1)
            one, two = ((high * 2**32 + low) // 2**11 / 2**53 for high, low in ((a, b), (c, d)))
            at = one * (self.product + self.sum_of_own)
            if self.product == 0:
                return self.pairs[choose(self.amounts, one)]
            if at >= self.product and self.sum_of_own:
                return self.pairs[choose(self.amounts, (at - self.product) / self.sum_of_own)]
            first = at / self.product if self.sum_of_own else one
            s, t = choose(self.weight, first), choose(self.common, two)
            less = -self.own.get((s, t), 0.0)
            if less <= 0 or self.words(packet, attempt, 2)[0] / 2**32 >= less / (self.weight[s] * self.common[t]):
                return s, t
            attempt += 1


def choose(weights: list[float], at: float) -> int:
    """Equal weights divide [0, 1) evenly; others by their sums."""
    if len(set(weights)) == 1:
        return min(int(at * len(weights)), len(weights) - 1)
    sums = list(accumulate(weights))
    return min(bisect_right([part / sums[-1] for part in sums], at), len(weights) - 1)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, as_cupy: AsCupy) -> str:
    """Every backend in turn; cupy is the fake, with fewer threads than packets."""
    if request.param == "cupy":
        as_cupy(multiprocessors=1, registers=255)
    return request.param


@pytest.mark.parametrize("name", TRAFFIC)
def test_packets_one_by_one(name: str, backend: str) -> None:
    for first, seed in ((0, 3), (2**32 - 150, 2**40 + 1), (2**64 - 300, 2**64 - 1)):
        oracle = Oracle(name, seed)
        expected = [oracle.draw(first + i) for i in range(300)]
        source, destination = draw_pairs(tables(name), first, 300, seed, backend=backend)
        assert source.dtype == destination.dtype == np.int32
        assert list(zip(source.tolist(), destination.tolist())) == expected


@pytest.mark.parametrize("name", ["one pair in 12 is left", "mostly rejected"])
def test_attempts_are_repeated(name: str) -> None:
    """The cases above have packets that are rejected, some of them several times."""
    oracle, attempts = Oracle(name, 3), []
    words = oracle.words
    oracle.words = lambda *of: attempts.append(of) or words(*of)  # type: ignore[method-assign, func-returns-value]
    for packet in range(300):
        oracle.draw(packet)
    assert max(attempt for _, attempt, _ in attempts) >= 2


@pytest.mark.parametrize("number", [0, 1, 255, 256, 257, 3000])
def test_blocks_and_threads_do_not_matter(number: int, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    some = tables("product, more and less")
    whole = np.array(draw_pairs(some, 10, 3000, 7, backend="numpy"))[:, :number].tolist()
    monkeypatch.setattr(reference, "BLOCK", 100)
    monkeypatch.setattr(cpu, "BLOCK", 700)
    as_cupy()
    for backend, threads in (("numpy", None), ("numba", 1), ("numba", 3), ("cupy", None), ("auto", None)):
        assert np.array(draw_pairs(some, 10, number, 7, backend=backend, threads=threads)).tolist() == whole


CHOICES = {
    "equal": [2.0] * 7,
    "one": [3.0],
    "zeros at the ends": [0, 0, 1, 0, 2, 0, 0],
    "all in the last": [1e-9] * 50 + [1.0],
    "all in the first": [1.0] + [1e-9] * 50,
    "random": np.random.default_rng(4).random(100).tolist(),
}
TRIAL = """
#include "philox/philox.cuh"
#include "pairs/pairs.cuh"
extern "C" __global__ void choose(const double* cdf, const int* guide, int number, int uniform, const double* at,
                                  int* out, int items) {
    Traffic traffic = {};
    traffic.cdf = cdf;
    traffic.guide = guide;
    for (int i = 0; i < items; ++i) out[i] = chosen(traffic, 0, number, uniform, at[i]);
}
"""


@njit
def by_numba(choice, at):
    return [cpu.chosen(choice, one) for one in at]


@pytest.mark.parametrize("name", CHOICES)
def test_choices_at_the_edges(name: str, as_cupy: AsCupy, tmp_path: Path) -> None:
    """Numbers that are a sum, the next ones to it, and the ends of [0, 1); 1 where rounding leads beyond."""
    weights = CHOICES[name]
    choice = choice_by_weight(np.array(weights, float))
    sums = np.concatenate([choice.cdf, np.arange(len(weights)) / len(weights), [0.0, 1.0]])
    at = np.concatenate([sums, np.nextafter(sums, 0), np.nextafter(sums, 1)])
    expected = [choose(weights, one) for one in at.tolist()]
    assert choice.of(at).tolist() == expected
    assert by_numba(choice, at) == expected
    cupy, source = as_cupy(), tmp_path / "trial.cu"
    source.write_text(TRIAL)
    kernel = cupy.RawModule(code=cuda_source(source), options=OPTIONS).get_function("choose")
    out, arrays = cupy.zeros(len(at), np.int32), [cupy.asarray(array) for array in (choice.cdf, choice.guide, at)]
    numbers = np.int32(len(weights)), np.int32(choice.uniform)
    kernel((1,), (1,), (*arrays[:2], *numbers, arrays[2], out, np.int32(len(at))))
    assert out.get().tolist() == expected


def test_the_search_for_a_choice_begins_near_its_end() -> None:
    """Over [0, 1) it passes two sums a number at most, whatever the weights."""
    for weights in CHOICES.values():
        choice, parts = choice_by_weight(np.array(weights, float)), len(weights)
        ends = np.append(choice.guide, parts).tolist()
        assert sum(later - first for first, later in pairwise(ends)) <= parts


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "weights of two dimensions": (lambda: made(weight=np.ones((2, 2))), r"weight of shape \[N\], N < 2³¹, got"),
    "common of another length": (lambda: made(common=np.ones(3)), r"common of shape \(2,\), got \(3,\)"),
    "columns of another length": (lambda: made(column=[0, 1]), r"column of shape \(1,\), got \(2,\)"),
    "amounts of another length": (lambda: made(amount=[]), r"amount of shape \(1,\), got \(0,\)"),
    "a row outside": (lambda: made(row=[2]), "row of 0 … 1, got 2 … 2"),
    "a column outside": (lambda: made(column=[-1]), "column of 0 … 1, got -1 … -1"),
    "a negative weight": (lambda: made(weight=[1, -1]), "weight and common ≥ 0, got -1"),
    "no traffic": (lambda: made(common=[0, 0], amount=[0]), "traffic of a finite sum above 0, got 0"),
    "fewer than no packets": (lambda: draw_pairs(made(), 0, -1, 0), "number ≥ 0, got -1"),
    "negative number": (lambda: draw_pairs(made(), -1, 1, 0), "first of 0 … 2⁶⁴ − 1, got -1"),
    "number too great": (lambda: draw_pairs(made(), 2**64 - 1, 2, 0), "first of 0 … 2⁶⁴ − 2, got"),
    "seed too great": (lambda: draw_pairs(made(), 0, 1, 2**64), "seed of 0 … 2⁶⁴ − 1, got"),
    "no threads": (lambda: draw_pairs(made(), 0, 1, 0, threads=0), "threads ≥ 1 or None, got 0"),
    "unknown backend": (
        lambda: draw_pairs(made(), 0, 1, 0, backend="abacus"),
        "expected a backend of .*, got 'abacus'",
    ),
}


def made(**change: Any) -> Any:
    return pair_tables(**{"weight": [1, 1], "common": [0.5, 0.5], "row": [0], "column": [1], "amount": [1.0]} | change)


@pytest.mark.parametrize("name", REFUSED)
def test_contradictions_are_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.gpu
@pytest.mark.skipif(not backends.gpu_count(), reason="needs a GPU that CuPy can use; none found here")
@pytest.mark.parametrize("name", TRAFFIC)
def test_a_real_gpu_gives_the_same(name: str) -> None:
    here, there = (draw_pairs(tables(name), 2**32 - 50_000, 10**5, 5, backend=some) for some in ("numba", "cupy"))
    assert np.array(here).tolist() == np.array(there).tolist()
