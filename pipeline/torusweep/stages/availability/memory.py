"""How much memory draws of failures take."""

from __future__ import annotations

from torusweep.errors import Refused
from torusweep.networks.topology import Plan, default_memory
from torusweep.stages.availability.request import AvailabilityRequest

MOST_ROUTED = 2000  # nodes of networks whose routes are put in layers, about


def memory_of(plan: Plan, request: AvailabilityRequest) -> int:
    """Bytes, about: the network's arrays, the failed parts, the routes of all pairs where they are put in layers."""
    most = plan.nodes * max(plan.degree, 1)
    failed: float = min(request.failures or 0, most)
    if request.probability is not None:
        failed = request.probability * most
    pairs = min(plan.nodes, MOST_ROUTED) ** 2 if "minimal_rerouting" in request.measures else 0
    return 6 * plan.bytes + request.draws * int(100 + 8 * failed) + 200 * pairs


def check_memory(spelling: str, plan: Plan, request: AvailabilityRequest) -> None:
    """Raise Refused where the draws need more memory than one network may take by default."""
    needed, limit = memory_of(plan, request), default_memory()
    if needed > limit:
        raise Refused(
            f"availability of {spelling} {request}: expected at most {limit / 2**30:,.1f} GiB of memory, got about"
            f" {needed / 2**30:,.1f} GiB; choose a smaller network, or fewer draws"
        )
