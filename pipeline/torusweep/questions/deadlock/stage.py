"""The stage `deadlock`: the channel dependency graph of a routing under a virtual-channel rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from rich.console import Console

from torusweep.errors import BadInput
from torusweep.networks.topology import Meaning, Topology
from torusweep.quantities import counted
from torusweep.questions.answer import Answer, Record, Row
from torusweep.questions.console import NO_ROUTE, print_circle
from torusweep.questions.deadlock.certificate import certified_case, deadlock_certificate
from torusweep.questions.deadlock.columns import DEADLOCK, TABLE
from torusweep.questions.deadlock.layers import CYCLIC, Layers, Remedy, remedy_of
from torusweep.questions.deadlock.layers import layers as layers_of
from torusweep.questions.deadlock.printed import layers_said, remedy_said
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.deadlock.routing_case import check_virtual_channels, for_traffic, resolve_routing, resolve_rule
from torusweep.questions.deadlock.rules import MOST_ROUTERS, VIRTUAL_CHANNELS
from torusweep.questions.display import Fact, value_text
from torusweep.questions.heeds import BY_LATENCY, BY_WEIGHT, heeds
from torusweep.questions.how import How
from torusweep.questions.parameters import NOT_SWEPT, Absent, Spelled, Swept
from torusweep.questions.question import CERTIFICATE, File, Question
from torusweep.questions.spelled import TRAFFIC
from torusweep.questions.stage import LazyNetwork, Rows
from torusweep.routing import SHORTEST_PATHS, GivenRouting, Routing
from torusweep.routing.forms import AdaptiveRouting
from torusweep.routing.tables.as_table import rows_of
from torusweep.routing.tables.columns import columns_of
from torusweep.traffic import GivenTraffic

TWO_PASSES = ("valiant",)  # routings by way of a random node
HOPS_OF_A_PAIR = 1e-5  # seconds for each pair of routers if rules that count hops are tried
WINDOW_HOP = 3e-5  # seconds for each hop of a line or ring, whose windows of routes are examined one by one
ROUTING = Spelled(
    "how packets are routed",
    table="torusweep.questions.deadlock.routing_case:ALL_ROUTINGS",
    title="Routings",
    canonical="torusweep.questions.deadlock.routing_case:routing_spelling",
    files="torusweep.routing:files_of",
    given="torusweep.routing.tables.objects:routing_of",
)
VC_RULE = Spelled(
    "rule for the virtual channels that packets may use",
    table="torusweep.questions.deadlock.rules:RULES",
    title="Virtual-channel rules",
    canonical="torusweep.questions.deadlock.rules:rule_spelling",
)


@dataclass(frozen=True, repr=False, eq=False)
class Layered(Answer):
    """A division of paths among layers of virtual channels: at least `lower` layers are needed, `upper` are enough."""

    found: Layers

    @property
    def lower(self) -> int:
        """Lower bound of the number of layers into which the paths can be divided."""
        return self.found.lower

    @property
    def upper(self) -> int:
        """Number of layers of the division that was found; as many virtual channels suffice."""
        return self.found.upper

    @property
    def record(self) -> Row:
        """The bounds, and the number of paths in each layer."""
        return self.found.record

    @property
    def table(self) -> pa.Table:
        """A table of all pairs of terminals: source, destination, layer."""
        return self.found.table

    def heading(self) -> str:
        return f"{self.found.topology}, {self.found.routing}"

    def lines(self) -> list[Fact]:
        record = self.record
        return [
            ("layers", value_text(self.upper), "virtual channels that are enough: each layer is free of cycles"),
            ("least_layers", value_text(self.lower), "no assignment has fewer"),
            ("paths", ", ".join(map(value_text, record["paths"])), "pairs of terminals in each layer"),
            ("method", record["method"], ""),
        ]


@dataclass(frozen=True, repr=False, eq=False)
class Deadlock(Record):
    """Whether packets can deadlock, with a proof or a cycle: a row of the table `deadlock`.

    layered   the division of the paths into layers; None if it was not requested
    remedy    virtual channels that break the cycles if no rule does; None if not needed, or not found
    """

    network: Topology = field(kw_only=True)
    layered: Layered | None = field(default=None, kw_only=True)
    remedy: Remedy | None = field(default=None, kw_only=True)
    labels: tuple[Any, ...] | None = field(default=None, kw_only=True)
    columns = DEADLOCK
    main = (
        *("deadlock-free: {deadlock_free}", "because: {argument}"),
        *("routing", "traffic: {pairs_of}: only its pairs send", NO_ROUTE),
        "virtual channels: {virtual_channels:n}, rule {vc_rule}",
        "dependencies: {dependencies:n} between {channels}, {cyclic} | not counted, of {channels}, {cyclic}"
        " | of a superset, {cyclic}",
        "acyclic from: {least}, rule {least_rule}[: add {options}] | {least_reason}",
        *("remedy: {remedy}", "remedy by layers: {remedy_by_layers}"),
        *("acyclic on a torus: {on_a_torus}", "acyclic elsewhere: {elsewhere}"),
        *("layers, paths in each: {paths}", "layers, at least: {least_layers}"),
        *("cycle nodes: {cycle_nodes}", "cycle", "packets"),
    )
    usual: ClassVar = {"lost_pairs": 0}
    below = ("cycle", "packets")

    @property
    def certificate(self) -> str:
        """A proof: an order of the channels, or packets that wait for each other in a circle (docs/certificates.md)."""
        _expect_all_pairs(self.record["pairs_of"])
        return deadlock_certificate(self.network, *(self.record[name] for name in TABLE.apart))

    @property
    def cycle_nodes(self) -> list[Any] | None:
        """The nodes from which the cycle's channels lead, in order, named as in the graph; None without a cycle."""
        if self.record["cycle"] is None:
            return None
        numbers = [int(channel.split(" ", 1)[0]) for channel in self.record["cycle"]]
        return numbers if self.labels is None else [self.labels[number] for number in numbers]

    def said(self) -> Row:
        layered = {} if self.layered is None else layers_said(self.layered.record)
        nodes = self.cycle_nodes if self.labels is not None else None
        named = " → ".join(map(str, [*nodes, nodes[0]])) if nodes else None
        remedied = remedy_said(self.record, None if self.remedy is None else self.remedy.record)
        return remedied | layered | {"cycle_nodes": named}

    def labelled(self, labels: tuple[Any, ...] | None) -> Deadlock:
        return replace(self, labels=labels)

    @property
    def json(self) -> Row:
        more = {"layered": self.layered, "remedy": self.remedy}
        return {**self.record, **{name: one.record for name, one in more.items() if one is not None}}

    @property
    def layer_table(self) -> pa.Table:
        """The layer of every pair of terminals. Raises BadInput if layers were not requested."""
        if self.layered is None:
            raise BadInput("expected layers, got none; ask for them (layers)")
        return self.layered.table

    @property
    def channel_table(self) -> pa.Table:
        """The remedy as a table with each hop's virtual channel, for rule `table`. Raises BadInput without a remedy."""
        if self.remedy is None:
            reason = self.record["least_reason"] or f"one that rule {self.record['least_rule']} makes acyclic"
            raise BadInput(
                f"expected a routing whose cycle no built-in rule removes, got {reason};"
                " 'torusweep routes' writes a routing with the virtual channels of a rule"
            )
        return columns_of(self.remedy.table.topology, rows_of(self.remedy.table))

    def print_below(self, console: Console) -> None:
        if self.record["cycle"]:
            verb = "waits for" if self.deadlock_free == "no" else "may request"
            said = f"a packet in each of these channels {verb}"
            print_circle(console, self.record["cycle"], said, self.record["packets"])

    @property
    def deadlock_free(self) -> str:
        """The verdict: yes or no if proved, otherwise unknown."""
        return str(self.record["deadlock_free"])


def _expect_all_pairs(traffic: Any) -> None:
    """Refuse a certificate for a traffic: the checker derives dependencies only of all pairs of terminals."""
    if traffic is not None:
        raise BadInput("certificate: expected all pairs of terminals to send, got a traffic; leave it out")


def deadlock(
    network: Topology,
    how: How,
    routing: Annotated[str | GivenRouting, ROUTING, Swept(None)] = "minimal",
    vc_rule: Annotated[str, VC_RULE, Swept(None)] = "none",
    virtual_channels: Annotated[int, VIRTUAL_CHANNELS, Swept(2, several=True)] = 1,
    *,
    traffic: Annotated[str | GivenTraffic, TRAFFIC, NOT_SWEPT, Absent("all pairs of terminals send")] | None = None,
    layers: Annotated[
        bool,
        Meaning(
            "also divide the paths among layers of virtual channels, none of which has a cycle; a greedy search finds "
            "few layers"
        ),
        NOT_SWEPT,
    ] = False,
) -> Deadlock:
    """Decide whether packets can deadlock: the channel dependency graph, with a proof or a cycle.

    An acyclic graph proves that packets cannot deadlock (Dally & Seitz 1987). A cycle alone proves nothing: it is a
    deadlock if packets that enter together can hold all its channels. If neither is shown, the verdict is "unknown".
    The exit status is 0 for every verdict.

    For ugal and progressive, all routes that packets may choose count. With adaptive routing, the rule applies to the
    escape channels.

    >>> import torusweep as ts
    >>> ts.network("torus(k=4, n=2)").deadlock("dimension_order", "dateline", 2).deadlock_free
    'yes'
    """
    with how.progress.share("dependencies, then the least number of virtual channels") as report:
        record = deadlock_record(
            network,
            routing=routing,
            vc_rule=vc_rule,
            virtual_channels=virtual_channels,
            traffic=traffic,
            progress=report,
        )
    by_rule, remedy = record["least_virtual_channels"], None
    remediable = record["deadlock_free"] != "yes" and (by_rule is None or by_rule > CYCLIC)
    if not (layers or remediable):
        return Deadlock(record, network=network)
    used = for_traffic(network, routing, traffic)[0]
    if remediable:
        with how.progress.wait("the virtual channels that remove the cycles"):
            remedy = remedy_of(*resolve_routing(used, network))
    return Deadlock(
        record, network=network, layered=Layered(layers_of(network, used)) if layers else None, remedy=remedy
    )


class DeadlockQuestion(Question):
    name = "deadlock"
    columns = DEADLOCK
    ask = staticmethod(deadlock)
    command = "deadlock"
    heeds: ClassVar = {**heeds("direction, terminals, forwarding"), **BY_WEIGHT, **BY_LATENCY}
    how = ()
    written: ClassVar = {
        "certificate": CERTIFICATE,
        "layer_table": File("the layer of every pair of terminals, as CSV or Parquet", needs="layers"),
        "channel_table": File("the remedy, a routing with the virtual channel of each hop, as CSV or Parquet"),
    }
    examples = (
        'deadlock "dragonfly(a=4, p=2, h=2)" --routing ugal --vc-rule class_hops --virtual-channels 3',
        'deadlock "torus(k=8, n=2)" --routing dimension-order --vc-rule dateline --virtual-channels 2',
        'deadlock "mh3dt(m=4, n=4, levels=2, q=0)" --routing hierarchical --vc-rule r05-wrap --virtual-channels 2',
        'deadlock "rtt(a=8)" --routing routing-record --vc-rule bubble',
        'deadlock "torus(k=8, n=2)" --routing adaptive --vc-rule dateline --virtual-channels 3',
        'deadlock "faulty(torus(k=8, n=3), links=4, seed=1)" --routing up-down --json',
        'deadlock "torus(k=4, n=2)" --routing "dimension_order(tie=positive)" --layers',
    )
    description = "channel dependency graphs to analyse; if absent, only the graphs that the papers' statements need"
    phrase = staticmethod(
        lambda routing, vc_rule, virtual_channels: (
            f"under {routing}, {vc_rule} with {counted(virtual_channels, 'virtual channel')}"
        )
    )

    def check_asked(self, network: Topology | None, how: How, values: Mapping[str, Any], files: Sequence[str]) -> None:
        if "certificate" in files and network is not None:
            _expect_all_pairs(values["traffic"])
            certified_case(network, *(values[name] for name in TABLE.apart))

    def certificates(self, network: Topology | None, row: Mapping[str, Any]) -> str:
        assert network is not None, "rows are of networks"
        return deadlock_certificate(network, **row)

    def rows(self, network: LazyNetwork, request: Any, how: How) -> Rows:
        return [deadlock_record(network.topology, **vars(request))]  # a row has no column for a remedy

    def check(self, network: LazyNetwork, request: Any) -> None:
        check_virtual_channels(request.virtual_channels, _checked(network.topology, request.routing, request.vc_rule))

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        planned = network.plan
        if request.routing.startswith("hierarchical"):  # follows the routes of all pairs, whatever the symmetry
            return 2e-7 * planned.nodes**2
        arcs = planned.nodes * max(planned.degree, 1)
        family = request.routing.partition("(")[0]
        if family in SHORTEST_PATHS:
            by_hop = HOPS_OF_A_PAIR * planned.nodes**2 if planned.nodes <= MOST_ROUTERS else 0.0
            return 5e-3 + 2e-9 * arcs * planned.nodes * max(planned.degree, 1) + by_hop
        if family in TWO_PASSES:
            return 4e-2 + 5e-5 * arcs
        # with one virtual channel a torus has a cycle, which is written out, and other rules are tried
        graphs = 3 if request.virtual_channels == 1 else 1
        return 5e-3 + 5e-6 * arcs + WINDOW_HOP * graphs * max(planned.radices, default=0)


@lru_cache(maxsize=1)  # a rule that counts hops follows all routes, and is requested with several numbers of channels
def _checked(topology: Topology, routing: str, vc_rule: str) -> Routing | AdaptiveRouting:
    """Return the routing. Raises BadInput if it misses a destination, or does not fit the network or the rule."""
    for_traffic(topology, routing, None)
    name, form = resolve_routing(routing, topology)
    resolve_rule(vc_rule, name, form)
    return form


QUESTION = DeadlockQuestion()
DeadlockRequest = QUESTION.Request
