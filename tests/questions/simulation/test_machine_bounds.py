"""The simulator on networks of several terminals a router: it accepts nine tenths of the bound, and no more than it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from torusweep.networks.families import build
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records

GENEROUS = Parameters(virtual_channels=8, buffer_flits=32, packet_flits=1, input_speedup=8, cycles=2000, warm_up=500)
# bounds by hand: what the terminals that share a link can send over it
CASES = [
    # 2 · 2 terminals of a group share the one link to the next group
    ("megafly(leaves=2, spines=2, p=2, h=1)", "by_group", "group_shift", 1 / 4),
    # 4 routers all joined: the 3 terminals of a router share the one link to the router that they send to
    ("full_mesh(radices=[4], terminals=3)", "dimension_order", "shift", 1 / 3),
    # 4 terminals of a leaf share its 2 links up
    ("xgft(down=[4, 4], up=[1, 2])", "minimal", "shift", 1 / 2),
]


@pytest.mark.parametrize(("network", "routing", "traffic", "bound"), CASES)
def test_machines_accept_what_their_busiest_links_carry(network: str, routing: str, traffic: str, bound: float) -> None:
    parameters = replace(GENEROUS, routing=routing, traffic=traffic, vc_rule="none")
    below, above = simulation_records(build(network), parameters, loads=[0.9 * bound, 1.5 * bound])
    assert below["accepted_load"] == pytest.approx(0.9 * bound, rel=0.03)
    assert 0.9 * bound < above["accepted_load"] <= 1.01 * bound
