"""The command about where nodes stand and how long wires are: layout."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.cli import options
from torusweep.cli.describe import complete_topology


def _complete_placement(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from torusweep.stages.layout import PLACEMENTS

    return [name for name in PLACEMENTS if name.startswith(incomplete)]


@click.command()
@click.argument("topology", shell_complete=complete_topology)
@click.option(
    "--placement",
    default="folded",
    show_default=True,
    shell_complete=_complete_placement,
    help="Where nodes stand: one of the list above.",
)
@click.option(
    "--dimensions", type=int, help="Dimensions of space, 1 … 3; without it the network's own, or a plane beyond three."
)
@click.option(
    "--block",
    help="Sides of a cabinet in nodes, one for each digit of the address, as in 4,4,2: only wires between cabinets count.",
)
@click.option(
    "--svg", type=click.Path(path_type=Path, dir_okay=False), help="Also draw the layout and its wires to this file."
)
@options.json_output
def layout(
    topology: str, placement: str, dimensions: int | None, block: str | None, svg: Path | None, as_json: bool
) -> None:
    """Wires of TOPOLOGY under a placement: their lengths, their density along a row, the volume they need.

    Lengths are in pitches, the distance between neighbouring places, along the dimensions of space
    (Manhattan) and as the crow flies.

    \b
    Placements:
      straight    every node at its address
      folded      every ring folded, 0, k-1, 1, k-2, …: ring neighbours are at most 2 apart
      trellis     of rtt and ptt: no wire longer than √5 (3 along the dimensions), whatever the size
      shuffled    of rtt, ptt and pdtt: no wire longer than 4

    \b
    Examples:
      torusweep layout "torus(k=8, n=2)"
      torusweep layout "rtt(a=4)" --placement trellis --svg rtt.svg
      torusweep layout "ptt(a=32)" --placement trellis --block 8,8,32
      torusweep layout "hypercube(n=10)" --placement straight --dimensions 2 --json
    """
    from torusweep.networks.families import build
    from torusweep.stages.layout import layout_record, spelled

    network = build(topology)
    record = layout_record(network, spelled(placement, dimensions, block))
    if svg is not None:
        from torusweep.stages.layout.drawing import svg_layout
        from torusweep.tables.store import publish

        publish(svg, f"{svg_layout(network, record['placement'])}\n".encode())
    if as_json:
        options.print_json(record)
        return
    from torusweep.cli.layout_text import print_layout

    print_layout(record, network)
