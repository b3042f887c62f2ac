"""Collective operations as text: the algorithms beside the optimum, and times for sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torusweep.collectives.cost import Cost
from torusweep.collectives.optimum import Cut, Optimum, Partition, channels_in_words
from torusweep.counts import counted, size
from torusweep.questions.console import fact_table, number_table, open_console, print_heading, print_note, print_wide
from torusweep.stages.collectives.simulation import Simulated

MOST_NODES = 12  # of a cut, listed
RINGS = ("one_way_ring", "ring")
Row = tuple[dict[str, Any], Cost | None, Simulated | None]


class Timing(NamedTuple):
    """sizes: bytes; bandwidth: bytes/s of a channel; latency: s of a message for each hop."""

    sizes: list[int]
    bandwidth: float
    latency: float


def times_of(row: dict[str, Any], cost: Cost | None, best: Optimum, timing: Timing | None) -> dict[str, Any]:
    """Of each size: its time and bandwidths, for --json; nothing without sizes."""
    if timing is None:
        return {}
    share = row["bus_bandwidth"] / row["algorithm_bandwidth"] if row["algorithm_bandwidth"] else None
    times = []
    for number in timing.sizes:
        seconds = _seconds(cost, best, number, timing)
        times.append(
            {
                "bytes": number,
                "seconds": seconds,
                "algorithm_bandwidth": number / seconds,
                "bus_bandwidth": None if share is None else share * number / seconds,
                "pieces": cost.pieces(number, timing.bandwidth, timing.latency) if cost else None,
            }
        )
    return {"bandwidth": timing.bandwidth, "latency": timing.latency, "times": times}


def _seconds(cost: Cost | None, best: Optimum, number: int, timing: Timing) -> float:
    """Of an algorithm; of the optimum what bandwidth alone allows."""
    if cost is None:
        return best.bound * number / timing.bandwidth
    return cost.seconds(number, timing.bandwidth, timing.latency)


def print_collective(rows: Sequence[Row], best: Optimum, timing: Timing | None, unsuitable: Sequence[str]) -> None:
    """The optimum and its proof, a line for each algorithm, and a table of times."""
    record = rows[0][0]
    with open_console() as console:
        print_heading(console, f"{record['operation']} on {record['topology']}")
        console.print(fact_table(_facts(record, best, [row["cycles"] for row, _, _ in rows[1:]])))
        runs = any(run for _, _, run in rows)
        headings = ("algorithm", "cycles/flit", "of optimum", "bus bandwidth", "steps", "hops", "busiest link")
        table = number_table(*headings, *(("simulated", "differs") if runs else ()), left=1)
        for row, _, run in rows[1:]:
            simulated = (f"{run.cycles_per_flit:.6g}", f"{run.difference(row['cycles']):+.1%}") if run else ("", "")
            table.add_row(
                row["algorithm"] + (", in pieces" if row["pipelined"] else ""),
                f"{row['cycles']:.6g}",
                f"{100 * row['optimum_share']:.4g} %",
                f"{row['bus_bandwidth']:.5g}",
                f"{row['steps']:,}",
                f"{row['latency_hops']:,}",
                "{} → {}".format(*row["busiest_link"]),
                *(simulated if runs else ()),
            )
        console.print()
        print_wide(console, table)
        if timing is not None:
            console.print()
            _print_times(console, rows, best, timing)
        for row, cost, _ in rows[1:]:
            if cost is not None and row["algorithm"] in RINGS and cost.hops > cost.steps:
                most = -(-cost.hops // cost.steps)
                print_note(
                    console,
                    f"{row['algorithm']}: no Hamiltonian cycle is known here, so messages go up to {most} hops"
                    " (a grid of odd sides has none)",
                )
        for reason in unsuitable:
            print_note(console, f"left out: {reason}")


def _facts(record: dict[str, Any], best: Optimum, cycles: Sequence[float]) -> list[tuple[str, str]]:
    """What is known of the optimum. cycles: of the algorithms, one of which may take less than what is attained."""
    unit = "cycles for each flit of the size"
    bound = f"{best.bound:.7g} {unit}"
    known = [*cycles] if best.attained is None else [best.attained, *cycles]
    if not known:
        bound = f"at least {bound}"
    elif min(known) > best.bound * (1 + 1e-6):
        bound = f"between {best.bound:.7g} and {min(known):.7g} {unit}"
    facts = [("optimum", bound)]
    if record["bus_bandwidth"]:
        facts.append(("bus bandwidth", f"{record['bus_bandwidth']:.6g} flits/cycle/terminal"))
    facts.append(("terminals", f"{record['terminals']:,}"))
    return [*facts, *_proof(best), ("because", best.method)]


def _proof(best: Optimum) -> list[tuple[str, str]]:
    proof = best.proof
    if isinstance(proof, Cut):
        nodes = proof.nodes.tolist()
        more = f" … ({len(nodes):,} nodes)" if len(nodes) > MOST_NODES else ""
        names = ", ".join(map(str, nodes[:MOST_NODES])) + more
        side = f"node {names}" if len(nodes) == 1 else f"nodes {names}"
        ways = channels_in_words(proof)
        verb = ("enter" if proof.enters else "leave") + ("s" if proof.links == 1 else "")
        data = "all of the data" if proof.terminals == 1 else f"the data of {counted(proof.terminals, 'terminal')}"
        return [("bottleneck", f"{ways} that {verb} {side}, for {data}")]
    if isinstance(proof, Partition):
        return [("bottleneck", f"{channels_in_words(proof)} between {proof.parts:,} sets of nodes")]
    return []


def _print_times(console: Any, rows: Sequence[Row], best: Optimum, timing: Timing) -> None:
    shown = rows[1:]
    speed, wait = f"{timing.bandwidth / 1e9:g} GB/s a link", f"{1e6 * timing.latency:g} µs a hop"
    print_note(console, f"time in µs, and the fastest: {speed}, {wait}")
    table = number_table("size", "no less than", *(row["algorithm"] for row, _, _ in shown), "fastest", left=0)
    for number in timing.sizes:
        seconds = [_seconds(cost, best, number, timing) for _, cost, _ in shown]
        fastest = shown[seconds.index(min(seconds))][0]["algorithm"] if seconds else ""
        cells = [_microseconds(value) for value in (_seconds(None, best, number, timing), *seconds)]
        table.add_row(size(number), *cells, fastest)
    print_wide(console, table)


def _microseconds(seconds: float) -> str:
    """Four digits, without an exponent."""
    number = 1e6 * seconds
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"
