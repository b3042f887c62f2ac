"""Everything that a sweep asks for: its networks, loads, dependency graphs, layouts and simulations, and what its papers' numbers need."""

from __future__ import annotations

from torusweep.papers.verification import (
    expected_deadlock,
    expected_latency,
    expected_layout,
    expected_loads,
    expected_topologies,
)
from torusweep.sweep.configuration import Sweep
from torusweep.sweep.configuration.models import ParhamiKwai
from torusweep.sweep.expansion import expand
from torusweep.sweep.points import Point


def latency_asked(sweep: Sweep) -> bool:
    """Whether there is a table `latency`, which is made of others, not of points."""
    return bool(sweep.latency or expected_latency(sweep.papers))


def layout_asked(sweep: Sweep) -> bool:
    """Whether there is a table `layout`: asked for, or needed by the papers' numbers or by latency at constant wiring volume."""
    of_wires = any(isinstance(entry, ParhamiKwai) and entry.constraint.placement is not None for entry in sweep.latency)
    return bool(sweep.layout or of_wires or expected_layout(sweep.papers))


def requested_stages(sweep: Sweep) -> list[str]:
    """Names of the stages that a sweep asks for, its papers' numbers included."""
    wanted = {
        "static": True,
        "loads": sweep.loads or expected_loads(sweep.papers),
        "deadlock": sweep.deadlock or expected_deadlock(sweep.papers),
        "layout": layout_asked(sweep),
        "simulation": sweep.simulation,
    }
    return [stage for stage, asked in wanted.items() if asked]


def asked_points(sweep: Sweep) -> list[Point]:
    """Every point, stage by stage, each once. Raises BadInput or Refused with the place in the configuration that is wrong.

    What a sweep does not ask for is not imported: routings and what computes with them take long to.
    """
    networks = expand(sweep, expected_topologies=expected_topologies(sweep.papers))
    points = list(networks)
    if sweep.latency:
        from torusweep.sweep.latency import check_latency, latency_layouts

        check_latency(sweep, networks)
    loads = expected_loads(sweep.papers)
    if sweep.loads or loads:
        from torusweep.stages.loads.requests import expand_loads

        points += expand_loads(sweep, networks, expected=loads)
    deadlock = expected_deadlock(sweep.papers)
    if sweep.deadlock or deadlock:
        from torusweep.stages.deadlock.requests import expand_deadlock

        points += expand_deadlock(sweep, networks, expected=deadlock)
    if layout_asked(sweep):
        from torusweep.stages.layout.requests import expand_layout

        wired = latency_layouts(sweep, networks) if sweep.latency else []
        points += expand_layout(sweep, networks, expected=[*expected_layout(sweep.papers), *wired])
    if sweep.simulation:
        from torusweep.stages.simulation.requests import expand_simulation

        points += expand_simulation(sweep, networks)
    return points
