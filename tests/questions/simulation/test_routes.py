"""The row of every packet leads to its destination, and rows have the probabilities of the routing."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.link_lists import network_of_links
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.simulation.packets import route_words
from torusweep.questions.simulation.routes import routes_of
from torusweep.routing import LayeredRouting, SourceRouting, routing
from torusweep.traffic import GivenTraffic
from torusweep.traffic.matrix import from_pairs

from tests.routing.plain_routes import routes_between

CASES = [
    ("torus(k=4, n=2)", "dimension_order"),
    ("torus(radices=[4, 6])", "random_order"),
    ("rtt(a=4)", "routing_record"),
    ("torus(k=4, n=2)", "valiant"),
    ("mh3dt(m=3, n=2, levels=2, q=0)", "hierarchical"),
    ("pruned_torus(k=4, n=3)", "minimal_by_address"),
    ("torus(k=4, n=2)", "minimal"),
    ("torus(k=4, n=2)", "minimal_ecmp"),
    ("faulty(torus(k=4, n=2), links=3, seed=1)", "up_down"),
]


def draw_routes(spelling: str, name: str, source: np.ndarray, destination: np.ndarray):
    form = routing(name, build(spelling))[1]
    return form, routes_of(
        form, source, destination, lambda purpose: route_words(np.arange(len(source)), purpose, 5, "numba")
    )


def hops_of(form, rows, packet: int, source: int) -> list[tuple[int, int]]:
    """(node, port) of every hop."""
    moves, hops, node = form.moves.port if isinstance(form, SourceRouting) else None, [], source
    for direction, count in zip(rows.direction[rows.row[packet]].tolist(), rows.hops[rows.row[packet]].tolist()):
        for _ in range(count):
            port = direction if moves is None else int(moves[node, direction])
            hops.append((node, port))
            node = int(form.topology.ports[node, port])
    return [*hops, (node, -1)]


@pytest.mark.parametrize(("spelling", "name"), CASES)
def test_routes_lead_to_their_destination(spelling, name):
    nodes = build(spelling).nodes
    source, destination = (np.random.default_rng(1).integers(0, nodes, 400).astype(np.int32) for _ in range(2))
    destination = np.roll(source, 1) if name == "hierarchical" else destination
    form, rows = draw_routes(spelling, name, source, destination)
    for packet in range(len(source)):
        assert hops_of(form, rows, packet, int(source[packet]))[-1] == (destination[packet], -1)


@pytest.mark.parametrize(("spelling", "name"), [case for case in CASES if case[1] not in ("hierarchical", "valiant")])
def test_routes_occur_with_their_shares(spelling, name):
    """One pair, against every route that plain loops find, within 5 standard deviations."""
    packets, topology = 4000, build(spelling)
    ends = (np.full(packets, 0, np.int32), np.full(packets, 10 if topology.nodes < 30 else 26, np.int32))
    form, rows = draw_routes(spelling, name, *ends)
    found = Counter(tuple(hops_of(form, rows, packet, 0)[:-1]) for packet in range(packets))
    shares: Counter = Counter()
    for share, hops in routes_between(form, 0, int(ends[1][0])):
        shares[tuple(hops)] += share
    assert set(found) <= set(shares)
    for hops, share in shares.items():
        assert abs(found[hops] - packets * share) <= 5 * np.sqrt(packets * share * (1 - share)) + 1e-6


def test_valiants_intermediate_nodes_are_uniform():
    packets = 8000
    form, rows = draw_routes("torus(k=4, n=2)", "valiant", np.zeros(packets, np.int32), np.zeros(packets, np.int32))
    assert rows.phase.max() == 1
    assert len(rows.hops) < packets  # equal rows are merged
    half = rows.hops.shape[1] // 2
    first = Counter()
    for packet in range(packets):
        node = 0
        for direction, count in zip(
            rows.direction[rows.row[packet]][:half].tolist(), rows.hops[rows.row[packet]][:half].tolist()
        ):
            for _ in range(count):
                node = int(form.moves.next[node, direction])
        first[node] += 1
    assert all(abs(first[node] - packets / 16) < 5 * np.sqrt(packets / 16) for node in range(16))


def test_a_packet_without_a_path_is_refused():
    form = routing("minimal", build("pruned_xy(k=4)"))[1]
    assert isinstance(form, LayeredRouting)
    ends = np.zeros(64, np.int32), np.arange(64, dtype=np.int32)
    with pytest.raises(BadInput, match="no path to their destination"):
        routes_of(form, *ends, lambda purpose: route_words(np.arange(64), purpose, 5, "numba"))


@pytest.mark.parametrize(
    ("name", "over"), [("minimal", Fraction(3, 5)), ("minimal_ecmp", Fraction(3, 4)), ("up_down", None)]
)
def test_parallel_links_are_routes_of_their_own(name: str, over: Fraction | None):
    """0 to 3 over 1, by three links and one, or over 2, by one and two: as the exact loads of the routing say."""
    links = [(0, 1)] * 3 + [(1, 3), (0, 2)] + [(2, 3)] * 2
    topology = network_of_links(np.array(links, np.int32), 4, directed=False)
    form = routing(name, topology)[1]
    count = 20_000
    source, destination = np.zeros(count, np.int32), np.full(count, 3, np.int32)
    rows = routes_of(form, source, destination, lambda purpose: route_words(np.arange(count), purpose, 5, "numba"))
    found = np.mean(rows.direction[rows.row, 0] == 0)  # port 0 leads to 1
    demand = np.zeros((4, 4))
    demand[0, 3] = 1
    loads = exact_loads(topology, routing=name, traffic=GivenTraffic("pair", from_pairs(csr_array(demand))))
    expected = float(loads.load[0, 0] * 3 / 4)  # of the four terminals' flits
    assert over is None or expected == pytest.approx(float(over))
    assert found == pytest.approx(expected, abs=5 * 0.5 / np.sqrt(count))
