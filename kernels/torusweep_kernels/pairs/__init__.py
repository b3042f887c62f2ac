"""Draw random packets of a traffic pattern. The ends of packet i depend only on the traffic, the seed and i."""

from __future__ import annotations

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import expecting, within
from torusweep_kernels.pairs.reference import Tables, WeightedChoice, choice_by_weight

__all__ = ["Tables", "WeightedChoice", "choice_by_weight", "draw_pairs", "pair_tables"]


def pair_tables(
    weight: np.ndarray, common: np.ndarray, row: np.ndarray, column: np.ndarray, amount: np.ndarray
) -> Tables:
    """Make the tables from which packets are drawn, for the traffic T[s, t] = weight[s] · common[t] + own[s, t].

    weight, common  float64[N] ≥ 0
    row, column     int[E]      source and destination of each entry of own; each pair occurs once
    amount          float64[E]  own[row, column]; a negative one is at least −weight[row] · common[column]

    Raises ValueError for arrays that contradict each other, and if there is no traffic.
    """
    expect = expecting("pair_tables")
    weight, common, amount = (np.ascontiguousarray(array, np.float64) for array in (weight, common, amount))
    row, column = np.asarray(row), np.asarray(column)
    nodes = len(weight)
    expect(weight.ndim == 1 and nodes < 2**31, "weight of shape [N], N < 2³¹", weight.shape)
    expect(common.shape == weight.shape, f"common of shape {weight.shape}", common.shape)
    expect(row.ndim == 1, "row of shape [E]", row.shape)
    expect(column.shape == row.shape, f"column of shape {row.shape}", column.shape)
    expect(amount.shape == row.shape, f"amount of shape {row.shape}", amount.shape)
    within(expect, "row", row, 0, nodes - 1)
    within(expect, "column", column, 0, nodes - 1)
    least = float(min(weight.min(initial=0.0), common.min(initial=0.0)))
    expect(least >= 0, "weight and common ≥ 0", least)
    positive, negative = amount > 0, np.flatnonzero(amount < 0)
    product_sum, own_sum = float(weight.sum() * common.sum()), float(amount[positive].sum())
    expect(0 < product_sum + own_sum < np.inf, "traffic of a finite sum above 0", product_sum + own_sum)
    less = row[negative].astype(np.int64), column[negative].astype(np.int64)
    order = np.argsort(less[0] * nodes + less[1])
    rejection = -amount[negative] / (weight[less[0]] * common[less[1]])
    return Tables(
        choice_by_weight(weight),
        choice_by_weight(common),
        choice_by_weight(amount[positive]),
        row[positive].astype(np.int32),
        column[positive].astype(np.int32),
        product_sum,
        own_sum,
        np.append(0, np.cumsum(np.bincount(less[0], minlength=nodes))).astype(np.int64),
        less[1][order].astype(np.int32),
        rejection[order],
    )


def draw_pairs(
    tables: Tables, first: int, number: int, seed: int, *, backend: str = "auto", threads: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (source int32[B], destination int32[B]) of the packets first … first + B − 1, where B is `number`.

    tables   the traffic's tables (`pair_tables`)
    first    ≥ 0, first + B ≤ 2⁶⁴
    seed     0 … 2⁶⁴ − 1
    backend  auto, numpy, numba or cupy; the pairs are the same. auto: numba, since the pairs must be in main memory
    threads  CPU threads of numba; by default all that it may use

    Attempt a at packet i uses the words w of Philox4x32-10 with counter (i mod 2³², ⌊i / 2³²⌋, a, 1) and key (seed mod
    2³², ⌊seed / 2³²⌋). Two words make a number in [0, 1), as ⌊(2³² w₀ + w₁) / 2¹¹⌋ / 2⁵³. The first number chooses
    between the product weight · common and the positive entries of own; its remainder chooses the source or the
    entry. The second number chooses the product's destination. If own is negative, the pair is rejected if word 0 of
    the counter (…, a, 2) is below −own / (weight · common) · 2³²; then the next attempt follows.

    Raises ValueError for numbers out of range, BackendUnavailable and GpuOutOfMemory of `torusweep_kernels.backend`.
    """
    expect = expecting("draw_pairs")
    expect(number >= 0, "number ≥ 0", number)
    expect(first >= 0 and first + number <= 2**64, f"first of 0 … 2⁶⁴ − {number}", first)
    expect(0 <= seed < 2**64, "seed of 0 … 2⁶⁴ − 1", seed)
    expect(threads is None or threads >= 1, "threads ≥ 1 or None", threads)
    chosen = backends.resolve("numba" if backend == "auto" else backend)
    if not number:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    key = seed % 2**32, seed // 2**32
    source, destination = backends.implementation(__name__, chosen).pairs(tables, first, number, key, threads)
    return source, destination
