"""Bounds for all routings: the capacity of a network under a traffic pattern, worst-case traffic, the use of a cut."""

from torusweep.capacity.bisection_use import BisectionUse, best_half, effective_bisection
from torusweep.capacity.throughput import Throughput, capacity
from torusweep.capacity.worst_case import WorstCase, worst_permutation

__all__ = [
    "BisectionUse",
    "Throughput",
    "WorstCase",
    "best_half",
    "capacity",
    "effective_bisection",
    "worst_permutation",
]
