"""Options that several commands take, spelled and explained once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

json_output = click.option("--json", "as_json", is_flag=True, help="One JSON value on standard output and nothing else.")
backend = click.option(
    "--backend",
    type=click.Choice(["auto", "numpy", "numba", "cupy"]),
    default="auto",
    show_default=True,
    help="What computes: auto takes a GPU where there is one, Numba elsewhere. Results are the same.",
)
symmetry = click.option(
    "--symmetry",
    type=click.Choice(["on", "off"]),
    default="on",
    show_default=True,
    help="Use the network's proved symmetry (one search per orbit of nodes), or search distances and follow loads from every node.",
)
results = click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("results/default"),
    show_default=True,
    help="Folder of a sweep.",
)


def _complete_routing(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from pipeline.routing import ROUTINGS

    return [name for name in ROUTINGS if name.startswith(incomplete.replace("-", "_"))]


routing = click.option(
    "--routing", default="minimal", show_default=True, shell_complete=_complete_routing, help="How packets find their way: one of the list above."
)


def print_json(value: Any) -> None:
    """One JSON value, numbers in full; not-a-number never occurs in our records."""
    click.echo(json.dumps(value, allow_nan=False, ensure_ascii=False))
