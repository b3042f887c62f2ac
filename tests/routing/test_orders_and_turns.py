"""y–x order, ROMM and turn models against loops over addresses that share nothing with the routings."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from math import prod

import numpy as np
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records
from torusweep.routing import canonical, routing
from torusweep.traffic import traffic

Links = dict[tuple[int, int], float]


def digits(node: int, sides: tuple[int, ...]) -> list[int]:
    return [node // prod(sides[:i]) % side for i, side in enumerate(sides)]


def number(address, sides: tuple[int, ...]) -> int:
    return sum(digit * prod(sides[:i]) for i, digit in enumerate(address))


def walk(load: Links, share: float, start: list[int], offsets, sides: tuple[int, ...]) -> list[int]:
    """Add a packet's share to the links of dimension order from `start`; return where it ends."""
    at = list(start)
    for dimension, offset in enumerate(offsets):
        for _ in range(abs(offset)):
            before = number(at, sides)
            at[dimension] = (at[dimension] + (1 if offset > 0 else -1)) % sides[dimension]
            load[before, number(at, sides)] += share
    return at


def offsets_of(source: list[int], destination: list[int], sides: tuple[int, ...], *, ring: bool) -> list[int]:
    """The shortest offsets; rings have odd sides, so that they are unique."""
    found = []
    for a, b, side in zip(source, destination, sides):
        onwards = (b - a) % side
        found.append((onwards if 2 * onwards < side else onwards - side) if ring else b - a)
    return found


def found_links(spelling: str, name: str, pattern: str) -> Links:
    topology = build(spelling)
    load = exact_loads(topology, routing=name, traffic=pattern).load
    links: Links = defaultdict(float)
    for tail, head, port in zip(*topology.arcs):
        links[int(tail), int(head)] += float(load[tail, port])
    return links


def same(found: Links, plain: Links) -> None:
    for link in found.keys() | plain.keys():
        assert found.get(link, 0.0) == pytest.approx(plain.get(link, 0.0), abs=1e-12), link


@pytest.mark.parametrize("pattern", ["uniform", "transpose", "random_permutation(seed=2)"])
@pytest.mark.parametrize(
    ("spelling", "sides", "ring"),
    [("mesh(k=4, n=2)", (4, 4), False), ("torus(k=5, n=2)", (5, 5), True), ("mesh(k=2, n=4)", (2,) * 4, False)],
)
def test_romm_goes_by_every_node_of_the_box_equally(spelling, sides, ring, pattern):
    nodes = prod(sides)
    demand = traffic(pattern, build(spelling))[1].rows(np.arange(nodes))
    plain: Links = defaultdict(float)
    for s, d in product(range(nodes), repeat=2):
        if demand[s, d] == 0:
            continue
        source = digits(s, sides)
        offsets = offsets_of(source, digits(d, sides), sides, ring=ring)
        middles = list(product(*(range(0, o + (1 if o >= 0 else -1), 1 if o >= 0 else -1) for o in offsets)))
        for middle in middles:
            share = demand[s, d] / len(middles)
            there = walk(plain, share, source, middle, sides)
            end = walk(plain, share, there, [o - m for o, m in zip(offsets, middle)], sides)
            assert number(end, sides) == d
    same(found_links(spelling, "romm", pattern), plain)


@pytest.mark.parametrize("spelling", ["mesh(k=4, n=2)", "torus(k=5, n=2)"])
def test_y_x_order_is_x_y_order_of_the_mirrored_network(spelling):
    """Mirror x and y: node (x, y) becomes (y, x); uniform traffic and transpose stay the same."""
    side = build(spelling).plan.radices[0]

    def mirrored(node: int) -> int:
        return node % side * side + node // side

    for pattern in ("uniform", "transpose"):
        straight = found_links(spelling, "dimension_order", pattern)
        same(
            found_links(spelling, "yx", pattern),
            {(mirrored(tail), mirrored(head)): load for (tail, head), load in straight.items()},
        )


# the directions, as (dimension, sign), that a packet takes first
FIRST = {
    ("west_first", 2): {(0, -1)},
    ("north_last", 2): {(0, 1), (0, -1), (1, -1)},
    ("negative_first", 2): {(0, -1), (1, -1)},
    ("west_first", 3): {(0, -1), (1, -1)},
    ("north_last", 3): {(0, 1), (0, -1), (1, -1), (2, -1)},
    ("negative_first", 3): {(0, -1), (1, -1), (2, -1)},
}


def spread(load: Links, share: float, at: list[int], offsets: list[int], first: set, sides: tuple[int, ...]) -> None:
    """One hop of every permitted direction equally, then on; hops of `first` are permitted while any is left."""
    left = [(i, 1 if offset > 0 else -1) for i, offset in enumerate(offsets) if offset]
    early = [direction for direction in left if direction in first]
    # a hop of the others ends the first set: it is permitted only where no hop of the first set is left
    permitted = early or left
    for i, sign in permitted:
        there, rest = list(at), list(offsets)
        there[i] += sign
        rest[i] -= sign
        load[number(at, sides), number(there, sides)] += share / len(permitted)
        spread(load, share / len(permitted), there, rest, first, sides)


@pytest.mark.parametrize(
    ("spelling", "sides"),
    [("mesh(k=4, n=2)", (4, 4)), ("mesh(radices=[3, 2, 3])", (3, 2, 3)), ("hypercube(n=3)", (2,) * 3)],
)
@pytest.mark.parametrize("name", ["west_first", "north_last", "negative_first"])
def test_turn_models_spread_over_permitted_hops(name, spelling, sides):
    nodes = prod(sides)
    plain: Links = defaultdict(float)
    for s, d in product(range(nodes), repeat=2):
        source = digits(s, sides)
        spread(
            plain, 1 / nodes, source, [b - a for a, b in zip(source, digits(d, sides))], FIRST[name, len(sides)], sides
        )
    same(found_links(spelling, name, "uniform"), plain)


@pytest.mark.parametrize(
    ("network", "name", "rule", "channels", "free"),
    [
        *(
            (network, name, "none", 1, True)
            for network in ("mesh(k=4, n=2)", "mesh(radices=[3, 2, 3])", "hypercube(n=4)")
            for name in ("west_first", "north_last", "negative_first")
        ),
        ("mesh(k=4, n=2)", "minimal", "none", 1, False),  # with all turns
        ("mesh(k=4, n=2)", "yx", "none", 1, True),
        ("torus(k=5, n=2)", "yx", "none", 1, False),
        ("torus(k=5, n=2)", "yx", "dateline", 2, True),
        ("mesh(k=4, n=2)", "romm", "none", 2, False),
        ("mesh(k=4, n=2)", "romm", "phases", 2, True),
        ("torus(k=5, n=2)", "romm", "phases", 2, False),
        ("torus(k=5, n=2)", "romm", "phases_dateline", 4, True),
    ],
)
def test_verdicts(network, name, rule, channels, free):
    """Glass & Ni 1992: a turn model needs no virtual channels. Nesson & Johnsson 1995: ROMM needs a class a phase."""
    record = deadlock_record(build(network), routing=name, vc_rule=rule, virtual_channels=channels)
    assert record["acyclic"] is free
    assert (record["deadlock_free"] == "yes") is free


@pytest.mark.parametrize(
    ("network", "name"),
    [("mesh(k=4, n=2)", name) for name in ("yx", "romm", "west-first", "north-last", "negative-first")],
)
def test_simulated_channels_carry_the_exact_loads(network, name):
    """By class, within 4 %, below saturation."""
    network = "mesh(k=4, n=2)"
    parameters = Parameters(
        routing=name, traffic="transpose", packet_flits=2, virtual_channels=2, cycles=20_000, warm_up=1000
    )
    (row,) = simulation_records(build(network), parameters, loads=[0.1], seeds=[1])
    exact = exact_loads(build(network), routing=canonical(name), traffic="transpose").load
    assert not row["saturated"]
    assert row["mean_channel_utilization"] == pytest.approx(0.1 * exact[build(network).ports >= 0].mean(), rel=0.04)
    assert row["max_channel_utilization"] == pytest.approx(0.1 * exact.max(), rel=0.08)


@pytest.mark.parametrize(
    ("network", "name", "message"),
    [
        ("torus(k=4, n=2)", "west_first", "expected a mesh or hypercube, got wraparound links"),
        ("ring(k=6)", "north_last", "2 or more"),
        ("rtt(a=4)", "negative_first", "expected a torus, mesh or hypercube with all its links"),
        ("faulty(torus(k=4, n=2), links=1, seed=1)", "west_first", "got wraparound links"),
        ("ccc(n=3)", "yx", "with all its links"),
        ("rtt(a=4)", "romm", "with all its links"),
    ],
)
def test_networks_that_do_not_suit_are_refused_in_one_line(network, name, message):
    with pytest.raises(BadInput, match=message) as refusal:
        routing(name, build(network))
    assert "\n" not in str(refusal.value)


def test_too_many_routes_are_refused():
    with pytest.raises(Refused, match=r"expected at most 4,194,304 routes, got about .*; choose valiant"):
        routing("romm", build("torus(k=32, n=3)"))
