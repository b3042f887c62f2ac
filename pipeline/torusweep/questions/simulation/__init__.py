"""Simulation: accepted load, latency and utilisation of a network under traffic, with confidence intervals.

The flit-level router itself is `torusweep_kernels.router`. This package generates the router's packets, defines
router presets, and evaluates the times at which packets are delivered.
"""
