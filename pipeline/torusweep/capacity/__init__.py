"""What no routing can exceed: the best throughput of a traffic pattern, the worst traffic of a routing, the use of a cut."""

from torusweep.capacity.bisection_use import BisectionUse, best_half, effective_bisection
from torusweep.capacity.throughput import Capacity, capacity
from torusweep.capacity.worst_case import WorstCase, worst_permutation

__all__ = ["BisectionUse", "Capacity", "WorstCase", "best_half", "capacity", "effective_bisection", "worst_permutation"]
