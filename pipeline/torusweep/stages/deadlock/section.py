"""What the page says of deadlock: which routing is safe under which virtual-channel rule, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from torusweep.stages.static.section import Cell, Section, number, table
from torusweep.tables.records import DEADLOCK

Record = Mapping[str, Any]

MOST_ROWS = 300
SHOWN_OF_A_CYCLE = 3  # channels
VERDICTS = {"no": "bad", "unknown": "wait", "yes": "good"}  # verdict → style; worst first
MEANING = {column.name: column.meaning for column in DEADLOCK}


def deadlock_section(rows: Sequence[Record]) -> Section:
    """How many networks each routing and rule keep free, then every verdict with its argument; rows of the table deadlock."""
    ways: dict[tuple[str, str, int], list[Record]] = {}
    for row in rows:
        ways.setdefault((row["routing"], row["vc_rule"], row["virtual_channels"]), []).append(row)
    counted = [_counts(way, found) for way, found in sorted(ways.items())]
    headers = [
        ("routing", "", MEANING["routing"]),
        ("rule", "", MEANING["vc_rule"]),
        ("VCs", "number", MEANING["virtual_channels"]),
    ]
    counts = table(
        [*headers, ("networks", "number", ""), *[(verdict, "number", "") for verdict in VERDICTS]],
        counted,
        sortable=True,
    )
    ordered = sorted(
        rows,
        key=lambda row: (list(VERDICTS).index(row["deadlock_free"]), row["topology"], row["routing"], row["vc_rule"]),
    )
    shown = (
        f"the first {MOST_ROWS} of {len(rows):,} (the Parquet table has all)"
        if len(rows) > MOST_ROWS
        else f"all {len(rows):,}"
    )
    lead = (
        '<p class="note">A routing cannot lock up if no channel depends on itself through others (Dally &amp; Seitz 1987); one that chooses as it'
        " goes, if that holds for the channels that it can escape to (Duato 1993), or if a bubble stays in each of their cycles.</p>"
    )
    body = (
        f"{lead}<h3>Free of deadlock?</h3>{counts}<h3>Verdicts and arguments</h3>"
        f'<p class="note">What can lock up stands first; {shown}.</p>{_arguments(rows)}{_verdicts(ordered[:MOST_ROWS])}'
    )
    return Section("deadlock", "Which routings can lock up", body if rows else "")


def _counts(way: tuple[str, str, int], rows: Sequence[Record]) -> list[Cell]:
    free = [row["deadlock_free"] for row in rows]
    return [
        Cell(way[0], "short"),
        Cell(way[1], "short"),
        number(way[2]),
        number(len(rows)),
        *[number(free.count(verdict)) for verdict in VERDICTS],
    ]


def _arguments(rows: Sequence[Record]) -> str:
    """Each argument that has more to say than its first words, which stand in the table."""
    long = dict.fromkeys(row["argument"] for row in rows if _short(row["argument"]) != row["argument"])
    parts = [
        f"<dt>{escape(_short(text))}</dt><dd>{escape(text.removeprefix(_short(text)).lstrip(':, '))}</dd>"
        for text in long
    ]
    return f"<dl>{''.join(parts)}</dl>" if parts else ""


def _short(argument: str) -> str:
    """An argument's first words."""
    return re.split("[:,]", argument, maxsplit=1)[0]


def _verdicts(rows: Sequence[Record]) -> str:
    headers = [
        ("network", "", MEANING["topology"]),
        ("routing", "", MEANING["routing"]),
        ("rule", "", MEANING["vc_rule"]),
        ("VCs", "number", MEANING["virtual_channels"]),
        ("acyclic", "", MEANING["acyclic"]),
        ("deadlock-free", "", MEANING["deadlock_free"]),
        ("fewest VCs", "number", MEANING["least_virtual_channels"]),
        ("by rule", "", MEANING["least_rule"]),
        ("argument", "", MEANING["argument"]),
        ("a shortest cycle", "", MEANING["cycle"]),
    ]
    return table(headers, [_verdict(row) for row in rows], sortable=True)


def _verdict(row: Record) -> list[Cell]:
    return [
        Cell(row["topology"], "name"),
        Cell(row["routing"], "short"),
        Cell(row["vc_rule"], "short"),
        number(row["virtual_channels"]),
        Cell({True: "yes", False: "no", None: "–"}[row["acyclic"]]),
        Cell(row["deadlock_free"], VERDICTS[row["deadlock_free"]]),
        number(row["least_virtual_channels"]),
        Cell(row["least_rule"] or "–", "short"),
        Cell(_short(row["argument"]), "short"),
        Cell(_cycle(row["cycle"]), "short"),
    ]


def _cycle(channels: Sequence[str] | None) -> str:
    """The first channels of a cycle, and how many it has."""
    if not channels:
        return "–"
    more = f" → … ({len(channels)} channels)" if len(channels) > SHOWN_OF_A_CYCLE else ""
    return " → ".join(channels[:SHOWN_OF_A_CYCLE]) + more
