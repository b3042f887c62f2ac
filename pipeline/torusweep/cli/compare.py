"""The commands compare (differences of two results) and pareto (the designs that no other dominates)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from torusweep.answers.choices import TIES, Choices, front_of, left_out, lister
from torusweep.answers.compare import compare as differences_of
from torusweep.answers.query import print_table, style_of
from torusweep.cli import options
from torusweep.quantities import counted

COLUMNS: dict[str, Any] = {"multiple": True, "shell_complete": options.complete_column}


@click.command()
@click.option("--minimise", "--minimize", **COLUMNS, help="Columns to minimise, separated by commas; may be repeated.")
@click.option("--maximise", "--maximize", **COLUMNS, help="Columns to maximise, separated by commas; may be repeated.")
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
    style: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """The Pareto front: connected designs that no other dominates.

    A design dominates another if it is as good in all named columns and better in one. Designs with equal values in
    all these columns share a row, which has the first name and the number of networks.

    Columns of all tables can be named; 'torusweep query --schema' lists them, and TABLE.COLUMN is a column of that
    table. Numbers of several routings, traffic patterns or models are not compared unless you ask for it.

    \b
    Examples:
      torusweep pareto --minimise mean_distance,cost --where "nodes BETWEEN 4000 AND 4200"
      torusweep pareto --minimise mean_distance,cost --maximise nodes
      torusweep pareto --minimise cost --maximise saturation_load --traffic uniform --routing best
      torusweep pareto --minimise screen.mean_distance --maximise screen.saturation_load
      torusweep pareto --minimise cost_per_terminal,equal_cost.latency --maximise throughput --traffic uniform
      torusweep pareto --minimise wire_length_max,total_latency --where "placement = 'folded' AND offered_load = 0.1"
    """
    chosen, style = Choices(**choices), style_of("json" if as_json else style, output)
    least, most = options.listed(minimise), options.listed(maximise)
    table = front_of(results, minimise=least, maximise=most, where=where or None, choices=chosen)
    print_table(table if lister(table) or style != "table" else table.drop_columns(TIES), style, output)
    if sql := lister(table):
        asked = shlex.quote(sql) if {*sql} & {*'"$`\\!'} else f'"{sql}"'
        folders = "".join(f" --results {shlex.quote(str(folder))}" for folder in results)
        said = "networks with equal values share a row; for the networks of the first such row"
        click.echo(f"note: {said}: torusweep query {asked}{folders}", err=True)
    if left_out(table):
        click.echo(f"left out: {counted(left_out(table), 'design')} without a value in one of these columns", err=True)


@click.command()
@click.argument("left", type=click.Path(path_type=Path))
@click.argument("right", type=click.Path(path_type=Path))
@click.option("--table", "tables", multiple=True, help="Compare only these tables (a,b); may be repeated.")
@click.option(
    "--tolerance",
    type=options.Real(0.0, 1.0),
    default=0.0,
    show_default=True,
    help="Numbers that differ by at most this share of the larger one are equal.",
)
@options.output_format
@options.output
@options.json_output
def compare(
    left: Path,
    right: Path,
    tables: tuple[str, ...],
    tolerance: float,
    style: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compare two results, such as those of two versions, two machines or two configurations.

    LEFT and RIGHT are the folders of two sweeps. Each table and column that differs has a line: differing rows, all
    rows, the largest difference between two numbers as a share of the larger one, and the first such network.
    Digests of code (points.key) are not compared. The exit status is 1 if anything differs.

    \b
    Examples:
      torusweep compare results/default results-before/default
      torusweep compare results/cpu results/gpu --tolerance 1e-12
      torusweep compare results/a results/b --table static,loads --json
    """
    style = style_of("json" if as_json else style, output)
    found = differences_of(left, right, tables=options.listed(tables), tolerance=tolerance)
    if found.num_rows or style != "table" or output:
        print_table(found, style, output)
    else:
        click.echo("no difference")
    if found.num_rows:
        raise SystemExit(1)
