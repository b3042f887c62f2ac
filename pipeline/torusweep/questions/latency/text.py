"""Print latency by a model: for one network, for networks at equal cost, or for cubes of every dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from torusweep.quantities import counted
from torusweep.questions.console import Columns, print_facts, print_heading, print_note, print_rows

Record = dict[str, Any]
LEAST_DIFFERENCE = 1e-6  # per cent; smaller differences are due to rounding
VARIANTS = ("", "_corrected")  # suffixes of columns: the model as printed, and the corrected model
CUBE_COLUMNS = {
    "dimension": "n",
    "radix": "radix k",
    "width": "channel, bits",
    "pins": "pins",
    "longest_wire": "longest wire",
    "longest_wire_corrected": "corrected",
    "mean_distance": "mean hops",
    "mean_latency": "latency",
    "mean_latency_corrected": "corrected",
}
NETWORKS: Columns = {  # columns that compare networks
    **{"topology": "", "width": "width,\nbits", "pins": "pins", "mean_distance": "hops"},
    **{"uncontended_latency": "empty,\ncycles", "saturation_bits": "saturation"},
    "saturation_bits_corrected": "corrected",
}


def print_latency(console: Console, record: Record, remarks: Sequence[str]) -> None:
    """Print a network's numbers by the model of Parhami & Kwai: inputs, then latencies, as printed and corrected."""
    cost = "" if record["constant"] == "pins" else f"; {cost_in_words([record])}"
    length, flits, hops = counted(record["message_bits"], "bit", "g"), record["flits"], record["mean_distance"]
    empty, stored = record["uncontended_latency"], record["store_and_forward_latency"]
    pins = f"{counted(record['pins'], 'pin', '.6g')}, degree {record['degree']}"
    facts = (
        ("channels", f"{counted(record['width'], 'bit', '.6g')} ({pins}{cost})"),
        ("messages", f"{length}, {counted(flits, 'flit', '.6g')}, {counted(hops, 'hop', '.7g')} on average"),
        ("switch delay", counted(record["switch_delay"], "cycle", "g")),
        ("rate", f"{record['rate']:g} messages/cycle/node ({counted(record['load'], 'flit', '.6g')})"),
        ("empty network", f"{counted(empty, 'cycle', '.6g')} (stored at every hop: {stored:.6g})"),
    )
    lines = [
        {"name": label, **{f"printed{variant}": _value(record, f"{column}{variant}") for variant in VARIANTS}}
        for label, column in (
            ("mean latency, cycles", "mean_latency"),
            ("saturation, messages/cycle/node", "saturation_rate"),
            ("saturation, bits/cycle/node", "saturation_bits"),
        )
    ]
    use = {"printed": record["utilization"], "printed_corrected": record["utilization_max"]}
    print_facts(console, record["topology"], facts)
    console.print()
    headings = {"name": "", "printed": "as printed", "printed_corrected": "by link class"}
    print_rows(console, [{"name": "utilization, busiest channel", **use}, *lines], headings, left=("name",))
    _print_remarks(console, remarks)


def print_comparison(console: Console, found: list[Record], remarks: Sequence[str]) -> None:
    """Print networks at equal cost: a row for each in the given order, then which one is best, then remarks."""
    first = found[0]
    bits, rate, delay = counted(first["message_bits"], "bit", "g"), first["rate"], first["switch_delay"]
    messages = f"messages of {bits}, {rate:g} messages/cycle/node, switch delay {counted(delay, 'cycle', 'g')}"
    print_heading(console, f"at equal cost: {cost_in_words(found)}")
    print_note(console, f"{messages}; saturation in bits/cycle/node")
    console.print()
    print_rows(console, found, {**NETWORKS, **(LATENCIES if rate else {})}, left=("topology",))
    console.print(f"\n{verdict(found)}", markup=False)
    _print_remarks(console, remarks)


def verdict(found: list[Record]) -> str:
    """A sentence on which network has the least latency and, if known, the highest saturation, and by how much."""
    best, second = _best(found, "mean_latency", 1)
    if best is None:
        return "No network has a finite latency at this rate: all are saturated."
    said = f"Best latency: {best['topology']}"
    if second is not None:
        more = 100 * (second["mean_latency"] / best["mean_latency"] - 1)
        difference = f"takes {more:.3g} % longer" if more > LEAST_DIFFERENCE else "takes as long"
        said += f", {best['mean_latency']:.4g} cycles; {second['topology']} {difference}"
    column = next((name for name in ("saturation_bits_corrected", "saturation_bits") if found[0][name] is not None), "")
    strong, weak = _best(found, column, -1) if column else (None, None)
    if strong is None or weak is None:
        return f"{said}."
    more = 100 * (strong[column] / weak[column] - 1)
    if more < LEAST_DIFFERENCE:
        return f"{said}. Highest saturation: {strong['topology']} and {weak['topology']}, the same."
    return f"{said}. Highest saturation: {strong['topology']}, {more:.3g} % above {weak['topology']}."


def _best(found: list[Record], column: str, sign: int) -> tuple[Record | None, Record | None]:
    """Records with the best and second-best value of a column, or None. sign: 1 if least is best, -1 if greatest."""
    known = [record for record in found if record[column] is not None]
    order = [*sorted(known, key=lambda record: sign * record[column]), None, None]
    return order[0], order[1]


def print_cubes(console: Console, record: Record, cubes: list[Record]) -> None:
    """Print one of Dally's cubes, then a row for the cube of every dimension."""
    bits, delay, topology = record["message_bits"], record["wire_delay"], record["topology"]
    printed, corrected = (
        f"best dimension {record[f'best_dimension{variant}']}; dimension {record['dimension']}: "
        f"{record[f'mean_latency{variant}']:.6g} cycles"
        for variant in VARIANTS
    )
    print_heading(console, f"{record['nodes']:,} nodes, {bits:g}-bit messages, {delay} wire delay")
    console.print(f"{printed}, in {topology}" if topology else printed, markup=False)
    print_note(console, f"corrected, with the longer wires of folded rings: {corrected}")
    console.print()
    best = record["best_dimension"]
    print_rows(console, cubes, CUBE_COLUMNS, bold=lambda cube: bool(cube["dimension"] == best))


def cost_in_words(found: list[Record]) -> str:
    """The cost that is equal for the networks, in words."""
    budget, sizes = found[0]["budget"], {record["nodes"] for record in found}
    if found[0]["constant"] == "pins":
        return f"pins, {budget:g} a node"
    if found[0]["constant"] == "bisection":
        together = f", {budget * sizes.pop():,.6g} together" if len(sizes) == 1 else ""
        return f"wires across the middle, {budget:g} a node{together}"
    placements = ", ".join(dict.fromkeys(record["placement"] for record in found))
    return f"pitches of wire, {budget:g} a node, placed {placements}"


def _print_remarks(console: Console, remarks: Sequence[str]) -> None:
    for remark in remarks:
        print_note(console, remark)


def _value(record: Record, column: str) -> float | str | None:
    """Value of a column; "infinite" for a latency if the record is saturated."""
    flag = column.replace("mean_latency", "saturated")
    return "infinite" if flag != column and record[flag] else record[column]


LATENCIES: Columns = {
    lambda row: _value(row, "mean_latency"): "latency,\ncycles",
    lambda row: _value(row, "mean_latency_corrected"): "corrected",
}
