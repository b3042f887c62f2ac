"""Printed parts of a verdict on deadlock that are not columns: what removes the cycles, and layers."""

from __future__ import annotations

from shlex import quote
from typing import Any

from torusweep.quantities import counted
from torusweep.questions.deadlock.layers import MOST_REMEDIED

MAX_DATELINES = 4  # datelines of a remedy that are printed
Said = dict[str, str | None]
NOT_LOOKED_FOR: Said = {
    "remedy": f"not looked for: more than {MOST_REMEDIED:,} pairs of routers, or too many routes to list",
    "on_a_torus": "--routing dimension_order --vc-rule dateline --virtual-channels 2",
    "elsewhere": "--routing up_down, if links have both directions",
}


def remedy_said(record: dict[str, Any], remedy: dict[str, Any] | None) -> Said:
    """Return the texts on what removes a row's cycles, if packets may deadlock: options of a rule, or the remedy."""
    least, rule = record["least_virtual_channels"], record["least_rule"]
    said: Said = {"cyclic": "without a cycle" if record["acyclic"] else "cyclic"}
    said["least"] = None if least is None else counted(least, "virtual channel")
    if record["deadlock_free"] == "yes":
        return said
    if least is not None:
        heeded = ", which heeds the virtual channels that the table names" * (rule == "table")
        said["options"] = f"{_options(rule, least)}{heeded}"
    if remedy is None:
        return said if least is not None else said | NOT_LOOKED_FOR
    if least is not None and remedy["virtual_channels"] >= least:
        return said
    lines = ", ".join(remedy["datelines"][:MAX_DATELINES]) + ", …" * (len(remedy["datelines"]) > MAX_DATELINES)
    enough = {True: "the least, as one has a cycle", False: "suffice"}
    said["remedy"] = (
        f"{remedy['virtual_channels']} virtual channels ({enough[remedy['is_least']]}), changed only behind {lines};"
        f" --channel-table FILE writes it, --routing FILE {_options('table', remedy['virtual_channels'])} heeds it"
    )
    if remedy["layers"] is not None:
        said["remedy_by_layers"] = (
            f"{remedy['layers']} layers of whole routes ({enough[remedy['is_least_layers']]}), a virtual channel each;"
            " --layers --layer-table FILE writes it"
        )
    return said


def layers_said(layered: dict[str, Any]) -> Said:
    """Return the texts on the layers of paths."""
    paths = ", ".join(f"{number:,}" for number in layered["paths"])
    return {"paths": f"{layered['layers']}: {paths}", "least_layers": str(layered["least_layers"])}


def _options(rule: str, virtual_channels: int) -> str:
    """Return the command-line options that select a rule and a number of virtual channels."""
    return f"--vc-rule {quote(rule)} --virtual-channels {virtual_channels}"
