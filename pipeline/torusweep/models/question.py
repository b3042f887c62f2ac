"""The question `latency`: mean latency by the papers' analytic models."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, Literal, TypedDict, Unpack, cast

from torusweep.errors import BadInput
from torusweep.models.answer import Cubes, Latencies, Latency
from torusweep.models.inputs import placement_of, static_of, width_measured, with_loads
from torusweep.models.normalisation import constraint
from torusweep.models.table import (
    DALLY,
    PARHAMI_KWAI,
    Columns,
    arrow_table,
    check,
    dally_columns,
    network_of,
    parhami_kwai_columns,
)
from torusweep.networks.topology import Meaning, Number, Topology, Whole
from torusweep.questions.answer import Row
from torusweep.questions.entry import MOST_NODES, under
from torusweep.questions.how import How
from torusweep.questions.question import Askable

MOST = 10**9  # bits, rates, delays and budgets


class OfNetworks(TypedDict, total=False):
    """What only the model of Parhami & Kwai takes."""

    switch_delay: Annotated[float, Number(0, "cycles from one channel to the next, s; 3 by default", MOST, above=True)]
    rate: Annotated[float, Number(0, "messages per node and cycle, m; by default 0, an empty network", MOST)]
    constant: Annotated[
        Literal["pins", "bisection", "wiring_volume"],
        Meaning("the cost that all networks share; it decides the width of their channels; pins by default"),
    ]
    budget: Annotated[
        float,
        Number(
            0,
            "that cost per node: pins (96 by default), wires across the middle in both directions (1), or pitches of"
            " wire (96)",
            MOST,
            above=True,
        ),
    ]
    pins: Annotated[float, Number(0, "another name for the budget of constant pins", MOST, above=True)]
    placement: Annotated[
        str,
        Meaning("the placement whose wires a constant wiring_volume counts; by default folded, straight for a mesh"),
    ]


class OfCubes(TypedDict, total=False):
    """What only the model of Dally takes."""

    nodes: Annotated[int, Whole(4, "nodes of the k-ary n-cubes", MOST_NODES)]
    wire_delay: Annotated[
        Literal["constant", "logarithmic", "linear"],
        Meaning("how the cycle time grows with the longest wire; constant by default"),
    ]
    dimension: Annotated[int, Whole(2, "dimension of the cube; by default the best", 30)]
    locality: Annotated[
        float, Number(0, "mean distance as a share of that of uniform traffic; 1 by default", 1, above=True)
    ]
    radices: Annotated[
        Literal["real", "whole"],
        Meaning("whether radices are real, k = N^(1/n), or whole numbers, mixed where needed; real by default"),
    ]


class OfAModel(OfNetworks, OfCubes, total=False):
    """What one of the models takes."""


def latency(
    networks: Sequence[Topology],
    how: How,
    *,
    model: Annotated[Literal["parhami-kwai-2004", "dally-1990"], Meaning("the model")] = "parhami-kwai-2004",
    message_bits: Annotated[float, Number(0, "message length, L", MOST, above=True)] = 96,
    **given: Unpack[OfAModel],
) -> Latency | Latencies | Cubes:
    """Mean latency by a paper's model: Parhami & Kwai's for each network, Dally's for cubes of so many nodes.

    Several networks are compared at equal cost: a budget of pins, of wires across the middle (of the best
    balanced cut known), or of wire. The channels of each are as wide as the budget allows.

      Models:
        parhami-kwai-2004   any network; virtual cut-through, with contention. As printed: all channels are
                            equally busy. Corrected: each link class is as busy as uniform traffic on minimal
                            routes makes it. Infinite from saturation on (in JSON: null, and "saturated").
        dally-1990          k-ary n-cubes of constant bisection width; wormhole routing, no contention.
                            As printed: wires of Eq. 13. Corrected: the wires of folded rings, its layout.

    >>> import torusweep as ts
    >>> ts.network("pruned_torus(k=16, n=3)").latency(rate=0.01).saturation_rate_corrected
    0.0625
    >>> ts.latency(model="dally-1990", nodes=2**20, message_bits=150).cube["best_dimension"]
    5
    """
    chosen = cast(OfAModel, {name: value for name, value in given.items() if value is not None})
    kind, needed = (OfCubes, DALLY) if model == PARHAMI_KWAI else (OfNetworks, PARHAMI_KWAI)
    for name in chosen:
        if name in kind.__annotations__:
            with under(name):
                raise BadInput(f"expected with the model {needed} only, got {model}; leave it out")
    try:
        if model == DALLY:
            return _cubes(networks, message_bits, chosen)
        return _networks(networks, how, message_bits, chosen)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _networks(networks: Sequence[Topology], how: How, message_bits: float, given: OfNetworks) -> Latency | Latencies:
    """Parhami & Kwai's model: one network in full, or several side by side."""
    if not networks:
        raise BadInput('expected a topology, got none; as in torusweep latency "torus(k=16, n=3)" --rate 0.01')
    cost = constraint(
        given.get("constant", "pins"),
        budget=given.get("budget"),
        pins=given.get("pins"),
        placement=given.get("placement"),
    )
    inputs, widths, placements, limits = [], [], [], []
    for topology in networks:
        with how.progress.wait(f"{topology.spelling}: distances{', cuts' if cost.norm == 'bisection' else ''}"):
            static = static_of(topology, cost, backend=how.backend)
            placement = placement_of(cost, topology.family)
            width = width_measured(topology, cost._replace(placement=placement), static)
        check(network_of(static), [message_bits], width)
        with how.progress.share(f"{topology.spelling}: routes followed") as progress:
            network, reason = with_loads(topology, static, backend=how.backend, progress=progress)
        inputs.append(network)
        widths.append(width)
        placements.append(placement)
        limits += _limits(static, reason)
    columns = parhami_kwai_columns(
        inputs,
        widths,
        message_bits=[message_bits],
        switch_delay=[given.get("switch_delay", 3.0)],
        constraint=cost,
        placements=placements,
        rates=[given.get("rate", 0.0)],
    )
    rows = _rows(columns)
    return Latency(rows[0], limits=limits) if len(rows) == 1 else Latencies(rows, limits=limits)


def _limits(static: Row, reason: str) -> list[str]:
    """What limits a network's numbers: unknown loads (and the reason), a bisection width that is only bounded."""
    limits = [f"{static['topology']}: channel loads are not known: {reason}"] if reason else []
    lower, upper = static.get("bisection_lower"), static.get("bisection_upper")
    if lower != upper:
        least = "1" if lower is None else f"{lower:,}"
        limits.append(
            f"{static['topology']}: the best cut known has {upper:,} links, the narrowest has at least {least}; "
            "a narrower cut allows wider channels"
        )
    return limits


def _cubes(networks: Sequence[Topology], message_bits: float, given: OfCubes) -> Cubes:
    """Dally's model: the cube of the dimension given, else of the best one, beside those of all dimensions."""
    if networks or "nodes" not in given:
        got = f"the topology {networks[0].spelling}" if networks else "neither"
        with under("nodes"):
            raise BadInput(
                f"expected nodes and no topology with the model {DALLY}, got {got};"
                " its cubes follow from their number of nodes"
            )
    columns = dally_columns(
        [given["nodes"]],
        message_bits=[message_bits],
        wire_delay=[given.get("wire_delay", "constant")],
        locality=[given.get("locality", 1.0)],
        whole=given.get("radices") == "whole",
    )
    cubes = _rows(columns)
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
    """Rows of the table `latency`; an infinite number is None."""
    rows = arrow_table(columns).to_pylist()
    return [
        {name: None if isinstance(value, float) and not isfinite(value) else value for name, value in row.items()}
        for row in rows
    ]


class LatencyQuestion(Askable):
    ask = staticmethod(latency)
    command = "latency"
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
