"""The worst traffic that an oblivious routing can meet, and the channel where it hurts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment


class WorstCase(NamedTuple):
    """load   flits per cycle over the channel, divided by its capacity, at one flit injected per terminal and cycle
    channel      the first of the channels that reach this load
    permutation  int32[T]  terminal s sends everything to terminal permutation[s]
    """

    load: float
    channel: int
    permutation: np.ndarray


def worst_permutation(
    shares: np.ndarray | Callable[[int], np.ndarray],
    channels: Iterable[int] | None = None,
    capacity: np.ndarray | None = None,
) -> WorstCase:
    """The permutation, and the channel, with the largest load that any permutation makes.

    shares    float64[A, T, T]  share ≥ 0 of the flits from s to t that cross channel c (how often, where a route meets it
              twice), all its parallel links together; or a function from c to that float64[T, T], called once for each
    channels  which of them to look at, by number: all rows of an array; a function needs them named
    capacity  float64[A], links that each channel stands for; 1 by default

    No traffic whose rows and columns sum to 1 or less loads a channel more: it is a mixture of permutations, or less than
    one (Birkhoff & von Neumann), and the load is linear. So the throughput 1/load is guaranteed (Towles & Dally,
    "WorstCase-case traffic for oblivious routing functions", 2002): each channel's worst permutation is a matching of greatest
    weight. One channel of each orbit is enough where the automorphisms that make the orbits also keep the routing: what g
    makes of a permutation loads what g makes of the channel alike. A tie broken by sign, or an order of dimensions, may
    not be kept.

    A channel is passed over where even the largest shares of all sources, or of all destinations, do not add up to
    more than the worst so far; a share's last digits do not decide which channel of equal ones is named.

    Raises ValueError for shares of another shape, negative ones, or none.
    """
    if isinstance(shares, np.ndarray):
        if shares.ndim != 3:
            raise ValueError(
                f"shares: expected an array [channels, terminals, terminals], got shape {shares.shape}; pass one matrix a channel"
            )
        share_of: Callable[[int], np.ndarray] = shares.__getitem__
        channels = range(len(shares)) if channels is None else channels
    else:
        share_of = shares
    if channels is None:
        raise ValueError("channels: expected the channels to look at beside a function, got None; name them")
    worst: WorstCase | None = None
    for channel in channels:
        weight = np.asarray(share_of(channel), np.float64)
        if weight.ndim != 2 or weight.shape[0] != weight.shape[1] or not (weight >= 0).all():
            raise ValueError(
                f"shares of channel {channel}: expected a square matrix of shares ≥ 0, got {_seen(weight)}; check the routing"
            )
        links = 1.0 if capacity is None else float(capacity[channel])
        most = min(weight.max(axis=0, initial=0).sum(), weight.max(axis=1, initial=0).sum()) / links
        if worst is not None and most <= worst.load * (1 + 1e-12):
            continue
        source, destination = linear_sum_assignment(weight, maximize=True)
        load = float(weight[source, destination].sum()) / links
        if worst is None or load > worst.load * (1 + 1e-12):
            worst = WorstCase(load, int(channel), destination.astype(np.int32))
    if worst is None:
        raise ValueError("channels: expected one or more, got none; a network without channels has no worst case")
    return worst


def _seen(weight: np.ndarray) -> str:
    return f"shape {weight.shape}" if weight.ndim != 2 or weight.shape[0] != weight.shape[1] else f"{weight.min()}"
