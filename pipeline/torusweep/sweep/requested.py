"""Everything that a sweep requests: its networks, every stage's points, and what its papers' numbers need."""

from __future__ import annotations

from pathlib import Path

from torusweep.papers.verification import expected_latency, expected_requests, expected_topologies
from torusweep.stages import STAGES
from torusweep.sweep.configuration import Sweep
from torusweep.sweep.configuration.models import ParhamiKwai
from torusweep.sweep.expansion import at, counted_requests, expand, expand_stage
from torusweep.sweep.latency import check_latency, latency_layouts
from torusweep.sweep.points import Point


def requested_stages(sweep: Sweep) -> list[str]:
    """Names of the stages that a sweep requests, its papers' numbers included, in the order of STAGES."""
    requested = {"static", *(name for name in STAGES if sweep.entries(name)), *expected_requests(sweep.papers)}
    if any(isinstance(entry, ParhamiKwai) and entry.constraint.placement is not None for entry in sweep.latency):
        requested.add("layout")
    return [name for name in STAGES if name in requested]


def latency_requested(sweep: Sweep) -> bool:
    """Whether there is a table `latency`, which is made of others, not of points."""
    return bool(sweep.latency or expected_latency(sweep.papers))


def requested_files(sweep: Sweep) -> list[Path]:
    """The files that the stages' requests name, each once. Raises BadInput with the place in the configuration."""
    found: dict[Path, None] = {}
    for name, stage in STAGES.items():
        for number, entry in enumerate(sweep.entries(name)):
            with at(sweep, (name, number)):
                for request in counted_requests(stage, entry, sweep.limits.points):
                    found |= dict.fromkeys(stage.files(request))
    return list(found)


def requested_points(sweep: Sweep) -> list[Point]:
    """Every point, stage by stage, each once.

    Raises BadInput or Refused with the place in the configuration that is wrong.
    """
    networks = expand(sweep, expected_topologies=expected_topologies(sweep.papers))
    check_latency(sweep, networks)
    expected = expected_requests(sweep.papers)
    expected["layout"] = [*expected.get("layout", ()), *latency_layouts(sweep, networks)]
    return [
        point
        for stage in STAGES.values()
        for point in expand_stage(sweep, stage, networks, expected=expected.get(stage.name, ()))
    ]
