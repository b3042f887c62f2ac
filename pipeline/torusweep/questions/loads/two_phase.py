"""The best two-phase routing of a network as a table of next hops, which `table(path=…)` reads.

A packet carries the number of the node that it goes to: first a node drawn at random, then its destination.
"""

from __future__ import annotations

import numpy as np
import scipy

from torusweep.capacity import MAX_FLOWS, gather, solve, usable_arcs
from torusweep.capacity.guarantee import WORST, Guarantee
from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import Topology
from torusweep.routing.forms import TableRouting
from torusweep.routing.tables.as_table import joined
from torusweep.routing.tables.rows import TableRows, table_routing
from torusweep.traffic import Traffic

MAX_ROWS = 1 << 23  # destinations × intermediate nodes × nodes on the way: about a minute
SLACK = 1e-6  # of the guarantee, so that the flows have the fewest hops, and rounding leaves some
LEAST = 1e-9  # share of a flow below which it is rounding


def check_routable(topology: Topology) -> None:
    """Raise BadInput or Refused for a network whose best two-phase routing is not written as a table."""
    name, nodes = f"two-phase routing of {topology.spelling}", topology.nodes
    if topology.ends is not None:
        raise BadInput(f"{name}: expected nodes that all forward packets, got hosts that do not; let them forward")
    rows, flows = len(np.unique(topology.terminals)) * nodes**2, nodes * len(topology.arcs[0])
    if rows > MAX_ROWS or flows > MAX_FLOWS:
        raise Refused(
            f"{name}: expected at most {MAX_ROWS:,} rows of a table and {MAX_FLOWS:,} flows, got about {rows:,} and"
            f" {flows:,}; choose a smaller network"
        )


def two_phase_routing(topology: Topology, found: Guarantee) -> TableRouting:
    """Make the two-phase routing with the odds of a guarantee, whose flows have the fewest hops that it allows.

    A packet in state 1 + v goes to node v, whatever its destination t, and then in state 1 + t to t. The flows to a
    node serve both phases. Packets between terminals of one node stay there. Raises as `check_routable`.
    """
    check_routable(topology)
    n, (tail, head, port) = topology.nodes, topology.arcs
    many, odds = np.bincount(topology.terminals, minlength=n).astype(np.float64), found.odds
    pairs = scipy.sparse.csr_array(many[:, None] * odds + odds[:, None] * many)
    flows = gather(topology, WORST, Traffic(0 * many, 0 * many, pairs, symmetric=False), use_symmetry=False)
    usable = usable_arcs(flows, "all")
    flow = solve(flows, usable, within=(1 + SLACK) / found.lower).flow
    goal, arc = flows.roots[usable.commodity].astype(np.int64), usable.arc
    leaving = np.bincount(goal * n + tail[arc], np.maximum(flow, 0), minlength=n * n)[goal * n + tail[arc]]
    kept = flow > LEAST * leaving
    goal, arc, share = goal[kept], arc[kept], flow[kept] / leaving[kept]
    parts = []
    for destination in np.unique(topology.terminals).tolist():
        some = (odds[goal] > 0) | (goal == destination)
        to, at, by, part = goal[some], tail[arc[some]], port[arc[some]], share[some]
        after = 1 + np.where(head[arc[some]] == to, destination, to)
        drawn = part * (odds[to] + np.where(to == destination, odds[at], 0))
        starts = (drawn > 0) & (at != destination) & (many[at] > 0)
        key, place = np.unique(((at * topology.ports.shape[1] + by) * (n + 1) + after)[starts], return_inverse=True)
        first, into = np.divmod(key, n + 1)
        source, through = np.divmod(first, topology.ports.shape[1])
        columns = (
            [source, at],
            [through, by],
            [0 * key, 1 + to],
            [into, after],
            [np.bincount(place, drawn[starts]), part],
        )
        at, by, state, after, weight = map(np.concatenate, columns)
        parts.append(TableRows(at, np.full(len(at), destination), by, None, state, after, None, weight))
    return table_routing(topology, joined(parts))
