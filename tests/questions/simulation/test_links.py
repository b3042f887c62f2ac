"""Links with bandwidths and latencies in the simulator: latencies by formula, buffers that cover the round trip."""

from __future__ import annotations

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.how import How
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.presets import PRESETS
from torusweep.questions.simulation.record import simulation_records
from torusweep.questions.simulation.setup import set_up
from torusweep_kernels.router import Batch, simulate


def lone(setup, flits, *, hops=1, to=1):
    """Cycles that a packet takes alone from node 0 in the direction of its first axis."""
    direction, phase = np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int8)
    first = np.array([[0] + [1] * len(setup.wiring.to)], np.int64)
    one = Batch(first, np.array([0]), np.array([0]), np.array([flits]), np.array([to]))
    routes = direction, np.full((1, 1), hops, np.int16), phase
    found = simulate(setup.wiring, setup.router, *routes, one, cycles=100_000)
    return int(found.delivered[0])


@pytest.mark.parametrize("preset", sorted(PRESETS))
@pytest.mark.parametrize("latency", [1, 2, 10, 300])
def test_the_default_buffer_sustains_a_flit_a_cycle(preset, latency):
    """A packet of 700 flits never waits for a credit; with a buffer below the round trip it does."""
    network = build(f"with_links(mesh(radices=[4]), latencies=[{latency}])")
    how = PRESETS[preset]
    asked = {"router": preset, "routing": "dimension_order", "vc_rule": "none", "switching": "wormhole"}
    setup = set_up(network, Parameters(**asked))
    each = how.route_delay + how.vc_delay + how.switch_delay
    for hops in (1, 3):
        assert lone(setup, 700, hops=hops, to=hops) == (hops + 1) * each + hops * latency + 700 - 1
    round_trip = each + latency + how.credit_delay - 1 + latency
    if latency > 1:
        assert setup.parameters.buffer_flits == max(how.buffer_flits, round_trip)
    else:
        assert setup.parameters.buffer_flits == how.buffer_flits
    needed = round_trip - how.route_delay - how.vc_delay  # by all flits but the head, which waits for its route
    if needed > 1:
        short = set_up(network, Parameters(**asked, buffer_flits=needed - 1))
        assert short.parameters.buffer_flits == needed - 1
        assert lone(short, 4_000) > lone(setup, 4_000)


def test_a_quarter_of_the_round_trip_sustains_a_quarter_of_the_bandwidth():
    network = build("with_links(mesh(radices=[2]), latencies=[38])")
    setup = set_up(network, Parameters(virtual_channels=1, vc_rule="none"))
    round_trip = 1 + 38 + 38  # switch, link, and the credit back over it
    few = set_up(network, Parameters(virtual_channels=1, vc_rule="none", buffer_flits=19))
    assert lone(setup, 4_000) == pytest.approx(4_000, rel=0.03)
    assert lone(few, 4_000) == pytest.approx(4_000 * round_trip / 19, rel=0.03)


def rows(network, **more):
    parameters = Parameters(cycles=3_000, warm_up=500, **more)
    return simulation_records(build(network), parameters, loads=[0.1, 0.5], seeds=[0], how=How("numba"))


def without(row, *names):
    return {name: value for name, value in row.items() if name not in ("topology", *names)}


def test_wide_links_are_as_good_as_parallel_ones():
    wide = rows("with_links(hyperx(radices=[4, 2]), bandwidths=[2, 1])")
    for one, other in zip(wide, rows("hyperx(radices=[4, 2], widths=[2, 1])"), strict=True):
        assert without(one) == without(other)
    narrow = rows("hyperx(radices=[4, 2])")
    assert without(narrow[1]) != without(wide[1])


def test_links_of_one_flit_and_one_cycle_change_nothing():
    plain = rows("torus(k=4, n=2)")
    for one, other in zip(plain, rows("with_links(torus(k=4, n=2), bandwidths=[1], latencies=[1, 1])"), strict=True):
        assert without(one) == without(other)


def test_latency_at_low_load_grows_by_the_links_on_the_way():
    """Uniform traffic of a 4-ary 2-cube takes a hop in each dimension on average: 1 · 9 cycles more in the second."""
    networks = "torus(k=4, n=2)", "with_links(torus(k=4, n=2), latencies=[1, 10])"
    few, more = (rows(network, buffer_flits=64)[0] for network in networks)
    assert more["network_latency"] - few["network_latency"] == pytest.approx(9, abs=2)
    assert few["buffer_flits"] == more["buffer_flits"] == 64


BAD = [
    ("with_links(torus(k=4, n=2), bandwidths=[1, 0.5])", {}, "whole flits a cycle, got 1/2 of class y"),
    ("with_links(torus(k=4, n=2), bandwidths=[17])", {}, "at most 16 flits a cycle"),
    ("with_links(torus(k=4, n=2), bandwidths=[4, 1])", {"virtual_channels": 3}, "each of 4 flits a cycle"),
]


@pytest.mark.parametrize(("network", "more", "says"), BAD)
def test_refusals(network, more, says):
    with pytest.raises(BadInput, match=says):
        set_up(build(network), Parameters(**more))


def test_parallel_links_of_half_a_flit_are_whole_channels():
    setup = set_up(build("with_links(hyperx(radices=[3], widths=[2]), bandwidths=[0.5])"), Parameters())
    assert (setup.wiring.capacity[setup.wiring.to >= 0] == 1).all()


@pytest.mark.parametrize(
    ("flits", "speedup", "least", "most"),
    [
        (1, 8, 0.24, 0.25),  # an output grants one virtual channel a cycle: a packet of one flit for four terminals
        (4, 8, 0.87, 0.93),
        (16, 2, 0.85, 0.93),
        (16, 1, 0.45, 0.60),  # most of the link's virtual channels are held by packets of the same injection ports
    ],
)
def test_what_fills_a_wide_link(flits, speedup, least, most):
    """Four terminals share a link of four flits a cycle, and offer 0.9 of it: docs/simulation.md, Routers."""
    network = build("with_links(full_mesh(radices=[2], terminals=4), bandwidths=[4])")
    how = {"virtual_channels": 8, "buffer_flits": 64, "packet_flits": flits, "input_speedup": speedup}
    asked = Parameters(routing="minimal", traffic="shift", cycles=3_000, warm_up=500, **how)
    (row,) = simulation_records(network, asked, loads=[0.9])
    assert least <= row["accepted_load"] <= most


def test_injection_ports_are_as_many_as_fit_beside_the_channels():
    for network, ports in (("xgft(down=[32, 32], up=[1, 32])", 31), ("hyperx(radices=[2, 2], terminals=5)", 5)):
        assert set_up(build(network), Parameters(routing="minimal"), skip_proof=True).router.injection_flits == ports
