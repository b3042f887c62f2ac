"""The command about the papers' analytic models: latency."""

from __future__ import annotations

from typing import Any

import click

from pipeline.cli import options
from pipeline.cli.network import complete_topology

PARHAMI_KWAI, DALLY = "parhami-kwai-2004", "dally-1990"
MOST_NODES = 2**31 - 1
# options that only one of the models takes
OWN = {
    PARHAMI_KWAI: ("--switch-delay", "--rate", "--pins"),
    DALLY: ("--nodes", "--wire-delay", "--dimension", "--locality", "--radices"),
}


@click.command()
@click.argument("topology", required=False, shell_complete=complete_topology)
@click.option("--model", type=click.Choice([PARHAMI_KWAI, DALLY]), default=PARHAMI_KWAI, show_default=True, help="Whose model.")
@click.option("--message-bits", type=click.FloatRange(0, 1e9, min_open=True), default=96, show_default=True, help="Length of a message, L.")
@click.option("--switch-delay", type=click.FloatRange(0, 1e9, min_open=True), help="Cycles from a channel into the next, s.  [default: 3]")
@click.option("--rate", type=click.FloatRange(0, 1e9), help="Messages per node and cycle, m.")
@click.option("--pins", type=click.FloatRange(0, 1e9, min_open=True), help="Pins of a node, shared out among its channels.  [default: 96]")
@click.option("--nodes", type=click.IntRange(4, MOST_NODES), help="Nodes of the k-ary n-cubes.")
@click.option(
    "--wire-delay", type=click.Choice(["constant", "logarithmic", "linear"]), help="How a cycle grows with the longest wire.  [default: constant]"
)
@click.option("--dimension", type=click.IntRange(2, 30), help="Of this many dimensions.  [default: the best]")
@click.option("--locality", type=click.FloatRange(0, 1, min_open=True), help="Mean distance as a share of the uniform one.  [default: 1]")
@click.option("--radices", type=click.Choice(["real", "whole"]), help="k = N^(1/n), or whole radices, mixed where they must be.  [default: real]")
@options.json_output
@options.backend
def latency(topology: str | None, model: str, message_bits: float, as_json: bool, backend: str, **given: Any) -> None:
    """Mean latency of messages, by the model of a paper: Parhami & Kwai's of TOPOLOGY, or Dally's of cubes of NODES nodes.

    \b
    Models:
      parhami-kwai-2004   virtual cut-through, constant pins a node, contention; of any network. Twice: as
                          printed, where all channels are equally busy; and corrected, by link class, as
                          busy as uniform traffic on minimal routes makes them. Infinite (in JSON: null,
                          and "saturated") from saturation on.
      dally-1990          k-ary n-cubes of constant bisection width, wormhole routing, no contention

    \b
    Examples:
      torusweep latency "pruned_torus(k=16, n=3)" --message-bits 96 --switch-delay 3 --rate 0.01
      torusweep latency "rtt(a=16)" --message-bits 384 --pins 128 --rate 0.005 --json
      torusweep latency --model dally-1990 --nodes 1048576 --message-bits 150 --wire-delay constant
      torusweep latency --model dally-1990 --nodes 1048576 --message-bits 150 --dimension 3 --radices whole --json
    """
    from pipeline.errors import BadInput

    others = OWN[DALLY if model == PARHAMI_KWAI else PARHAMI_KWAI]
    for name in others:
        if given[name[2:].replace("-", "_")] is not None:
            raise BadInput(f"{name}: the model {model} does not take it; it takes {', '.join(('--message-bits', *OWN[model]))}")
    chosen = {name: value for name, value in given.items() if value is not None}
    for name, value in (("message_bits", message_bits), *chosen.items()):
        if value != value:  # not a number: outside no range
            raise BadInput(f"--{name.replace('_', '-')}: expected a number, got {value}")
    try:
        if model == PARHAMI_KWAI:
            record, reason = _of_network(topology, message_bits, backend, chosen)
        else:
            record, all_dimensions = _of_cubes(topology, message_bits, chosen)
    except ValueError as error:
        raise BadInput(str(error)) from None
    if as_json:
        options.print_json(record)
        return
    from pipeline.cli.rendering_latency import print_cubes, print_latency

    if model == PARHAMI_KWAI:
        print_latency(record, reason)
    else:
        print_cubes(record, all_dimensions)


def _of_network(topology: str | None, message_bits: float, backend: str, given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The network's record, measured here, and why its loads were not, if they were not."""
    from pipeline.errors import BadInput
    from pipeline.models.measure import measured
    from pipeline.models.table import arrow_table, parhami_kwai_columns
    from pipeline.table_text import records

    if topology is None or "rate" not in given:
        missing = "a topology" if topology is None else "--rate, messages per node and cycle"
        raise BadInput(f'expected {missing}, got none; as in torusweep latency "torus(k=16, n=3)" --rate 0.01')
    network, reason = measured(topology, backend=backend)
    columns = parhami_kwai_columns(
        [network],
        message_bits=[message_bits],
        switch_delay=[given.get("switch_delay", 3.0)],
        pins=given.get("pins", 96.0),
        rates=[given["rate"]],
    )
    return records(arrow_table(columns))[0], reason


def _of_cubes(topology: str | None, message_bits: float, given: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The record of the dimension asked for, or of the best, and those of all dimensions."""
    from pipeline.errors import BadInput
    from pipeline.models.table import arrow_table, dally_columns
    from pipeline.table_text import records

    if topology is not None or "nodes" not in given:
        got = f"the topology {topology}" if topology is not None else "neither"
        raise BadInput(f"expected --nodes and no topology with --model {DALLY}, got {got}; its cubes follow from their number of nodes")
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
        raise BadInput(f"--dimension: expected one of {there} for {given['nodes']} nodes, got {wanted}; a cube has radices of 2 at least")
    return own, found
