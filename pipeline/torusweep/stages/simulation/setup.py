"""What a simulation is of: names and numbers settled, checked against each other, and turned into the kernel's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from torusweep_kernels.router import SWITCHINGS, Router, Wiring

from torusweep.errors import BadInput
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.routing import Routing, SourceRouting
from torusweep.stages.deadlock import least_rule, routing_spelling, rule_spelling
from torusweep.stages.deadlock.rules import Rule
from torusweep.stages.simulation.choice import USUAL, Choice, balanced, chosen, remedy, suitable
from torusweep.stages.simulation.injection import Arrivals, process_of
from torusweep.stages.simulation.injection import canonical as injection_spelling
from torusweep.stages.simulation.placement import PLACEMENTS
from torusweep.stages.simulation.presets import EVERY_CHANNEL, Preset, preset
from torusweep.traffic import Traffic
from torusweep.traffic import canonical as traffic_spelling
from torusweep.traffic import traffic as pattern_on
from torusweep.workloads import Workload
from torusweep.workloads import canonical as workload_spelling
from torusweep.workloads import workload as workload_on

CYCLES, MOST_CYCLES = 10_000, 1 << 30  # of a run unless told otherwise; of a workload, which ends by itself
MOST_BUFFER = 32_767  # flits of a virtual channel (torusweep_kernels.router)


@dataclass(frozen=True)
class Parameters:
    """What is asked for besides the network and the loads; None: as the router's preset has it, or as suits the network.

    router     a preset's name
    routing, vc_rule, traffic, injection   spellings
    input_speedup  virtual channels of an input port that may send in the same cycle
    source_queue   packets that a source queue holds; None: any number
    workload   spelling: instead of a traffic's packets its messages, each once; placement: of their tasks, consecutive or random
    cycles     of every run; None: 10,000, of a workload as many as it takes
    warm_up    cycles that do not count; None: detected (statistics.mser5)
    allow_deadlock   run what may lock up
    """

    router: str = "default"
    routing: str | None = None
    vc_rule: str | None = None
    virtual_channels: int | None = None
    buffer_flits: int | None = None
    packet_flits: int | None = None
    switching: str | None = None
    input_speedup: int | None = None
    traffic: str = "uniform"
    injection: str | None = None
    source_queue: int | None = None
    workload: str | None = None
    placement: str | None = None
    cycles: int | None = None
    warm_up: int | None = None
    allow_deadlock: bool = False

    def canonical(self) -> Parameters:
        """The same in canonical spellings, numbers checked. Raises BadInput where a name or a number is wrong, whatever the network."""
        preset(self.router)
        for name, value, least, most in (
            ("virtual_channels", self.virtual_channels, 1, 16),
            ("buffer_flits", self.buffer_flits, 1, MOST_BUFFER),
            ("packet_flits", self.packet_flits, 1, 1 << 14),
            ("input_speedup", self.input_speedup, 1, EVERY_CHANNEL),
            ("source_queue", self.source_queue, 0, 1 << 30),
            ("cycles", self.cycles, 1, MOST_CYCLES),
            ("warm_up", self.warm_up, 0, (self.cycles or CYCLES) - 1),
        ):
            if value is not None and not least <= value <= most:
                raise BadInput(f"{name}={value}: expected {least:,} … {most:,}; choose one of these")
        self._check_workload()
        for name, word, known in (("switching", self.switching, SWITCHINGS), ("placement", self.placement, PLACEMENTS)):
            if word is not None and word not in known:
                raise BadInput(f"{name}={word}: expected one of {', '.join(known)}; choose one of these")
        return replace(
            self,
            routing=None if self.routing is None else routing_spelling(self.routing),
            vc_rule=None if self.vc_rule is None else rule_spelling(self.vc_rule),
            traffic=traffic_spelling(self.traffic),
            injection=None if self.injection is None else injection_spelling(self.injection),
            workload=None if self.workload is None else workload_spelling(self.workload),
            placement=None if self.workload is None else self.placement or PLACEMENTS[0],
            cycles=self.cycles or (CYCLES if self.workload is None else MOST_CYCLES),
        )

    def _check_workload(self) -> None:
        """What a workload and single packets do not have in common."""
        if self.workload is None:
            if self.placement is not None:
                raise BadInput(f"placement={self.placement}: expected with a workload only; add one, or leave it out")
            return
        for name, value, usual in (
            *(("traffic", self.traffic, "uniform"), ("injection", self.injection, None)),
            *(("source_queue", self.source_queue, None), ("warm_up", self.warm_up, None)),
        ):
            if value != usual:
                raise BadInput(
                    f"{name}={value}: expected without a workload, whose messages say who sends what when; leave out one of them"
                )


class Setup(NamedTuple):
    """A simulation's network, traffic and router.

    parameters  settled: none is None but warm_up
    traffic     between terminals
    routing     what packets draw their routes from; of adaptive routing, the runs among which they choose on the way
    workload    messages that are sent instead of the traffic's packets; None: none
    """

    topology: Topology
    parameters: Parameters
    traffic: Traffic
    routing: Routing
    wiring: Wiring
    router: Router
    workload: Workload | None = None

    @property
    def cycles(self) -> int:
        """Length of a run, at most."""
        return int(self.parameters.cycles or CYCLES)

    def check(self, loads: Sequence[float]) -> None:
        """loads: flits per terminal and cycle. Raises BadInput for one that some terminal cannot generate."""
        for load in loads:
            self._arrivals().check(load * self.traffic.sent() / self.flits, load)

    @property
    def most(self) -> float:
        """Flits per terminal and cycle: the load of which the busiest terminal injects a flit a cycle, or as much as it can generate."""
        return min(1.0, self._arrivals().most) / float(self.traffic.sent().max())

    def _arrivals(self) -> Arrivals:
        return Arrivals(process_of(str(self.parameters.injection), self.topology), self.flits, 0, "auto")

    @property
    def flits(self) -> int:
        """Length of a packet."""
        return int(self.parameters.packet_flits or 1)

    @property
    def inputs(self) -> dict[str, Any]:
        """The columns of the table that say what was simulated, by name."""
        asked = self.parameters
        messages = asked.workload is not None
        hidden = (
            {"traffic": None, "injection": None, "cycles": None if asked.cycles == MOST_CYCLES else asked.cycles}
            if messages
            else {}
        )
        return {"topology": self.topology.spelling, **asdict(asked), **hidden}


def set_up(topology: Topology, parameters: Parameters, *, unproved: bool = False) -> Setup:
    """Everything settled. Raises BadInput where the parts do not suit each other or may lock up, Refused where that cannot be told.

    unproved   do not look whether a rule that is given prevents deadlock
    """
    if not len(topology.terminals):
        raise BadInput(
            f"simulation of {topology.spelling}: expected nodes that send, got none; choose a network with terminals"
        )
    asked = parameters.canonical()
    made = preset(asked.router)
    traffic_name, traffic = pattern_on(asked.traffic, topology)
    messages = None if asked.workload is None else workload_on(asked.workload, len(topology.terminals))[1]
    switching, flits = asked.switching or made.switching, asked.packet_flits or made.packet_flits
    links = 1 if topology.capacity is None else int(topology.capacity.max(initial=1))  # side by side, most
    choice = _taken(topology, asked, made, switching, links, unproved)
    buffers = _buffers(asked, made, switching, flits, choice.rule)
    channels = choice.virtual_channels
    if channels < links:
        raise BadInput(
            f"simulation of {topology.spelling}: expected a virtual channel for each of {links} parallel links, got virtual_channels={channels};"
            f" choose {links} or more"
        )
    escape = min(choice.rule.number, channels - 1) if choice.adaptive else channels
    settled = replace(
        asked,
        routing=choice.routing,
        vc_rule=choice.vc_rule,
        virtual_channels=channels,
        buffer_flits=buffers,
        packet_flits=flits,
        switching=switching,
        input_speedup=min(asked.input_speedup or made.input_speedup, channels),
        traffic=traffic_name,
        injection=asked.injection or made.injection,
        source_queue=made.source_queue if asked.source_queue is None and messages is None else asked.source_queue,
    )
    router = Router(
        virtual_channels=channels,
        buffer_flits=buffers,
        switching=switching,
        route_delay=made.route_delay,
        vc_delay=made.vc_delay,
        switch_delay=made.switch_delay,
        credit_delay=made.credit_delay,
        adaptive=choice.adaptive,
        escape=escape,
        bubble=choice.rule.bubble,
        transit_first=made.transit_first,
        source_queue=settled.source_queue,
        ejection_flits=made.ejection_flits,
        input_speedup=int(settled.input_speedup or 1),
    )
    return Setup(topology, settled, traffic, choice.form, _wiring(choice, escape), router, messages)


def _taken(topology: Topology, asked: Parameters, made: Preset, switching: str, least: int, unproved: bool) -> Choice:
    """Routing and rule: as asked for, as the preset has them, or the first that suit the network and cannot lock up.

    least   virtual channels, where no number is asked for
    """
    many, routing = asked.virtual_channels or max(made.virtual_channels, least), asked.routing or made.routing
    rule = asked.vc_rule or (made.vc_rule if switching == made.switching else None)
    free, cut_through = asked.virtual_channels is None, switching == "virtual-cut-through"
    for name in [routing] if routing else USUAL:
        try:
            if rule is not None:
                return chosen(topology, name, rule, many, allow_deadlock=asked.allow_deadlock, unproved=unproved)
            return suitable(
                topology, name, many, at_least=free, cut_through=cut_through, allow_deadlock=asked.allow_deadlock
            )
        except BadInput:
            if routing or _works(topology, name):
                raise
    instead = remedy(topology, USUAL[0])
    raise BadInput(
        f"simulation of {topology.spelling}: expected a routing that cannot lock up, got none of {', '.join(USUAL)}; {instead}"
    )


def _works(topology: Topology, routing: str) -> bool:
    """Whether a routing suits a network, and some rule keeps it from locking up."""
    try:
        return least_rule(topology, routing)[1] is not None
    except BadInput:
        return False


def _wiring(choice: Choice, channels: int) -> Wiring:
    """The network, its datelines and the rule as the kernel takes them; `channels` are shared out among the rule's classes."""
    routing, rule = choice.form, choice.rule
    ports = routing.topology.ports
    if isinstance(routing, SourceRouting):
        port_of, wrap = routing.moves.port, routing.moves.wrap
    else:  # a direction is a port
        port_of = np.where(ports == NO_PORT, NO_PORT, np.arange(ports.shape[1])).astype(np.int8)
        wrap = np.zeros(port_of.shape, bool)
    delay = np.ones(ports.shape, np.int16)
    both = not choice.adaptive and balanced(routing, rule)
    capacity = routing.topology.capacity
    return Wiring(
        ports, port_of, wrap, delay, rule.within(channels), rule.memory, rule.shares(channels), both, capacity
    )


def _buffers(asked: Parameters, made: Preset, switching: str, flits: int, rule: Rule) -> int:
    """Flits of a virtual channel's buffer: as asked for, or as the preset has it and the switching needs it."""
    if rule.bubble and switching == "wormhole":
        raise BadInput(
            "rule bubble: expected switching virtual-cut-through or store-and-forward, got wormhole; choose one, or another rule"
        )
    needed = 1 if switching == "wormhole" else 2 * flits if rule.bubble else flits
    if needed > MOST_BUFFER:
        raise BadInput(
            f"packet_flits={flits}: expected packets that fit into buffers of {MOST_BUFFER:,} flits, {needed:,} are needed; choose shorter ones"
        )
    if asked.buffer_flits is None:
        return max(made.buffer_flits, needed)
    if asked.buffer_flits < needed:
        packets = "two packets" if rule.bubble else "a packet"
        raise BadInput(
            f"buffer_flits={asked.buffer_flits}: expected room for {packets} with {switching}, {needed} or more; choose larger buffers"
        )
    return asked.buffer_flits
