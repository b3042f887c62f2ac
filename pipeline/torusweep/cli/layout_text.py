"""How a layout looks on a terminal. Plain text when piped."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from torusweep.cli.console import named, page
from torusweep.networks.topology import Topology

SHOWN = 12  # lengths of the histogram; --json has all
BAR = 40  # characters


def print_layout(record: dict[str, Any], network: Topology) -> None:
    """A record of the table `layout` as named numbers, the wires of each length, and who stands where if that is a small plane."""
    from torusweep.stages.layout.drawing import text_layout

    with page() as console:
        console.print(Text(record["topology"], style="bold"))
        console.print(named(_lines(record)))
        if len(record["wire_length_histogram"]) > 1:
            console.print(Text("\nwires of each length", style="dim"))
            console.print(Text(_bars(record["wire_length_histogram"])))
        drawing = text_layout(network, record["placement"])
        if drawing:
            console.print(
                Text(
                    f"\nthe {'node' if record['block'] is None else 'cabinet'} at each place, by its address",
                    style="dim",
                )
            )
            console.print(Text(drawing), soft_wrap=True)


def _lines(record: dict[str, Any]) -> list[tuple[str, str]]:
    """(label, value) of what a person reads first; --json has every column."""
    box = " × ".join(map(str, record["extent"]))
    thing = "places" if record["block"] is None else f"cabinets of {' × '.join(map(str, record['block']))} nodes"
    lines = [
        ("placement", record["placement"]),
        (thing.partition(" of ")[0], f"{box}{thing.removeprefix('places').removeprefix('cabinets')}"),
    ]
    if record["cables"] is not None:
        lines.append(("cables", f"{record['cables']:,} between cabinets"))
    if record["wire_length_max"] is None:
        return [*lines, ("wires", "none")]
    classes = ", ".join(f"{name} {most['max']:g}" for name, most in record["per_class_wire_length"].items())
    lines += [
        (
            "longest wire",
            f"{record['wire_length_max']}  ({record['wire_length_max_euclidean']:.6g} as the crow flies); {classes}",
        ),
        ("mean wire", f"{record['wire_length_mean']:.6g}  ({record['wire_length_mean_euclidean']:.6g})"),
        ("all wires", f"{record['wire_length_total']:,}  ({record['wire_length_total_euclidean']:,.6g}), in pitches"),
    ]
    if record["wire_density_position"] is not None:
        place = f"first after {record['wire_density_position']:,} places"
        lines.append(
            (
                "density of a row",
                f"{record['wire_density_max']:g} channels at most, {place}; {record['wire_density_middle']:g} in the middle",
            )
        )
    if record["channel_width"] is not None:
        width = f"{record['channel_width']:.6g} bits, {record['pins']:.6g} pins a node"
        lines.append(("channel width", f"{width}, if as many wires cross the middle as there are nodes"))
    if record["layout_volume"] is not None:
        unit = "volume" if record["dimensions"] == 3 else "area"
        lines.append(
            (
                f"least {unit}",
                f"{record['layout_volume']:,.6g} wire pitches {'cubed' if unit == 'volume' else 'squared'}",
            )
        )
    return lines


def _bars(histogram: list[dict[str, int]]) -> str:
    """A bar for each length, the longest ones in one where there are many."""
    rows = [(str(sort["length"]), sort["wires"]) for sort in histogram]
    if len(rows) > SHOWN:
        rows = [
            *rows[: SHOWN - 1],
            (f"{rows[SHOWN - 1][0]}–{rows[-1][0]}", sum(wires for _, wires in rows[SHOWN - 1 :])),
        ]
    most, label = max(wires for _, wires in rows), max(len(name) for name, _ in rows)
    return "\n".join(
        f"{name:>{label}} {'█' * max(1, round(BAR * wires / most)):<{BAR}} {wires:,}" for name, wires in rows
    )
