"""Arguments and options that several commands share, shell completion of names, and JSON output."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click

from torusweep.errors import BadInput, one_line

MOST_BYTES = 255  # of a file's name

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def complete_from(table: str, *, suffix: str = "") -> Completer:
    """Shell completion with the keys of a table, given as "module:NAME"; the module is imported when a shell asks."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        start = incomplete.replace("-", "_")
        return [f"{name}{suffix}" for name in resolve_name(table) if name.replace("-", "_").startswith(start)]

    return complete


complete_topology = complete_from("torusweep.networks.families:FAMILIES", suffix="(")
complete_vc_rule = complete_from("torusweep.stages.deadlock.rules:RULES")

topology = click.argument("topology", shell_complete=complete_topology)
routing = click.option(
    "--routing",
    default="minimal",
    show_default=True,
    shell_complete=complete_from("torusweep.routing:ROUTINGS"),
    help="How packets are routed: a name of the list above.",
)
backend = click.option(
    "--backend",
    type=click.Choice(["auto", "numpy", "numba", "cupy"]),
    default="auto",
    show_default=True,
    help="What computes. auto: a GPU if there is one, else Numba; NumPy for a quick answer. The results are the same.",
)
symmetry = click.option(
    "--symmetry",
    type=click.Choice(["on", "off"]),
    default="on",
    show_default=True,
    help="on: compute for one node of each orbit of the network's proved symmetries. off: for every node.",
)
json_output = click.option("--json", "as_json", is_flag=True, help="Print one JSON value and nothing else.")
output_format = click.option(
    "--format",
    "style",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    default="table",
    show_default=True,
    help="Output format. A table rounds numbers to six digits; parquet needs --output.",
)
output = click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write to this file instead of standard output."
)

DEFAULT_RESULTS = Path("results/default")


def _latest_results(context: click.Context, parameter: click.Parameter, given: Path | None) -> Path:
    """The folder given, else results/default, else the sweep in results/ that ran last."""
    if given is not None:
        check_folder(given)
        return given
    if (DEFAULT_RESULTS / "manifest.json").exists():
        return DEFAULT_RESULTS
    manifests = sorted(DEFAULT_RESULTS.parent.glob("*/manifest.json"), key=lambda path: path.stat().st_mtime)
    return manifests[-1].parent if manifests else DEFAULT_RESULTS


def check_folder(path: Path) -> None:
    """Refuse a name that no file system takes."""
    for part in path.parts:
        if len(os.fsencode(part)) > MOST_BYTES:
            raise BadInput(
                f"--results: expected names of at most {MOST_BYTES} bytes, got '{one_line(part, 60)}' with"
                f" {len(os.fsencode(part)):,}; choose a shorter one"
            )


results = click.option(
    "--results",
    type=click.Path(path_type=Path),
    callback=_latest_results,
    help="Folder of a sweep.  [default: results/default; without one, the sweep in results/ that ran last]",
)


def print_json(value: Any) -> None:
    """One JSON value with numbers in full. Records hold no NaN, so a NaN raises ValueError."""
    click.echo(json.dumps(value, allow_nan=False, ensure_ascii=False))
