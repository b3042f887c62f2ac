"""Networks at equal cost: the width of each network's channels under the same budget.

A norm computes the cost of one bit of channel width from columns of a network's records (numbers, or arrays with an
entry for each network). The channel width is the budget divided by this cost. It decides how many flits a message
has, and converts loads from flits to bits. Widths are real numbers, as in the papers. Costs and budgets are per node,
on average if nodes differ, so that networks of any size can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
PINS, BISECTION, WIRING_VOLUME = "pins", "bisection", "wiring_volume"


class Norm(NamedTuple):
    """A quantity that is equal for compared networks.

    columns  names of the columns of `static` and `layout` from which the cost is computed
    cost     function of these columns: cost per node of one bit of width on every channel
    unit     unit of costs and budgets, in words
    budget   default budget per node
    source   source of this kind of cost, in words
    """

    columns: tuple[str, ...]
    cost: Callable[..., Floats]
    unit: str
    budget: float
    source: str


class Constraint(NamedTuple):
    """The cost that is equal for all compared networks: its kind, which is a name in NORMS, and the budget per node.

    placement   placement whose wires are counted for constant wiring_volume; None for each network's default
    """

    norm: str
    budget: float
    placement: str | None = None


def _channels(directed: ArrayLike) -> Floats:
    """Return the number of channels of a link: 1 if links have one direction, 2 otherwise."""
    return np.where(np.asarray(directed, bool), 1.0, 2.0)


NORMS = {
    PINS: Norm(
        ("degree_max",),
        lambda degree_max: 1.0 * degree_max,
        "pins a node",
        96,
        "Parhami & Kwai 2004, sec. 5: a pin for a bit of each outgoing channel, of the node that has most",
    ),
    # bisection_upper counts one direction, or half of the channels of both directions (`across_both_ways`)
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
    """Make a constraint from the parameters of a command or entry.

    budget     cost per node; None for the default of `norm`
    pins       another name for the budget of constant pins
    placement  only for constant wiring_volume
    Raises ValueError for parameters that contradict each other.
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
    """Return the cost per node of one bit of width on every channel, in pins, wires across the middle, or pitches.

    columns  values of the columns that NORMS[norm] names, from the tables `static` and `layout`
    Raises ValueError for an unknown norm, missing or superfluous columns, and a cost of 0 (a network without links).
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
    """Return channel width in bits for a budget in the norm's `unit`. Raises ValueError where `cost_per_bit` does."""
    return np.asarray(budget, np.float64) / cost_per_bit(norm, **columns)
