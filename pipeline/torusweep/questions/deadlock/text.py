"""A verdict on deadlock as text: facts, and the cycle as a list of channels."""

from __future__ import annotations

from shlex import quote
from typing import Any

from rich.console import Console
from rich.text import Text

from torusweep.quantities import counted
from torusweep.questions.console import lost_facts, print_facts, print_note
from torusweep.questions.deadlock.layers import MOST_REMEDIED

MAX_DATELINES = 4  # datelines of a remedy that are printed
MAX_CHANNELS = 32  # channels of a cycle that are printed; --json has all


def print_verdict(console: Console, record: dict[str, Any]) -> None:
    """Print a row of the table `deadlock`, with its cycle, its remedy and its layers if it has them."""
    remedy, layered = record.get("remedy"), record.get("layered")
    facts = _facts(record) + ([] if layered is None else _layers(layered))
    least = record["least_virtual_channels"]
    if remedy is not None and (least is None or remedy["virtual_channels"] < least):
        virtual, *layers = remedy_words(remedy)
        heeded = f"--routing FILE {_options('table', remedy['virtual_channels'])} heeds it"
        facts += [("remedy", f"{virtual}; --channel-table FILE writes it, {heeded}")]
        facts += [("", f"{words}; --layers --layer-table FILE writes it") for words in layers]
    elif least is None and record["deadlock_free"] != "yes":
        facts += [
            ("remedy", f"not looked for: more than {MOST_REMEDIED:,} pairs of routers, or too many routes to list"),
            ("", f"without a cycle: on a torus --routing dimension_order {_options('dateline', 2)};"),
            ("", "on any network with links in both directions --routing up_down"),
        ]
    print_facts(console, record["topology"], facts)
    if record["cycle"]:
        verb = "waits for" if record["deadlock_free"] == "no" else "may request"
        print_note(console, f"\na packet in each of these channels {verb} the next; in the last, the first:")
        for line in _cycle(record["cycle"], record["packets"]):
            console.print(Text(line))


def _facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the main columns of the row as facts (name, value); --json prints all columns."""
    dependencies, channels, least = (record[name] for name in ("dependencies", "channels", "least_virtual_channels"))
    number = "not counted, of" if dependencies is None else f"{dependencies:,} between"
    size = "of a superset" if channels is None else f"{number} {counted(channels, 'channel')}"
    enough = None if least is None else f"{counted(least, 'virtual channel')}, rule {record['least_rule']}"
    if enough and record["deadlock_free"] != "yes":
        enough += f": add {_options(record['least_rule'], least)}"
        enough += ", which heeds the virtual channels that the table names" * (record["least_rule"] == "table")
    return [
        ("routing", record["routing"]),
        *([] if record["pairs_of"] is None else [("traffic", f"{record['pairs_of']}: only its pairs send")]),
        *lost_facts(record),
        ("virtual channels", f"{record['virtual_channels']}, rule {record['vc_rule']}"),
        ("dependencies", f"{size}, {'without a cycle' if record['acyclic'] else 'cyclic'}"),
        ("deadlock-free", record["deadlock_free"]),
        ("because", record["argument"]),
        ("acyclic from", enough or record["least_reason"]),
    ]


def _options(rule: str, virtual_channels: int) -> str:
    """Return the command-line options that select a rule and a number of virtual channels."""
    return f"--vc-rule {quote(rule)} --virtual-channels {virtual_channels}"


def remedy_words(remedy: dict[str, Any]) -> list[str]:
    """Describe the ways to break the cycles, with the number of virtual channels that each needs."""
    some = remedy["datelines"]
    lines = ", ".join(some[:MAX_DATELINES]) + (", …" if len(some) > MAX_DATELINES else "")
    enough = [
        "the least, as one has a cycle" if least else "suffice"
        for least in (remedy["is_least"], remedy["is_least_layers"])
    ]
    found = [f"{remedy['virtual_channels']} virtual channels ({enough[0]}), changed only behind {lines}"]
    if remedy["layers"] is not None:
        found.append(f"or {remedy['layers']} layers of whole routes ({enough[1]}), a virtual channel each")
    return found


def _layers(layered: dict[str, Any]) -> list[tuple[str, str]]:
    paths = ", ".join(f"{number:,}" for number in layered["paths"])
    return [
        ("layers, paths in each", f"{layered['layers']}: {paths}"),
        ("layers, at least", str(layered["least_layers"])),
    ]


def _cycle(channels: list[str], packets: list[str] | None) -> list[str]:
    """Write a line for each channel, with the packet that holds it; the middle of a long cycle is left out."""
    width, digits = max(map(len, channels)), len(str(len(channels)))
    holders = [""] * len(channels) if packets is None else [f"   packet {packet}" for packet in packets]
    lines = [
        f"  {number:>{digits}}  {channel:{width}}{holder}".rstrip()
        for number, (channel, holder) in enumerate(zip(channels, holders), 1)
    ]
    if len(lines) <= MAX_CHANNELS:
        return lines
    half = MAX_CHANNELS // 2
    return [*lines[:half], f"  … {len(lines) - 2 * half} more …", *lines[-half:]]
