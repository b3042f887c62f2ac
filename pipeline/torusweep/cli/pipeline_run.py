"""Commands that compute a sweep: run, and the steps that the Snakefile calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from torusweep.cli import options

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
@click.argument("config", type=click.Path(path_type=Path), default=Path("config/default.yaml"))
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
      torusweep run config/default.yaml --profile config/profiles/slurm
    """
    from torusweep.run.snakemake import Snakemake
    from torusweep.run.steps_process import StepsProcess

    with Snakemake(essential=not snakemake_options) as snakemake, StepsProcess() as steps:  # they load while we do
        from torusweep.run.command import is_complete, is_dry, outcome, run_snakemake, summary
        from torusweep.tables.arrow_start import without_pandas

        without_pandas()

        status, folder = run_snakemake(
            snakemake, steps, config, results, overrides=_given(backend, symmetry, workers), options=snakemake_options
        )
    if status == 0 and not is_dry(snakemake_options):
        if not is_complete(folder):
            click.echo(f"{folder}: made as far as Snakemake was asked to", err=True)
        elif as_json:
            options.print_json(outcome(folder))
        else:
            click.echo(summary(folder))
    raise SystemExit(status)


@click.command()
@click.argument(
    "name",
    type=click.Choice(
        [
            "points",
            "static",
            "loads",
            "deadlock",
            "layout",
            "simulation",
            "latency",
            "distances",
            "verification",
            "report",
            "check",
        ]
    ),
)
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
    from torusweep.run.steps_process import ask

    overrides = _given(backend, symmetry, workers)
    status = ask(name, config, folder, overrides)
    if status is None:
        from torusweep.run.steps import STEPS

        status = STEPS[name](config, folder, overrides)
    raise SystemExit(status)


def _given(backend: str | None, symmetry: str | None, workers: int | None) -> dict[str, Any]:
    """The overrides that the command line has."""
    overrides = {"backend": backend, "symmetry": symmetry, "workers": workers}
    return {name: value for name, value in overrides.items() if value is not None}
