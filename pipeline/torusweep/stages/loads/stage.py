"""The stage `loads`: the channel loads of a network under a routing and a traffic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from torusweep.errors import Refused
from torusweep.networks.topology import Plan, no_symmetries
from torusweep.routing import SHORTEST_PATHS, TURN_MODELS, SourceRouting, routing
from torusweep.routing import canonical as routing_spelling
from torusweep.routing import files_of as files_of_routing
from torusweep.routing.by_plan import most_pairs
from torusweep.stages.entry import Choice, Section, Spellings, under
from torusweep.stages.loads import Sample, layered, loads_record, monte_carlo, source
from torusweep.stages.loads.columns import LOADS
from torusweep.stages.stage import Network, Options, Stage
from torusweep.traffic import SYMMETRIC, files_of, suits_by_plan, traffic
from torusweep.traffic import canonical as traffic_spelling
from torusweep.traffic.reach import check_reach

if TYPE_CHECKING:
    from torusweep.charts.section import Section as PageSection
    from torusweep.charts.section import Tables

ROOTS = 16  # whose loads are followed at once (torusweep_kernels.loads)
DENSE = ("hot_region", "hot_spot", "demand")  # patterns, besides the symmetric ones, in which a source sends to many
CELLS = 64  # classes of nodes of a hierarchical network, about
LONGEST_BOUNDS = 60.0  # seconds of linear programs, mostly


class Sampled(Section):
    """Loads from random packets instead of exact ones."""

    packets: int = Field(10_000_000, ge=64, le=10**12, description="packets, at most")
    seed: int = Field(0, ge=0, le=2**63 - 1, description="seed of the random numbers")
    relative_error: float | None = Field(
        None,
        gt=0,
        lt=1,
        description=("the sample ends at this standard error of the largest load, relative to it; null: all packets"),
    )


class Loads(Choice):
    """Loads of the sweep's networks: every routing with every traffic on every network chosen."""

    routing: Spellings = Field(
        ("minimal",),
        description=("a routing as 'torusweep loads --help' lists them, or several; minimal by default"),
    )
    traffic: Spellings = Field(description="a traffic pattern as 'torusweep loads --help' lists them, or several")
    sample: Sampled | None = Field(None, description="estimate from random packets; null: exact")
    bounds: bool = Field(
        False,
        description=(
            "also compute the capacity under the best routing (linear programming) and the worst "
            "permutation: small networks only"
        ),
    )


@dataclass(frozen=True)
class LoadsRequest:
    """routing and traffic by their canonical spellings.

    packets          sampled with so many packets at most; None: exact
    seed             of the sample
    """

    routing: str
    traffic: str
    packets: int | None = None
    seed: int | None = None
    relative_error: float | None = field(
        default=None,
        metadata={"meaning": "the sample ends at this standard error of the largest load, relative to it"},
    )
    bounds: bool = field(default=False, metadata={"meaning": "whether capacity and worst case are requested"})

    def __str__(self) -> str:
        return f"under {self.routing}, {self.traffic}"


class LoadsStage(Stage):
    name = "loads"
    columns = LOADS
    Entry = Loads
    Request = LoadsRequest
    description = "channel loads to compute; without it, only those of the papers' printed numbers"
    distinguishing = ("routing", "traffic", "method", "packets", "seed")

    def requests(self, entry: Loads) -> Iterator[LoadsRequest]:
        with under("traffic"):
            patterns = list(map(traffic_spelling, entry.traffic))
        with under("routing"):
            routings = list(map(routing_spelling, entry.routing))
        sample = {} if entry.sample is None else entry.sample.model_dump()
        for pattern, name in product(patterns, routings):
            yield LoadsRequest(name, pattern, bounds=entry.bounds, **sample)

    def check(self, network: Network, request: LoadsRequest) -> None:
        if _suits_by_plan(network, request):
            return
        topology = network.topology
        form = routing(request.routing, topology)[1]
        check_reach(topology, request.traffic)
        if request.packets is not None or not isinstance(form, SourceRouting):
            return
        demands = traffic(request.traffic, topology)[1].at_nodes(topology.terminals, topology.nodes)
        pairs = source.pairs_followed(form, demands)
        if pairs > source.MAX_PAIRS:
            raise Refused(
                f"loads of {network.spelling} {request}: expected at most {source.MAX_PAIRS:,} pairs of nodes to follow"
                f" routes between, got {pairs:,}; sample them (sample: {{packets: 10000000}})"
            )

    def files(self, request: LoadsRequest) -> list[Path]:
        return files_of(request.traffic) + files_of_routing(request.routing)

    def seconds(self, network: Network, request: LoadsRequest) -> float:
        planned = network.plan
        arcs = planned.nodes * max(planned.degree, 1)
        seconds = 2e-3 + 5e-7 * arcs + (min(1e-3 * arcs, LONGEST_BOUNDS) if request.bounds else 0.0)
        if request.packets is not None:
            return seconds + 5e-7 * request.packets
        every_node = _from_every_node(planned, request)
        if _over_states(request):
            return seconds + (4e-9 * arcs * planned.nodes if every_node else 0.0)
        if not _symmetric(request) and request.traffic.partition("(")[0] not in DENSE:
            return seconds + 1e-6 * planned.nodes
        return seconds + 1.5e-7 * planned.nodes * (planned.nodes if every_node else min(CELLS, planned.nodes))

    def memory(self, network: Network, request: LoadsRequest) -> int:
        """The network's arrays, its channels' loads, and a block of roots, pairs or packets."""
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
            roots, demands = ROOTS, min(layered.BLOCK, planned.nodes**2)
        return own * states + 25 * planned.nodes * states * roots + 16 * demands

    def rows(self, network: Network, request: LoadsRequest, options: Options) -> list[dict[str, Any]]:
        values = asdict(request)
        packets, seed, error = (values.pop(name) for name in ("packets", "seed", "relative_error"))
        record = loads_record(
            network.topology,
            **values,
            sample=None if packets is None else Sample(packets, seed or 0, error),
            backend=options.backend,
            use_symmetry=options.use_symmetry,
            threads=options.threads,
        )
        return [record]

    def section(self, tables: Tables) -> PageSection | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.loads.section import section

        return section(tables)


def _suits_by_plan(network: Network, request: LoadsRequest) -> bool:
    """Whether the plan shows that a request suits a network: counting a large sweep then builds nothing."""
    planned = network.plan
    if not suits_by_plan(request.traffic, planned):
        return False
    pairs = most_pairs(request.routing, network.spelling, planned, symmetric=_symmetric(request))
    return pairs is not None and (request.packets is not None or pairs <= source.MAX_PAIRS)


def _over_states(request: LoadsRequest) -> bool:
    """Whether the routing is one of shortest paths over a graph of states, not of routes settled at the source."""
    return request.routing.partition("(")[0] in SHORTEST_PATHS


def _symmetric(request: LoadsRequest) -> bool:
    """Whether every automorphism keeps the traffic."""
    return request.traffic.partition("(")[0] in SYMMETRIC


def _from_every_node(planned: Plan, request: LoadsRequest) -> bool:
    """Whether loads are followed from every node, instead of one of each orbit."""
    return (
        planned.symmetries is no_symmetries
        or not _symmetric(request)
        or request.routing.startswith(("up_down", "hierarchical", *TURN_MODELS))
    )
