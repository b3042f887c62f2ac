"""Commands that compute a sweep: run, and the steps that the Snakefile calls."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli import options


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("config", type=click.Path(path_type=Path), default=Path("config/default.yaml"))
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), show_default=True, help="Folder that holds the sweeps' folders.")
@click.option("--backend", type=click.Choice(["auto", "numpy", "numba", "cupy"]), help="Overrides the configuration's backend.")
@click.option("--symmetry", type=click.Choice(["on", "off"]), help="Overrides the configuration's symmetry.")
@click.option("--workers", type=click.IntRange(min=0), help="Overrides the configuration's cluster.workers; 0 computes in one process.")
@click.argument("snakemake_options", nargs=-1, type=click.UNPROCESSED)
def run(
    config: Path, results: Path, backend: str | None, symmetry: str | None, workers: int | None, snakemake_options: tuple[str, ...]
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
    from pipeline.steps import run_snakemake

    overrides = {"backend": backend, "symmetry": symmetry, "workers": workers}
    chosen = {name: value for name, value in overrides.items() if value is not None}
    raise SystemExit(run_snakemake(config, results, overrides=chosen, options=list(snakemake_options)))
