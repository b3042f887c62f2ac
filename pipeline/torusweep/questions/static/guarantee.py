"""Bounds of what a network guarantees under every admissible traffic, from distances, loads and cuts.

Traffic is admissible if no terminal sends or receives more than one flit per cycle. `torusweep capacity --traffic
worst` bounds the same throughput more closely, in more time.
"""

from __future__ import annotations

from math import gcd, inf
from typing import Any

import numpy as np
import pyarrow as pa

from torusweep.networks.families.algebra import Lattice
from torusweep.networks.topology import Plan
from torusweep.questions.blocks import BlockNumbers, divided


def guarantee(numbers: BlockNumbers, loaded: bool = True) -> tuple[pa.Array[Any], pa.Array[Any]]:
    """Return (lower, upper) for B networks, in flits per cycle per terminal; null where there is no bound.

    loaded   whether to bound from below, too, which needs the loads of uniform traffic

    From below: a packet goes to a terminal drawn evenly among all, then on to its destination (Valiant 1982). Both
    phases load channels at most as uniform traffic does, so that half of its saturation is guaranteed. A host that has
    one neighbour and forwards nothing can be drawn, too: the neighbour turns the packet round. From above: no routing
    carries more than all channels, or those of a cut, do. Of all permutations of a lattice, which looks alike from each
    node, x → x + g for the farthest g needs most channels.
    """
    each, total, plans = numbers.at_nodes, numbers.terminals, numbers.block.plans
    least = np.where(each > 0, each, total[:, None]).min(axis=1)
    alike = ((each == least[:, None]) | ~numbers.works).all(axis=1) & (least > 0)
    lattice = np.array([plan is not None and isinstance(plan.structure, Lattice) for plan in plans]) & alike
    needed = divided(numbers.hops.sum, total - least)  # hops of all flits of uniform traffic, none within a node
    needed = np.where(lattice, total * numbers.hops.diameter, needed)
    fewer = np.minimum(each, total[:, None] - each)
    leaving = np.where(fewer > 0, numbers.bandwidth.sum(axis=2) / np.maximum(fewer, 1), inf).min(axis=1)
    halves = np.where(alike, [inf if plan is None else limit(plan) for plan in plans], inf) / np.maximum(least, 1)
    all_channels = np.where(needed > 0, numbers.bandwidth.sum(axis=(1, 2)) / np.maximum(needed, 1), inf)
    upper = np.minimum(np.minimum(leaving, halves), all_channels)
    none = ~numbers.connected | np.isinf(upper)
    if not loaded or numbers.ends:
        return pa.nulls(numbers.many), pa.array(upper, mask=none)
    busiest = numbers.load.max(axis=(1, 2), initial=0.0)
    lower = np.minimum(upper, divided(np.full(numbers.many, 0.5), busiest))
    return pa.array(lower, mask=none | (busiest == 0)), pa.array(upper, mask=none)


def limit(plan: Plan) -> float:
    """Return a bound for one terminal at each node, by bisection width and by the dimensions of a lattice.

    Without all other dimensions, a lattice becomes rings of m nodes along one. To go half round takes ⌊m/2⌋ of its
    channels, of which a node has two; if links lead one way, to go to the node before takes m − 1 of one.
    """
    if plan.bandwidths:
        return inf
    halves = inf if plan.bisection is None else plan.bisection / max(plan.nodes // 2, 1)
    if not isinstance(plan.structure, Lattice):
        return halves
    ring = max(gcd(*entries) for entries in zip(*plan.structure.columns))
    return min(halves, inf if ring < 2 else 1 / (ring - 1) if plan.directed else 2 / (ring // 2))
