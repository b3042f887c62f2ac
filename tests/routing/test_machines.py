"""Routings on networks of machines: HyperX in dimension order, Dragonfly and Megafly by group; loads by plain walks."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.monte_carlo import sampled_loads

from tests.records import loads_record
from tests.routing.plain_routes import by_way_of_a_group, shortest_by_group


def channel_loads(topology, routes, demands):
    """Loads by walking: routes(u, v) → [(share, [nodes])], demands {(terminal, terminal): flits}."""
    loads: Counter = Counter()
    for (s, t), flits in demands.items():
        for share, path in routes(int(topology.terminals[s]), int(topology.terminals[t])):
            for hop in pairwise(path):
                loads[hop] += flits * share
    found = np.zeros(topology.ports.shape)
    tail, head, port = topology.arcs
    many = np.ones(topology.ports.shape) if topology.capacity is None else topology.capacity
    for u, v, p in zip(tail.tolist(), head.tolist(), port.tolist()):
        found[u, p] = loads[u, v] / many[u, p]
    assert set(loads) <= set(zip(tail.tolist(), head.tolist())), "a hop without a link"
    return found


def uniform(topology):
    terminals = len(topology.terminals)
    return dict.fromkeys(product(range(terminals), repeat=2), 1 / terminals)


def digit_by_digit(sides, order):
    """The one route that corrects a digit a hop."""

    def routes(u, v):
        path = [u]
        for i in order:
            stride = int(np.prod(sides[:i], dtype=int))
            here = path[-1]
            there = here + (v // stride % sides[i] - here // stride % sides[i]) * stride
            if there != here:
                path.append(there)
        return [(1.0, path)]

    return routes


@pytest.mark.parametrize("sides", [[4], [4, 3], [2, 3, 2], [5, 4]])
@pytest.mark.parametrize("routing", ["dimension_order", "reverse_order"])
def test_a_hyperx_is_crossed_digit_by_digit(sides, routing):
    topology = build(f"hyperx(radices={sides}, terminals=2)")
    order = range(len(sides)) if routing == "dimension_order" else reversed(range(len(sides)))
    expected = channel_loads(topology, digit_by_digit(sides, list(order)), uniform(topology))
    assert np.allclose(exact_loads(topology, routing=routing).load, expected, rtol=1e-12)


@pytest.mark.parametrize(("side", "dimensions", "terminals"), [(4, 2, 4), (3, 3, 2), (8, 2, 3)])
def test_a_hyperx_saturates_where_its_paper_says(side, dimensions, terminals):
    """S/T under uniform traffic, after L (1 − 1/S) hops on average (Ahn et al. 2009)."""
    topology = build(f"hyperx(radices={[side] * dimensions}, terminals={terminals})")
    record = loads_record(topology, routing="dimension_order")
    assert record["max_channel_load"] == pytest.approx(terminals / side, rel=1e-12)
    assert record["mean_hops"] == pytest.approx(dimensions * (1 - 1 / side), rel=1e-12)


def test_a_wide_hyperx_divides_its_load():
    narrow, wide = (build(f"hyperx(radices=[4, 3], widths={w}, terminals=2)") for w in ([1, 1], [2, 1]))
    loads = [exact_loads(topology, routing="dimension_order") for topology in (narrow, wide)]
    along_x = narrow.link_class == 0
    assert np.allclose(loads[1].load[along_x] * 2, loads[0].load[along_x])
    assert np.allclose(loads[1].load[~along_x], loads[0].load[~along_x])


def test_dimension_order_on_a_hyperx_needs_one_virtual_channel():
    record = deadlock_record(
        build("hyperx(radices=[4, 3, 2], terminals=2)"), routing="dimension_order", vc_rule="none", virtual_channels=1
    )
    assert (record["acyclic"], record["deadlock_free"]) == (True, "yes")
    minimal = deadlock_record(build("hyperx(radices=[3, 3])"), routing="minimal", vc_rule="none", virtual_channels=1)
    assert not minimal["acyclic"]


GROUPS = [
    ("dragonfly(a=4, p=2, h=2)", 4),
    ("dragonfly(a=4, p=1, h=2, groups=5)", 4),
    ("dragonfly(a=3, p=1, h=2, arrangement=consecutive)", 3),
    ("dragonfly(a=6, p=1, h=1, local=[3, 2])", 6),
    ("megafly(leaves=2, spines=2, p=2, h=2)", 4),
]


@pytest.mark.parametrize(("spelling", "size"), GROUPS, ids=[spelling for spelling, _ in GROUPS])
def test_by_group_takes_the_shortest_paths_with_one_hop_between_groups(spelling, size):
    topology = build(spelling)
    expected = channel_loads(topology, shortest_by_group(topology, size), uniform(topology))
    found = exact_loads(topology, routing="by_group")
    assert np.allclose(found.load, expected, rtol=1e-10)
    packets = 100_000
    sampled = sampled_loads(topology, routing="by_group", packets=packets)
    deviation = np.sqrt(expected.max() * len(topology.terminals) / packets)  # of a channel's count, which is binomial
    assert np.abs(sampled.load - expected).max() < 6 * deviation


@pytest.mark.parametrize(
    ("spelling", "size"), [*GROUPS, ("dragonfly(a=2, p=1, h=1, groups=2)", 2)], ids=lambda value: str(value)
)
def test_valiant_by_group_goes_by_way_of_every_other_group(spelling, size):
    topology = build(spelling)
    routes = by_way_of_a_group(topology, size)
    found = exact_loads(topology, routing="valiant_by_group")
    assert np.allclose(found.load, channel_loads(topology, routes, uniform(topology)), rtol=1e-10)
    packets = 100_000
    sampled = sampled_loads(topology, routing="valiant_by_group", packets=packets)
    deviation = np.sqrt(found.load.max() * len(topology.terminals) / packets)
    assert np.abs(sampled.load - found.load).max() < 6 * deviation


@pytest.mark.parametrize("arrangement", ["palm_tree", "consecutive"])
@pytest.mark.parametrize(
    ("a", "p", "h", "shift"), [(4, 2, 2, 1), (4, 2, 2, 2), (6, 3, 3, 2), (6, 1, 2, 1), (8, 4, 4, 4)]
)
def test_valiant_by_group_saturates_near_a_half_unless_local_links_do(arrangement, a, p, h, shift):
    """Closed forms of docs/machines.md, in flits per cycle per terminal's load, with g − 2 = a h − 1 groups between.

    A global link carries what one group sends by way of another one, and what a third one receives: 2 a p / (a h − 1).
    In a group between, shift of the h groups behind a router's links have their destinations behind those of the next
    router, whose local link carries a p / (a h − 1) for each; and p h / (a h − 1) each of packets that leave and that
    arrive. Balanced and with shift 1, both are 2 a h / (a h − 1): saturation is 1/2 − 1/(2 a h).
    """
    topology = build(f"dragonfly(a={a}, p={p}, h={h}, arrangement={arrangement})")
    load = exact_loads(topology, routing="valiant_by_group", traffic=f"group_shift(shift={shift})").load
    between = a * h - 1
    assert load[topology.link_class == 1].max() == pytest.approx(2 * a * p / between, rel=1e-12)
    assert load[topology.link_class == 0].max() == pytest.approx((2 * p * h + shift * a * p) / between, rel=1e-12)


@pytest.mark.parametrize(
    ("spelling", "a", "p"),
    [
        ("dragonfly(a=4, p=2, h=2)", 4, 2),
        ("dragonfly(a=8, p=4, h=4)", 8, 4),
        ("dragonfly(a=4, p=2, h=2, arrangement=consecutive)", 4, 2),
        ("dragonfly(a=4, p=2, h=2, arrangement=random)", 4, 2),
    ],
)
def test_all_of_a_group_to_the_next_one_share_a_link(spelling, a, p):
    """Minimal routing saturates at 1/(a p) (Kim et al. 2008, sec. 4.2)."""
    record = loads_record(build(spelling), routing="by_group", traffic="group_shift")
    assert record["saturation_load"] == pytest.approx(1 / (a * p), rel=1e-12)


def test_a_balanced_dragonfly_carries_uniform_traffic():
    """The one link to another group carries what a·p terminals send there: 1/g of it each."""
    h = 4
    topology = build(f"dragonfly(a={2 * h}, p={h}, h={h})")
    groups, ap = 2 * h * h + 1, 2 * h * h
    found = exact_loads(topology, routing="by_group")
    assert np.allclose(found.load[topology.link_class == 1], ap / groups, rtol=1e-9)


def test_a_fat_tree_has_full_capacity_and_needs_one_virtual_channel():
    """Under uniform traffic over all shortest paths no channel is busier than a terminal's own."""
    topology = build("fat_tree(k=4, n=3)")
    record = loads_record(topology, routing="minimal", traffic="uniform")
    assert record["max_channel_load"] <= 1
    deadlock = deadlock_record(topology, routing="minimal", vc_rule="none", virtual_channels=1)
    assert deadlock["deadlock_free"] == "yes"


def test_by_group_refuses_other_networks():
    for routing in ("by_group", "valiant_by_group"):
        with pytest.raises(BadInput, match=rf"^routing {routing} on torus.*: expected a dragonfly or megafly"):
            exact_loads(build("torus(k=4, n=2)"), routing=routing)
    with pytest.raises(Refused, match="pairs of routers with a group between"):
        exact_loads(build("dragonfly(a=12, p=1, h=6)"), routing="valiant_by_group")
    with pytest.raises(BadInput, match="expected a dragonfly or megafly"):
        exact_loads(build("faulty(torus(k=4, n=2), links=1)"), routing="by_group")
    with pytest.raises(BadInput, match="expected a dragonfly or megafly"):
        exact_loads(build("torus(k=4, n=2)"), traffic="group_shift")
    with pytest.raises(BadInput, match="no multiple of 9"):
        exact_loads(build("dragonfly(a=4, p=2, h=2)"), traffic="group_shift(shift=9)")
