"""Worst-case permutations, against all permutations and closed forms."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from torusweep.capacity import worst_permutation


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("terminals", [1, 3, 6])
def test_worst_permutation_of_all(terminals, seed):
    random = np.random.default_rng(seed)
    shares, links = random.uniform(size=(7, terminals, terminals)) ** 3, random.integers(1, 3, 7)
    everyone = np.arange(terminals)
    loads = {
        (c, p): shares[c, everyone, list(p)].sum() / links[c] for c in range(7) for p in permutations(range(terminals))
    }
    found = worst_permutation(shares, capacity=links)
    assert found.load == pytest.approx(max(loads.values()), rel=1e-12)
    assert loads[found.channel, tuple(found.permutation.tolist())] == pytest.approx(found.load, rel=1e-12)
    assert found.permutation.dtype == np.int32
    asked = worst_permutation(lambda c: shares[c], channels=[2, 5], capacity=links)
    assert asked.load == pytest.approx(max(load for (c, _), load in loads.items() if c in (2, 5)), rel=1e-12)


@cache
def dimension_order(k):
    """float64[A, N, N] shares of x-then-y routing on the k×k torus, ties split, walked pair by pair."""
    shares = np.zeros((4 * k * k, k * k, k * k))

    def step(at, axis, way):
        return ((at[0] + way) % k, at[1]) if axis == 0 else (at[0], (at[1] + way) % k)

    for s, d in product(product(range(k), repeat=2), repeat=2):
        ways = []
        for axis in (0, 1):
            ahead = (d[axis] - s[axis]) % k
            ways.append(
                [(1, ahead, 0.5), (-1, ahead, 0.5)]
                if 2 * ahead == k
                else [(1, ahead, 1.0)]
                if 2 * ahead < k
                else [(-1, k - ahead, 1.0)]
            )
        for chosen in product(*ways):
            at, part = s, chosen[0][2] * chosen[1][2]
            for axis, (way, hops, _) in enumerate(chosen):
                for _ in range(hops):
                    shares[(at[0] + k * at[1]) * 4 + 2 * axis + (way < 0), s[0] + k * s[1], d[0] + k * d[1]] += part
                    at = step(at, axis, way)
            assert at == d
    return shares


@pytest.mark.parametrize("k", [4, 5, 6, 8])
def test_worst_case_of_dimension_order(k):
    """(k − 1)/2: nodes up to ⌈k/2⌉ − 1 hops before a channel send all flits over it; for even k, the next half."""
    assert worst_permutation(dimension_order(k)).load == pytest.approx((k - 1) / 2, rel=1e-12)


@pytest.mark.parametrize("k", [4, 8])
def test_worst_case_of_valiant(k):
    """Two phases of uniform traffic for any permutation (Valiant & Brebner 1981), load k/8 each."""
    uniform = dimension_order(k)
    found = worst_permutation(
        lambda c: uniform[c].mean(axis=1)[:, None] + uniform[c].mean(axis=0), channels=range(4 * k * k)
    )
    assert found.load == pytest.approx(2 * k / 8, rel=1e-12)


@pytest.mark.parametrize(
    ("shares", "channels", "says"),
    [
        (np.ones((3, 3)), None, r"expected an array \[channels, terminals, terminals\], got shape \(3, 3\)"),
        (np.ones((2, 3, 4)), None, r"expected a square matrix of shares ≥ 0, got shape \(3, 4\)"),
        (-np.ones((2, 3, 3)), None, r"shares ≥ 0, got -1\.0"),
        (np.full((2, 3, 3), np.nan), None, "shares ≥ 0, got nan"),
        (lambda c: np.ones((3, 3)), None, "list them"),
        (np.ones((2, 3, 3)), [], "expected one or more, got none"),
    ],
)
def test_wrong_shares_are_refused(shares, channels, says):
    with pytest.raises(ValueError, match=says):
        worst_permutation(shares, channels)
