"""Which routing and virtual-channel rule a simulation takes: what is asked for, or what suits the network, and cannot lock up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from torusweep.counts import counted
from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.routing import Routing, SourceRouting
from torusweep.routing import routing as routing_on
from torusweep.routing.forms import AdaptiveRouting
from torusweep.routing.route_table import MAX_WHOLE_KEYS
from torusweep.stages.deadlock import CANDIDATE_RULES, Case, deadlock_case, is_proved_free, least_rule, routing_spelling
from torusweep.stages.deadlock.rules import Rule

USUAL = (
    "dimension_order",
    "hierarchical",
    "routing_record",
    "minimal_by_address",
    "up_down",
)  # the default: the first that suits and cannot lock up
ESCAPES = ("dimension_order", "routing_record")
# what routings and rules advise that know nothing of the simulation: it may lock up there
ADVICE = ("choose minimal, which suits every network", "choose rule none", "choose 2 or more")


class Choice(NamedTuple):
    """routing, vc_rule: canonical spellings; form: what packets draw their routes from; rule, virtual_channels: who may use which."""

    routing: str
    form: Routing
    adaptive: bool
    vc_rule: str
    rule: Rule
    virtual_channels: int


def chosen(
    topology: Topology,
    routing: str,
    vc_rule: str,
    virtual_channels: int,
    *,
    allow_deadlock: bool,
    unproved: bool = False,
) -> Choice:
    """What is asked for. Raises BadInput, naming a rule that works, where it is not shown to be free of deadlock (unless that is allowed).

    unproved   look at no dependency graph
    """
    try:
        what = deadlock_case(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    except BadInput as refusal:
        raise advised(refusal, topology, routing, unproved=unproved) from None
    if not (allow_deadlock or unproved or _shown_free(topology, what)):
        reason = f"under rule {what.vc_rule} with {counted(virtual_channels, 'virtual channel')} it is not shown to be free of deadlock"
        raise _may_lock_up(topology, what.routing, reason)
    return _choice(topology, what if unproved else _without_spare_class(topology, what))


def suitable(
    topology: Topology, routing: str, virtual_channels: int, *, at_least: bool, cut_through: bool, allow_deadlock: bool
) -> Choice:
    """The first rule that keeps a routing from locking up.

    at_least      more virtual channels may be taken, where so many do not suffice
    cut_through   switching is virtual cut-through, so that bubble will do for adaptive routing
    Raises BadInput where there is none (unless deadlock is allowed: then rule none).
    """
    for rule in _candidates(routing, cut_through):
        try:
            what = deadlock_case(topology, routing=routing, vc_rule=rule, virtual_channels=virtual_channels)
        except BadInput:
            continue
        if _shown_free(topology, what):
            return _choice(topology, _without_spare_class(topology, what))
    try:
        least, working = least_rule(topology, routing)
    except BadInput as refusal:
        raise advised(refusal, topology, routing) from None
    if at_least and working is not None and least is not None and least > virtual_channels:
        return chosen(topology, routing, working, least, allow_deadlock=allow_deadlock)
    if allow_deadlock:
        return chosen(topology, routing, "none", virtual_channels, allow_deadlock=True)
    raise _may_lock_up(
        topology, routing, f"no rule is shown to keep it free of deadlock with virtual_channels={virtual_channels}"
    )


def balanced(routing: Routing, rule: Rule) -> bool:
    """Whether packets that will not cross a ring's dateline may use the class behind it, too; it is all but empty without them.

    So it is where a rule that keeps routes free of deadlock tells classes by datelines, and every route goes along
    each axis once in a phase, in the same order of axes in all routes of that phase: then the channels of both classes of a
    line, along which such a run goes once and which no dateline interrupts, stay in the order in which packets pass them.
    """
    if (
        not isinstance(routing, SourceRouting)
        or rule.memory not in ("run", "axis")
        or (rule.classes[:, 0] == rule.classes[:, 1]).all()
    ):
        return False
    if routing.keys > MAX_WHOLE_KEYS:
        return False  # not looked at
    _, _, direction, hops, phase = routing.routes(np.arange(routing.keys))
    axes = routing.moves.port.shape[1] // 2
    before = np.zeros(
        (routing.phases, axes, axes), bool
    )  # some route of the phase goes along one axis before the other
    for later in range(1, direction.shape[1]):
        for earlier in range(later):
            both = (hops[:, earlier] > 0) & (hops[:, later] > 0) & (phase[:, earlier] == phase[:, later])
            before[phase[both, later], direction[both, earlier] // 2, direction[both, later] // 2] = True
    order = before.copy()
    for middle in range(axes):
        order |= order[:, :, middle, None] & order[:, middle, None, :]
    return not order.diagonal(axis1=1, axis2=2).any()


def advised(refusal: BadInput, topology: Topology, routing: str, *, unproved: bool = False) -> BadInput:
    """The same refusal with something that works in place of `ADVICE`; as it is where it advises on something else.

    unproved   look at no dependency graph
    """
    text = str(refusal)
    for advice in ADVICE:
        if text.endswith(advice):
            instead = (
                "leave out routing and rule, so that some that work are taken"
                if unproved
                else remedy(topology, routing)
            )
            return BadInput(text.removesuffix(advice) + instead)
    return refusal


def remedy(topology: Topology, routing: str) -> str:
    """What to choose in place of a routing, or for it, so that nothing locks up; allowing that where nothing else helps.

    Raises BadInput where no routing suits the network, since its nodes do not all reach each other.
    """
    suiting: list[str] = []
    links = 1 if topology.capacity is None else int(topology.capacity.max(initial=1))
    for name in dict.fromkeys([routing, *USUAL, "minimal"]):
        try:
            number, rule = least_rule(topology, name)
        except BadInput as refusal:
            unsuited = refusal
            continue
        suiting.append(name)
        other = "" if name == routing else f"routing {name} with "
        if rule is not None and number is not None and _works(topology, name, rule, number):
            return f"choose {other}rule {rule} with {counted(max(number, links), 'virtual channel')} or more"
        if _is_adaptive(name) and _works(topology, name, "bubble", 2):
            return f"choose {other}rule bubble with switching virtual-cut-through and {counted(max(2, links), 'virtual channel')} or more"
    if not suiting:
        raise unsuited
    return f"allow deadlock{'' if routing in suiting else f' with routing {suiting[0]}'}, there being no routing that is shown to be free of it"


def _works(topology: Topology, routing: str, vc_rule: str, virtual_channels: int) -> bool:
    return _shown_free(
        topology, deadlock_case(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    )


def _may_lock_up(topology: Topology, routing: str, reason: str) -> BadInput:
    instead = remedy(topology, routing)
    allowing = "" if instead.startswith("allow") else ", or allow deadlock"
    return BadInput(
        f"routing {routing} on {topology.spelling}: {reason}; {instead}{allowing} ('torusweep deadlock' says more)"
    )


def _candidates(routing: str, cut_through: bool) -> Iterator[str]:
    if _is_adaptive(routing) and cut_through:
        yield "bubble"
    yield from CANDIDATE_RULES


def _without_spare_class(topology: Topology, what: Case) -> Case:
    """The rule without its highest class where nothing can lock up without that either: its virtual channels are the others' then.

    So r05_phases keeps a class for a dateline in the destination's module, which modules of mesh and those of four nodes a side do not need.
    """
    highest = what.rule.number - 1
    if highest < 2 or what.virtual_channels <= highest:
        return what
    fewer = what._replace(rule=what.rule._replace(classes=what.rule.within(highest)), virtual_channels=highest)
    return what._replace(rule=fewer.rule) if _shown_free(topology, fewer) else what


def _shown_free(topology: Topology, what: Case) -> bool:
    """Whether nothing can lock up, as far as the dependency graph shows."""
    if not is_proved_free(what):
        return False
    if not isinstance(what.form, AdaptiveRouting) or what.rule.bubble:
        return True
    # the verdict is about escapes that go one way at half a ring, but packets draw which: either is an escape by itself, and
    # with both no ring's dependencies change, unless rings are twisted, so that turning elsewhere leads to another place of the ring
    escape, records = _records(topology, what.routing)
    return escape == "dimension_order" or not records.moves.wrap.any()


def _choice(topology: Topology, what: Case) -> Choice:
    adaptive = isinstance(what.form, AdaptiveRouting)
    form = _records(topology, what.routing)[1] if isinstance(what.form, AdaptiveRouting) else what.form
    return Choice(what.routing, form, adaptive, what.vc_rule, what.rule, what.virtual_channels)


def _records(topology: Topology, adaptive: str) -> tuple[str, SourceRouting]:
    """Among whose runs packets choose on the way: those of the escape's routing, ties split; with its name."""
    refusal = BadInput(f"routing {adaptive}: expected escape={' or '.join(ESCAPES)}; choose one of these")
    for name in ESCAPES:
        if "escape=" in adaptive and f"escape={name}" not in adaptive:
            continue
        try:
            form = routing_on(name, topology)[1]
        except BadInput as error:
            refusal = error
            continue
        assert isinstance(form, SourceRouting)
        return name, form
    raise refusal


def _is_adaptive(spelling: str) -> bool:
    return routing_spelling(spelling).partition("(")[0] == "adaptive"
