"""Schedules in the simulator: as long as the loads of the links say, at large messages."""

from __future__ import annotations

import pytest
from torusweep.collectives.algorithms import schedule_of
from torusweep.collectives.cost import cost_of
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions.collectives.compared import simulated

# network, operation, algorithm, flits of a unit; all messages go to neighbours
LARGE = [
    ("ring(k=8)", "all_gather", "one_way_ring", 1024),
    ("ring(k=8)", "all_reduce", "ring", 1024),
    ("torus(k=4, n=2)", "all_gather", "rings", 1024),
    ("torus(k=4, n=2)", "reduce_scatter", "bucket", 1024),
    ("torus(k=4, n=2)", "all_reduce", "by_dimension", 512),
    ("torus(k=4, n=2)", "all_gather", "trees", 4096),
    ("pdtt(a=2)", "all_gather", "bucket", 512),
    ("mesh(k=4, n=2)", "all_gather", "by_dimension", 512),
    ("mesh(k=3, n=2)", "all_reduce", "trees", 4096),
    ("hypercube(n=4)", "all_gather", "halving_doubling", 512),
    ("faulty(torus(k=4, n=2), links=1, seed=1)", "all_reduce", "trees", 6144),
]


@pytest.mark.parametrize(("network", "operation", "algorithm", "flits"), LARGE)
def test_bandwidth_decides_at_large_messages(network, operation, algorithm, flits):
    topology = build(network)
    schedule = schedule_of(topology, operation, algorithm)
    found = simulated(topology, schedule, flits)
    assert found.size == schedule.units * flits
    assert abs(found.difference(cost_of(topology, schedule).cycles)) < 0.05


def test_small_messages_take_their_latency():
    """Eight flits a step over a ring of four: three steps of a lone packet's latency and its flits."""
    topology = build("ring(k=4)")
    schedule = schedule_of(topology, "all_gather", "one_way_ring")
    found = simulated(topology, schedule, 8)
    lone = 2 * 3 + 1 + 7  # two routers of three cycles, a channel, the flits behind the head
    assert found.cycles >= 3 * lone
    assert found.cycles <= 3 * (lone + 2) + 1


@pytest.mark.parametrize("latency", [2, 40, 400])
def test_long_links_cost_their_latency_once_a_step(latency):
    """Messages to neighbours: buffers cover the round trip, so that only the first flit of a step waits longer."""
    takes = {
        name: simulated(build(name), schedule_of(build(name), "all_reduce", "ring"), 512)
        for name in ("ring(k=4)", f"with_links(ring(k=4), latencies=[{latency}])")
    }
    short, long = (found.cycles for found in takes.values())
    assert long - short == 6 * (latency - 1)


def test_too_many_flits_are_refused():
    topology = build("torus(k=8, n=2)")
    with pytest.raises(Refused, match="choose fewer"):
        simulated(topology, schedule_of(topology, "all_gather", "rings"), 10**6)


def test_a_network_without_a_safe_routing_is_refused():
    topology = build("directed_torus(k=4, n=2)")
    with pytest.raises(BadInput, match="free of deadlock with 4 virtual channels, got none; leave the simulation out"):
        simulated(topology, schedule_of(topology, "all_gather", "one_way_ring"), 64)
