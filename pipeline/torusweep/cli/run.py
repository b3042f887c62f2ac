"""Commands that compute a sweep: run, and the steps that the Snakefile calls.

The command plan: what a sweep will take, before it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torusweep.cli import options
from torusweep.errors import BadInput, check_path

if TYPE_CHECKING:
    from torusweep.sweeps.forecast import Forecast

DEFAULT_CONFIG = Path("config/default.yaml")
backend = click.option(
    "--backend", type=click.Choice(["auto", "numpy", "numba", "cupy"]), help="Overrides the configuration's backend."
)
symmetry = click.option("--symmetry", type=click.Choice(["on", "off"]), help="Overrides the configuration's symmetry.")
workers = click.option(
    "--workers",
    type=click.IntRange(min=0),
    help="Overrides the configuration's cluster.workers; 0 computes in one process.",
)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("config", type=click.Path(path_type=Path), default=DEFAULT_CONFIG)
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder that holds the sweeps' folders.",
)
@backend
@symmetry
@workers
@options.json_output
@click.argument("snakemake_options", nargs=-1, type=click.UNPROCESSED)
def run(
    config: Path,
    results: Path,
    backend: str | None,
    symmetry: str | None,
    workers: int | None,
    as_json: bool,
    snakemake_options: tuple[str, ...],
) -> None:
    """Run the sweep that CONFIG describes: points, tables, verification, report.

    What is already computed is kept; a run that was stopped goes on where it was. Options that this
    command does not know go to Snakemake.

    \b
    Examples:
      torusweep run
      torusweep run config/papers/parhami-kwai-2004.yaml
      torusweep run config/smoke.yaml --results /tmp/out --workers 4
      torusweep run config/default.yaml --dry-run
      torusweep run config/default.yaml --profile config/profiles/slurm
    """
    from torusweep.run import command
    from torusweep.tables import store

    if str(config).startswith("-"):  # an option for Snakemake, which click takes for the argument
        config, snakemake_options = DEFAULT_CONFIG, (str(config), *snakemake_options)
    options.quantity("--results", check_path, results)
    if snakemake_options and set(snakemake_options) <= command.DRY:
        from torusweep.sweeps.forecast import text

        files = command.pending(config, results, _given(backend, symmetry, workers))
        click.echo(text(*forecast_of(config, workers)))
        click.echo(f"\na run would make: {', '.join(files) or 'nothing, all is there'}")
        return
    status, folder = command.run(
        config, results, overrides=_given(backend, symmetry, workers), options=snakemake_options
    )
    if status == 0 and not command.is_dry(snakemake_options):
        if not store.is_complete(folder):
            click.echo(f"{folder}: made as far as Snakemake was asked to", err=True)
        elif as_json:
            options.print_json(command.outcome(folder))
        else:
            click.echo(command.summary(folder))
    raise SystemExit(status)


@click.command()
@click.argument("name")
@click.argument("config", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@backend
@symmetry
@workers
def step(name: str, config: Path, folder: Path, backend: str | None, symmetry: str | None, workers: int | None) -> None:
    """One step of the pipeline, as the Snakefile calls it: files of FOLDER in, a file of FOLDER out.

    \b
    Examples:
      torusweep step points config/smoke.yaml results/smoke
    """
    raise SystemExit(run_step(name, config, folder, _given(backend, symmetry, workers)))


def run_step(name: str, config: Path, folder: Path, overrides: dict[str, Any]) -> int:
    """A step's exit status: a stage's, or one of torusweep.run.workflow."""
    from torusweep.stages import STAGES

    if name in STAGES:
        from torusweep.run.compute_table import make_table

        return make_table(name, config, folder, overrides)
    from torusweep.run.workflow import STEPS

    if name not in STEPS:
        raise BadInput(f"unknown step '{name}'; expected one of {', '.join([*STAGES, *STEPS])}")
    return STEPS[name](config, folder, overrides)


def _given(backend: str | None, symmetry: str | None, workers: int | None) -> dict[str, Any]:
    """The overrides that the command line has."""
    overrides = {"backend": backend, "symmetry": symmetry, "workers": workers}
    return {name: value for name, value in overrides.items() if value is not None}


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
