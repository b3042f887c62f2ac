"""Any network with links of given bandwidths and latencies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np

from torusweep.counts import counted
from torusweep.networks.link_kinds import MOST_LATENCY, bandwidth_of, of_classes
from torusweep.networks.symmetry import those_that_keep_kinds
from torusweep.networks.topology import Meaning, Plan, no_symmetries, realise, require

Network = Annotated[
    Plan,
    Meaning("any network, written before the other parameters, as in with_links(torus(k=8, n=3), latencies=[1, 1, 9])"),
]
Bandwidths = Annotated[
    list[float | str] | None,
    Meaning('flits a cycle of one link of each link class, fractions in quotes ("25/12"); as they are where left out'),
]
Latencies = Annotated[list[int] | None, Meaning("cycles over a link of each link class; as they are where left out")]


def with_links(topology: Network, bandwidths: Bandwidths = None, latencies: Latencies = None) -> Plan:
    """A network whose link classes have a bandwidth, in flits a cycle, and a latency, in cycles.

    The lists are in the order of the network's link classes, which `torusweep describe` names; a list of one number
    is for all classes. A bandwidth is that of each of parallel links. Symmetries of the network that exchange links
    of different bandwidths or latencies are lost.

    Constraints: lists as long as there are classes, or of one number; bandwidths above 0, up to 1,048,576, with
    denominators up to 10⁶; latencies of 1 … 10,000.
    Source: definition.
    """
    classes = max(len(topology.classes), len(topology.bandwidths), len(topology.latencies), 1)
    names = f" ({', '.join(topology.classes)})" if topology.classes else ""
    for parameter, given in (("bandwidths", bandwidths), ("latencies", latencies)):
        if given is not None:
            lengths = counted(classes, "number") if classes == 1 else f"{classes} numbers, or one for all"
            why = f"the network has {classes} link class{'es' if classes > 1 else ''}{names}"
            require(len(given) in (1, classes), parameter, given, lengths, why)
    widths, cycles = topology.bandwidths, topology.latencies
    if bandwidths is not None:
        widths = of_classes([bandwidth_of(value) for value in bandwidths], classes)
    if latencies is not None:
        for value in latencies:
            require(
                1 <= value <= MOST_LATENCY, "latencies", latencies, f"cycles of 1 … {MOST_LATENCY:,}", f"got {value}"
            )
        cycles = of_classes(latencies, classes)
    changed = replace(topology, bandwidths=widths, latencies=cycles)
    if changed.symmetries is no_symmetries or (widths, cycles) == (topology.bandwidths, topology.latencies):
        return changed
    return replace(changed, symmetries=lambda: _kept(changed, topology.symmetries))


def _kept(plan: Plan, symmetries: Callable[[], Sequence[np.ndarray]]) -> list[np.ndarray]:
    """int32[N] each: generators of those of the network's symmetries that keep bandwidths and latencies."""
    return those_that_keep_kinds(realise("with_links", "with_links", plan, plan.bytes), symmetries())
