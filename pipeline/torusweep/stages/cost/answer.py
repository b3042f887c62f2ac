"""Answers to the question `cost`: of one network, of several at equal cost, and the cost models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from torusweep import costs
from torusweep.costs.columns import EQUAL_COST
from torusweep.counts import counted
from torusweep.questions.answer import Answer, Record, Records, Row
from torusweep.questions.display import Fact, facts
from torusweep.stages.cost.columns import COST
from torusweep.stages.cost.compared import COMPARED
from torusweep.stages.cost.text import print_comparison, print_cost, print_models


class Cost(Record):
    """Prices and watts by a cost model: a row of the table `cost`."""

    columns = COST
    key = ("topology", "cost_model")
    main = (
        *("routers", "radix", "electrical_cables", "optical_cables", "cable_metres", "circuit_ports", "router_cost"),
        *("cable_cost", "circuit_cost", "total_cost", "cost_per_terminal", "watts", "energy_per_bit", "date"),
        "estimates",
    )

    def lines(self) -> list[Fact]:
        currency = self.record["currency"]
        columns = [column._replace(unit=currency) if column.unit == "currency" else column for column in self.columns]
        return facts(self.record, columns, self.main)

    def print(self, console: Console, computed_by: str) -> None:
        print_cost(console, self.record)


class Costs(Records):
    """Several networks, the cheapest first: rows of the table `cost`, with columns of `equal_cost`."""

    columns = (*COST, *(column for column in EQUAL_COST if column.name in COMPARED))
    main = (
        *("topology", "packing", "routers", "radix", "cost_per_terminal", "currency", "watts_per_terminal"),
        *("latency", "throughput", "routing", "saturation_per_cost", "on_front"),
    )

    def heading(self) -> str:
        return f"{counted(len(self), 'network')} by {self.rows[0]['cost_model']}, {self.rows[0]['date']}"

    def print(self, console: Console, computed_by: str) -> None:
        print_comparison(console, self.rows)


class CostModels(Answer):
    """The cost models that come with the program."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.models = {name: costs.cost_model(name) for name in costs.MODELS}

    @property
    def json(self) -> list[Row]:
        return [{"name": name, **model.model_dump()} for name, model in self.models.items()]

    def heading(self) -> str:
        return "cost models"

    def lines(self) -> list[Fact]:
        return [(name, model.description, model.dates()) for name, model in self.models.items()]

    def print(self, console: Console, computed_by: str) -> None:
        print_models(console, self.models)


@dataclass(frozen=True, repr=False)
class ModelFile(Answer):
    """The file of a cost model, to be edited."""

    name: str

    @property
    def json(self) -> Row:
        return costs.cost_model(self.name).model_dump()

    def print(self, console: Console, computed_by: str) -> None:
        text = costs.file_of(self.name).read_text(encoding="utf-8")
        console.print(text, end="", markup=False, emoji=False, soft_wrap=True)
