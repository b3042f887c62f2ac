"""Compute a network's prices and watts from the numbers of its parts, as sums of linear functions.

The table `equal_cost` compares networks by throughput, latency and cost, and marks the Pareto front.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.errors import BadInput
from torusweep.questions.cost.columns import EQUAL_COST
from torusweep.questions.cost.columns import TABLE as COST
from torusweep.questions.cost.model import Cable, CostModel
from torusweep.questions.loads.columns import EQUAL_LOAD_DECIMALS
from torusweep.questions.loads.columns import TABLE as LOADS
from torusweep.questions.screen.bounds import front
from torusweep.tables.columns import arrow_schema
from torusweep.tables.parquet import TableFile


class Cables(NamedTuple):
    """Cables between routers in G groups of equal cables.

    metres     float64[G]  length of a cable
    between    bool[G]     whether the ends of a cable are in different cabinets
    circuit    bool[G]     whether a cable passes through a circuit switch
    bandwidth  float64[G]  bandwidth of a cable, in flits per cycle
    number     int64[G]    number of cables
    """

    metres: np.ndarray
    between: np.ndarray
    circuit: np.ndarray
    bandwidth: np.ndarray
    number: np.ndarray


class Counts(NamedTuple):
    """The numbers of a network's parts.

    widths     float64[K]  the K different widths of routers. A router's width is the sum of its links' flits per cycle,
                           including the links to its terminals
    routers    int64[K]    number of routers of each width
    """

    widths: np.ndarray
    routers: np.ndarray
    terminals: int
    cables: Cables


class Prices(NamedTuple):
    """Numbers of parts, prices in the model's currency, and power. Power is None if the model has no watts.

    electrical, optical   numbers of cables between routers
    terminal_cables       number of electrical cables of terminals
    metres                length of all cables
    picojoules            energy of a bit in each router that it passes
    """

    electrical: int
    optical: int
    terminal_cables: int
    metres: float
    circuit_ports: int
    routers: float
    cables: float
    circuits: float
    watts: float | None
    picojoules: float | None

    @property
    def total(self) -> float:
        return self.routers + self.cables + self.circuits


def prices(model: CostModel, counts: Counts) -> Prices:
    """Compute the prices of a network.

    A router costs max(0, fixed + per_port × ports), or as much as the cheapest product with enough ports. A port of
    twice the bandwidth is two ports, for prices and for watts. A cable is electrical up to the length `longest` if the
    model gives this length, otherwise of the cheaper kind. A cable through a circuit switch is always optical, and
    takes two ports of the switch. A cable's price is multiplied by its bandwidth.
    Raises BadInput if no product has enough ports, or if circuit switches are needed and have no price.
    """
    cables, racks = counts.cables, model.racks
    optical = _is_optical(model, cables)
    lengths = [float(metres) * int(number) for metres, number in zip(cables.metres, cables.number)]
    laying = np.where(cables.between, racks.laying_between, racks.laying_inside)
    each = np.where(
        optical,
        _price(model, model.optical or model.electrical, cables),
        _price(model, model.electrical or model.optical, cables),
    )
    cost = [float(price) * int(number) for price, number in zip(each + laying, cables.number)]
    terminal_cables = 0 if racks.terminal_cable is None else counts.terminals
    if racks.terminal_cable is not None:
        own = Cables(*(np.array([value]) for value in (racks.terminal_cable, False, False, 1.0, 1)))
        kind = model.electrical or model.optical
        cost.append(float((_price(model, kind, own) + racks.laying_inside)[0]) * terminal_cables)
        lengths.append(racks.terminal_cable * terminal_cables)
    number_optical = int(cables.number[optical].sum())
    circuit_ports = 2 * int(cables.number[cables.circuit].sum())
    return Prices(
        electrical=int(cables.number.sum()) - number_optical,
        optical=number_optical,
        terminal_cables=terminal_cables,
        metres=fsum(lengths),
        circuit_ports=circuit_ports,
        routers=fsum(
            price_of_router(model, float(width)) * int(number) for width, number in zip(counts.widths, counts.routers)
        ),
        cables=fsum(cost),
        circuits=_price_of_circuits(model, circuit_ports),
        watts=_watts(model, counts, number_optical, circuit_ports),
        picojoules=_picojoules(model),
    )


def price_of_router(model: CostModel, ports: float) -> float:
    """Return the price of a router by its ports of 1 flit per cycle. Raises BadInput if no product has enough ports."""
    router = model.router
    if not router.products:
        return max(0.0, router.fixed + router.per_port * ports)
    suitable = [product.price for product in router.products if product.ports >= ports]
    if not suitable:
        most = max(product.ports for product in router.products)
        raise BadInput(
            f"expected routers of at most {most:,} ports, the largest of the cost model's products, got {ports:,g};"
            " choose a network of smaller radix, or add a product"
        )
    return min(suitable)


def _is_optical(model: CostModel, cables: Cables) -> np.ndarray:
    """Return bool[G]: whether the cables of each group are optical."""
    if model.optical is None:
        return np.zeros(len(cables.metres), bool)
    if model.electrical is None:
        return np.ones(len(cables.metres), bool)
    if model.electrical.longest is not None:
        return cables.circuit | (cables.metres > model.electrical.longest)
    return cables.circuit | (_price(model, model.electrical, cables) > _price(model, model.optical, cables))


def _price(model: CostModel, cable: Cable | None, cables: Cables) -> np.ndarray:
    """Return the price of a cable of each group, float64[G], for the given kind of cable: electrical or optical."""
    assert cable is not None, "a model has one kind of cables"
    units = cables.bandwidth * (model.bandwidth if cable.unit == "Gb/s" else 1.0)
    return (cable.fixed + cable.per_metre * cables.metres) * units


def _price_of_circuits(model: CostModel, ports: int) -> float:
    if not ports:
        return 0.0
    if model.circuit_switch is None:
        raise BadInput(
            f"expected a price of the circuit switches' {ports:,} ports, got a cost model without circuit_switch;"
            " choose a model that has it, or add it"
        )
    return model.circuit_switch.per_port * ports


def _watts(model: CostModel, counts: Counts, optical: int, circuit_ports: int) -> float | None:
    if model.power is None:
        return None
    ports = fsum(float(width) * int(number) for width, number in zip(counts.widths, counts.routers))
    circuits = 0.0 if model.circuit_switch is None else model.circuit_switch.watts_per_port * circuit_ports
    return fsum([model.power.watts_per_port * ports, model.power.watts_per_optical_cable * optical, circuits])


def _picojoules(model: CostModel) -> float | None:
    """Return picojoules per bit in a router, by default from two ports at full rate (W / (Gb/s) = nJ/bit), or None."""
    if model.power is None:
        return None
    given = model.power.picojoules_per_bit
    return 2 * model.power.watts_per_port / model.bandwidth * 1000 if given is None else given


Record = Mapping[str, Any]


def throughput(loads: Record) -> float | None:
    """Return the throughput, at most 1 flit per cycle per terminal, from a row of `loads`; None if no link is used."""
    found = loads["terminal_saturation_load"]
    return None if loads["saturation_load"] is None else float(min(1.0, found))


def compared(tables: Mapping[str, TableFile]) -> pa.Table:
    """Make the table `equal_cost` of a sweep from its tables `static`, `loads` and `cost`."""
    names = {
        "static": ["topology", "connected", "mean_distance", "latency_mean"],
        "loads": ["topology", "routing", "traffic", "saturation_load", "terminal_saturation_load", "lost_pairs"],
        "cost": ["topology", "cost_model", "packing", "terminals", "cost_per_terminal", "currency"],
    }
    priced = tables["cost"].read(["topology"]).column(0)
    rows = {
        name: [row for part in tables[name].groups(read) for row in part.filter(pc.is_in(part[0], priced)).to_pylist()]
        for name, read in names.items()
    }
    return pa.Table.from_pylist(equal_cost(**rows), schema=arrow_schema(EQUAL_COST))


def equal_cost(static: Iterable[Record], loads: Iterable[Record], cost: Iterable[Record]) -> list[dict[str, Any]]:
    """Make the rows of the table `equal_cost`: one for each network, cost model and traffic, the cheapest first.

    Networks that are not connected, have no known mean latency, or lack a row in one of the three tables are left out.
    If a network has several routings, the best counts; if it has several packings, the cheapest (`Declaration.best`).

    static, loads, cost   rows of these tables
    """
    distances: dict[str, Record] = {}
    for row in static:
        if row["connected"] and row["latency_mean"] is not None:
            distances.setdefault(row["topology"], row)
    best: dict[str, dict[str, Record]] = {}  # by topology and traffic
    for row in loads:
        if throughput(row) is not None and not row["lost_pairs"]:
            own = best.setdefault(row["topology"], {})
            own[row["traffic"]] = min(own.get(row["traffic"], row), row, key=LOADS.best_first)
    cheapest: dict[tuple[str, str], Record] = {}  # by topology and model
    for row in cost:
        if row["cost_per_terminal"] is not None:
            key = row["topology"], row["cost_model"]
            cheapest[key] = min(cheapest.get(key, row), row, key=COST.best_first)
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for (topology, model), row in cheapest.items():
        if topology in distances:
            for traffic, load in best.get(topology, {}).items():
                price, carried = row["cost_per_terminal"], throughput(load)
                assert carried is not None
                groups.setdefault((model, traffic), []).append(
                    {
                        "topology": topology,
                        "cost_model": model,
                        "packing": row["packing"],
                        "traffic": traffic,
                        "routing": load["routing"],
                        "terminals": row["terminals"],
                        "cost_per_terminal": price,
                        "currency": row["currency"],
                        "mean_distance": distances[topology]["mean_distance"],
                        "latency": distances[topology]["latency_mean"],
                        "throughput": carried,
                        "saturation_per_cost": carried / price if price else None,
                    }
                )
    return [row for key in sorted(groups) for row in _with_front(groups[key])]


def _with_front(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort the rows of one model and traffic, the cheapest first, and add to each whether it is on the Pareto front."""
    rows.sort(key=lambda row: (row["cost_per_terminal"], row["topology"]))
    values = [
        [-round(row["throughput"], EQUAL_LOAD_DECIMALS), row["latency"], row["cost_per_terminal"]] for row in rows
    ]
    on_front = set(front(np.array(values)).tolist())
    return [{**row, "on_front": place in on_front} for place, row in enumerate(rows)]
