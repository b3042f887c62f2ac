"""The question `latency`: mean latency by the papers' analytic models.

The inputs of the models are computed here for a network: distances, channel loads, and the cost of channel width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Any, Literal, Unpack

from rich.console import Console

from torusweep.errors import BadInput
from torusweep.networks.cuts import cut_both_ways
from torusweep.networks.links import channel_matrix, surviving_network
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import Meaning, Plan, Topology
from torusweep.questions.answer import Record, Records, Row
from torusweep.questions.console import print_note
from torusweep.questions.heeds import heeds
from torusweep.questions.how import How
from torusweep.questions.latency.columns import LATENCY
from torusweep.questions.latency.entries import PARAMETERS, Entry, MessageBits, OfAModel, entry_with
from torusweep.questions.latency.normalisation import BISECTION, WIRING_VOLUME, Constraint
from torusweep.questions.latency.printed import cost_in_words, latency_of, print_comparison, print_cubes, verdict
from torusweep.questions.latency.table import (
    DALLY,
    MODELS,
    PARHAMI_KWAI,
    Columns,
    ModelInputs,
    arrow_table,
    check,
    network_of,
    width_of,
)
from torusweep.questions.layout.placements import canonical, default_placement
from torusweep.questions.layout.record import layout_record
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.record import record_of
from torusweep.questions.question import Askable
from torusweep.questions.stage import LazyNetwork, under
from torusweep.questions.static.bisection import bisection_bounds
from torusweep.questions.static.connectivity import components
from torusweep.questions.static.distances import terminal_distances

Numbers = dict[str, Any]


def static_of(topology: Topology, constraint: Constraint, *, backend: str = "auto") -> Numbers:
    """Return the columns of `static` that the model needs, and bisection bounds if the bisection is the constant cost.

    Raises ValueError for a network to which the model does not apply.
    """
    check_links(topology.spelling, topology.plan)
    survivors = surviving_network(topology)
    images, matrix = proved_symmetries(survivors), channel_matrix(survivors)
    hops = terminal_distances(
        survivors, orbits_under(survivors.nodes, images), use_symmetry=True, backend=backend, threads=None
    )
    found = {
        "topology": topology.spelling,
        "nodes": survivors.nodes,
        "terminals": len(survivors.terminals),
        "connected": components(survivors, matrix) == 1,
        "directed": survivors.directed,
        "degree_max": int(survivors.degrees.max(initial=0)),
        "mean_distance": hops.mean,
    }
    network_of(found)  # refuses the network before the longer work
    if constraint.norm != BISECTION:
        return found
    bounds = bisection_bounds(survivors, matrix, images, edge_connectivity=None)
    return across_both_ways(topology, {**found, "bisection_lower": bounds.lower, "bisection_upper": bounds.upper})


def across_both_ways(topology: Topology, static: Numbers) -> Numbers:
    """Set `bisection_upper` in a row of `static` to half of the channels across the middle in both directions.

    The table `static` counts the direction with fewer channels. In a one-way network whose nodes have different
    numbers of incoming and outgoing channels, twice that number would be too few wires.
    """
    survivors = surviving_network(topology)
    wires = cut_both_ways(survivors, channel_matrix(survivors))
    return static if wires is None else {**static, "bisection_lower": None, "bisection_upper": wires / 2}


def check_links(spelling: str, plan: Plan) -> None:
    """Raise ValueError for a network whose links have bandwidths or latencies of their own.

    The models cannot use them: the budget decides the width of a flit, which is the width of all channels, and a hop
    takes the switch delay.
    """
    if plan.bandwidths or plan.latencies:
        raise ValueError(
            f"{spelling}: expected links of one flit a cycle and one cycle, got other ones: in the models the budget"
            " decides the width of all channels, and a hop takes the switch delay; choose the network without them, or"
            " 'torusweep simulate', and without load 'torusweep describe --measures latencies'"
        )


def placement_of(constraint: Constraint, family: str) -> str | None:
    """Return the canonical placement whose wires a constraint counts in a network; None if it counts no wires."""
    if constraint.norm != WIRING_VOLUME:
        return None
    return canonical(constraint.placement or default_placement(family))


def width_measured(topology: Topology, constraint: Constraint, static: Numbers) -> float:
    """Return the width of a network's channels, in bits, under a constraint.

    Raises BadInput if the placement is not defined for the network, ValueError if the network has no cost.
    """
    return width_of(
        constraint, static, None if constraint.placement is None else layout_record(topology, constraint.placement)
    )


def with_loads(
    topology: Topology, static: Numbers, *, backend: str = "auto", progress: Callable[[float], None] | None = None
) -> tuple[ModelInputs, str]:
    """Return (model inputs with loads for uniform traffic on minimal routes, ''), or (inputs without loads, reason)."""
    try:
        loads = exact_loads(topology, routing="minimal", traffic="uniform", backend=backend, progress=progress)
    except BadInput as refusal:
        return network_of(static), str(refusal)
    return network_of(static, record_of(loads)), ""


@dataclass(frozen=True, repr=False)
class Latency(Record):
    """A network's latency by the model of Parhami & Kwai: a row of the table `latency`. limits: remarks to print."""

    limits: Sequence[str] = field(kw_only=True)
    columns = LATENCY
    main = (
        "model",
        "channels: {width} ({pins}, degree {degree:n}[; {cost}])",
        "messages: {message_bits}, {flits}, {mean_distance:.7g} hops on average",
        *("switch_delay", "rate: {rate} ({load})"),
        "empty network: {uncontended_latency} (stored at every hop: {store_and_forward_latency:.6g})",
        "utilization: {utilization:.6g}[; of the busiest link class {utilization_max:.6g}]",
        "mean latency, cycles: {mean}[; by link class {mean_corrected}]",
        "saturation: {saturation_rate}[; by link class {saturation_rate_corrected:.6g}]",
        "saturation in bits: {saturation_bits}[; by link class {saturation_bits_corrected:.6g}]",
    )

    def said(self) -> Row:
        row = self.record
        means = {f"mean{variant}": latency_of(row, variant) for variant in ("", "_corrected")}
        return means | {"cost": None if row["constant"] == "pins" else cost_in_words([row])}

    def print_below(self, console: Console) -> None:
        for remark in self.limits:
            print_note(console, remark)


@dataclass(frozen=True, repr=False, eq=False)
class Latencies(Records):
    """Networks at equal cost: rows of the table `latency`, in the given order. limits: remarks to print."""

    limits: Sequence[str] = field(kw_only=True)
    columns = LATENCY
    main = (
        *("topology", "width", "pins", "mean_distance", "uncontended_latency", "mean_latency"),
        *("mean_latency_corrected", "saturation_bits", "saturation_bits_corrected"),
    )

    @property
    def verdict(self) -> str:
        """A sentence on which network is best at equal cost, and by how much."""
        return verdict(self.rows)

    def heading(self) -> str:
        return f"at equal cost: {cost_in_words(self.rows)}\n{self.verdict}"

    def print(self, console: Console, computed_by: str) -> None:
        print_comparison(console, self.rows, self.limits)


@dataclass(frozen=True, repr=False, eq=False)
class Cubes(Records):
    """Cubes of every dimension by the model of Dally: rows of the table `latency`.

    cube  row of the cube with the dimension that the user gave, or with the best dimension if none was given
    """

    cube: Row = field(kw_only=True)
    columns = LATENCY
    main = (
        *("dimension", "radix", "width", "pins", "longest_wire", "longest_wire_corrected", "mean_distance"),
        *("mean_latency", "mean_latency_corrected"),
    )

    @property
    def json(self) -> Row:  # type: ignore[override]  # one of the rows
        return self.cube

    def heading(self) -> str:
        cube = self.cube
        return (
            f"{cube['nodes']:,} nodes, {cube['message_bits']:g}-bit messages, {cube['wire_delay']} wire delay:"
            f" dimension {cube['dimension']}, best {cube['best_dimension']}, {cube['mean_latency']:.6g} cycles"
        )

    def print(self, console: Console, computed_by: str) -> None:
        print_cubes(console, self.cube, self.rows)


def latency(
    networks: Sequence[LazyNetwork],
    how: How,
    *,
    model: Annotated[Literal["parhami-kwai-2004", "dally-1990"], Meaning("model of latency")] = "parhami-kwai-2004",
    message_bits: MessageBits = 96,
    **given: Unpack[OfAModel],
) -> Latency | Latencies | Cubes:
    """Compute mean latency by a paper's model: Parhami & Kwai's for networks, Dally's for cubes of given size.

    Several networks are compared at equal cost: a budget of pins, of wires across the middle (the best
    known balanced cut), or of the length of all wires. A network's channels are as wide as the budget allows.

      Models:
        parhami-kwai-2004   any network; virtual cut-through, with contention. As printed: all channels are
                            equally busy. Corrected: each link class is as busy as uniform traffic on minimal
                            routes makes it. Infinite from saturation on (in JSON: null, and "saturated").
        dally-1990          k-ary n-cubes of constant bisection width; wormhole routing, no contention.
                            As printed: wires of Eq. 13. Corrected: wires of folded rings, the paper's layout.

    >>> import torusweep as ts
    >>> ts.network("pruned_torus(k=16, n=3)").latency(rate=0.01).saturation_rate_corrected
    0.0625
    >>> ts.latency(model="dally-1990", nodes=2**20, message_bits=150).cube["best_dimension"]
    5
    """
    chosen = {"message_bits": message_bits} | {name: value for name, value in given.items() if value is not None}
    own, (needed,) = {one.name for one in PARAMETERS[model]}, {*MODELS} - {model}
    for name in chosen:
        if name not in own:
            with under(name):
                raise BadInput(f"expected with the model {needed} only, got {model}; leave it out")
    try:
        return _cubes(networks, chosen) if model == DALLY else _networks(networks, how, chosen)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _networks(networks: Sequence[LazyNetwork], how: How, given: Row) -> Latency | Latencies:
    """Answer by the model of Parhami & Kwai, for one network or a comparison of several."""
    if not networks:
        raise BadInput('expected a topology, got none; as in torusweep latency "torus(k=16, n=3)" --rate 0.01')
    entry = entry_with(PARHAMI_KWAI, given, rates=given.get("rate", 0.0))
    cost: Constraint = entry.constraint
    inputs, widths, placements, limits = [], [], [], []
    for topology in (network.topology for network in networks):
        with how.progress.wait(f"{topology.spelling}: distances{', cuts' if cost.norm == 'bisection' else ''}"):
            static = static_of(topology, cost, backend=how.backend)
            placement = placement_of(cost, topology.family)
            width = width_measured(topology, cost._replace(placement=placement), static)
        check(network_of(static), entry.message_bits, width)
        with how.progress.share(f"{topology.spelling}: routes followed") as progress:
            network, reason = with_loads(topology, static, backend=how.backend, progress=progress)
        inputs.append(network)
        widths.append(width)
        placements.append(placement)
        limits += _limits(static, reason)
    rows = _rows(entry.columns(inputs, widths, placements))
    return Latency(rows[0], limits=limits) if len(rows) == 1 else Latencies(rows, limits=limits)


def _limits(static: Row, reason: str) -> list[str]:
    """Return remarks on loads that are unknown, for a `reason`, and on a bisection width with only bounds known."""
    limits = [f"{static['topology']}: channel loads are not known: {reason}"] if reason else []
    lower, upper = static.get("bisection_lower"), static.get("bisection_upper")
    if lower != upper and upper is not None:
        least = "1" if lower is None else f"{lower:,}"
        many = f"{upper:,} links" if isinstance(upper, int) else f"{2 * upper:,.0f} links of both directions"
        limits.append(
            f"{static['topology']}: the best cut known has {many}, the narrowest has at least {least}; "
            "a narrower cut allows wider channels"
        )
    return limits


def _cubes(networks: Sequence[LazyNetwork], given: Row) -> Cubes:
    """Answer by the model of Dally, for cubes of all dimensions and for the given or best dimension."""
    if networks or "nodes" not in given:
        got = f"the topology {networks[0].spelling}" if networks else "neither"
        with under("nodes"):
            raise BadInput(
                f"expected nodes and no topology with the model {DALLY}, got {got};"
                " its cubes follow from their number of nodes"
            )
    cubes = _rows(entry_with(DALLY, given).columns())
    dimension = given.get("dimension", cubes[0]["best_dimension"])
    cube = next((cube for cube in cubes if cube["dimension"] == dimension), None)
    if cube is None:
        dimensions = ", ".join(str(cube["dimension"]) for cube in cubes)
        with under("dimension"):
            raise BadInput(
                f"expected one of {dimensions} for {given['nodes']} nodes, got {dimension};"
                " a cube has radices of 2 at least"
            )
    return Cubes(cubes, cube=cube)


def _rows(columns: Columns) -> list[Row]:
    """Return rows of the table `latency` from its columns. Infinite numbers become None."""
    rows = arrow_table(columns).to_pylist()
    return [
        {name: None if isinstance(value, float) and not isfinite(value) else value for name, value in row.items()}
        for row in rows
    ]


class LatencyQuestion(Askable):
    ask = staticmethod(latency)
    command = "latency"
    Entry = Entry
    description = "latency by the papers' models; if absent, only the numbers that the papers print"
    heeds = heeds("direction, terminals, forwarding")
    refuses = ("bandwidth", "latency", "terminals", "terminal rate", "forwarding")
    about = "networks"
    how = ("backend",)
    examples = (
        'latency "pruned_torus(k=16, n=3)" --message-bits 96 --switch-delay 3 --rate 0.01',
        'latency "rtt(a=16)" --message-bits 384 --pins 128 --rate 0.005 --json',
        'latency "torus(k=16, n=3)" "pruned_torus(k=16, n=3)" "hypercube(n=12)" --constant bisection --budget 4',
        'latency "rt(a=16)" "rtt(a=16)" --constant wiring_volume --message-bits 384 --rate 0.01',
        "latency --model dally-1990 --nodes 1048576 --message-bits 150 --wire-delay constant",
        "latency --model dally-1990 --nodes 1048576 --message-bits 150 --dimension 3 --radices whole --json",
    )


QUESTION = LatencyQuestion()
