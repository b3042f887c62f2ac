"""torusweep report: the HTML page of a sweep."""

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
