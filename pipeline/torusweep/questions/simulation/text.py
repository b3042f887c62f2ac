"""Simulations as text: what was simulated, a line for each load, the latency curve, deadlocks."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

from rich.console import Console
from rich.text import Text

from torusweep.quantities import counted
from torusweep.questions.console import BAR_WIDTH, Columns, lost_facts, print_facts, print_note, print_rows
from torusweep.questions.simulation.statistics import BATCHES

MAX_CHANNELS = 32  # printed of a cyclic wait; --json has all
Row = dict[str, Any]


def print_simulation(console: Console, rows: Sequence[Row]) -> None:
    """Rows of the table `simulation` that differ in their load only."""
    print_facts(console, rows[0]["topology"], _facts(rows[0]))
    console.print()
    unclear = any(_maybe_saturated(row) or (row["saturated"] and _accepts(row)) for row in rows)
    print_rows(console, rows, _columns(generated=unclear))
    print_note(console, "loads in flits per cycle per terminal, latencies in cycles, ± half a 95 % confidence interval")
    for verdict in sorted(NOTES.keys() & set(map(_verdict, rows))):
        print_note(console, f"{verdict}: {NOTES[verdict]}; more --cycles or seeds decide")
    for row in rows:
        if enough := _cycles_enough(row):
            load = f"{row['offered_load']:.4g}"
            print_note(
                console,
                f"load {load}: too short for a useful interval; some {enough:,} cycles (--cycles {enough}) would do",
            )
    if len(rows) > 1:
        print_note(console, "\ntotal latency by offered load")
        console.print(Text(_curve(rows)))
    for row in rows:
        if row["waiting"]:
            cycle = f"{row['deadlock_cycle']:,}"
            print_note(
                console,
                f"\ndeadlock since cycle {cycle}: a packet in each of these channels waits for the next; "
                "in the last, for the first",
            )
            console.print(Text("\n".join(f"  {channel}" for channel in row["waiting"][:MAX_CHANNELS])))


def _facts(row: Row) -> list[tuple[str, str]]:
    """(name, value) of what was simulated; --json has every column."""
    buffers = f"{row['virtual_channels']} of {counted(row['buffer_flits'], 'flit')}"
    speedup = f", {row['input_speedup']} virtual channels of a port send at once" if row["input_speedup"] > 1 else ""
    cycles = "until all is delivered" if row["cycles"] is None else f"{row['cycles']:,}"
    seeds = f"seed{'s' * (len(row['seeds']) > 1)} {', '.join(map(str, row['seeds']))}"
    facts = [
        ("routing", row["routing"]),
        *lost_facts(row),
        ("virtual channels", f"{buffers}, rule {row['vc_rule']}"),
        ("router", f"{row['router']}, {row['switching']}{speedup}"),
        ("traffic", row["traffic"])
        if row["workload"] is None
        else ("workload", f"{row['workload']}, {row['placement']} placement"),
        ("packets", _packets(row)),
        ("cycles", f"{cycles}, {seeds}"),
    ]
    if row["simulated_saturation"] is not None:
        precision = f"(at most {row['saturation_precision']:.2g} more)"
        facts.append(("saturates at", f"{row['simulated_saturation']:.4g} flits/cycle/terminal {precision}"))
    if row["refused_packets"]:
        facts.append(("refused", f"{counted(row['refused_packets'], 'packet')}, because the source queue was full"))
    if row["message_latency"] is not None:
        p99 = f"99 % at most {row['p99_message_latency']:,}"
        facts.append(("message latency", f"{counted(row['message_latency'], 'cycle', ',.6g')}, {p99}"))
    if row["offered_load"] is None:
        time = row["delivery_time"]
        delivered = "not all within these cycles" if time is None else counted(time, "cycle", ",.10g")
        facts.append(("delivered after", delivered))
    return facts


def _packets(row: Row) -> str:
    flits = counted(row["packet_flits"], "flit") if row["packet_mix"] is None else f"{row['packet_mix']} flits"
    if row["workload"] is not None:
        packets = f"{flits}, of {counted(row['messages'], 'message')}, each sent once those that it waits for arrived"
    elif row["packets_each"] is not None:
        packets = f"{row['packets_each']} × {flits} a terminal"
    else:
        packets = f"{flits}, {row['injection']}"
    queue = row["source_queue"]
    return packets if queue is None else f"{packets}, source queues of {counted(queue, 'packet')}"


ACCEPTED = 0.98  # of the offered load: less is accepted by a network that is saturated
UNDECIDED = "undecided"
NOTES = {
    "saturated?": "less is accepted than was generated, perhaps by chance",
    UNDECIDED: "the offered load is accepted, but in so short a run more was generated",
}


def _verdict(row: Row) -> str:
    """What is known of a load."""
    if row["deadlocked"]:
        return "deadlock"
    if row["saturated"] or not _maybe_saturated(row):
        return "saturated" if row["saturated"] else ""
    return UNDECIDED if _accepts(row) else "saturated?"


def _accepts(row: Row) -> bool:
    """Whether the offered load is accepted; its runs may have generated more, by chance."""
    return bool((row["accepted_load"] or 0.0) >= ACCEPTED * row["offered_load"])


def _per_cent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.1f} %"


def _maybe_saturated(row: Row) -> bool:
    """Whether less is accepted than offered, but by no more than chance explains."""
    return row["offered_load"] is not None and row["saturated"] is None


def _cycles_enough(row: Row) -> int | None:
    """The cycles that would give a useful interval of the latency; None where there is one, or no load is steady.

    Without an interval, the measured cycles are less than 20 latencies, and half of a run is measured at least. One
    that is wider than half of the latency is of little use.
    """
    mean, error = row["total_latency"], row["total_latency_error"]
    if row["offered_load"] is None or row["saturated"] or row["deadlocked"] or row["packets"] < 2:
        return None
    if error is not None:
        return None if error <= mean / 4 else 10 * int(row["cycles"])
    least = 2 * BATCHES * mean
    digit = 10 ** max(0, floor(log10(least)) - 1)
    return int(ceil(least / digit) * digit)


def _estimate(row: Row, name: str, digits: int) -> str:
    """A value and its error, to two significant digits of the error and at most `digits` decimals."""
    if row[name] is None:
        return "–"
    error = row[f"{name}_error"]
    if error is None:
        return f"{row[name]:,.{digits}f}"
    if error > 0:
        digits = min(digits, max(0, 1 - floor(log10(error))))
    return f"{row[name]:,.{digits}f}±{error:,.{digits}f}"


def _columns(generated: bool) -> Columns:
    """generated: also the load that these runs generated, where it makes a verdict clear."""
    return {"offered_load:.4g": "offered", **({"generated_load:.4g": "generated"} if generated else {}), **COLUMNS}


COLUMNS: Columns = {
    lambda row: _estimate(row, "accepted_load", 4): "accepted",
    lambda row: _estimate(row, "network_latency", 2): "network\nlatency",
    lambda row: _estimate(row, "total_latency", 2): "total\nlatency",
    **{"p50_latency": "p50", "p99_latency": "p99"},
    lambda row: _per_cent(row["max_channel_utilization"]): "busiest\nchannel",
    _verdict: "verdict",
}


def _curve(rows: Sequence[Row]) -> str:
    """A bar for each load, as long as its latency. An arrow marks saturated loads: their latency grows with the run."""
    below = [row["total_latency"] for row in rows if row["total_latency"] and not row["saturated"]]
    largest = max(below, default=max((row["total_latency"] or 1.0) for row in rows))
    lines = []
    for row in rows:
        latency = row["total_latency"]
        bar = "" if latency is None else "█" * min(BAR_WIDTH, max(1, round(BAR_WIDTH * latency / largest)))
        lines.append(f"  {row['offered_load']:<8.4g} {bar}{'→' if row['saturated'] else ''}")
    return "\n".join(lines)
