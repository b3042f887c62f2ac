"""torusweep pareto: the designs of a sweep that no other design dominates."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.answers.choices import Choices, front_of, left_out
from torusweep.answers.query import print_table
from torusweep.cli import options
from torusweep.quantities import counted


@click.command()
@click.option(
    "--minimise",
    "--minimize",
    multiple=True,
    shell_complete=options.complete_column,
    help="Columns to minimise, separated by commas; may be repeated.",
)
@click.option(
    "--maximise",
    "--maximize",
    multiple=True,
    shell_complete=options.complete_column,
    help="Columns to maximise, separated by commas; may be repeated.",
)
@click.option("--where", help='An SQL condition on any columns, as in "nodes BETWEEN 4000 AND 4200".')
@options.choices
@options.several_results
@options.output_format
@options.output
@options.json_output
def pareto(
    minimise: tuple[str, ...],
    maximise: tuple[str, ...],
    where: str | None,
    choices: dict[str, str | None],
    results: list[Path],
    style: str,
    output: Path | None,
    as_json: bool,
) -> None:
    """The Pareto front: connected designs that no other dominates.

    A design dominates another if it is as good in all named columns and better in one.

    Columns of all tables can be named; 'torusweep query --schema' lists them, and TABLE.COLUMN is a column of that
    table. Numbers of several routings, traffic patterns or models are not compared unless you ask for it.

    \b
    Examples:
      torusweep pareto --minimise mean_distance,cost --where "nodes BETWEEN 4000 AND 4200"
      torusweep pareto --minimise mean_distance,cost --maximise nodes
      torusweep pareto --minimise cost --maximise saturation_load --traffic uniform --routing best
      torusweep pareto --minimise cost_per_terminal,equal_cost.latency --maximise throughput --traffic uniform
      torusweep pareto --minimise wire_length_max,total_latency --where "placement = 'folded' AND offered_load = 0.1"
    """
    chosen = Choices(**choices)
    table = front_of(
        results,
        minimise=options.listed(minimise),
        maximise=options.listed(maximise),
        where=where or None,
        choices=chosen,
    )
    print_table(table, "json" if as_json else style, output)
    if left_out(table):
        click.echo(f"left out: {counted(left_out(table), 'design')} without a value in one of these columns", err=True)
