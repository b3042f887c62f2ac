"""torusweep compare: where two results differ."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.answers.compare import compare as differences_of
from torusweep.answers.query import print_table
from torusweep.cli import options


@click.command()
@click.argument("left", type=click.Path(path_type=Path))
@click.argument("right", type=click.Path(path_type=Path))
@click.option("--table", "tables", multiple=True, help="Only these tables, separated by commas; may be repeated.")
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
    style: str,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compare two results: of two versions, two machines, two configurations.

    LEFT and RIGHT are the folders of two sweeps. A line for each table and column that differs: in how many rows of
    how many, the largest difference between two numbers as a share of the larger one, and the first such network.
    Digests of code (points.key) do not count. Exits with status 1 if anything differs.

    \b
    Examples:
      torusweep compare results/default results-before/default
      torusweep compare results/cpu results/gpu --tolerance 1e-12
      torusweep compare results/a results/b --table static,loads --json
    """
    found = differences_of(left, right, tables=options.listed(tables), tolerance=tolerance)
    if found.num_rows or as_json or style != "table" or output:
        print_table(found, "json" if as_json else style, output)
    else:
        click.echo("no difference")
    if found.num_rows:
        raise SystemExit(1)
