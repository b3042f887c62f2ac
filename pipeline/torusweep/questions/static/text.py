"""A network's static properties as text: numbers, the distribution of distances, a picture."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from torusweep.networks.picture import text_picture
from torusweep.networks.topology import Topology
from torusweep.quantities import counted
from torusweep.questions.console import fact_table, print_heading, print_note
from torusweep.questions.static.record import NOT_MEASURED

MAX_ROWS = 24  # bars of the distribution of distances


def print_description(console: Console, record: dict[str, Any], network: Topology, picture: bool) -> None:
    """Print a row of the table `static` with its distribution of distances, a picture, and the notes of its file."""
    terminals = network.terminals.tolist()
    one_terminal_each = len(set(terminals)) == len(terminals) == record["nodes"]
    print_heading(console, record["topology"])
    console.print(fact_table(_facts(record, network, one_terminal_each=one_terminal_each)))
    if len(record["distance_histogram"] or ()) > 1:
        print_note(console, "\nhops between two terminals, share of the pairs")
        console.print(Text(_distribution(record["distance_histogram"], console.width)))
    if picture:
        console.print()
        console.print(Text.from_ansi(text_picture(network)), soft_wrap=True)
    for note in network.plan.notes:
        console.print(Text(f"note: {note}", style="yellow"))


def _link_facts(network: Topology) -> list[tuple[str, str]]:
    """Return the bandwidth and latency of each link class as facts (name, value); [] if both are 1 everywhere."""
    if not network.plan.bandwidths and not network.plan.latencies:
        return []
    facts = []
    for number, (width, cycles) in enumerate(network.links_by_class):
        name = network.class_name(number)
        facts.append((f"links {name}", f"{width} flit{'' if width == 1 else 's'} a cycle, {counted(cycles, 'cycle')}"))
    return facts


def _facts(record: dict[str, Any], network: Topology, *, one_terminal_each: bool) -> list[tuple[str, str]]:
    """Return the main columns of the row as facts (name, value); --json prints all columns."""
    degree_min, degree_max = record["degree_min"], record["degree_max"]
    components = f"no: {record['components']:,} components; distances are within them"
    facts = [
        ("nodes", f"{record['nodes']:,}"),
        ("links", f"{record['links']:,}{' directed' if record['directed'] else ''}"),
        *_link_facts(network),
        ("degree", str(degree_max) if degree_min == degree_max else f"{degree_min} to {degree_max}"),
        *_distance_facts(record),
        ("connected", "yes" if record["connected"] else components),
        ("edge connectivity", _value_or_reason(record["edge_connectivity"], record["edge_connectivity_method"])),
        ("bisection width", _bisection(record)),
        ("symmetry", _symmetry(record)),
    ]
    if not one_terminal_each:
        facts.insert(1, ("terminals", f"{record['terminals']:,}"))
    if not one_terminal_each and record["router_diameter"] is not None:
        routers = f"diameter {record['router_diameter']}, mean {counted(record['router_mean_distance'], 'hop', '.10g')}"
        facts.insert([name for name, _ in facts].index("cost"), ("between routers", f"{routers}, distinct ones"))
    if record["latency_mean"] not in (None, record["mean_distance_distinct"]):
        mean = counted(record["latency_mean"], "cycle", ".10g")
        cycles = f"diameter {record['latency_diameter']:,}, mean {mean} between distinct"
        place = [name for name, _ in facts].index("cost" if record["cost"] is not None else "connected")
        facts.insert(place, ("over links", f"{cycles} terminals"))
    if record["fault_nodes"] is not None:
        diameter, sets = record["fault_diameter"], counted(record["fault_sets"], "set")
        value = "some set of faults disconnects it" if diameter is None else counted(diameter, "hop")
        facts.append(
            (f"with {counted(record['fault_nodes'], 'faulty node')}", f"{value}  ({record['fault_method']}, {sets})")
        )
    if record["routed_diameter"] is not None:
        routed = f"diameter {record['routed_diameter']}, mean {record['routed_mean_distance']:.10g}"
        facts.append(("by its own routing", f"{routed}, cost {record['routed_cost']}"))
    return facts


def _value_or_reason(value: Any, method: str | None) -> str:
    return method or "unknown" if value is None else f"{value:,}  ({method})"


def _bisection(record: dict[str, Any]) -> str:
    lower, upper, method = (record[f"bisection_{name}"] for name in ("lower", "upper", "method"))
    if lower is None and upper is None:
        return method
    bounds = ["?" if bound is None else f"{bound:,}" for bound in (lower, upper)]
    return f"{bounds[0] if lower == upper else ' … '.join(bounds)}  ({method})"


def _distance_facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    mean, distinct = record["mean_distance"], record["mean_distance_distinct"]
    if mean is None:
        return [("distances", NOT_MEASURED)]
    return [
        ("diameter", counted(record["diameter"], "hop")),
        ("mean distance", f"{counted(mean, 'hop', '.10g')}  ({distinct:.10g} between distinct nodes)"),
        ("cost", f"{record['cost']:,}  (diameter × degree)"),
    ]


def _symmetry(record: dict[str, Any]) -> str:
    if record["transitivity_method"] == NOT_MEASURED:
        return NOT_MEASURED
    words = {True: "{}-transitive", False: "not {}-transitive", None: "{}-transitivity unknown"}
    vertex, edge = words[record["vertex_transitive"]].format("vertex"), words[record["edge_transitive"]].format("edge")
    return f"{vertex}, {edge}  ({record['transitivity_method']})"


def _distribution(histogram: list[int], width: int) -> str:
    """Draw a bar for each distance; neighbouring distances share a bar if there are more than MAX_ROWS."""
    total = sum(histogram)
    step = -(-len(histogram) // MAX_ROWS)
    groups = [(start, sum(histogram[start : start + step])) for start in range(0, len(histogram), step)]
    largest = max(count for _, count in groups)
    bar_width = max(10, min(50, width - 30))
    rows = []
    for start, count in groups:
        last = min(start + step, len(histogram)) - 1
        label = str(start) if start == last else f"{start}–{last}"
        bar = "█" * round(bar_width * count / largest)
        rows.append(f"{label:>9} {bar:<{bar_width}} {100 * count / total:5.1f} %")
    return "\n".join(rows)
