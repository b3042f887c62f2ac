"""How a verdict on deadlock looks on a terminal. Plain text when piped."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from torusweep.cli.console import named, page

SHOWN = 32  # channels of a cycle; --json has all


def print_verdict(record: dict[str, Any]) -> None:
    """A record of the table `deadlock` as named facts, and the cycle as a list of channels."""
    with page() as console:
        console.print(Text(record["topology"], style="bold"))
        console.print(named(_lines(record)))
        if record["cycle"]:
            asks = "waits" if record["deadlock_free"] == "no" else "may ask"
            console.print(
                Text(
                    f"\na packet in each of these channels {asks} for the next, the last one's for the first:",
                    style="dim",
                )
            )
            for line in _cycle(record["cycle"], record["packets"]):
                console.print(Text(line))


def _lines(record: dict[str, Any]) -> list[tuple[str, str]]:
    """(label, value) of what a person reads first; --json has every column."""
    least = record["least_virtual_channels"]
    number = "not counted, of" if record["dependencies"] is None else f"{record['dependencies']:,} between"
    size = "of a superset" if record["channels"] is None else f"{number} {record['channels']:,} channels"
    return [
        ("routing", record["routing"]),
        ("virtual channels", f"{record['virtual_channels']}, rule {record['vc_rule']}"),
        ("dependencies", f"{size}, {'without a cycle' if record['acyclic'] else 'cyclic'}"),
        ("deadlock-free", record["deadlock_free"]),
        ("because", record["argument"]),
        (
            "acyclic from",
            record["least_reason"]
            if least is None
            else f"{least} virtual channel{'s' * (least > 1)}, rule {record['least_rule']}",
        ),
    ]


def _cycle(channels: list[str], packets: list[str] | None) -> list[str]:
    """A line a channel, with the packet that holds it; the middle of a long cycle is left out."""
    wide, digits = max(map(len, channels)), len(str(len(channels)))
    held = [""] * len(channels) if packets is None else [f"   packet {packet}" for packet in packets]
    numbered = [
        f"  {number:>{digits}}  {channel:{wide}}{by}".rstrip()
        for number, (channel, by) in enumerate(zip(channels, held), 1)
    ]
    if len(channels) <= SHOWN:
        return numbered
    half = SHOWN // 2
    return [*numbered[:half], f"  … {len(channels) - 2 * half} more …", *numbered[-half:]]
