"""The stage `deadlock`: the channel dependency graph of a routing under a virtual-channel rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from torusweep.networks.topology import Meaning, Topology, Whole
from torusweep.questions.how import How
from torusweep.questions.parameters import NotSwept, Several, Spelled, Swept
from torusweep.questions.question import File, Question
from torusweep.questions.stage import LazyNetwork
from torusweep.routing import SHORTEST_PATHS, GivenRouting
from torusweep.stages.deadlock import deadlock_case, deadlock_record
from torusweep.stages.deadlock.answer import Deadlock, Layered
from torusweep.stages.deadlock.columns import DEADLOCK
from torusweep.stages.deadlock.layers import layers as layers_of
from torusweep.stages.deadlock.rules import MAX_VIRTUAL_CHANNELS

if TYPE_CHECKING:
    from torusweep.charts.section import Chapter, Tables

TWO_PASSES = ("valiant",)  # routings by way of another node
WINDOW_HOP = 3e-5  # seconds for each hop of a line or ring, whose windows of routes are looked at one by one

# not made of torusweep.questions.spelled, which names traffic patterns too: no row here depends on these
ROUTING = Spelled(
    "how packets are routed",
    table="torusweep.stages.deadlock.routing_case:ALL_ROUTINGS",
    title="Routings",
    canonical="torusweep.stages.deadlock.routing_case:routing_spelling",
    files="torusweep.routing:files_of",
    given="torusweep.routing.tables.objects:routing_of",
)
VC_RULE = Spelled(
    "which packets may use which virtual channels",
    table="torusweep.stages.deadlock.rules:RULES",
    title="Virtual-channel rules",
    canonical="torusweep.stages.deadlock.rules:rule_spelling",
)


def deadlock(
    network: Topology,
    how: How,
    routing: Annotated[str | GivenRouting, ROUTING, Swept()] = "minimal",
    vc_rule: Annotated[str, VC_RULE, Swept()] = "none",
    virtual_channels: Annotated[
        int, Whole(1, "virtual channels of each physical channel", MAX_VIRTUAL_CHANNELS), Several(), Swept(2)
    ] = 1,
    *,
    layers: Annotated[
        bool,
        Meaning(
            "also divide the paths among as few layers of virtual channels as a greedy search finds, without a cycle "
            "in any layer"
        ),
        NotSwept(),
    ] = False,
) -> Deadlock:
    """Whether packets can deadlock: the channel dependency graph, a proof or a cycle.

    An acyclic graph proves that they cannot (Dally & Seitz 1987). A cycle alone proves nothing: it is a deadlock if
    packets that enter together can hold all its channels. Where neither is shown, the verdict is "unknown". The exit
    status is 0 for every verdict.

    Of ugal and progressive, all routes between which they choose count. With adaptive routing, the rule is that of the
    escape channels.

    >>> import torusweep as ts
    >>> ts.network("torus(k=4, n=2)").deadlock("dimension_order", "dateline", 2).deadlock_free
    'yes'
    """
    with how.progress.share("dependencies, then the least number of virtual channels") as report:
        record = deadlock_record(
            network, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels, progress=report
        )
    return Deadlock(record, layered=Layered(layers_of(network, routing)) if layers else None)


class DeadlockQuestion(Question):
    name = "deadlock"
    columns = DEADLOCK
    ask = staticmethod(deadlock)
    command = "deadlock"
    phrase = "under {routing}, {vc_rule} with {virtual_channels} virtual channels"
    how = ()
    written: ClassVar = {"layer_table": File("the layer of every pair of terminals as CSV", needs="layers")}
    examples = (
        'deadlock "dragonfly(a=4, p=2, h=2)" --routing ugal --vc-rule class_hops --virtual-channels 3',
        'deadlock "torus(k=8, n=2)" --routing dimension-order --vc-rule dateline --virtual-channels 2',
        'deadlock "mh3dt(m=4, n=4, levels=2, q=0)" --routing hierarchical --vc-rule r05-wrap --virtual-channels 2',
        'deadlock "rtt(a=8)" --routing routing-record --vc-rule bubble',
        'deadlock "torus(k=8, n=2)" --routing adaptive --vc-rule dateline --virtual-channels 3',
        'deadlock "faulty(torus(k=8, n=3), links=4, seed=1)" --routing up-down --json',
        'deadlock "torus(k=4, n=2)" --routing "dimension_order(tie=positive)" --layers',
    )
    description = "channel dependency graphs to analyse; without it, only those of the papers' statements"
    distinguishing = ("routing", "vc_rule", "virtual_channels")

    def check(self, network: LazyNetwork, request: Any) -> None:
        deadlock_case(network.topology, **vars(request))

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        planned = network.plan
        if request.routing.startswith("hierarchical"):  # the routes of all pairs are followed, whatever the symmetry
            return 2e-7 * planned.nodes**2
        arcs = planned.nodes * max(planned.degree, 1)
        family = request.routing.partition("(")[0]
        if family in SHORTEST_PATHS:
            return 5e-3 + 2e-9 * arcs * planned.nodes * max(planned.degree, 1)
        if family in TWO_PASSES:
            return 4e-2 + 5e-5 * arcs
        # with one virtual channel a torus has a cycle: it is spelt out, and other rules are tried
        graphs = 3 if request.virtual_channels == 1 else 1
        return 5e-3 + 5e-6 * arcs + WINDOW_HOP * graphs * max(planned.radices, default=0)

    def section(self, tables: Tables) -> Chapter | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.deadlock.section import section

        return section(tables)


QUESTION = DeadlockQuestion()
DeadlockRequest = QUESTION.Request
