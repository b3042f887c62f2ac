"""The links of a network as the simulator's channels: flits a cycle, cycles, and the buffers that cover them."""

from __future__ import annotations

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.stages.simulation.presets import ALL_CHANNELS, Preset


def flits_a_cycle(topology: Topology) -> np.ndarray | None:
    """int16[N, P]: flits that each channel carries in a cycle; None: 1 everywhere.

    Raises BadInput where a channel carries no whole number of them.
    """
    if topology.bandwidth is None:
        return None
    parts = np.argwhere(topology.bandwidth != np.rint(topology.bandwidth))
    if len(parts):
        kind = int(topology.link_class[tuple(parts[0])])
        names, width = topology.plan.classes, topology.plan.bandwidths[kind]
        raise BadInput(
            f"simulation of {topology.spelling}: expected links of whole flits a cycle, got {width} of class"
            f" {names[kind] if kind < len(names) else kind}; choose whole bandwidths, such as multiples of them"
        )
    if most_flits(topology) > ALL_CHANNELS:
        raise BadInput(
            f"simulation of {topology.spelling}: expected channels of at most {ALL_CHANNELS} flits a cycle, one of each"
            f" virtual channel, got {most_flits(topology)}; choose smaller bandwidths or fewer parallel links"
        )
    return topology.bandwidth.astype(np.int16)


def most_flits(topology: Topology) -> int:
    """The most flits that a channel carries in a cycle, and so the fewest virtual channels that it needs."""
    return 1 if topology.bandwidth is None else max(1, int(topology.bandwidth.max(initial=1)))


def cycles_of(topology: Topology) -> tuple[np.ndarray, np.ndarray | None]:
    """(cycles over each channel, cycles beside a credit's first one back over it), int16[N, P]; None: 0 everywhere."""
    if topology.latency is None:
        return np.ones(topology.ports.shape, np.int16), None
    there = np.where(topology.ports == NO_PORT, np.int16(1), topology.latency)
    return there, there - np.int16(1)


def round_trip(topology: Topology, router: Preset) -> int:
    """Flits of a virtual channel's buffer with which packets, one after another, use the longest link in every cycle.

    That is the cycles from sending a head until its credit is back: switch and link, route and virtual channel at the
    other end, and the credit over the same link. A virtual channel sends a flit a cycle, whatever the bandwidth. 0
    where every link takes a cycle, for which the router's own buffers are made.
    """
    if topology.latency is None:
        return 0
    cycles = int(topology.latency.max(initial=1))
    credit = router.credit_delay - 1 + cycles  # the router's counts a link of one cycle
    return router.switch_delay + cycles + router.route_delay + router.vc_delay + credit
