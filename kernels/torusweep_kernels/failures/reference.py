"""Specification of `torusweep_kernels.failures`: draws as arrays, and each draw's survivors as a dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep_kernels.failures import STREAM, Failures, Network, Outcomes, Parts
from torusweep_kernels.philox import WORD, below, philox


def words(draw: Any, place: Any, seed: int) -> np.ndarray:
    """Return uint32[4, …]: the random words for draws and places, both int64."""
    counter = (draw & (WORD - 1), draw >> 32, place, STREAM)
    return np.stack(philox(counter, (seed % WORD, seed // WORD)))


def some(parts: int, draws: int, count: int, seed: int, first: int) -> np.ndarray:
    """Return int32[draws · count]: the first parts of each draw's permutation. Place k has words for 4k … 4k + 3."""
    order = np.tile(np.arange(parts, dtype=np.int32), (draws, 1))
    draw = np.arange(first, first + draws)
    every = np.arange(draws)
    for pick in range(count):
        word = words(draw, np.full(draws, pick // 4), seed)[pick % 4]
        other = pick + below(word, parts - pick).astype(np.int64)
        order[every, pick], order[every, other] = order[every, other], order[every, pick].copy()
    return np.ascontiguousarray(order[:, :count]).reshape(-1)


def each(parts: int, draws: int, limit: int, seed: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (start, part): the parts whose 64 bits are below `limit`. Place k has the bits of parts 2k and 2k + 1."""
    draw = np.arange(first, first + draws)[:, None]
    drawn = words(draw, np.arange(-(-parts // 2))[None, :], seed).astype(np.uint64)
    bits = np.stack([drawn[0] << np.uint64(32) | drawn[1], drawn[2] << np.uint64(32) | drawn[3]], axis=-1)
    failed = bits.reshape(draws, -1)[:, :parts] < np.uint64(limit)
    start = np.concatenate([[0], np.cumsum(failed.sum(axis=1))]).astype(np.int64)
    return start, np.nonzero(failed)[1].astype(np.int32)


def outcomes(network: Network, parts: Parts, failures: Failures, distances: bool, threads: int) -> Outcomes:
    """Specification of `after_failures`. network.capacity is an array here, with 0 where a port has no link."""
    draws = len(failures.start) - 1
    found = np.full((len(Outcomes._fields), draws), -1, np.int64)
    for draw in range(draws):
        adjacent, works = survivors(network, parts, failures.part[failures.start[draw] : failures.start[draw + 1]])
        terminals = np.where(works, network.terminals, 0)
        hops = hops_between(adjacent)
        joined = (hops >= 0) & (hops.T >= 0)
        found[0, draw] = terminals.sum()
        found[1, draw] = (joined @ terminals)[terminals > 0].max(initial=0)
        if distances:
            pairs = np.where(hops >= 0, np.outer(terminals, terminals), 0)
            found[2, draw] = (pairs * hops).sum()
            found[3, draw] = hops[pairs > 0].max(initial=0)
    return Outcomes(*found)


def survivors(network: Network, parts: Parts, failed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (bool[N, N]: whether a channel is left; bool[N]: whether a node works) after the given parts failed."""
    nodes = len(network.ports)
    members = [parts.member[parts.start[part] : parts.start[part + 1]] for part in failed]
    member = np.concatenate([np.zeros(0, np.int64), *members])
    works = np.ones(nodes, bool)
    assert network.capacity is not None
    left = network.capacity.copy()
    if parts.of_nodes:
        works[member] = False
    else:
        np.subtract.at(left.reshape(-1), member, 1)
    tail, port = np.nonzero(left > 0)
    adjacent = np.zeros((nodes, nodes), bool)
    adjacent[tail, network.ports[tail, port]] = True
    return adjacent & works[:, None] & works, works


def hops_between(adjacent: np.ndarray) -> np.ndarray:
    """Return int64[N, N]: hops from each node to each node, −1 where there is no path."""
    nodes = len(adjacent)
    reached = np.eye(nodes, dtype=bool)
    hops = np.where(reached, 0, -1)
    level = 0
    steps = adjacent.astype(np.float32)
    while True:
        level += 1
        new = (reached.astype(np.float32) @ steps > 0) & ~reached
        if not new.any():
            return hops
        hops[new] = level
        reached |= new
