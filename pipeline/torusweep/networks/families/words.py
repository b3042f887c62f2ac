"""Directed networks whose nodes are words, joined by shifting in a letter: de Bruijn and Kautz graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from torusweep.networks.families.grids import translation
from torusweep.networks.families.linked import ClassLinks, wiring_of_links
from torusweep.networks.topology import Plan, Whole, Wiring

Letters = Annotated[int, Whole(2, "channels that leave a node, d")]
Length = Annotated[int, Whole(2, "letters of a word: the diameter", maximum=30)]


def de_bruijn(d: Letters, k: Length) -> Plan:
    """De Bruijn graph: d^k words of k letters; a word without its first letter, and any letter at its end, follows.

    A word's number has its letters as digits, base d, the last one lowest. Channels from a word to itself (all letters
    equal) are left out.
    Source: de Bruijn 1946; as a network, Samatham & Pradhan 1989.
    """
    return Plan(
        nodes=d**k,
        degree=d,
        radices=(d**k,),
        wire=lambda: _shifted(d, d**k, lambda words: words * d % d**k),
        directed=True,
        symmetries=lambda: [translation((d,) * k, (1,) * k)],
        classes=("link",),
        joined=True,
    )


def kautz(d: Letters, k: Length) -> Plan:
    """Kautz graph: d^k + d^(k−1) words of k letters out of d + 1, neighbours different; joined as de Bruijn's.

    A word's number has as digits, from the lowest: k − 1 differences, base d, of a letter to the one before it, less 1,
    the last one first; then the first letter.
    Source: Kautz 1968.
    """
    rest = d ** (k - 1)

    def after(words: np.ndarray) -> np.ndarray:
        """The word shifted, with 0 as its last difference."""
        first, differences = words // rest, words % rest
        second = (first + differences // (rest // d) + 1) % (d + 1)
        return second * rest + differences * d % rest

    return Plan(
        nodes=(d + 1) * rest,
        degree=d,
        radices=((d + 1) * rest,),
        wire=lambda: _shifted(d, (d + 1) * rest, after),
        directed=True,
        symmetries=lambda: [((np.arange((d + 1) * rest) + rest) % ((d + 1) * rest)).astype(np.int32)],
        classes=("link",),
        joined=True,
    )


def _shifted(d: int, nodes: int, after: Callable[[np.ndarray], np.ndarray]) -> Wiring:
    """Channels from each word to the d numbers from that of the word after it on."""
    words, letters = np.arange(nodes), np.arange(d)[:, None]
    return wiring_of_links(nodes, [ClassLinks(np.tile(words, d), (after(words) + letters).reshape(-1))], directed=True)
