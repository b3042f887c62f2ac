"""Accept traffic from a caller as a spelling, or as a matrix in memory (`GivenTraffic`).

The module also checks that paths join all terminals that send to each other, and removes traffic without a route.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from torusweep.errors import BadInput, Refused, one_line
from torusweep.networks.names import name_of
from torusweep.networks.topology import Topology
from torusweep.quantities import counted
from torusweep.traffic import GivenTraffic
from torusweep.traffic.demands import traffic_of_matrix
from torusweep.traffic.matrix import Traffic

MATRIX = "matrix"  # name in tables of a matrix in memory
MOST_PAIRS = 1 << 25  # of terminals, whose demands are written out if some have no route: half a GiB
SHOWN = 5  # lost pairs that a row names


def traffic_of(topology: Topology, traffic: object) -> str | GivenTraffic:
    """Return a pattern's spelling unchanged, and a matrix [T, T] (NumPy, SciPy, lists) as `GivenTraffic`.

    Row s, column t of a matrix is the demand from s to t. Raises BadInput for any other type, or an invalid matrix.
    """
    if isinstance(traffic, str | GivenTraffic):
        return traffic
    if scipy.sparse.issparse(traffic):
        return GivenTraffic(MATRIX, traffic_of_matrix(topology, scipy.sparse.csr_array(traffic)))
    if not isinstance(traffic, np.ndarray | list | tuple):
        kind = one_line(type(traffic).__qualname__, 60)
        raise BadInput(f"traffic: expected a spelling such as 'uniform', or a matrix [T, T], got {kind}")
    try:
        matrix = np.asarray(traffic)
    except ValueError as error:
        raise BadInput(f"traffic: expected a matrix of numbers, got: {one_line(error)}") from None
    return GivenTraffic(MATRIX, traffic_of_matrix(topology, matrix))


def check_reach(topology: Topology, pattern: str, demands: Traffic) -> None:
    """Raise BadInput if a pattern has demands between parts of a network that are not joined in both directions."""
    tail, head, _ = topology.arcs
    links = scipy.sparse.coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(topology.nodes, topology.nodes))
    parts, part = scipy.sparse.csgraph.connected_components(links, connection="strong")
    if parts == 1:
        return
    matrix = demands.at_nodes(topology.terminals, topology.nodes)
    own = matrix.own.tocoo()
    busy = part[(matrix.common > 0) | ((matrix.weight > 0) & matrix.common.any())]
    if (own.data[part[own.row] != part[own.col]] > 0).any() or (len(busy) and (busy != busy[0]).any()):
        raise BadInput(
            f"traffic {pattern} on {topology.spelling}: expected a network that joins all who send to each other,"
            " got one of several components"
        )


class Lost(NamedTuple):
    """Pairs without a route, in fields that are also columns of tables.

    lost_pairs      number of ordered pairs of different terminals without a route
    lost_share      share of these pairs among all ordered pairs
    lost_traffic    share of the traffic that is not sent, because it is between these pairs
    lost_examples   the first lost pairs of nodes, in words
    """

    lost_pairs: int = 0
    lost_share: float = 0.0
    lost_traffic: float = 0.0
    lost_examples: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, Any]:
        """The fields as values of columns, by the columns' names."""
        return {**self._asdict(), "lost_examples": list(self.lost_examples)}


NOTHING = Lost()


def lost_of(topology: Topology, pairs: np.ndarray) -> Lost:
    """Count lost pairs of nodes, int64[L], source · N + destination, ascending, among all pairs of terminals."""
    if not len(pairs):
        return NOTHING
    many, total = np.bincount(topology.terminals, minlength=topology.nodes), len(topology.terminals)
    source, destination = np.divmod(pairs, topology.nodes)
    lost = int((many[source] * many[destination]).sum())
    shown = zip(source[:SHOWN].tolist(), destination[:SHOWN].tolist())
    examples = tuple(f"{name_of(topology, one)} → {name_of(topology, other)}" for one, other in shown)
    return Lost(lost, lost / (total * (total - 1)), 0.0, examples)


def delivered(topology: Topology, sent: Traffic, lost: np.ndarray, missing: np.ndarray) -> tuple[Traffic, Lost]:
    """Remove traffic without a route: return (traffic that has a route, pairs of nodes without a route).

    sent      traffic between terminals
    lost      int64[·], ascending, source · N + destination: pairs without a path, due to faults or non-forwarding hosts
    missing   pairs without a row in a user's table, in the same form

    Other demands do not change. Raises BadInput if a pair that the table lacks has a demand, or if no traffic is left;
    Refused if there are too many pairs of terminals to write out.
    """
    gone = np.union1d(lost, missing)
    if not len(gone):
        return sent, NOTHING
    terminals = topology.terminals.astype(np.int64)
    if len(terminals) ** 2 > MOST_PAIRS:
        raise Refused(
            f"expected at most {MOST_PAIRS:,} pairs of terminals where some have no route, got {len(terminals) ** 2:,};"
            " choose a smaller network, or a routing that reaches all"
        )
    place, destination, amount = sent.pairs(np.arange(len(terminals)))
    pair = terminals[place] * topology.nodes + terminals[destination]
    unlisted = np.unique(pair[np.isin(pair, missing)])
    if len(unlisted):
        one, other = (name_of(topology, node) for node in divmod(int(unlisted[0]), topology.nodes))
        others = f", nor for {counted(len(unlisted) - 1, 'other pair')} of nodes" if len(unlisted) > 1 else ""
        raise BadInput(
            f"expected a route for every pair of terminals that the traffic uses, got none at {one} towards"
            f" {other}{others}; add rows to the routing's table, or links to the network, or choose a traffic whose"
            ' pairs all have one, such as demand(path="demand.csv")'
        )
    broken = np.isin(pair, lost)
    found = lost_of(topology, gone)
    if not broken.any():
        return sent, found
    if broken.all():
        why = "the faults break all; choose fewer faults"
        if topology.ends is not None:
            why = "hosts forward nothing, and no other path joins those who send to each other; choose another traffic"
        raise BadInput(f"expected some traffic that has a route, got none: {why}")
    kept = ~broken
    size = len(terminals)
    own = scipy.sparse.csr_array((amount[kept], (place[kept], destination[kept])), shape=(size, size))
    rest = replace(sent, weight=np.ones(size), common=np.zeros(size), own=own, symmetric=False)
    return rest, found._replace(lost_traffic=float(amount[broken].sum() / amount.sum()))
