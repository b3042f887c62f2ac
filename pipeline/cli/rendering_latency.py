"""How a model's latency looks on a terminal. Plain text when piped."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from pipeline.cli.page import page


def print_latency(record: dict[str, Any], reason: str) -> None:
    """A record of Parhami & Kwai's model: what was given, then latency as printed beside the corrected one.

    reason   why there is no corrected one; '' where there is
    """
    with page() as console:
        console.print(Text(record["topology"], style="bold"))
        facts = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        facts.add_column(style="dim", no_wrap=True)
        facts.add_column(overflow="fold")
        for label, value in (
            ("channels", f"{record['width']:.6g} bits ({record['pins']:g} pins, degree {record['degree']})"),
            ("messages", f"{record['message_bits']:g} bits, {record['flits']:.6g} flits, {record['mean_distance']:.7g} hops on average"),
            ("switch delay", f"{record['switch_delay']:g} cycles"),
            ("rate", f"{record['rate']:g} messages/cycle/node ({record['load']:.6g} flits)"),
            ("empty network", f"{record['uncontended_latency']:.6g} cycles (stored at every hop: {record['store_and_forward_latency']:.6g})"),
        ):
            facts.add_row(label, value)
        console.print(facts)
        console.print()
        both = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        for heading in ("", "as printed", "by link class"):
            both.add_column(heading, style="dim" if not heading else "", justify="left" if not heading else "right")
        corrected = not reason
        both.add_row("utilization, busiest channel", _number(record["utilization"]), _number(record["utilization_max"]) if corrected else "–")
        both.add_row("mean latency, cycles", *(_cycles(record, ending, known) for ending, known in (("", True), ("_corrected", corrected))))
        rates = [_number(record[f"saturation_rate{ending}"]) for ending in ("", "_corrected")]
        both.add_row("saturation, messages/cycle/node", *rates)
        console.print(both)
        if reason:
            console.print(Text(f"channel loads are not known: {reason}", style="dim"))


def print_cubes(record: dict[str, Any], cubes: list[dict[str, Any]]) -> None:
    """A cube of Dally's by name, and a row for every dimension that it could have had."""
    with page() as console:
        delay, bits = record["wire_delay"], record["message_bits"]
        console.print(Text(f"{record['nodes']:,} nodes, {bits:g}-bit messages, {delay} wire delay", style="bold"))
        words = f"best dimension {record['best_dimension']}; dimension {record['dimension']}: {record['mean_latency']:.6g} cycles"
        console.print(Text(words + (f", in {record['topology']}" if record["topology"] else "")))
        console.print()
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        columns = {
            "dimension": "n",
            "radix": "radix k",
            "width": "channel, bits",
            "pins": "pins",
            "longest_wire": "longest wire",
            "mean_distance": "mean hops",
            "mean_latency": "latency",
        }
        for heading in columns.values():
            table.add_column(heading, justify="right")
        for cube in cubes:
            style = "bold" if cube["dimension"] == record["best_dimension"] else None
            table.add_row(*(f"{cube[name]:.6g}" for name in columns), style=style)
        console.print(table)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"


def _cycles(record: dict[str, Any], ending: str, known: bool) -> str:
    if not known:
        return "–"
    return "infinite" if record[f"saturated{ending}"] else f"{record[f'mean_latency{ending}']:.6g}"
