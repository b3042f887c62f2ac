"""The command about the papers' analytic models: latency."""

from __future__ import annotations

from typing import Any

import click

from torusweep.cli import options
from torusweep.cli.describe import complete_topology

PARHAMI_KWAI, DALLY = "parhami-kwai-2004", "dally-1990"
MOST_NODES = 2**31 - 1
# options that only one of the models takes
OWN = {
    PARHAMI_KWAI: ("--switch-delay", "--rate", "--constant", "--budget", "--pins", "--placement"),
    DALLY: ("--nodes", "--wire-delay", "--dimension", "--locality", "--radices"),
}


@click.command()
@click.argument("topologies", metavar="[TOPOLOGY]...", nargs=-1, shell_complete=complete_topology)
@click.option(
    "--model", type=click.Choice([PARHAMI_KWAI, DALLY]), default=PARHAMI_KWAI, show_default=True, help="Whose model."
)
@click.option(
    "--message-bits",
    type=click.FloatRange(0, 1e9, min_open=True),
    default=96,
    show_default=True,
    help="Length of a message, L.",
)
@click.option(
    "--switch-delay",
    type=click.FloatRange(0, 1e9, min_open=True),
    help="Cycles from a channel into the next, s.  [default: 3]",
)
@click.option(
    "--rate", type=click.FloatRange(0, 1e9), help="Messages per node and cycle, m.  [default: 0, an empty network]"
)
@click.option(
    "--constant",
    type=click.Choice(["pins", "bisection", "wiring_volume"]),
    help="What decides how wide channels are.  [default: pins]",
)
@click.option(
    "--budget",
    type=click.FloatRange(0, 1e9, min_open=True),
    help="Of that, a node: pins [default: 96], wires across the middle, both ways [1], or pitches of wire [96].",
)
@click.option("--pins", type=click.FloatRange(0, 1e9, min_open=True), help="The same as --constant pins --budget.")
@click.option("--placement", help="Whose wires --constant wiring_volume means, as in layout.  [default: folded]")
@click.option("--nodes", type=click.IntRange(4, MOST_NODES), help="Nodes of the k-ary n-cubes.")
@click.option(
    "--wire-delay",
    type=click.Choice(["constant", "logarithmic", "linear"]),
    help="How a cycle grows with the longest wire.  [default: constant]",
)
@click.option("--dimension", type=click.IntRange(2, 30), help="Of this many dimensions.  [default: the best]")
@click.option(
    "--locality",
    type=click.FloatRange(0, 1, min_open=True),
    help="Mean distance as a share of the uniform one.  [default: 1]",
)
@click.option(
    "--radices",
    type=click.Choice(["real", "whole"]),
    help="k = N^(1/n), or whole radices, mixed where they must be.  [default: real]",
)
@options.json_output
@options.backend
def latency(
    topologies: tuple[str, ...], model: str, message_bits: float, as_json: bool, backend: str, **given: Any
) -> None:
    """Mean latency of messages, by the model of a paper: Parhami & Kwai's of each TOPOLOGY, or Dally's of cubes of NODES nodes.

    Several networks are compared at equal cost: under one budget of pins, of wires across the middle
    (the best balanced cut known), or of wire, the channels of each are as wide as that allows.

    \b
    Models:
      parhami-kwai-2004   virtual cut-through, contention; of any network. Twice: as printed, where all
                          channels are equally busy; and corrected, by link class, as busy as uniform
                          traffic on minimal routes makes them. Infinite (in JSON: null, and "saturated")
                          from saturation on.
      dally-1990          k-ary n-cubes of constant bisection width, wormhole routing, no contention. Twice:
                          with wires as printed (Eq. 13), and with those of the folded rings of its layout

    \b
    Examples:
      torusweep latency "pruned_torus(k=16, n=3)" --message-bits 96 --switch-delay 3 --rate 0.01
      torusweep latency "rtt(a=16)" --message-bits 384 --pins 128 --rate 0.005 --json
      torusweep latency "torus(k=16, n=3)" "pruned_torus(k=16, n=3)" "hypercube(n=12)" --constant bisection --budget 4
      torusweep latency "rt(a=16)" "rtt(a=16)" --constant wiring_volume --message-bits 384 --rate 0.01
      torusweep latency --model dally-1990 --nodes 1048576 --message-bits 150 --wire-delay constant
      torusweep latency --model dally-1990 --nodes 1048576 --message-bits 150 --dimension 3 --radices whole --json
    """
    from torusweep.errors import BadInput
    from torusweep.tables.arrow_start import without_pandas

    without_pandas()
    others = OWN[DALLY if model == PARHAMI_KWAI else PARHAMI_KWAI]
    for name in others:
        if given[name[2:].replace("-", "_")] is not None:
            raise BadInput(
                f"{name}: the model {model} does not take it; it takes {', '.join(('--message-bits', *OWN[model]))}"
            )
    chosen = {name: value for name, value in given.items() if value is not None}
    for name, value in (("message_bits", message_bits), *chosen.items()):
        if value != value:  # not a number: outside no range
            raise BadInput(f"--{name.replace('_', '-')}: expected a number, got {value}")
    try:
        if model == PARHAMI_KWAI:
            found, remarks = _of_networks(topologies, message_bits, backend, chosen)
        else:
            record, all_dimensions = _of_cubes(topologies, message_bits, chosen)
    except ValueError as error:
        raise BadInput(str(error)) from None
    if as_json:
        options.print_json(record if model == DALLY else found[0] if len(found) == 1 else found)
        return
    from torusweep.cli.latency_text import print_comparison, print_cubes, print_latency

    if model == DALLY:
        print_cubes(record, all_dimensions)
    elif len(found) == 1:
        print_latency(found[0], remarks)
    else:
        print_comparison(found, remarks)


def _of_networks(
    topologies: tuple[str, ...], message_bits: float, backend: str, given: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[str]]:
    """The networks' records, measured here, and what is not known of them."""
    from torusweep.cli.progress import shared, waiting
    from torusweep.errors import BadInput
    from torusweep.models.measure import static_of, width_measured, with_loads
    from torusweep.models.normalisation import held
    from torusweep.models.table import arrow_table, check, network_of, parhami_kwai_columns
    from torusweep.networks.families import build
    from torusweep.results.table_text import records
    from torusweep.stages.layout.placements import canonical

    if not topologies:
        raise BadInput('expected a topology, got none; as in torusweep latency "torus(k=16, n=3)" --rate 0.01')
    alike = held(given.get("constant", "pins"), **{name: given.get(name) for name in ("budget", "pins", "placement")})
    if alike.placement is not None:
        alike = alike._replace(placement=canonical(alike.placement))
    networks, widths, remarks = [], [], []
    for topology in [build(spelling) for spelling in topologies]:
        with waiting(f"{topology.spelling}: distances{', cuts' if alike.norm == 'bisection' else ''}"):
            static = static_of(topology, alike, backend=backend)
            width = width_measured(topology, alike, static)
        check(network_of(static), [message_bits], width)
        with shared(f"{topology.spelling}: routes followed") as told:
            network, reason = with_loads(topology, static, backend=backend, progress=told)
        networks.append(network)
        widths.append(width)
        remarks += _remarks(static, reason)
    columns = parhami_kwai_columns(
        networks,
        widths,
        message_bits=[message_bits],
        switch_delay=[given.get("switch_delay", 3.0)],
        held=alike,
        rates=[given.get("rate", 0.0)],
    )
    return records(arrow_table(columns)), remarks


def _remarks(static: dict[str, Any], reason: str) -> list[str]:
    """What a reader should know of a network: its loads are not known, or its bisection width is only bounded."""
    found = [f"{static['topology']}: channel loads are not known: {reason}"] if reason else []
    lower, upper = static.get("bisection_lower"), static.get("bisection_upper")
    if lower != upper:
        least = "1" if lower is None else f"{lower:,}"
        found.append(
            f"{static['topology']}: the best cut known has {upper:,} links, the narrowest {least} at least; a narrower one allows wider channels"
        )
    return found


def _of_cubes(
    topologies: tuple[str, ...], message_bits: float, given: dict[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The record of the dimension asked for, or of the best, and those of all dimensions."""
    from torusweep.errors import BadInput
    from torusweep.models.table import arrow_table, dally_columns
    from torusweep.results.table_text import records

    if topologies or "nodes" not in given:
        got = f"the topology {topologies[0]}" if topologies else "neither"
        raise BadInput(
            f"expected --nodes and no topology with --model {DALLY}, got {got}; its cubes follow from their number of nodes"
        )
    columns = dally_columns(
        [given["nodes"]],
        message_bits=[message_bits],
        wire_delay=[given.get("wire_delay", "constant")],
        locality=[given.get("locality", 1.0)],
        whole=given.get("radices") == "whole",
    )
    found = records(arrow_table(columns))
    wanted = given.get("dimension", found[0]["best_dimension"])
    own = next((record for record in found if record["dimension"] == wanted), None)
    if own is None:
        there = ", ".join(str(record["dimension"]) for record in found)
        raise BadInput(
            f"--dimension: expected one of {there} for {given['nodes']} nodes, got {wanted}; a cube has radices of 2 at least"
        )
    return own, found
