"""Hierarchical routing, against a router in plain loops over addresses and against the numbers of its paper."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.papers.verification import verification_rows
from torusweep.papers.verification.rows import load_expected
from torusweep.questions.static import record
from torusweep.questions.static.columns import STATIC
from torusweep.questions.static.record import routed_distances, static_record
from torusweep.routing import own_routing, routing
from torusweep.routing.forms import Routes, SourceRouting
from torusweep.routing.hierarchical import hierarchical

# --- the oracle: R05 sec. 3, one hop after another ---------------------------------------------------

Address = tuple[int, ...]  # digits, x of the module first
Run = tuple[int, int, int]  # direction, hops, phase


class Network(NamedTuple):
    """side, dimensions: of the module; corners: of a level, each a map from dimension to gate."""

    spelling: str
    side: int
    dimensions: int
    torus: bool
    n: int
    levels: int
    corners: dict[int, list[dict[int, Address]]]


def three_dimensional(family: str, m: int, n: int, levels: int, q: int) -> Network:
    """Gates by R05 sec. 2: z, y and x links in the planes a_z = 0, 1, 2; corners (a_y, a_x) in the order of mh3dt."""
    order = [(0, 0), (0, m - 1), (m - 1, 0), (m - 1, m - 1)]
    corners: dict[int, list[dict[int, Address]]] = {
        level: [{2: (x, y, 0), 1: (x, y, 1), 0: (x, y, 2)} for y, x in order[(level - 2) * 2**q :][: 2**q]]
        for level in range(2, levels + 1)
    }
    return Network(f"{family}(m={m}, n={n}, levels={levels}, q={q})", m, 3, family == "mh3dt", n, levels, corners)


def tesh(levels: int) -> Network:
    """Gates (a_y, a_x): V3 (0, 0), H3 (0, 3), V2 (3, 0), H2 (3, 3)."""
    corners: dict[int, list[dict[int, Address]]] = {3: [{1: (0, 0), 0: (3, 0)}], 2: [{1: (0, 3), 0: (3, 3)}]}
    return Network(
        f"tesh(m=2, levels={levels}, q=0)",
        4,
        2,
        False,
        4,
        levels,
        {level: corners[level] for level in range(2, levels + 1)},
    )


def steps(start: int, end: int, side: int, ring: bool, tie: str) -> list[int]:
    """Ways from one digit to another, as ±hops: one, or two of equal length if ties are split."""
    if not ring or start == end:
        return [end - start]
    up, down = (end - start) % side, (start - end) % side
    if up != down or side == 2:
        return [up if up <= down else -down]
    return {"sign": [up if end > start else -down], "positive": [up], "split": [up, -down]}[tie]


def walks(at: Address, to: Address, net: Network, phase: int, tie: str) -> Iterator[tuple[Run, ...]]:
    """Within a module: the last dimension first."""
    dimensions = list(reversed(range(net.dimensions)))
    for ways in product(*(steps(at[d], to[d], net.side, net.torus, tie) for d in dimensions)):
        yield tuple((2 * d + (way < 0), abs(way), phase) for d, way in zip(dimensions, ways) if way)


def hops_between(at: Address, to: Address, net: Network) -> int:
    return sum(abs(steps(a, b, net.side, net.torus, "positive")[0]) for a, b in zip(at, to))


def routes_between_modules(
    source: Address, destination: Address, net: Network, tie: str
) -> tuple[list[tuple[Run, ...]], Address]:
    """Return (alternatives up to the last link between modules, place in the module after it)."""
    size = net.dimensions
    at, crossed = source[:size], False
    alternatives: list[tuple[Run, ...]] = [()]
    for level in range(net.levels, 1, -1):
        digits = {d: size * (level - 1) + d for d in range(size)}
        needed = [d for d in reversed(range(size)) if source[digits[d]] != destination[digits[d]]]
        if not needed:
            continue
        corner = min(net.corners[level], key=lambda gates: hops_between(at, gates[needed[0]], net))
        for d in needed:
            inside = list(walks(at, corner[d], net, 2 * (net.levels - level) + crossed, tie))
            ways = steps(source[digits[d]], destination[digits[d]], net.n, True, tie)
            links = [(2 * digits[d] + (way < 0), abs(way), 2 * net.levels - 2) for way in ways]
            alternatives = [(*route, *walk, link) for route, walk, link in product(alternatives, inside, links)]
            at, crossed = corner[d], True
    return alternatives, at


def plain_routes(source: Address, destination: Address, net: Network, tie: str) -> list[tuple[Run, ...]]:
    """All alternatives of a route, equally likely."""
    first_part, at = routes_between_modules(source, destination, net, tie)
    return [
        (*route, *walk)
        for route, walk in product(first_part, walks(at, destination[: net.dimensions], net, 2 * net.levels - 1, tie))
    ]


def number(address: Address, net: Network) -> int:
    """x fastest."""
    value, stride = 0, 1
    for digit, side in zip(address, (net.side,) * net.dimensions + (net.n,) * (net.dimensions * (net.levels - 1))):
        value, stride = value + digit * stride, stride * side
    return value


def address(node: int, net: Network) -> Address:
    digits = []
    for side in (net.side,) * net.dimensions + (net.n,) * (net.dimensions * (net.levels - 1)):
        node, digit = divmod(node, side)
        digits.append(digit)
    return tuple(digits)


# --- the tested routing in the terms of the oracle ---------------------------------------------------


@cache
def built(spelling: str) -> Topology:
    return build(spelling)


def our_routes(own: SourceRouting, source: np.ndarray, destination: np.ndarray) -> Routes:
    return own.routes(own.key(source, destination))


def runs_of(routes: Routes, row: int) -> tuple[Run, ...]:
    return tuple(
        (int(d), int(h), int(p)) for d, h, p in zip(routes.direction[row], routes.hops[row], routes.phase[row]) if h
    )


LEVEL_2 = [
    *(three_dimensional(family, 4, 4, 2, q) for family in ("mh3dt", "h3dt") for q in range(3)),
    *(three_dimensional("mh3dt", 3, 3, 2, q) for q in (0, 1)),
    three_dimensional("h3dt", 3, 3, 2, 2),
    three_dimensional("mh3dt", 5, 2, 2, 2),
    tesh(2),
]
HIGHER = [
    tesh(3),
    three_dimensional("mh3dt", 4, 2, 3, 1),
    three_dimensional("h3dt", 4, 2, 3, 1),
    three_dimensional("mh3dt", 3, 3, 3, 1),
    three_dimensional("mh3dt", 3, 2, 4, 0),
    three_dimensional("h3dt", 3, 4, 3, 0),
]


def names(net: Network) -> str:
    return net.spelling


@pytest.mark.parametrize("net", LEVEL_2, ids=names)
def test_all_keys_of_level_2(net: Network) -> None:
    """All pairs of places in the module, with every relative address above it; ± half a ring differ."""
    size = net.dimensions
    places = list(product(*[range(net.side)] * size))
    numbers = np.array([number((*place, *[0] * size), net) for place in places])
    last = {at: np.stack([padded(next(walks(at, to, net, 3, "sign")), size) for to in places]) for at in places}
    digits = [(0, ahead) for ahead in range(net.n)] + [(net.n // 2, 0)] * (net.n % 2 == 0)
    own = hierarchical(built(net.spelling))
    source, destination = np.repeat(numbers, len(places)), np.tile(numbers, len(places))
    for upper in product(digits, repeat=size):
        start, end = zip(*upper)
        ours = our_routes(
            own, source + number((*[0] * size, *start), net), destination + number((*[0] * size, *end), net)
        )
        expected = []
        for place in places:
            (first_part,), at = routes_between_modules((*place, *start), (*place, *end), net, "sign")
            before = np.broadcast_to(padded(first_part, size * (size + 1)), (len(places), size * (size + 1), 3))
            expected.append(np.concatenate([before, last[at]], axis=1))
        found = np.stack([ours.direction, ours.hops, ours.phase], axis=-1)
        assert np.array_equal(packed(found), packed(np.concatenate(expected))), upper


def padded(runs: tuple[Run, ...], length: int) -> np.ndarray:
    return np.array([*runs, *[(0, 0, 0)] * (length - len(runs))]).reshape(length, 3)


def packed(runs: np.ndarray) -> np.ndarray:
    """[routes, run, (direction, hops, phase)] without runs of 0 hops, padded to the longest route."""
    runs = np.take_along_axis(runs, np.argsort(runs[..., 1] == 0, axis=1, kind="stable")[..., None], axis=1)
    runs = np.where(runs[..., 1:2] > 0, runs, 0)
    return runs[:, : int((runs[..., 1] > 0).sum(axis=1).max())]


@pytest.mark.parametrize("tie", ["sign", "positive", "split"])
@pytest.mark.parametrize("net", [*LEVEL_2, *HIGHER], ids=names)
def test_random_pairs(net: Network, tie: str) -> None:
    own = hierarchical(built(net.spelling), tie)  # type: ignore[arg-type]
    source, destination = np.random.default_rng(2).integers(own.topology.nodes, size=(2, 120))
    ours = our_routes(own, source, destination)
    assert ours.first[-1] == len(ours.weight)
    for i, (s, d) in enumerate(zip(source.tolist(), destination.tolist())):
        rows = range(ours.first[i], ours.first[i + 1])
        expected = plain_routes(address(s, net), address(d, net), net, tie)
        assert sorted(runs_of(ours, row) for row in rows) == sorted(expected)
        assert ours.weight[list(rows)] == pytest.approx(1 / len(expected))


@pytest.mark.parametrize("net", [*LEVEL_2, *HIGHER], ids=names)
def test_routes_follow_links_to_the_destination(net: Network) -> None:
    own = hierarchical(built(net.spelling), "split")
    source, destination = np.random.default_rng(3).integers(own.topology.nodes, size=(2, 4000))
    routes = our_routes(own, source, destination)
    at = np.repeat(source, np.diff(routes.first))
    for direction, hops in zip(routes.direction.T, routes.hops.T):
        for hop in range(int(hops.max(initial=0))):
            moving = np.flatnonzero(hops > hop)
            at[moving] = own.moves.next[at[moving], direction[moving]]
            assert (at >= 0).all()
    assert np.array_equal(at, np.repeat(destination, np.diff(routes.first)))
    assert np.add.reduceat(routes.weight, routes.first[:-1]) == pytest.approx(1)
    assert routes.phase.min() >= 0
    assert routes.phase.max() < own.phases


EXAMPLE_NETWORK = three_dimensional("mh3dt", 4, 4, 2, 0)
EXAMPLE = [("123", "211"), ("123", "000"), ("323", "000"), ("323", "100"), ("333", "100"), ("333", "111")]


def test_the_papers_example() -> None:
    """R05 sec. 3: (123)(211), (123)(000), (323)(000), (323)(100), (333)(100), (333)(111); addresses (z y x)(z y x)."""
    nodes = [number((*map(int, reversed(low)), *map(int, reversed(high))), EXAMPLE_NETWORK) for high, low in EXAMPLE]
    own = hierarchical(built(EXAMPLE_NETWORK.spelling))
    routes = our_routes(own, np.array(nodes[:1]), np.array(nodes[-1:]))
    at, met = nodes[0], []
    for direction, hops, phase in runs_of(routes, 0):
        for _ in range(hops):
            at = int(own.moves.next[at, direction])
        met.append((at, phase))
    assert [node for node in nodes[1:-1] if node in dict(met)] == nodes[1:-1]
    assert met[-1] == (nodes[-1], 3)
    assert [phase for _, phase in met] == [0, 0, 0, 2, 1, 2, 3, 3]
    assert routes.hops.sum() == 2 + 1 + 1 + 2 + 1 + 1 + 1 + 1


# --- regularity --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelling", "tie", "regular"),
    [
        # −2 and +2 modulo 4 are two keys, and not every node has both
        ("mh3dt(m=3, n=4, levels=2, q=0)", "sign", False),
        ("mh3dt(m=3, n=4, levels=2, q=0)", "positive", True),
        ("mh3dt(m=3, n=4, levels=2, q=0)", "split", True),
        ("h3dt(m=4, n=3, levels=2, q=1)", "sign", True),
        ("h3dt(m=3, n=2, levels=2, q=2)", "sign", True),  # one link, whatever the sign
        ("tesh(m=2, levels=3, q=0)", "sign", False),
        ("tesh(m=2, levels=3, q=0)", "positive", True),
    ],
)
def test_regularity(spelling: str, tie: str, regular: bool) -> None:
    own = routing(f"hierarchical(tie={tie})", built(spelling))[1]
    assert isinstance(own, SourceRouting)
    assert own.regular is regular
    side = own.cell.max() + 1
    source, destination = np.random.default_rng(4).integers(own.topology.nodes, size=(2, 500))
    key = own.key(source, destination)
    assert key.dtype == np.int64
    assert ((key >= 0) & (key < own.keys)).all()
    assert np.array_equal(key // (own.keys // side), own.cell[source])
    assert np.array_equal(own.key(source[:, None], destination[None, :5])[7], own.key(source[7], destination[:5]))


@pytest.mark.parametrize(
    "spelling",
    ["torus(k=4, n=3)", "faulty(mh3dt(m=3, n=2, levels=2, q=0), links=1)", "faulty(tesh(m=2, levels=2, q=0), nodes=0)"],
)
def test_other_networks_are_refused(spelling: str) -> None:
    with pytest.raises(BadInput, match=r"expected tesh, h3dt or mh3dt with all its links, got .*; choose minimal"):
        hierarchical(build(spelling))
    assert own_routing(build(spelling).family) is None


# --- routed distances --------------------------------------------------------------------------------

R05_TABLE_1 = [  # recomputed from the description in R05: diameter, mean distance (divided by N)
    ("mh3dt(m=4, n=4, levels=2, q=0)", 20, Fraction("10.359375")),
    ("mh3dt(m=4, n=4, levels=2, q=2)", 18, Fraction("9.375")),
    ("h3dt(m=4, n=4, levels=2, q=0)", 25, Fraction("12.73828125")),
    ("h3dt(m=4, n=4, levels=2, q=2)", 21, Fraction("10.76953125")),
]


@pytest.mark.parametrize(("spelling", "diameter", "mean"), R05_TABLE_1)
def test_r05_table_1(spelling: str, diameter: int, mean: Fraction) -> None:
    assert routed_distances(built(spelling), use_symmetry=True) == (diameter, float(mean))


def test_every_routed_number_of_r05_agrees() -> None:
    rows = [row for row in load_expected(["R05"]) if row.quantity.startswith("routed")]
    assert len(rows) == 15
    records = []
    for spelling in {row.topology for row in rows}:
        found = routed_distances(built(spelling), use_symmetry=True)
        assert found is not None
        cost = found.diameter * int(built(spelling).degrees.max())
        values = {"routed_diameter": found.diameter, "routed_mean_distance": found.mean, "routed_cost": cost}
        records.append(
            {**dict.fromkeys(column.name for column in STATIC), "topology": spelling, "terminals": 4096, **values}
        )
    verdicts = {
        (row["topology"], row["quantity"]): row["verdict"] for row in verification_rows({"static": records}, ["R05"])
    }
    assert {verdicts[row.topology, row.quantity] for row in rows} == {"agrees"}


@pytest.mark.parametrize(
    "net", [three_dimensional("mh3dt", 3, 2, 2, 1), three_dimensional("h3dt", 3, 2, 2, 0), tesh(2)], ids=names
)
def test_routed_distances_of_all_pairs(net: Network) -> None:
    nodes = built(net.spelling).nodes
    addresses = [address(node, net) for node in range(nodes)]
    hops = [sum(h for _, h, _ in plain_routes(s, d, net, "sign")[0]) for s, d in product(addresses[::7], addresses)]
    everywhere = routed_distances(built(net.spelling), use_symmetry=False)
    assert everywhere == routed_distances(built(net.spelling), use_symmetry=True)
    own = hierarchical(built(net.spelling))
    ours = our_routes(own, np.repeat(np.arange(0, nodes, 7), nodes), np.tile(np.arange(nodes), len(addresses[::7])))
    assert ours.hops.sum(axis=1).tolist() == hops
    whole = our_routes(own, np.repeat(np.arange(nodes), nodes), np.tile(np.arange(nodes), nodes)).hops.sum(axis=1)
    assert everywhere == (whole.max(), whole.sum() / nodes**2)


def test_routed_distances_in_the_static_record(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = ("routed_diameter", "routed_mean_distance", "routed_cost")
    topology = built("tesh(m=2, levels=2, q=0)")
    diameter, mean, cost = (static_record(topology)[field] for field in fields)
    assert (diameter, mean) == routed_distances(topology, use_symmetry=True)
    assert cost == diameter * topology.degrees.max()
    for other in ("torus(k=4, n=2)", "faulty(tesh(m=2, levels=2, q=0), links=1)"):
        assert [static_record(build(other))[field] for field in fields] == [None] * 3
    monkeypatch.setattr(record, "MAX_PAIRS", 16 * 256 - 1)
    assert routed_distances(topology, use_symmetry=True) is None
    assert routed_distances(topology, use_symmetry=False) is None


@pytest.mark.slow
def test_level_3() -> None:
    """MH3DT(4, 4, 3, 0): by the oracle to the destination's module, for all relative addresses, then within it."""
    net = three_dimensional("mh3dt", 4, 4, 3, 0)
    places = list(product(range(4), repeat=3))
    last = {place: [hops_between(place, to, net) for to in places] for place in places}
    longest, total = 0, 0
    for digits in product(range(4), repeat=6):
        for place in places:
            (first_part, *_), at = routes_between_modules((*place, *[0] * 6), (*place, *digits), net, "positive")
            hops = sum(h for _, h, _ in first_part)
            longest = max(longest, hops + max(last[at]))
            total += hops * len(places) + sum(last[at])
    assert routed_distances(build(net.spelling), use_symmetry=True) == (longest, total / (64 * 64 * 4096))
