"""The stage `static`: one record of every network."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod
from typing import TYPE_CHECKING, Any

from torusweep.networks.families.hierarchies import Hierarchy
from torusweep.networks.topology import no_symmetries
from torusweep.questions.stage import Network, Options, Stage
from torusweep.stages.static import static_record
from torusweep.stages.static.columns import STATIC
from torusweep.stages.static.route_lengths import MAX_PAIRS
from torusweep.stages.static.spectrum import INERTIA_NODES

if TYPE_CHECKING:
    from torusweep.charts.section import Chapter, Tables

ROUTED_PAIR = 4e-7  # seconds that the length of a hierarchical route takes
LONGEST_FAULT_SEARCH = 15.0  # seconds on a core; longer (fault_diameter.EXHAUSTIVE_WORK): a sample
LONGEST_LATENCIES = 15.0  # seconds of latencies.MOST_VISITS
LOADING = 0.3  # seconds that Numba takes to load; CuPy takes longer
SMALL = 256  # nodes that are all searched from, level by level, in hundredths of a second by NumPy, too


@dataclass(frozen=True)
class StaticRequest:
    """fault_nodes: node faults at a time for the fault diameter; None: not computed."""

    fault_nodes: int | None = None

    def __str__(self) -> str:
        return ""


class StaticStage(Stage):
    name = "static"
    columns = STATIC
    Entry = None
    Request = StaticRequest

    def request_for_network(self, fault_nodes: int | None) -> StaticRequest:
        return StaticRequest(fault_nodes)

    def seconds(self, network: Network, request: StaticRequest) -> float:
        """Declared symmetry makes the searches negligible beside the proofs, which read every link a few times."""
        planned = network.plan
        arcs = planned.nodes * max(planned.degree, 1)
        seconds = 2e-3 + 1e-6 * arcs
        if planned.symmetries is no_symmetries:
            seconds += min(5e-8 * arcs * planned.nodes, LONGEST_LATENCIES) if len(set(planned.latencies)) > 1 else 0.0
            seconds += 4e-11 * arcs * planned.nodes + (6e-6 * arcs if planned.nodes <= INERTIA_NODES else 0.0)
        if isinstance(planned.structure, Hierarchy):  # its own routing from a node of each cell, or from every one
            pairs = planned.nodes * prod(planned.structure.module)
            seconds += ROUTED_PAIR * pairs if pairs <= MAX_PAIRS else 0.0
        if request.fault_nodes is not None:
            seconds += min(1.3e-10 * arcs * comb(planned.nodes, request.fault_nodes), LONGEST_FAULT_SEARCH)
        return seconds

    def rows(self, network: Network, request: StaticRequest, options: Options) -> list[dict[str, Any]]:
        record = static_record(
            network.topology,
            fault_nodes=request.fault_nodes,
            backend=options.backend,
            use_symmetry=options.use_symmetry,
            threads=options.threads,
        )
        return [record]

    def section(self, tables: Tables) -> Chapter | None:
        # only a page draws, and the drawing library takes long to import
        from torusweep.stages.static.section import section

        return section(tables)


def choose_backend(backend: str, network: Network, request: StaticRequest, *, use_symmetry: bool) -> str:
    """`backend`, but NumPy for `auto` where Numba would take longer to load than NumPy to compute the record.

    Of symmetric networks one node of each orbit is searched from, and of small ones all, in little time.
    """
    searches_little = network.plan.symmetries is not no_symmetries or network.plan.nodes <= SMALL
    if backend != "auto" or not use_symmetry or request.fault_nodes is not None or not searches_little:
        return backend
    return "numpy" if StaticStage().seconds(network, request) <= LOADING else backend
