"""Traffic patterns in which every terminal sends to one other terminal.

Some patterns add a constant to each digit of a node's address, modulo the radices, or to a terminal's number; one
pattern is random.

Others permute the bits of a terminal's number: each bit of the destination's number is a bit of the source's number,
or the inverse of a bit (Dally & Towles 2004, Table 3.1). x varies fastest in numbers, which matters on unequal sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from torusweep.networks.families.graph_files import files_of
from torusweep.networks.families.wiring import translation
from torusweep.networks.topology import Meaning, Topology, Whole, require
from torusweep.traffic.matrix import Traffic, permutation

POWER_OF_2 = "the pattern permutes the bits of the terminals' numbers"


def bit_complement(topology: Topology) -> Traffic:
    """Send to the terminal whose number is the source's with every bit inverted.

    Source: Dally & Towles 2004, Table 3.1; Cámara et al. 2010, sec. 6.2 (BC).
    """
    bits = _bits(topology)
    return permutation(np.arange(1 << bits)[::-1].copy())


def bit_reversal(topology: Topology) -> Traffic:
    """Send to the terminal whose number is the source's with its bits in reverse order.

    Source: Dally & Towles 2004, Table 3.1; Cámara et al. 2010, sec. 6.2 (BR).
    """
    bits = _bits(topology)
    return _permute_bits([bits - 1 - i for i in range(bits)])


def perfect_shuffle(topology: Topology) -> Traffic:
    """Send to the terminal whose number is the source's with its bits rotated left by one.

    Source: Dally & Towles 2004, Table 3.1; Cámara et al. 2010, sec. 6.2 (PS).
    """
    bits = _bits(topology)
    return _permute_bits([(i - 1) % bits for i in range(bits)])


def transpose(topology: Topology) -> Traffic:
    """Send as in a matrix transpose: exchange the two halves of a number's bits, or x and y on a k × k network.

    On a square network of two dimensions with one terminal at each node, (x, y) sends to (y, x), whatever the
    radix. If the radix is a power of 2, both definitions agree.
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
    """Return the number of bits of terminals' numbers. Raises BadInput unless terminals number a power of 2."""
    terminals = len(topology.terminals)
    is_power_of_2 = terminals > 1 and terminals & (terminals - 1) == 0
    require(is_power_of_2, "terminals", terminals, "a power of 2", reason)
    return terminals.bit_length() - 1


def _permute_bits(sources: Sequence[int]) -> Traffic:
    """Return the permutation in which bit i of the destination's number is bit sources[i] of the source's number."""
    number = np.arange(1 << len(sources))
    destination = np.zeros_like(number)
    for i, source in enumerate(sources):
        destination |= (number >> source & 1) << i
    return permutation(destination)


def tornado(topology: Topology) -> Traffic:
    """Send to the node ⌈k/2⌉ − 1 steps on in every dimension; all flits go the same way round.

    If nodes have several terminals, each terminal sends to the corresponding terminal of that node.

    Source: Dally & Towles 2004, Table 3.1.
    """
    sides = _sides(topology)
    require(max(sides) > 2, "radices", list(sides), "a radix above 2", "in smaller rings the tornado moves nothing")
    return _shift(topology, [(side + 1) // 2 - 1 for side in sides])


def neighbour(topology: Topology) -> Traffic:
    """Send to the next node in the first dimension only; `tornado` shifts every dimension.

    Source: Dally & Towles 2004, Table 3.1, where it is in every dimension.
    """
    sides = _sides(topology)
    require(sides[0] > 1, "radices", list(sides), "a first radix above 1", "otherwise every node is its own neighbour")
    return _shift(topology, [1] + [0] * (len(sides) - 1))


def _sides(topology: Topology) -> Sequence[int]:
    """Return a network's radices. Raises BadInput unless nodes have addresses and equally many terminals, in order."""
    spelling, nodes = topology.spelling, topology.nodes
    require(
        not files_of(spelling), "network", "from a file", "nodes with addresses of digits", "the pattern shifts digits"
    )
    each = np.repeat(np.arange(nodes), max(1, len(topology.terminals) // nodes))
    require(
        np.array_equal(topology.terminals, each),
        "terminals",
        len(topology.terminals),
        f"one at each of the {nodes} nodes, or as many at each",
        "every node sends to a shifted address",
    )
    return topology.plan.radices


def _shift(topology: Topology, shift: Sequence[int]) -> Traffic:
    """Return the permutation from each node's terminals to the same terminals of the node at the shifted address."""
    each = len(topology.terminals) // topology.nodes
    there = translation(topology.plan.radices, shift).astype(np.int64)
    return permutation((there[:, None] * each + np.arange(each)).reshape(-1))


By = Annotated[int | None, Meaning("number added to the source's number; if absent, half the number of terminals")]


def shift(topology: Topology, by: By = None) -> Traffic:
    """Send from terminal t to terminal t + `by`, modulo the number of terminals.

    A router's terminals then send to one or two routers.

    Constraint: by not a multiple of the number of terminals.
    Source: Zahavi et al. 2010, Optimized InfiniBand fat-tree routing for shift all-to-all communication patterns.
    """
    count = len(topology.terminals)
    steps = count // 2 if by is None else by
    require(steps % count != 0, "by", steps, f"no multiple of {count}", "every terminal would send to itself")
    return permutation((np.arange(count) + steps) % count)


Seed = Annotated[int, Whole(0, "seed of the random choice")]


def random_permutation(topology: Topology, seed: Seed = 0) -> Traffic:
    """Send by a random permutation of the terminals, chosen once for the whole run; a terminal may send to itself.

    Source: random words of Philox4x64 (Salmon et al. 2011), keyed by the seed, sorted.
    """
    words = np.random.Philox(key=[seed, 2]).random_raw(len(topology.terminals))
    return permutation(np.argsort(words, kind="stable"))
