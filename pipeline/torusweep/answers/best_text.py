"""The best networks of a size as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from torusweep.quantities import counted
from torusweep.questions.console import print_heading, print_note, print_rows
from torusweep.questions.display import whole_text
from torusweep.questions.screen.best import Best
from torusweep.questions.screen.spaces import Circulants

NOTES = (
    "\nMean distance over all pairs, a node to itself included. Saturation in flits per cycle per terminal:",
    "uniform traffic, spread equally over all shortest paths.",
)


def print_best(console: Console, found: Best, beside: Sequence[dict[str, Any]] = (), priced: str | None = None) -> None:
    """The first winner, how it was proved, and a table of winners, known networks, others beside them and bounds.

    priced   the cost model of the rows' costs; None: they have none
    """
    winner, dimensions = found.rows[0], found.space.dimensions
    print_heading(console, winner["topology"])
    console.print(Text(proof(found)))
    lines = [{**row, "line": "as good" if place else "best"} for place, row in enumerate(found.rows)]
    for row in found.known:
        mark = "" if row["meets_condition"] else "  (does not meet the condition)"
        lines.append({**row, "line": row["name"], "topology": row["topology"] + mark})
    lines += [{**row, "line": "beside"} for row in beside]
    for kind, prefix, meaning in (
        (f"bound of {dimensions}D lattices", "lattice_", "no lattice has less: as near as in Zⁿ itself"),
        (f"bound of degree {winner['degree']}", "", "no graph has less (Cerf et al. 1974, Moore)"),
    ):
        bounds = {name: winner[f"{prefix}{name}_bound"] for name in ("mean_distance", "diameter")}
        lines.append({**bounds, "line": kind, "topology": meaning})
    console.print()
    shown = {name: heading for name, (heading, _) in (SHOWN if priced else NUMBERS).items()}
    print_rows(console, map(_line, lines), {"line": "", **shown, "topology": "network"}, left=("line", "topology"))
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


def _line(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose columns are texts; nothing where it has no value: a bound has no saturation, say."""
    texts = {name: "" if row.get(name) is None else form(row[name]) for name, (_, form) in SHOWN.items()}
    return {**row, **texts}


Shown = dict[str, tuple[str, Callable[[Any], str]]]  # column → its heading, and how a value is written
NUMBERS: Shown = {
    "mean_distance": ("mean distance", whole_text),
    "diameter": ("diameter", str),
    "saturation_load": ("saturation", "{:.6g}".format),
    "degree": ("degree", str),
}
PRICED: Shown = {
    "cost_per_terminal": ("a terminal", "{:,.0f}".format),
    "saturation_per_cost": ("for 1,000", lambda value: f"{1000 * value:.3g}"),
    "on_front": ("", lambda value: "front" if value else ""),
}
SHOWN = NUMBERS | PRICED
