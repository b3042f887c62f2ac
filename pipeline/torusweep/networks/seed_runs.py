"""Runs of networks that differ only in their seeds, spelt as one: `faulty(torus(k=4, n=2), links=2, seed=0..4095)`.

A sweep holds one run instead of thousands of networks: one text, one point, one key
(docs/decisions/15-a-run-of-seeds-is-a-point.md). No family takes such a spelling; each network has its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from torusweep.networks.families import plan
from torusweep.networks.topology import Plan

SEED = "seed"  # last parameter of every random family, 0 by default
_RUN = re.compile(rf"(.*), {SEED}=(\d+)\.\.(\d+)\)")
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
        """Return the run of `size` of these networks that begins at place `begin`, counted from 0."""
        return self._replace(first=self.first + begin, last=self.first + begin + size - 1)

    def without(self, others: list[tuple[int, int]]) -> Iterator[SeedRun]:
        """Yield the runs that remain without the given intervals of seeds (first, last), which may overlap."""
        begin = self.first
        for first, last in sorted(others):
            if first > begin:
                yield self._replace(first=begin, last=min(first - 1, self.last))
            begin = max(begin, last + 1)
            if begin > self.last:
                return
        yield self._replace(first=begin)


def seed_run(topology: str) -> SeedRun | None:
    """Return the run that a text spells; None if the text spells a network or a design space."""
    found = _RUN.fullmatch(topology) if ".." in topology else None
    return SeedRun(found[1], int(found[2]), int(found[3])) if found else None


def of_seed(before: str, seed: int) -> str:
    """Return the canonical spelling of a network, from the part of it before the seed, and the seed."""
    return f"{before}, {SEED}={seed})" if seed else f"{before})"


def before_seed(spelling: str) -> tuple[str, int]:
    """Return (spelling up to the seed, seed) of a network. Without a seed: all but the last bracket, and 0."""
    found = _ONE.fullmatch(spelling) if SEED in spelling else None
    return (found[1], int(found[2])) if found else (spelling[:-1], 0)


def first_of(topology: str) -> str:
    """Return the first network of a sweep's topology, which is a network or a run of seeds."""
    run = seed_run(topology)
    return topology if run is None else of_seed(run.before, run.first)


def spellings_of(topology: str) -> Iterator[str]:
    """Return the spellings of all networks of a sweep's topology, which is a network or a run of seeds."""
    run = seed_run(topology)
    return iter((topology,)) if run is None else run.spellings


def count_of(topology: str) -> int:
    """Number of networks of a sweep's topology, which is a network or a run of seeds."""
    run = seed_run(topology)
    return 1 if run is None else run.size


def in_parts(networks: Iterable[tuple[str, Plan]], most: int) -> Iterator[list[tuple[str, Plan]]]:
    """Yield the topologies of a sweep, with their plans, in lists of at most `most` networks, cutting runs of seeds."""
    part, room = list[tuple[str, Plan]](), most
    for topology, planned in networks:
        run, begin = seed_run(topology), 0
        while begin < (size := 1 if run is None else run.size):
            taken = min(size - begin, room)
            part.append((topology if run is None else str(run.part(begin, taken)), planned))
            begin, room = begin + taken, room - taken
            if not room:
                yield part
                part, room = [], most
    if part:
        yield part


def plan_of(topology: str) -> Plan:
    """Return the plan of a sweep's topology. All networks of a run have the same size and need equal resources."""
    return plan(first_of(topology))[1]


class Networks:
    """A set of networks. Runs are stored as intervals of seeds, by the part of the spelling before the seed."""

    def __init__(self, topologies: Iterable[str] = ()) -> None:
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

    def add(self, topology: str) -> list[str]:
        """Add a network or a run, and return the parts of it that were not there yet."""
        run = seed_run(topology)
        if run is None:
            before, seed = before_seed(topology)
            if self._has(before, seed):
                return []
            self._seeds.setdefault(before, set()).add(seed)
            return [topology]
        there = self._runs.setdefault(run.before, [])
        new = list(run.without([*there, *((seed, seed) for seed in self._seeds.get(run.before, ()))]))
        there += [(part.first, part.last) for part in new]
        return [str(part) for part in new]


def pieces(wanted: Iterable[list[str]]) -> Iterator[tuple[str, list[int]]]:
    """Cut runs of seeds wherever a run of any list begins or ends. Yield (piece, places of the lists that contain it).

    wanted   lists of runs that differ only in their seeds; the runs within one list do not overlap
    """
    ends: dict[int, list[tuple[bool, int]]] = {}
    run: SeedRun | None = None
    for place, topologies in enumerate(wanted):
        for topology in topologies:
            run = seed_run(topology)
            assert run is not None
            ends.setdefault(run.first, []).append((True, place))
            ends.setdefault(run.last + 1, []).append((False, place))
    order, inside = sorted(ends), set[int]()
    for first, after in pairwise(order):
        for begins, place in sorted(ends[first]):
            (inside.add if begins else inside.discard)(place)
        if inside and run is not None:
            yield str(run._replace(first=first, last=after - 1)), sorted(inside)
