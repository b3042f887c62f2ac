"""How a model's latency looks on a terminal. Plain text when piped."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from torusweep.cli.console import named, page, uncut

Record = dict[str, Any]
VARIANTS = ("", "_corrected")  # endings of columns: as printed, corrected
COMPARED = (  # columns of networks side by side, and their headings
    ("width", "width,\nbits"),
    ("pins", "pins"),
    ("mean_distance", "hops"),
    ("uncontended_latency", "empty,\ncycles"),
    ("saturation_bits", "saturation"),
    ("saturation_bits_corrected", "corrected"),
)
LOADED = (("mean_latency", "latency,\ncycles"), ("mean_latency_corrected", "corrected"))


def print_latency(record: Record, remarks: list[str]) -> None:
    """A record of Parhami & Kwai's model: what was given, then latency as printed beside the corrected one; and what is not known."""
    with page() as console:
        console.print(Text(record["topology"], style="bold"))
        cost = "" if record["constant"] == "pins" else f"; {_held([record])}"
        facts = (
            ("channels", f"{record['width']:.6g} bits ({record['pins']:.6g} pins, degree {record['degree']}{cost})"),
            (
                "messages",
                f"{record['message_bits']:g} bits, {record['flits']:.6g} flits, {record['mean_distance']:.7g} hops on average",
            ),
            ("switch delay", f"{record['switch_delay']:g} cycles"),
            ("rate", f"{record['rate']:g} messages/cycle/node ({record['load']:.6g} flits)"),
            (
                "empty network",
                f"{record['uncontended_latency']:.6g} cycles (stored at every hop: {record['store_and_forward_latency']:.6g})",
            ),
        )
        console.print(named(facts))
        console.print()
        both = _table("", "as printed", "by link class")
        both.add_row("utilization, busiest channel", _number(record["utilization"]), _number(record["utilization_max"]))
        for label, column in (
            ("mean latency, cycles", "mean_latency"),
            ("saturation, messages/cycle/node", "saturation_rate"),
            ("saturation, bits/cycle/node", "saturation_bits"),
        ):
            both.add_row(label, *(_value(record, f"{column}{ending}") for ending in VARIANTS))
        console.print(both)
        _print_remarks(console, remarks)


def print_comparison(found: list[Record], remarks: list[str]) -> None:
    """Networks at equal cost, a row each, in the order given."""
    first = found[0]
    with page() as console:
        console.print(Text(f"at equal cost: {_held(found)}", style="bold"))
        given = f"messages of {first['message_bits']:g} bits, {first['rate']:g} messages/cycle/node, switch delay {first['switch_delay']:g} cycles"
        console.print(Text(f"{given}; saturation in bits/cycle/node", style="dim"))
        console.print()
        columns = COMPARED + (LOADED if first["rate"] else ())
        table = _table("", *(heading for _, heading in columns))
        for record in found:
            table.add_row(record["topology"], *(_value(record, column) for column, _ in columns))
        uncut(console, table)
        _print_remarks(console, remarks)


def print_cubes(record: Record, cubes: list[Record]) -> None:
    """A cube of Dally's by name, and a row for every dimension that it could have had, as printed and with the wires of folded rings."""
    with page() as console:
        delay, bits = record["wire_delay"], record["message_bits"]
        console.print(Text(f"{record['nodes']:,} nodes, {bits:g}-bit messages, {delay} wire delay", style="bold"))
        words = f"best dimension {record['best_dimension']}; dimension {record['dimension']}: {record['mean_latency']:.6g} cycles"
        console.print(Text(words + (f", in {record['topology']}" if record["topology"] else "")))
        folded = f"best dimension {record['best_dimension_corrected']}; dimension {record['dimension']}: {record['mean_latency_corrected']:.6g} cycles"
        console.print(Text(f"corrected, with the longer wires of folded rings: {folded}", style="dim"))
        console.print()
        columns = {
            "dimension": "n",
            "radix": "radix k",
            "width": "channel, bits",
            "pins": "pins",
            "longest_wire": "longest wire",
            "longest_wire_corrected": "corrected",
            "mean_distance": "mean hops",
            "mean_latency": "latency",
            "mean_latency_corrected": "corrected",
        }
        table = _table(*columns.values(), left=0)
        for cube in cubes:
            style = "bold" if cube["dimension"] == record["best_dimension"] else None
            table.add_row(*(f"{cube[name]:.6g}" for name in columns), style=style)
        uncut(console, table)


def _held(found: list[Record]) -> str:
    """What networks have alike, in words."""
    budget, sizes = found[0]["budget"], {record["nodes"] for record in found}
    if found[0]["constant"] == "pins":
        return f"pins, {budget:g} a node"
    if found[0]["constant"] == "bisection":
        together = f", {budget * sizes.pop():,.6g} together" if len(sizes) == 1 else ""
        return f"wires across the middle, {budget:g} a node{together}"
    return f"pitches of wire, {budget:g} a node, placed {found[0]['placement']}"


def _table(*headings: str, left: int = 1) -> Table:
    """So many columns to the left, the others to the right."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for place, heading in enumerate(headings):
        table.add_column(heading, style="" if heading else "dim", justify="left" if place < left else "right")
    return table


def _print_remarks(console: Console, remarks: list[str]) -> None:
    for remark in remarks:
        console.print(Text(remark, style="dim"))


def _value(record: Record, column: str) -> str:
    """A number; latencies are infinite where they are flagged as saturated."""
    flag = column.replace("mean_latency", "saturated")
    return "infinite" if flag != column and record[flag] else _number(record[column])


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"
