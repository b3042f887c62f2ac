"""torusweep export: a network in the format of another tool."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.cli import options
from torusweep.errors import BadInput
from torusweep.interchange import FORMATS, Written, format_name
from torusweep.interchange import export as write
from torusweep.networks.families import build


@click.command()
@options.topology
@click.option(
    "--format",
    "style",
    shell_complete=options.complete_name("torusweep.interchange:FORMATS"),
    help="A name of the list above.  [default: by the suffix of --output]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The file, or for formats of several files the folder; what is there is replaced.  [default: by the network]",
)
@options.json_output
def export(topology: str, style: str | None, output: Path | None, as_json: bool) -> None:
    """Write TOPOLOGY in the format of another tool, and say what the format cannot hold.

    \b
    Formats:
      booksim        BookSim2: an anynet file and a configuration
      sst            SST's Merlin: GraphML and a Python configuration
      astra-sim      ASTRA-sim: for its ns-3 backend, and its analytical one where that can hold the network
      caminos        CAMINOS: a topology file and a configuration
      graphml        XML of networkx, igraph, Gephi and yEd
      networkx-json  networkx's node-link JSON
      edgelist       two nodes a line
      parquet        a row for each link: pandas, Polars, DuckDB

    The last four and BookSim2's anynet are read back: torusweep describe FILE. docs/interchange.md has examples.

    \b
    Examples:
      torusweep export "rtt(a=8)" --format booksim -o rtt
      torusweep export "torus(k=8, n=2)" --format sst
      torusweep export "torus(k=8, n=2)" -o torus.graphml
      torusweep export my.graphml -o my.parquet
    """
    if style is None:
        style = _by_suffix(output)
    name = format_name(style)
    if output is not None and FORMATS[name].suffix:
        options.writable(click.get_current_context(), None, output)
    written = write(build(topology), name, output)
    if as_json:
        options.print_json(
            {
                "format": written.format,
                "files": [str(path) for path in written.files],
                "notes": list(written.notes),
                "command": written.command,
            }
        )
    else:
        _print(written)


def _by_suffix(output: Path | None) -> str:
    """The format whose files end like the output."""
    suffixes = {chosen.suffix: name for name, chosen in FORMATS.items() if chosen.suffix}
    suffix = "" if output is None else output.suffix.lower()
    if suffix not in suffixes:
        raise BadInput(
            f"expected --format, one of {', '.join(FORMATS)}, or --output with a suffix of {', '.join(suffixes)}, got"
            f" {'neither' if output is None else repr(output.name)}; choose a format"
        )
    return suffixes[suffix]


def _print(written: Written) -> None:
    for path in written.files:
        click.echo(f"written: {path}")
    for note in written.notes:
        click.echo(note)
    click.echo(f"to read: {written.command}" if FORMATS[written.format].suffix else f"to run: {written.command}")
