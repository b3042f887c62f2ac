"""What a search found as text."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from torusweep.quantities import counted
from torusweep.questions.console import print_heading, print_note, print_rows

GOALS = {"mean_distance": "mean distance", "diameter": "diameter"}


def print_search(console: Console, row: dict[str, Any]) -> None:
    """The graph's file, what it attains, the bounds."""
    print_heading(console, row["topology"])
    console.print(Text(_verdict(row)))
    distinct = row["mean_distance_bound"] * row["nodes"] / (row["nodes"] - 1)
    lines = [
        {"name": "diameter", "found": row["diameter"], "bound": row["diameter_bound"]},
        {"name": "mean distance", "found": row["mean_distance"], "bound": row["mean_distance_bound"]},
        {"name": "between distinct nodes", "found": row["mean_distance_distinct"], "bound": distinct},
    ]
    console.print()
    print_rows(console, lines, {"name": "", "found": "found", "bound": "bound"}, left=("name",))
    chains = f"best of {counted(row['chains'], 'chain')}" if row["chains"] > 1 else "one chain"
    print_note(console, f"{counted(row['moves'], 'move')}, seed {row['seed']}, {chains}. No graph is below the bounds.")


def _verdict(row: dict[str, Any]) -> str:
    goal = GOALS[row["objective"]]
    wires = "" if row["max_wire"] is None else f" with links of at most {counted(row['max_wire'], 'place')}"
    if row["optimal"]:
        return f"optimal: no graph of {row['nodes']:,} nodes and degree {row['degree']}{wires} has a smaller {goal}"
    return f"best found: its {goal} is {row['gap']:.2%} above the bound of all graphs{wires}"
