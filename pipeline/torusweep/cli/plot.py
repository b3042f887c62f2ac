"""torusweep plot: two columns of a sweep as a picture."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.charts import chart as charts
from torusweep.cli import options
from torusweep.errors import BadInput
from torusweep.results import plot as plots
from torusweep.stages.tables import TABLES


def _complete_column(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return sorted({column.name for table in TABLES.values() for column in table if column.name.startswith(incomplete)})


@click.command()
@click.argument("x", shell_complete=_complete_column)
@click.argument("y", shell_complete=_complete_column)
@click.option(
    "--table",
    help="Table whose rows to draw, together with the columns of static.  "
    "[default: the first table that has both columns]",
)
@options.results
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to write, .svg or .png.  [default: Y-X.svg]"
)
@click.option(
    "--colour", "--color", default="family", show_default=True, help="Column that gives the colour: words or numbers."
)
@click.option(
    "--log", type=click.Choice(["none", "x", "y", "both"]), default="none", show_default=True, help="Logarithmic axes."
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
      torusweep plot mean_distance saturation_load --where "routing = 'minimal' AND traffic = 'uniform'" -o load.png
      torusweep plot nodes bisection_upper --colour degree_max --where "nodes BETWEEN 4000 AND 4200"
    """
    target = output or Path(f"{y}-{x}.svg")
    if target.suffix not in charts.SUFFIXES:
        raise BadInput(f"--output: expected a name that ends in .svg or .png, got '{target}'")
    drawn = plots.plot(results, x, y, table=table, colour=colour, log=log, where=where or None)
    charts.save(drawn.specification, target)
    if as_json:
        numbers = {"rows": drawn.rows, "left_out": drawn.left_out, "drawn": drawn.drawn}
        options.print_json({"output": str(target), **numbers})
        return
    click.echo(str(target))
    if plots.remarks(drawn):
        click.echo(plots.remarks(drawn), err=True)
