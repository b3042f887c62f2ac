"""The command query: ask a sweep's tables in SQL."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.answers import query as queries
from torusweep.answers.table_text import lacks_values
from torusweep.cli import options
from torusweep.errors import BadInput


def _complete_table(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from torusweep.answers import joined as schemas
    from torusweep.answers.joined import ALL

    return [name for name in (*schemas.tables(), ALL) if name.startswith(incomplete)]


@click.command()
@click.argument("sql", required=False)
@options.several_results
@options.output_format
@options.output
@click.option(
    "--schema",
    is_flag=False,
    flag_value="",
    metavar="[TABLE]",
    shell_complete=_complete_table,
    help="List the tables; with a table, its columns: type, unit, meaning. all: every column of every table.",
)
@click.option(
    "--time-limit",
    type=options.Real(0.1, 86_400.0),
    default=30.0,
    show_default=True,
    help="Stop the query after this many seconds.",
)
@options.json_output
def query(
    sql: str | None,
    results: list[Path],
    style: str | None,
    output: Path | None,
    schema: str | None,
    time_limit: float,
    as_json: bool,
) -> None:
    """Query a sweep's tables in SQL (DuckDB's dialect): one SELECT, read-only, no files, no network.

    The view designs has one row for each network, with the loads of its best routing under uniform traffic.
    A join with loads has a row for each routing and traffic: choose one, or name both in the answer.

    \b
    Examples:
      torusweep query --schema
      torusweep query --schema designs
      torusweep query "SELECT topology, routing, saturation_load FROM designs ORDER BY saturation_load DESC LIMIT 5"
      torusweep query "SELECT topology, diameter FROM static ORDER BY cost LIMIT 5"
      torusweep query "SELECT family, min(cost) FROM static WHERE nodes BETWEEN 4000 AND 4200 GROUP BY 1" --format csv
      torusweep query "SELECT parameters['k'] AS k, mean_distance FROM static WHERE family = 'pruned_torus'" --json
    """
    style = queries.style_of("json" if as_json else style, output)
    if schema is not None:
        if sql:
            raise BadInput(f"expected --schema or a query, got both; leave out --schema, or '{sql[:60]}'")
        # the stages, whose columns these are, take a second to import: a query of their tables needs none
        from torusweep.answers import joined as schemas

        listed = schemas.schema(schema) if schema else schemas.overview(results)
        queries.print_table(listed, style, output, columns=True)
        return
    if not sql:
        raise BadInput(
            'expected a query such as "SELECT topology, diameter FROM static LIMIT 5", got none; '
            "--schema lists the tables"
        )
    answer = queries.query(sql, results, time_limit=time_limit)
    queries.print_table(answer, style, output)
    if "join" in sql.lower() or lacks_values(answer):
        from torusweep.answers.joined import remark

        if said := remark(sql, answer, results):
            click.echo(said, err=True)
