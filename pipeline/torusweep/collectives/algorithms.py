"""The table of algorithms for collective operations, and the schedules that they make on a network.

To add an algorithm, see CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from torusweep.collectives.axes import (
    NO_AXES,
    all_to_all_bucket,
    all_to_all_by_dimension,
    bucket,
    by_dimension,
    may_have_axes,
)
from torusweep.collectives.cost import hops_of, messages_of
from torusweep.collectives.in_network import trees_in_network
from torusweep.collectives.operations import IN_NETWORK, OPERATIONS, check_network, has_switches
from torusweep.collectives.rings import ONE_EACH, ONE_WAY, on_rings, one_way_ring, order_of_ranks, ring, rings
from torusweep.collectives.schedule import Schedule, all_reduced, check_transfers, mirrored
from torusweep.collectives.trees import (
    MOST_PACKED,
    all_reduce_trees,
    broadcast_tree,
    broadcast_trees,
    direct,
    direct_all_to_all,
    direct_broadcast,
    gather_trees,
    power_of_2_expected,
    recursive_doubling,
    recursive_doubling_all_reduce,
)
from torusweep.errors import BadInput, as_known, nearest
from torusweep.networks.links import reversed_network, surviving_network
from torusweep.networks.topology import Plan, Topology

Maker = Callable[..., Schedule]
ALL_REDUCES = ("all_reduce", IN_NETWORK)
OPTIMUM = "optimum"  # given in place of an algorithm's name: the best of all algorithms
BEST_KNOWN = "best_known"  # in tables, replaces OPTIMUM where only a lower bound is proved
EVERY = "all"
OR_OPTIMUM = f", or {OPTIMUM}"  # ends every refusal of an algorithm, since the optimum has no such limits
# names of algorithms, by the networks that they need
POWERS_OF_2 = ("halving_doubling", "recursive_doubling")
ON_AXES = ("by_dimension", "bucket")
BOTH_WAYS = ("ring", "trees_in_network")
ANY_NETWORK = "direct"  # it suits every network, and computes every operation


class Algorithm(NamedTuple):
    """An algorithm: its meaning, and the functions that make its schedules.

    gather     makes an all_gather; its mirror image is a reduce_scatter, and the two together are an all_reduce
    spread     makes a broadcast from a root; its mirror image is a reduce
    exchange   makes an all_to_all
    reduce_all makes an all_reduce that does not consist of two halves
    in_network makes an all_reduce with sums in switches; without it, any other all_reduce serves
    """

    meaning: str
    gather: Maker | None = None
    spread: Maker | None = None
    exchange: Maker | None = None
    reduce_all: Maker | None = None
    in_network: Maker | None = None

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of the operations that the algorithm computes."""
        does = {
            "all_gather": self.gather,
            "reduce_scatter": self.gather,
            "all_reduce": self.gather or self.reduce_all,
            IN_NETWORK: self.in_network or self.gather or self.reduce_all,
            "broadcast": self.spread,
            "reduce": self.spread,
            "all_to_all": self.exchange,
        }
        return tuple(name for name in OPERATIONS if does[name] is not None)


ALGORITHMS = {
    "one_way_ring": Algorithm("one ring through all terminals, in one direction", gather=one_way_ring),
    "ring": Algorithm("one ring through all terminals, half of the data in each direction", gather=ring),
    "rings": Algorithm("all rings that share no link, in all directions that links have", gather=rings),
    "by_dimension": Algorithm("along one axis after another", gather=by_dimension, exchange=all_to_all_by_dimension),
    "bucket": Algorithm(
        "along all axes at once, a part of the data for each", gather=bucket, exchange=all_to_all_bucket
    ),
    "halving_doubling": Algorithm(
        "between ranks whose numbers differ in one bit: recursive halving, recursive doubling",
        gather=recursive_doubling,
    ),
    "recursive_doubling": Algorithm(
        "whole vectors between ranks whose numbers differ in one bit", reduce_all=recursive_doubling_all_reduce
    ),
    "direct": Algorithm(
        "every rank to every other at once, over shortest paths",
        gather=direct,
        spread=direct_broadcast,
        exchange=direct_all_to_all,
    ),
    "tree": Algorithm("down one tree of shortest paths, in pieces", spread=broadcast_tree),
    "trees": Algorithm(
        "down as many spanning trees as fit the links, in pieces; down binary trees where a network has switches",
        gather=gather_trees,
        spread=broadcast_trees,
        reduce_all=all_reduce_trees,
    ),
    "trees_in_network": Algorithm(
        "up as many trees as fit the links, with sums in the switches, and down them again, in pieces",
        in_network=trees_in_network,
    ),
}


def algorithm_of(name: str) -> str:
    """Return the canonical name of an algorithm. Raises BadInput for an unknown name."""
    known = as_known(name, ALGORITHMS)
    if known not in ALGORITHMS:
        every = ", ".join([OPTIMUM, EVERY, *ALGORITHMS])
        raise BadInput(f"unknown algorithm '{name}'{nearest(name, ALGORITHMS)}; there are {every}")
    return str(known)


def algorithms_for(operation: str, names: Iterable[str]) -> list[str]:
    """Return the algorithms with the given names; "all" means the optimum and every algorithm for the operation.

    Raises BadInput for an unknown name, and for an algorithm that does not compute the operation.
    """
    found: list[str] = []
    for name in names:
        if name.strip().lower() == EVERY:
            found += [OPTIMUM, *(known for known, algorithm in ALGORITHMS.items() if operation in algorithm.operations)]
        elif name.strip().lower() == OPTIMUM:
            found.append(OPTIMUM)
        else:
            found.append(algorithm_of(name))
            check_pair(found[-1], operation)
    return list(dict.fromkeys(found))


def check_suits(algorithm: str, operation: str, plan: Plan, spelling: str, terminals: Callable[[], int]) -> None:
    """Raise BadInput if a network's plan, or its number of terminals, shows that an algorithm does not suit it."""
    says = ""
    if algorithm in POWERS_OF_2:
        ranks = plan.nodes if plan.one_each else terminals()
        says = power_of_2_expected(ranks) if ranks & (ranks - 1) else ""
    elif algorithm in ON_AXES and not may_have_axes(plan, spelling):
        says = NO_AXES
    elif algorithm in BOTH_WAYS and plan.directed:
        says = ONE_WAY
    if says:
        raise _refused(algorithm, operation, plan, spelling, BadInput(says))


def _refused(algorithm: str, operation: str, plan: Plan, spelling: str, reason: BadInput) -> BadInput:
    """Return the refusal of an algorithm on a network. If the reason names no alternatives, the message adds some."""
    said = str(reason).removeprefix(f"{algorithm} on ").removeprefix(f"{spelling}: ")
    if "; choose" not in said:
        ring, some = "one_way_ring" if plan.directed else "ring", ("trees",) if plan.nodes <= MOST_PACKED else ()
        suit = [name for name in (ring, ANY_NETWORK, "tree", *some) if operation in ALGORITHMS[name].operations]
        *others, last = [name for name in suit if name != algorithm]
        said += f"; choose {', '.join(others)}{' or ' if others else ''}{last}"
    return type(reason)(f"algorithm {algorithm} on {spelling}: {said}{OR_OPTIMUM}")


def check_pair(algorithm: str, operation: str) -> None:
    """Raise BadInput if an algorithm does not compute an operation."""
    does = ALGORITHMS[algorithm].operations
    if operation not in does:
        others = (name for name, other in ALGORITHMS.items() if operation in other.operations and name != ANY_NETWORK)
        raise BadInput(
            f"algorithm {algorithm} computes {', '.join(does)}, got {operation}; choose {ANY_NETWORK}, which suits any"
            f" network, or {', '.join(others)}"
        )


def schedule_of(topology: Topology, operation: str, algorithm: str, *, root: int = 0) -> Schedule:
    """Make the schedule of an algorithm for an operation, on the nodes that have not failed. Ranks are terminals.

    root  terminal at which a broadcast begins or a reduce ends

    Raises BadInput if the algorithm does not suit the network, Refused if the network is too large for it.
    """
    check_pair(algorithm, operation)
    check_network(topology, operation, root)
    working = surviving_network(topology)
    ranks = len(working.terminals)
    try:
        if algorithm in ON_AXES and has_switches(topology):
            raise BadInput(ONE_EACH if may_have_axes(topology.plan, topology.spelling) else NO_AXES)
        if not OPERATIONS[operation].rooted and algorithm != "recursive_doubling":
            halves = 2 if operation in ALL_REDUCES else 1
            check_transfers(halves * ranks * (ranks - 1))
        found = _made(working, operation, ALGORITHMS[algorithm], root)
        if working.ends is not None and not ALGORITHMS[algorithm].in_network:  # whose trees need no paths
            _, source, destination, _ = messages_of(found)
            hops_of(working, working.terminals[source], working.terminals[destination])  # raises for one without a path
    except BadInput as refusal:
        raise _refused(algorithm, operation, topology.plan, topology.spelling, refusal) from None
    nodes = np.flatnonzero(topology.works).astype(np.int32)
    return found._replace(node=nodes if ALGORITHMS[algorithm].in_network else topology.terminals)


def _made(topology: Topology, operation: str, algorithm: Algorithm, root: int) -> Schedule:
    halves = algorithm.gather is not None and (algorithm.reduce_all is None or topology.directed)
    if algorithm.in_network is not None:
        return _make(algorithm.in_network, topology)
    if operation in ALL_REDUCES and not halves:
        return _make(algorithm.reduce_all, topology)
    if operation == "all_to_all":
        return _make(algorithm.exchange, topology)
    if operation in ("broadcast", "reduce"):
        if operation == "broadcast":
            return _make(algorithm.spread, topology, root)
        return mirrored(_make(algorithm.spread, reversed_network(topology), root))
    if operation == "all_gather":
        return _make(algorithm.gather, topology)
    if topology.directed and algorithm.gather is one_way_ring:  # whose order may suit one direction only
        scattering = mirrored(on_rings(topology, [order_of_ranks(topology)[::-1]]))
    else:
        scattering = mirrored(_make(algorithm.gather, reversed_network(topology)))
    return scattering if operation == "reduce_scatter" else all_reduced(scattering, _make(algorithm.gather, topology))


def _make(maker: Maker | None, *arguments: Any) -> Schedule:
    assert maker is not None  # check_pair
    return maker(*arguments)
