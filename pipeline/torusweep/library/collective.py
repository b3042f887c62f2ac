"""Collective operations on a network: the optimum, and every algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from torusweep.collectives.algorithms import OPTIMUM, algorithms_for, schedule_of
from torusweep.collectives.cost import cost_of
from torusweep.collectives.operations import operation_of
from torusweep.collectives.optimum import optimum
from torusweep.counts import counted
from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.questions.answer import Records
from torusweep.questions.display import value_text
from torusweep.stages.collectives.columns import COLLECTIVES
from torusweep.stages.collectives.record import record_of as collective_row
from torusweep.stages.collectives.simulation import simulated

MOST_FLITS = 1_000_000  # as of 'torusweep collective --simulate'


@dataclass(frozen=True, repr=False)
class Collective(Records):
    """A collective operation: its optimum with proof, then every algorithm, the fastest first.

    Rows of the table `collectives`; an algorithm that was simulated has the columns simulated_… too.
    """

    without: str = field(default="", kw_only=True)
    columns = COLLECTIVES
    main = ("algorithm", "cycles", "optimum_share", "bus_bandwidth", "steps", "latency_hops")

    def heading(self) -> str:
        return (
            f"{self.rows[0]['topology']}, {self.rows[0]['operation']}, optimum {value_text(self.optimum)} cycles/flit"
        )

    @property
    def reason(self) -> str:
        """Why no algorithm has a row; empty where some have."""
        return self.without

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *([f"  no algorithm: {self.without}"] if self.without else [])])

    def _repr_html_(self) -> str:
        return super()._repr_html_() + (f"<div>no algorithm: {escape(self.without)}</div>" if self.without else "")

    @property
    def optimum(self) -> float:
        """Cycles per flit of the operation's size: no algorithm takes less."""
        return float(self.rows[0]["optimum"])


def collective_of(
    topology: Topology, operation: str, names: Sequence[str], *, root: int, flits: int | None
) -> Collective:
    """The optimum of an operation, then its algorithms, the fastest first.

    names   of the algorithms, all of which must suit; none: all that suit the network
    flits   of each equal part of the data in a simulation; None: none
    """
    if flits is not None and not 1 <= flits <= MOST_FLITS:
        raise BadInput(f"simulate={flits}: expected 1 … {MOST_FLITS:,} flits for each equal part of the data")
    name = operation_of(operation)
    best = optimum(topology, name, root=root)
    rows, refusals = [], []
    for algorithm in (one for one in algorithms_for(name, names or ["all"]) if one != OPTIMUM):
        try:
            schedule = schedule_of(topology, name, algorithm, root=root)
            run = None if flits is None else simulated(topology, schedule, flits)
        except BadInput as refusal:
            if names:
                raise
            refusals.append(f"{algorithm}: {refusal}")
            continue
        cost = cost_of(topology, schedule)
        row = collective_row(topology, name, algorithm, root, best, cost, best.method)
        rows.append(row | ({} if run is None else run.columns()))
    rows.sort(key=lambda row: row["cycles"])
    without = "" if rows or not refusals else _together(topology, refusals)
    return Collective([collective_row(topology, name, OPTIMUM, root, best, None, best.method), *rows], without=without)


def _together(topology: Topology, refusals: Sequence[str]) -> str:
    """Why no algorithm suits a network, in a line: the reason that all have, or each its own."""
    counts = np.bincount(topology.terminals, minlength=topology.nodes)
    if (counts != 1).any():
        bare, several = int((counts == 0).sum()), int((counts > 1).sum())
        found = [counted(bare, "node") + " without a terminal"] * (bare > 0)
        found += [counted(several, "node") + " with several"] * (several > 0)
        return f"expected one terminal at each node, got {' and '.join(found)}; the optimum alone has no such limit"
    return "; ".join(refusals)
