"""The commands report (a sweep's HTML page), plot (two columns as a picture) and dataset (a sweep's lattices)."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep import charts
from torusweep.answers import plot as plots
from torusweep.answers.choices import Choices
from torusweep.answers.page import write_report
from torusweep.cli import options
from torusweep.errors import BadInput


@click.command()
@click.argument("x", shell_complete=options.complete_column)
@click.argument("y", shell_complete=options.complete_column)
@click.option(
    "--table",
    help="Table whose rows are drawn; the columns of static can be drawn, too.  "
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
    help="Columns that give colour and symbol, separated by commas; a column of numbers gives a colour scale.  "
    "[default: family; for lines, the columns in which they differ]",
)
@click.option(
    "--lines/--no-lines",
    default=None,
    help="Lines through the rows of a series, with error bars.  [default: where X is a load, rate or distance]",
)
@click.option(
    "--log",
    type=options.Choice([plots.AUTO, *plots.LOG]),
    default=plots.AUTO,
    show_default=True,
    help="Logarithmic axes. auto: where positive numbers span two decades or more.",
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
    target = output or Path(f"{y}-{x}.svg".replace("/", "-"))
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


@click.command()
@options.results
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    callback=options.writable,
    help="File to write.  [default: report.html in the sweep's folder]",
)
@options.json_output
def report(results: Path, output: Path | None, as_json: bool) -> None:
    """Write the HTML page of a sweep: one file that needs no network.

    \b
    Examples:
      torusweep report
      torusweep report --results results/smoke --output /tmp/page.html
    """
    target = output or results / "report.html"
    if target.suffix.lower() not in ("", ".html", ".htm"):
        raise BadInput(f"--output: expected a name that ends in .html, got '{target}'; choose one")
    write_report(results, target)
    if as_json:
        options.print_json({"report": str(target)})
    else:
        click.echo(str(target))


@click.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="New folder to write.")
@click.option("--address", default="", help="Where the folder will be published, for views.sql and metadata.")
@options.json_output
def dataset(results: Path, output: Path, address: str, as_json: bool) -> None:
    """Write the lattices of a sweep as a folder that stands alone: Parquet, views, README, metadata, checksums.

    RESULTS is the folder of a sweep that screens lattices, sorted by dimensions and nodes, as config/atlas.yaml does.

    \b
    Examples:
      torusweep dataset results/atlas -o atlas-2026
      torusweep dataset results/atlas -o atlas-2026 --address https://example.org/atlas-2026
    """
    from torusweep.answers.dataset import write_dataset
    from torusweep.tables import store

    files = write_dataset(results, output, address)
    digest = store.file_digest(output / store.INDEX)
    if as_json:
        options.print_json({"folder": str(output), "sha256": digest, "files": [file.model_dump() for file in files]})
    else:
        rows, size, s = sum(file.rows for file in files), sum(file.bytes for file in files), "s" * (len(files) != 1)
        click.echo(f"{output}: {rows:,} classes in {len(files)} Parquet file{s}, {size / 1e6:,.1f} MB")
        click.echo(f"sha256 of {store.INDEX}, for best --digest: {digest}")
