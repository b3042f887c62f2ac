"""The stage `static`: one row for every network."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb, prod
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import create_model, field_validator
from rich.console import Console

from torusweep.errors import BadInput
from torusweep.networks.families.hierarchies import Hierarchy
from torusweep.networks.seed_runs import Planned
from torusweep.networks.topology import Plan, Topology, Whole, no_symmetries
from torusweep.questions.answer import Record, Row
from torusweep.questions.entries import field_of
from torusweep.questions.heeds import Heeds, heeds
from torusweep.questions.how import How
from torusweep.questions.parameters import Absent, Spelled
from torusweep.questions.question import CERTIFICATE, Question
from torusweep.questions.stage import LazyNetwork, Section
from torusweep.questions.static.bisection import INERTIA_NODES
from torusweep.questions.static.certificate import static_certificates
from torusweep.questions.static.columns import STATIC
from torusweep.questions.static.distances import VISIT_SECONDS
from torusweep.questions.static.fault_diameter import EXHAUSTIVE_WORK, SAMPLE_SETS, SAMPLE_WORK
from torusweep.questions.static.printed import print_below, said_of
from torusweep.questions.static.record import MAX_PAIRS, MEASURES, MOST_VISITS, lacking, measures_of, static_record
from torusweep.questions.static.runs import PROVED, shape_of_static, static_of_block

READING = (3e-4, 2e-7)  # seconds per network, and per channel
READING_FOR = {
    "transitivity": (4e-4, 3e-7),
    "connectivity": (1e-4, 1e-7),
    "bisection": (1.2e-3, 4e-7),
    "guarantee": (5e-4, 4e-7),
}  # extra
ROUTED_PAIR = 4e-7  # seconds that the length of a hierarchical route takes
LONGEST_LATENCIES = 15.0  # seconds that distances.MOST_VISITS visits take
LOADING = 0.3  # seconds that Numba takes to load; CuPy takes longer
SMALL = 256  # nodes; searches from every node of such a network take hundredths of a second, even with NumPy


@dataclass(frozen=True, repr=False, eq=False)
class Static(Record):
    """Size, distances, connectivity, bisection and symmetry of a network: a row of the table `static`."""

    network: Topology = field(kw_only=True)
    picture: bool = field(default=True, kw_only=True)  # printed by the command
    columns = STATIC
    main = (
        *("nodes", "terminals", "links", "directed", "link_classes"),
        "degree: [{degree_min:n} to ]{degree_max:n}",
        "diameter",
        "mean distance: {mean_distance:.10gu}[ ({mean_distance_distinct:.10g} between distinct terminals)]",
        "between routers: diameter {router_diameter}, mean {router_mean_distance:.10gu}",
        "over links: diameter {latency_diameter}, mean {latency_mean:.10gu} between distinct terminals",
        "cost: {cost:n} (diameter × degree)",
        "connected: {connected}[: {components:n} components; distances are within them]",
        "edge connectivity: {edge_connectivity:n} ({edge_connectivity_method}) | {edge_connectivity_method}",
        "bisection width: {bisection} ({bisection_method}) | {bisection_method}",
        "vertex-transitive: {vertex_transitive} | unknown",
        "edge-transitive: {edge_transitive} | unknown",
        "symmetry: {transitivity_method}",
        "fault diameter: {fault_diameter} after faults of {fault_nodes} ({fault_method}, {fault_sets})"
        " | none: faults of {fault_nodes} can disconnect it ({fault_method}, {fault_sets})",
        "own routing: diameter {routed_diameter}, mean {routed_mean_distance:.10gu}, cost {routed_cost:n}",
        "notes",
    )
    usual: ClassVar = {
        **{"terminals": "nodes", "directed": False, "degree_min": "degree_max"},
        "components": "connected",  # one, as True
        **{"router_mean_distance": "mean_distance_distinct", "latency_mean": "mean_distance_distinct"},
    }

    @property
    def diameter(self) -> int | None:
        """The largest distance, in hops; None if distances are not measured."""
        diameter: int | None = self.record["diameter"]
        return diameter

    @property
    def mean_distance(self) -> float | None:
        """Mean hops over ordered pairs of terminals, a terminal and itself included; None if not measured."""
        mean: float | None = self.record["mean_distance"]
        return mean

    @property
    def certificate(self) -> str:
        """Lines that prove the symmetry, and bounds of the bisection width (docs/certificates.md)."""
        return static_certificates(self.network)

    @property
    def no_picture(self) -> Static:
        """The same answer, without a picture when printed."""
        return replace(self, picture=False)

    def said(self) -> Row:
        return said_of(self.record, self.network)

    def print_below(self, console: Console) -> None:
        print_below(console, self.record["distance_histogram"] or (), self.network if self.picture else None)


def describe(
    network: Topology,
    how: How,
    *,
    fault_nodes: Annotated[
        int, Whole(1, "also compute the fault diameter, the largest diameter after this number of node faults")
    ]
    | None = None,
    measures: Annotated[
        tuple[str, ...],
        Spelled(
            "measures to compute, or all (columns of measures left out are null, and listed in notes)",
            table="torusweep.questions.static.record:MEASURES",
            title="Measures",
            called=False,
        ),
        Absent("all"),
    ]
    | None = None,
) -> Static:
    """Compute size, distances, connectivity, bisection and symmetry of a network, and draw a small picture.

    >>> import torusweep as ts
    >>> ts.network("torus(k=4, n=2)").static().bisection_upper
    8
    """
    record = static_record(
        network,
        fault_nodes=fault_nodes,
        backend=how.backend,
        use_symmetry=how.use_symmetry,
        threads=how.threads,
        measures=measures,
    )
    return Static(record, network=network)


class _Chosen(Section):
    """The measures that a configuration requests for every network."""

    @field_validator("measures", check_fields=False)
    @classmethod
    def _known(cls, measures: tuple[str, ...] | None) -> tuple[str, ...] | None:
        try:
            measures_of(measures)
        except BadInput as wrong:
            raise ValueError(str(wrong)) from None
        return measures


class StaticQuestion(Question):
    name = "static"
    columns = STATIC
    ask = staticmethod(describe)
    command = "describe"
    method = "static"
    notes_of_files = True
    heeds: ClassVar[Heeds] = {
        **heeds("direction, unit, clock, terminals, forwarding"),
        **heeds("latency", "with measure latencies", lambda values: "latencies" in measures_of(values["measures"])),
        **heeds(
            "weight",
            "with measure transitivity only",
            lambda values: measures_of(values["measures"]) == ("transitivity",),
        ),
        **heeds(
            "bandwidth",
            "with measure guarantee, or measure transitivity only",
            lambda values: (chosen := measures_of(values["measures"])) == ("transitivity",) or "guarantee" in chosen,
        ),
    }
    entry = None
    shorter: ClassVar = {"no_picture": "Print the table only."}
    written: ClassVar = {"certificate": CERTIFICATE}
    examples = (
        'describe "rtt(a=4)"',
        'describe "torus(k=100, n=3)" --json | jq .mean_distance',
        "describe my.graphml",
        'describe "faulty(torus(k=8, n=3), links=4, seed=1)"',
        'describe "pruned_torus(k=4, n=3)" --fault-nodes 3',
        'describe "faulty(torus(k=32, n=3), links=9, seed=1)" --measures distances',
    )
    description = "what is computed for every network; none: nothing, and no table distances or equal_cost"

    def __init__(self) -> None:
        super().__init__()
        chosen: dict[str, Any] = {one.name: field_of(one, self.command) for one in self.swept if one.name == "measures"}
        self.Choice = create_model("Static", __base__=_Chosen, **chosen)

    def left_out(self, said: Any) -> dict[str, tuple[str, ...]]:
        """Return the measures that a configuration's section omits, with their columns, or raise ValueError."""
        known: Any = self.Choice
        choice = said if said in (None, "none") else known.model_validate(said)
        columns = [column.name for column in STATIC]
        return {name: MEASURES[name].columns for name in lacking(choice, columns)}

    def requests(self, entry: Any) -> Iterator[Any]:
        choice, fault_nodes = entry
        if choice != "none":
            measures = measures_of(None if choice is None else choice.measures)
            yield self.Request(fault_nodes, None if measures == measures_of(None) else ", ".join(measures))

    def is_quick(self, network: Topology | None, use_symmetry: bool, values: Mapping[str, Any]) -> bool:
        """Return whether the answer is quick: the network is small, or one source for each orbit suffices."""
        if network is None or not use_symmetry or "fault_nodes" in values:
            return False
        searches_little = network.plan.symmetries is not no_symmetries or network.plan.nodes <= SMALL
        return searches_little and _seconds(network.plan, None, None) <= LOADING

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        planned = network.plan
        if self.together(network, request) is None:
            return _seconds(planned, request.fault_nodes, request.measures)
        arcs = planned.nodes * max(planned.degree, 1)
        proofs = 4e-4 + 1.2e-5 * arcs if PROVED.intersection(measures_of(request.measures)) else 0.0
        return 1e-4 + 2e-6 * arcs + 2.5e-9 * arcs * planned.nodes + proofs

    def certificates(self, network: Topology | None, row: Mapping[str, Any]) -> str:
        assert network is not None, "rows are of networks"
        return static_certificates(network)

    def together(self, network: LazyNetwork, request: Any) -> Hashable:
        return shape_of_static(network, request)

    def rows_of_block(self, networks: Sequence[Planned], request: Any, options: How) -> pa.Table:
        return static_of_block(networks, request, options)


def _seconds(planned: Plan, fault_nodes: int | None, chosen: str | Iterable[str] | None) -> float:
    """Estimate the seconds for a row. With declared symmetry, proofs and reading links outweigh the searches."""
    arcs, measures = planned.nodes * max(planned.degree, 1), measures_of(chosen)
    costs = [READING, *(READING_FOR[name] for name in measures if name in READING_FOR)]
    seconds = sum(once + each * arcs for once, each in costs)
    if planned.symmetries is no_symmetries:
        if "latencies" in measures and len(set(planned.latencies)) > 1:
            seconds += min(5e-8 * arcs * planned.nodes, LONGEST_LATENCIES)
        seconds += VISIT_SECONDS * arcs * planned.nodes if {"distances", "latencies"} & set(measures) else 0.0
        seconds += (
            2.5e-9 * arcs * planned.nodes if "guarantee" in measures and arcs * planned.nodes <= MOST_VISITS else 0.0
        )
        seconds += 6e-6 * arcs if "bisection" in measures and planned.nodes <= INERTIA_NODES else 0.0
    # the network's own routing, from a node of each cell, or from every node
    if "own_routing" in measures and isinstance(planned.structure, Hierarchy):
        pairs = planned.nodes * prod(planned.structure.module)
        seconds += ROUTED_PAIR * pairs if pairs <= MAX_PAIRS else 0.0
    if fault_nodes is not None:
        sources = planned.nodes if planned.symmetries is no_symmetries else 1
        searches = sources * comb(planned.nodes, fault_nodes)
        if searches * planned.nodes > EXHAUSTIVE_WORK:
            searches = min(SAMPLE_WORK // planned.nodes, SAMPLE_SETS)
        seconds += 1.3e-10 * arcs * searches
    return seconds


QUESTION = StaticQuestion()
StaticRequest = QUESTION.Request
