"""Find patterns that suit a network by its plan alone, so that a sweep counts points without building networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torusweep.networks.topology import Plan

Values = Mapping[str, Any]


def _always(plan: Plan, values: Values) -> bool:
    return True


def _several(plan: Plan, values: Values) -> bool:
    return plan.nodes > 1


def _power_of_2(plan: Plan, values: Values) -> bool:
    return plan.nodes > 1 and plan.nodes & (plan.nodes - 1) == 0


# whether a pattern suits a network that has one terminal at each node and joins all of them (Plan.joined)
SUITED: dict[str, Callable[[Plan, Values], bool]] = {
    "uniform": _always,
    "uniform_other": _several,
    "all_to_all": _several,
    "nearest_neighbour": _several,
    "hot_region": _always,
    "hot_spot": lambda plan, values: values.get("node", 0) < plan.nodes,
    "random_permutation": _always,
    "shift": lambda plan, values: values.get("by", plan.nodes // 2) % plan.nodes != 0,
    "bit_complement": _power_of_2,
    "bit_reversal": _power_of_2,
    "perfect_shuffle": _power_of_2,
    "tornado": lambda plan, values: max(plan.radices) > 2,
    "neighbour": lambda plan, values: plan.radices[0] > 1,
}


def suits(pattern: str, values: Values, plan: Plan) -> bool:
    """Whether a network's plan alone shows that a pattern suits the network, and that paths join all terminals.

    pattern   name of the pattern
    values    values of those parameters that are given
    False also if only the network's arrays can tell; then `torusweep.traffic.given.check_reach` decides.
    """
    return plan.joined and pattern in SUITED and SUITED[pattern](plan, values)
