"""How the loads of a network's channels look on a terminal. Plain text when piped."""

from __future__ import annotations

from math import isclose
from typing import Any

from rich.text import Text

from torusweep.cli.console import named, page
from torusweep.counts import counted

BAR = 40  # characters


def print_loads(record: dict[str, Any], *, computed_by: str) -> None:
    """A record of the table `loads` as named numbers, and a bar for each link class."""
    with page() as console:
        console.print(Text(record["topology"], style="bold"))
        console.print(named(_lines(record)))
        if record["per_class_load"] and record["max_channel_load"]:
            console.print(Text("\nload of the channels, by link class, in flits per cycle", style="dim"))
            console.print(Text(_bars(record["per_class_load"], record["max_channel_load"])))
        console.print(Text(f"computed by {computed_by}", style="dim"))


def _lines(record: dict[str, Any]) -> list[tuple[str, str]]:
    """(label, value) of what a person reads first; --json has every column."""
    saturation, utilization = record["saturation_load"], record["link_utilization"]
    first = _first(saturation, record["ejection_load"])
    error = ""
    if record["method"] == "monte-carlo":
        error = f" ± {record['max_channel_load_stderr']:.2g}, on average too high"
    return [
        ("routing", record["routing"]),
        ("traffic", record["traffic"]),
        *([("method", f"monte-carlo, {counted(record['packets'], 'packet')}, seed {record['seed']}")] if error else []),
        (
            "channels saturate at",
            "no load: nothing is sent over them" if saturation is None else f"{saturation:.7g} flits/cycle/terminal",
        ),
        ("terminals saturate at", f"{record['ejection_load']:.7g} flits/cycle/terminal"),
        ("first to saturate", first),
        (
            "busiest channel",
            f"{record['max_channel_load']:.7g}{error}  (mean {record['mean_channel_load']:.7g}), at 1 flit/cycle/terminal",
        ),
        *_of_sample(record),
        ("link utilization", "–" if utilization is None else f"{100 * utilization:.4g} %"),
        ("mean path", f"{record['mean_hops']:.10g} hops{_stretched(record['stretch'])}"),
        *_of_collective(record),
        *_of_bounds(record),
    ]


def _of_sample(record: dict[str, Any]) -> list[tuple[str, str]]:
    if record["method"] != "monte-carlo":
        return []
    low = f"{record['max_channel_load_low']:.7g} ± {record['max_channel_load_low_stderr']:.2g}"
    return [("on average too low", f"{low}: half of the packets chose the channel, the others measure it")]


def _first(saturation: float | None, ejection: float) -> str:
    """Which of the two saturation loads is reached first; rounding decides nothing."""
    if saturation is not None and isclose(saturation, ejection, rel_tol=1e-12):
        return "channels and terminals alike"
    return "channels" if saturation is not None and saturation < ejection else "terminals, at ejection"


def _stretched(stretch: float | None) -> str:
    if stretch is None or stretch < 1 + 1e-12:
        return "" if stretch is None else ", the shortest"
    return f", {100 * (stretch - 1):.3g} % longer than the shortest"


def _of_collective(record: dict[str, Any]) -> list[tuple[str, str]]:
    if record["phases"] is None:
        return []
    phases = [
        (
            f"phase {number}",
            f"{phase['name']}: {phase['time']:.6g} cycles per flit of message, busiest channel {phase['max_channel_load']:.6g}",
        )
        for number, phase in enumerate(record["phases"], start=1)
    ]
    return [
        *phases,
        ("all phases", f"{record['collective_time']:.6g} cycles per flit of message"),
        (
            "bus bandwidth",
            f"{record['bus_bandwidth']:.6g} flits/cycle/terminal ({record['terminal_bus_bandwidth']:.6g} with terminals of 1 flit/cycle)",
        ),
    ]


def _of_bounds(record: dict[str, Any]) -> list[tuple[str, str]]:
    if not record["bounds_method"]:
        return []
    share = "" if record["capacity_share"] is None else f"; this routing reaches {100 * record['capacity_share']:.4g} %"
    known = (
        ("capacity, any routing", "capacity", f" flits/cycle/terminal{share}"),
        ("capacity, minimal", "capacity_minimal", " flits/cycle/terminal"),
        ("worst permutation", "worst_case_saturation_load", " flits/cycle/terminal"),
        ("narrowest cut known", "cut_links", " links"),
        ("effective for crossing", "effective_cut_links", " links"),
    )
    return [
        *((label, f"{record[name]:.7g}{unit}") for label, name, unit in known if record[name] is not None),
        ("bounds by", record["bounds_method"]),
    ]


def _bars(classes: dict[str, dict[str, float]], most: float) -> str:
    """A line for each class: the bar is full up to the mean and light up to the maximum."""
    width = max(len(name) for name in classes)
    rows = []
    for name, load in classes.items():
        mean, peak = (round(BAR * load[kind] / most) for kind in ("mean", "max"))
        rows.append(
            f"  {name:<{width}} {'█' * mean + '░' * (peak - mean):<{BAR}} mean {load['mean']:.6g}, max {load['max']:.6g}"
        )
    return "\n".join(rows)
