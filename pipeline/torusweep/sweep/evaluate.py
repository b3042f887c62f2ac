"""From a point to its records: the one place where the rooms meet."""

from __future__ import annotations

from typing import Any

from torusweep.networks.families import build
from torusweep.stages.deadlock import deadlock_record
from torusweep.stages.layout import layout_record
from torusweep.stages.loads import Sample, loads_record
from torusweep.stages.simulation import request_of, simulation_records
from torusweep.stages.static import static_record
from torusweep.sweep.points import Point


def evaluate(
    point: Point,
    *,
    backend: str = "auto",
    use_symmetry: bool = True,
    threads: int | None = None,
    memory: int | None = None,
) -> dict[str, Any]:
    """The record of a point of one row, which depends on the point and the code alone.

    memory   bytes that the network's arrays may take; half the machine's where None
    returns  the columns of its stage's table (torusweep.tables.records: STATIC, LOADS, DEADLOCK, LAYOUT) after `key`
    Raises BadInput for a network that cannot be built or traffic that has no path, Refused for one that does not fit, BackendUnavailable.
    """
    topology = build(point.topology, memory=memory)
    how: dict[str, Any] = {"backend": backend, "use_symmetry": use_symmetry, "threads": threads}
    if point.placement is not None:
        record = layout_record(topology, point.placement)
    elif point.vc_rule is not None:
        record = deadlock_record(
            topology,
            routing=str(point.routing),
            vc_rule=point.vc_rule,
            virtual_channels=int(point.virtual_channels or 1),
        )
    elif point.routing is not None and point.traffic is not None:
        sample = None if point.packets is None else Sample(point.packets, point.seed or 0, point.relative_error)
        record = loads_record(
            topology, routing=point.routing, traffic=point.traffic, sample=sample, bounds=point.bounds, **how
        )
    else:
        record = static_record(topology, fault_nodes=point.fault_nodes, **how)
    return {"key": point.key, **record}


def evaluate_all(
    point: Point,
    *,
    backend: str = "auto",
    use_symmetry: bool = True,
    threads: int | None = None,
    memory: int | None = None,
) -> list[dict[str, Any]]:
    """The records of any point, one at least: of a simulation one for each load (torusweep.tables.records: SIMULATION). As `evaluate` otherwise."""
    if point.simulation is None:
        return [evaluate(point, backend=backend, use_symmetry=use_symmetry, threads=threads, memory=memory)]
    parameters, loads, seeds, precision = request_of(point.simulation)
    how: dict[str, Any] = {"backend": backend, "threads": threads, "memory": memory}
    key, rows = (
        point.key,
        simulation_records(
            build(point.topology, memory=memory), parameters, loads=loads, seeds=seeds, precision=precision, **how
        ),
    )
    return [{"key": key, **row} for row in rows]
