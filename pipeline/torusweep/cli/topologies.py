"""The command topologies: list the families of networks, or show one in full."""

from __future__ import annotations

import inspect
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from torusweep.cli import options
from torusweep.errors import BadInput, nearest
from torusweep.networks.families import FAMILIES, parameters
from torusweep.questions.console import open_console, print_heading, print_note


def print_families(entries: list[dict[str, Any]]) -> None:
    """Print a line for each family: its parameters and its description."""
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    table.add_column("network", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    for entry in entries:
        table.add_row(Text(_signature(entry)), Text(entry["summary"]))
    with open_console() as console:
        console.print(table)
        print_note(console, "'torusweep topologies NAME' shows one with its constraints and its source.")


def print_family(entry: dict[str, Any]) -> None:
    """Print a family's text, wrapped at the terminal's width, and its parameters."""
    with open_console() as console:
        print_heading(console, _signature(entry))
        for paragraph in entry["text"].split("\n\n"):
            summary, source, place = paragraph.replace("\n", " ").partition("Source: ")
            console.print(Text(summary.strip()))
            if source:
                print_note(console, source + place)
        for parameter in entry["parameters"]:
            if parameter["meaning"]:
                console.print(Text(f"  {parameter['name']:<10} {parameter['range'] or '':<8} {parameter['meaning']}"))


def _signature(entry: dict[str, Any]) -> str:
    shown = [p["name"] if p["required"] else f"[{p['name']}]" for p in entry["parameters"]]
    return f"{entry['name']}({', '.join(shown)})"


@click.command()
@click.argument("name", required=False, shell_complete=options.complete_name("torusweep.networks.families:FAMILIES"))
@options.json_output
def topologies(name: str | None, as_json: bool) -> None:
    """List the families of networks; with NAME, one of them with its parameters, constraints and source.

    \b
    Examples:
      torusweep topologies
      torusweep topologies mh3dt
      torusweep topologies --json | jq '.[].name'
    """
    if name is not None and name not in FAMILIES:
        raise BadInput(f"unknown topology '{name}'{nearest(name, FAMILIES)}; 'torusweep topologies' lists all")
    entries = [_entry(family) for family in ([name] if name else FAMILIES)]
    if as_json:
        options.print_json(entries)
    elif name:
        print_family(entries[0])
    else:
        print_families(entries)


def _entry(family: str) -> dict[str, Any]:
    text = inspect.getdoc(FAMILIES[family]) or ""
    described = [
        {
            "name": parameter.name,
            "required": parameter.required,
            "default": parameter.default,
            "range": parameter.whole.range() if parameter.whole else None,
            "meaning": parameter.meaning or None,
        }
        for parameter in parameters(family)
    ]
    return {"name": family, "summary": text.splitlines()[0], "text": text, "parameters": described}
