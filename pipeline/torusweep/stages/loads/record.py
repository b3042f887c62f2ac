"""The row of the table `loads`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torusweep.networks.topology import Topology
from torusweep.routing import GivenRouting
from torusweep.stages.loads.bounds import bounds_of
from torusweep.stages.loads.channels import record_of
from torusweep.stages.loads.exact import exact_loads
from torusweep.stages.loads.monte_carlo import sampled_loads
from torusweep.traffic import GivenTraffic


class Sample(NamedTuple):
    """Options of `sampled_loads`."""

    packets: int
    seed: int = 0
    relative_error: float | None = None


def loads_record(
    topology: Topology,
    *,
    routing: str | GivenRouting = "minimal",
    traffic: str | GivenTraffic = "uniform",
    sample: Sample | None = None,
    bounds: bool = False,
    backend: str = "auto",
    use_symmetry: bool = True,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """The row of the table `loads`, as Python values without NaN.

    sample    estimate the loads from random packets; None: exact loads
    bounds    include the capacity under the best routing, and this routing's worst permutation
    progress  of a sample: receives the number of counted packets
    Raises as `exact_loads` and `sampled_loads` do.
    """
    if sample is None:
        loads = exact_loads(
            topology, routing=routing, traffic=traffic, backend=backend, use_symmetry=use_symmetry, threads=threads
        )
    else:
        loads = sampled_loads(
            topology,
            routing=routing,
            traffic=traffic,
            **sample._asdict(),
            backend=backend,
            threads=threads,
            progress=progress,
        )
    found = bounds_of(loads, routing=routing, traffic=traffic, use_symmetry=use_symmetry) if bounds else None
    return record_of(loads, found)
