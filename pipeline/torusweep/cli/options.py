"""Options that several commands take, spelled and explained once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

json_output = click.option(
    "--json", "as_json", is_flag=True, help="One JSON value on standard output and nothing else."
)
backend = click.option(
    "--backend",
    type=click.Choice(["auto", "numpy", "numba", "cupy"]),
    default="auto",
    show_default=True,
    help="What computes: auto takes a GPU where there is one, Numba elsewhere, and NumPy for few static properties. Results are the same.",
)
symmetry = click.option(
    "--symmetry",
    type=click.Choice(["on", "off"]),
    default="on",
    show_default=True,
    help="Use the network's proved symmetry (one search per orbit of nodes), or search distances and follow loads from every node.",
)
DEFAULT_RESULTS = Path("results/default")


def _latest_results(context: click.Context, parameter: click.Parameter, given: Path | None) -> Path:
    """Where no folder is named: results/default, or, where that was never run, the sweep in results/ that ran last."""
    if given is not None:
        return given
    if (DEFAULT_RESULTS / "manifest.json").exists():
        return DEFAULT_RESULTS
    manifests = sorted(DEFAULT_RESULTS.parent.glob("*/manifest.json"), key=lambda path: path.stat().st_mtime)
    return manifests[-1].parent if manifests else DEFAULT_RESULTS


results = click.option(
    "--results",
    type=click.Path(path_type=Path),
    callback=_latest_results,
    help="Folder of a sweep.  [default: results/default, or the sweep in results/ that ran last]",
)


def _complete_routing(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from torusweep.routing import ROUTINGS

    return [name for name in ROUTINGS if name.startswith(incomplete.replace("-", "_"))]


routing = click.option(
    "--routing",
    default="minimal",
    show_default=True,
    shell_complete=_complete_routing,
    help="How packets find their way: one of the list above.",
)


def print_json(value: Any) -> None:
    """One JSON value, numbers in full; not-a-number never occurs in our records."""
    click.echo(json.dumps(value, allow_nan=False, ensure_ascii=False))
