"""The report's section on deadlock: verdicts by routing and virtual-channel rule, then every verdict's argument."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from torusweep.charts.section import Cell, Chapter, Field, fields, heading, number, paragraph, shared_field, table
from torusweep.questions.deadlock.columns import DEADLOCK
from torusweep.tables.rows import Record, Tables

CHANNELS_SHOWN = 3  # channels of a cycle that are shown
VERDICTS = {"no": "bad", "unknown": "wait", "yes": "good"}  # verdict → style; worst first
LEAD = (
    "Can packets wait for each other in a circle, for ever? A fixed routing is free of deadlock if no channel depends"
    " on itself through others (Dally &amp; Seitz 1987); an adaptive one, if its escape channels do not (Duato 1993),"
    " or if each of their cycles always keeps one packet's space free (bubble). VCs are virtual channels: buffers that"
    " share a link. The rule says which of them a packet may use."
)
SHARED_FIELDS = fields(DEADLOCK, "routing", "vc_rule", "virtual_channels")


def section(tables: Tables) -> Chapter | None:
    """Return the chapter on the table `deadlock`: numbers of verdicts, arguments, every verdict; None without rows."""
    rows = tables.get("deadlock", ())
    if not rows:
        return None
    groups: dict[tuple[str, str, int], list[Record]] = {}
    for row in rows:
        groups.setdefault((row["routing"], row["vc_rule"], row["virtual_channels"]), []).append(row)
    worst = {verdict: place for place, verdict in enumerate(VERDICTS)}
    ordered = sorted(
        rows, key=lambda row: (worst.get(row["deadlock_free"], -1), row["topology"], row["routing"], row["vc_rule"])
    )
    parts = [
        paragraph(LEAD),
        heading("Free of deadlock?") + table(COUNT_FIELDS, [group for _, group in sorted(groups.items())]),
        heading("Verdicts and arguments", f"All {len(rows):,}; those that can deadlock stand first."),
        _arguments(rows),
        table(VERDICT_FIELDS, ordered),
    ]
    return Chapter("deadlock", "Deadlock", parts)


def _arguments(rows: Sequence[Record]) -> str:
    """Return an HTML list of the arguments in full; the table of verdicts shows only their first words."""
    texts = (re.sub("; [0-9]+ of the rule's [0-9]+", "; k of the rule's n", row["argument"]) for row in rows)
    parted = (part for text in texts for part in text.split("; "))
    long = dict.fromkeys(part for part in parted if _short(part) != part)
    parts = [
        f"<dt>{escape(_short(text))}</dt><dd>{escape(text.removeprefix(_short(text)).lstrip(':, '))}</dd>"
        for text in long
    ]
    return f"<dl>{''.join(parts)}</dl>" if parts else ""


def _short(argument: str) -> str:
    """Return the first words of an argument."""
    return re.split("[:,]", argument, maxsplit=1)[0]


def _cycle(channels: Sequence[str] | None) -> str:
    """Return the first channels of a cycle, and the cycle's length."""
    if not channels:
        return "–"
    more = f" → … ({len(channels)} channels)" if len(channels) > CHANNELS_SHOWN else ""
    return " → ".join(channels[:CHANNELS_SHOWN]) + more


def _count(verdict: str) -> Field:
    return Field(verdict, lambda rows: number(sum(row["deadlock_free"] == verdict for row in rows)), style="number")


COUNT_FIELDS = (
    *map(shared_field, SHARED_FIELDS),
    Field("networks", lambda rows: number(len(rows)), style="number"),
    *map(_count, VERDICTS),
)
VERDICT_FIELDS = fields(
    DEADLOCK,
    "topology",
    *SHARED_FIELDS,
    "acyclic",
    ("deadlock_free", "deadlock-free", lambda row: Cell(row["deadlock_free"], VERDICTS.get(row["deadlock_free"], ""))),
    *(("least_virtual_channels", "least VCs"), ("least_rule", "by rule")),
    ("argument", "", lambda row: Cell(_short(row["argument"]), "short")),
    ("cycle", "a cycle", lambda row: Cell(_cycle(row["cycle"]), "short")),
)
