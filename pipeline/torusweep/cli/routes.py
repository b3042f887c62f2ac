"""torusweep routes: a routing as a table of next hops."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from torusweep.cli import options
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.stages.deadlock.routing_case import FORMATS, routing_table

SUFFIXES = {".csv": "csv", ".parquet": "parquet"}


@click.command()
@options.topology
@options.routing
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="csv, parquet: a row for each next hop. matrix: next nodes, N lines of N numbers.  "
    "[default: by the file's suffix, else csv]",
)
@click.option(
    "--vc-rule",
    default="none",
    show_default=True,
    shell_complete=options.complete_vc_rule,
    help="Name the class of every hop under this rule, in the column virtual_channel.",
)
@click.option(
    "--virtual-channels",
    type=int,
    default=16,
    show_default=True,
    help="Virtual channels that the rule's classes share; higher classes become the last.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File; else standard output.")
def routes(
    topology: str, routing: str, form: str | None, vc_rule: str, virtual_channels: int, output: Path | None
) -> None:
    """Write a routing on TOPOLOGY as a table, which 'table(path="…")' reads back as the same routing.

    The columns are at, destination, to (the next node), and where they are needed state and next_state (what the
    packet carries; it is injected in state 0), virtual_channel, and share (weights of the rows of a state).

    \b
    Examples:
      torusweep routes "mesh(k=4, n=2)" --routing dimension_order -o routes.csv
      torusweep routes "torus(k=4, n=2)" --routing dimension_order --vc-rule dateline -o routes.parquet
      torusweep routes "ring(k=6)" --routing "dimension_order(tie=positive)" --format matrix
      torusweep loads "mesh(k=4, n=2)" --routing 'table(path="routes.csv")'
    """
    chosen = form or (SUFFIXES.get(output.suffix.lower(), "csv") if output else "csv")
    if chosen == "parquet" and output is None:
        raise BadInput("--format parquet: expected a file, got standard output; add -o routes.parquet")
    content = routing_table(
        build(topology), routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels, form=chosen
    )
    if output is None:
        sys.stdout.write(content.decode())
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise BadInput(f"-o {output}: expected a file that can be written, got: {error.strerror}") from None
