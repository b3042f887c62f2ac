"""Choose a simulation's routing and virtual-channel rule: as requested, or the first proved deadlock-free."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.ends import first_forwarding
from torusweep.networks.names import name_of
from torusweep.networks.spelling import format_value
from torusweep.networks.topology import Topology
from torusweep.quantities import counted
from torusweep.questions.deadlock.record import is_proved_free, least_rule, least_virtual_channels
from torusweep.questions.deadlock.routing_case import (
    Case,
    case_of,
    chooses,
    deadlock_case,
    resolve_routing,
    routing_spelling,
)
from torusweep.questions.deadlock.rules import Rule, candidate_rules
from torusweep.questions.simulation.presets import most_flits
from torusweep.questions.simulation.routes import Choosing, choosing_of
from torusweep.routing import AS_IT_IS, GivenRouting, Routing, SourceRouting
from torusweep.routing.forms import AdaptiveRouting
from torusweep.routing.lattices import ESCAPES as ESCAPE_ROUTINGS
from torusweep.routing.paths import MAX_WHOLE_KEYS

# a simulation without a routing takes the first of these that fits the network and has a deadlock-free rule
DEFAULT_ROUTINGS = ("dimension_order", "hierarchical", "routing_record", "minimal_by_address", "up_down")
# remedies in the refusals of routings and rules: a simulation that follows them may still deadlock
GENERAL_REMEDIES = (
    *("choose minimal, which suits every network", "choose routing_record, which suits lattices"),
    *("choose rule none", "choose 2 or more"),
)


class RoutingChoice(NamedTuple):
    """The routing and the virtual-channel rule that a simulation uses.

    routing, vc_rule   canonical spellings
    form               routes that packets draw; with adaptive routing, routes among which packets choose hop by hop
    rule, virtual_channels   the rule as data, and the number of virtual channels of every physical channel
    choosing           routes among which packets choose on their way; None if each packet draws its route
    """

    routing: str
    form: Routing
    adaptive: bool
    vc_rule: str
    rule: Rule
    virtual_channels: int
    choosing: Choosing | None = None


def default_routings(topology: Topology) -> tuple[str, ...]:
    """Return the routings to try, in this order; for a network with faults, only those that avoid the failed links.

    The root of up_down is a node that works and forwards packets.
    """
    root = first_forwarding(topology)
    own = {"up_down": f"up_down(root={format_value(name_of(topology, root))})"} if root else {}
    fitting = (name for name in DEFAULT_ROUTINGS if topology.plan.whole is None or name in AS_IT_IS)
    return tuple(own.get(name, name) for name in fitting)


def fits(topology: Topology, routing: str) -> bool:
    """Return whether the routing suits the network under any rule. Unlike `choose_rule`, seek no remedy."""
    try:
        resolve_routing(routing, topology)
    except BadInput:
        return False
    return True


def check_choice(
    topology: Topology,
    routing: str | GivenRouting,
    vc_rule: str,
    virtual_channels: int,
    *,
    allow_deadlock: bool,
    skip_proof: bool = False,
) -> RoutingChoice:
    """Return the requested routing and rule, after checking that they fit each other and cannot deadlock.

    skip_proof   build no dependency graph: accept a rule that may deadlock

    Raises BadInput if the network, routing and rule do not fit each other, or if they are not proved deadlock-free and
    `allow_deadlock` is false. The message names a rule that works.
    """
    try:
        case = deadlock_case(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    except BadInput as refusal:
        raise with_remedy(refusal, topology, routing, skip_proof=skip_proof) from None
    if not (allow_deadlock or skip_proof or _is_proved_free(topology, case)):
        reason = f"rule {case.vc_rule} with {counted(virtual_channels, 'virtual channel')} is not proved deadlock-free"
        raise _deadlock_refusal(topology, case.routing, reason)
    return _choice(topology, case if skip_proof else _without_unneeded_class(topology, case))


def choose_rule(
    topology: Topology,
    routing: str | GivenRouting,
    virtual_channels: int,
    *,
    at_least: bool,
    cut_through: bool,
    allow_deadlock: bool,
    optional: bool = False,
) -> RoutingChoice | None:
    """Return the first virtual-channel rule that is proved deadlock-free for a routing.

    at_least      whether to use more virtual channels if the given number does not suffice
    cut_through   whether switching is virtual cut-through; adaptive routing may then use the rule bubble
    optional      whether to return None, without seeking a remedy, if no number of virtual channels suffices

    Raises BadInput if no rule is proved deadlock-free; with allow_deadlock, rule none is returned instead.
    """
    try:
        name, form = resolve_routing(routing, topology)
    except BadInput as refusal:
        raise with_remedy(refusal, topology, routing) from None
    bubble = ["bubble"] if cut_through and _is_adaptive(routing) else []
    for rule in (*bubble, *candidate_rules(form)):
        try:
            case = case_of(name, form, rule, virtual_channels)
        except BadInput:
            continue
        if _is_proved_free(topology, case):
            return _choice(topology, _without_unneeded_class(topology, case))
    least, rule_of_least, _ = least_virtual_channels(name, form, {})
    if at_least and rule_of_least is not None and least is not None and least > virtual_channels:
        return check_choice(topology, routing, rule_of_least, least, allow_deadlock=allow_deadlock)
    if allow_deadlock:
        return check_choice(topology, routing, "none", virtual_channels, allow_deadlock=True)
    if optional and rule_of_least is None:
        return None
    raise _deadlock_refusal(
        topology, routing, f"no rule is proved deadlock-free with virtual_channels={virtual_channels}"
    )


def may_use_both_classes(routing: Routing, rule: Rule) -> bool:
    """Return whether packets that do not cross a ring's dateline may also use the ring's nearly empty second class.

    They may if the rule separates classes by datelines and is deadlock-free, and if in each phase every route
    uses each axis once, in an order of axes that all routes of the phase share. A run that crosses no dateline
    then requests the channels of both classes of its line in the order in which packets pass them.
    """
    if (
        not isinstance(routing, SourceRouting)
        or rule.memory not in ("run", "axis")
        or (rule.classes[:, 0] == rule.classes[:, 1]).all()
    ):
        return False
    if routing.keys > MAX_WHOLE_KEYS:
        return False  # too many routes to examine
    _, _, direction, hops, phase = routing.routes(np.arange(routing.keys))
    axes = routing.moves.port.shape[1] // 2
    before = np.zeros((routing.phases, axes, axes), bool)  # some route of the phase uses one axis before the other
    for later in range(1, direction.shape[1]):
        for earlier in range(later):
            both = (hops[:, earlier] > 0) & (hops[:, later] > 0) & (phase[:, earlier] == phase[:, later])
            before[phase[both, later], direction[both, earlier] // 2, direction[both, later] // 2] = True
    order = before.copy()
    for middle in range(axes):
        order |= order[:, :, middle, None] & order[:, middle, None, :]
    return not order.diagonal(axis1=1, axis2=2).any()


def with_remedy(
    refusal: BadInput, topology: Topology, routing: str | GivenRouting, *, skip_proof: bool = False
) -> BadInput:
    """Return the refusal with a working remedy in place of any of `GENERAL_REMEDIES`, or unchanged if none is found.

    skip_proof   build no dependency graph to find a remedy
    """
    text = str(refusal)
    for general in GENERAL_REMEDIES:
        if text.endswith(general):
            instead = "leave out routing and rule to get defaults that work"
            return BadInput(text.removesuffix(general) + (instead if skip_proof else remedy(topology, routing)))
    return refusal


def remedy(topology: Topology, routing: str | GivenRouting) -> str:
    """Suggest a rule, or a routing with a rule, that is proved deadlock-free; if there is none, suggest allow_deadlock.

    Raises BadInput if no routing fits the network because some nodes cannot reach others.
    """
    fitting: list[str | GivenRouting] = []
    links = most_flits(topology)
    names: dict[str | GivenRouting, None] = dict.fromkeys([routing, *default_routings(topology), "minimal"])
    for name in names:
        try:
            number, rule = least_rule(topology, name)
        except BadInput as refusal:
            last_refusal = refusal
            continue
        fitting.append(name)
        other = "" if name == routing else f"routing {routing_spelling(name)} with "
        if rule is not None and number is not None and _proves(topology, name, rule, number):
            return f"choose {other}rule {rule} with {counted(max(number, links), 'virtual channel')} or more"
        if _is_adaptive(name) and _proves(topology, name, "bubble", 2):
            channels = counted(max(2, links), "virtual channel")
            return f"choose {other}rule bubble with switching virtual-cut-through and {channels} or more"
    if not fitting:
        raise last_refusal
    other = "" if routing in fitting else f" with routing {routing_spelling(fitting[0])}"
    return f"allow deadlock{other}, since no routing is proved deadlock-free"


def _proves(topology: Topology, routing: str | GivenRouting, vc_rule: str, virtual_channels: int) -> bool:
    case = deadlock_case(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    return _is_proved_free(topology, case)


def _deadlock_refusal(topology: Topology, routing: str | GivenRouting, reason: str) -> BadInput:
    instead = remedy(topology, routing)
    alternative = "" if instead.startswith("allow") else ", or allow deadlock"
    return BadInput(
        f"routing {routing_spelling(routing)} on {topology.spelling}: {reason}; {instead}{alternative}"
        " (`allow_deadlock`; 'torusweep deadlock' says more)"
    )


def _without_unneeded_class(topology: Topology, case: Case) -> Case:
    """Drop the case's highest class if the case is proved deadlock-free without it; other classes share its channels.

    Rule r05_phases, for example, has a class for the dateline in the destination's module. The class is not needed if
    modules are meshes, or have four nodes a side.
    """
    highest = case.rule.number - 1
    if highest < 2 or case.virtual_channels <= highest:
        return case
    fewer = case._replace(rule=case.rule._replace(classes=case.rule.within(highest)), virtual_channels=highest)
    return case._replace(rule=fewer.rule) if _is_proved_free(topology, fewer) else case


def _is_proved_free(topology: Topology, case: Case) -> bool:
    """Return whether the dependency graph proves that the routing, as it is simulated, is deadlock-free."""
    if not is_proved_free(case):
        return False
    if not isinstance(case.form, AdaptiveRouting) or case.rule.bubble:
        return True
    # The proof is for escapes that take one direction at half a ring; simulated packets draw either direction. Each
    # direction is an escape by itself. Both together leave the dependencies of rings unchanged, unless rings are
    # twisted: then a turn at another place leads to another position in the ring.
    escape, form = _escape_routing(topology, case.routing)
    return escape == "dimension_order" or not form.moves.wrap.any()


def _choice(topology: Topology, case: Case) -> RoutingChoice:
    adaptive = isinstance(case.form, AdaptiveRouting)
    form = _escape_routing(topology, case.routing)[1] if isinstance(case.form, AdaptiveRouting) else case.form
    choosing = choosing_of(case.routing, topology, case.rule.counted) if chooses(case.routing) else None
    return RoutingChoice(case.routing, form, adaptive, case.vc_rule, case.rule, case.virtual_channels, choosing)


def _escape_routing(topology: Topology, adaptive: str) -> tuple[str, SourceRouting]:
    """Return (name, routing) of an adaptive routing's escape. Ties are split, as packets choose hop by hop."""
    refusal = BadInput(f"routing {adaptive}: expected escape={' or '.join(ESCAPE_ROUTINGS)}; choose one of these")
    for name in ESCAPE_ROUTINGS:
        if "escape=" in adaptive and f"escape={name}" not in adaptive:
            continue
        try:
            form = ESCAPE_ROUTINGS[name](topology)
        except BadInput as error:
            refusal = error
            continue
        return name, form
    raise refusal


def _is_adaptive(spelling: str | GivenRouting) -> bool:
    return isinstance(spelling, str) and routing_spelling(spelling).partition("(")[0] == "adaptive"
