"""Specification of `minimal_loads`: level by level over lists of (node, root) entries, with NumPy.

From each root outwards, count(v) = Σ near(u) over the channels from v to a node u nearer to the root. near is the
count itself if traffic splits over paths, and 1 if it splits over next hops. Then, from the
farthest level inwards, unit(v) = demand(v) / count(v) + near(v) / count(v) · Σ unit(w) over the
channels from v to a farther node w. The channel between v and w carries near(v) · unit(w).

Roots are searched from and summed in an order that puts near ones together, because their searches share visits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels import sums
from torusweep_kernels.distance.single_source import near_order
from torusweep_kernels.loads.network import BLOCK, Arcs, Task, Totals, arcs

SINGLE = 8  # roots up to which they are searched from one by one
SHARES = 64  # the most shares of the roots; one thread sums a share
LANES = 64  # roots searched from at once
SCRATCH = 2**29  # the most bytes of a block's arrays; above it a block has fewer lanes


def share(roots: int) -> int:
    """Return the number of roots of a share (the last may have fewer), which fixes the order of all sums."""
    return 1 if roots <= SINGLE else BLOCK * -(-roots // (BLOCK * SHARES))


def order(ports: np.ndarray, roots: np.ndarray, *, exact: bool = False) -> np.ndarray:
    """Return int64[R]: places in `roots`, in blocks of near roots; `exact`: whether sums ignore this order."""
    return np.arange(len(roots)) if len(roots) <= SINGLE else near_order(ports, roots, BLOCK, even=exact)


def loads(task: Task, threads: int | None = None) -> tuple[np.ndarray, np.ndarray | None, Totals]:
    """Specification of `minimal_loads`: (load float64[N·P], what rounding left if exact, else None, `Totals`)."""
    toward, away = (Side(side) for side in arcs(task))
    roots = len(task.roots)
    lanes = max(1, min(LANES, SCRATCH // (32 * (task.nodes + len(away.node)))))
    of_root = np.empty((len(Totals._fields), roots))
    total, partial, rest = np.zeros((3, len(away.node)))
    with np.errstate(over="ignore", invalid="ignore"):  # too many paths: the totals show it
        for first in range(0, roots, lanes):
            carried, of_root[:, first : first + lanes] = search(task, first, lanes, toward, away)
            for lane in range(carried[0].shape[1]):
                if task.how.exact:
                    total, rest = sums.add(total, rest, carried[0][:, lane], carried[1][:, lane])
                    continue
                if (first + lane) % share(roots) == 0:
                    total, partial = total + partial, np.zeros(len(away.node))
                partial = partial + carried[0][:, lane]
    load, left = np.zeros((2, task.ports.size))
    load[away.channel], left[away.channel] = total + partial, rest
    return load, left if task.how.exact else None, Totals(*of_root)


class Entries(NamedTuple):
    """Entries of a level, int64[E] each: a node, its lane, and their place in an array [N, lanes]."""

    node: Any
    lane: Any
    place: Any


class Side:
    """`Arcs` with the tail of each arc."""

    def __init__(self, arcs: Arcs) -> None:
        self.start, self.node, self.channel = (array.astype(np.int64) for array in arcs[:3])
        self.own = np.repeat(np.arange(len(arcs.start) - 1), np.diff(arcs.start))
        self.capacity = np.ones(len(arcs.node)) if arcs.capacity is None else arcs.capacity
        self.most = int(np.diff(arcs.start).max(initial=0))

    def neighbours(self, entries: Entries, lanes: int) -> Iterator[tuple[Any, Any, Any]]:
        """Yield for each p: the entries that have a p-th arc, the place of the arc's other end, and its capacity."""
        for p in range(self.most):
            arc = self.start[entries.node] + p
            having = np.flatnonzero(arc < self.start[entries.node + 1])
            arc = arc[having]
            yield having, self.node[arc] * lanes + entries.lane[having], self.capacity[arc]


def search(task: Task, first: int, lanes: int, toward: Side, away: Side) -> tuple[tuple[Any, ...], np.ndarray]:
    """Return the flows on each arc of `away`, float64[A, lanes] (if exact, with what rounding left), and the totals."""
    roots, weights, rows = task.block(first, lanes)
    lanes = len(roots)
    demand: Any = np.ascontiguousarray((weights[:, None] * rows).T).ravel()
    distance: Any = np.full(task.nodes * lanes, -2, np.int64)  # −2 = not reached; −2 + 1 is not a distance either
    count: Any = np.ones(task.nodes * lanes)
    ones = np.ones(task.nodes * lanes)
    near = ones if task.how.by_hops else count
    ticket = np.empty(task.nodes * lanes, np.int64)
    place = roots.astype(np.int64) * lanes + np.arange(lanes)
    distance[place] = 0
    levels: list[Entries] = []
    while len(place):
        level = len(levels)
        entries = Entries(place // lanes, place % lanes, place)
        levels.append(entries)
        if level:
            paths = np.zeros(len(place))
            for having, other, capacity in toward.neighbours(entries, lanes):
                paths[having] += np.where(distance[other] == level - 1, near[other] * capacity, 0.0)
            count[place] = paths
        found = np.concatenate(
            [place[:0]] + [other[distance[other] < 0] for _, other, _ in away.neighbours(entries, lanes)]
        )
        ticket[found] = np.arange(len(found))
        place = found[ticket[found] == np.arange(len(found))]  # each one once
        distance[place] = level + 1
    carried = inwards_twice if task.how.exact else inwards
    flows = carried(task, levels, away, distance, count, demand)
    distance, demand, count = (array.reshape(task.nodes, lanes) for array in (distance, demand, count))
    delivered, stranded = np.where(distance >= 0, demand, 0.0), np.where(distance < 0, demand, 0.0)
    # over nodes in their order, as the other backends add; sum() would add in pairs where there is one lane
    in_order = [np.cumsum(values, axis=0)[-1] + 0.0 for values in (delivered, stranded, delivered * distance)]
    totals = [*in_order, count.max(axis=0)]
    return flows, np.stack(totals)


def inwards(
    task: Task,
    levels: list[Entries],
    away: Side,
    distance: Any,
    count: Any,
    demand: Any,
) -> tuple[Any, ...]:
    """Return the load of each arc of `away`, (float64[A, lanes],), going from the farthest level inwards."""
    ones, lanes = np.ones(len(count)), len(count) // task.nodes
    unit, part = demand / count, 1 / count if task.how.by_hops else ones  # part = near / count
    for level, entries in reversed(list(enumerate(levels))):
        farther = np.zeros(len(entries.place))
        for having, other, capacity in away.neighbours(entries, lanes):
            farther[having] += np.where(distance[other] == level + 1, unit[other] * capacity, 0.0)
        unit[entries.place] += part[entries.place] * farther
    near = ones if task.how.by_hops else count
    distance, near, unit = (array.reshape(task.nodes, lanes) for array in (distance, near, unit))
    on_path = distance[away.node] == distance[away.own] + 1
    return (np.where(on_path, near[away.own] * unit[away.node] * away.capacity[:, None], 0.0),)


def inwards_twice(
    task: Task,
    levels: list[Entries],
    away: Side,
    distance: Any,
    count: Any,
    demand: Any,
) -> tuple[Any, ...]:
    """Do as `inwards` with twice the digits: return each arc's load float64[A, lanes] and what rounding left of it.

    Counts beyond 2⁹⁰⁰, whose products would exceed float64, are scaled.
    """
    lanes = len(count) // task.nodes
    scale = np.where(count > 2.0**900, 2.0**-100, 1.0)
    count, unit = count * scale, demand * scale
    unit, rest = sums.divided(unit, np.zeros(len(count)), count)
    for level, entries in reversed(list(enumerate(levels))):
        high, low = np.zeros((2, len(entries.place)))
        for having, other, capacity in away.neighbours(entries, lanes):
            on_path = distance[other] == level + 1
            more = sums.times(np.where(on_path, unit[other], 0.0), np.where(on_path, rest[other], 0.0), capacity)
            high[having], low[having] = sums.add(high[having], low[having], *more)
        at = entries.place
        if task.how.by_hops:
            high, low = sums.divided(high, low, count[at])
        unit[at], rest[at] = sums.add(unit[at], rest[at], high, low)
    near = (np.ones(len(count)) if task.how.by_hops else count).reshape(task.nodes, lanes)[away.own]
    distance, unit, rest = (array.reshape(task.nodes, lanes) for array in (distance, unit, rest))
    on_path = distance[away.node] == distance[away.own] + 1
    high, low = sums.times(*sums.times(unit[away.node], rest[away.node], near), away.capacity[:, None])
    if not task.how.by_hops:
        back = 1 / scale.reshape(task.nodes, lanes)[away.own]
        high, low = high * back, low * back
    return np.where(on_path, high, 0.0), np.where(on_path, low, 0.0)
