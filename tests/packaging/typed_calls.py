"""Calls that a type checker accepts, and calls that it refuses; mypy reads this module, and nothing runs it.

mypy reports a `type: ignore` that hides no error, so that each of these calls has to be refused.
"""

from __future__ import annotations

from typing import assert_type

import numpy as np
import torusweep as ts
from torusweep.answers.best import BestNetworks
from torusweep.questions.deadlock.stage import Deadlock
from torusweep.questions.loads.record import Loads
from torusweep.questions.simulation.stage import Simulation
from torusweep.questions.static.stage import Static


def accepted(network: ts.Network, demand: np.ndarray) -> None:
    """Call methods and functions with every kind of value that they take."""
    assert_type(network.static(fault_nodes=1, measures="distances"), Static)
    assert_type(network.loads("dimension_order", demand, bounds=True), Loads)
    assert_type(network.loads(traffic=[[0, 1], [1, 0]]).saturation_load, float | None)
    assert_type(network.deadlock(lambda at, to: at + 1, "dateline", 2), Deadlock)
    assert_type(network.simulate(0.1, seeds=[1, 2], backend="numba"), Simulation)
    network.simulate([0.1, 0.2], routing="minimal", traffic=demand)
    network.collective("all_reduce", ["ring", "trees"], bytes=[1024, "1 MB"])
    network.availability(links=[1, 0.05], measures=("connectivity",))
    network.place({"tensor": 4}, least="load")
    assert_type(ts.best(nodes=64, dimensions=2, minimise=["diameter"]), BestNetworks)
    ts.screen([network, "torus(k=4, n=2)"])
    ts.cost("torus(k=4, n=2)", routing=["minimal"])


def refused(network: ts.Network) -> None:
    """Make ten mistakes."""
    network.loads(routing=5)  # type: ignore[arg-type]
    network.loads(trafic="uniform")  # type: ignore[call-arg]
    network.loads(method="exactly")  # type: ignore[arg-type]
    network.lods()  # type: ignore[attr-defined]
    network.static(fault_nodes="2")  # type: ignore[arg-type]
    network.deadlock(virtual_channels=[1, 2])  # type: ignore[arg-type]
    network.simulate("fast")  # type: ignore[arg-type]
    network.collective()  # type: ignore[call-arg]
    network.distances(backend="gpu")  # type: ignore[arg-type]
    ts.best(dimensions=2)  # type: ignore[call-arg]
