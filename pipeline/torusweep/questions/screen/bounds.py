"""Bounds that no graph, or no lattice, of a size and degree can beat; and the Pareto front of rows of numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np

BLOCK = 256  # rows that are compared pairwise
CHUNK = 1 << 13  # rows that are compared with the staircase at once
EMPHASIS = 4.0  # added weight of one column over the others, in the choice of good rows


def moore_levels(nodes: int, degree: int, *, directed: bool = False) -> list[int]:
    """Return the largest possible number of nodes at distance 0, 1, 2, … from a node of a graph, until all are reached.

    The numbers are 1, d, d(d − 1), d(d − 1)², … in an undirected graph, and 1, d, d², … in a directed graph.
    Raises ValueError if no connected graph has this degree.
    """
    if nodes > degree + 1 and degree < 2 - directed:
        raise ValueError(f"no connected graph of {nodes} nodes has degree {degree}")
    return _fill(nodes, lambda distance: degree * (degree - (not directed)) ** (distance - 1))


def lattice_levels(nodes: int, dimensions: int) -> list[int]:
    """Return the largest possible number of nodes at distance 0, 1, 2, … from a node of a lattice graph.

    Until all nodes are reached, the numbers are those of Zⁿ itself: Σ 2ᵏ C(n, k) C(r − 1, k − 1) at distance r.
    """
    n = dimensions
    return _fill(nodes, lambda r: sum(2**k * comb(n, k) * comb(r - 1, k - 1) for k in range(1, n + 1)))


def distance_sum(levels: list[int]) -> int:
    """Sum a node's distances to all nodes; for `moore_levels`, the bound of Cerf, Cowan, Mullin & Stanton 1974."""
    return sum(distance * count for distance, count in enumerate(levels))


def diameter(levels: list[int]) -> int:
    """Return the distance of the last level; for `moore_levels`, Moore's bound (Hoffman & Singleton 1960)."""
    return len(levels) - 1


def _fill(nodes: int, width: Callable[[int], int]) -> list[int]:
    """Return 1, width(1), width(2), …, cut off so that the sum is the number of nodes."""
    levels, left = [1], nodes - 1
    while left > 0:
        levels.append(min(width(len(levels)), left))
        left -= levels[-1]
    return levels


def front(values: np.ndarray) -> np.ndarray:
    """Return the row numbers, int64[F], of the Pareto front of values[N, C], in lexicographic order; less is better.

    Rows that a few good rows dominate are removed first. In lexicographic order only earlier rows can dominate a row.
    With two or three columns, earlier rows are kept as a staircase in the other columns. With more columns, divide and
    conquer (Kung, Luccio & Preparata 1975) lets the front of the first half remove rows from the second half.
    """
    rows = _left_by_good_rows(values)
    rows = rows[np.lexsort(values[rows, ::-1].T)]  # stable: equal rows stay in their order
    ordered = values[rows]
    new = np.ones(len(rows), bool)
    new[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    first = np.flatnonzero(new)
    kept = np.zeros(len(first), bool)
    distinct = ordered[first]
    kept[_swept(distinct) if values.shape[1] <= 3 else _front(distinct, np.arange(len(distinct)))] = True
    return rows[np.repeat(kept, np.diff(first, append=len(rows)))]


def _left_by_good_rows(values: np.ndarray) -> np.ndarray:
    """Return the rows that no good row dominates, int64[≤ N]; good rows have the least weighted sums of columns."""
    rows = np.arange(len(values))
    if len(values) <= BLOCK:
        return rows
    spans = np.ptp(values, axis=0).astype(float)
    scaled = [column / (span if span > 0 else 1) for column, span in zip(values.T, spans)]
    here = [np.ascontiguousarray(column) for column in values.T]
    for heavy in (None, *range(len(here))):
        good = np.argmin(sum(column * (1 if place != heavy else 1 + EMPHASIS) for place, column in enumerate(scaled)))
        left = np.logical_or.reduce([column < column[good] for column in here])
        left |= np.logical_and.reduce([column == column[good] for column in here])
        rows, here, scaled = rows[left], [column[left] for column in here], [column[left] for column in scaled]
    return rows


def _swept(values: np.ndarray) -> np.ndarray:
    """Return the front, int64[F], of distinct rows with at most three columns, in lexicographic order, by chunks.

    A row is dominated if the staircase of earlier rows (their front without the first column) reaches below it.
    """
    stairs, kept = values[:0, 1:], [np.zeros(0, np.int64)]
    for start in range(0, len(values), CHUNK):
        rows = np.arange(start, min(start + CHUNK, len(values)))
        if len(stairs):
            rows = rows[~_dominated(stairs, values[rows, 1:])]
        kept.append(_front(values, rows))
        stairs = np.concatenate([stairs, values[kept[-1], 1:]])
        if stairs.shape[1] == 2:
            stairs = stairs[np.lexsort(stairs.T[::-1])]
            least = np.minimum.accumulate(stairs[:, 1])
            stairs = stairs[np.append(True, stairs[1:, 1] < least[:-1])[: len(stairs)]]
    return np.concatenate(kept)


def _front(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the front of `rows`, which are distinct and in lexicographic order."""
    if len(rows) <= BLOCK:
        here = values[rows]
        dominated = np.any(np.tril((here[None, :, :] <= here[:, None, :]).all(axis=2), -1), axis=1)
        return rows[~dominated]
    early, late = _front(values, rows[: len(rows) // 2]), _front(values, rows[len(rows) // 2 :])
    return np.concatenate([early, late[~_dominated(values[early, 1:], values[late, 1:])]])


def _dominated(early: np.ndarray, late: np.ndarray) -> np.ndarray:
    """Return which rows of late[L, C] some row of early[E, C] equals or beats in every column, bool[L]."""
    columns = late.shape[1]
    if columns == 0:
        return np.ones(len(late), bool)
    if columns == 1:
        return late[:, 0] >= early[:, 0].min()
    if columns == 2:
        order = np.argsort(early[:, 0], kind="stable")
        least = np.minimum.accumulate(early[order, 1])
        before = np.searchsorted(early[order, 0], late[:, 0], side="right")
        return (before > 0) & (least[np.maximum(before - 1, 0)] <= late[:, 1])
    dominated = np.zeros(len(late), bool)
    for start in range(0, len(early), BLOCK):
        left = np.flatnonzero(~dominated)
        block = early[start : start + BLOCK]
        for piece in np.array_split(left, max(1, len(left) // BLOCK)):
            dominated[piece] = np.any((block[None, :, :] <= late[piece][:, None, :]).all(axis=2), axis=1)
    return dominated
