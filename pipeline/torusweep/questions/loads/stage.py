"""The stage `loads`: the channel loads of a network under a routing and a traffic pattern."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa

from torusweep.capacity import check_capacity
from torusweep.capacity.certificate import capacity_certificate
from torusweep.errors import BadInput, Refused
from torusweep.networks.seed_runs import Planned
from torusweep.networks.topology import Meaning, Number, Plan, Topology, Whole, no_symmetries
from torusweep.quantities import rate_of
from torusweep.questions.blocks import shape
from torusweep.questions.heeds import BY_LATENCY, BY_WEIGHT, given, heeds
from torusweep.questions.how import How
from torusweep.questions.loads import exact, monte_carlo, source
from torusweep.questions.loads.bounds import bounds_of
from torusweep.questions.loads.channels import NO_BOUNDS
from torusweep.questions.loads.columns import LOADS
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.monte_carlo import sampled_loads
from torusweep.questions.loads.record import Loads, loads_of_block, record_of
from torusweep.questions.loads.trees import tree_loads
from torusweep.questions.parameters import NOT_SWEPT, Absent, Swept
from torusweep.questions.question import File, Part, Question
from torusweep.questions.spelled import ROUTING, TRAFFIC
from torusweep.questions.stage import LazyNetwork, under
from torusweep.routing import SHORTEST_PATHS, TURN_MODELS, GivenRouting, SourceRouting
from torusweep.routing import routing as routing_on
from torusweep.routing.by_plan import most_pairs
from torusweep.routing.faults import unrouted
from torusweep.traffic import SYMMETRIC, GivenTraffic, suits_by_plan
from torusweep.traffic import traffic as pattern_on
from torusweep.traffic.by_plan import PERMUTATIONS
from torusweep.traffic.given import check_reach, delivered

ROOTS = 16  # whose loads are followed at once (torusweep_kernels.loads)
DENSE = ("hot_region", "hot_spot", "demand")  # patterns, besides the symmetric ones, in which a source sends to many
CELLS = 64  # classes of nodes of a hierarchical network, about
LONGEST_BOUNDS = 60.0  # seconds of linear programs, mostly


def loads(
    network: Topology,
    how: How,
    routing: Annotated[str | GivenRouting, ROUTING] = "minimal",
    traffic: Annotated[str | GivenTraffic, TRAFFIC] = "uniform",
    method: Annotated[
        Literal["exact", "as-table", "monte-carlo"],
        Meaning(
            "exact: expected loads, summed exactly and rounded once; as-table: the same numbers, computed from the "
            "table that 'torusweep routes' writes; monte-carlo: estimates from random packets, with standard errors"
        ),
        NOT_SWEPT,
    ]
    | None = None,
    *,
    packets: Annotated[
        int,
        Whole(monte_carlo.MIN_PACKETS, "largest number of random packets of method monte-carlo", 10**12),
        Swept(monte_carlo.PACKETS, inside="sample", meaning="estimate from random packets; null: exact"),
    ]
    | None = None,
    seed: Annotated[int, Whole(0, "seed of the random packets", 2**63 - 1), Swept(0, inside="sample")] | None = None,
    relative_error: Annotated[
        float,
        Number(0, "stop sampling at this standard error of the largest load, relative to that load", 1, open=True),
        Swept(None, inside="sample"),
    ]
    | None = None,
    bounds: Annotated[
        bool,
        Meaning(
            "also compute the capacity under the best routing (linear programs) and the saturation load of this "
            "routing's worst permutation; small networks only"
        ),
    ] = False,
    sends: Annotated[
        str,
        Meaning("average rate of a terminal, such as 40Gb/s, for loads of links in percent of their capacity"),
        Absent("the rate of demands that have units"),
        NOT_SWEPT,
    ]
    | None = None,
) -> Loads:
    """Compute the load of every channel under a routing and a traffic pattern, and where the network saturates.

    A load is the flits per cycle over a channel when every terminal injects one flit per cycle.

    >>> import torusweep as ts
    >>> ts.network("torus(k=8, n=2)").loads("dimension_order", "tornado").saturation_load
    0.3333333333333333
    """
    given = {"packets": packets, "seed": seed, "relative_error": relative_error}
    sample = {name: value for name, value in given.items() if value is not None}
    method = method or ("monte-carlo" if sample else "exact")
    for name in sample if method != "monte-carlo" else ():
        with under(name):
            raise BadInput(f"expected with method monte-carlo only, got {method}; exact loads need no packets")
    with under("sends"):
        sent = None if sends is None else float(rate_of(sends))
        if sent is not None and network.plan.rate is None:
            raise BadInput('expected links whose bandwidths have a unit; say with_links(…, bandwidths=["100 Gb/s"])')
    options: dict[str, Any] = {"routing": routing, "traffic": traffic, "backend": how.backend, "threads": how.threads}
    if method == "monte-carlo":
        options |= {"packets": monte_carlo.PACKETS, **sample}
        with how.progress.count("packets", options["packets"]) as report:
            found = sampled_loads(network, **options, progress=report)
    else:
        options |= {"use_symmetry": how.use_symmetry, "as_table": method == "as-table"}
        with how.progress.share("routes followed") as report:
            found = exact_loads(network, **options, progress=report)
    found = found if sent is None else replace(found, rate=sent)
    limits = None
    if bounds:
        with how.progress.wait("linear programs and matchings: some minutes on networks of hundreds of nodes"):
            limits = bounds_of(found, routing=routing, traffic=traffic, use_symmetry=how.use_symmetry)
    return Loads(
        record_of(found, limits),
        found=found,
        relative_error=relative_error,
        bounds=limits or NO_BOUNDS,
        asked=(routing, traffic),
    )


class LoadsQuestion(Question):
    name = "loads"
    columns = LOADS
    ask = staticmethod(loads)
    command = "loads"
    heeds: ClassVar = {
        **heeds("bandwidth, direction, terminals, terminal rate, forwarding"),
        **given("unit", "sends"),
        **BY_WEIGHT,
        **BY_LATENCY,
    }
    phrase = "under {routing}, {traffic}".format
    outermost = ("traffic",)
    parts: ClassVar = {
        "channels": Part("the load of every channel", without=("bounds",)),
        "terminals": Part(
            "what each terminal gets in max-min fair rates, the worst first",
            without=("bounds", "method", "packets", "seed", "relative_error", "sends"),
        ),
    }
    written: ClassVar = {
        "worst_permutation": File("the worst permutation, as CSV or Parquet for --traffic", needs="bounds")
    }
    examples = (
        'loads "rtt(a=16)"',
        'loads "pdtt(a=16)" --routing minimal --traffic uniform --method exact --json',
        'loads "torus(k=8, n=2)" --routing "dimension-order(tie=positive)" --traffic "hot_spot(node=3)"',
        'loads "mh3dt(m=4, n=4, levels=2, q=0)" --routing hierarchical --method monte-carlo --packets 10000000',
        'loads "torus(k=8, n=2)" --routing valiant --traffic transpose --bounds',
        'loads "mesh(k=4, n=2)" --traffic transpose --channels > channels.csv',
        'loads "faulty(fat_tree(k=4), links=2, seed=1)" --terminals',
    )
    description = "channel loads to compute; if absent, only the loads that the papers' printed numbers need"

    def certificates(self, network: Topology | None, row: Mapping[str, Any]) -> str:
        assert network is not None, "rows are of networks"
        return capacity_certificate(network, row["traffic"], "all")

    def check_asked(self, network: Topology | None, how: How, values: Mapping[str, Any], files: Sequence[str]) -> None:
        if network is None or not values["bounds"]:
            return
        try:
            check_capacity(network, values["traffic"], use_symmetry=how.use_symmetry)
        except Refused as refusal:
            refusal.place = ("bounds",)
            refusal.args = (f"{str(refusal).partition('; choose')[0]}; choose a smaller network, or no bounds",)
            raise

    def check(self, network: LazyNetwork, request: Any) -> None:
        if _suits_by_plan(network, request):
            return
        topology = network.topology
        form = routing_on(request.routing, topology)[1]
        gone, exact = unrouted(form), request.packets is None and not request.bounds
        spelled, sent = pattern_on(request.traffic, topology, copies=exact)
        if not len(gone.lost):
            check_reach(topology, spelled, sent)
        demands = delivered(topology, sent, *gone)[0]
        if demands.multicast:
            tree_loads(form, demands)
            return
        if request.packets is not None or not isinstance(form, SourceRouting):
            return
        demands = sent.at_nodes(topology.terminals, topology.nodes)
        pairs = source.pairs_followed(form, demands)
        if pairs > source.MAX_PAIRS:
            raise Refused(
                f"loads of {network.spelling} {request}: expected at most {source.MAX_PAIRS:,} pairs of nodes to follow"
                f" routes between, got {pairs:,}; sample them (sample: {{packets: 10000000}})"
            )

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        planned = network.plan
        arcs = planned.nodes * max(planned.degree, 1)
        if self.together(network, request) is not None:
            return 1e-4 + 1e-7 * arcs + 2.5e-9 * arcs * planned.nodes
        alike = planned.symmetries is not no_symmetries and _symmetric(request)
        seconds = 2e-3 + 5e-7 * arcs
        if request.bounds:
            seconds += min(1.5e-4 * arcs if alike else 5e-6 * arcs * planned.nodes, LONGEST_BOUNDS)
        if request.packets is not None:
            return seconds + 5e-7 * request.packets
        every_node = _from_every_node(planned, request)
        if _over_states(request):
            return seconds + (4e-9 * arcs * planned.nodes if every_node else 0.0)
        if not _symmetric(request) and request.traffic.partition("(")[0] not in DENSE:
            return seconds + 1e-6 * planned.nodes
        return seconds + 1.5e-7 * planned.nodes * (planned.nodes if every_node else min(CELLS, planned.nodes))

    def together(self, network: LazyNetwork, request: Any) -> Hashable:
        asked = request.routing, request.traffic, request.packets, request.bounds
        if asked != ("minimal", "uniform", None, False) or network.plan.bandwidths:
            return None
        return shape(network.plan)

    def rows_of_block(self, networks: Sequence[Planned], request: Any, options: How) -> pa.Table:
        return loads_of_block(networks, options, lambda spelling: self.rows(LazyNetwork(spelling), request, options))

    def memory(self, network: LazyNetwork, request: Any) -> int:
        """Return the bytes for the network's arrays, the loads, and one block of roots, pairs or packets."""
        planned = network.plan
        channels = planned.nodes * max(planned.degree, 1)
        own = planned.bytes + 80 * channels
        if request.packets is not None:
            return own + 24 * monte_carlo.GROUPS * channels + 60 * min(request.packets, monte_carlo.ROUND)
        if not _over_states(request):
            return own + 120 * min(source.BLOCK, planned.nodes**2) + 60 * channels
        states = 3 if request.routing.startswith(("up_down", *TURN_MODELS)) else 1
        roots, demands = 1, planned.nodes
        if _from_every_node(planned, request):
            roots, demands = ROOTS, min(exact.LAYERED_BLOCK, planned.nodes**2)
        return own * states + 25 * planned.nodes * states * roots + 16 * demands


def _suits_by_plan(network: LazyNetwork, request: Any) -> bool:
    """Return whether the plan alone shows that a request suits its network, without building the network."""
    planned = network.plan
    if not suits_by_plan(request.traffic, planned):
        return False
    balanced = _symmetric(request) or request.traffic.partition("(")[0] in PERMUTATIONS
    pairs = most_pairs(request.routing, network.spelling, planned, symmetric=balanced)
    return pairs is not None and (request.packets is not None or pairs <= source.MAX_PAIRS)


def _over_states(request: Any) -> bool:
    """Return whether the routing takes shortest paths over a graph of states, not routes chosen at the source."""
    return request.routing.partition("(")[0] in SHORTEST_PATHS


def _symmetric(request: Any) -> bool:
    """Return whether every automorphism of the network maps the requested traffic to itself."""
    return request.traffic.partition("(")[0] in SYMMETRIC


def _from_every_node(planned: Plan, request: Any) -> bool:
    """Return whether loads are followed from every node, rather than from one node of each orbit."""
    return (
        planned.symmetries is no_symmetries
        or not _symmetric(request)
        or request.routing.startswith(("up_down", "hierarchical", *TURN_MODELS))
    )


QUESTION = LoadsQuestion()
LoadsRequest = QUESTION.Request
