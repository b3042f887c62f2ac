"""What no routing can exceed: the best throughput of a traffic pattern, the worst traffic of a routing, the use of a cut."""

from pipeline.capacity.bisection_use import BisectionUse, best_half, effective_bisection
from pipeline.capacity.throughput import Capacity, capacity
from pipeline.capacity.worst_case import Worst, worst_permutation

__all__ = ["BisectionUse", "Capacity", "Worst", "best_half", "capacity", "effective_bisection", "worst_permutation"]
