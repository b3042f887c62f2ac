"""Simulation: accepted load, latency and utilisation of a network under traffic, with confidence intervals.

`torusweep_kernels.router` is the flit-level router. This package generates its packets, has the presets of routers,
and evaluates the times of delivery.
"""

from torusweep.stages.simulation.parameters import Parameters
from torusweep.stages.simulation.placement import Completion
from torusweep.stages.simulation.presets import PRESETS
from torusweep.stages.simulation.record import PRECISION, simulation_records
from torusweep.stages.simulation.request import RunRequest, request_of
from torusweep.stages.simulation.setup import set_up

__all__ = [
    "PRECISION",
    "PRESETS",
    "Completion",
    "Parameters",
    "RunRequest",
    "request_of",
    "set_up",
    "simulation_records",
]
