"""Find patterns that suit a network by its plan alone, so that a sweep counts points without building networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.topology import Plan

Values = Mapping[str, Any]


def _always(plan: Plan, values: Values) -> bool:
    return True


def _several(plan: Plan, values: Values) -> bool:
    return terminals_of(plan) > 1


def _power_of_2(plan: Plan, values: Values) -> bool:
    return terminals_of(plan) > 1 and terminals_of(plan) & (terminals_of(plan) - 1) == 0


def terminals_of(plan: Plan) -> int:
    """Return the number of terminals of a network that joins all nodes (Plan.joined)."""
    return plan.nodes if plan.terminals is None else plan.terminals


# patterns in which every terminal sends to one other: whether one suits a network that joins all nodes (Plan.joined)
PERMUTATIONS: dict[str, Callable[[Plan, Values], bool]] = {
    "random_permutation": _always,
    "shift": lambda plan, values: values.get("by", terminals_of(plan) // 2) % terminals_of(plan) != 0,
    "bit_complement": _power_of_2,
    "bit_reversal": _power_of_2,
    "perfect_shuffle": _power_of_2,
    "tornado": lambda plan, values: not plan.unequal and max(plan.radices) > 2,
    "neighbour": lambda plan, values: not plan.unequal and plan.radices[0] > 1,
}
SUITED: dict[str, Callable[[Plan, Values], bool]] = {
    "uniform": _always,
    "uniform_other": _several,
    "all_to_all": _several,
    "nearest_neighbour": lambda plan, values: plan.one_each and plan.nodes > 1,
    "hot_region": _always,
    "hot_spot": lambda plan, values: not plan.unequal and values.get("node", 0) < plan.nodes,
    "group_shift": lambda plan, values: (
        isinstance(plan.structure, Grouped) and values.get("shift", 1) % plan.structure.groups != 0
    ),
    **PERMUTATIONS,
}


def suits(pattern: str, values: Values, plan: Plan) -> bool:
    """Return whether a network's plan alone shows that a pattern suits it, and that paths join all terminals.

    pattern   name of the pattern
    values    values of the given parameters
    Also returns False if only the network's arrays can tell; then `torusweep.traffic.given.check_reach` decides.
    """
    return plan.joined and not plan.hosts_end and pattern in SUITED and SUITED[pattern](plan, values)
