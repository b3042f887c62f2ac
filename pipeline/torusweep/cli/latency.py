"""torusweep latency: mean latency by the papers' analytic models."""

from __future__ import annotations

from typing import Any

import click

from torusweep.cli import options
from torusweep.cli.latency_text import print_comparison, print_cubes, print_latency
from torusweep.cli.progress import share_progress, wait_notice
from torusweep.errors import BadInput
from torusweep.models.normalisation import constraint
from torusweep.models.table import arrow_table, check, dally_columns, network_of, parhami_kwai_columns
from torusweep.networks.families import build
from torusweep.results.table_text import records
from torusweep.sweep.latency import placement_of
from torusweep.sweep.model_inputs import static_of, width_measured, with_loads

PARHAMI_KWAI, DALLY = "parhami-kwai-2004", "dally-1990"
MAX_NODES = 2**31 - 1
MAX_BITS = 1e9  # also of rates, delays and budgets
MODEL_OPTIONS = {  # options of one model only
    PARHAMI_KWAI: ("--switch-delay", "--rate", "--constant", "--budget", "--pins", "--placement"),
    DALLY: ("--nodes", "--wire-delay", "--dimension", "--locality", "--radices"),
}
POSITIVE = options.Real(0, MAX_BITS, min_open=True)

Record = dict[str, Any]


@click.command()
@click.argument("topologies", metavar="[TOPOLOGY]...", nargs=-1, shell_complete=options.complete_topology)
@click.option(
    "--model", type=click.Choice([PARHAMI_KWAI, DALLY]), default=PARHAMI_KWAI, show_default=True, help="The model."
)
@click.option("--message-bits", type=POSITIVE, default=96, show_default=True, help="Message length, L.")
@click.option("--switch-delay", type=POSITIVE, help="Cycles from one channel to the next, s.  [default: 3]")
@click.option(
    "--rate",
    type=options.Real(0, MAX_BITS),
    help="Messages per node and cycle, m.  [default: 0, an empty network]",
)
@click.option(
    "--constant",
    type=click.Choice(["pins", "bisection", "wiring_volume"]),
    help="The cost that all networks share; it decides the width of their channels.  [default: pins]",
)
@click.option(
    "--budget",
    type=POSITIVE,
    help="That cost per node: pins [default: 96], wires across the middle in both directions [1], "
    "or pitches of wire [96].",
)
@click.option("--pins", type=POSITIVE, help="Short for --constant pins --budget.")
@click.option(
    "--placement",
    help="The placement whose wires --constant wiring_volume counts.  [default: folded; straight for a mesh]",
)
@click.option("--nodes", type=click.IntRange(4, MAX_NODES), help="Nodes of the k-ary n-cubes.")
@click.option(
    "--wire-delay",
    type=click.Choice(["constant", "logarithmic", "linear"]),
    help="How the cycle time grows with the longest wire.  [default: constant]",
)
@click.option("--dimension", type=click.IntRange(2, 30), help="Dimension of the cube.  [default: the best]")
@click.option(
    "--locality",
    type=options.Real(0, 1, min_open=True),
    help="Mean distance as a share of that of uniform traffic.  [default: 1]",
)
@click.option(
    "--radices",
    type=click.Choice(["real", "whole"]),
    help="real: k = N^(1/n). whole: whole numbers, mixed where needed.  [default: real]",
)
@options.json_output
@options.backend
def latency(
    topologies: tuple[str, ...], model: str, message_bits: float, as_json: bool, backend: str, **given: Any
) -> None:
    """Mean latency by a paper's model: Parhami & Kwai's for each TOPOLOGY, Dally's for cubes of --nodes nodes.

    Several networks are compared at equal cost: a budget of pins, of wires across the middle (of the best
    balanced cut known), or of wire. The channels of each are as wide as the budget allows.

    \b
    Models:
      parhami-kwai-2004   any network; virtual cut-through, with contention. As printed: all channels are
                          equally busy. Corrected: each link class is as busy as uniform traffic on minimal
                          routes makes it. Infinite from saturation on (in JSON: null, and "saturated").
      dally-1990          k-ary n-cubes of constant bisection width; wormhole routing, no contention.
                          As printed: wires of Eq. 13. Corrected: the wires of folded rings, its layout.

    \b
    Examples:
      torusweep latency "pruned_torus(k=16, n=3)" --message-bits 96 --switch-delay 3 --rate 0.01
      torusweep latency "rtt(a=16)" --message-bits 384 --pins 128 --rate 0.005 --json
      torusweep latency "torus(k=16, n=3)" "pruned_torus(k=16, n=3)" "hypercube(n=12)" --constant bisection --budget 4
      torusweep latency "rt(a=16)" "rtt(a=16)" --constant wiring_volume --message-bits 384 --rate 0.01
      torusweep latency --model dally-1990 --nodes 1048576 --message-bits 150 --wire-delay constant
      torusweep latency --model dally-1990 --nodes 1048576 --message-bits 150 --dimension 3 --radices whole --json
    """
    other = DALLY if model == PARHAMI_KWAI else PARHAMI_KWAI
    for name in MODEL_OPTIONS[other]:
        if given[name[2:].replace("-", "_")] is not None:
            takes = ", ".join(("--message-bits", *MODEL_OPTIONS[model]))
            raise BadInput(f"{name}: the model {model} does not take it; it takes {takes}")
    values = {name: value for name, value in given.items() if value is not None}
    for name, value in {"message_bits": message_bits, **values}.items():
        if value != value:  # NaN, which no range excludes
            raise BadInput(f"--{name.replace('_', '-')}: expected a number, got {value}")
    calculate = _networks if model == PARHAMI_KWAI else _cubes
    try:
        calculate(topologies, message_bits, values, as_json=as_json, backend=backend)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _networks(
    topologies: tuple[str, ...], message_bits: float, values: dict[str, Any], *, as_json: bool, backend: str
) -> None:
    """Parhami & Kwai's model: one network in full, or several side by side."""
    if not topologies:
        raise BadInput('expected a topology, got none; as in torusweep latency "torus(k=16, n=3)" --rate 0.01')
    cost = constraint(
        values.get("constant", "pins"), **{name: values.get(name) for name in ("budget", "pins", "placement")}
    )
    networks, widths, placements, remarks = [], [], [], []
    for topology in [build(spelling) for spelling in topologies]:
        with wait_notice(f"{topology.spelling}: distances{', cuts' if cost.norm == 'bisection' else ''}"):
            static = static_of(topology, cost, backend=backend)
            placement = placement_of(cost, topology.family)
            width = width_measured(topology, cost._replace(placement=placement), static)
        check(network_of(static), [message_bits], width)
        with share_progress(f"{topology.spelling}: routes followed") as progress:
            network, reason = with_loads(topology, static, backend=backend, progress=progress)
        networks.append(network)
        widths.append(width)
        placements.append(placement)
        remarks += _remarks(static, reason)
    columns = parhami_kwai_columns(
        networks,
        widths,
        message_bits=[message_bits],
        switch_delay=[values.get("switch_delay", 3.0)],
        constraint=cost,
        placements=placements,
        rates=[values.get("rate", 0.0)],
    )
    found = records(arrow_table(columns))
    if as_json:
        options.print_json(found[0] if len(found) == 1 else found)
    elif len(found) == 1:
        print_latency(found[0], remarks)
    else:
        print_comparison(found, remarks)


def _remarks(static: Record, reason: str) -> list[str]:
    """What limits a network's numbers: unknown loads (and the reason), a bisection width that is only bounded."""
    remarks = [f"{static['topology']}: channel loads are not known: {reason}"] if reason else []
    lower, upper = static.get("bisection_lower"), static.get("bisection_upper")
    if lower != upper:
        least = "1" if lower is None else f"{lower:,}"
        remarks.append(
            f"{static['topology']}: the best cut known has {upper:,} links, the narrowest has at least {least}; "
            "a narrower cut allows wider channels"
        )
    return remarks


def _cubes(
    topologies: tuple[str, ...], message_bits: float, values: dict[str, Any], *, as_json: bool, backend: str
) -> None:
    """Dally's model: the cube of the dimension given, else of the best one, beside those of all dimensions."""
    if topologies or "nodes" not in values:
        got = f"the topology {topologies[0]}" if topologies else "neither"
        raise BadInput(
            f"expected --nodes and no topology with --model {DALLY}, got {got}; "
            "its cubes follow from their number of nodes"
        )
    columns = dally_columns(
        [values["nodes"]],
        message_bits=[message_bits],
        wire_delay=[values.get("wire_delay", "constant")],
        locality=[values.get("locality", 1.0)],
        whole=values.get("radices") == "whole",
    )
    cubes = records(arrow_table(columns))
    dimension = values.get("dimension", cubes[0]["best_dimension"])
    cube = next((cube for cube in cubes if cube["dimension"] == dimension), None)
    if cube is None:
        dimensions = ", ".join(str(cube["dimension"]) for cube in cubes)
        raise BadInput(
            f"--dimension: expected one of {dimensions} for {values['nodes']} nodes, got {dimension}; "
            "a cube has radices of 2 at least"
        )
    if as_json:
        options.print_json(cube)
    else:
        print_cubes(cube, cubes)
