"""Print latency by a model, for networks at equal cost, or for cubes of every dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from torusweep.quantities import counted
from torusweep.questions.console import Columns, print_heading, print_note, print_rows

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


def print_comparison(console: Console, found: list[Record], remarks: Sequence[str]) -> None:
    """Print a row for each network in the given order, then which network is best at equal cost, then remarks."""
    first = found[0]
    bits, rate, delay = counted(first["message_bits"], "bit", "g"), first["rate"], first["switch_delay"]
    messages = f"messages of {bits}, {rate:g} messages/cycle/node, switch delay {counted(delay, 'cycle', 'g')}"
    print_heading(console, f"at equal cost: {cost_in_words(found)}")
    print_note(console, f"{messages}; saturation in bits/cycle/node")
    console.print()
    print_rows(console, found, {**NETWORKS, **(LATENCIES if rate else {})}, left=("topology",))
    console.print(f"\n{verdict(found)}", markup=False)
    for remark in remarks:
        print_note(console, remark)


def verdict(found: list[Record]) -> str:
    """Return a sentence on which network has the least latency and, if known, the highest saturation."""
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
    """Return the best and second-best record by a column, or None. sign: 1 if least is best, −1 if largest is."""
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
    """Return the cost that is equal for the networks, in words."""
    budget, sizes = found[0]["budget"], {record["nodes"] for record in found}
    if found[0]["constant"] == "pins":
        return f"pins, {budget:g} a node"
    if found[0]["constant"] == "bisection":
        together = f", {budget * sizes.pop():,.6g} together" if len(sizes) == 1 else ""
        return f"wires across the middle, {budget:g} a node{together}"
    placements = ", ".join(dict.fromkeys(record["placement"] for record in found))
    return f"pitches of wire, {budget:g} a node, placed {placements}"


def latency_of(record: Record, variant: str) -> float | str | None:
    """Return the mean latency of a record as printed (variant '') or corrected; "infinite" if it is saturated."""
    return "infinite" if record[f"saturated{variant}"] else record[f"mean_latency{variant}"]


LATENCIES: Columns = {
    lambda row: latency_of(row, ""): "latency,\ncycles",
    lambda row: latency_of(row, "_corrected"): "corrected",
}
