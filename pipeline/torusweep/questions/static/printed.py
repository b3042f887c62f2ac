"""Printed parts of a network's static properties that are not columns: link classes, distances as bars, a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from torusweep.networks.picture import text_picture
from torusweep.networks.topology import Topology
from torusweep.quantities import counted
from torusweep.questions.console import print_bars, print_note

MAX_ROWS = 24  # bars of the distribution of distances


def said_of(record: dict[str, Any], network: Topology) -> dict[str, str | None]:
    """Return as texts the bounds of the bisection, and the link classes unless their bandwidth and latency are 1."""
    lower, upper = (record[f"bisection_{name}"] for name in ("lower", "upper"))
    bounds = ["?" if bound is None else f"{bound:,}" for bound in dict.fromkeys((lower, upper))]
    classes = ""
    if network.plan.bandwidths or network.plan.latencies:
        classes = "; ".join(
            f"{network.class_name(number)} {width} flit{'s' * (width != 1)}/cycle, {counted(cycles, 'cycle')}"
            for number, (width, cycles) in enumerate(network.links_by_class)
        )
    return {"link_classes": classes, "bisection": None if lower is upper is None else " … ".join(bounds)}


def print_below(console: Console, histogram: Sequence[int], drawn: Topology | None) -> None:
    """Print a bar for each distance (if there are too many, for each range of distances), and a network's picture."""
    if len(histogram) > 1:
        step = -(-len(histogram) // MAX_ROWS)
        bars = []
        for start in range(0, len(histogram), step):
            pairs, last = sum(histogram[start : start + step]), min(start + step, len(histogram)) - 1
            label = str(start) if start == last else f"{start}–{last}"
            bars.append((label, pairs, pairs, f"{pairs / sum(histogram):6.1%}"))
        print_note(console, "\nhops between two terminals, share of the pairs")
        print_bars(console, bars, indent="  ")
    if drawn is not None:
        console.print()
        console.print(Text.from_ansi(text_picture(drawn)), soft_wrap=True)
