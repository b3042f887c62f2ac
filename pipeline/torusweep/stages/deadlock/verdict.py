"""From a channel dependency graph to a verdict, with its argument.

What is assumed of a router: a packet holds a channel until it has the next one, of its route and class;
what has arrived is consumed; a node may enter packets into any of its channels at any moment, one for
each virtual channel that their class has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torusweep_kernels.dependencies import FIRST

from torusweep.errors import Refused
from torusweep.routing.forms import Routing, SourceRouting
from torusweep.stages.deadlock.cycles import a_shortest_cycle, graph_of, is_acyclic, only_rings
from torusweep.stages.deadlock.dependencies import Dependencies
from torusweep.stages.deadlock.rules import Rule

ACYCLIC = "acyclic (Dally & Seitz 1987)"
ACYCLIC_BEYOND = "acyclic, with every turn that the routing's states allow (Dally & Seitz 1987)"
BUBBLE = "bubble: every cycle lies in one ring, where flow control keeps a slot free; virtual cut-through only (Puente et al. 2001)"
COUNTEREXAMPLE = "counterexample: packets that enter together, each into its channel of the cycle, hold these and wait for the next for ever"
UNKNOWN = "cyclic; that packets can come to wait all round a cycle is not shown"
ESCAPE = "escape-acyclic: the escape channels' extended dependency graph has no cycle (Duato 1993)"
ADAPTIVE = "cyclic, but a packet that may take any of several channels need not wait for one that is held"


class Verdict(NamedTuple):
    """acyclic: of the dependency graph; deadlock_free: yes, no or unknown; cycle: channels (node · W + channel), a shortest one."""

    acyclic: bool
    deadlock_free: str
    argument: str
    cycle: np.ndarray


def verdict(routing: Routing, rule: Rule, found: Dependencies) -> Verdict:
    """What the dependencies say of a routing under a rule.

    no: a cycle in which each channel's packet has just entered and asks for the next as its second: all can enter at once.
    Raises Refused where the graph may hold dependencies that no route has, and is cyclic.
    """
    graph = graph_of(found)
    if is_acyclic(graph.matrix):
        return Verdict(True, "yes", ACYCLIC if found.complete else ACYCLIC_BEYOND, np.zeros(0, np.int64))
    _expect_complete(found)
    if not isinstance(routing, SourceRouting):
        return Verdict(False, "unknown", ADAPTIVE, a_shortest_cycle(graph))
    if rule.bubble:
        free = only_rings(graph, routing.moves)
        return Verdict(False, "yes" if free else "unknown", BUBBLE if free else UNKNOWN, a_shortest_cycle(graph))
    entering = graph_of(found, FIRST)
    if not is_acyclic(entering.matrix):
        return Verdict(False, "no", COUNTEREXAMPLE, a_shortest_cycle(entering))
    return Verdict(False, "unknown", UNKNOWN, a_shortest_cycle(graph))


def shown_free(routing: Routing, rule: Rule, found: Dependencies) -> bool:
    """Whether `verdict` says yes, without its search for a shortest cycle; raises Refused as it does."""
    graph = graph_of(found)
    if is_acyclic(graph.matrix):
        return True
    _expect_complete(found)
    return rule.bubble and isinstance(routing, SourceRouting) and only_rings(graph, routing.moves)


def _expect_complete(found: Dependencies) -> None:
    if not found.complete:
        raise Refused(
            f"deadlock on {found.topology.spelling}: with every turn that the routing's states allow there are cycles,"
            " and the network is too large to tell which turns packets take; choose a smaller one"
        )


def verdict_of_escape(cycle: np.ndarray) -> Verdict:
    """What a cycle of the escape channels' extended dependencies, or that there is none, says of an adaptive routing: nothing, or a proof."""
    if not len(cycle):
        return Verdict(True, "yes", ESCAPE, cycle)
    return Verdict(False, "unknown", UNKNOWN, cycle)


def free(found: Dependencies) -> bool:
    """Whether the graph alone shows that packets cannot lock up."""
    return is_acyclic(graph_of(found).matrix)


__all__ = ["Verdict", "free", "shown_free", "verdict", "verdict_of_escape"]
