"""torusweep plot: two columns of a sweep as a picture."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep import charts
from torusweep.answers import plot as plots
from torusweep.answers.choices import Choices
from torusweep.cli import options
from torusweep.errors import BadInput


@click.command()
@click.argument("x", shell_complete=options.complete_column)
@click.argument("y", shell_complete=options.complete_column)
@click.option(
    "--table",
    help="Table whose rows to draw, together with the columns of static.  "
    "[default: the first table that has both columns]",
)
@options.several_results
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    callback=options.writable,
    help="File to write, .svg, .pdf or .png.  [default: Y-X.svg]",
)
@click.option(
    "--series",
    "--colour",
    "--color",
    "series",
    shell_complete=options.complete_column,
    help="Columns that give colour and symbol, separated by commas; one of numbers gives a colour scale.  "
    "[default: family; of lines, what they differ in]",
)
@click.option(
    "--lines/--no-lines",
    default=None,
    help="Lines through the rows of a series, with error bars.  [default: where X is a load, rate or distance]",
)
@click.option(
    "--log",
    type=click.Choice([plots.AUTO, *plots.LOG]),
    default=plots.AUTO,
    show_default=True,
    help="Logarithmic axes. auto: of positive numbers that span two decades and more.",
)
@click.option("--where", help='An SQL condition on any columns, as in "nodes < 1000".')
@options.choices
@options.json_output
def plot(
    x: str,
    y: str,
    table: str | None,
    results: list[Path],
    output: Path | None,
    series: str | None,
    lines: bool | None,
    log: str,
    where: str | None,
    choices: dict[str, str | None],
    as_json: bool,
) -> None:
    """Draw column Y against column X of a sweep's tables, as SVG, PDF or PNG.

    Columns of all tables can be drawn; 'torusweep query --schema' lists them, and TABLE.COLUMN is a column of that
    table. Rows of several routings, traffic patterns or models are drawn apart, or not at all.

    \b
    Examples:
      torusweep plot nodes mean_distance --log both
      torusweep plot nodes mean_distance --lines
      torusweep plot offered_load total_latency -o curve.pdf
      torusweep plot mean_distance saturation_load --traffic uniform --series routing -o load.png
      torusweep plot nodes bisection_upper --series degree_max --where "nodes BETWEEN 4000 AND 4200"
    """
    target = output or Path(f"{y}-{x}.svg")
    if target.suffix not in charts.SUFFIXES:
        raise BadInput(f"--output: expected a name that ends in .svg, .pdf or .png, got '{target}'; choose one")
    if output is None:
        options.writable(click.get_current_context(), None, target)
    drawn = plots.plot(
        results,
        x,
        y,
        table=table,
        series=[name.strip() for name in series.split(",") if name.strip()] if series else None,
        lines=lines,
        log=log,
        where=where or None,
        choices=Choices(**choices),
    )
    charts.save(drawn.specification, target)
    if as_json:
        numbers = {"rows": drawn.rows, "left_out": drawn.left_out, "drawn": drawn.drawn}
        options.print_json({"output": str(target), **numbers})
        return
    click.echo(str(target))
    if plots.remarks(drawn):
        click.echo(plots.remarks(drawn), err=True)
