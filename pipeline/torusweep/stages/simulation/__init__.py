"""Simulated networks: packets of a traffic in, accepted load, latency and utilisation out, with confidence intervals.

The flit-level router is `torusweep_kernels.router`; here are the packets that it is given, the routers' presets,
and what follows from when its packets arrive.
"""

from torusweep.stages.simulation.placement import Completion
from torusweep.stages.simulation.presets import PRESETS
from torusweep.stages.simulation.record import PRECISION, simulation_records
from torusweep.stages.simulation.request import Request, request_of
from torusweep.stages.simulation.setup import Parameters, set_up

__all__ = ["PRECISION", "PRESETS", "Completion", "Parameters", "Request", "request_of", "set_up", "simulation_records"]
