"""Hierarchical routing of TESH, H3DT and MH3DT, level by level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Annotated, Literal

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.families.hierarchies import Hierarchy
from torusweep.networks.families.wiring import neighbour
from torusweep.networks.topology import Meaning, Topology
from torusweep.routing.forms import Moves, Routes, SourceRouting, combinations, port_to

Tie = Annotated[
    Literal["sign", "positive", "split"],
    Meaning(
        "which way round at half a ring: sign: + where the destination's digit is the larger; positive: +;"
        " split: both equally, at every tie"
    ),
]


def gate_phases(hierarchy: Hierarchy, level: int) -> tuple[int, int]:
    """Return the phases of a packet on its way to a level's gate: (in its source's module, in a later module)."""
    first = 2 * (hierarchy.levels - level)
    return first, first + 1


def last_phases(hierarchy: Hierarchy) -> tuple[int, int]:
    """Return (phase on links between modules, phase in the destination's module)."""
    first = 2 * (hierarchy.levels - 1)
    return first, first + 1


def hierarchical(topology: Topology, tie: Tie = "sign") -> SourceRouting:
    """Route from gate to gate along z, y and x, level by level from the highest, and at last in the basic module.

    At a level where source and destination differ, the packet first goes to a gate of the first
    dimension needed, at the nearest corner. It stays at that corner for the other dimensions of the
    level. In the ring of a level, and in a module that is a torus, it takes the shorter way. Within a
    module it goes along z, then y, then x.

    The paper leaves some points open; they are fixed as follows. Distances to corners are in hops. Of
    equally near corners (m odd), the first in the order of the levels is taken. Below the highest level,
    nearness is measured from the gate of arrival (this matters only for q = 1 and three levels). At
    half a ring of a module or a level, `tie` decides. If n = 2, both ways are the same link.

    Phases, with L levels: 2(L − l) in the source's module on the way to a gate of level l, 2(L − l) + 1
    in a later module on the way to such a gate, 2(L − 1) on links between modules, 2L − 1 in the destination's
    module. The first two are the paper's phase 1 and the odd sub-phases of its phase 2; a packet that
    stays in its module has only the last phase.

    Constraint: a hierarchical network (tesh, h3dt, mh3dt) with all its links.
    Source: Rahman et al. 2005, sec. 3, Fig. 3, and the phases of sec. 4.
    """
    hierarchy = topology.plan.structure
    if not isinstance(hierarchy, Hierarchy):
        raise BadInput(
            f"routing hierarchical on {topology.spelling}: expected tesh, h3dt or mh3dt with all its links,"
            f" got {topology.family}; choose minimal, which suits every network"
        )
    router = _Router(hierarchy, tie)
    cell = np.arange(topology.nodes, dtype=np.int32) % np.int32(router.cells)
    return SourceRouting(
        _moves(topology, hierarchy), cell, router.keys, router.key, router.routes, phases=2 * hierarchy.levels
    )


def _moves(topology: Topology, hierarchy: Hierarchy) -> Moves:
    """Return moves in directions ± along every digit of the address; the digits of the module come first."""
    port = np.empty((topology.nodes, 2 * len(hierarchy.sides)), np.int8)
    for axis in range(len(hierarchy.sides)):
        for sign in (1, -1):
            port[:, 2 * axis + (sign < 0)] = port_to(topology, neighbour(hierarchy.sides, axis, sign))
    return Moves(topology, port, topology.plan.classes)


@dataclass
class _Runs:
    """Runs of K routes, in order: an array [K] per run in each list. tied: whether both ways are equally long."""

    direction: list[np.ndarray] = field(default_factory=list)
    hops: list[np.ndarray] = field(default_factory=list)
    phase: list[np.ndarray] = field(default_factory=list)
    tied: list[np.ndarray] = field(default_factory=list)

    def add(self, axis: int, back: np.ndarray, hops: np.ndarray, tied: np.ndarray, phase: np.ndarray | int) -> None:
        self.direction.append((2 * axis + back).astype(np.int8))
        self.hops.append(hops.astype(np.int16))
        self.phase.append(np.broadcast_to(np.asarray(phase, np.int8), hops.shape))
        self.tied.append(tied)

    def routes(self) -> Routes:
        """Return the routes, with one row for every combination of ways round the rings that are tied."""
        direction, hops, phase = (np.stack(runs, axis=1) for runs in (self.direction, self.hops, self.phase))
        count = len(direction)
        either = [run for run, tied in enumerate(self.tied) if tied.any()]
        if not either:
            return Routes(np.arange(count + 1), np.ones(count), direction, hops, phase)
        first, choice = combinations(1 + np.stack([self.tied[run] for run in either], axis=1).astype(np.int64))
        ways = np.diff(first)
        key = np.repeat(np.arange(count), ways)
        direction = direction[key]
        direction[:, either] += choice.astype(np.int8)
        return Routes(first, 1 / ways[key], direction, hops[key], phase[key])


@dataclass(frozen=True)
class _Router:
    """Keys and routes of a hierarchy.

    A key consists of the places of source and destination in their modules and the relative digits above
    the module. A relative digit is d − s modulo n; with tie=sign and n even, −n/2 has the value n.
    """

    hierarchy: Hierarchy
    tie: str

    @cached_property
    def cells(self) -> int:
        return prod(self.hierarchy.module)

    @cached_property
    def above(self) -> int:
        """Number of digits above the module."""
        return len(self.hierarchy.sides) - len(self.hierarchy.module)

    @cached_property
    def base(self) -> int:
        """Number of values of a relative digit."""
        return self.hierarchy.n + (self.tie == "sign" and self.hierarchy.n % 2 == 0 and self.hierarchy.n > 2)

    @cached_property
    def keys(self) -> int:
        return self.cells**2 * self.base**self.above

    @cached_property
    def digits(self) -> list[np.ndarray]:
        """Digits of every node's address above the module, the lowest digit first: one int16[N] per digit."""
        n, above = self.hierarchy.n, np.arange(self.cells * self.hierarchy.n**self.above) // self.cells
        return [(above // n**digit % n).astype(np.int16) for digit in range(self.above)]

    @cached_property
    def relative(self) -> np.ndarray:
        """The relative digit from each source digit (row) to each destination digit (column), int64[n, n]."""
        n = self.hierarchy.n
        apart = np.arange(n)[None, :] - np.arange(n)[:, None]
        return apart % n + (2 * apart == -n) * (n // 2 if self.base > n else 0)

    def key(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        key = source.astype(np.int64) % self.cells * self.cells + destination % self.cells
        for digit in self.digits:
            key *= self.base
            key += self.relative[digit[source], digit[destination]]
        return key

    def routes(self, keys: np.ndarray) -> Routes:
        hierarchy, dimensions, runs = self.hierarchy, len(self.hierarchy.module), _Runs()
        links, last = last_phases(hierarchy)
        keys, ahead = np.asarray(keys, np.int64), []
        for _ in range(self.above):
            keys, relative = np.divmod(keys, self.base)
            ahead.append(np.where(relative == hierarchy.n, -(hierarchy.n // 2), relative).astype(np.int16))
        ahead.reverse()
        source, destination = np.divmod(keys, self.cells)
        at, end = self.places(source), self.places(destination)
        travelled = np.zeros(keys.shape, bool)
        for level in range(hierarchy.levels, 1, -1):
            needs = ahead[dimensions * (level - 2) : dimensions * (level - 1)]
            # gates[dimension, corner, digit]
            gates = np.array([hierarchy.gates_of((level, d)) for d in range(dimensions)], np.int16)
            first, some = np.zeros(keys.shape, np.int8), np.zeros(keys.shape, bool)
            for d, apart in enumerate(needs):  # z is before y, y before x: the last one needed is the first
                first[apart != 0] = d
                some |= apart != 0
            corner = self.nearest(at, gates, first)
            before, later = gate_phases(hierarchy, level)
            phase = np.where(travelled, later, before)
            at = self.add_module_runs(
                runs,
                at,
                [np.where(some, gates[first, corner, e], at[e]) for e in range(dimensions)],
                phase,
                range(dimensions),
            )
            for d in reversed(range(dimensions)):
                goes = needs[d] != 0
                # the digits in which the gates of this corner differ
                between = [e for e in range(dimensions) if (gates[d, :, e] != gates[d + 1 :, :, e]).any()]
                at = self.add_module_runs(
                    runs, at, [np.where(goes, gates[d, corner, e], at[e]) for e in range(dimensions)], later, between
                )
                runs.add(hierarchy.digit_of((level, d)), *self.shorter(needs[d], hierarchy.n), links)
                travelled |= goes
        self.add_module_runs(runs, at, end, last, range(dimensions))
        return runs.routes()

    def places(self, cell: np.ndarray) -> list[np.ndarray]:
        """Return the digits of the given nodes within their module: one int16[K] per digit."""
        digits = []
        for side in self.hierarchy.module:
            cell, digit = np.divmod(cell, side)
            digits.append(digit.astype(np.int16))
        return digits

    def nearest(self, at: Sequence[np.ndarray], gates: np.ndarray, first: np.ndarray) -> np.ndarray:
        """Return the corner whose gate of dimension `first` is nearest to the place `at`, int64[K]."""
        if gates.shape[1] == 1:
            return np.zeros(first.shape, np.int64)
        away = np.zeros((gates.shape[1], len(first)), np.int16)
        for corner, hops in enumerate(away):
            for e, side in enumerate(self.hierarchy.module):
                hops += self.way(gates[first, corner, e] - at[e], side)[1]
        return away.argmin(axis=0)

    def add_module_runs(
        self,
        runs: _Runs,
        at: Sequence[np.ndarray],
        to: list[np.ndarray],
        phase: np.ndarray | int,
        digits: Iterable[int],
    ) -> list[np.ndarray]:
        """Add the runs within a module from `at` to `to`, which differ in `digits` only; return `to`."""
        for e in sorted(digits, reverse=True):
            runs.add(e, *self.way(to[e] - at[e], self.hierarchy.module[e]), phase)
        return to

    def way(self, ahead: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (whether the direction is −, hops, whether both ways are equally long) along a digit of the module."""
        return (
            self.shorter(ahead, side)
            if self.hierarchy.is_torus
            else (ahead < 0, abs(ahead), np.zeros(ahead.shape, bool))
        )

    def shorter(self, ahead: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the three arrays of `way` for a ring of `side` nodes, with −side < ahead < side."""
        onwards = np.where(ahead < 0, ahead + side, ahead)
        half = (2 * onwards == side) & (side > 2)
        back = (2 * onwards > side) | (half & (ahead < 0) & (self.tie == "sign"))
        return back, np.where(back, side - onwards, onwards), half & (self.tie == "split")
