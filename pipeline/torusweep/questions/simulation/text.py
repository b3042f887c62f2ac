"""Simulations as text: their inputs, a line for each load, the latency curve, deadlocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from torusweep.errors import BadInput
from torusweep.networks.physical import UNSAID, Clock
from torusweep.networks.topology import Topology
from torusweep.quantities import SECONDS, counted, four_digits
from torusweep.questions.console import BAR_WIDTH, Columns, lost_facts, print_facts, print_note, print_rows
from torusweep.questions.simulation.statistics import BATCHES

MAX_CHANNELS = 32  # channels of a cyclic wait that are printed; --json has all
Row = dict[str, Any]


CYCLES_ALONE = "cycles"
ACCEPTED = 0.98  # share of the offered load; a saturated network accepts less
UNDECIDED = "undecided"
NOTES = {
    "saturated?": "less is accepted than was generated, perhaps by chance",
    UNDECIDED: "the offered load is accepted, but in so short a run more was generated",
}


class Timed(NamedTuple):
    """How a simulation's cycles are shown.

    clock  clock of the simulation
    unit   unit of latencies: "cycles" or a unit of time; None: cycles, next to µs if a cycle has a length
    """

    clock: Clock
    unit: str | None = None

    @property
    def scale(self) -> float:
        """Factor from cycles to the unit."""
        if self.unit in (None, CYCLES_ALONE) or self.clock.cycle is None:
            return 1.0
        return float(self.clock.cycle / SECONDS[str(self.unit)])

    @property
    def beside(self) -> str | None:
        """The unit shown next to cycles; None if cycles are shown alone, or not at all."""
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
    """Return how to show a network's cycles. Raises BadInput for a unit of time if a cycle's duration is unknown."""
    if unit not in (None, CYCLES_ALONE) and clock.cycle is None:
        raise BadInput(
            f"expected cycles on {network.spelling}, whose links say neither a bandwidth nor a latency in units, got"
            f' {unit}; give them, as in with_links(…, bandwidths=["100 Gb/s"]), or leave it out'
        )
    return Timed(clock, unit)


def print_simulation(console: Console, rows: Sequence[Row], timed: Timed | None = None) -> None:
    """Print rows of the table `simulation` that differ only in their load. timed: None shows cycles alone."""
    timed = timed or Timed(UNSAID)
    print_facts(console, rows[0]["topology"], _facts(rows[0], timed))
    console.print()
    unclear = any(_maybe_saturated(row) or (row["saturated"] and _accepts(row)) for row in rows)
    print_rows(console, rows, _columns(timed, generated=unclear))
    unit = timed.unit or "cycles"
    print_note(
        console, f"loads in flits per cycle per terminal, latencies in {unit}, ± half a 95 % confidence interval"
    )
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


def _facts(row: Row, timed: Timed) -> list[tuple[str, str]]:
    """Return the inputs of the simulation as facts (name, value); --json prints every column."""
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
    if said := str(timed.clock):
        facts.append(("clock", said))
    if row["simulated_saturation"] is not None:
        precision = f"(at most {row['saturation_precision']:.2g} more)"
        facts.append(("saturates at", f"{row['simulated_saturation']:.4g} flits/cycle/terminal {precision}"))
    if row["refused_packets"]:
        facts.append(("refused", f"{counted(row['refused_packets'], 'packet')}, because the source queue was full"))
    if row["message_latency"] is not None:
        p99 = f"99 % at most {timed.time(row['p99_message_latency'])}"
        mean = timed.time(float(f"{row['message_latency']:.6g}"))
        facts.append(("message latency", f"{mean}; {p99}" if timed.beside else f"{mean}, {p99}"))
    if row["offered_load"] is None:
        time = row["delivery_time"]
        delivered = "not all within these cycles" if time is None else timed.time(time)
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


def _verdict(row: Row) -> str:
    """Return the verdict on a load: deadlock, saturated, perhaps saturated, undecided, or none."""
    if row["deadlocked"]:
        return "deadlock"
    if row["saturated"] or not _maybe_saturated(row):
        return "saturated" if row["saturated"] else ""
    return UNDECIDED if _accepts(row) else "saturated?"


def _accepts(row: Row) -> bool:
    """Whether the network accepts the offered load, even if the runs happened to generate more."""
    return bool((row["accepted_load"] or 0.0) >= ACCEPTED * row["offered_load"])


def _per_cent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.1f} %"


def _maybe_saturated(row: Row) -> bool:
    """Whether less is accepted than generated, but by no more than chance explains."""
    return row["offered_load"] is not None and row["saturated"] is None


def _cycles_enough(row: Row) -> int | None:
    """Return the cycles that would give a useful interval of the latency; None if it has one, or no load is steady.

    Without an interval, the measured cycles, at least half of a run, are less than 20 latencies. An interval wider than
    half of the latency is of little use.
    """
    mean, error = row["total_latency"], row["total_latency_error"]
    if row["offered_load"] is None or row["saturated"] or row["deadlocked"] or row["packets"] < 2:
        return None
    if error is not None:
        return None if error <= mean / 4 else 10 * int(row["cycles"])
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
    """Return the printed table's columns. generated: whether to show the generated load, which explains verdicts."""
    scale, digits = timed.scale, 2 if timed.scale == 1 else 4

    def known(name: str, by: float) -> Callable[[Row], str | None]:
        return lambda row: None if row[name] is None else four_digits(row[name] * by)

    quantiles: Columns = {"p50_latency": "p50", "p99_latency": "p99"}
    if scale != 1:
        quantiles = {known("p50_latency", scale): "p50", known("p99_latency", scale): "p99"}
    micro: Columns = {known("total_latency", timed.micro(1)): "total,\nµs"} if timed.beside else {}
    return {
        "offered_load:.4g": "offered",
        **({"generated_load:.4g": "generated"} if generated else {}),
        lambda row: _estimate(row, "accepted_load", 4): "accepted",
        lambda row: _estimate(row, "network_latency", digits, scale): "network\nlatency",
        lambda row: _estimate(row, "total_latency", digits, scale): "total\nlatency",
        **micro,
        **quantiles,
        lambda row: _per_cent(row["max_channel_utilization"]): "busiest\nchannel",
        _verdict: "verdict",
    }


def _curve(rows: Sequence[Row]) -> str:
    """Draw a bar per load, as long as its latency. An arrow marks saturated loads, whose latency grows with the run."""
    below = [row["total_latency"] for row in rows if row["total_latency"] and not row["saturated"]]
    largest = max(below, default=max((row["total_latency"] or 1.0) for row in rows))
    lines = []
    for row in rows:
        latency = row["total_latency"]
        bar = "" if latency is None else "█" * min(BAR_WIDTH, max(1, round(BAR_WIDTH * latency / largest)))
        lines.append(f"  {row['offered_load']:<8.4g} {bar}{'→' if row['saturated'] else ''}")
    return "\n".join(lines)
