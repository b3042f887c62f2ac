"""Networks of equal cost: how wide the channels of each may be under the same budget.

A norm says what one bit of channel width costs a network, from columns of its records (numbers, or
arrays with an entry a network). The width is the budget over that cost; flits of a message, and
loads in bits instead of flits, follow from it. Widths are real numbers, as in the papers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]


class Norm(NamedTuple):
    """What is held constant: the columns that it needs, what a bit of channel width costs, and where it comes from."""

    columns: tuple[str, ...]
    cost: Callable[..., Floats]
    source: str


def _per_link(directed: ArrayLike) -> Floats:
    """Channels of a link: one, or one each way."""
    return np.where(np.asarray(directed, bool), 1.0, 2.0)


NORMS = {
    "pins": Norm(
        ("degree_max",), lambda degree_max: 1.0 * degree_max, "pins of a node, one a bit of each outgoing channel (Parhami & Kwai 2004, sec. 5)"
    ),
    # as many channels lead back as forth: bisection_upper counts those of one direction
    "bisection": Norm(
        ("bisection_upper",), lambda bisection_upper: 2.0 * bisection_upper, "wires across the middle, both directions (Dally 1990, Eq. 6)"
    ),
    "wiring_volume": Norm(
        ("wire_length_total", "directed"),
        lambda wire_length_total, directed: wire_length_total * _per_link(directed),
        "length of all wires: the area, or volume, that they fill at a wire a unit of cross-section",
    ),
}


def cost_per_bit(norm: str, **columns: ArrayLike) -> Floats:
    """Cost of one bit of width on every channel: pins, wires across the middle, or node pitches of wire.

    columns   those of NORMS[norm], of the tables `static` and `layout`: wire_length_total counts each link once
    Raises ValueError for an unknown norm, missing or further columns, and a cost of 0 (a network without links).
    """
    if norm not in NORMS:
        raise ValueError(f"norm: expected {', '.join(NORMS)}, got {norm!r}")
    needed = NORMS[norm].columns
    if set(columns) != set(needed):
        raise ValueError(f"constant {norm}: expected the columns {', '.join(needed)}, got {', '.join(columns) or 'none'}")
    cost = NORMS[norm].cost(**{name: np.asarray(value) for name, value in columns.items()})
    if not (cost > 0).all():
        raise ValueError(f"constant {norm}: expected networks that cost something, got one of cost {cost.min():g}; leave it out")
    return cost


def channel_width(norm: str, budget: ArrayLike, **columns: ArrayLike) -> Floats:
    """Bits of every channel under a budget of pins a node, wires across the middle, or pitches of wire. Raises as `cost_per_bit`."""
    return np.asarray(budget, np.float64) / cost_per_bit(norm, **columns)


def budget_of(norm: str, width: ArrayLike, **columns: ArrayLike) -> Floats:
    """What a network of that channel width costs: the budget under which others are compared with it. Raises as `cost_per_bit`."""
    return np.asarray(width, np.float64) * cost_per_bit(norm, **columns)
