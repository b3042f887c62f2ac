"""What is asked: a routing and a virtual-channel rule that suit each other and the network, as spellings and as data."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from torusweep.errors import BadInput
from torusweep.networks.naming import resolve
from torusweep.networks.topology import Topology
from torusweep.routing import EXAMPLE, ROUTINGS, LayeredRouting, Routing
from torusweep.routing import routing as routing_on
from torusweep.routing.adaptive import adaptive
from torusweep.routing.forms import AdaptiveRouting
from torusweep.stages.deadlock.rules import MOST, Rule, vc_rule

OF_ESCAPES = ("none", "dateline", "bubble")
ALL: dict[str, Callable[..., Routing | AdaptiveRouting]] = {**ROUTINGS, adaptive.__name__: adaptive}


class Suited(NamedTuple):
    """A routing and a rule that suit each other, by their canonical spellings and as data, and how many virtual channels they have."""

    routing: str
    form: Routing | AdaptiveRouting
    vc_rule: str
    rule: Rule
    virtual_channels: int


def suited(topology: Topology, *, routing: str, vc_rule: str, virtual_channels: int) -> Suited:
    """Raises BadInput where a name or a parameter is wrong, where these do not suit each other, or where the routing does not
    reach every destination; builds no graph."""
    name, form = routing_of(routing, topology)
    rule_name, rule = rule_of(vc_rule, name, form)
    _check_number(virtual_channels, form)
    return Suited(name, form, rule_name, rule, virtual_channels)


def routing_spelling(spelling: str) -> str:
    """The canonical spelling of a routing, `adaptive` among them, whatever the network. Raises BadInput where it is wrong."""
    return resolve(spelling, ALL, kind="routing", example=EXAMPLE)[0]


def routing_of(spelling: str, topology: Topology) -> tuple[str, Routing | AdaptiveRouting]:
    """(canonical spelling, routing). Raises BadInput where it does not suit the network."""
    canonical, function, values = resolve(spelling, ALL, kind="routing", example=EXAMPLE)
    if canonical.partition("(")[0] == adaptive.__name__:
        return canonical, function(topology, **values)
    name, form = routing_on(canonical, topology)  # which names itself in what it refuses
    if isinstance(form, LayeredRouting):
        _check_reach(name, topology)
    return name, form


def rule_of(spelling: str, routing_name: str, form: Routing | AdaptiveRouting) -> tuple[str, Rule]:
    """(canonical spelling, rule); an adaptive routing's rule is its escape's. Raises BadInput where it does not suit the routing."""
    try:
        if not isinstance(form, AdaptiveRouting):
            return vc_rule(spelling, form)
        canonical, rule = vc_rule(spelling, form.escape)
        if canonical not in OF_ESCAPES:
            raise BadInput(
                f"rule {canonical}: expected {', '.join(OF_ESCAPES)} on the escape channels of adaptive routing; choose one of them"
            )
        return canonical, rule
    except BadInput as refusal:
        reason = str(refusal)
        raise type(refusal)(
            reason
            if not reason.startswith("rule ")
            else f"routing {routing_name} on {form.topology.spelling}: {reason}"
        ) from None


def _check_number(virtual_channels: int, form: Routing | AdaptiveRouting) -> None:
    if not 1 <= virtual_channels <= MOST:
        raise BadInput(
            f"virtual_channels={virtual_channels}: expected 1 … {MOST}; choose at least as many as the rule has classes"
        )
    if isinstance(form, AdaptiveRouting) and virtual_channels < 2:
        few = f"virtual_channels={virtual_channels}"
        raise BadInput(
            f"{few}: expected 2 or more with adaptive routing, the escape's and an adaptive one; choose 2 or more"
        )


def _check_reach(name: str, topology: Topology) -> None:
    """Whether links lead from every terminal to every other one; other routings than those along links do not suit such networks at all."""
    tail, head, _ = topology.arcs
    links = csr_array((np.ones(len(tail), np.int8), (tail, head)), shape=(topology.nodes,) * 2)
    terminals = np.unique(topology.terminals)
    _, part = np.unique(connected_components(links, connection="strong")[1][terminals], return_inverse=True)
    if part.any():
        raise BadInput(
            f"routing {name} on {topology.spelling}: some of its {len(terminals):,} terminals have no path to others;"
            " choose a connected network ('torusweep describe' counts its components)"
        )
