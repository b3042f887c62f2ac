"""How a simulation looks on a terminal: a line a load, and a small curve. Plain text when piped."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import Any

from rich.table import Table
from rich.text import Text

from torusweep.cli.console import named, page, uncut
from torusweep.counts import counted

BAR = 40  # characters
SHOWN = 32  # channels of a cyclic wait; --json has all


def print_simulation(rows: Sequence[dict[str, Any]]) -> None:
    """Rows of the table `simulation` of one network and router, at several loads."""
    first = rows[0]
    with page() as console:
        console.print(Text(first["topology"], style="bold"))
        console.print(named(_facts(first)))
        console.print()
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for name in ("offered", "accepted", "network\nlatency", "total\nlatency", "p50", "p99", "busiest\nchannel", ""):
            table.add_column(name, justify="right", header_style="dim")
        for row in rows:
            table.add_row(*_numbers(row))
        uncut(console, table)
        console.print(
            Text(
                "loads in flits per cycle and terminal, latencies in cycles, ± half a 95 % confidence interval",
                style="dim",
            )
        )
        if any(map(_unsure, rows)):
            told = "saturated?: less is accepted than was generated, but not with 95 % confidence; more --cycles or seeds tell"
            console.print(Text(told, style="dim"))
        if len(rows) > 1:
            console.print(Text("\ntotal latency by offered load", style="dim"))
            console.print(Text(_curve(rows)))
        for row in rows:
            if row["waiting"]:
                console.print(
                    Text(
                        f"\ndeadlock since cycle {row['deadlock_cycle']:,}: the packet in each waits for the next, the last for the first",
                        style="dim",
                    )
                )
                console.print(Text("\n".join(f"  {channel}" for channel in row["waiting"][:SHOWN])))


def _facts(row: dict[str, Any]) -> list[tuple[str, str]]:
    """(label, value) of what was simulated; --json has every column."""
    flits, seeds = counted(row["packet_flits"], "flit"), row["seeds"]
    packets = f"{flits}, {row['injection']}"
    if row["workload"] is not None:
        packets = f"{flits}, of {counted(row['messages'], 'message')}, each ready when those it waits for have arrived"
    elif row["packets_each"] is not None:
        packets = f"{row['packets_each']} × {flits} a terminal"
    if row["source_queue"] is not None:
        packets += f", source queues of {counted(row['source_queue'], 'packet')}"
    speedup = f", {row['input_speedup']} virtual channels of a port send at once" if row["input_speedup"] > 1 else ""
    cycles = "as many as it takes" if row["cycles"] is None else f"{row['cycles']:,}"
    facts = [
        ("routing", row["routing"]),
        (
            "virtual channels",
            f"{row['virtual_channels']} of {counted(row['buffer_flits'], 'flit')}, rule {row['vc_rule']}",
        ),
        ("router", f"{row['router']}, {row['switching']}{speedup}"),
        ("workload", f"{row['workload']}, {row['placement']} placement")
        if row["workload"] is not None
        else ("traffic", row["traffic"]),
        ("packets", packets),
        ("cycles", f"{cycles}, seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"),
    ]
    if row["simulated_saturation"] is not None:
        facts.append(
            (
                "saturates at",
                f"{row['simulated_saturation']:.4g} flits/cycle/terminal (at most {row['saturation_precision']:.2g} more)",
            )
        )
    if row["refused_packets"]:
        facts.append(("refused", f"{counted(row['refused_packets'], 'packet')}, the source queue being full"))
    if row["message_latency"] is not None:
        facts.append(
            ("a message takes", f"{row['message_latency']:,.6g} cycles, 99 % at most {row['p99_message_latency']:,}")
        )
    if row["offered_load"] is None:
        time = row["delivery_time"]
        facts.append(
            (
                "delivered after",
                "not all within these cycles" if time is None else f"{time:,.10g} cycle{'s' * (time != 1)}",
            )
        )
    return facts


def _numbers(row: dict[str, Any]) -> list[str]:
    verdict = (
        "deadlock" if row["deadlocked"] else "saturated" if row["saturated"] else "saturated?" if _unsure(row) else ""
    )
    busiest = row["max_channel_utilization"]
    return [
        "–" if row["offered_load"] is None else f"{row['offered_load']:.4g}",
        _estimate(row, "accepted_load", 4),
        _estimate(row, "network_latency", 2),
        _estimate(row, "total_latency", 2),
        *("–" if row[name] is None else f"{row[name]:,}" for name in ("p50_latency", "p99_latency")),
        "–" if busiest is None else f"{100 * busiest:.1f} %",
        verdict,
    ]


def _unsure(row: dict[str, Any]) -> bool:
    """Whether less is accepted than offered, but perhaps by chance."""
    return row["offered_load"] is not None and row["saturated"] is None


def _estimate(row: dict[str, Any], name: str, digits: int) -> str:
    """A value and its error, where it has one, to two digits of the error and at most so many decimals."""
    if row[name] is None:
        return "–"
    error = row[f"{name}_error"]
    if error is None:
        return f"{row[name]:,.{digits}f}"
    if error > 0:
        digits = min(digits, max(0, 1 - floor(log10(error))))
    return f"{row[name]:,.{digits}f}±{error:,.{digits}f}"


def _curve(rows: Sequence[dict[str, Any]]) -> str:
    """A bar for each load, as long as the latency; those of saturated loads, which grow with the run, end in an arrow."""
    below = [row["total_latency"] for row in rows if row["total_latency"] and not row["saturated"]]
    most = max(below, default=max((row["total_latency"] or 1.0) for row in rows))
    lines = []
    for row in rows:
        latency = row["total_latency"]
        bar = "" if latency is None else "█" * min(BAR, max(1, round(BAR * latency / most)))
        lines.append(f"  {row['offered_load']:<8.4g} {bar}{'→' if row['saturated'] else ''}")
    return "\n".join(lines)
