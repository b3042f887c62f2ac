"""The command plan: what a sweep will take, before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from torusweep.cli import options

if TYPE_CHECKING:
    from torusweep.sweeps.forecast import Forecast


@click.command()
@click.argument("config", type=click.Path(path_type=Path), default=Path("config/default.yaml"))
@click.option("--workers", type=click.IntRange(min=0), help="Overrides the configuration's cluster.workers.")
@options.json_output
def plan(config: Path, workers: int | None, as_json: bool) -> None:
    """Count the points of the sweep that CONFIG describes, and estimate its time, memory and disk.

    Nothing is computed or written. Times are right within a factor of about five. Points that an earlier
    run finished are counted, too; a run does not compute them again.

    \b
    Examples:
      torusweep plan config/default.yaml
      torusweep plan config/default.yaml --workers 16
      torusweep plan config/default.yaml --json
    """
    from torusweep.sweeps.forecast import record, text

    name, forecast = forecast_of(config, workers)
    if as_json:
        options.print_json(record(name, forecast))
    else:
        click.echo(text(name, forecast))


def forecast_of(config: Path, workers: int | None) -> tuple[str, Forecast]:
    """A configuration's sweep by name, and its forecast; workers: in place of the configuration's, where given."""
    from torusweep.sweeps.configuration import load
    from torusweep.sweeps.forecast import forecast
    from torusweep.sweeps.points import estimates
    from torusweep.sweeps.requested_points import requested_points

    sweep = load(config)
    cluster = sweep.cluster_under({} if workers is None else {"workers": workers})
    return sweep.sweep, forecast(estimates(requested_points(sweep)), cluster)
