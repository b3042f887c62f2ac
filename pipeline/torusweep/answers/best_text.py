"""The best networks of a size as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from torusweep.counts import counted
from torusweep.questions.console import number_table, print_heading, print_note, print_wide
from torusweep.screening.best import Best
from torusweep.screening.spaces import Circulants

HEADINGS = ("", "mean distance", "diameter", "saturation", "degree", "network")
PRICED = ("a terminal", "for 1,000", "")  # columns of costs
NOTES = (
    "\nMean distance over all pairs, a node to itself included. Saturation in flits per terminal and cycle:",
    "uniform traffic, spread equally over all shortest paths.",
)


def print_best(console: Console, found: Best, beside: Sequence[dict[str, Any]] = (), priced: str | None = None) -> None:
    """The first winner, how it was proved, and a table of winners, known networks, others beside them and bounds.

    priced   the cost model of the rows' costs; None: they have none
    """
    winner, dimensions = found.rows[0], found.space.dimensions
    print_heading(console, winner["topology"])
    console.print(Text(proof(found)))
    table = number_table(*HEADINGS[:-1], *(PRICED if priced else ()), HEADINGS[-1])
    table.columns[0].justify = table.columns[-1].justify = "left"
    for place, row in enumerate(found.rows):
        table.add_row("best" if place == 0 else "as good", *_numbers(row), row["topology"])
    for row in found.known:
        mark = "" if row["meets_condition"] else "  (does not meet the condition)"
        table.add_row(row["name"], *_numbers(row), row["topology"] + mark)
    for row in beside:
        table.add_row("beside", *_numbers(row), row["topology"])
    for kind, prefix, meaning in (
        (f"bound of {dimensions}D lattices", "lattice_", "no lattice has less: as near as in Zⁿ itself"),
        (f"bound of degree {winner['degree']}", "", "no graph has less (Cerf et al. 1974, Moore)"),
    ):
        mean, diameter = winner[f"{prefix}mean_distance_bound"], winner[f"{prefix}diameter_bound"]
        table.add_row(kind, f"{mean:.6g}", str(diameter), "", "", *("" for _ in PRICED if priced), meaning)
    console.print()
    print_wide(console, table)
    for note in NOTES:
        print_note(console, note)
    if priced:
        currency = winner["currency"]
        print_note(console, f"Cost of a terminal in {currency}, by {priced}; flits a cycle for 1,000 {currency} of it,")
        print_note(
            console,
            "at most one flit a terminal. Front: no other shown is as cheap, as near and saturates as late.",
        )
    if found.winners > len(found.rows):
        print_note(console, f"{found.winners - len(found.rows):,} more are as good; --show lists more.")


def proof(found: Best) -> str:
    """As in 'proved: least diameter of all 127 lattices (38 classes); attained by 4 lattices (1 class)'.

    Under a condition, 'of the 20 classes that meet the condition, of all 127 lattices (38 classes)'.
    """
    goal = ", then ".join(map(str, found.objectives))
    thing = found.space.things
    compared, attained = _count(found.lattices, found.measured, thing), _count(found.attained, found.winners, thing)
    everything = f"all {compared}" if found.lattices > 1 else f"the only {compared.removeprefix('1 ')}"
    if isinstance(found.space, Circulants):
        everything += f" of {counted(found.space.steps, 'step')}"
    kept = "class" if found.measured < found.lattices else thing
    met = "" if found.kept == found.measured else f"the {_plural(found.kept, kept)} that meet the condition, of "
    return f"proved: {goal} of {met}{everything}; attained by {attained}"


def _count(lattices: int, measured: int, thing: str) -> str:
    """As in '4 lattices (1 class)'; without classes where each lattice was measured."""
    classes = f" ({_plural(measured, 'class')})" if measured < lattices else ""
    return f"{counted(lattices, thing)}{classes}"


def _plural(number: int, thing: str) -> str:
    """As in '1 class', '2 classes', '2 lattices'."""
    return f"{number:,} class{'' if number == 1 else 'es'}" if thing == "class" else counted(number, thing)


def _numbers(row: dict[str, Any]) -> tuple[str, ...]:
    saturation = row["saturation_load"]
    return (
        f"{row['mean_distance']:.6g}",
        str(row["diameter"]),
        "" if saturation is None else f"{saturation:.6g}",
        str(row["degree"]),
        *(
            (
                f"{row['cost_per_terminal']:,.0f}",
                "" if row["saturation_per_cost"] is None else f"{1000 * row['saturation_per_cost']:.3g}",
                "front" if row["on_front"] else "",
            )
            if "on_front" in row
            else ()
        ),
    )
