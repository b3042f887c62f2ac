"""A deadlock case: a routing and a virtual-channel rule on a network, after checking that they fit each other.

The module also writes a routing, under a virtual-channel rule, as the bytes of a routing table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import NamedTuple

import numpy as np
import pyarrow.csv
import scipy

from torusweep.errors import BadInput, naming
from torusweep.networks.names import name_of
from torusweep.networks.signature import resolve
from torusweep.networks.topology import Topology
from torusweep.quantities import counted
from torusweep.questions.deadlock.rules import VIRTUAL_CHANNELS, Rule, rule_spelling, vc_rule
from torusweep.routing import (
    EXAMPLE,
    OTHER_NAMES,
    ROUTINGS,
    GivenRouting,
    LayeredRouting,
    Routing,
    TableRouting,
    naming_what_fits,
)
from torusweep.routing import routing as routing_on
from torusweep.routing.faults import for_pairs, unrouted
from torusweep.routing.forms import AdaptiveRouting
from torusweep.routing.groups import progressive, ugal
from torusweep.routing.hosts import expect_hosts_end
from torusweep.routing.lattices import adaptive
from torusweep.routing.tables.as_table import rows_of, table_of
from torusweep.routing.tables.columns import columns_of
from torusweep.tables.parquet import parquet
from torusweep.traffic import GivenTraffic
from torusweep.traffic import traffic as pattern_on
from torusweep.traffic.given import Lost, delivered, lost_of

ESCAPE_RULES = ("none", "dateline", "bubble")
CHOOSING: dict[str, Callable[..., Routing]] = {choosing.__name__: choosing for choosing in (ugal, progressive)}
ALL_ROUTINGS: dict[str, Callable[..., Routing | AdaptiveRouting]] = {
    **ROUTINGS,
    **CHOOSING,
    adaptive.__name__: adaptive,
}
FORMATS = ("csv", "parquet", "matrix")


class Case(NamedTuple):
    """A routing and a rule that fit each other.

    routing, vc_rule   canonical spellings
    form, rule         routing and rule as data; under a rule that counts hops, the form is the rule's table
    virtual_channels   virtual channels of every physical channel
    own                the routing without the rule
    """

    routing: str
    form: Routing | AdaptiveRouting
    vc_rule: str
    rule: Rule
    virtual_channels: int
    own: Routing | AdaptiveRouting


def deadlock_case(topology: Topology, *, routing: str | GivenRouting, vc_rule: str, virtual_channels: int) -> Case:
    """Check the inputs and return them as a case, without building a dependency graph.

    Raises BadInput if a name or a parameter is wrong, if routing, rule and network do not fit each other, or
    if the routing does not reach every destination.
    """
    return case_of(*resolve_routing(routing, topology), vc_rule, virtual_channels)


def case_of(name: str, form: Routing | AdaptiveRouting, vc_rule: str, virtual_channels: int) -> Case:
    """Return the case of a routing that `resolve_routing` returned. Raises BadInput if the rule does not fit it."""
    rule_name, rule = resolve_rule(vc_rule, name, form)
    check_virtual_channels(virtual_channels, form)
    return Case(name, rule.form or form, rule_name, rule, virtual_channels, form)


def routing_spelling(spelling: str | GivenRouting) -> str:
    """Return the canonical spelling of a routing or of `adaptive`. Raises BadInput for a wrong name or parameter."""
    if isinstance(spelling, GivenRouting):
        return spelling.name
    return resolve(spelling, ALL_ROUTINGS, kind="routing", example=EXAMPLE, others=OTHER_NAMES)[0]


def resolve_routing(spelling: str | GivenRouting, topology: Topology) -> tuple[str, Routing | AdaptiveRouting]:
    """Return (canonical spelling, routing). Raises BadInput if the routing does not fit the network."""
    if isinstance(spelling, GivenRouting):
        name, form = routing_on(spelling, topology)
        check_reachability(name, form)
        return name, form
    with naming_what_fits(topology):
        canonical, function, values = resolve(
            spelling, ALL_ROUTINGS, kind="routing", example=EXAMPLE, others=OTHER_NAMES
        )
    if chooses(canonical) or canonical.partition("(")[0] == adaptive.__name__:
        chosen = function(topology, **values)
        expect_hosts_end(chosen)
        return canonical, chosen
    name, form = routing_on(canonical, topology)  # names the routing in its refusals
    check_reachability(name, form)
    return name, form


def for_traffic(
    topology: Topology, routing: str | GivenRouting, traffic: str | GivenTraffic | None
) -> tuple[str | GivenRouting, str | None, Lost]:
    """Return (routing for the pairs that a traffic uses, canonical spelling of the traffic, pairs without a route).

    traffic   None: all pairs of terminals that have a route
    Raises BadInput if a user's table has no route for a pair, and for any traffic with adaptive routing.
    """
    name, form = resolve_routing(routing, topology)
    lost, missing = unrouted(form)
    about = f"routing {name} on {topology.spelling}"
    if traffic is None:
        if len(missing):
            one, other = (name_of(topology, node) for node in divmod(int(missing[0]), topology.nodes))
            others = f", nor for {counted(len(missing) - 1, 'other pair')}" if len(missing) > 1 else ""
            raise BadInput(
                f"{about}: expected a route for every pair of terminals, got none at {one} towards {other}{others};"
                " add rows to its table, or links to the network, or say which `traffic` has routes for all its pairs"
            )
        return (
            (routing if isinstance(form, AdaptiveRouting) else GivenRouting(name, form)),
            None,
            lost_of(topology, lost),
        )
    if isinstance(form, AdaptiveRouting):
        raise BadInput(f"`traffic`: expected none with routing {name}, whose verdict is for all pairs; leave it out")
    spelled, pattern = pattern_on(traffic, topology)
    with naming(f"{about}, traffic {spelled}"):
        sent, found = delivered(topology, pattern, lost, missing)
        source, destination, _ = sent.at_nodes(topology.terminals, topology.nodes).pairs(np.arange(topology.nodes))
        pairs = source.astype(np.int64) * topology.nodes + destination
        return GivenRouting(name, for_pairs(form, pairs)), spelled, found


def chooses(routing: str) -> bool:
    """Return whether packets choose their route by the lengths of queues. routing: a canonical spelling."""
    return routing.partition("(")[0] in CHOOSING


def resolve_rule(spelling: str, routing_name: str, form: Routing | AdaptiveRouting) -> tuple[str, Rule]:
    """Return (canonical spelling, rule). With adaptive routing, the rule applies to the escape channels.

    Raises BadInput if the rule does not fit the routing.
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


def check_virtual_channels(virtual_channels: int, form: Routing | AdaptiveRouting) -> None:
    VIRTUAL_CHANNELS.check("virtual_channels", virtual_channels)
    if isinstance(form, AdaptiveRouting) and virtual_channels < 2:
        raise BadInput(
            f"virtual_channels={virtual_channels}: expected 2 or more with adaptive routing,"
            " one for the escape and one adaptive; choose 2 or more"
        )


def check_reachability(name: str, routing: Routing) -> None:
    """Refuse shortest paths if some terminal cannot reach another, unless the pairs without a path are known.

    Routings in directions and tables refuse such networks themselves.
    """
    topology = routing.topology
    if not isinstance(routing, LayeredRouting) or routing.lost is not None or topology.ends is not None:
        return
    tail, head, _ = topology.arcs
    links = scipy.sparse.csr_array((np.ones(len(tail), np.int8), (tail, head)), shape=(topology.nodes,) * 2)
    terminals = np.unique(topology.terminals)
    component = scipy.sparse.csgraph.connected_components(links, connection="strong")[1][terminals]
    if len(np.unique(component)) > 1:
        raise BadInput(
            f"routing {name} on {topology.spelling}: some of its {len(terminals):,} terminals have no path to others;"
            " choose a connected network ('torusweep describe' counts its components)"
        )


def routing_table(
    topology: Topology,
    *,
    routing: str | GivenRouting,
    vc_rule: str = "none",
    virtual_channels: int = 16,
    form: str = "csv",
) -> bytes:
    """Return the bytes of a file that `table(path=…)` reads as the same routing.

    vc_rule, virtual_channels   rule that gives each hop its class, which is written to the column virtual_channel
    form                        csv, parquet, or matrix (of next nodes, −1 if there is none)

    Raises BadInput if the parts do not fit each other, if the routing is adaptive, and for a matrix if a next
    node depends on more than node and destination; Refused if there are too many routes.
    """
    table = classified_table(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    if form == "matrix":
        return _matrix(table)
    columns = columns_of(topology, rows_of(table))
    if form == "parquet":
        return parquet(columns, {"topology": topology.spelling})
    sink = BytesIO()
    sink.write((",".join(columns.column_names) + "\n").encode())  # Arrow would put the names in quotes
    pyarrow.csv.write_csv(columns, sink, pyarrow.csv.WriteOptions(include_header=False, quoting_style="none"))
    return sink.getvalue()


def classified_table(
    topology: Topology, *, routing: str | GivenRouting, vc_rule: str, virtual_channels: int
) -> TableRouting:
    """Return a routing as a table with the classes of a rule. Raises the errors of `routing_table`."""
    case = deadlock_case(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    if isinstance(case.form, AdaptiveRouting) or chooses(case.routing):
        raise BadInput(
            f"routing {case.routing}: expected an oblivious routing, got one that depends on the occupancy of channels;"
            " choose another, such as minimal"
        )
    if case.rule.bubble:
        raise BadInput("rule bubble: expected classes of virtual channels, got a flow control; choose rule none")
    classes = case.rule.within(virtual_channels)
    if case.rule.form is not None:
        return replace(
            case.rule.form, kind=classes[case.rule.form.kind, 0].astype(np.int16), kinds=int(classes.max()) + 1
        )
    return table_of(case.form, classes, case.rule.memory)


def _matrix(table: TableRouting) -> bytes:
    topology = table.topology
    if table.headers is not None or (table.many > 1).any() or table.kinds > 1:
        what = "states" if table.headers is not None else "shares" if (table.many > 1).any() else "virtual channels"
        raise BadInput(
            f"--format matrix: expected a routing with one next node for each node and destination, got one with"
            f" {what}; choose --format csv"
        )
    matrix = np.full((topology.nodes, topology.nodes), -1)
    matrix[table.at, table.destination] = topology.ports[table.at, table.port]
    lines = (",".join(map(str, row)) for row in matrix.tolist())
    return ("\n".join(lines) + "\n").encode()
