"""Router presets: named defaults for the parameters of a simulation."""

from __future__ import annotations

from typing import Literal, NamedTuple

from torusweep.errors import BadInput, nearest

Switching = Literal["wormhole", "virtual-cut-through", "store-and-forward"]
ALL_CHANNELS, ALL_FLITS = 16, 63  # the most virtual channels of a port, and flits that a node ejects in a cycle


class Preset(NamedTuple):
    """Switching, virtual channels, buffers, delays in cycles (torusweep_kernels.router.Router), packets, injection.

    buffer_flits       of every virtual channel; enlarged where the switching needs it and no number is requested
    source_queue       capacity in packets; None: unlimited
    input_speedup, ejection_flits   torusweep_kernels.router.Router
    routing, vc_rule   None: the first that fits the network, and the first that is proved deadlock-free
    source             where it is described, and what we choose where that leaves it open
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
        channels = f"{self.virtual_channels} virtual channels of {self.buffer_flits} flits"
        parts = [self.switching, *routed, channels, f"packets of {self.packet_flits}", f"{hop} cycles a hop"]
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
    """The name of a preset. Raises BadInput where there is none."""
    preset(name)
    return name


def preset(name: str) -> Preset:
    """A preset by its name. Raises BadInput where there is none."""
    if name not in PRESETS:
        raise BadInput(f"unknown router '{name}'{nearest(name, PRESETS)}; there are {', '.join(PRESETS)}")
    return PRESETS[name]
