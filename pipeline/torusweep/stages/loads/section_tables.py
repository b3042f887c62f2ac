"""What the page says of loads beyond one routing: routings beside each other, collective operations, and what no routing can exceed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torusweep.stages.static.section import Cell, number, table
from torusweep.tables.records import LOADS

Record = Mapping[str, Any]

MOST_ROWS = 60  # of each table
MEANING = {column.name: column.meaning + (f" ({column.unit})" if column.unit else "") for column in LOADS}


def tables_of_loads(rows: Sequence[Record]) -> str:
    """HTML of the three tables, each where there is something to say; rows as `torusweep.stages.loads.section.joined` gives them."""
    return "\n".join(filter(None, (_routings(rows), _collectives(rows), _bounds(rows))))


def _routings(rows: Sequence[Record]) -> str:
    """Saturation load by routing, for the networks and patterns that several were computed for."""
    names = list(dict.fromkeys(row["routing"] for row in rows))
    found: dict[tuple[str, str], dict[str, Record]] = {}
    for row in rows:
        found.setdefault((row["topology"], row["traffic"]), {})[row["routing"]] = row
    several = [(asked, by_routing) for asked, by_routing in found.items() if len(by_routing) > 1]
    several.sort(key=lambda item: (next(iter(item[1].values()))["nodes"], item[0]))

    def cells(asked: tuple[str, str], by_routing: Mapping[str, Record]) -> list[Cell]:
        loads = [number(by_routing[name]["saturation_load"] if name in by_routing else None, 4) for name in names]
        return [
            Cell(asked[0], "name"),
            Cell(asked[1], "short"),
            number(next(iter(by_routing.values()))["nodes"]),
            *loads,
        ]

    headers = [("network", "", ""), ("traffic", "", MEANING["traffic"]), ("nodes", "number", "")]
    headers += [(name, "number", MEANING["saturation_load"]) for name in names]
    note = "Where the first channel is full, in flits/cycle/terminal, under each routing. A dash: it does not fit the network, or was not asked for."
    return _part("By routing", note, headers, [cells(*item) for item in several])


def _collectives(rows: Sequence[Record]) -> str:
    shown = [row for row in rows if row["collective_time"] is not None]
    columns = (
        ("collective_time", "cycles a flit"),
        ("bus_bandwidth", "bus bandwidth"),
        ("terminal_bus_bandwidth", "with one port a terminal"),
    )
    note = (
        "An operation's phases run one after the other, at the rate that the busiest channel allows; bus bandwidth makes networks of any size"
        " comparable: 2(N-1)/N over the time for a flit of every terminal's message."
    )
    return _part(
        "Collective operations",
        note,
        *_columns(shown, columns, lambda row: [number(len(row["phases"] or ()))], [("phases", "number", "")]),
    )


def _bounds(rows: Sequence[Record]) -> str:
    shown = [
        row
        for row in rows
        if row["capacity"] is not None or row["worst_case_saturation_load"] is not None or row["bounds_method"]
    ]
    columns = (
        ("saturation_load", "saturation load"),
        ("capacity", "capacity"),
        ("capacity_minimal", "by minimal routing"),
        ("capacity_share", "share of capacity"),
        ("worst_case_saturation_load", "worst permutation"),
    )
    note = "In flits/cycle/terminal: what this routing carries, what the best of all could, and what is left under the permutation that is worst for it."
    method = [("how it is known", "", MEANING["bounds_method"])]
    return _part(
        "What no routing can exceed",
        note,
        *_columns(shown, columns, lambda row: [Cell(row["bounds_method"], "argument")], method),
    )


Header = tuple[str, str, str]


def _columns(
    rows: Sequence[Record],
    columns: Sequence[tuple[str, str]],
    last: Callable[[Record], list[Cell]],
    last_headers: list[Header],
) -> tuple[list[Header], list[list[Cell]]]:
    """(headers, cells by nodes and name) of network, routing, traffic, nodes, the columns named with their titles, and what comes last."""
    ordered = sorted(rows, key=lambda row: (row["nodes"], row["topology"], row["routing"], row["traffic"]))
    headers = [
        ("network", "", ""),
        ("routing", "", MEANING["routing"]),
        ("traffic", "", MEANING["traffic"]),
        ("nodes", "number", ""),
    ]
    cells = [
        [
            Cell(row["topology"], "name"),
            Cell(row["routing"], "short"),
            Cell(row["traffic"], "short"),
            number(row["nodes"]),
        ]
        + [number(row[name], 4) for name, _ in columns]
        + last(row)
        for row in ordered
    ]
    return [*headers, *[(title, "number", MEANING[name]) for name, title in columns], *last_headers], cells


def _part(title: str, note: str, headers: Sequence[Header], cells: Sequence[Sequence[Cell]]) -> str:
    if not cells:
        return ""
    some = f" The {MOST_ROWS} smallest networks of {len(cells):,} rows." if len(cells) > MOST_ROWS else ""
    return f'<h3>{title}</h3><p class="note">{note}{some}</p>{table(headers, cells[:MOST_ROWS], sortable=True)}'
