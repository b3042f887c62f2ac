"""Simulations as text: their inputs, a line for each load, the latency curve, deadlocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import Any, NamedTuple

from rich.console import Console

from torusweep.errors import BadInput
from torusweep.networks.physical import UNSAID, Clock
from torusweep.networks.topology import Topology
from torusweep.quantities import SECONDS, counted, four_digits
from torusweep.questions.console import NO_ROUTE, Columns, print_bars, print_circle, print_facts, print_note, print_rows
from torusweep.questions.display import facts
from torusweep.questions.simulation.columns import SIMULATION
from torusweep.questions.simulation.statistics import BATCHES

Row = dict[str, Any]
LINES = (  # what was found beside loads, and the inputs
    "saturates at: {simulated_saturation} (at most {saturation_precision:.2g} more)",
    "delivered after: {delivered}",
    "message latency: {message_time}; 99 % at most {p99_message_time}",
    *("routing", NO_ROUTE, "virtual channels: {virtual_channels:n} of {buffer_flits}, rule {vc_rule}"),
    "router: {router}, {switching}[, {input_speedup} of a port send at once]",
    *("traffic", "workload: {workload}, {placement} placement"),
    "packets: {flits}, of {messages}, each sent once those that it waits for arrived[, source queues of {source_queue}]"
    " | {packets_each:n} × {flits} a terminal[, source queues of {source_queue}]"
    " | {flits}, {injection}[, source queues of {source_queue}]",
    *("cycles: {cycles:n} | until all is delivered", "seeds", "clock"),
    "refused: {refused_packets}, because the source queue was full",
)
USUAL = {"lost_pairs": 0, "lost_traffic": 0, "input_speedup": 1, "refused_packets": 0}
CYCLES_ALONE = "cycles"
ACCEPTED = 0.98  # share of the offered load; a saturated network accepts less
UNDECIDED, FILLING = "undecided", "not stationary"
NOTES = {
    FILLING: "the network fills for more than a fifth of the runs, so latencies may be too low and have no interval",
    "saturated?": "less is accepted than was generated, perhaps by chance",
    UNDECIDED: "the offered load is accepted, but in so short a run more was generated",
}


class Timed(NamedTuple):
    """How a simulation's cycles are printed.

    clock  clock of the simulation
    unit   unit of latencies: "cycles" or a unit of time; None: cycles, next to µs if the duration of a cycle is known
    """

    clock: Clock
    unit: str | None = None

    @property
    def scale(self) -> float:
        """Factor that converts cycles to the unit."""
        if self.unit in (None, CYCLES_ALONE) or self.clock.cycle is None:
            return 1.0
        return float(self.clock.cycle / SECONDS[str(self.unit)])

    @property
    def beside(self) -> str | None:
        """The unit printed next to cycles; None if only cycles, or no cycles, are printed."""
        return "µs" if self.unit is None and self.clock.cycle is not None else None

    def time(self, cycles: float) -> str:
        """Return the time as '257,822 cycles, 82.5 µs', or in the requested unit."""
        if self.unit not in (None, CYCLES_ALONE):
            return f"{four_digits(cycles * self.scale)} {self.unit}"
        shown = counted(cycles, "cycle", ",.10g")
        return f"{shown}, {four_digits(self.micro(cycles))} µs" if self.beside else shown

    def micro(self, cycles: float) -> float:
        """Convert a number of cycles to microseconds."""
        return cycles * float((self.clock.cycle or 0) * 10**6)


def timed_on(network: Topology, clock: Clock, unit: str | None) -> Timed:
    """Return how to print a network's cycles. Raises BadInput for a unit of time if a cycle's duration is unknown."""
    if unit not in (None, CYCLES_ALONE) and clock.cycle is None:
        raise BadInput(
            f"expected cycles on {network.spelling}, whose links say neither a bandwidth nor a latency in units, got"
            f' {unit}; give them, as in with_links(…, bandwidths=["100 Gb/s"]), or leave it out'
        )
    return Timed(clock, unit)


def print_simulation(console: Console, rows: Sequence[Row], timed: Timed | None = None) -> None:
    """Print rows of the table `simulation` that differ only in their load. timed: None prints cycles alone."""
    timed = timed or Timed(UNSAID)
    print_facts(console, rows[0]["topology"], facts(rows[0] | _said(rows[0], timed), SIMULATION, LINES, USUAL))
    console.print()
    verdicts = {_verdict(row) for row in rows}
    unclear = NOTES.keys() & verdicts or any(row["saturated"] and _accepts(row) for row in rows)
    print_rows(console, rows, _columns(timed, generated=bool(unclear)))
    unit = timed.unit or "cycles"
    print_note(
        console, f"loads in flits per cycle per terminal, latencies in {unit}, ± half a 95 % confidence interval"
    )
    for verdict in sorted(NOTES.keys() & verdicts):
        print_note(console, f"{verdict}: {NOTES[verdict]}; more --cycles or seeds decide")
    for row in rows:
        if enough := _cycles_enough(row):
            said = f"too short for a useful interval; some {enough:,} cycles (--cycles {enough}) would do"
            print_note(console, f"load {row['offered_load']:.4g}: {said}")
    if len(rows) > 1:
        below = [row["total_latency"] for row in rows if row["total_latency"] and not row["saturated"]]
        most = max(below, default=max(row["total_latency"] or 1.0 for row in rows))
        lengths = [min(row["total_latency"] or 0.0, most) for row in rows]
        marks = ["→" * bool(row["saturated"]) for row in rows]
        print_note(
            console,
            "\ntotal latency by offered load" + "; that of a saturated load (→) grows with the run" * any(marks),
        )
        loads = [f"{row['offered_load']:.4g}" for row in rows]
        print_bars(console, zip(loads, lengths, lengths, marks), indent="  ")
    for row in rows:
        if row["waiting"]:
            since = f"deadlock since cycle {row['deadlock_cycle']:,}: a packet in each of these channels waits for"
            print_circle(console, row["waiting"], since)


def _said(row: Row, timed: Timed) -> Row:
    """Return the row's printed texts: lengths of packets, the clock, and times in cycles or a unit."""
    flits = counted(row["packet_flits"], "flit") if row["packet_mix"] is None else f"{row['packet_mix']} flits"
    said = {"flits": flits, "clock": str(timed.clock)}
    if row["message_latency"] is not None:
        said["message_time"] = timed.time(float(f"{row['message_latency']:.6g}"))
        said["p99_message_time"] = timed.time(row["p99_message_latency"])
    if row["offered_load"] is None:
        time = row["delivery_time"]
        said["delivered"] = "not all within these cycles" if time is None else timed.time(time)
    return said


def _verdict(row: Row) -> str:
    """Return the verdict on a load: deadlock, saturated, perhaps saturated, undecided, not stationary, or none."""
    if row["deadlocked"] or row["saturated"]:
        return "deadlock" if row["deadlocked"] else "saturated"
    if row["offered_load"] is None or row["saturated"] is not None:
        return FILLING if row["stationary"] is False else ""
    return UNDECIDED if _accepts(row) else "saturated?"


def _accepts(row: Row) -> bool:
    """Return whether the network accepts the offered load, even if the runs happened to generate more."""
    return bool((row["accepted_load"] or 0.0) >= ACCEPTED * row["offered_load"])


def _cycles_enough(row: Row) -> int | None:
    """Return how many cycles would give a useful interval of the latency; None if it is useful, or no load is steady.

    There is no interval if the measured cycles, at least half of a run, are less than 20 latencies. An interval wider
    than half of the latency is of little use.
    """
    mean, error = row["total_latency"], row["total_latency_error"]
    if row["offered_load"] is None or row["saturated"] or row["deadlocked"] or row["packets"] < 2:
        return None
    if error is not None or row["stationary"] is False:
        return None if error is not None and error <= mean / 4 else 10 * int(row["cycles"])
    least = 2 * BATCHES * mean
    digit = 10 ** max(0, floor(log10(least)) - 1)
    return int(ceil(least / digit) * digit)


def _estimate(row: Row, name: str, digits: int, scale: float = 1.0) -> str:
    """Write a value and its error, to two significant digits of the error and at most `digits` decimals."""
    if row[name] is None:
        return "–"
    value, error = row[name] * scale, row[f"{name}_error"]
    if error is None:
        return f"{value:,.{digits}f}"
    error *= scale
    if error > 0:
        digits = min(digits, max(0, 1 - floor(log10(error))))
    return f"{value:,.{digits}f}±{error:,.{digits}f}"


def _columns(timed: Timed, generated: bool) -> Columns:
    """Return the printed table's columns. generated: whether to print the generated load, which explains verdicts."""
    scale, digits = timed.scale, 2 if timed.scale == 1 else 4

    def scaled(name: str, by: float) -> Callable[[Row], str | None]:
        return lambda row: None if row[name] is None else four_digits(row[name] * by)

    def share(row: Row) -> str | None:
        busiest = row["max_channel_utilization"]
        return None if busiest is None else f"{100 * busiest:.1f} %"

    return {
        "offered_load:.4g": "offered",
        **({"generated_load:.4g": "generated"} if generated else {}),
        lambda row: _estimate(row, "accepted_load", 4): "accepted",
        lambda row: _estimate(row, "network_latency", digits, scale): "network\nlatency",
        lambda row: _estimate(row, "total_latency", digits, scale): "total\nlatency",
        **({scaled("total_latency", timed.micro(1)): "total,\nµs"} if timed.beside else {}),
        **{f"{name}_latency" if scale == 1 else scaled(f"{name}_latency", scale): name for name in ("p50", "p99")},
        share: "busiest\nchannel",
        _verdict: "verdict",
    }
