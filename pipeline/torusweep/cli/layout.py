"""torusweep layout: where one network's nodes are placed, and its wires."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.cli import options
from torusweep.cli.layout_text import print_layout
from torusweep.networks.families import build
from torusweep.stages.layout import layout_record, spelling_of
from torusweep.stages.layout.drawing import svg_layout
from torusweep.stages.layout.placements import default_placement
from torusweep.tables.store import publish


@click.command()
@options.topology
@click.option(
    "--placement",
    shell_complete=options.complete_from("torusweep.stages.layout:PLACEMENTS"),
    help="Where nodes are placed: a name of the list above.  [default: folded; straight for a mesh]",
)
@click.option(
    "--dimensions",
    type=int,
    help="Dimensions of space, 1 … 3.  [default: the network's; 2 if it has more than three]",
)
@click.option(
    "--block",
    help="Sides of a cabinet in nodes, one for each digit of the address, as in 4,4,2. "
    "Only wires between cabinets count.",
)
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
    callback=options.writable,
    help="Also draw the layout and its wires to this file.",
)
@options.json_output
def layout(
    topology: str, placement: str | None, dimensions: int | None, block: str | None, svg: Path | None, as_json: bool
) -> None:
    """Wires of TOPOLOGY under a placement: their lengths, their density along a row, the volume that they need.

    Lengths are in pitches, the distance between neighbouring places: along the axes (Manhattan), and in
    a straight line.

    \b
    Placements:
      straight    every node at its address
      folded      every ring folded, 0, k-1, 1, k-2, …: neighbours on a ring are at most 2 apart
      trellis     for rtt and ptt: no wire longer than √5 (3 along the axes), at any size
      shuffled    for rtt, ptt and pdtt: no wire longer than 4

    \b
    Examples:
      torusweep layout "torus(k=8, n=2)"
      torusweep layout "rtt(a=4)" --placement trellis --svg rtt.svg
      torusweep layout "ptt(a=32)" --placement trellis --block 8,8,32
      torusweep layout "hypercube(n=10)" --placement straight --dimensions 2 --json
    """
    network = build(topology)
    placement = placement or default_placement(network.family)
    record = layout_record(network, spelling_of(placement, dimensions, block))
    if svg is not None:
        publish(svg, f"{svg_layout(network, record['placement'])}\n".encode())
    if as_json:
        options.print_json(record)
    else:
        print_layout(record, network)
