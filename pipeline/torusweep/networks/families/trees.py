"""Trees whose links multiply towards the root: k-ary n-trees and extended generalised fat trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Annotated

import numpy as np

from torusweep.networks.families.wiring import ClassLinks, terminals_of, wiring_of_links
from torusweep.networks.topology import Meaning, Plan, Whole, Wiring, require

Arity = Annotated[int, Whole(2, "number of links down, and of links up, of each switch")]
Levels = Annotated[int, Whole(2, "levels of switches", maximum=20)]
Down = Annotated[list[int], Meaning("number of children of a switch of level 1, 2, …; level 1 has terminals below it")]
Up = Annotated[list[int], Meaning("number of parents of a terminal (1), then of a switch of level 1, 2, …")]


@dataclass(frozen=True)
class Tree:
    """The structure of a fat tree: numbers of children (`down`) and of parents (`up`) by level, as in `xgft`."""

    down: tuple[int, ...]
    up: tuple[int, ...]


def fat_tree(k: Arity, n: Levels) -> Plan:
    """k-ary n-tree: k^n terminals, n levels of k^(n−1) switches with k links down and k links up (none at the top).

    Digits: n − 1 digits of a switch's word, then its level, 0 next to the terminals. Switches of levels l and l + 1 are
    joined if their words are equal except for digit l. Terminals k·w … k·w + k − 1 are at the switch with word w.
    Source: Petrini & Vanneschi 1997, definition 1.
    """
    return replace(xgft([k] * n, [1] + [k] * (n - 1)), radices=(k,) * (n - 1) + (n,))


def xgft(down: Down, up: Up) -> Plan:
    """Extended generalised fat tree XGFT(h; m₁ … m_h; w₁ … w_h). Its nodes of level 0 are the terminals.

    Level l has w₁ … w_l · m_(l+1) … m_h switches. Switches are numbered level by level from the terminals up; within a
    level, by the digits y₁ … y_l (which parent), x_(l+1) … x_h (which child), the first varying fastest. A switch is
    joined to the w_(l+1) switches of level l + 1 with the same other digits. m = r·w means r-fold oversubscription.

    Constraint: as many values up as down, each ≥ 1; w₁ = 1, since a terminal is at one switch.
    Source: Öhring et al. 1995, sec. 2.
    """
    require(1 <= len(down) <= 20, "down", down, "1 … 20 values", "a level of switches has one")
    require(
        len(up) == len(down) and min([*down, *up]) >= 1,
        "up",
        up,
        f"{len(down)} values ≥ 1, as down",
        "a level of switches has one of each",
    )
    require(up[0] == 1, "up", up, "1 as the first value", "a terminal is at one switch")
    m, w = tuple(down), tuple(up)
    levels = [_sides(m, w, level) for level in range(1, len(m) + 1)]
    sizes = [prod(sides) for sides in levels]
    below = [children if level else 0 for level, children in enumerate(m)]  # links to switches, not to terminals
    above = [*w[1:], 0]
    return Plan(
        nodes=sum(sizes),
        degree=max(children + parents for children, parents in zip(below, above)),
        radices=(sum(sizes),),
        wire=lambda: _wire(m, w),
        symmetries=lambda: _symmetries(m, w),
        classes=tuple(f"level {level}–{level + 1}" for level in range(1, len(m))) or ("none",),
        structure=Tree(m, w),
        terminals=prod(m),
        joined=True,
        unequal=True,
    )


def _sides(down: Sequence[int], up: Sequence[int], level: int) -> tuple[int, ...]:
    """Return the radices of the digits of switches in a level, 1 … h: w₂ … w_l, m_(l+1) … m_h (y₁ is always 0)."""
    return (*up[1:level], *down[level:])


def _words(down: Sequence[int], up: Sequence[int], level: int) -> tuple[int, np.ndarray]:
    """Return (number of a level's first switch, int64 array of the level's switches, with digit 0 as last axis)."""
    first = sum(prod(_sides(down, up, lower)) for lower in range(1, level))
    sides = _sides(down, up, level)
    return first, first + np.arange(prod(sides)).reshape(tuple(reversed(sides)))


def _wire(down: Sequence[int], up: Sequence[int]) -> Wiring:
    listed = [ClassLinks(np.empty(0, np.int64), np.empty(0, np.int64))]
    for level in range(1, len(down)):
        _, child = _words(down, up, level)
        _, parent = _words(down, up, level + 1)
        axis = child.ndim - level  # axis of the digit in which they may differ
        lower, upper = np.moveaxis(child, axis, -1)[..., :, None], np.moveaxis(parent, axis, -1)[..., None, :]
        lower, upper = np.broadcast_arrays(lower, upper)
        listed.append(ClassLinks(lower.reshape(-1), upper.reshape(-1), level - 1))
    nodes = sum(prod(_sides(down, up, level)) for level in range(1, len(down) + 1))
    leaves = np.arange(prod(_sides(down, up, 1)))
    return wiring_of_links(nodes, listed, terminals=terminals_of(leaves, down[0]))


def _symmetries(down: Sequence[int], up: Sequence[int]) -> list[np.ndarray]:
    """Return symmetries that rotate one digit, for children or for parents, at all levels that have the digit."""
    images = []
    for place in range(1, len(down)):
        for side, has in ((down[place], range(1, place + 1)), (up[place], range(place + 1, len(down) + 1))):
            if side < 2:
                continue
            parts = []
            for level in range(1, len(down) + 1):
                _, switches = _words(down, up, level)
                axis = switches.ndim - place
                parts.append((np.roll(switches, -1, axis) if level in has else switches).reshape(-1))
            images.append(np.concatenate(parts).astype(np.int32))
    return images
