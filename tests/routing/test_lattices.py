"""Routing records and routes by relative address, against breadth-first search and loops over displacements."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.families.algebra import box, extend
from torusweep.networks.topology import Topology
from torusweep.routing import SourceRouting, routing

from tests.networks import plain_networks as plain


def routed(spelling: str, network: str) -> SourceRouting:
    found = routing(spelling, build(network))[1]
    assert isinstance(found, SourceRouting)
    return found


def every_pair(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.indices((topology.nodes, topology.nodes), dtype=np.int32).reshape(2, -1)
    return pairs[0], pairs[1]


def hops_of(route: SourceRouting, source: np.ndarray, destination: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Walk every route of the pairs to its destination; return (pair, hops) of each."""
    table = route.routes(route.key(source, destination))
    assert np.allclose(np.add.reduceat(table.weight, table.first[:-1]), 1)
    assert not table.phase.any()
    pair = np.repeat(np.arange(len(source)), np.diff(table.first))
    here = source[pair]
    for direction, hops in zip(table.direction.T, table.hops.T):
        for hop in range(hops.max(initial=0)):
            onwards = hops > hop
            here[onwards] = route.moves.next[here[onwards], direction[onwards]]
            assert (here >= 0).all()
    assert np.array_equal(here, destination[pair])
    return pair, table.hops.sum(axis=1, dtype=np.int64)


SHORTEST = [
    *(("routing_record", f"rtt(a={a})") for a in (2, 3, 4, 7)),
    *(("routing_record", f"{family}(a={a})") for family in ("rt", "pt", "ptt", "pdtt") for a in (3, 4)),
    ("routing_record(tie=positive)", "pdtt(a=4)"),
    ("routing_record", "illiac(k=6)"),
    ("routing_record", "twisted_torus(radices=[4, 3, 5], twists={0: {2: 1}, 2: {1: 4}})"),
    ("routing_record", "torus(radices=[2, 5, 4])"),
    ("routing_record", "torus(radices=[5, 2, 3], directed=true)"),
    ("routing_record", "hypercube(n=6)"),
    ("routing_record", "ring(k=9)"),
    ("minimal_by_address", "pruned_torus(k=4, n=3)"),
    ("minimal_by_address", "pruned_torus(k=2, n=3)"),
    ("minimal_by_address", "pruned_torus(k=3, n=4)"),
    ("minimal_by_address", "partly_pruned_torus(k=4, n=4, intact=2)"),
    ("minimal_by_address", "pruned_t1(k=6)"),
    ("minimal_by_address", "pruned_t2(k=6)"),
    ("minimal_by_address", "directed_torus(k=4, n=3)"),
    ("minimal_by_address", "directed_torus(k=6, n=2)"),
    ("minimal_by_address", "pruned_directed_torus(k=4, n=3)"),
    ("minimal_by_address", "ccc(n=5)"),
    ("minimal_by_address", "hypercube(n=6)"),
    ("minimal_by_address", "torus(radices=[5, 4, 3])"),
    ("minimal_by_address", "torus(radices=[5, 2, 3], directed=true)"),
    ("minimal_by_address", "pdtt(a=3)"),
    ("minimal_by_address", "illiac(k=5)"),
    ("minimal_by_address", "mesh(radices=[4, 3])"),
    ("minimal_by_address", "faulty(torus(k=5, n=2), links=3, seed=1)"),
    ("minimal_by_address", "faulty(torus(k=5, n=2), links=2, seed=0)"),
    ("minimal_by_address", "h3dt(m=3, n=2, levels=2, q=1)"),
]


@pytest.mark.parametrize(("spelling", "network"), SHORTEST)
def test_every_route_arrives_and_is_shortest(spelling, network):
    route = routed(spelling, network)
    source, destination = every_pair(route.topology)
    pair, hops = hops_of(route, source, destination)
    assert np.array_equal(
        hops, plain.distances(route.topology.ports, range(route.topology.nodes))[source[pair], destination[pair]]
    )
    assert route.key(source, destination).max() < route.keys
    assert np.array_equal(route.key(source, destination) // (route.keys // (route.cell.max() + 1)), route.cell[source])


# --- routing records ------------------------------------------------------------------------------------------------


def lattice_matrix(a: int, *twists: int) -> list[list[int]]:
    """Columns (2a, 0, …) and (−twist, …, a, …)."""
    n = len(twists) + 1
    return [[2 * a, *(-t for t in twists)]] + [[0] * j + [a] + [0] * (n - j - 1) for j in range(1, n)]


def records(route: SourceRouting, node: int) -> list[tuple[int, ...]]:
    """Signed hops along every axis of each route from node 0, in order."""
    table = route.routes(route.key(np.zeros(1, np.int32), np.array([node], np.int32)))
    assert len(set(table.weight)) == 1
    assert (table.direction // 2 == np.arange(table.direction.shape[1])).all()
    return [tuple(int(h) * (1 - 2 * int(d % 2)) for d, h in zip(*row)) for row in zip(table.direction, table.hops)]


def shortest_displacements(matrix: list[list[int]], digits: np.ndarray, farthest: int) -> list[set[tuple[int, ...]]]:
    """For each address, the shortest integer vectors equal to it modulo the columns, of entries up to `farthest`."""
    m = np.array(matrix)
    determinant = round(np.linalg.det(m))
    adjugate = np.rint(np.linalg.inv(m) * determinant).astype(np.int64)
    every = np.array(list(product(range(-farthest, farthest + 1), repeat=len(m))))
    length = abs(every).sum(axis=1)
    found = []
    for address in digits:
        equal = (((every - address) @ adjugate.T) % determinant == 0).all(axis=1)
        found.append({tuple(map(int, v)) for v in every[equal & (length == length[equal].min())]})
    return found


@pytest.mark.parametrize(
    ("network", "matrix"),
    [
        *((f"rtt(a={a})", [[2 * a, a], [0, a]]) for a in (3, 4, 6)),  # as in C10
        *((f"ptt(a={a})", lattice_matrix(a, a, 0)) for a in (3, 4)),
        *((f"pdtt(a={a})", lattice_matrix(a, a, a)) for a in (3, 4)),
        ("illiac(k=6)", [[6, 0], [-1, 6]]),
        ("torus(radices=[4, 5, 6])", [[4, 0, 0], [0, 5, 0], [0, 0, 6]]),
        ("lattice(matrix=[[5, 2], [-3, 4]])", [[5, 2], [-3, 4]]),
    ],
)
def test_all_shortest_records_largest_first(network, matrix):
    route = routed("routing_record", network)
    expected = shortest_displacements(matrix, route.topology.addresses(), farthest=7)
    positive = routed("routing_record(tie=positive)", network)
    for node, tied in enumerate(expected):
        assert records(route, node) == sorted(tied, reverse=True)
        assert records(positive, node) == [max(tied)]


def test_records_on_random_lattices():
    draw, tried = random.Random(3), 0
    while tried < 40:
        n = draw.choice((1, 2, 2, 3))
        matrix = [[draw.randint(-5, 5) for _ in range(n)] for _ in range(n)]
        if not 1 < abs(round(np.linalg.det(np.array(matrix)))) <= 60:
            continue
        tried += 1
        route = routed("routing_record", f"lattice(matrix={matrix})")
        topology = route.topology
        shortest = plain.distances(topology.ports, [0])[0]
        expected = shortest_displacements(matrix, topology.addresses(), farthest=int(shortest.max()))
        simple = topology.ports.shape[1] == 2 * n  # no two directions are the same link
        for node, tied in enumerate(expected):
            found = records(route, node)
            assert all(sum(map(abs, record)) == shortest[node] for record in found)
            assert set(found) == tied if simple else set(found) <= tied
            assert len(set(found)) == len(found)


@pytest.mark.parametrize("a", [2, 3, 4, 5, 8, 13])
def test_seven_tiles_of_c10(a):
    """C10, Algorithm 1 and Proposition 12: the shortest displacement is to one of seven tiles."""
    tiles = [(0, 0), (a, a), (-a, -a), (a, -a), (-a, a), (2 * a, 0), (-2 * a, 0)]
    route = routed("routing_record", f"rtt(a={a})")
    box_of = list(product(range(2 * a), range(a)))
    for (x, y), (u, v) in product(box_of[:: max(1, a - 4)], box_of):
        displacements = [(u - x + p, v - y + q) for p, q in tiles]
        least = min(abs(p) + abs(q) for p, q in displacements)
        tied = {(p, q) for p, q in displacements if abs(p) + abs(q) == least}
        key = route.key(np.array(x + 2 * a * y), np.array(u + 2 * a * v))
        known = set(records(route, int(key)))  # one cell: the key is the destination as seen from node 0
        assert tied == known
        assert route.routes(np.array([key])).hops[0].sum() == least


def test_records_on_a_torus_are_dimension_order():
    for tie in ("split", "positive"):
        for network in ("torus(radices=[4, 6, 3])", "hypercube(n=4)"):
            keys = np.arange(build(network).nodes)
            record, order = (
                routed(f"{name}(tie={tie})", network).routes(keys) for name in ("routing_record", "dimension_order")
            )
            assert np.array_equal(record.first, order.first)
            for key in keys:
                rows = slice(record.first[key], record.first[key + 1])
                taken = [table.direction[rows] * (table.hops[rows] > 0) for table in (record, order)]
                assert sorted(zip(taken[0].tolist(), record.hops[rows].tolist())) == sorted(
                    zip(taken[1].tolist(), order.hops[rows].tolist())
                )


# --- by relative address --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("network", "arcs", "sides"),
    [
        ("pruned_torus(k=4, n=3)", lambda: plain.pruned(4, 3), (4,) * 3),
        ("pruned_torus(k=3, n=4)", lambda: plain.pruned(3, 4), (3,) * 4),
        ("pruned_t2(k=4)", lambda: plain.t2(4), (4,) * 3),
        ("directed_torus(k=4, n=3)", lambda: plain.directed(4, 3), (4,) * 3),
        ("directed_torus(k=4, n=2)", lambda: plain.directed(4, 2), (4,) * 2),
        ("pruned_directed_torus(k=4, n=3)", lambda: plain.pruned_directed(4, 3), (4,) * 3),
        ("ccc(n=3)", lambda: plain.ccc(3), (3, 2, 2, 2)),
        ("mesh(radices=[4, 3])", lambda: plain.torus(4, 3, wrap=False), (4, 3)),
        ("torus(radices=[4, 3])", lambda: plain.torus(4, 3), (4, 3)),
    ],
)
def test_cells_and_first_routes_by_plain_loops(network, arcs, sides):
    """Translations that preserve all arcs map cells onto themselves; of all shortest routes the first is taken."""
    route, known = routed("minimal_by_address", network), set(arcs())
    nodes = [tuple(map(int, digits)) for digits in route.topology.addresses()]
    number = {address: node for node, address in enumerate(nodes)}

    def moved(address, by, sign=1):
        return tuple((a + sign * b) % side for a, b, side in zip(address, by, sides))

    translation_lattice = [by for by in nodes if all((moved(u, by), moved(v, by)) in known for u, v in known)]
    assert route.cell.max() + 1 == len(nodes) // len(translation_lattice)
    assert all(route.cell[number[moved(a, by)]] == route.cell[number[a]] for a in nodes for by in translation_lattice)

    steps = [tuple(sign * (i == axis) for i in range(len(sides))) for axis in range(len(sides)) for sign in (1, -1)]
    for source in nodes if len(nodes) <= 24 else random.Random(1).sample(nodes, 12):
        first, layer = {source: ()}, [source]
        while layer:
            grown: dict = {}
            for address, (d, step) in product(layer, enumerate(steps)):
                there = moved(address, step)
                if (address, there) in known and there not in first:
                    grown[there] = min(grown.get(there, (99,)), (*first[address], d))
            first |= grown
            layer = list(grown)
        keys = route.key(np.array([number[source]]), np.array([number[address] for address in first]))
        table = route.routes(keys)
        assert np.array_equal(table.first, np.arange(len(first) + 1))
        for path, direction, hops in zip(first.values(), table.direction, table.hops):
            assert tuple(np.repeat(direction, hops)) == path
            runs = direction[hops > 0]
            assert (runs[1:] != runs[:-1]).all()


def test_routes_of_cube_connected_cycles():
    route = routed("minimal_by_address", "ccc(n=9)")
    assert route.keys == 9 * 4608
    assert route.regular
    assert route.routes(np.arange(route.keys)).hops.sum(axis=1).max() == 20  # CCC in R05


def test_a_lattice_extended_by_a_vector():
    draw = random.Random(5)
    for _ in range(60):
        sides = [draw.randint(1, 6) for _ in range(draw.randint(1, 3))]
        vectors = [[draw.randint(-7, 7) for _ in sides] for _ in range(2)]
        found = box(sides)
        reached = {(0,) * len(sides)}
        for vector in vectors:
            found = extend(found, vector)
            reached = {
                tuple((a + t * b) % side for a, b, side in zip(at, vector, sides)) for at in reached for t in range(60)
            }
        inside = {at for at in product(*map(range, sides)) if not any(found.residue(at))}
        assert inside == reached
        assert np.prod(found.sides) * len(reached) == np.prod(sides)


TWISTED = [
    "rtt(a=4)",
    "pod_slice(shape=[4, 4, 8], twisted=true)",
    "hexagonal_torus(a=3, b=2)",
    "faulty(rtt(a=4), links=1)",
]


@pytest.mark.parametrize("lattice", TWISTED)
def test_what_dimension_order_names_in_its_place_is_taken(lattice):
    assert routing("routing_record", build(lattice))[0] == "routing_record"


@pytest.mark.parametrize(
    ("spelling", "network", "says"),
    [
        (
            "routing_record",
            "mesh(k=4, n=2)",
            "expected a torus, twisted torus or lattice with all its links, got another network; choose minimal",
        ),
        ("routing_record", "faulty(mesh(k=4, n=2), links=1)", "with all its links"),
        *(("dimension_order", lattice, "choose routing_record, which suits lattices") for lattice in TWISTED),
        ("dimension_order", "pruned_torus(k=4, n=3)", "choose minimal, which suits every network"),
        ("routing_record", "ring(k=70000)", "at most 32,767 hops apart"),
        ("minimal_by_address", "ring(k=70000)", "at most 32,767 hops apart"),
        (
            "minimal_by_address",
            "pruned_xy(k=4)",
            "expected a network in which every node reaches every other, got one that is not connected",
        ),
        (
            "minimal_by_address",
            "sequin(k=4, s=1, t=1)",
            "expected links that change one digit of the address by ± 1, got others",
        ),
        (
            "minimal_by_address",
            "mesh(k=65, n=2)",
            "at most 16,777,216 relative addresses, got 17,850,625 (4,225 kinds of nodes)",
        ),
    ],
)
def test_unsuitable_networks_are_refused(spelling, network, says):
    with pytest.raises(BadInput) as refusal:
        routed(spelling, network)
    assert says in str(refusal.value)
    assert str(refusal.value).startswith(f"routing {spelling} on ")
    assert "\n" not in str(refusal.value)


# --- Valiant's routing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelling", "network", "half"),
    [
        ("valiant", "torus(k=4, n=2)", "dimension_order"),
        ("valiant", "mesh(k=4, n=2)", "dimension_order"),
        ("valiant", "pdtt(a=3)", "routing_record"),
        ("valiant", "h3dt(m=3, n=2, levels=2, q=1)", "hierarchical"),
        ("valiant", "pruned_t2(k=4)", "minimal_by_address"),
        ("valiant(by=routing_record)", "torus(k=4, n=2)", "routing_record"),
        ("valiant(by=random_order)", "torus(k=4, n=2)", "random_order"),
        ("valiant(by=clustering)", "pruned_torus(k=4, n=3)", "clustering"),
    ],
)
def test_both_halves_use_the_same_routing(spelling, network, half):
    two, one = routed(spelling, network), routed(half, network)
    assert (two.passes, one.passes) == (2, 1)
    assert (two.keys, two.phases) == (one.keys, one.phases)
    source, destination = every_pair(two.topology)
    keys = one.key(source, destination)
    assert np.array_equal(two.key(source, destination), keys)
    for a, b in zip(two.routes(np.unique(keys)), one.routes(np.unique(keys))):
        assert np.array_equal(a, b)


def test_valiant_needs_a_routing_that_suits():
    with pytest.raises(BadInput, match="got one that suits none of them; choose minimal"):
        routed("valiant", "sequin(k=4, s=1, t=1)")
    with pytest.raises(BadInput, match="choose routing_record"):
        routed("valiant(by=dimension_order)", "rtt(a=4)")
