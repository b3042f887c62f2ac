"""The stage `cost`: what a network costs by a cost model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from torusweep import costs
from torusweep.costs.arithmetic import price_of_router
from torusweep.errors import BadInput, printable
from torusweep.networks.families.boards import Cubes
from torusweep.questions.entry import Choice, Spellings, under
from torusweep.questions.stage import Network, Options, Stage
from torusweep.stages.cost import AUTOMATIC, check_suits, cost_record
from torusweep.stages.cost.columns import COST
from torusweep.stages.cost.packing import spelling_of
from torusweep.stages.cost.record import widths_of

if TYPE_CHECKING:
    from torusweep.charts.section import Section, Tables


class Cost(Choice):
    """Cost models by which the networks are priced: every model and packing, on every network chosen."""

    model: Spellings = Field(
        (costs.DEFAULT_MODEL,),
        description="a cost model as 'torusweep cost --help' lists them, or a YAML file, or several",
    )
    packing: Spellings = Field(
        (AUTOMATIC,),
        description="routers of a cabinet: automatic, or a placement as in straight(dimensions=2, block=[4, 4])",
    )


@dataclass(frozen=True)
class CostRequest:
    """cost_model, packing: canonical."""

    cost_model: str
    packing: str = field(metadata={"meaning": "automatic, or a placement with cabinets"})

    def __str__(self) -> str:
        return f"by {self.cost_model}, packed {self.packing}"


class CostStage(Stage):
    name = "cost"
    columns = COST
    Entry = Cost
    Request = CostRequest
    description = "cost models by which the networks are priced; without it, none"
    distinguishing = ("cost_model", "packing")

    def requests(self, entry: Cost) -> Iterator[CostRequest]:
        with under("model"):
            models = [costs.canonical(name) for name in entry.model]
            for name in models:
                costs.cost_model(name)
        with under("packing"):
            packings = list(map(spelling_of, entry.packing))
        for name in models:
            yield from (CostRequest(name, packing) for packing in packings)

    def check(self, network: Network, request: CostRequest) -> None:
        check_suits(request.packing, network.plan, network.spelling)
        model = costs.cost_model(request.cost_model)
        if isinstance(network.plan.structure, Cubes) and model.circuit_switch is None:
            raise BadInput(
                f"{network.spelling}: expected a cost model with circuit_switch, got {request.cost_model}; choose"
                " 2023-circuits, or add prices of circuit switches to yours"
            )
        if model.router.products:
            try:
                price_of_router(model, float(widths_of(network.topology).max()))
            except BadInput as refusal:
                raise BadInput(f"{network.spelling} by {printable(request.cost_model)}: {refusal}") from None

    def seconds(self, network: Network, request: CostRequest) -> float:
        return 3e-3 + 2e-6 * network.plan.nodes * max(network.plan.degree, 1)

    def files(self, request: CostRequest) -> list[Path]:
        return [] if request.cost_model in costs.MODELS else [costs.file_of(request.cost_model)]

    def rows(self, network: Network, request: CostRequest, options: Options) -> list[dict[str, Any]]:
        return [
            cost_record(
                network.topology,
                request.cost_model,
                request.packing,
                backend=options.backend,
                threads=options.threads,
            )
        ]

    def section(self, tables: Tables) -> Section | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.cost.section import section

        return section(tables)
