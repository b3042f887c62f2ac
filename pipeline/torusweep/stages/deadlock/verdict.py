"""The verdict on a channel dependency graph, with its argument.

Assumptions on the router: a packet holds a channel until it acquires the next one of its route and
class; the destination consumes every packet that arrives; a node may inject packets into any of its
channels at any moment, one for each virtual channel of their class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torusweep_kernels.dependencies import FIRST

from torusweep.errors import Refused
from torusweep.routing.forms import LayeredRouting, Routing, SourceRouting
from torusweep.stages.deadlock.cycles import (
    cycles_lie_in_rings,
    dependency_graph,
    is_acyclic,
    shortest_channel_cycle,
)
from torusweep.stages.deadlock.dependencies import Dependencies
from torusweep.stages.deadlock.rules import Rule

ACYCLIC = "acyclic (Dally & Seitz 1987)"
ACYCLIC_BEYOND = "acyclic, with every turn that the routing's states allow (Dally & Seitz 1987)"
BUBBLE = (
    "bubble: every cycle lies in one ring, where flow control keeps a slot free;"
    " virtual cut-through only (Puente et al. 2001)"
)
COUNTEREXAMPLE = (
    "counterexample: packets that enter together, each into its channel of the cycle,"
    " hold these and wait for the next for ever"
)
TOGETHER = (
    "counterexample: packets that enter together reach their channels of the cycle together, without meeting another,"
    " hold these and wait for the next for ever"
)
UNKNOWN = "cyclic; that packets can come to wait all round a cycle is not shown"
ESCAPE = "escape-acyclic: the escape channels' extended dependency graph has no cycle (Duato 1993)"
ADAPTIVE = "cyclic, but a packet that may take any of several channels need not wait for one that is held"


class Verdict(NamedTuple):
    """What a dependency graph shows.

    acyclic        whether the graph has no cycle
    deadlock_free  "yes", "no" or "unknown"
    argument       in words, with its source
    cycle          int64[L]  the channels (node · W + channel) of a shortest cycle, in order
    """

    acyclic: bool
    deadlock_free: str
    argument: str
    cycle: np.ndarray


def verdict(routing: Routing, rule: Rule, found: Dependencies) -> Verdict:
    """Judge a routing under a rule by its dependencies.

    "no" needs a cycle in which the packet of each channel has just entered and requests the next channel as
    its second: all of them can enter at once.
    Raises Refused where the graph is cyclic and may contain dependencies that no route has.
    """
    graph = dependency_graph(found)
    if is_acyclic(graph.matrix):
        return Verdict(True, "yes", ACYCLIC if found.complete else ACYCLIC_BEYOND, np.zeros(0, np.int64))
    _expect_complete(found)
    if isinstance(routing, LayeredRouting):
        return Verdict(False, "unknown", ADAPTIVE, shortest_channel_cycle(graph))
    if rule.bubble and isinstance(routing, SourceRouting):
        proved = cycles_lie_in_rings(graph, routing.moves)
        answer, argument = ("yes", BUBBLE) if proved else ("unknown", UNKNOWN)
        return Verdict(False, answer, argument, shortest_channel_cycle(graph))
    entering = dependency_graph(found, FIRST)
    if not is_acyclic(entering.matrix):
        return Verdict(False, "no", COUNTEREXAMPLE, shortest_channel_cycle(entering))
    return Verdict(False, "unknown", UNKNOWN, shortest_channel_cycle(graph))


def proves_deadlock_free(routing: Routing, rule: Rule, found: Dependencies) -> bool:
    """Whether `verdict` answers "yes", without its search for a shortest cycle. Raises Refused as `verdict` does."""
    graph = dependency_graph(found)
    if is_acyclic(graph.matrix):
        return True
    _expect_complete(found)
    return rule.bubble and isinstance(routing, SourceRouting) and cycles_lie_in_rings(graph, routing.moves)


def _expect_complete(found: Dependencies) -> None:
    if not found.complete:
        raise Refused(
            f"deadlock on {found.topology.spelling}: with every turn that the routing's states allow there are cycles,"
            " and the network is too large to tell which turns packets take; choose a smaller one"
        )


def escape_verdict_of(cycle: np.ndarray) -> Verdict:
    """Judge an adaptive routing by a cycle of its escape channels' extended dependencies.

    An empty cycle is a proof (Duato 1993); a cycle proves nothing.
    """
    if not len(cycle):
        return Verdict(True, "yes", ESCAPE, cycle)
    return Verdict(False, "unknown", UNKNOWN, cycle)
