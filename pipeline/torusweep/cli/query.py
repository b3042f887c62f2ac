"""Commands that read a sweep's results: query, pareto, verify, report."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.cli import options
from torusweep.counts import counted

FORMATS = click.Choice(["table", "csv", "json", "parquet"])
_HOW = "How to print: a table is for people, its numbers rounded to six digits; parquet needs --output."
_formatted = click.option("--format", "style", type=FORMATS, default="table", show_default=True, help=_HOW)


@click.command()
@click.argument("sql", required=False)
@options.results
@_formatted
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file instead of standard output.")
@click.option("--schema", is_flag=True, help="Print the tables' columns: type, unit, meaning.")
@click.option(
    "--time-limit",
    type=click.FloatRange(0.1, 86_400.0),
    default=30.0,
    show_default=True,
    help="Seconds after which the query is stopped.",
)
@options.json_output
def query(
    sql: str | None, results: Path, style: str, output: Path | None, schema: bool, time_limit: float, as_json: bool
) -> None:
    """Ask a sweep's tables in SQL (DuckDB's dialect): one SELECT, read-only, no files, no network.

    \b
    Examples:
      torusweep query --schema
      torusweep query "SELECT topology, diameter FROM static ORDER BY cost LIMIT 5"
      torusweep query "SELECT family, min(cost) FROM static WHERE nodes BETWEEN 4000 AND 4200 GROUP BY 1" --format csv
      torusweep query "SELECT parameters['k'] AS k, mean_distance FROM static WHERE family = 'pruned_torus'" --json
    """
    from torusweep.errors import BadInput
    from torusweep.results import query as queries

    if schema:
        queries.print_schema("json" if as_json else style, output)
        return
    if not sql:
        raise BadInput(
            'expected a query such as "SELECT topology, diameter FROM static LIMIT 5", got none; --schema lists tables and columns'
        )
    queries.print_table(queries.query(sql, results, time_limit=time_limit), "json" if as_json else style, output)


@click.command()
@click.option(
    "--minimise",
    "--minimize",
    multiple=True,
    help="Columns to make small, separated by commas or each with an option of its own.",
)
@click.option("--maximise", "--maximize", multiple=True, help="Columns to make large, likewise.")
@click.option("--where", help='An SQL condition on the static table, as in "nodes BETWEEN 4000 AND 4200".')
@options.results
@_formatted
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file instead of standard output.")
@options.json_output
def pareto(
    minimise: tuple[str, ...],
    maximise: tuple[str, ...],
    where: str | None,
    results: Path,
    style: str,
    output: Path | None,
    as_json: bool,
) -> None:
    """The connected designs that no other beats: none is as good in every named column and better in one.

    \b
    Examples:
      torusweep pareto --minimise mean_distance,cost --where "nodes BETWEEN 4000 AND 4200"
      torusweep pareto --minimise mean_distance,cost --maximise nodes
      torusweep pareto --minimise mean_distance,links --maximise bisection_upper --where "nodes BETWEEN 4000 AND 4200"
    """
    from torusweep.results import pareto as front
    from torusweep.results import query as queries

    table = front.front_of(results, minimise=_names(minimise), maximise=_names(maximise), where=where or None)
    queries.print_table(table, "json" if as_json else style, output)
    if front.left_out(table):
        click.echo(
            f"left out: {counted(front.left_out(table), 'design')} without a value in one of these columns", err=True
        )


def _names(given: tuple[str, ...]) -> list[str]:
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


@click.command()
@options.results
@options.json_output
@click.option("--all", "everything", is_flag=True, help="Print the rows that agree too.")
def verify(results: Path, as_json: bool, everything: bool) -> None:
    """The papers' numbers against ours: agrees, paper in error (and why), departs (of what is simulated, and why), not run, waits, or unexplained.

    Compared anew, with the tables as they are on disk. Exits with 1 where a row is unexplained.

    \b
    Examples:
      torusweep verify
      torusweep verify --all --results results/parhami-kwai-2004
      torusweep verify --json | jq '.[] | select(.verdict == "paper in error")'
    """
    from torusweep.papers.verification import verify_folder

    rows = verify_folder(results)
    if as_json:
        options.print_json(rows)
    else:
        from torusweep.cli.describe_text import print_verification

        print_verification(rows, everything=everything)
    if any(row["verdict"] == "unexplained" for row in rows):
        raise SystemExit(1)


@click.command()
@options.results
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write  [default: report.html in the sweep's folder]",
)
@options.json_output
def report(results: Path, output: Path | None, as_json: bool) -> None:
    """Write the HTML page of a sweep: one file, no network needed to read it.

    \b
    Examples:
      torusweep report
      torusweep report --results results/smoke --output /tmp/page.html
    """
    from torusweep.results.page import write_report

    target = output or results / "report.html"
    write_report(results, target)
    if as_json:
        options.print_json({"report": str(target)})
    else:
        click.echo(str(target))
