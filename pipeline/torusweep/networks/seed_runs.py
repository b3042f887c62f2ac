"""Runs of networks that differ only in their seeds, spelt as one: `faulty(torus(k=4, n=2), links=2, seed=0..4095)`.

A sweep holds one `SeedRun` instead of thousands of networks: one record, one point, one key
(docs/decisions/15-a-run-of-seeds-is-a-point.md). Its text is for files and messages; no family takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from torusweep.networks.topology import Plan

SEED = "seed"  # last parameter of every random family, 0 by default
_RUN = re.compile(rf"(.*), {SEED}=(\d{{1,11}})\.\.(\d{{1,11}})\)")  # below 2³⁶
_ONE = re.compile(rf"(.*), {SEED}=(\d+)\)")


class SeedRun(NamedTuple):
    """Networks that differ only in their seeds, which are consecutive.

    before       canonical spelling up to the seed, such as `faulty(torus(k=4, n=2), links=2`
    first, last  first and last seed, both included
    """

    before: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.before}, {SEED}={self.first}..{self.last})"

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    @property
    def spellings(self) -> Iterator[str]:
        """The canonical spellings of the run's networks, in the order of their seeds."""
        return (of_seed(self.before, seed) for seed in range(self.first, self.last + 1))

    def part(self, begin: int, size: int) -> SeedRun:
        """Return the run of `size` networks from place `begin` of this run, counted from 0."""
        return self._replace(first=self.first + begin, last=self.first + begin + size - 1)

    def without(self, others: list[tuple[int, int]]) -> Iterator[SeedRun]:
        """Yield the runs that remain after removing the given intervals of seeds (first, last), which may overlap."""
        begin = self.first
        for first, last in sorted(others):
            if first > begin:
                yield self._replace(first=begin, last=min(first - 1, self.last))
            begin = max(begin, last + 1)
            if begin > self.last:
                return
        yield self._replace(first=begin)


Planned = tuple[str | SeedRun, Plan]  # a sweep's topology, and the plan of its first network


def read_run(text: str) -> str | SeedRun:
    """Return the run that a text spells, or the text itself if it spells a network or a design space."""
    found = _RUN.fullmatch(text) if ".." in text else None
    return SeedRun(found[1], int(found[2]), int(found[3])) if found else text


def of_seed(before: str, seed: int) -> str:
    """Return the canonical spelling of a network, from the text before its seed (`before_seed`), and the seed."""
    return f"{before}, {SEED}={seed})" if seed else f"{before})"


def before_seed(spelling: str) -> tuple[str, int]:
    """Return (spelling up to the seed, seed). Without a seed: (spelling without the last bracket, 0)."""
    found = _ONE.fullmatch(spelling) if SEED in spelling else None
    return (found[1], int(found[2])) if found else (spelling[:-1], 0)


def first_of(topology: str | SeedRun) -> str:
    """Return the spelling of the first network of a sweep's topology."""
    return of_seed(topology.before, topology.first) if isinstance(topology, SeedRun) else topology


def spellings_of(topology: str | SeedRun) -> Iterator[str]:
    """Return the spellings of all networks of a sweep's topology."""
    return topology.spellings if isinstance(topology, SeedRun) else iter((topology,))


def count_of(topology: str | SeedRun) -> int:
    """Number of networks of a sweep's topology; a design space counts as one."""
    return topology.size if isinstance(topology, SeedRun) else 1


def in_parts(networks: Iterable[Planned], most: int) -> Iterator[list[Planned]]:
    """Yield a sweep's topologies and plans in lists of at most `most` networks; runs of seeds are cut to fit."""
    part, room = list[Planned](), most
    for topology, planned in networks:
        begin, size = 0, count_of(topology)
        while begin < size:
            taken = min(size - begin, room)
            part.append((topology.part(begin, taken) if isinstance(topology, SeedRun) else topology, planned))
            begin, room = begin + taken, room - taken
            if not room:
                yield part
                part, room = [], most
    if part:
        yield part


class Networks:
    """A set of networks. Runs are stored as intervals of seeds, by the part of the spelling before the seed."""

    def __init__(self, topologies: Iterable[str | SeedRun] = ()) -> None:
        self._runs: dict[str, list[tuple[int, int]]] = {}
        self._seeds: dict[str, set[int]] = {}
        for topology in topologies:
            self.add(topology)

    def __contains__(self, spelling: str) -> bool:
        return self._has(*before_seed(spelling))

    def _has(self, before: str, seed: int) -> bool:
        if seed in self._seeds.get(before, ()):
            return True
        return before in self._runs and any(first <= seed <= last for first, last in self._runs[before])

    def within(self, topology: str | SeedRun) -> list[str]:
        """Return the set's networks that equal a given network, or lie in a given run, in the order of their seeds."""
        if isinstance(topology, str):
            return [topology] if topology in self else []
        before, first, last = topology
        return [of_seed(before, seed) for seed in sorted(self._seeds.get(before, ())) if first <= seed <= last]

    def add(self, topology: str | SeedRun) -> Sequence[str | SeedRun]:
        """Add a network or a run, and return its parts that are new to the set."""
        if isinstance(topology, str):
            before, seed = before_seed(topology)
            if self._has(before, seed):
                return []
            self._seeds.setdefault(before, set()).add(seed)
            return [topology]
        there = self._runs.setdefault(topology.before, [])
        new = list(topology.without([*there, *((seed, seed) for seed in self._seeds.get(topology.before, ()))]))
        there += [(part.first, part.last) for part in new]
        return new


def pieces(wanted: Iterable[Iterable[SeedRun]]) -> Iterator[tuple[SeedRun, list[int]]]:
    """Cut runs of seeds wherever a run of any list begins or ends; yield (piece, indices of the lists that contain it).

    wanted   lists of runs that differ only in their seeds; the runs within one list do not overlap
    """
    ends: dict[int, list[tuple[bool, int]]] = {}
    for place, runs in enumerate(wanted):
        for run in runs:
            ends.setdefault(run.first, []).append((True, place))
            ends.setdefault(run.last + 1, []).append((False, place))
    order, inside = sorted(ends), set[int]()
    for first, after in pairwise(order):
        for begins, place in sorted(ends[first]):
            (inside.add if begins else inside.discard)(place)
        if inside:
            yield run._replace(first=first, last=after - 1), sorted(inside)
