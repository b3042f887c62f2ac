"""How records look on a terminal: tables, families, verdicts. Plain text when piped."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from torusweep.cli.console import named, page
from torusweep.counts import counted
from torusweep.networks.topology import Topology
from torusweep.papers.verification import not_compared

VERDICT_STYLES = {
    "agrees": "green",
    "paper in error": "yellow",
    "departs": "yellow",
    "not run": "dim",
    "waits": "dim",
    "unexplained": "bold red",
}


def print_families(entries: list[dict[str, Any]], *, in_full: bool) -> None:
    """The list of families, or one in full."""
    with page() as console:
        if in_full:
            _print_family(console, entries[0])
        else:
            _print_list(console, entries)


def _print_family(console: Console, entry: dict[str, Any]) -> None:
    """A family's text with its paragraphs joined, so that they fold at the terminal's width, and its parameters."""
    console.print(Text(_signature(entry), style="bold"))
    for paragraph in entry["text"].split("\n\n"):
        summary, source, where = paragraph.replace("\n", " ").partition("Source: ")
        console.print(Text(summary.strip()))
        if source:
            console.print(Text(source + where, style="dim"))
    for parameter in entry["parameters"]:
        if parameter["meaning"]:
            console.print(Text(f"  {parameter['name']:<10} {parameter['range'] or '':<8} {parameter['meaning']}"))


def _print_list(console: Console, entries: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    table.add_column("network", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    for entry in entries:
        table.add_row(Text(_signature(entry)), Text(entry["summary"]))
    console.print(table)
    console.print("'torusweep topologies NAME' shows one with its constraints and its source.", style="dim")


def _signature(entry: dict[str, Any]) -> str:
    shown = [p["name"] if p["required"] else f"[{p['name']}]" for p in entry["parameters"]]
    return f"{entry['name']}({', '.join(shown)})"


def print_description(record: dict[str, Any], network: Topology, *, picture: bool, computed_by: str) -> None:
    """A network's record as a table of named numbers, its distance distribution, what its file said, and its picture."""
    with page() as console:
        _print_record(
            console,
            record,
            one_terminal_each=len(set(network.terminals.tolist())) == len(network.terminals) == record["nodes"],
        )
        if picture:
            from torusweep.networks.picture import text_picture

            console.print()
            console.print(Text.from_ansi(text_picture(network)), soft_wrap=True)
        for note in network.plan.notes:
            console.print(Text(f"note: {note}", style="yellow"))
        console.print(Text(f"computed by {computed_by}", style="dim"))


def _print_record(console: Console, record: dict[str, Any], *, one_terminal_each: bool) -> None:
    console.print(Text(record["topology"], style="bold"))
    console.print(named(_lines(record, one_terminal_each=one_terminal_each)))
    if len(record["distance_histogram"]) > 1:
        console.print(Text("\nhops between two terminals, share of the pairs", style="dim"))
        console.print(Text(_distribution(record["distance_histogram"], console.width)))


def _lines(record: dict[str, Any], *, one_terminal_each: bool) -> list[tuple[str, str]]:
    """(label, value) of what a person reads first; --json has every column."""
    kind = "directed " if record["directed"] else ""
    degree = (
        str(record["degree_max"])
        if record["degree_min"] == record["degree_max"]
        else f"{record['degree_min']} to {record['degree_max']}"
    )
    lines = [("nodes", f"{record['nodes']:,}"), ("links", f"{record['links']:,} {kind}".strip()), ("degree", degree)]
    if not one_terminal_each:
        lines.insert(1, ("terminals", f"{record['terminals']:,}"))
    lines += [
        ("diameter", counted(record["diameter"], "hop")),
        (
            "mean distance",
            f"{record['mean_distance']:.10g} hops  ({record['mean_distance_distinct']:.10g} between distinct nodes)",
        ),
        ("cost", f"{record['cost']:,}  (diameter × degree)"),
        (
            "connected",
            "yes" if record["connected"] else f"no: {record['components']:,} components; distances are within them",
        ),
        ("edge connectivity", _or_reason(record["edge_connectivity"], record["edge_connectivity_method"])),
        ("bisection width", _bisection(record)),
        ("symmetry", _symmetry(record)),
    ]
    if record["fault_nodes"] is not None:
        found = record["fault_diameter"]
        value = "some set of faults disconnects it" if found is None else counted(found, "hop")
        lines.append(
            (
                f"with {counted(record['fault_nodes'], 'faulty node')}",
                f"{value}  ({record['fault_method']}, {counted(record['fault_sets'], 'set')})",
            )
        )
    if record["routed_diameter"] is not None:
        lines.append(
            (
                "by its own routing",
                f"diameter {record['routed_diameter']}, mean {record['routed_mean_distance']:.10g}, cost {record['routed_cost']}",
            )
        )
    return lines


def _or_reason(value: Any, method: str | None) -> str:
    return method or "unknown" if value is None else f"{value:,}  ({method})"


def _bisection(record: dict[str, Any]) -> str:
    lower, upper = record["bisection_lower"], record["bisection_upper"]
    if lower is None and upper is None:
        return record["bisection_method"]
    value = (
        f"{lower:,}"
        if lower == upper
        else f"{'?' if lower is None else f'{lower:,}'} … {'?' if upper is None else f'{upper:,}'}"
    )
    return f"{value}  ({record['bisection_method']})"


def _symmetry(record: dict[str, Any]) -> str:
    words = {True: "{}-transitive", False: "not {}-transitive", None: "{}-transitivity unknown"}
    vertex, edge = words[record["vertex_transitive"]].format("vertex"), words[record["edge_transitive"]].format("edge")
    return f"{vertex}, {edge}  ({record['transitivity_method']})"


def _distribution(histogram: list[int], width: int) -> str:
    """The distance distribution as bars, at most 24 rows."""
    total = sum(histogram)
    step = -(-len(histogram) // 24)
    groups = [(start, sum(histogram[start : start + step])) for start in range(0, len(histogram), step)]
    most = max(count for _, count in groups)
    room = max(10, min(50, width - 30))
    rows = []
    for start, count in groups:
        last = min(start + step, len(histogram)) - 1
        label = str(start) if start == last else f"{start}–{last}"
        rows.append(f"{label:>9} {'█' * round(room * count / most):<{room}} {100 * count / total:5.1f} %")
    return "\n".join(rows)


def print_verification(rows: list[dict[str, Any]], *, everything: bool) -> None:
    """Rows that do not simply agree, under the reason they share; what waits is counted; then the verdicts' numbers."""
    with page() as console:
        _print_verdicts(console, rows, everything=everything)


def _print_verdicts(console: Console, rows: list[dict[str, Any]], *, everything: bool) -> None:
    for verdict in ("agrees", "paper in error", "departs", "unexplained"):
        if verdict == "agrees" and not everything:
            continue
        for (paper, reason), group in _by_reason(rows, verdict).items():
            console.print(
                Text.assemble((f"{paper}  {verdict}", VERDICT_STYLES[verdict]), (f": {reason}" if reason else ""))
            )
            widest = max(len(f"{row['place']}: {row['row']}") for row in group)
            for row in group:
                theirs, ours = _number(row["paper_value"]), _number(row["our_value"])
                ours += "" if row["capacity"] is None else f", capacity {_number(row['capacity'])}"
                label = f"{row['place']}: {row['row']}"
                console.print(
                    Text(
                        f"     {label:<{min(widest, 60)}}  paper {theirs}, ours {ours}  {row['topology']}", style="dim"
                    ),
                    soft_wrap=True,
                )
    for (paper, needed), waiting in not_compared(rows).items():
        verdict = waiting[0]["verdict"]
        console.print(
            Text.assemble(
                (f"{paper}  {verdict}", VERDICT_STYLES[verdict]),
                f": {counted(len(waiting), 'number')}, {needed.removeprefix('waits ')}",
            )
        )
        if everything:
            for one in waiting:
                line = f"     {one['place']}: {one['row']}  paper {_number(one['paper_value'])}  {one['topology']}"
                console.print(Text(line, style="dim"), soft_wrap=True)
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICT_STYLES}
    console.print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()), style="bold")


def _by_reason(rows: list[dict[str, Any]], verdict: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["verdict"] == verdict:
            groups.setdefault((row["paper"], row["reason"] or ""), []).append(row)
    return groups


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.10g}"
