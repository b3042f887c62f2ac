"""The setup of a simulation: complete parameters for a network, and the kernel's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from torusweep_kernels.router import Router, Wiring

from torusweep.errors import BadInput, naming
from torusweep.networks.names import terminal_names
from torusweep.networks.physical import UNSAID, Clock, host_rates, terminal_rates
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.deadlock.record import least_rule
from torusweep.questions.deadlock.rules import Rule
from torusweep.questions.simulation.choice import (
    RoutingChoice,
    check_choice,
    choose_rule,
    default_routings,
    fits,
    may_use_both_classes,
    remedy,
)
from torusweep.questions.simulation.injection import ArrivalTimes, process_of
from torusweep.questions.simulation.packets import PacketLengths, lengths_of, one_length
from torusweep.questions.simulation.parameters import CYCLES, MAX_BUFFER, MAX_CYCLES, Parameters
from torusweep.questions.simulation.presets import (
    ALL_CHANNELS,
    ALL_FLITS,
    HOST_CHANNELS,
    Preset,
    clock_for,
    cycles_of,
    flits_a_cycle,
    most_flits,
    preset,
    round_trip,
)
from torusweep.questions.simulation.routes import Choosing
from torusweep.routing import GivenRouting, Routing, SourceRouting
from torusweep.routing.faults import unrouted
from torusweep.traffic import Traffic
from torusweep.traffic import traffic as pattern_on
from torusweep.traffic.given import NOTHING, Lost, delivered
from torusweep.workloads import Workload, flit_bytes_of
from torusweep.workloads import workload as workload_on


class Setup(NamedTuple):
    """The network, traffic and router of a simulation.

    parameters  complete parameters: only warm_up, source_queue and parameters of a workload may be None
    traffic     traffic between terminals
    routing     routes that packets draw; with adaptive routing, routes among which packets choose hop by hop
    workload    messages that replace the traffic, or None
    choosing    routes among which packets choose on their way; None if packets draw a route
    clock       clock of cycles and flits
    lost        pairs without a route, whose traffic is left out of `traffic`
    """

    topology: Topology
    parameters: Parameters
    traffic: Traffic
    routing: Routing
    wiring: Wiring
    router: Router
    workload: Workload | None = None
    choosing: Choosing | None = None
    clock: Clock = UNSAID
    lost: Lost = NOTHING

    @property
    def cycles(self) -> int:
        """Number of cycles after which a run ends at the latest."""
        return int(self.parameters.cycles or CYCLES)

    def check(self, loads: Sequence[float], mean: bool = False) -> None:
        """Raise BadInput if a terminal (mean: the average one) cannot send a load, in flits per cycle per terminal."""
        arrivals, sent = self._arrivals(), self.traffic.sent()
        sent = sent.mean(keepdims=True) if mean else sent
        for load in loads:
            arrivals.check(load * sent / self.lengths.mean, load)

    @property
    def max_load(self) -> float:
        """Load at which the first terminal reaches its limit: one flit per cycle, or its host's or process's rate."""
        sent = self.traffic.sent()
        most, sending = np.minimum(terminal_rates(self.topology)[0], self._arrivals().max_load), sent > 0
        return float((most[sending] / sent[sending]).min())

    def _arrivals(self) -> ArrivalTimes:
        return ArrivalTimes(process_of(str(self.parameters.injection), self.topology), self.lengths.mean, 0, "auto")

    @property
    def flits(self) -> int:
        """Length of the longest packet, in flits."""
        return int(self.parameters.packet_flits or 1)

    @property
    def lengths(self) -> PacketLengths:
        """The lengths of packets; messages of a workload may have shorter packets."""
        mix = self.parameters.packet_mix
        return one_length(self.flits) if mix is None else lengths_of(mix)

    @property
    def inputs(self) -> dict[str, Any]:
        """The columns of the table `simulation` that hold the simulation's inputs, by name."""
        values = {"topology": self.topology.spelling, **asdict(self.parameters)}
        if self.workload is not None:
            cycles = None if self.parameters.cycles == MAX_CYCLES else self.parameters.cycles
            values |= {"traffic": None, "injection": None, "cycles": cycles}
        return values | {"flit_bytes": self.clock.flit_bytes}


class Shared(NamedTuple):
    """Proved routings and wirings that setups of one network share, by the parameters that determine each."""

    choices: dict[tuple[Any, ...], RoutingChoice]
    wirings: dict[tuple[Any, ...], Wiring]


def set_up(
    topology: Topology, parameters: Parameters, *, skip_proof: bool = False, shared: Shared | None = None
) -> Setup:
    """Complete the parameters for a network, and build the kernel's arrays.

    skip_proof   do not check whether the requested rule prevents deadlock
    shared       results of earlier calls for the same topology and skip_proof; this call adds its own

    Raises BadInput if the parts do not fit each other or may deadlock, Refused if a proof would be too large.
    """
    if not len(topology.terminals):
        raise BadInput(
            f"simulation of {topology.spelling}: expected nodes that send, got none; choose a network with terminals"
        )
    requested = parameters.canonical()
    router, clock = preset(requested.router), clock_for(topology, flit_bytes_by(requested))
    traffic_name, traffic = pattern_on(requested.traffic, topology)
    messages = None
    if requested.workload is not None:
        messages = workload_on(requested.workload, len(topology.terminals), terminal_names(topology), clock)[1]
    longest = requested.packet_mix and lengths_of(requested.packet_mix).longest
    switching = requested.switching or router.switching
    flits = longest or requested.packet_flits or router.packet_flits
    flits_a_cycle(topology)  # raises if the simulator does not support such links
    links = most_flits(topology)
    # twice the number for hosts, so that a host's channel does not wait for the head of the next packet
    least = min(ALL_CHANNELS, max(HOST_CHANNELS, 2 * links)) if topology.plan.hosts_end else links
    shared = Shared({}, {}) if shared is None else shared
    manner = (
        *(requested.router, requested.routing, requested.vc_rule, requested.virtual_channels),
        *(switching, requested.allow_deadlock),
    )
    if manner not in shared.choices:
        shared.choices[manner] = _choose(topology, requested, router, switching, least, skip_proof)
    choice = shared.choices[manner]
    buffers = _buffers(requested, router, switching, flits, choice.rule, round_trip(topology, router, clock))
    channels = choice.virtual_channels
    if channels < links:
        many = "flits a cycle" if topology.plan.bandwidths else "parallel links"
        raise BadInput(
            f"simulation of {topology.spelling}: expected a virtual channel for each of {links} {many},"
            f" got virtual_channels={channels}; choose {links} or more"
        )
    escape = min(choice.rule.number, channels - 1) if choice.adaptive else channels
    found = {"traffic": traffic_name, "switching": switching, "packet_flits": flits, "buffer_flits": buffers}
    complete = _completed(requested, router, choice, **found)
    wired = (*manner, clock.latency)
    if wired not in shared.wirings:
        shared.wirings[wired] = _wiring(choice, escape, clock)
    wiring = shared.wirings[wired]
    lost = NOTHING
    if messages is None:
        with naming(f"routing {choice.routing} on {topology.spelling}, traffic {traffic_name}"):
            traffic, lost = delivered(topology, traffic, *unrouted(choice.form))
    simulated = _router(topology, complete, router, choice, escape, buffers)
    form, between = choice.form, choice.choosing
    return Setup(topology, complete, traffic, form, wiring, simulated, messages, between, clock, lost)


def _completed(requested: Parameters, router: Preset, choice: RoutingChoice, **found: Any) -> Parameters:
    """Return the requested parameters with the chosen routing, the values in `found`, and the preset's defaults."""
    queue, channels = requested.source_queue, choice.virtual_channels
    return replace(
        requested,
        routing=choice.routing,
        vc_rule=choice.vc_rule,
        virtual_channels=channels,
        input_speedup=min(requested.input_speedup or router.input_speedup, channels),
        injection=requested.injection or router.injection,
        source_queue=router.source_queue if queue is None and requested.workload is None else queue,
        **found,
    )


def _router(
    topology: Topology, complete: Parameters, router: Preset, choice: RoutingChoice, escape: int, buffers: int
) -> Router:
    """Return the kernel's router.

    escape    first virtual channel of the escape routes, or all channels if the routing is not adaptive
    buffers   flits of a virtual channel's buffer
    """
    channels = choice.virtual_channels
    return Router(
        virtual_channels=channels,
        buffer_flits=buffers,
        switching=str(complete.switching),
        route_delay=router.route_delay,
        vc_delay=router.vc_delay,
        switch_delay=router.switch_delay,
        credit_delay=router.credit_delay,
        adaptive=choice.adaptive,
        escape=escape,
        bubble=choice.rule.bubble,
        transit_first=router.transit_first,
        source_queue=complete.source_queue,
        injection_flits=_injection_ports(topology),
        ejection_flits=max(router.ejection_flits, _ejected(topology)),
        input_speedup=int(complete.input_speedup or 1),
        injection_speedup=channels if topology.plan.hosts_end else None,
    )


def flit_bytes_by(parameters: Parameters) -> int | None:
    """Return the bytes of a flit by the parameters or their trace, or None. Raises BadInput if the two differ."""
    given = parameters.flit_bytes
    of_trace = None if parameters.workload is None else flit_bytes_of(parameters.workload)
    if given is not None and of_trace not in (None, given):
        raise BadInput(
            f"flit_bytes={given}: expected {of_trace}, which the workload says, or none; leave out one of them"
        )
    return given or of_trace


def most_terminals(topology: Topology) -> int:
    """Return the largest number of terminals of a node."""
    return int(np.bincount(topology.terminals).max())


def _injection_ports(topology: Topology) -> int:
    """Return the number of injection ports: one for each terminal of a node, within the kernel's limit of ports.

    A host that forwards no packets has two ports: the next packet is then ready when the last flit of a packet leaves,
    and only the host's links limit what it sends.
    """
    into = int(np.bincount(topology.ports[topology.ports != NO_PORT], minlength=1).max())
    least = 2 if topology.plan.hosts_end else 1
    return max(1, min(max(most_terminals(topology), least), ALL_FLITS - into))


def _ejected(topology: Topology) -> int:
    """Return the flits per cycle that a node ejects: one for each terminal, or as many as a host's links carry."""
    rates = host_rates(topology)
    own = 0 if rates is None else ceil(rates[1].max(initial=0))
    return min(ALL_FLITS, max(most_terminals(topology), own))


def _choose(
    topology: Topology, requested: Parameters, router: Preset, switching: str, least: int, skip_proof: bool
) -> RoutingChoice:
    """Return the requested routing and rule, or the preset's, or the first that fit the network without deadlock.

    least   least number of virtual channels, unless a number is requested
    """
    channels, routing = (
        requested.virtual_channels or max(router.virtual_channels, least),
        requested.routing or router.routing,
    )
    rule = requested.vc_rule or (router.vc_rule if switching == router.switching else None)
    at_least, cut_through = requested.virtual_channels is None, switching == "virtual-cut-through"
    deadlock = requested.allow_deadlock
    names = default_routings(topology)
    for name in [routing] if routing else (name for name in names if fits(topology, name)):
        try:
            if rule is not None:
                return check_choice(topology, name, rule, channels, allow_deadlock=deadlock, skip_proof=skip_proof)
            how = {"at_least": at_least, "cut_through": cut_through, "allow_deadlock": deadlock}
            choice = choose_rule(topology, name, channels, **how, optional=not routing)
        except BadInput:
            if routing or _has_deadlock_free_rule(topology, name):
                raise
            continue
        if choice is not None:
            return choice
    raise BadInput(
        f"simulation of {topology.spelling}: expected a deadlock-free routing, got none of"
        f" {', '.join(names)}; {remedy(topology, names[0])}"
    )


def _has_deadlock_free_rule(topology: Topology, routing: str | GivenRouting) -> bool:
    """Return whether the routing fits the network and some rule makes it deadlock-free."""
    try:
        return least_rule(topology, routing)[1] is not None
    except BadInput:
        return False


def _wiring(choice: RoutingChoice, channels: int, clock: Clock) -> Wiring:
    """Return the kernel's network, datelines and rule. The classes of the rule share `channels` virtual channels."""
    routing, rule = choice.form, choice.rule
    ports = routing.topology.ports
    if isinstance(routing, SourceRouting):
        port_of, wrap = routing.moves.port, routing.moves.wrap
    else:  # a direction is a port
        port_of = np.where(ports == NO_PORT, NO_PORT, np.arange(ports.shape[1])).astype(np.int8)
        wrap = np.zeros(port_of.shape, bool)
    delay, back = cycles_of(routing.topology, clock)
    both = not choice.adaptive and may_use_both_classes(routing, rule)
    capacity = flits_a_cycle(routing.topology)
    return Wiring(
        ports, port_of, wrap, delay, rule.within(channels), rule.memory, rule.shares(channels), both, capacity, back
    )


def _buffers(requested: Parameters, router: Preset, switching: str, flits: int, rule: Rule, round_trip: int) -> int:
    """Return the flits of a virtual channel's buffer: as requested, or as in the preset, or more if needed."""
    if rule.bubble and switching == "wormhole":
        raise BadInput(
            "rule bubble: expected switching virtual-cut-through or store-and-forward, got wormhole;"
            " choose one, or another rule"
        )
    needed = 1 if switching == "wormhole" else 2 * flits if rule.bubble else flits
    if needed > MAX_BUFFER:
        raise BadInput(
            f"packet_flits={flits}: expected packets that fit into buffers of {MAX_BUFFER:,} flits,"
            f" {needed:,} are needed; choose shorter ones"
        )
    if requested.buffer_flits is None:
        return max(router.buffer_flits, needed, round_trip)
    if requested.buffer_flits < needed:
        packets = "two packets" if rule.bubble else "a packet"
        raise BadInput(
            f"buffer_flits={requested.buffer_flits}: expected room for {packets} with {switching}, {needed} or more;"
            " choose larger buffers"
        )
    return requested.buffer_flits
