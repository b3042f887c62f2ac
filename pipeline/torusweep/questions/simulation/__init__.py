"""Simulation: accepted load, latency and utilisation of a network under traffic, with confidence intervals.

`torusweep_kernels.router` is the flit-level router. This package generates its packets, has presets of routers, and
evaluates the times of delivery.
"""
