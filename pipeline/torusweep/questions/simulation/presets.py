"""Router presets: named defaults for the parameters of a simulation.

The module also converts links to the simulator's channels: flits per cycle, cycles, and buffers large enough for them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from torusweep.errors import BadInput, nearest
from torusweep.networks.physical import UNSAID, Clock, clock_of, least_flit
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.quantities import counted

Switching = Literal["wormhole", "virtual-cut-through", "store-and-forward"]
MOST_LATENCY = 10_000  # cycles over a link; the simulator stores the flits on their way for each of them
ALL_CHANNELS, ALL_FLITS = 16, 63  # largest number of virtual channels of a port; of flits a node ejects in a cycle
HOST_CHANNELS = 4  # least number of virtual channels if hosts send and receive at the rate of their links


class Preset(NamedTuple):
    """Switching, virtual channels, buffers, delays in cycles (torusweep_kernels.router.Router), packets, injection.

    buffer_flits       flits of a virtual channel's buffer; unless requested, enlarged if the switching needs it
    source_queue       capacity in packets; None if unlimited
    input_speedup, ejection_flits   as in torusweep_kernels.router.Router
    routing, vc_rule   None: the first routing that fits the network, and the first rule proved deadlock-free
    source             where the literature describes the router, and our choices where the description leaves them open
    """

    switching: Switching
    virtual_channels: int
    buffer_flits: int
    packet_flits: int
    route_delay: int
    vc_delay: int
    switch_delay: int
    credit_delay: int
    routing: str | None = None
    vc_rule: str | None = None
    transit_first: bool = False
    injection: str = "bernoulli"
    source_queue: int | None = None
    input_speedup: int = 1
    ejection_flits: int = 1
    source: str = ""

    def __str__(self) -> str:
        routed = [name for name in (self.routing, self.vc_rule) if name is not None]
        hop = 1 + self.route_delay + self.vc_delay + self.switch_delay
        buffers = f"{counted(self.virtual_channels, 'virtual channel')} of {counted(self.buffer_flits, 'flit')}"
        parts = [self.switching, *routed, buffers, f"packets of {self.packet_flits}", f"{counted(hop, 'cycle')} a hop"]
        return f"{', '.join(parts)}; {self.source}"


PRESETS = {
    "default": Preset(
        *("wormhole", 2, 8, 16, 1, 1, 1, 1),
        source="ours: one cycle each for route, virtual channel, switch, link and credit",
    ),
    "booksim2": Preset(
        *("wormhole", 4, 8, 16, 1, 1, 2, 2),
        source="BookSim2's defaults: one cycle each for route, virtual channel, switch, crossbar, link;"
        " not its 16 channels and packets of 1 flit. It divides the channels of a torus as --vc-rule"
        ' "r05_wrap(reading=will)" does, and its torus links take 2 cycles by default',
    ),
    "rahman-2005": Preset(
        # a head takes two cycles per hop, route and channel; a buffer of 2 covers the credit round trip, as their
        # output buffer does
        *("wormhole", 2, 2, 16, 1, 0, 0, 1),
        source="Rahman et al. 2005, sec. 5: two cycles a hop, buffers of 2 (or 20) flits, 16-flit packets",
    ),
    "bluegene": Preset(
        # as in INSEE, the paper's simulator: any virtual channel may request an output; nodes eject all arrivals
        *("virtual-cut-through", 3, 64, 16, 1, 1, 1, 1),
        *("adaptive", "bubble", True, "poisson", 8, ALL_CHANNELS, ALL_FLITS),
        source="Cámara et al. 2010, sec. 6.1: bubble, 1 escape and 2 adaptive channels of 4 packets, queues of 8,"
        " transit first; delays are ours",
    ),
}


def canonical(name: str) -> str:
    """Return the canonical name of a router preset. Raises BadInput for an unknown name."""
    preset(name)
    return name


def preset(name: str) -> Preset:
    """Return the router preset with the given name. Raises BadInput for an unknown name."""
    if name not in PRESETS:
        raise BadInput(f"unknown router '{name}'{nearest(name, PRESETS)}; there are {', '.join(PRESETS)}")
    return PRESETS[name]


def flits_a_cycle(topology: Topology) -> np.ndarray | None:
    """Return the flits that each channel carries per cycle, int16[N, P]; None if every channel carries 1.

    Raises BadInput if a channel does not carry a whole number of flits, or carries too many.
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
    """Return the most flits that any channel carries per cycle. At least as many virtual channels are needed."""
    return 1 if topology.bandwidth is None else max(1, int(topology.bandwidth.max(initial=1)))


def clock_for(topology: Topology, flit_bytes: int | None) -> Clock:
    """Return the clock of a simulation, with flits so long that the longest link takes no more cycles than the limit.

    flit_bytes   bytes of a flit; None: 4, or more if the links need it
    Raises BadInput for a link that is too long for the simulator.
    """
    longest = 1 if topology.latency is None else int(topology.latency.max(initial=1))
    clock = clock_of(topology.plan, flit_bytes, MOST_LATENCY, longest)
    cycles = clock.of_link(longest)
    if cycles > MOST_LATENCY:
        remedy = "choose a longer cycle"
        if clock.rate is not None:
            remedy = f"choose flit_bytes={least_flit(clock, longest, MOST_LATENCY):,} or more, or leave it out"
        raise BadInput(
            f"simulation of {topology.spelling}: expected links of at most {MOST_LATENCY:,} cycles, got {cycles:,};"
            f" {remedy}"
        )
    return clock


def cycles_of(topology: Topology, clock: Clock = UNSAID) -> tuple[np.ndarray, np.ndarray | None]:
    """Return cycles over each channel, int16[N, P], and cycles of a credit's return after the first (None: all 0)."""
    cycles = clock.over_links(topology)
    if cycles is None:
        return np.ones(topology.ports.shape, np.int16), None
    there = np.where(topology.ports == NO_PORT, 1, cycles).astype(np.int16)
    return there, there - np.int16(1)


def round_trip(topology: Topology, router: Preset, clock: Clock = UNSAID) -> int:
    """Return the flits of a virtual channel's buffer that keep the longest link busy; 0 for links of one cycle.

    The result is the number of cycles from sending a head until its credit is back: switch and link, route and virtual
    channel at the other end, and the credit over the same link. A virtual channel sends one flit per cycle,
    whatever the bandwidth. If every link takes one cycle, the router's own buffers suffice.
    """
    over = clock.over_links(topology)
    if over is None:
        return 0
    cycles = int(over.max(initial=1))
    credit = router.credit_delay - 1 + cycles  # credit_delay includes a link of one cycle
    return router.switch_delay + cycles + router.route_delay + router.vc_delay + credit
