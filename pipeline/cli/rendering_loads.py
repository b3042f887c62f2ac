"""How the loads of a network's channels look on a terminal. Plain text when piped."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from pipeline.cli.page import page

BAR = 40  # characters


def print_loads(record: dict[str, Any], *, computed_by: str) -> None:
    """A record of the table `loads` as named numbers, and a bar for each link class."""
    with page() as console:
        console.print(Text(record["topology"], style="bold"))
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for label, value in _lines(record):
            table.add_row(label, value)
        console.print(table)
        if record["per_class_load"] and record["max_channel_load"]:
            console.print(Text("\nload of the channels, by link class, in flits per cycle", style="dim"))
            console.print(Text(_bars(record["per_class_load"], record["max_channel_load"])))
        console.print(Text(f"computed by {computed_by}", style="dim"))


def _lines(record: dict[str, Any]) -> list[tuple[str, str]]:
    """(label, value) of what a person reads first; --json has every column."""
    saturation, utilization = record["saturation_load"], record["link_utilization"]
    first = "channels" if saturation == record["terminal_saturation_load"] else "terminals, at ejection"
    return [
        ("routing", record["routing"]),
        ("traffic", record["traffic"]),
        ("channels saturate at", "no load: nothing is sent over them" if saturation is None else f"{saturation:.7g} flits/cycle/terminal"),
        ("terminals saturate at", f"{record['ejection_load']:.7g} flits/cycle/terminal"),
        ("first to saturate", first),
        ("busiest channel", f"{record['max_channel_load']:.7g}  (mean {record['mean_channel_load']:.7g}), at 1 flit/cycle/terminal"),
        ("link utilization", "–" if utilization is None else f"{100 * utilization:.4g} %"),
        ("mean path", f"{record['mean_hops']:.10g} hops"),
    ]


def _bars(classes: dict[str, dict[str, float]], most: float) -> str:
    """A line for each class: the bar is full up to the mean and light up to the maximum."""
    width = max(len(name) for name in classes)
    rows = []
    for name, load in classes.items():
        mean, peak = (round(BAR * load[kind] / most) for kind in ("mean", "max"))
        rows.append(f"  {name:<{width}} {'█' * mean + '░' * (peak - mean):<{BAR}} mean {load['mean']:.6g}, max {load['max']:.6g}")
    return "\n".join(rows)
