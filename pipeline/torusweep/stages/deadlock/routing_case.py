"""A deadlock case: a routing and a virtual-channel rule on a network, checked to fit each other."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

import numpy as np
import scipy

from torusweep.errors import BadInput
from torusweep.networks.signature import resolve
from torusweep.networks.topology import Topology
from torusweep.routing import EXAMPLE, OTHER_NAMES, ROUTINGS, GivenRouting, LayeredRouting, Routing
from torusweep.routing import routing as routing_on
from torusweep.routing.forms import AdaptiveRouting
from torusweep.routing.groups import progressive, ugal
from torusweep.routing.lattices import adaptive
from torusweep.stages.deadlock.rules import MAX_VIRTUAL_CHANNELS, Rule, rule_spelling, vc_rule

ESCAPE_RULES = ("none", "dateline", "bubble")
CHOOSING: dict[str, Callable[..., Routing]] = {choosing.__name__: choosing for choosing in (ugal, progressive)}
ALL_ROUTINGS: dict[str, Callable[..., Routing | AdaptiveRouting]] = {
    **ROUTINGS,
    **CHOOSING,
    adaptive.__name__: adaptive,
}


class Case(NamedTuple):
    """A routing and a rule that fit each other.

    routing, vc_rule   canonical spellings
    form, rule         the same two as data; with a rule that counts hops, the form is its table
    virtual_channels   of every physical channel
    own                the routing without the rule
    """

    routing: str
    form: Routing | AdaptiveRouting
    vc_rule: str
    rule: Rule
    virtual_channels: int
    own: Routing | AdaptiveRouting


def deadlock_case(topology: Topology, *, routing: str | GivenRouting, vc_rule: str, virtual_channels: int) -> Case:
    """Check the inputs and return them as a case. Builds no dependency graph.

    Raises BadInput where a name or a parameter is wrong, where routing, rule and network do not fit each
    other, or where the routing does not reach every destination.
    """
    name, form = resolve_routing(routing, topology)
    rule_name, rule = resolve_rule(vc_rule, name, form)
    _check_virtual_channels(virtual_channels, form)
    return Case(name, rule.form or form, rule_name, rule, virtual_channels, form)


def routing_spelling(spelling: str | GivenRouting) -> str:
    """The canonical spelling of a routing or of `adaptive`. Raises BadInput where name or parameters are wrong."""
    if isinstance(spelling, GivenRouting):
        return spelling.name
    return resolve(spelling, ALL_ROUTINGS, kind="routing", example=EXAMPLE, others=OTHER_NAMES)[0]


def resolve_routing(spelling: str | GivenRouting, topology: Topology) -> tuple[str, Routing | AdaptiveRouting]:
    """(canonical spelling, routing). Raises BadInput where the routing does not fit the network."""
    if isinstance(spelling, GivenRouting):
        name, form = routing_on(spelling, topology)
        if isinstance(form, LayeredRouting):
            check_reachability(name, topology)
        return name, form
    canonical, function, values = resolve(spelling, ALL_ROUTINGS, kind="routing", example=EXAMPLE, others=OTHER_NAMES)
    if chooses(canonical) or canonical.partition("(")[0] == adaptive.__name__:
        return canonical, function(topology, **values)
    name, form = routing_on(canonical, topology)  # names the routing in its refusals
    if isinstance(form, LayeredRouting):
        check_reachability(name, topology)
    return name, form


def chooses(routing: str) -> bool:
    """Whether a routing, by its canonical spelling, is one of those whose packets choose a route by the queues."""
    return routing.partition("(")[0] in CHOOSING


def resolve_rule(spelling: str, routing_name: str, form: Routing | AdaptiveRouting) -> tuple[str, Rule]:
    """(canonical spelling, rule). With adaptive routing, the rule is that of the escape channels.

    Raises BadInput where the rule does not fit the routing.
    """
    try:
        if not isinstance(form, AdaptiveRouting):
            return vc_rule(spelling, form)
        canonical = rule_spelling(spelling)
        if canonical not in ESCAPE_RULES:
            raise BadInput(
                f"rule {canonical}: expected {', '.join(ESCAPE_RULES)} on the escape channels of adaptive routing;"
                " choose one of them"
            )
        return vc_rule(spelling, form.escape)
    except BadInput as refusal:
        reason = str(refusal)
        if reason.startswith("rule "):
            reason = f"routing {routing_name} on {form.topology.spelling}: {reason}"
        raise type(refusal)(reason) from None


def _check_virtual_channels(virtual_channels: int, form: Routing | AdaptiveRouting) -> None:
    if not isinstance(virtual_channels, Integral) or not 1 <= virtual_channels <= MAX_VIRTUAL_CHANNELS:
        raise BadInput(
            f"virtual_channels={virtual_channels!r}: expected 1 … {MAX_VIRTUAL_CHANNELS};"
            " choose at least as many as the rule has classes"
        )
    if isinstance(form, AdaptiveRouting) and virtual_channels < 2:
        raise BadInput(
            f"virtual_channels={virtual_channels}: expected 2 or more with adaptive routing,"
            " one for the escape and one adaptive; choose 2 or more"
        )


def check_reachability(name: str, topology: Topology) -> None:
    """Refuse a network in which some terminal cannot reach another; routings in directions refuse it themselves."""
    tail, head, _ = topology.arcs
    links = scipy.sparse.csr_array((np.ones(len(tail), np.int8), (tail, head)), shape=(topology.nodes,) * 2)
    terminals = np.unique(topology.terminals)
    component = scipy.sparse.csgraph.connected_components(links, connection="strong")[1][terminals]
    if len(np.unique(component)) > 1:
        raise BadInput(
            f"routing {name} on {topology.spelling}: some of its {len(terminals):,} terminals have no path to others;"
            " choose a connected network ('torusweep describe' counts its components)"
        )
