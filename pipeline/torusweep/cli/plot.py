"""The command `torusweep plot`: any two columns as a picture."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.cli import options


def _complete_column(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from torusweep.tables.records import TABLES

    return sorted(
        {column.name for columns in TABLES.values() for column in columns if column.name.startswith(incomplete)}
    )


@click.command()
@click.argument("x", shell_complete=_complete_column)
@click.argument("y", shell_complete=_complete_column)
@click.option(
    "--table", help="Whose rows to draw, static's columns beside them  [default: the first table that has both columns]"
)
@options.results
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to write, .svg or .png  [default: Y-X.svg here]"
)
@click.option(
    "--colour", "--color", default="family", show_default=True, help="A column to colour by: words or numbers."
)
@click.option(
    "--log",
    type=click.Choice(["none", "x", "y", "both"]),
    default="none",
    show_default=True,
    help="Axes that are logarithmic.",
)
@click.option("--where", help="An SQL condition on these columns, as in \"traffic = 'uniform'\".")
@options.json_output
def plot(
    x: str,
    y: str,
    table: str | None,
    results: Path,
    output: Path | None,
    colour: str,
    log: str,
    where: str | None,
    as_json: bool,
) -> None:
    """Draw column Y against column X of a sweep's tables, as SVG or PNG.

    \b
    Examples:
      torusweep plot nodes mean_distance --log both
      torusweep plot mean_distance saturation_load --where "routing = 'minimal' AND traffic = 'uniform'" --output saturation.png
      torusweep plot nodes bisection_upper --colour degree_max --where "nodes BETWEEN 4000 AND 4200"
    """
    from torusweep.errors import BadInput
    from torusweep.results import charts as figures
    from torusweep.results import plot as plots

    target = output or Path(f"{y}-{x}.svg")
    if target.suffix not in figures.SUFFIXES:
        raise BadInput(f"--output: expected a name that ends in .svg or .png, got '{target}'")
    drawn = plots.plot(results, x, y, table=table, colour=colour, log=log, where=where or None)
    figures.save(drawn.specification, target)
    numbers = {"rows": drawn.rows, "left_out": drawn.left_out, "drawn": drawn.drawn}
    if as_json:
        options.print_json({"output": str(target), **numbers})
        return
    click.echo(str(target))
    if plots.said(drawn):
        click.echo(plots.said(drawn), err=True)
