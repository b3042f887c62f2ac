"""Print channel loads: the main numbers, and a bar for each link class."""

from __future__ import annotations

from math import isclose
from typing import Any

from rich.console import Console

from torusweep.quantities import counted
from torusweep.questions.console import lost_facts, print_bars, print_facts, print_note

Record = dict[str, Any]
Facts = list[tuple[str, str]]

BOUNDS = (  # label, column, unit
    ("capacity, any routing", "capacity", " flits/cycle/terminal"),
    ("capacity, minimal", "capacity_minimal", " flits/cycle/terminal"),
    ("worst permutation", "worst_case_saturation_load", " flits/cycle/terminal"),
    ("best known bisection", "cut_links", " links"),
    ("effective for crossing", "effective_cut_links", " links"),
)


def print_loads(console: Console, record: Record, computed_by: str, rates: Facts) -> None:
    """Print a row of the table `loads`, then `rates`, then the loads of each link class as bars."""
    print_facts(console, record["topology"], [*_facts(record), *rates])
    if record["per_class_load"] and record["max_channel_load"]:
        print_note(console, "\nload of the channels, by link class, in flits per cycle")
        loads = record["per_class_load"].items()  # dark up to the mean, light up to the maximum
        bars = [(name, own["mean"], own["max"], f"mean {own['mean']:.6g}, max {own['max']:.6g}") for name, own in loads]
        print_bars(console, bars, indent="  ")
    print_note(console, f"computed by {computed_by}")


def _facts(record: Record) -> Facts:
    """Return the main columns of the row as facts (name, value); --json prints all columns."""
    sampled = record["method"] == "monte-carlo"
    saturation, utilization = record["saturation_load"], record["link_utilization"]
    end = min(("ejection", "injection"), key=lambda end: float(record[f"{end}_load"]))
    terminals = float(record[f"{end}_load"])
    sample = f"monte-carlo, {counted(record['packets'], 'packet')}, seed {record['seed']}" if sampled else ""
    error = f" ± {record['max_channel_load_stderr']:.2g}, biased upwards" if sampled else ""
    channels = "no load: no channel is used" if saturation is None else f"{saturation:.7g} flits/cycle/terminal"
    busiest = f"{record['max_channel_load']:.7g}{error}  (mean {record['mean_channel_load']:.7g})"
    return [
        ("routing", record["routing"]),
        ("traffic", record["traffic"]),
        *lost_facts(record),
        *([("method", sample)] if sampled else []),
        ("channels saturate at", channels),
        ("terminals saturate at", f"{terminals:.7g} flits/cycle/terminal"),
        ("first to saturate", _first_to_saturate(saturation, terminals, end)),
        ("busiest channel", f"{busiest}, at 1 flit/cycle/terminal"),
        *(_lower_estimate(record) if sampled else []),
        ("link utilization", "–" if utilization is None else f"{100 * utilization:.4g} %"),
        ("mean path", f"{counted(record['mean_hops'], 'hop', '.10g')}{_stretch(record['stretch'])}"),
        *_collective(record),
        *_bounds(record),
    ]


def _lower_estimate(record: Record) -> Facts:
    low = f"{record['max_channel_load_low']:.7g} ± {record['max_channel_load_low_stderr']:.2g}"
    return [("biased downwards", f"{low}: one half of the packets selects the channel, the other half measures it")]


def _first_to_saturate(saturation: float | None, terminals: float, end: str) -> str:
    """Name the end with the smaller saturation load: channels or terminals. Loads equal up to rounding are a tie."""
    if saturation is not None and isclose(saturation, terminals, rel_tol=1e-12):
        return "channels and terminals at once"
    return "channels" if saturation is not None and saturation < terminals else f"terminals, at {end}"


def _stretch(stretch: float | None) -> str:
    if stretch is None or stretch == 1:
        return "" if stretch is None else ", the shortest"
    return f", {100 * (stretch - 1):.3g} % longer than the shortest"


def _collective(record: Record) -> Facts:
    if record["phases"] is None:
        return []
    per_flit = "cycles per flit of message"
    bandwidth, terminal = record["bus_bandwidth"], record["terminal_bus_bandwidth"]
    phases = []
    for number, phase in enumerate(record["phases"], start=1):
        time, load = phase["time"], phase["max_channel_load"]
        phases.append((f"phase {number}", f"{phase['name']}: {time:.6g} {per_flit}, busiest channel {load:.6g}"))
    return [
        *phases,
        ("all phases", f"{record['collective_time']:.6g} {per_flit}"),
        ("bus bandwidth", f"{bandwidth:.6g} flits/cycle/terminal ({terminal:.6g} with terminals of 1 flit/cycle)"),
    ]


def _bounds(record: Record) -> Facts:
    if not record["bounds_method"]:
        return []
    facts = [(label, f"{record[name]:.7g}{unit}") for label, name, unit in BOUNDS if record[name] is not None]
    if record["capacity"] is not None and record["capacity_share"] is not None:
        label, value = facts[0]
        facts[0] = (label, f"{value}; this routing reaches {100 * record['capacity_share']:.4g} %")
    return [*facts, ("bounds by", record["bounds_method"])]
