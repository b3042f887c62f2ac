"""torusweep topologies: the families of networks."""

from __future__ import annotations

import inspect
from typing import Any

import click

from torusweep.cli import options
from torusweep.cli.topologies_text import print_families, print_family
from torusweep.errors import BadInput, nearest
from torusweep.networks.families import FAMILIES, parameters


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
