"""Numbers with twice the digits against fractions."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from torusweep_kernels import sums
from torusweep_kernels.sums import arithmetic, cpu

NUMBERS = st.floats(1e-9, 1e9)


def fraction(pair: tuple[float, float]) -> Fraction:
    return Fraction(float(pair[0])) + Fraction(float(pair[1]))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(NUMBERS, NUMBERS, NUMBERS)
def test_operations_have_twice_the_digits(one: float, other: float, third: float):
    assert fraction(sums.two_sum(one, other)) == Fraction(one) + Fraction(other)
    assert fraction(sums.two_product(one, other)) == Fraction(one) * Fraction(other)
    number = sums.two_product(one, other)
    for found, exact in (
        (sums.add(*number, *sums.two_sum(third, one)), fraction(number) + Fraction(third) + Fraction(one)),
        (sums.times(*number, third), fraction(number) * Fraction(third)),
        (sums.divided(*number, third), fraction(number) / Fraction(third)),
    ):
        assert abs(fraction(found) - exact) <= exact * Fraction(1, 2**100)
        assert float(found[0]) == float(exact)


@pytest.mark.parametrize("even", [1.0, 1.0 + 2.0**-51, 2.0**53 + 4.0, 3.0, 2.0**-1000])
def test_the_middle_is_rounded_to_the_even_number(even: float):
    for other in (nextafter(even, inf), nextafter(even, -inf)):
        middle = (Fraction(even) + Fraction(other)) / 2
        ulp = abs(Fraction(even) - Fraction(other))
        for away, expected in ((0, even), (ulp / 2**40, even), (-ulp / 2**40, even), (ulp / 2**20, max(even, other)),
                               (-ulp / 2**20, min(even, other))):  # fmt: skip
            high = float(middle + away)
            low = float(middle + away - Fraction(high))
            assert float(sums.rounded(high, low)) == expected


@njit
def round_all(high, low, found):
    for place in range(len(high)):
        found[place] = cpu.round_once(high[place], low[place])


def test_one_number_is_rounded_as_arrays_are():
    rng = np.random.default_rng(5)
    high = np.concatenate([[0.0], 2.0 ** rng.integers(-30, 30, 500), 2.0 ** rng.uniform(-30, 30, 4000)])
    half = (np.nextafter(high, rng.choice([0, np.inf], len(high))) - high) / 2
    near = rng.choice([0, 1 - 2.0**-29, 1 - 2.0**-30, 1 - 2.0**-31, 1, 0.5, 0.1], len(high))
    found = np.empty(len(high))
    round_all(high, half * near, found)
    assert found.tolist() == sums.rounded(high, half * near).tolist()
    assert (found != high).sum() > 300


def test_thirds_that_make_a_half_are_the_half():
    """3·(1 + 2⁻⁵²) as the sum of nine thirds of it, in any order: the middle between two numbers."""
    unit = 1 + 2.0**-52
    third = sums.divided(unit, 0.0, 3.0)
    high, low = sums.grouped_sums(np.full(9, third[0]), np.full(9, third[1]), np.zeros(9, np.int64), 1)
    assert sums.rounded(high, low).tolist() == [float(3 * Fraction(unit))]


def test_grouped_sums():
    rng = np.random.default_rng(4)
    high, group = 10.0 ** rng.uniform(-9, 9, 500) * rng.choice([-1, 1], 500), rng.integers(0, 7, 500)
    low = high * rng.random(500) * 2.0**-54
    found, expected = sums.grouped_sums(high, low, group, 9), arithmetic.grouped_sums(high, low, group, 9)
    assert found[0].tolist() == expected[0].tolist()
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9)
    assert found[0][7:].tolist() == [0.0, 0.0]
