"""The Pareto front of rows of numbers."""

from __future__ import annotations

import numpy as np

BLOCK = 256  # rows that are compared pairwise


def front(values: np.ndarray) -> np.ndarray:
    """Indices int64[F] of the rows of values[N, C] on the Pareto front, in lexicographic order; less is better.

    Divide and conquer (Kung, Luccio & Preparata 1975): in lexicographic order only earlier rows dominate
    a row, so the front of the second half is what the front of the first half leaves of it.
    """
    unique, inverse = np.unique(values, axis=0, return_inverse=True)
    kept = np.zeros(len(unique), bool)
    kept[_front(unique, np.arange(len(unique)))] = True
    inverse = inverse.reshape(-1)
    chosen = np.flatnonzero(kept[inverse])
    return chosen[np.argsort(inverse[chosen], kind="stable")]


def _front(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The front of `rows`, which are distinct and in lexicographic order."""
    if len(rows) <= BLOCK:
        here = values[rows]
        dominated = np.any(np.tril((here[None, :, :] <= here[:, None, :]).all(axis=2), -1), axis=1)
        return rows[~dominated]
    early, late = _front(values, rows[: len(rows) // 2]), _front(values, rows[len(rows) // 2 :])
    return np.concatenate([early, late[~_dominated(values[early, 1:], values[late, 1:])]])


def _dominated(early: np.ndarray, late: np.ndarray) -> np.ndarray:
    """bool[L]: rows of late[L, C] that some row of early[E, C] equals or beats in every column."""
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
