"""The stage `collectives`: the optimum of collective operations, and what algorithms take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from torusweep.collectives.algorithms import OPTIMUM, algorithms_for, check_suits
from torusweep.collectives.operations import operation_of
from torusweep.questions.entry import Choice, Spellings, under
from torusweep.questions.stage import Network, Options, Stage
from torusweep.stages.collectives.columns import COLLECTIVES
from torusweep.stages.collectives.record import collective_record

if TYPE_CHECKING:
    from torusweep.charts.section import Section, Tables


class Collectives(Choice):
    """Which collective operations are computed: every algorithm of every operation, on every network chosen."""

    operation: Spellings = Field(description="all_gather, reduce_scatter, all_reduce, broadcast, reduce, all_to_all")
    algorithm: Spellings = Field(
        (OPTIMUM,),
        description="optimum, an algorithm as 'torusweep collective --help' lists them, or several; all: every one",
    )


@dataclass(frozen=True)
class CollectiveRequest:
    operation: str
    algorithm: str

    def __str__(self) -> str:
        return f"{self.operation}, {self.algorithm}"


class CollectivesStage(Stage):
    name = "collectives"
    columns = COLLECTIVES
    Entry = Collectives
    Request = CollectiveRequest
    description = "collective operations whose optimum and algorithms are computed; without it, none"
    distinguishing = ("operation", "algorithm")

    def requests(self, entry: Collectives) -> Iterator[CollectiveRequest]:
        with under("operation"):
            operations = list(dict.fromkeys(map(operation_of, entry.operation)))
        with under("algorithm"):
            chosen = [algorithms_for(operation, entry.algorithm) for operation in operations]
        for operation, algorithms in zip(operations, chosen):
            yield from (CollectiveRequest(operation, algorithm) for algorithm in algorithms)

    def check(self, network: Network, request: CollectiveRequest) -> None:
        check_suits(request.algorithm, network.plan, network.spelling)

    def seconds(self, network: Network, request: CollectiveRequest) -> float:
        nodes, arcs = network.plan.nodes, network.plan.nodes * max(network.plan.degree, 1)
        seconds = 3e-3 + 1e-7 * arcs + (1e-4 * arcs if request.operation == "all_to_all" else 3e-9 * arcs * nodes)
        return seconds + (0.0 if request.algorithm == OPTIMUM else 2e-6 * arcs * nodes**0.5)

    def memory(self, network: Network, request: CollectiveRequest) -> int:
        transfers = 0 if request.algorithm == OPTIMUM else network.plan.nodes**2 * max(network.plan.degree, 1)
        return network.plan.bytes + 80 * transfers

    def rows(self, network: Network, request: CollectiveRequest, options: Options) -> list[dict[str, Any]]:
        return [
            collective_record(network.topology, request.operation, request.algorithm, use_symmetry=options.use_symmetry)
        ]

    def section(self, tables: Tables) -> Section | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.collectives.section import section

        return section(tables)
