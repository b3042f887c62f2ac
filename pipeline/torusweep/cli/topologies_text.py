"""Families of networks as text: a list, or one in full."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from torusweep.questions.console import open_console, print_heading, print_note


def print_families(entries: list[dict[str, Any]]) -> None:
    """A line for each family: its parameters and what it is."""
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    table.add_column("network", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    for entry in entries:
        table.add_row(Text(_signature(entry)), Text(entry["summary"]))
    with open_console() as console:
        console.print(table)
        print_note(console, "'torusweep topologies NAME' shows one with its constraints and its source.")


def print_family(entry: dict[str, Any]) -> None:
    """A family's text, each paragraph wrapped at the terminal's width, and its parameters."""
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
