"""A run of networks that differ in their seed alone, spelt like one: `faulty(torus(k=4, n=2), links=2, seed=0..4095)`.

A sweep holds a run where it would hold thousands of networks: one text, one point, one key
(docs/decisions/15-a-run-of-seeds-is-a-point.md). No family takes such a spelling; its networks have their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torusweep.networks.families import plan
from torusweep.networks.topology import Plan

SEED = "seed"  # the last parameter of every family that draws at random, 0 by default
_RUN = re.compile(rf"(.*), {SEED}=(\d+)\.\.(\d+)\)")
_ONE = re.compile(rf"(.*), {SEED}=(\d+)\)")


class SeedRun(NamedTuple):
    """Networks of consecutive seeds.

    before       canonical spelling up to the seed: `faulty(torus(k=4, n=2), links=2`
    first, last  seeds, both included
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
        """The canonical spellings of its networks, in the order of their seeds."""
        return (of_seed(self.before, seed) for seed in range(self.first, self.last + 1))

    def without(self, others: list[tuple[int, int]]) -> Iterator[SeedRun]:
        """What is left of it without other intervals of seeds, which may overlap."""
        begin = self.first
        for first, last in sorted(others):
            if first > begin:
                yield self._replace(first=begin, last=min(first - 1, self.last))
            begin = max(begin, last + 1)
            if begin > self.last:
                return
        yield self._replace(first=begin)


def seed_run(topology: str) -> SeedRun | None:
    """The run that is spelt so; None for a network or a design space."""
    found = _RUN.fullmatch(topology) if ".." in topology else None
    return SeedRun(found[1], int(found[2]), int(found[3])) if found else None


def of_seed(before: str, seed: int) -> str:
    """The canonical spelling of a network, from what stands before its seed."""
    return f"{before}, {SEED}={seed})" if seed else f"{before})"


def before_seed(spelling: str) -> tuple[str, int]:
    """What stands before a network's seed, and the seed; of a network without one, all but its bracket, and 0."""
    found = _ONE.fullmatch(spelling)
    return (found[1], int(found[2])) if found else (spelling[:-1], 0)


def first_of(topology: str) -> str:
    """The first network of a sweep's topology, which is a network or a run."""
    run = seed_run(topology)
    return topology if run is None else of_seed(run.before, run.first)


def spellings_of(topology: str) -> Iterator[str]:
    """All networks of a sweep's topology."""
    run = seed_run(topology)
    return iter((topology,)) if run is None else run.spellings


def count_of(topology: str) -> int:
    """How many networks a sweep's topology is."""
    run = seed_run(topology)
    return 1 if run is None else run.size


def plan_of(topology: str) -> Plan:
    """The plan of a sweep's topology: all networks of a run have the same nodes, and need the same time and memory."""
    return plan(first_of(topology))[1]
