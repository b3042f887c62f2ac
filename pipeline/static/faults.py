"""The longest distance that remains when nodes fail: fault diameter, exhaustively or from a stated sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb
from typing import NamedTuple

import numpy as np

from kernels.distance import all_pairs_distance
from pipeline.errors import BadInput
from pipeline.symmetry import Orbits
from pipeline.topology import NO_PORT, Topology

EXHAUSTIVE_WORK = 1 << 35  # searches × nodes up to which every set of faults is tried
SAMPLED_WORK = 1 << 30  # searches × nodes of a sample
SAMPLED_SETS = 1 << 14  # most sets of a sample
SAMPLE_SEED = 1
LANES = 1 << 16  # searches handed to the kernel at a time


class FaultDiameter(NamedTuple):
    """diameter: hops, None where some set disconnects what survives; sets: how many were tried; method: which."""

    diameter: int | None
    sets: int
    method: str


def fault_diameter(
    topology: Topology, orbits: Orbits, faults: int, *, use_symmetry: bool, backend: str, threads: int | None
) -> FaultDiameter:
    """Largest diameter, between terminals, of what survives `faults` faulty nodes (Parhami & Kwai 2004, Theorem 3).

    orbits: of the nodes, under proved automorphisms that keep the terminals. An automorphism takes a
    node s and a set F of faults to another node of s's orbit and another set, with the same distances
    in what survives; so the largest distance over all F and s ∉ F is found by trying every F against
    one s of each orbit. Where that is too much, the same s are tried against a sample of sets: every
    choice among the neighbours of s, where distances suffer most, and sets drawn with a fixed seed.
    The answer is then a lower bound. Without use_symmetry an exhaustive search starts from every node.

    Raises BadInput unless 1 ≤ faults < N.
    """
    n = topology.nodes
    if isinstance(faults, bool) or not isinstance(faults, int) or not 1 <= faults < n:
        raise BadInput(f"{topology.spelling}: fault_nodes={faults}: expected 1 … {n - 1}, a number of nodes that leaves at least one of {n}")
    is_terminal = np.zeros(n, bool)
    is_terminal[topology.terminals] = True
    isolated = _isolating_degree(topology, is_terminal, faults)
    if isolated is not None:
        return FaultDiameter(None, 1, f"proof: the {isolated} neighbour{'' if isolated == 1 else 's'} of a node cut it off")
    sources = orbits.representatives[is_terminal[orbits.representatives]]
    sets = comb(n - 1, faults)
    if len(sources) * sets * n <= EXHAUSTIVE_WORK:
        everyone = sources if use_symmetry else np.flatnonzero(is_terminal)
        blocks = (pair for source in everyone for pair in _all_sets(int(source), n, faults, sets))
        tried, method = comb(n, faults), "exhaustive"
    else:
        drawn = max(1, min(SAMPLED_SETS, SAMPLED_WORK // (n * max(1, len(sources)))))
        sample = _sample(topology, sources, faults, drawn)
        blocks = ((np.full(len(removed), source, np.int32), removed) for source, removed in sample)
        tried = sum(len(removed) for _, removed in sample)
        method = (
            f"sampled: each of {len(sources):,} nodes, one of each orbit, with sets among its neighbours and {drawn:,} sets drawn"
            f" (Philox, seed {SAMPLE_SEED}); a lower bound"
        )
    diameter = 0
    counted = None if is_terminal.all() else is_terminal
    for lanes, removed in blocks:
        histogram = all_pairs_distance(
            topology.ports, lanes, np.zeros(len(lanes), np.int32), counted=counted, removed=removed, backend=backend, threads=threads
        ).histogram
        surviving = len(lanes) * int(is_terminal.sum()) - int(is_terminal[removed].sum())
        if int(histogram.sum()) < surviving:
            return FaultDiameter(None, tried, method)
        diameter = max(diameter, histogram.shape[1] - 1)
    return FaultDiameter(diameter, tried, method)


def _isolating_degree(topology: Topology, is_terminal: np.ndarray, faults: int) -> int | None:
    """Neighbours of a terminal that so many faults can remove while another terminal survives, if there is one."""
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


def _all_sets(source: int, n: int, faults: int, sets: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(lanes int32[B], removed int32[B, faults]): every set of nodes other than the source, in blocks.

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
        yield np.full(len(rank), source, np.int32), removed + (removed >= source)


def _sample(topology: Topology, sources: np.ndarray, faults: int, drawn: int) -> list[tuple[int, np.ndarray]]:
    """(source, removed int32[B, faults]): sets among each source's neighbours, and the same number of drawn sets for each."""
    n = topology.nodes
    random = np.random.Generator(np.random.Philox(SAMPLE_SEED))
    sample = []
    for source in sources.tolist():
        others = np.empty((drawn, faults), np.int64)
        for place, last in enumerate(range(n - 1 - faults, n - 1)):  # Floyd: every set is equally likely
            pick = random.integers(0, last + 1, drawn)
            taken = (others[:, :place] == pick[:, None]).any(axis=1)
            others[:, place] = np.where(taken, last, pick)
        near = np.setdiff1d(topology.ports[source], [NO_PORT])
        choices = [near[list(set_)] for set_ in islice(combinations(range(len(near)), faults), SAMPLED_SETS)]
        removed = others + (others >= source)
        sample.append((source, np.concatenate([np.array(choices, np.int64).reshape(-1, faults), removed]).astype(np.int32)))
    return sample
