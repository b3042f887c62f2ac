"""Print the answer on a collective operation: the optimum, the algorithms, and times for given sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from rich.console import Console

from torusweep.collectives.algorithms import EVERY, OPTIMUM, algorithms_for
from torusweep.collectives.optimum import channels_in_words
from torusweep.networks.names import terminal_names, texts_of
from torusweep.networks.topology import Topology
from torusweep.quantities import counted, four_digits, size_as_given
from torusweep.questions.collectives.columns import COLLECTIVES
from torusweep.questions.collectives.compared import Simulated
from torusweep.questions.console import Columns, print_facts, print_note, print_rows
from torusweep.questions.display import facts

MOST_NODES = 12  # nodes of a cut, or terminals of a ring, that are listed
RINGS = ("one_way_ring", "ring")
Row = dict[str, Any]
BOUND_LINES = (
    *("bound: {bound:.7gu} of the size: no algorithm is faster", "best known: {cycles:.7gu} of the size | none"),
)
LINES = (
    *("bus bandwidth: {bus_bandwidth}/terminal", "terminals", "bottleneck"),
    *("because: {method}", "attained by: {attained_by}"),
)
COLUMNS: Columns = {
    **{"bus_bandwidth:.5g": "bus bandwidth", "steps": "steps", "latency_hops": "hops"},
    lambda row: "{} → {}".format(*(row["busiest_link_names"] or row["busiest_link"])): "busiest link",
}


def print_collective(
    console: Console, rows: Sequence[Row], left_out: Mapping[str, str], order: str, attained_by: Sequence[str]
) -> None:
    """Print the optimum (or the bound and best known time) with its proof, a line for each algorithm, and times.

    left_out     algorithm → why it has no row or simulation
    order        order of the terminals in a ring, in words; "" if each node has one terminal
    attained_by  algorithms that attain the optimum
    """
    best, *shown = rows
    said: Row = {"bottleneck": _bottleneck(best)}
    lines: tuple[str, ...] = BOUND_LINES + LINES
    if best["optimum"] is not None:
        lines = ("optimum: {optimum:.7gu} of the size", *LINES)
        asked = {row["algorithm"] for row in shown}
        names = [name if name in asked else f"{name}, which --algorithm {name} adds" for name in attained_by]
        tried = asked | left_out.keys() >= set(algorithms_for(best["operation"], [EVERY])) - {OPTIMUM}
        none = "none of the algorithms here" if tried else "not by those asked for; --algorithm all tries them all"
        said["attained_by"] = ", ".join(names) or none
    found = facts(best | said, COLLECTIVES, lines, {"bus_bandwidth": 0})
    print_facts(console, f"{best['operation']} on {best['topology']}", found)
    share = "of bound" if best["optimum"] is None else "of optimum"
    columns = {**{_algorithm: "algorithm", "cycles:.6g": "cycles/flit", _share: share}, **COLUMNS}
    if any("simulated_cycles" in row for row in shown):
        columns |= SIMULATED
    if shown:
        console.print()
        print_rows(console, shown, columns, left=(_algorithm,))
    if "times" in best:
        console.print()
        _print_times(console, rows)
    if order:
        print_note(console, f"in a ring the terminals follow each other {order}")
    for row in shown:
        if not order and row["algorithm"] in RINGS and row["latency_hops"] > row["steps"]:
            most = -(-row["latency_hops"] // row["steps"])
            print_note(
                console, f"{row['algorithm']}: no Hamiltonian cycle is known here, so messages go up to {most} hops"
            )
    for reason in dict.fromkeys(left_out.values()):
        print_note(console, f"left out: {reason}")


def order_in_words(network: Topology, ring: Sequence[int]) -> str:
    """Return the order of the terminals in a ring, in words that continue "the terminals follow each other"."""
    if list(ring) == sorted(ring):
        return "in the order of their numbers" if terminal_names(network) is None else "as the file or graph lists them"
    names = texts_of(terminal_names(network), ring) or map(str, ring)
    return f"as in {', '.join(islice(names, MOST_NODES))}" + (", …" if len(ring) > MOST_NODES else "")


def _algorithm(row: Row) -> str:
    return str(row["algorithm"]) + (", in pieces" if row["pipelined"] else "")


def _share(row: Row) -> str:
    return f"{100 * row['bound_share']:.4g} %"


def _simulated(row: Row) -> Simulated | None:
    """Return the simulated time in a row; None if the row's algorithm was not simulated."""
    names = [f"simulated_{name}" for name in ("cycles", "flits", "pieces", "alone")]
    return Simulated(*(row[name] for name in names)) if names[0] in row else None


SIMULATED: Columns = {
    lambda row: (run := _simulated(row)) and f"{run.cycles_per_flit:.6g}": "simulated",
    lambda row: (run := _simulated(row)) and f"{run.difference(row['cycles']):+.1%}": "differs",
}


def _bottleneck(best: Row) -> str | None:
    """Return in words what proves the bound: a cut, or a partition into several sets; None for a linear program."""
    nodes, parts = best["cut_nodes"], best["parts"]
    if nodes is None and parts is None:
        return None
    ways = channels_in_words(best["cut_capacity"], best["cut_bandwidth"])
    if nodes is None:
        return f"{ways} between {parts:,} sets of nodes"
    more = f" … ({len(nodes):,} nodes)" if len(nodes) > MOST_NODES else ""
    names = ", ".join(map(str, (best["cut_node_names"] or nodes)[:MOST_NODES])) + more
    verb = ("enter" if best["cut_enters"] else "leave") + "s" * (best["cut_capacity"] == 1)
    terminals = best["cut_terminals"]
    data = "all of the data" if terminals == 1 else f"the data of {counted(terminals, 'terminal')}"
    return f"{ways} that {verb} node{'s' * (len(nodes) > 1)} {names}, for {data}"


def _print_times(console: Console, rows: Sequence[Row]) -> None:
    best, *shown = rows
    speed = f"{best['bandwidth'] / 1e9:g} GB/s for a flit a cycle"
    wait = f"{1e6 * best['latency']:g} µs a {'hop' if best['latency_unit'] is None else 'step'}"
    if best["latency_unit"] is not None:
        wait = "the latencies of its links for each message" + (f", and {wait}" if best["latency"] else "")
    print_note(console, f"time in µs, and the fastest: {speed}, {wait}")

    def fastest(place: int) -> str:
        return str(min(shown, key=lambda row: row["times"][place]["seconds"])["algorithm"]) if shown else ""

    columns: Columns = {
        lambda place: size_as_given(best["times"][place]["bytes"]): "size",
        lambda place: _microseconds(best, place): "no less than",
        **{partial(_microseconds, row): row["algorithm"] for row in shown},
        fastest: "fastest",
    }
    print_rows(console, range(len(best["times"])), columns)


def _microseconds(row: Row, place: int) -> str:
    return four_digits(1e6 * row["times"][place]["seconds"])
