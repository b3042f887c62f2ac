"""What no routing can exceed: the best throughput of a traffic pattern, the worst traffic of a routing, the use of a cut."""

from pipeline.capacity.throughput import Capacity, capacity

__all__ = ["Capacity", "capacity"]
