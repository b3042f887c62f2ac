"""A channel's queue as oracle: a transition matrix solved, and the paper's recurrence in exact fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np


def arrivals(inputs: int, through: float | Fraction, local: float | Fraction) -> list:
    """q(0), q(1), …: every combination of inputs that bring a packet, and the node's own, written out."""
    chances = [0] * (inputs + 2)
    for brought in itertools.product((0, 1), repeat=inputs + 1):
        chance = local if brought[-1] else 1 - local
        for one in brought[:-1]:
            chance = chance * (through if one else 1 - through)
        chances[sum(brought)] += chance
    return chances


def stationary(q: list[float], states: int) -> np.ndarray:
    """Contenders in steady state: one is forwarded in a slot, then packets arrive; the last state counts all beyond."""
    moves = np.zeros((states, states))
    for now in range(states):
        for come, chance in enumerate(q):
            moves[now, min(max(now - 1, 0) + come, states - 1)] += chance
    equations = moves.T - np.eye(states)
    equations[-1] = 1.0  # one balance follows from the others; the probabilities are all there are
    return np.linalg.solve(equations, np.append(np.zeros(states - 1), 1.0))


def printed_recurrence(q: list[Fraction], states: int) -> list[Fraction]:
    """r(0) = 1 - ρ, r(i+1) = [r(i) - r(0) q(i) - Σ_{j=1..i} r(j) q(i+1-j)] / q(0), without rounding."""
    chance = dict(enumerate(q))
    r = [1 - sum(i * p for i, p in enumerate(q))]
    for i in range(states - 1):
        arrived = r[0] * chance.get(i, 0) + sum(r[j] * chance.get(i + 1 - j, 0) for j in range(1, i + 1))
        r.append((r[i] - arrived) / chance[0])
    return r
