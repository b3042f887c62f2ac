"""Fault diameter: the largest diameter after node faults, from all sets of faults or from a sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations, islice
from math import comb
from typing import NamedTuple

import numpy as np
from torusweep_kernels.distance import all_pairs_distance

from torusweep.errors import BadInput
from torusweep.networks.ends import split
from torusweep.networks.symmetry import Orbits
from torusweep.networks.topology import NO_PORT, Topology

EXHAUSTIVE_WORK = 1 << 34  # largest searches × nodes of an exhaustive search: about 15 seconds on a core
SAMPLE_WORK = 1 << 30  # approximate searches × nodes of a sample
SAMPLE_SETS = 1 << 16  # largest number of random sets for a source
NEAR_SETS = 64  # largest number of sets among a source's neighbours
SAMPLE_SEED = 1
LANES = 1 << 13  # searches in a call of the kernel

Lanes = tuple[np.ndarray, np.ndarray]  # (source int32[B], removed int32[B, faults]): searches and their faulty nodes


class FaultDiameter(NamedTuple):
    """The fault diameter in hops (None if some faults disconnect survivors), the number of sets tried, the method."""

    diameter: int | None
    sets: int
    method: str


def fault_diameter(
    topology: Topology, orbits: Orbits, faults: int, *, backend: str, threads: int | None
) -> FaultDiameter:
    """Return the largest diameter among the survivors of `faults` node faults (Parhami & Kwai 2004, Theorem 3).

    orbits   orbits of the nodes, under proved automorphisms that keep the terminals

    An automorphism maps a source s and a set F of faults to another source of the orbit and another set, with the
    same distances between survivors. One s of each orbit, with all F that do not contain s, is therefore enough to find
    the largest distance. If that is too much work, only a sample of sets is tried for each s: sets of neighbours of s,
    which increase distances most, and random sets with a fixed seed. The result is then a lower bound.
    An exhaustive result does not depend on the orbits.

    Raises BadInput unless 1 ≤ faults < N.
    """
    n = topology.nodes
    if isinstance(faults, bool) or not isinstance(faults, int) or not 1 <= faults < n:
        raise BadInput(
            f"{topology.spelling}: fault_nodes={faults}: expected 1 … {n - 1},"
            f" a number of nodes that leaves at least one of {n}"
        )
    is_terminal = np.zeros(n, bool)
    is_terminal[topology.terminals] = True
    isolated = _isolating_degree(topology, is_terminal, faults)
    if isolated is not None:
        return FaultDiameter(
            None, 1, f"proof: the {isolated} neighbour{'' if isolated == 1 else 's'} of a node cut it off"
        )
    sources = orbits.representatives[is_terminal[orbits.representatives]]
    searches, tried, method = _searches(topology, sources, faults)
    diameter, parted, ports = 0, split(topology), topology.ports
    counted = None if is_terminal.all() else is_terminal
    if topology.ends is not None:
        ports, counted = parted.staying, parted.arriving(is_terminal)
    for lanes, removed in _batches(searches):
        histogram = all_pairs_distance(
            ports,
            lanes,
            np.zeros(len(lanes), np.int32),
            counted=counted,
            removed=removed if topology.ends is None else np.hstack([removed, parted.arrive[removed]]),
            backend=backend,
            threads=threads,
        ).histogram
        surviving = len(lanes) * int(is_terminal.sum()) - int(is_terminal[removed].sum())
        if int(histogram.sum()) < surviving:
            return FaultDiameter(None, tried, f"{method}; stopped at the first set that disconnects")
        if topology.ends is not None:  # a host reaches its own split-off end by a hop
            histogram[0, :2] += len(lanes), -len(lanes)
        diameter = max(diameter, int(np.flatnonzero(histogram[0]).max(initial=0)))
    return FaultDiameter(diameter, tried, method)


def _searches(topology: Topology, sources: np.ndarray, faults: int) -> tuple[Iterator[Lanes], int, str]:
    """Return the searches from `sources`, the number of sets of faults that they try, and the method in words."""
    n = topology.nodes
    sets = comb(n - 1, faults)
    if len(sources) * sets * n <= EXHAUSTIVE_WORK:
        each = (_all_sets(source, n, faults, sets) for source in sources.tolist())
        return chain.from_iterable(each), comb(n, faults), "exhaustive"
    sampled, drawn = _sample_size(n, sources)
    near = {source: _near_sets(topology, source, faults) for source in sampled.tolist()}
    tried = sum(len(choices) + drawn for choices in near.values())
    method = (
        f"sampled: from a node of each of {len(sampled):,} of {len(sources):,} orbits, sets among its neighbours"
        f" and {drawn:,} drawn (Philox, seed {SAMPLE_SEED}); a lower bound"
    )
    return _sample(near, n, faults, drawn), tried, method


def _isolating_degree(topology: Topology, is_terminal: np.ndarray, faults: int) -> int | None:
    """Return the least number of neighbours, at most `faults`, whose failure isolates a terminal; None if none do."""
    n, terminals = topology.nodes, int(is_terminal.sum())
    if terminals < 2 or faults > n - 2:
        return None
    tail, head, _ = topology.arcs
    arcs = np.unique(tail.astype(np.int64) * n + head)
    for end, other in ((arcs // n, arcs % n), (arcs % n, arcs // n)):
        degree = np.bincount(end, minlength=n)
        terminals_near = np.bincount(end, is_terminal[other], n)
        cut_off = is_terminal & (degree <= faults) & (terminals_near < terminals - 1)
        if cut_off.any():
            return int(degree[cut_off].min())
    return None


def _batches(pieces: Iterable[Lanes]) -> Iterator[Lanes]:
    """Regroup the searches into batches of at least LANES; the last batch may be smaller."""
    sources: list[np.ndarray] = []
    removed: list[np.ndarray] = []
    for source, nodes in pieces:
        sources.append(source)
        removed.append(nodes)
        if sum(map(len, sources)) >= LANES:
            yield np.concatenate(sources), np.concatenate(removed)
            sources, removed = [], []
    if sources:
        yield np.concatenate(sources), np.concatenate(removed)


def _all_sets(source: int, n: int, faults: int, sets: int) -> Iterator[Lanes]:
    """Yield every set of `faults` nodes that does not contain the source.

    Set number r is {c_1 < … < c_f} with r = Σ C(c_i, i): the combinatorial number system.
    """
    tables = [np.array([min(comb(c, size), sets) for c in range(n)], np.int64) for size in range(1, faults + 1)]
    for start in range(0, sets, LANES):
        rank = np.arange(start, min(start + LANES, sets), dtype=np.int64)
        removed = np.empty((len(rank), faults), np.int32)
        for size in range(faults, 0, -1):
            table = tables[size - 1]
            chosen = np.searchsorted(table, rank, side="right") - 1
            rank = rank - table[chosen]
            removed[:, size - 1] = chosen
        yield np.full(len(rank), source, np.int32), removed + (removed >= source).astype(np.int32)


def _sample_size(n: int, sources: np.ndarray) -> tuple[np.ndarray, int]:
    """Return evenly spaced sources, int32[…], and the number of random sets for each, for a sample of SAMPLE_WORK."""
    searches = max(1, SAMPLE_WORK // n)
    step = -(-len(sources) * 2 * NEAR_SETS // searches)
    sampled = sources[::step]
    return sampled, min(SAMPLE_SETS, max(NEAR_SETS, searches // len(sampled) - NEAR_SETS))


def _near_sets(topology: Topology, source: int, faults: int) -> np.ndarray:
    """Return at most NEAR_SETS sets of `faults` neighbours of the source, int32[B, faults]."""
    near = np.setdiff1d(topology.ports[source], [NO_PORT]).tolist()
    return np.array(list(islice(combinations(near, faults), NEAR_SETS)), np.int32).reshape(-1, faults)


def _sample(near: dict[int, np.ndarray], n: int, faults: int, drawn: int) -> Iterator[Lanes]:
    """Yield the near sets of each source, and `drawn` sets of other nodes, uniformly at random (Floyd's algorithm)."""
    random = np.random.Generator(np.random.Philox(SAMPLE_SEED))
    for source, choices in near.items():
        others = np.empty((drawn, faults), np.int32)
        for place, last in enumerate(range(n - 1 - faults, n - 1)):
            pick = random.integers(0, last + 1, drawn, dtype=np.int32)
            taken = (others[:, :place] == pick[:, None]).any(axis=1)
            others[:, place] = np.where(taken, last, pick)
        removed = np.concatenate([choices, others + (others >= source).astype(np.int32)])
        yield np.full(len(removed), source, np.int32), removed
