"""torusweep verify: the papers' numbers compared with ours."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.cli import options
from torusweep.cli.verify_text import print_verification
from torusweep.papers.verification import verify_folder


@click.command()
@options.results
@options.json_output
@click.option("--all", "everything", is_flag=True, help="Print the rows that agree, too.")
def verify(results: Path, as_json: bool, everything: bool) -> None:
    """Compare the papers' numbers with ours, in the tables as they are on disk.

    Exits with status 1 if a number is unexplained.

    \b
    Verdicts:
      agrees          ours is the paper's number, or is as the paper says
      paper in error  the paper's number is wrong; the reason follows
      departs         a simulated number is not as the paper says; the reason follows
      not run         this sweep does not simulate it; the row names the configuration that does
      waits           it needs something that this sweep has not computed; the row names it
      unexplained     it differs, or is missing, for no known reason

    \b
    Examples:
      torusweep verify
      torusweep verify --all --results results/parhami-kwai-2004
      torusweep verify --json | jq '.[] | select(.verdict == "paper in error")'
    """
    rows = verify_folder(results)
    if as_json:
        options.print_json(rows)
    else:
        print_verification(rows, everything=everything)
    if any(row["verdict"] == "unexplained" for row in rows):
        raise SystemExit(1)
