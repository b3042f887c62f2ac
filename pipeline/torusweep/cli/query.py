"""torusweep query: a sweep's tables in SQL."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.cli import options
from torusweep.errors import BadInput
from torusweep.results import query as queries


@click.command()
@click.argument("sql", required=False)
@options.results
@options.output_format
@options.output
@click.option("--schema", is_flag=True, help="Print every table's columns: type, unit, meaning.")
@click.option(
    "--time-limit",
    type=click.FloatRange(0.1, 86_400.0),
    default=30.0,
    show_default=True,
    help="Stop the query after this many seconds.",
)
@options.json_output
def query(
    sql: str | None, results: Path, style: str, output: Path | None, schema: bool, time_limit: float, as_json: bool
) -> None:
    """Query a sweep's tables in SQL (DuckDB's dialect): one SELECT, read-only, no files, no network.

    \b
    Examples:
      torusweep query --schema
      torusweep query "SELECT topology, diameter FROM static ORDER BY cost LIMIT 5"
      torusweep query "SELECT family, min(cost) FROM static WHERE nodes BETWEEN 4000 AND 4200 GROUP BY 1" --format csv
      torusweep query "SELECT parameters['k'] AS k, mean_distance FROM static WHERE family = 'pruned_torus'" --json
    """
    style = "json" if as_json else style
    if schema:
        queries.print_schema(style, output)
        return
    if not sql:
        raise BadInput(
            'expected a query such as "SELECT topology, diameter FROM static LIMIT 5", got none; '
            "--schema lists tables and columns"
        )
    queries.print_table(queries.query(sql, results, time_limit=time_limit), style, output)
