"""What no routing can exceed, and the worst that this one can meet: as columns of the table `loads`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torusweep.counts import counted
from torusweep.errors import Refused

if TYPE_CHECKING:
    from torusweep.stages.loads.channels import ChannelLoads

LARGEST_MATCHING = 1024  # nodes: a matching of a thousand takes about a second
SHARES = 1 << 27  # shares of pairs in channels that are written out: 1 GiB


class Bounds(NamedTuple):
    """Columns of the table `loads` of the same names."""

    cut_links: int | None
    effective_cut_links: float | None
    capacity: float | None
    capacity_minimal: float | None
    worst_case_saturation_load: float | None
    bounds_method: str


NO_BOUNDS = Bounds(None, None, None, None, None, "")


def bounds_of(loads: ChannelLoads, *, use_symmetry: bool = True) -> Bounds:
    """Capacity by linear programming, the worst permutation, and how much of the narrowest cut that is known serves what must cross it.

    What is too large to compute is None, and bounds_method says why.
    """
    from torusweep.capacity import best_half, effective_bisection
    from torusweep.traffic import traffic as pattern_on

    topology = loads.topology
    matrix = pattern_on(loads.traffic, topology)[1].at_nodes(topology.terminals, topology.nodes)
    use = effective_bisection(topology, loads.load, matrix, best_half(topology))
    best, how = _capacity(loads, "all", use_symmetry)
    minimal, how_minimal = _capacity(loads, "minimal", use_symmetry)
    worst, how_worst = _worst(loads)
    method = "; ".join(
        f"{name}: {text}"
        for name, text in (("any routing", how), ("minimal", how_minimal), ("worst permutation", how_worst))
    )
    return Bounds(use.links, use.effective, best, minimal, worst, method)


def _capacity(loads: ChannelLoads, routes: str, use_symmetry: bool) -> tuple[float | None, str]:
    from torusweep.capacity import capacity

    try:
        found = capacity(loads.topology, loads.traffic, routes=routes, use_symmetry=use_symmetry)
    except Refused as refusal:
        return None, str(refusal)
    return (found.throughput if np.isfinite(found.throughput) else None), found.method


def _worst(loads: ChannelLoads) -> tuple[float | None, str]:
    from torusweep.capacity import worst_permutation
    from torusweep.routing import routing as routing_on
    from torusweep.stages.loads.shares import channels_apart, pair_shares

    topology = loads.topology
    nodes = topology.nodes
    if not np.array_equal(topology.terminals, np.arange(nodes)):
        return None, "sought only where every node is a terminal"
    routing = routing_on(loads.routing, topology)[1]
    channels = channels_apart(routing)
    if not len(channels):
        return None, "there are no channels"
    if nodes > LARGEST_MATCHING or len(channels) * nodes**2 > SHARES:
        most = f"at most {LARGEST_MATCHING:,} nodes, and {SHARES:,} shares of pairs in channels"
        return None, f"expected {most}, got {nodes:,} and {len(channels) * nodes**2:,}; choose a smaller network"
    shares = pair_shares(routing, channels)
    worst = worst_permutation(
        shares,
        capacity=None if topology.capacity is None else topology.capacity.reshape(-1)[channels].astype(np.float64),
    )
    return 1 / worst.load, f"matchings of greatest weight for {counted(len(channels), 'channel')} (Towles & Dally 2002)"
