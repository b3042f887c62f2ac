"""Arguments and options that several commands share, shell completion of names, and JSON output."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from torusweep.errors import BadInput, as_known, check_path, naming, one_line, printable

DEFAULT_RESULTS = Path("results/default")


class Choice(click.Choice[str]):
    """An option's type: a word from a list. Hyphens and case do not matter."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(as_known(value, self.choices), param, ctx)


class Integer(click.IntRange):
    """An option's type: a whole number in a range."""

    name = "integer"  # which messages call what is wanted: "not a valid integer"


class Real(click.FloatRange):
    """An option's type: a real number in a range. Unlike in click, nan is refused."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"expected a number, got {value}.", param, ctx)
        return number


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    Examples:
      torusweep completion bash > ~/.local/share/bash-completion/completions/torusweep
      torusweep completion zsh > ~/.zfunc/_torusweep
      torusweep completion fish > ~/.config/fish/completions/torusweep.fish
    """
    command, completer = click.get_current_context().find_root().command, get_completion_class(shell)
    assert completer is not None
    click.echo(completer(command, {}, "torusweep", "_TORUSWEEP_COMPLETE").source())


Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def complete_name(table: str, *, skip: int = 0) -> Completer:
    """Return a shell completion of the keys of a table "module:NAME". The module is imported when a shell asks."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        start = incomplete.replace("-", "_")
        return [CompletionItem(name) for name in resolve_name(table) if name.replace("-", "_").startswith(start)]

    return complete


def complete_from(table: str, *, skip: int = 1) -> Completer:
    """Return a shell completion of calls of the functions in a table "module:NAME": names, parameters and choices.

    The module is imported when a shell asks.

    skip   number of first parameters that a user does not write, such as a routing's topology
    """

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from torusweep.networks.signature import completions

        found = completions(resolve_name(table), incomplete, skip=skip)
        return [CompletionItem(text, help=meaning or None) for text, meaning in found]

    return complete


def complete_column(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a column of any table, also at the end of a list separated by commas."""
    from torusweep.all_columns import all_tables

    listed, comma, start = incomplete.rpartition(",")
    meanings = {column.name: column.meaning for table in all_tables().values() for column in table.columns}
    return [
        CompletionItem(f"{listed}{comma}{name}", help=meanings[name])
        for name in sorted(meanings)
        if name.startswith(start)
    ]


complete_topology = complete_from("torusweep.networks.families:FAMILIES", skip=0)
complete_vc_rule = complete_from("torusweep.questions.deadlock.rules:RULES")

topology = click.argument("topology", shell_complete=complete_topology)
topologies = click.argument("topologies", metavar="[TOPOLOGY]...", nargs=-1, shell_complete=complete_topology)
routing = click.option(
    "--routing",
    default="minimal",
    show_default=True,
    shell_complete=complete_from("torusweep.routing:ROUTINGS"),
    help="How packets are routed; see 'torusweep loads --help'.",
)
backend = click.option(
    "--backend",
    type=Choice(["auto", "numpy", "numba", "cupy"]),
    default="auto",
    show_default=True,
    help="Library that computes, with the same results. auto: a GPU, if any, for large work; else Numba or NumPy.",
)
symmetry = click.option(
    "--symmetry",
    type=Choice(["on", "off"]),
    default="on",
    show_default=True,
    help="on: compute for one node of each orbit of the network's proved symmetries. off: for every node.",
)
json_output = click.option("--json", "as_json", is_flag=True, help="Print one JSON value and nothing else.")
output_format = click.option(
    "--format",
    "style",
    type=Choice(["table", "csv", "json", "parquet"]),
    help="Output format. A table rounds numbers to six digits; parquet needs --output.  [default: by the suffix of"
    " --output, table without one]",
)


def writable(context: click.Context, parameter: click.Parameter | None, path: Path | None) -> Path | None:
    """Return the path of the file to write. Raises BadInput early if it is a folder, or if it cannot be written."""
    if path is None:
        return None
    option = parameter.opts[-1] if parameter is not None else "--output"
    expected = f"{option} {one_line(path)}: expected a file that can be written"
    try:
        if not path.parent.is_dir():
            raise BadInput(f"{expected}, got no folder {one_line(path.parent)}; make it, or choose another")
        if path.is_dir():
            raise BadInput(f"{expected}, got a folder; add a file's name")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise BadInput(f"{expected}, got one that may not; choose another")
    except (OSError, ValueError) as error:
        raise BadInput(f"{expected}, got a name that cannot be: {one_line(error)}; choose another") from None
    return path


output = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    callback=writable,
    help="Write to this file instead of standard output.",
)
_CHOICES = (
    click.option(
        "--routing",
        shell_complete=complete_from("torusweep.routing:ROUTINGS"),
        help="Use only this routing's numbers. best: each network's best routing. all: every routing, separately.",
    ),
    click.option(
        "--traffic",
        shell_complete=complete_from("torusweep.traffic:PATTERNS"),
        help="Use only this traffic pattern's numbers. all: every pattern, separately.",
    ),
    click.option("--model", help="Use only this latency model's numbers. all: every model, separately."),
)


def choices(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options --routing, --traffic and --model to a command, which gets them as one dictionary, `choices`."""

    @wraps(command)
    def called(routing: str | None, traffic: str | None, model: str | None, **others: Any) -> None:
        command(**others, choices={"routing": routing, "traffic": traffic, "model": model})

    decorated: Callable[..., None] = called
    for option in reversed(_CHOICES):
        decorated = option(decorated)
    return decorated


def _results(context: click.Context, parameter: click.Parameter, given: Path | None) -> Path:
    """Return the folder of `_latest_results`. If another version wrote its tables, print a note after the answer."""
    folder = _latest_results(given)
    context.with_resource(_noted(folder))
    return folder


@contextmanager
def _noted(folder: Path) -> Iterator[None]:
    """Print the note on another version after the command's answer or status, but not after a refusal."""
    status = None
    try:
        yield
    except SystemExit as answered:
        status = answered
    from torusweep.stages import MODULES
    from torusweep.tables import current, store

    with suppress(BadInput):  # a folder that the command did not read
        stages = {"stage": store.read_manifest(folder).get("stage", {})}
        for note in current.notes_of(stages, MODULES):
            click.echo(f"note: {printable(folder)}: {note}", err=True)
    if status:
        raise status


def _latest_results(given: Path | None) -> Path:
    """Return the given folder or, by default, results/default, or else the folder in results/ of the latest sweep."""
    if given is not None:
        with naming("--results"):
            check_path(given)
        return given
    if (DEFAULT_RESULTS / "manifest.json").exists():
        return DEFAULT_RESULTS
    folders = [path.parent for path in DEFAULT_RESULTS.parent.glob("*/manifest.json")]
    sweeps = [folder for folder in folders if (folder / "points.parquet").exists()]  # others hold what a search found
    return max(sweeps, key=lambda folder: (folder / "manifest.json").stat().st_mtime, default=DEFAULT_RESULTS)


several_results = click.option(
    "--results",
    multiple=True,
    type=click.Path(path_type=Path),
    callback=lambda context, parameter, given: [_results(context, parameter, one) for one in given or (None,)],
    help="Folder of a sweep; may be repeated: the tables then have a column sweep.  [default: results/default; without"
    " one, the sweep in results/ that ran last]",
)
results = click.option(
    "--results",
    type=click.Path(path_type=Path),
    callback=_results,
    help="Folder of a sweep.  [default: results/default; without one, the sweep in results/ that ran last]",
)


def listed(values: Iterable[str]) -> list[str]:
    """Return the names in all values. Each value is a list of names, separated by commas without blanks."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def print_json(value: Any) -> None:
    """Print one JSON value with all digits of its numbers. Raises ValueError for NaN, which no record contains."""
    click.echo(json.dumps(value, allow_nan=False, ensure_ascii=False))
