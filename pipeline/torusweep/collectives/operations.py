"""The collective operations, their sizes, and their bandwidths.

The size of an operation is defined as in NVIDIA's nccl-tests (doc/PERFORMANCE.md): the gathered vector for all_gather,
and the vector that a terminal contributes for reduce_scatter, all_reduce, broadcast, reduce and all_to_all.

The module also converts channels and terminals to the form that the kernels for cuts and trees take.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy
from torusweep_kernels.cuts import Channels, both_ways
from torusweep_kernels.trees import hops_from

from torusweep.errors import BadInput, as_known, nearest
from torusweep.networks.ends import Split, split
from torusweep.networks.links import channel_matrix, fewest_cycles, flit_matrix, rows_of, with_reverse_channels
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.quantities import counted

IN_NETWORK = "all_reduce_in_network"


class OperationKind(NamedTuple):
    """A collective operation: its meaning, `bus`, and whether it has a root.

    bus  function from N to bus bandwidth / (size / time), as in nccl-tests
    """

    meaning: str
    bus: Callable[[int], float]
    rooted: bool = False


def _others(terminals: int) -> float:
    return (terminals - 1) / terminals


OPERATIONS = {
    "all_gather": OperationKind("every terminal gets the parts of all", _others),
    "reduce_scatter": OperationKind("every terminal gets its part of the sum of all vectors", _others),
    "all_reduce": OperationKind("every terminal gets the sum of all vectors", lambda terminals: 2 * _others(terminals)),
    IN_NETWORK: OperationKind(
        "like all_reduce, but switches add vectors and copy sums, too", lambda terminals: 2 * _others(terminals)
    ),
    "broadcast": OperationKind("every terminal gets the root's vector", lambda _: 1.0, rooted=True),
    "reduce": OperationKind("the root gets the sum of all vectors", lambda _: 1.0, rooted=True),
    "all_to_all": OperationKind("every terminal gets a different part from each terminal", _others),
}


def operation_of(name: str) -> str:
    """Return the name of an operation, also if written all-reduce or ALLREDUCE. Raises BadInput for an unknown name."""
    known = as_known(name, OPERATIONS)
    if known not in OPERATIONS:
        raise BadInput(f"unknown operation '{name}'{nearest(name, OPERATIONS)}; there are {', '.join(OPERATIONS)}")
    return str(known)


def check_network(topology: Topology, operation: str, root: int = 0) -> None:
    """Raise BadInput if the root is missing, fewer than two nodes have terminals, or some terminals have no path."""
    terminals, name = len(topology.terminals), f"{operation} on {topology.spelling}"
    if len(np.unique(topology.terminals)) < 2:
        inside = "; links inside a router are not modelled: give terminals nodes of their own in a file, or" * (
            terminals > 1
        )
        raise BadInput(
            f"{name}: expected terminals at two nodes or more, got {counted(terminals, 'terminal')} at"
            f" {'one' if terminals else 'no'} node{inside or ';'} choose a larger network"
        )
    if OPERATIONS[operation].rooted and not 0 <= root < terminals:
        raise BadInput(f"{name}: expected a root from 0 to {terminals - 1}, got {root}; name a terminal")
    matrix = channel_matrix(topology)
    _, part = scipy.sparse.csgraph.connected_components(matrix, directed=topology.directed, connection="strong")
    parts = len(np.unique(part[topology.terminals]))
    if parts > 1:
        raise BadInput(
            f"{name}: expected paths between all terminals, got {parts} parts without paths between them;"
            " choose a connected network ('torusweep describe' counts its components)"
        )


def hops_between(topology: Topology, nodes: np.ndarray) -> np.ndarray:
    """int32[S, N]: hops of a message from each of the given nodes, int[S], to every node; −1 without a path.

    No message passes through a host that forwards nothing (`Topology.ends`).
    """
    if topology.ends is None:
        return hops_from(channels_of(topology), nodes)
    parted = split(topology)
    return hops_of_split(parted, nodes)[:, parted.arrive]


def hops_of_split(parted: Split, nodes: np.ndarray) -> np.ndarray:
    """int32[S, N + H]: hops from given nodes of a split network; 0 from a host's start to its end, −1 if no path."""
    tail, port = np.nonzero(parted.ports != NO_PORT)
    first = np.searchsorted(tail, np.arange(parted.nodes + 1))
    ones = np.ones(len(tail), np.int64)
    hops = hops_from(Channels(first, parted.ports[tail, port], ones, ones), nodes)
    own = np.flatnonzero(nodes < len(parted.arrive))
    hops[own, parted.arrive[nodes[own]]] = 0
    return hops


def cycles_of(topology: Topology) -> Fraction:
    """Return the fewest cycles in which every channel carries whole flits; 1 if the network has no bandwidths."""
    return fewest_cycles(topology.plan.bandwidths)


def alike(topology: Topology) -> bool:
    """Return whether every channel is a single link, and all links have the same bandwidth."""
    return topology.capacity is None and len(set(topology.plan.bandwidths)) <= 1


def channels_of(topology: Topology, *, reverse: bool = False) -> Channels:
    """Return the channels (turned around if `reverse`), and the flits that each carries in `cycles_of` cycles."""
    matrix, _ = flit_matrix(topology)
    if topology.directed:
        return both_ways(*with_reverse_channels(matrix.T.tocsr() if reverse else matrix))
    return both_ways(*rows_of(matrix), matrix.data)


def has_switches(topology: Topology) -> bool:
    """Return whether some working node has no terminal, or more than one."""
    return not np.array_equal(topology.terminals, np.flatnonzero(topology.works))


def weight_of(topology: Topology) -> np.ndarray:
    """int64[N]: number of terminals at each node."""
    return np.bincount(topology.terminals, minlength=topology.nodes)
