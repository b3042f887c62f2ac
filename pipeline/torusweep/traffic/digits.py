"""Permutations that add to the digits of a node's address, modulo the radices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torusweep.networks.families import files_of
from torusweep.networks.families.grids import translation
from torusweep.networks.topology import Topology, require
from torusweep.traffic.matrix import Traffic, permutation


def tornado(topology: Topology) -> Traffic:
    """To the node ⌈k/2⌉ − 1 steps on in every dimension: all flits go the same way round.

    Source: Dally & Towles 2004, Table 3.1.
    """
    sides = _sides(topology)
    require(max(sides) > 2, "radices", list(sides), "a radix above 2", "in smaller rings the tornado moves nothing")
    return _shift(sides, [(side + 1) // 2 - 1 for side in sides])


def neighbour(topology: Topology) -> Traffic:
    """To the next node in the first dimension only; `tornado` shifts every dimension.

    Source: Dally & Towles 2004, Table 3.1, where it is in every dimension.
    """
    sides = _sides(topology)
    require(sides[0] > 1, "radices", list(sides), "a first radix above 1", "otherwise every node is its own neighbour")
    return _shift(sides, [1] + [0] * (len(sides) - 1))


def _sides(topology: Topology) -> Sequence[int]:
    """The radices of a network. Raises BadInput unless every node has an address and one terminal."""
    spelling = topology.spelling
    require(
        not files_of(spelling), "network", "from a file", "nodes with addresses of digits", "the pattern shifts digits"
    )
    one_terminal_each = np.array_equal(topology.terminals, np.arange(topology.nodes))
    require(
        one_terminal_each,
        "terminals",
        len(topology.terminals),
        f"one at each of the {topology.nodes} nodes",
        "every node sends to a shifted address",
    )
    return topology.plan.radices


def _shift(sides: Sequence[int], shift: Sequence[int]) -> Traffic:
    return permutation(translation(sides, shift))
