"""What a simulation is of: names and numbers settled, checked against each other, and turned into the kernel's arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from kernels.network import Router, Wiring
from pipeline.deadlock import ALL, TRIED, judged, least_rule, routing_spelling, rule_spelling
from pipeline.deadlock.rules import Rule, vc_rule
from pipeline.errors import BadInput, Refused
from pipeline.routing import EXAMPLE, LayeredRouting, SourceRouting
from pipeline.routing import routing as routing_on
from pipeline.routing.forms import AdaptiveRouting
from pipeline.simulation.packets import INJECTIONS
from pipeline.simulation.presets import Preset, preset
from pipeline.topology import Topology
from pipeline.traffic import Traffic
from pipeline.traffic import canonical as traffic_spelling
from pipeline.traffic import traffic as pattern_on

SWITCHINGS = ("wormhole", "virtual-cut-through", "store-and-forward")
USUAL = ("dimension_order", "hierarchical", "routing_record", "minimal_by_address", "up_down")  # the first that suits is the default
ESCAPES = ("dimension_order", "routing_record")


@dataclass(frozen=True)
class Parameters:
    """What is asked for besides the network and the loads; None: as the router's preset has it, or as suits the network.

    router     a preset's name
    routing, vc_rule, traffic   spellings
    cycles     of every run
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
    traffic: str = "uniform"
    injection: str | None = None
    cycles: int = 10_000
    warm_up: int | None = None
    allow_deadlock: bool = False

    def canonical(self) -> Parameters:
        """The same in canonical spellings, numbers checked. Raises BadInput where a name or a number is wrong, whatever the network."""
        preset(self.router)
        for name, value, least, most in (
            ("virtual_channels", self.virtual_channels, 1, 16),
            ("buffer_flits", self.buffer_flits, 1, 1 << 20),
            ("packet_flits", self.packet_flits, 1, 1 << 14),
            ("cycles", self.cycles, 1, 1 << 30),
            ("warm_up", self.warm_up, 0, self.cycles - 1),
        ):
            if value is not None and not least <= value <= most:
                raise BadInput(f"{name}={value}: expected {least:,} … {most:,}; choose one of these")
        for name, word, known in (("switching", self.switching, SWITCHINGS), ("injection", self.injection, INJECTIONS)):
            if word is not None and word not in known:
                raise BadInput(f"{name}={word}: expected one of {', '.join(known)}; choose one of these")
        return replace(
            self,
            routing=None if self.routing is None else routing_spelling(self.routing),
            vc_rule=None if self.vc_rule is None else rule_spelling(self.vc_rule),
            traffic=traffic_spelling(self.traffic),
        )


class Setup(NamedTuple):
    """A simulation's network, traffic and router.

    inputs     the columns of the table that say what was simulated, by name
    routes     routes that packets draw at the source; of adaptive routing the runs among which they choose on the way
    """

    topology: Topology
    parameters: Parameters
    inputs: dict[str, object]
    traffic: Traffic
    routes: SourceRouting
    wiring: Wiring
    router: Router

    @property
    def flits(self) -> int:
        """Length of a packet."""
        return int(self.parameters.packet_flits or 1)


def set_up(topology: Topology, parameters: Parameters) -> Setup:
    """Everything settled. Raises BadInput where the parts do not suit each other or may lock up, Refused where that cannot be told."""
    if topology.capacity is not None and topology.capacity.max(initial=1) > 1:
        raise BadInput(f"simulation of {topology.spelling}: expected single links, got parallel ones; choose a network without them")
    asked = parameters.canonical()
    made = preset(asked.router)
    pattern_name, pattern = pattern_on(asked.traffic, topology)
    switching, flits = asked.switching or made.switching, asked.packet_flits or made.packet_flits
    routing_name, vc_name, channels, rule, routes = _deadlock_free(topology, asked, made, switching)
    adaptive = routing_name.partition("(")[0] == "adaptive"
    buffers = _buffers(asked, made, switching, flits, rule)
    escape = min(rule.number, channels - 1) if adaptive else channels
    router = Router(
        **{name: getattr(made, name) for name in ("route_delay", "vc_delay", "switch_delay", "credit_delay", "transit_first")},
        **{"virtual_channels": channels, "buffer_flits": buffers, "switching": switching, "adaptive": adaptive, "escape": escape},
        **{"bubble": rule.bubble, "injection_flits": 1, "ejection_flits": 1},
    )
    settled = replace(
        asked,
        **{"routing": routing_name, "vc_rule": vc_name, "virtual_channels": channels, "buffer_flits": buffers, "packet_flits": flits},
        **{"switching": switching, "traffic": pattern_name, "injection": asked.injection or made.injection},
    )
    inputs = {"topology": topology.spelling, **asdict(settled)}
    return Setup(topology, settled, inputs, pattern, routes, _wiring(routes, rule, escape), router)


def _wiring(routes: SourceRouting, rule: Rule, channels: int) -> Wiring:
    """The network, its datelines and the rule as the kernel takes them; `channels` are shared out among the rule's classes."""
    ports = routes.topology.ports
    return Wiring(
        to=ports,
        port_of=routes.moves.port,
        wrap=routes.moves.wrap,
        delay=np.ones(ports.shape, np.int16),
        classes=rule.within(channels),
        memory=rule.memory,
        shares=rule.shares(channels),
    )


def _buffers(asked: Parameters, made: Preset, switching: str, flits: int, rule: Rule) -> int:
    """Flits of a virtual channel's buffer: as asked for, or as the preset has it and the switching needs it."""
    needed = 1 if switching == "wormhole" else 2 * flits if rule.bubble else flits
    if rule.bubble and switching != "virtual-cut-through":
        raise BadInput(f"rule bubble: expected switching virtual-cut-through, got {switching}; choose that, or another rule")
    if asked.buffer_flits is None:
        return max(made.buffer_flits, needed)
    if asked.buffer_flits < needed:
        packets = "two packets" if rule.bubble else "a packet"
        raise BadInput(f"buffer_flits={asked.buffer_flits}: expected room for {packets} with {switching}, {needed} or more; choose larger buffers")
    return asked.buffer_flits


def _deadlock_free(topology: Topology, asked: Parameters, made: Preset, switching: str) -> tuple[str, str, int, Rule, SourceRouting]:
    """(routing, rule, virtual channels, the rule, routes): as asked for, or such that nothing can lock up.

    Raises BadInput, naming a rule that works, where what is asked for may (unless allow_deadlock).
    """
    routing = asked.routing or made.routing or _usual(topology)
    many = asked.virtual_channels or made.virtual_channels
    given = asked.vc_rule or (made.vc_rule if switching == made.switching else None)
    reason = "it may lock up"
    for rule_name in [given] if given else list(_candidates(routing, switching)):
        try:
            name, routes, spelled, rule, free = _judged(topology, routing, rule_name, many)
        except Refused:
            if not (given and asked.allow_deadlock):
                raise
            name, routes, spelled, rule, free = *_form(topology, routing), *_rule(topology, routing, rule_name), False
        except BadInput:
            if given:
                raise
            continue
        if free or (given and asked.allow_deadlock):
            return name, spelled, many, rule, routes
        reason = f"under rule {spelled} with {many} virtual channel{'s' * (many > 1)} it may lock up"
    least, working = least_rule(topology, routing)
    if given is None and asked.virtual_channels is None and least is not None and least > many:
        return _deadlock_free(topology, replace(asked, virtual_channels=least), made, switching)
    if given is None and asked.allow_deadlock:
        return _deadlock_free(topology, replace(asked, vc_rule="none"), made, switching)
    remedy = f"choose rule {working} with {least} virtual channels or more" if working else "choose another routing"
    if _is_adaptive(routing) and working is None:
        remedy = "choose rule bubble with switching virtual-cut-through"
    raise BadInput(f"routing {routing} on {topology.spelling}: {reason}: {remedy}, or allow deadlock ('torusweep deadlock' shows the cycle)")


def _candidates(routing: str, switching: str) -> Iterator[str]:
    if _is_adaptive(routing) and switching == "virtual-cut-through":
        yield "bubble"
    yield from TRIED


def _judged(topology: Topology, routing: str, rule: str, channels: int) -> tuple[str, SourceRouting, str, Rule, bool]:
    """(routing, routes, rule's name, rule, whether they are shown to be free of deadlock)."""
    said = judged(topology, routing=routing, vc_rule=rule, virtual_channels=channels)
    name, routes = _form(topology, routing)
    free = said.verdict.deadlock_free == "yes"
    if isinstance(said.form, AdaptiveRouting) and free:
        # packets draw which way round at half a ring; the verdict on the escape is about one way
        free = judged(topology, routing=_escape(topology, name)[0], vc_rule=rule, virtual_channels=channels - 1).verdict.deadlock_free == "yes"
        # a class is told by the datelines passed, which lie at one digit of every ring only where no ring is twisted
        free &= said.rule.bubble or not routes.moves.wrap.any() or _escape(topology, name)[0] == "dimension_order"
    return name, routes, said.vc_rule, said.rule, free


def _form(topology: Topology, spelling: str) -> tuple[str, SourceRouting]:
    """(canonical spelling, routes that packets draw)."""
    canonical = routing_spelling(spelling)
    if _is_adaptive(canonical):
        return canonical, _escape(topology, canonical)[1]
    canonical, form = routing_on(canonical, topology)
    if isinstance(form, LayeredRouting):
        raise BadInput(
            f"routing {canonical} on {topology.spelling}: expected one whose routes are settled at the source as runs, got shortest paths over states;"
            f" choose {_usual(topology, but_layered=True)} or adaptive"
        )
    return canonical, form


def _rule(topology: Topology, routing: str, rule: str) -> tuple[str, Rule]:
    return vc_rule(rule, _form(topology, routing)[1])


def _escape(topology: Topology, adaptive: str) -> tuple[str, SourceRouting]:
    """The routing of adaptive routing's records, ties split: (name, form)."""
    refusal = BadInput(f"routing {adaptive}: expected escape={' or '.join(ESCAPES)}; choose one of these")
    for name in ESCAPES:
        if "escape=" in adaptive and f"escape={name}" not in adaptive:
            continue
        try:
            return name, routing_on(name, topology)[1]  # type: ignore[return-value]  # both are routes from the source
        except BadInput as error:
            refusal = error
    raise refusal


def _usual(topology: Topology, *, but_layered: bool = False) -> str:
    for name in USUAL[: -1 if but_layered else None]:
        try:
            routing_on(name, topology)
        except BadInput:
            continue
        return name
    raise BadInput(f"simulation of {topology.spelling}: no routing suits it; choose another network ({', '.join(ALL)}, written as {EXAMPLE})")


def _is_adaptive(spelling: str) -> bool:
    return spelling.strip().startswith("adaptive")
