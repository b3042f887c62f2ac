"""Simulated networks: packets of a traffic in, accepted load, latency and utilisation out, with confidence intervals.

The flit-level router is `kernels.network`; here are the packets that it is given, the routers' presets,
and what follows from when its packets arrive.
"""

from pipeline.simulation.placement import Completion
from pipeline.simulation.presets import PRESETS
from pipeline.simulation.record import PRECISION, simulation_records
from pipeline.simulation.request import Request, request_of
from pipeline.simulation.setup import Parameters, set_up

__all__ = ["PRECISION", "PRESETS", "Completion", "Parameters", "Request", "request_of", "set_up", "simulation_records"]
