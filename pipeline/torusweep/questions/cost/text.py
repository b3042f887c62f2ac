"""Costs as text: one network's parts and prices, or a table of several networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from torusweep.quantities import counted
from torusweep.questions.console import Columns, print_facts, print_heading, print_note, print_rows
from torusweep.questions.cost.model import CostModel, cost_model

MANY = 1000  # units of currency for which throughput is shown


def print_cost(console: Console, record: dict[str, Any]) -> None:
    """A record of the table `cost`."""
    print_facts(console, record["topology"], _facts(record))
    _print_estimates(console, record["cost_model"])


def print_comparison(console: Console, rows: Sequence[dict[str, Any]]) -> None:
    """Several networks, the cheapest first."""
    print_heading(console, f"{counted(len(rows), 'network')} by {rows[0]['cost_model']}, {rows[0]['date']}")
    print_rows(console, rows, COLUMNS, left=("topology", "packing", _front))
    for note in (
        f"\nCables: electrical + optical. Cost in {rows[0]['currency']} and watts of a terminal; cycles over"
        " links between two terminals. Carries: flits per cycle per terminal",
        f"of {rows[0]['traffic']} traffic, at most 1, with the best routing; for 1,000 {rows[0]['currency']} of a"
        " terminal's cost. Front: no other is as good in cost, cycles and throughput.",
    ):
        print_note(console, note)
    _print_estimates(console, rows[0]["cost_model"])


def print_models(console: Console, models: Mapping[str, CostModel]) -> None:
    """Name, date and description of every model that comes with the program, and which parts are estimates."""
    parts = [{"name": name, "dates": model.dates(), "model": model} for name, model in models.items()]
    print_rows(console, parts, MODEL_COLUMNS, left=[*MODEL_COLUMNS][:3] + [*MODEL_COLUMNS][4:])


def _front(row: dict[str, Any]) -> str:
    return "front" if row["on_front"] else ""


COLUMNS: Columns = {
    **{"topology": "network", "packing": "packing", "terminals": "terminals", "routers": "routers", "radix:d": "radix"},
    lambda row: f"{row['electrical_cables']:,} + {row['optical_cables']:,}": "cables",
    lambda row: _money(row["cost_per_terminal"]): "a terminal",
    **{"watts_per_terminal:.3g": "W", "latency:.4g": "cycles"},
    lambda row: row["throughput"] and f"{row['throughput']:.4g} {row['routing']}": "carries",
    lambda row: row["saturation_per_cost"] and f"{MANY * row['saturation_per_cost']:.3g}": "for 1,000",
    _front: "",
}
MODEL_COLUMNS: Columns = {
    **{"name": "model", "dates": "date", lambda row: row["model"].currency: "currency"},
    **{lambda row: f"{row['model'].bandwidth:g}": "Gb/s", lambda row: row["model"].description: "what is priced"},
    lambda row: ", ".join(row["model"].estimates()): "estimates",
}


def _facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    """(name, value) of the main columns; --json has all."""
    currency, terminals = record["currency"], counted(record["terminals"], "terminal")
    longest = record["cable_metres_max"]
    cables = f"{record['electrical_cables']:,} electrical, {record['optical_cables']:,} optical"
    facts = [
        ("model", f"{record['cost_model']}, prices of {record['date']}"),
        ("routers", f"{record['routers']:,} of up to {record['radix']} ports, {terminals}"),
        ("cabinets", f"{record['cabinets']:,}, packed {record['packing']}"),
        ("cables", f"{cables}; {record['cable_metres']:,.6g} m" + (f", longest {longest:.4g} m" if longest else "")),
        ("routers cost", f"{_money(record['router_cost'])} {currency}"),
        ("cables cost", f"{_money(record['cable_cost'])} {currency}"),
    ]
    if record["terminal_cables"]:
        facts.insert(4, ("", f"{record['terminal_cables']:,} of terminals"))
    if record["circuit_ports"]:
        ports = counted(record["circuit_ports"], "port")
        facts.append(("circuits cost", f"{_money(record['circuit_cost'])} {currency}, {ports} of circuit switches"))
    facts.append(("all", f"{_money(record['total_cost'])} {currency}"))
    if record["cost_per_terminal"] is not None:
        facts.append(("a terminal", f"{_money(record['cost_per_terminal'])} {currency}"))
    if record["watts"] is not None:
        each = record["watts_per_terminal"]
        facts.append(("power", f"{record['watts']:,.6g} W" + ("" if each is None else f", {each:.4g} W a terminal")))
    if record["energy_per_bit"] is not None:
        facts.append(("energy", f"{record['energy_per_bit']:,.4g} pJ a bit, over shortest paths on average"))
    return facts


def _money(value: float | None) -> str:
    """Whole units of currency, or three digits of a small amount."""
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _print_estimates(console: Console, model: str) -> None:
    estimates = cost_model(model).estimates()
    if estimates:
        print_note(console, f"\nEstimates of the model, without a source that confirms them: {', '.join(estimates)}.")
