"""The best networks of a size as text."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from torusweep.cli.console import number_table, open_console, print_heading, print_note, print_wide
from torusweep.counts import counted
from torusweep.screening.best import Best
from torusweep.screening.spaces import Circulants

HEADINGS = ("", "mean distance", "diameter", "saturation", "degree", "network")
NOTES = (
    "\nMean distance over all pairs, a node to itself included. Saturation in flits per terminal and cycle:",
    "uniform traffic, spread equally over all shortest paths.",
)


def print_best(found: Best) -> None:
    """The first winner, how it was proved, and a table of winners, known networks and bounds."""
    winner, dimensions = found.rows[0], found.space.dimensions
    with open_console() as console:
        print_heading(console, winner["topology"])
        console.print(Text(_proof(found)))
        table = number_table(*HEADINGS)
        table.columns[0].justify = table.columns[-1].justify = "left"
        for place, row in enumerate(found.rows):
            table.add_row("best" if place == 0 else "as good", *_numbers(row), row["topology"])
        for row in found.known:
            table.add_row(row["name"], *_numbers(row), row["topology"])
        for kind, prefix, meaning in (
            (f"bound of {dimensions}D lattices", "lattice_", "no lattice has less: as near as in Zⁿ itself"),
            (f"bound of degree {winner['degree']}", "", "no graph has less (Cerf et al. 1974, Moore)"),
        ):
            mean, diameter = winner[f"{prefix}mean_distance_bound"], winner[f"{prefix}diameter_bound"]
            table.add_row(kind, f"{mean:.6g}", str(diameter), "", "", meaning)
        console.print()
        print_wide(console, table)
        for note in NOTES:
            print_note(console, note)
        if found.winners > len(found.rows):
            print_note(console, f"{found.winners - len(found.rows):,} more are as good; --show lists more.")


def _proof(found: Best) -> str:
    """As in 'proved: least diameter of all 127 lattices (38 classes); attained by 4 lattices (1 class)'."""
    goal = ", then ".join(map(str, found.objectives))
    thing = found.space.things
    compared, attained = _count(found.lattices, found.measured, thing), _count(found.attained, found.winners, thing)
    if isinstance(found.space, Circulants):
        compared += f" of {counted(found.space.steps, 'step')}"
    kept = "" if found.kept == found.measured else f" that meet the condition, {found.kept:,} of those measured"
    return f"proved: {goal} of all {compared}{kept}; attained by {attained}"


def _count(lattices: int, measured: int, thing: str) -> str:
    """As in '4 lattices (1 class)'; without classes where each lattice was measured."""
    classes = f" ({measured:,} class{'' if measured == 1 else 'es'})" if measured < lattices else ""
    return f"{counted(lattices, thing)}{classes}"


def _numbers(row: dict[str, Any]) -> tuple[str, ...]:
    saturation = row["saturation_load"]
    return (
        f"{row['mean_distance']:.6g}",
        str(row["diameter"]),
        "" if saturation is None else f"{saturation:.6g}",
        str(row["degree"]),
    )
