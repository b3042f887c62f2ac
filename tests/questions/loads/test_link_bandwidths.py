"""Loads of channels with unequal bandwidths: walked routes, closed forms, and parallel links that carry as much."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from torusweep.capacity import capacity
from torusweep.networks.families import build
from torusweep.questions.loads.bounds import bounds_of, representative_channels
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.monte_carlo import sampled_loads
from torusweep.routing import routing

from tests.records import loads_record
from tests.routing.plain_routes import routes_between

WIDE = {
    "torus(radices=[4, 3])": (2.0, 0.5),
    "hyperx(radices=[3, 2], widths=[1, 3], terminals=2)": (1.0, 25 / 12),
    "mesh(k=3, n=2)": (1.0, 4.0),
    "ccc(n=3)": (0.25, 3.0),
    "rtt(a=2)": (1.0, 2.0),
    "dragonfly(a=6, p=2, h=1, groups=3, local=[3, 2])": (1.0, 25 / 28, 3.0),  # as in a Cray XC
}
ROUTED = [
    *(("torus(radices=[4, 3])", name) for name in ("dimension_order", "minimal", "minimal_ecmp", "valiant", "up_down")),
    *(("hyperx(radices=[3, 2], widths=[1, 3], terminals=2)", name) for name in ("minimal", "dimension_order")),
    ("mesh(k=3, n=2)", "dimension_order"),
    ("ccc(n=3)", "minimal"),
    ("dragonfly(a=6, p=2, h=1, groups=3, local=[3, 2])", "by_group"),
    ("rtt(a=2)", "routing_record"),
]


def spelled(network: str) -> str:
    widths = ", ".join(f'"{Fraction(number).limit_denominator(100)}"' for number in WIDE[network])
    return f"with_links({network}, bandwidths=[{widths}], latencies=[{', '.join('258'[: len(WIDE[network])])}])"


def plain_loads(topology, form, network):
    """Loads of uniform traffic: every route of every pair, walked; flits over parallel links and their bandwidth."""
    terminals = topology.terminals.tolist()
    flits = np.zeros(topology.ports.shape)
    for source in terminals:
        for destination in terminals:
            for share, hops in routes_between(form, source, destination):
                for node, port in hops:
                    flits[node, port] += share / len(terminals)
    for node, port in np.argwhere(topology.ports >= 0).tolist():
        parallel = 1 if topology.capacity is None else topology.capacity[node, port]
        flits[node, port] /= parallel * WIDE[network][topology.link_class[node, port]]
    return flits


@pytest.mark.parametrize(("network", "name"), ROUTED)
def test_loads_against_walked_routes(network, name):
    topology = build(spelled(network))
    form = routing(name, build(network))[1]  # routes are those of the network with any links
    found = exact_loads(topology, routing=name)
    expected = plain_loads(topology, form, network)
    np.testing.assert_allclose(found.load, expected, rtol=1e-12)
    np.testing.assert_allclose(exact_loads(topology, routing=name, use_symmetry=False).load, expected, rtol=1e-12)
    packets = 200_000
    sampled = sampled_loads(topology, routing=name, packets=packets)
    narrow = min(WIDE[network])
    deviation = np.sqrt(expected.max() / narrow * len(topology.terminals) / packets)
    assert np.abs(sampled.load - expected).max() < 6 * deviation
    assert sampled.estimate.stderr < 2 * deviation


@pytest.mark.parametrize(("network", "name"), ROUTED)
def test_representative_channels_are_of_every_kind(network, name):
    topology = build(spelled(network))
    form = routing(name, topology)[1]
    channels = representative_channels(form)
    assert set(topology.kinds.ravel()[channels]) == set(np.unique(topology.kinds[topology.ports >= 0]))


def test_global_links_of_twice_the_bandwidth_double_the_worst_case_of_a_dragonfly():
    """Minimal routing saturates at 1/(a p) with links of one flit a cycle (Kim et al. 2008, sec. 4.2)."""
    for width in (1, 2, 0.5):
        network = f"with_links(dragonfly(a=4, p=2, h=2), bandwidths=[1, {width}])"
        record = loads_record(build(network), routing="by_group", traffic="group_shift")
        assert record["saturation_load"] == pytest.approx(width / (4 * 2), rel=1e-12)
        assert record["per_class_hops"]["global"] == pytest.approx(1, rel=1e-12)


def test_all_links_of_a_bandwidth_divide_all_loads():
    plain = loads_record(build("torus(k=4, n=3)"))
    double = loads_record(build("with_links(torus(k=4, n=3), bandwidths=[2])"))
    assert double["max_channel_load"] == plain["max_channel_load"] / 2
    assert double["saturation_load"] == plain["saturation_load"] * 2
    for name in ("mean_hops", "per_class_hops", "stretch", "ejection_load"):
        assert double[name] == plain[name]


def test_a_bandwidth_does_not_change_which_way_packets_take():
    """Two parallel links carry twice the share of one under equal-cost next hops; one link of two flits does not."""
    how = {"routing": "minimal_ecmp", "traffic": "hot_spot(node=0, percent=100)"}
    parallel = exact_loads(build("hyperx(radices=[2, 2], widths=[3, 1])"), **how)
    wide_links = build("with_links(hyperx(radices=[2, 2]), bandwidths=[3, 1])")
    plain = exact_loads(build("hyperx(radices=[2, 2])"), **how)
    found = exact_loads(wide_links, **how)
    np.testing.assert_allclose(found.load * wide_links.bandwidth, plain.load, rtol=1e-12)
    assert not np.allclose(found.load, parallel.load)


@pytest.mark.parametrize("traffic", ["uniform", "random_permutation(seed=3)"])
@pytest.mark.parametrize("widths", [(2, 1), (1, 3)])
def test_capacity_of_any_routing_is_that_of_as_many_parallel_links(widths, traffic):
    """A routing that splits freely sees no difference between a link of two flits and two links of one."""
    wide_links = build(f"with_links(hyperx(radices=[3, 2]), bandwidths=[{widths[0]}, {widths[1]}])")
    parallel = build(f"hyperx(radices=[3, 2], widths=[{widths[0]}, {widths[1]}])")
    for routes in ("all", "minimal"):
        found, expected = (capacity(network, traffic, routes=routes) for network in (wide_links, parallel))
        assert found.throughput == pytest.approx(expected.throughput, rel=1e-6)
    half = build(f"with_links(hyperx(radices=[3, 2]), bandwidths=[{widths[0] / 4}, {widths[1] / 4}])")
    assert capacity(half, traffic, routes="minimal").throughput == pytest.approx(expected.throughput / 4, rel=1e-6)


def test_capacity_of_a_torus_with_a_slow_dimension():
    """Uniform traffic of a k-ary torus: k/8 a channel with minimal routes; a quarter of the bandwidth, four times."""
    network = build("with_links(torus(k=4, n=2), bandwidths=[1, 0.25])")
    assert capacity(network, "uniform", routes="minimal").throughput == pytest.approx(8 / 4 / 4, rel=1e-6)


def test_worst_permutation_and_cut_of_unequal_links():
    """Dimension order on a ring: the worst permutation loads a link with the same flits, whatever it carries."""
    plain, double = (build(name) for name in ("ring(k=6)", "with_links(ring(k=6), bandwidths=[2])"))
    few, many = (bounds_of(exact_loads(network, routing="dimension_order")) for network in (plain, double))
    assert many.worst_case_saturation_load == pytest.approx(2 * few.worst_case_saturation_load, rel=1e-12)
    assert many.cut_links == few.cut_links  # links are counted, not flits
    assert many.effective_cut_links == pytest.approx(few.effective_cut_links, rel=1e-12)
