"""Everything that a sweep requests: its networks, every stage's points, and what its papers' numbers need."""

from __future__ import annotations

from pathlib import Path

from torusweep.papers.verification import expected_requests, expected_topologies
from torusweep.stages import STAGES
from torusweep.sweeps.configuration import Sweep
from torusweep.sweeps.derived_tables import DERIVED
from torusweep.sweeps.expansion import at, counted_requests, expand, expand_stage
from torusweep.sweeps.points import Point


def requested_stages(sweep: Sweep) -> list[str]:
    """Names of the stages that a sweep requests, its papers' numbers included, in the order of STAGES."""
    requested = {name for name in STAGES if sweep.entries(name)}
    requested |= {name for name, stage in STAGES.items() if stage.request_for_network(None) is not None}
    requested |= expected_requests(sweep.papers).keys()
    requested |= {name for table in DERIVED.values() for name in table.needs(sweep)}
    return [name for name in STAGES if name in requested]


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
    expected = expected_requests(sweep.papers)
    for table in DERIVED.values():
        for name, requests in table.requests(sweep, networks).items():
            expected[name] = [*expected.get(name, ()), *requests]
    return [
        point
        for stage in STAGES.values()
        for point in expand_stage(sweep, stage, networks, expected=expected.get(stage.name, ()))
    ]
