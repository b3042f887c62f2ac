"""The commands export (a network's links in another tool's format) and routes (a routing as a table of next hops)."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from torusweep.cli import options
from torusweep.errors import BadInput, writing
from torusweep.interchange import FORMATS, format_name
from torusweep.interchange import export as write
from torusweep.networks.families import build
from torusweep.questions.deadlock.routing_case import FORMATS as TABLE_FORMATS
from torusweep.questions.deadlock.routing_case import routing_table

SUFFIXES = {"": "csv", ".csv": "csv", ".parquet": "parquet"}


@click.command()
@options.topology
@click.option(
    "--format",
    "style",
    shell_complete=options.complete_name("torusweep.interchange:FORMATS"),
    help="A format of the list above.  [default: by the suffix of --output]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File, or folder of a format of several files; what is there is replaced.  [default: the network's name]",
)
@options.json_output
def export(topology: str, style: str | None, output: Path | None, as_json: bool) -> None:
    """Write TOPOLOGY in the format of another tool, and say what the format cannot hold.

    \b
    Formats:
      booksim        BookSim2: an anynet file and a configuration
      sst            SST's Merlin: GraphML and a Python configuration
      astra-sim      ASTRA-sim: files for its ns-3 backend, and for its analytical backend if that can hold the network
      caminos        CAMINOS: a topology file and a configuration
      graphml        XML of networkx, igraph, Gephi and yEd
      networkx-json  networkx's node-link JSON
      edgelist       two nodes a line
      parquet        a row for each link: pandas, Polars, DuckDB

    `torusweep describe FILE` reads the last four and BookSim2's anynet back. docs/interchange.md has examples.

    \b
    Examples:
      torusweep export "rtt(a=8)" --format booksim -o rtt
      torusweep export "torus(k=8, n=2)" --format sst
      torusweep export "torus(k=8, n=2)" -o torus.graphml
      torusweep export my.graphml -o my.parquet
    """
    name = format_name(style, output)
    if output is not None and FORMATS[name].suffix:
        options.writable(click.get_current_context(), None, output)
    written = write(build(topology), name, output)
    if as_json:
        files, notes = [str(path) for path in written.files], list(written.notes)
        options.print_json({"format": written.format, "files": files, "notes": notes, "command": written.command})
    else:
        click.echo(written)


@click.command()
@options.topology
@options.routing
@click.option(
    "--format",
    "form",
    type=options.Choice(TABLE_FORMATS),
    help="csv, parquet: a row for each next hop. matrix: N lines of N numbers, the next nodes.  "
    "[default: by the file's suffix; csv without one]",
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
    help="Virtual channels for the rule's classes; all further classes take the last one.",
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File; without one, standard output."
)
def routes(
    topology: str, routing: str, form: str | None, vc_rule: str, virtual_channels: int, output: Path | None
) -> None:
    """Write a routing on TOPOLOGY as a table, which 'table(path="…")' reads back as the same routing.

    The columns are at, destination and to, the next node. If needed, there are also state and next_state (numbers that
    the packet carries, 0 at first), virtual_channel, and share (weights of the rows of a state).

    \b
    Examples:
      torusweep routes "mesh(k=4, n=2)" --routing dimension_order -o routes.csv
      torusweep routes "torus(k=4, n=2)" --routing dimension_order --vc-rule dateline -o routes.parquet
      torusweep routes "ring(k=6)" --routing "dimension_order(tie=positive)" --format matrix
      torusweep loads "mesh(k=4, n=2)" --routing 'table(path="routes.csv")'
    """
    chosen = form or SUFFIXES.get(output.suffix.lower() if output else "")
    if chosen is None:
        raise BadInput(f"-o {output}: expected a name that ends in .csv or .parquet, or --format; add one")
    if chosen == "parquet" and output is None:
        raise BadInput("--format parquet: expected a file, got standard output; add -o routes.parquet")
    content = routing_table(
        build(topology), routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels, form=chosen
    )
    if output is None:
        sys.stdout.write(content.decode())
        return
    with writing(output):
        output.write_bytes(content)
