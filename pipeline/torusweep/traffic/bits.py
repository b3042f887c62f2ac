"""Permutations of the bits of a terminal's number.

Each bit of the destination's number is a bit of the source's number, or its inverse (Dally & Towles
2004, Table 3.1). In numbers x varies fastest, which matters on networks of unequal sides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torusweep.networks.topology import Topology, require
from torusweep.traffic.matrix import Traffic, permutation

POWER_OF_2 = "the pattern permutes the bits of the terminals' numbers"


def bit_complement(topology: Topology) -> Traffic:
    """Every bit of the number inverted.

    Source: Dally & Towles 2004, Table 3.1; Cámara et al. 2010, sec. 6.2 (BC).
    """
    bits = _bits(topology)
    return permutation(np.arange(1 << bits)[::-1].copy())


def bit_reversal(topology: Topology) -> Traffic:
    """The number's bits in reverse order.

    Source: Dally & Towles 2004, Table 3.1; Cámara et al. 2010, sec. 6.2 (BR).
    """
    bits = _bits(topology)
    return _permute_bits([bits - 1 - i for i in range(bits)])


def perfect_shuffle(topology: Topology) -> Traffic:
    """The number's bits rotated left by one.

    Source: Dally & Towles 2004, Table 3.1; Cámara et al. 2010, sec. 6.2 (PS).
    """
    bits = _bits(topology)
    return _permute_bits([(i - 1) % bits for i in range(bits)])


def transpose(topology: Topology) -> Traffic:
    """The transpose of a matrix: the two halves of the number's bits exchanged, or the digits of a k × k network.

    On a square network of two dimensions with one terminal at each node, (x, y) sends to (y, x), whatever its
    radix. If the radix is a power of 2, these are the same.
    Source: Dally & Towles 2004, Table 3.1.
    """
    sides = topology.plan.radices
    if len(sides) == 2 and sides[0] == sides[1] and np.array_equal(topology.terminals, np.arange(topology.nodes)):
        return permutation(np.arange(topology.nodes).reshape(sides).T.ravel())
    bits = _bits(topology, f"{POWER_OF_2}, and the network is not k × k")
    require(
        bits % 2 == 0,
        "terminals",
        f"2^{bits}",
        "a power of 4",
        "transpose exchanges the two halves of the number's bits",
    )
    return _permute_bits([(i + bits // 2) % bits for i in range(bits)])


def _bits(topology: Topology, reason: str = POWER_OF_2) -> int:
    """Number of bits of a terminal's number. Raises BadInput unless the number of terminals is a power of 2."""
    terminals = len(topology.terminals)
    is_power_of_2 = terminals > 1 and terminals & (terminals - 1) == 0
    require(is_power_of_2, "terminals", terminals, "a power of 2", reason)
    return terminals.bit_length() - 1


def _permute_bits(sources: Sequence[int]) -> Traffic:
    """Bit i of the destination is bit sources[i] of the source."""
    number = np.arange(1 << len(sources))
    destination = np.zeros_like(number)
    for i, source in enumerate(sources):
        destination |= (number >> source & 1) << i
    return permutation(destination)
