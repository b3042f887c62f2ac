"""torusweep report, torusweep dataset: the HTML page of a sweep; its lattices as a data set."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.answers.page import write_report
from torusweep.cli import options


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
    write_report(results, target)
    if as_json:
        options.print_json({"report": str(target)})
    else:
        click.echo(str(target))


@click.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="New folder to write.")
@click.option("--address", default="", help="Where the folder will be published: views.sql and metadata name it.")
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

    files = write_dataset(results, output, address)
    if as_json:
        options.print_json({"folder": str(output), "files": [file._asdict() for file in files]})
    else:
        rows, size, s = sum(file.rows for file in files), sum(file.bytes for file in files), "s" * (len(files) != 1)
        click.echo(f"{output}: {rows:,} classes in {len(files)} Parquet file{s}, {size / 1e6:,.1f} MB")
