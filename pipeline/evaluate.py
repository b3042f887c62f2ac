"""From a point to its record: the one place where the rooms meet."""

from __future__ import annotations

from typing import Any

from pipeline.points import Point
from pipeline.static import static_record
from pipeline.topologies import build


def evaluate(
    point: Point, *, backend: str = "auto", use_symmetry: bool = True, threads: int | None = None, memory: int | None = None
) -> dict[str, Any]:
    """The static record of a point, which depends on the point and the code alone.

    memory   bytes that the network's arrays may take; half the machine's where None
    returns  the static table's columns (pipeline.records.STATIC) after `key`
    Raises BadInput for a network that cannot be built, Refused for one that does not fit, BackendUnavailable.
    """
    topology = build(point.topology, memory=memory)
    record = static_record(topology, backend=backend, use_symmetry=use_symmetry, fault_nodes=point.fault_nodes, threads=threads)
    return {"key": point.key, **record}
