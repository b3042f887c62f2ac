"""Networks of equal cost: the width of each network's channels under the same budget.

A norm gives the cost of one bit of channel width, from columns of a network's records (numbers, or
arrays with an entry a network). The width is the budget over that cost; flits of a message, and
loads in bits instead of flits, follow from it. Widths are real numbers, as in the papers. Costs and
budgets are those of a node, on average where nodes differ, so that networks of any size compare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
PINS, BISECTION, WIRING_VOLUME = "pins", "bisection", "wiring_volume"


class Norm(NamedTuple):
    """A quantity to hold constant.

    columns  columns of the tables `static` and `layout` that it needs
    cost     columns → cost a node of a bit of width on every channel
    unit     unit of costs and budgets, in words
    budget   default budget
    source   source of the norm
    """

    columns: tuple[str, ...]
    cost: Callable[..., Floats]
    unit: str
    budget: float
    source: str


class Constraint(NamedTuple):
    """The equal cost of compared networks: a norm of NORMS and its budget.

    placement   for constant wiring_volume, the placement whose wires count; None: each network's default
    """

    norm: str
    budget: float
    placement: str | None = None


def _channels(directed: ArrayLike) -> Floats:
    """Number of channels of a link: one, or one each way."""
    return np.where(np.asarray(directed, bool), 1.0, 2.0)


NORMS = {
    PINS: Norm(
        ("degree_max",),
        lambda degree_max: 1.0 * degree_max,
        "pins a node",
        96,
        "Parhami & Kwai 2004, sec. 5: a pin for a bit of each outgoing channel, of the node that has most",
    ),
    # bisection_upper counts the channels of one direction; as many lead back, or it is half of all (`across_both_ways`)
    BISECTION: Norm(
        ("bisection_upper", "nodes"),
        lambda bisection_upper, nodes: 2.0 * bisection_upper / nodes,
        "wires across the middle a node",
        1,
        "Dally 1990, Eq. 6: both directions; as many wires as nodes are the bit-serial binary cube's",
    ),
    WIRING_VOLUME: Norm(
        ("wire_length_total", "directed", "nodes"),
        lambda wire_length_total, directed, nodes: wire_length_total * _channels(directed) / nodes,
        "pitches of wire a node",
        96,
        "length of all wires, the area or volume that they fill; 96 pins a node take 96 with wires of one pitch",
    ),
}


def constraint(
    norm: str = PINS, *, budget: float | None = None, pins: float | None = None, placement: str | None = None
) -> Constraint:
    """A constraint, by default with the norm's budget; pins is another name for the budget of pins.

    placement  for constant wiring_volume only
    Raises ValueError if these contradict each other.
    """
    if pins is not None and (norm != PINS or budget is not None):
        got = "a budget, too" if norm == PINS else f"constant {norm}"
        raise ValueError(
            f"pins: expected with constant pins and no budget, got {got}; say budget, in {NORMS[norm].unit}"
        )
    if placement is not None and norm != WIRING_VOLUME:
        raise ValueError(f"placement: expected with constant {WIRING_VOLUME} only, got constant {norm}; leave it out")
    amount = next(value for value in (budget, pins, NORMS[norm].budget) if value is not None)
    return Constraint(norm, float(amount), placement)


def cost_per_bit(norm: str, **columns: ArrayLike) -> Floats:
    """Cost of one bit of width on every channel: pins, wires across the middle, or pitches of wire, a node.

    columns  those of NORMS[norm], of the tables `static` and `layout`, which count each link once
    Raises ValueError for an unknown norm, missing or further columns, and a cost of 0 (a network without links).
    """
    if norm not in NORMS:
        raise ValueError(f"norm: expected {', '.join(NORMS)}, got {norm!r}")
    needed = NORMS[norm].columns
    if set(columns) != set(needed):
        raise ValueError(
            f"constant {norm}: expected the columns {', '.join(needed)}, got {', '.join(columns) or 'none'}"
        )
    cost = NORMS[norm].cost(**{name: np.asarray(value) for name, value in columns.items()})
    if not (cost > 0).all():
        raise ValueError(
            f"constant {norm}: expected networks that cost something, got one of cost {cost.min():g}; leave it out"
        )
    return cost


def channel_width(norm: str, budget: ArrayLike, **columns: ArrayLike) -> Floats:
    """Bits of every channel under a budget in the norm's unit. Raises like `cost_per_bit`."""
    return np.asarray(budget, np.float64) / cost_per_bit(norm, **columns)
