"""The commands plan (estimate a sweep), run (compute it) and step (one step of it, which the Snakefile calls)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torusweep.cli import options
from torusweep.errors import BadInput, check_path, naming

if TYPE_CHECKING:
    from torusweep.sweeps.forecast import Forecast

DEFAULT_CONFIG = Path("config/default.yaml")
backend = click.option(
    "--backend", type=options.Choice(["auto", "numpy", "numba", "cupy"]), help="Overrides the configuration's backend."
)
symmetry = click.option(
    "--symmetry", type=options.Choice(["on", "off"]), help="Overrides the configuration's symmetry."
)
workers = click.option(
    "--workers",
    type=options.Integer(min=0),
    help="Overrides the configuration's cluster.workers; 0 computes in one process.",
)
trust_scheduler = click.option(
    "--trust-scheduler",
    metavar="ADDRESS[,CA,CERT,KEY]",
    help="Trust the configuration's Dask scheduler: its answers may run code here. For tls://, with PEM files.",
)
parts = click.option(
    "--parts", metavar="auto|N", help="Overrides the configuration's cluster.parts: how many jobs share a stage."
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
@parts
@trust_scheduler
@options.json_output
@click.argument("snakemake_options", nargs=-1, type=click.UNPROCESSED)
def run(
    config: Path,
    results: Path,
    backend: str | None,
    symmetry: str | None,
    workers: int | None,
    parts: str | None,
    trust_scheduler: str | None,
    as_json: bool,
    snakemake_options: tuple[str, ...],
) -> None:
    """Run the sweep that CONFIG describes: points, tables, verification, report.

    What is already computed is kept; a run that was stopped continues where it stopped. Options that this
    command does not know go to Snakemake.

    \b
    Examples:
      torusweep run
      torusweep run config/papers/parhami-kwai-2004.yaml
      torusweep run config/smoke.yaml --results /tmp/out --workers 4
      torusweep run config/default.yaml --dry-run
      torusweep run config/default.yaml --profile config/profiles/slurm
    """
    from torusweep.run import command, consent
    from torusweep.run.parts import read_parts
    from torusweep.tables import current

    if str(config).startswith("-"):  # an option for Snakemake, which click takes for the argument
        config, snakemake_options = DEFAULT_CONFIG, (str(config), *snakemake_options)
    with naming("--results"):
        check_path(results)
    overrides = _given(backend=backend, symmetry=symmetry, workers=workers)
    if trust_scheduler is not None:
        os.environ[consent.VARIABLE] = trust_scheduler  # for the run's processes, too
    if parts is not None:
        with naming("--parts"):
            overrides["parts"] = read_parts(parts)
    if snakemake_options and set(snakemake_options) <= command.DRY:
        from torusweep.sweeps.forecast import text

        files = command.pending(config, results, overrides)
        click.echo(text(*forecast_of(config, workers)))
        click.echo(f"\na run would make: {', '.join(files) or 'nothing, all is there'}")
        return
    status, folder = command.run(config, results, overrides=overrides, options=snakemake_options)
    if status == 0 and not command.is_dry(snakemake_options):
        if not current.is_complete(folder):
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
@click.option("--cores", type=options.Integer(1, 4096), help="Overrides the configuration's cluster.cores.")
@click.option("--part", metavar="I/N", help="Compute the I-th of a stage's N parts of equal estimated time.")
@click.option("--log", type=click.Path(path_type=Path), help="Append what the step says to this file.")
def step(name: str, config: Path, folder: Path, part: str | None, log: Path | None, **given: str | int | None) -> None:
    """Run one step of the pipeline, as the Snakefile does: it reads files of FOLDER, and writes a file there.

    \b
    Examples:
      torusweep step points config/smoke.yaml results/smoke
      torusweep step static config/smoke.yaml results/smoke --part 2/3
    """
    raise SystemExit(run_step(name, config, folder, _given(**given), part, log))


def run_step(
    name: str, config: Path, folder: Path, overrides: dict[str, Any], part: str | None = None, log: Path | None = None
) -> int:
    """Run a step: a stage, a part of a stage, or an entry of torusweep.run.steps. Returns its exit status."""
    from torusweep.run.parts import StagePart
    from torusweep.run.progress import logged
    from torusweep.stages import STAGES

    with naming("--part"):
        chosen = None if part is None else StagePart.read(part)
    if name in STAGES:
        from torusweep.run.compute_table import make_table

        with logged(log, f"{name} {chosen or ''}".rstrip()):
            return make_table(name, config, folder, overrides, chosen)
    if chosen is not None:
        raise BadInput(f"--part: expected a stage, which has parts, got the step '{name}'; leave --part out")
    from torusweep.run.steps import STEPS
    from torusweep.sweeps.configuration import load

    if name not in STEPS:
        raise BadInput(f"unknown step '{name}'; expected one of {', '.join([*STAGES, *STEPS])}")
    with logged(log, name):
        return STEPS[name](load(config), folder)


def _given(**overrides: str | int | None) -> dict[str, Any]:
    """Return only the overrides that the command line set."""
    return {name: value for name, value in overrides.items() if value is not None}


@click.command()
@click.argument("config", type=click.Path(path_type=Path), default=Path("config/default.yaml"))
@click.option("--workers", type=options.Integer(min=0), help="Overrides the configuration's cluster.workers.")
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
    """Return the name and the forecast of a configuration's sweep. By default, the configuration sets the workers."""
    from torusweep.sweeps import requested_points
    from torusweep.sweeps.configuration import load

    sweep = load(config)
    return sweep.sweep, requested_points.forecast_of(sweep, workers)
