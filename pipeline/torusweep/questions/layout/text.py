"""A layout as text: numbers, the wires of each length, and the places of a small plane."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from torusweep.networks.topology import Topology
from torusweep.quantities import counted
from torusweep.questions.console import print_bars, print_facts, print_note
from torusweep.questions.layout.drawing import text_layout

MAX_ROWS = 12  # of the histogram of lengths; --json has all


def print_layout(console: Console, record: dict[str, Any], network: Topology) -> None:
    """A record of the table `layout`, its histogram of lengths, and a drawing if the layout is a small plane."""
    print_facts(console, record["topology"], _facts(record))
    if len(record["wire_length_histogram"]) > 1:
        print_note(console, "\nwires of each length")
        print_bars(console, _bars(record["wire_length_histogram"]))
    drawing = text_layout(network, record["placement"])
    if drawing:
        print_note(console, f"\nthe {'node' if record['block'] is None else 'cabinet'} at each place, by its address")
        console.print(Text(drawing), soft_wrap=True)


def _facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    """(name, value) of the main columns; --json has all."""
    extent, block = (" × ".join(map(str, record[name] or ())) for name in ("extent", "block"))
    facts = [
        ("placement", record["placement"]),
        ("cabinets", f"{extent} of {block} nodes") if block else ("places", extent),
    ]
    if record["cables"] is not None:
        facts.append(("cables", f"{record['cables']:,} between cabinets"))
    if record["wire_length_max"] is None:
        return [*facts, ("wires", "none")]
    longest, longest_line = record["wire_length_max"], record["wire_length_max_euclidean"]
    mean, mean_line = record["wire_length_mean"], record["wire_length_mean_euclidean"]
    total, total_line = record["wire_length_total"], record["wire_length_total_euclidean"]
    classes = ", ".join(f"{name} {lengths['max']:g}" for name, lengths in record["per_class_wire_length"].items())
    facts += [
        ("longest wire", f"{longest}  ({longest_line:.6g} in a straight line); {classes}"),
        ("mean wire", f"{mean:.6g}  ({mean_line:.6g})"),
        ("all wires", f"{total:,}  ({total_line:,.6g}), in pitches"),
    ]
    if record["wire_density_position"] is not None:
        place = f"first after {counted(record['wire_density_position'], 'place')}"
        most = counted(record["wire_density_max"], "channel", "g")
        middle = f"{record['wire_density_middle']:g} in the middle"
        facts.append(("density of a row", f"{most} at most, {place}; {middle}"))
    if record["channel_width"] is not None:
        width = f"{counted(record['channel_width'], 'bit', '.6g')}, {counted(record['pins'], 'pin', '.6g')} a node"
        facts.append(("channel width", f"{width}, if as many wires cross the middle as there are nodes"))
    if record["layout_volume"] is not None:
        name, unit = ("volume", "cubed") if record["dimensions"] == 3 else ("area", "squared")
        facts.append((f"least {name}", f"{record['layout_volume']:,.6g} wire pitches {unit}"))
    return facts


def _bars(histogram: list[dict[str, int]]) -> list[tuple[str, float, float, str]]:
    """A bar for each length; the longest share one where there are more than MAX_ROWS."""
    rows = [(str(entry["length"]), entry["wires"]) for entry in histogram]
    if len(rows) > MAX_ROWS:
        rest = rows[MAX_ROWS - 1 :]
        rows = [*rows[: MAX_ROWS - 1], (f"{rest[0][0]}–{rest[-1][0]}", sum(wires for _, wires in rest))]
    return [(label, wires, wires, f"{wires:,}") for label, wires in rows]
