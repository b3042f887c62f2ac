"""The printed form of channel loads: lines of column values, phases of a collective, and a bar for each link class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from torusweep.questions.console import NO_ROUTE, print_bars, print_note

LINES = (
    "saturates at: {terminal_saturation_load}",
    *("routing", "traffic", "method: {method}[, {packets}, seed {seed}]", NO_ROUTE),
    "channels saturate at: {saturation_load} | never: no channel is used",
    "terminals saturate at: {injection_load:n} sending, {ejection_load} receiving | {ejection_load}",
    "busiest channel: {max_channel_load:.7g}[ ± {max_channel_load_stderr:.2g}, biased upwards]"
    " (mean {mean_channel_load:.7g}) at 1 flit/cycle/terminal[, such as {busiest}]",
    "biased downwards: {max_channel_load_low:.7g} ± {max_channel_load_low_stderr:.2g}: one half of the packets"
    " selects the channel, the other half measures it",
    "link utilization: {link_utilization:.2%}",
    "mean path: {mean_hops:.10gu}[, stretch {stretch:.4g}]",
    "all phases: {collective_time} of the message: {phases_said}",
    "bus bandwidth: {bus_bandwidth}[; {terminal_bus_bandwidth} with terminals of 1 flit/cycle]",
    "capacity, any routing: {capacity}[; this routing reaches {capacity_share:.2%}]",
    "capacity, minimal: {capacity_minimal}",
    "worst permutation: {worst_case_saturation_load}",
    "best known bisection: {cut_links}",
    "effective for crossing: {effective_cut_links}",
    "bounds by: {bounds_method}",
)
USUAL: dict[str, Any] = {
    **{"method": "exact", "lost_pairs": 0, "lost_traffic": 0, "injection_load": "ejection_load"},
    "terminal_bus_bandwidth": "bus_bandwidth",
}


def phases_said(phases: Sequence[Mapping[str, Any]] | None) -> str | None:
    """Return the time and the largest load of each phase of a collective operation; None for other traffic."""
    said = "{name} {time:.6g} (load {max_channel_load:.6g})"
    return None if phases is None else ", ".join(said.format_map(phase) for phase in phases)


def print_classes(console: Console, loads: Mapping[str, Mapping[str, float]]) -> None:
    """Print a bar for the load of each link class, dark up to the mean and light up to the maximum."""
    if loads:
        print_note(console, "\nload of the channels, by link class, in flits per cycle")
        said = "mean {mean:.6g}, max {max:.6g}"
        bars = ((name, load["mean"], load["max"], said.format_map(load)) for name, load in loads.items())
        print_bars(console, bars, indent="  ")
