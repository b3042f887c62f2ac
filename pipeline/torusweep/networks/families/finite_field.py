"""Finite fields of a few hundred elements, as tables."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from torusweep.networks.topology import require


class GaloisField(NamedTuple):
    """GF(q). Element i has the digits of i, base p, as its coefficients; 0 and 1 are themselves.

    add       int64[q, q]   sum of two elements
    negative  int64[q]      −i
    multiply  int64[q, q]   product of two elements
    powers    int64[q − 1]  1, ξ, ξ², … of a primitive element ξ: every element but 0 once
    """

    add: np.ndarray
    negative: np.ndarray
    multiply: np.ndarray
    powers: np.ndarray


def prime_power(q: int) -> tuple[int, int] | None:
    """(p, m) with q ≥ 2 equal to p^m and p a prime; None where q is no power of a prime."""
    p = next((d for d in range(2, int(q**0.5) + 1) if q % d == 0), q)
    m = 0
    while q > 1 and q % p == 0:
        q, m = q // p, m + 1
    return (p, m) if q == 1 else None


def check_order(q: int) -> None:
    """Raise BadInput where no field has q elements."""
    require(prime_power(q) is not None, "q", q, "a power of a prime", "the nodes are points over a field of q elements")


@cache
def finite_field(q: int) -> GaloisField:
    """The field of q elements, a power of a prime."""
    found = prime_power(q)
    assert found is not None, "check_order was called"
    p, m = found
    digits = np.arange(q)[:, None] // p ** np.arange(m) % p
    number = p ** np.arange(m)
    add = (digits[:, None] + digits) % p @ number
    negative = -digits % p @ number
    powers = next(powers for rest in product(range(p), repeat=m) if (powers := _powers_of_x(p, rest)) is not None)
    logarithm = np.zeros(q, np.int64)
    logarithm[powers] = np.arange(q - 1)
    multiply = powers[(logarithm[:, None] + logarithm) % (q - 1)]
    multiply[0], multiply[:, 0] = 0, 0
    return GaloisField(add, negative, multiply, powers)


def _powers_of_x(p: int, rest: tuple[int, ...]) -> np.ndarray | None:
    """The powers of x modulo x^m = Σ rest[i] x^i over GF(p), int64[p^m − 1]; None where x is not primitive."""
    m = len(rest)
    value, seen = (1, *[0] * (m - 1)), []
    for _ in range(p**m - 1):
        seen.append(sum(digit * p**i for i, digit in enumerate(value)))
        top = value[-1]
        value = tuple((low + top * r) % p for low, r in zip((0, *value[:-1]), rest))
    whole = len(set(seen)) == p**m - 1 and 0 not in seen
    return np.array(seen) if whole else None
