"""Lengths of packets: one for all, or a mix, from which each packet draws its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torusweep_kernels.philox.draws import packet_words

from torusweep.errors import BadInput, one_line

LENGTHS = 14  # stream of random numbers (torusweep_kernels.philox.draws)
MOST_FLITS = 1 << 14  # of a packet
MOST_LENGTHS = 16  # of a mix
EXAMPLE = "1:0.5,5:0.5"


class PacketLengths(NamedTuple):
    """Lengths in ascending order, and their shares of the packets, which add up to 1."""

    flits: tuple[int, ...]
    shares: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Flits of a packet on average; of one length, exactly that."""
        return float(sum(flits * share for flits, share in zip(self.flits, self.shares)))

    @property
    def longest(self) -> int:
        return self.flits[-1]

    @property
    def shortest(self) -> int:
        return self.flits[0]

    def draw(self, number: np.ndarray, seed: int, backend: str = "auto") -> np.ndarray:
        """int16[M]: the length of each packet, from its number int64[M]; off by less than 2⁻³² in each probability."""
        if len(self.flits) == 1:
            return np.full(len(number), self.flits[0], np.int16)
        drawn = packet_words(number, 0, LENGTHS, seed, backend=backend)[0]
        limits = np.floor(np.cumsum(self.shares[:-1]) * 2.0**32)
        return np.array(self.flits, np.int16)[np.searchsorted(limits, drawn, side="right")]


def one_length(flits: int) -> PacketLengths:
    """All packets have this length."""
    return PacketLengths((flits,), (1.0,))


def lengths_of(mix: str) -> PacketLengths:
    """The lengths of a mix, written as lengths and weights: "1:0.5,5:0.5".

    Raises BadInput for a mix that is not written so, or has a length twice.
    """
    found: dict[int, float] = {}
    parts = mix.split(",")
    for part in parts:
        flits, colon, weight = part.partition(":")
        try:
            length, share = int(flits), float(weight)
        except ValueError:
            raise _refusal(mix, f"'{part.strip()}'") from None
        if not colon or not part.isascii() or not 1 <= length <= MOST_FLITS or not 0 < share < float("inf"):
            raise _refusal(mix, f"'{part.strip()}'")
        if length in found:
            raise _refusal(mix, f"{length} twice")
        found[length] = share
    if len(found) > MOST_LENGTHS:
        raise _refusal(mix, f"{len(found)} of them")
    ascending = sorted(found)
    total = sum(found[length] for length in ascending)
    return PacketLengths(tuple(ascending), tuple(found[length] / total for length in ascending))


def canonical(mix: str) -> str:
    """The mix with ascending lengths and shares that add up to 1. Raises BadInput as `lengths_of`."""
    lengths = lengths_of(mix)
    return ",".join(f"{flits}:{share:.12g}" for flits, share in zip(lengths.flits, lengths.shares))


def _refusal(mix: str, got: str) -> BadInput:
    return BadInput(
        f"packet_mix={one_line(mix, 60)}: expected at most {MOST_LENGTHS} lengths of 1 … {MOST_FLITS:,} flits with"
        f" weights above 0, got {one_line(got, 40)}; write it like {EXAMPLE}"
    )
