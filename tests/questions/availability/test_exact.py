"""Every combination of failures on small networks, against networkx and closed forms."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, prod
from typing import Any

import networkx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.availability.record import availability_rows
from torusweep.questions.availability.request import AvailabilityRequest, measures_of
from torusweep.questions.how import How
from torusweep.questions.static.record import static_record

from tests.collectives.test_best_known import narrowest_partition
from tests.questions.availability import oracle
from tests.records import loads_record

CHEAP = "connectivity, distances"


def rows_of(spelling: str, fails: str, amount: int | float, measures: str = CHEAP, **more: Any) -> dict[str, Any]:
    """The rows of a request, by measure."""
    count, probability = (amount, None) if isinstance(amount, int) else (None, amount)
    request = AvailabilityRequest(fails, count, probability, **{"measures": measures, "draws": 5000, **more})
    return {row["measure"]: row for row in availability_rows(build(spelling), request, How(threads=1))}


def expect_all(rows: dict[str, Any], found: list[oracle.After]) -> None:
    """The means, quantiles and worst values of all combinations, whose numbers are rounded once."""
    joined = [one for one in found if one.connected]
    assert {(row["draws"], row["interval"]) for row in rows.values() if row["mean"] is not None} == {
        (len(found), "exact")
    }
    values = {
        "connected": [Fraction(one.connected) for one in found],
        "largest_component": [one.largest for one in found],
        "diameter": [Fraction(one.diameter) for one in joined],
        "mean_distance": [one.mean for one in joined],
    }
    for measure, of_draws in values.items():
        row = rows[measure]
        assert row["measured"] == len(of_draws)
        if not of_draws:
            assert row["mean"] is None
            continue
        ordered = sorted(of_draws)
        assert row["mean"] == pytest.approx(float(sum(ordered) / len(ordered)), rel=1e-15)
        for name, share in (("q05", Fraction(5, 100)), ("q50", Fraction(1, 2)), ("q95", Fraction(95, 100))):
            place = max(1, -(-share.numerator * len(ordered) // share.denominator))
            assert row[name] == float(ordered[place - 1])
        worst = ordered[-1] if measure in ("diameter", "mean_distance") else ordered[0]
        assert row["worst"] == float(worst)
        assert (row["mean_low"], row["standard_error"], row["q95_high"], row["seed"]) == (None,) * 4


LINK_CASES = [
    ("ring(k=6)", 1),
    ("ring(k=6)", 2),
    ("torus(k=3, n=2)", 2),
    ("torus(radices=[4, 3])", 1),
    ("hypercube(n=3)", 2),
    ("hypercube(n=3)", 3),
    ("mesh(k=3, n=2)", 2),
    ("kautz(d=2, k=2)", 2),
    ("fat_tree(k=2, n=2)", 2),
    ("dragonfly(a=2, p=2, h=1)", 2),
    ("faulty(torus(k=3, n=2), nodes=1)", 1),
]


@pytest.mark.parametrize(("spelling", "count"), LINK_CASES)
def test_every_combination_of_links(spelling: str, count: int):
    expect_all(rows_of(spelling, "links", count), oracle.links_failed(spelling, count))


@pytest.mark.parametrize(
    ("spelling", "count"),
    [("ring(k=6)", 1), ("ring(k=6)", 2), ("hypercube(n=3)", 3), ("fat_tree(k=2, n=2)", 2), ("kautz(d=2, k=2)", 1)],
)
def test_every_combination_of_routers(spelling: str, count: int):
    expect_all(rows_of(spelling, "routers", count), oracle.nodes_failed(spelling, count))


def cubes_of(sides: tuple[int, ...]) -> list[list[int]]:
    """The nodes of each block of 4 along each axis, x first."""
    digits = [tuple(reversed(one)) for one in product(*(range(side) for side in reversed(sides)))]
    blocks: dict[tuple[int, ...], list[int]] = {}
    for node, place in enumerate(digits):
        blocks.setdefault(tuple(digit // 4 for digit in place)[::-1], []).append(node)
    return [blocks[key] for key in sorted(blocks)]


@pytest.mark.parametrize(
    ("spelling", "blocks", "count"),
    [
        ("torus(radices=[8, 12])", cubes_of((8, 12)), 2),
        ("slice(radices=[4, 8], wrap=[false, true])", cubes_of((4, 8)), 1),
        ("with_links(mesh(radices=[4, 8]), latencies=[1, 7])", cubes_of((4, 8)), 1),
        (
            "cube_pod(x=[1, 2, 0], y=[0, 1, 2], z=[2, 0, 1], side=3)",
            [list(range(27 * cube, 27 * cube + 27)) for cube in range(3)],
            1,
        ),
        (
            "with_links(cube_pod(x=[1, 0], y=[1, 0], z=[1, 0], side=3), latencies=[3])",
            [list(range(27)), list(range(27, 54))],
            1,
        ),
    ],
)
def test_a_failed_cube_is_all_its_nodes(spelling: str, blocks: list[list[int]], count: int):
    rows = rows_of(spelling, "cubes", count)
    assert rows["connected"]["parts"] == len(blocks)
    expect_all(rows, oracle.nodes_failed(spelling, count, blocks))


@pytest.mark.parametrize("k", [3, 8, 13])
def test_a_ring_less_a_link_is_a_line_and_less_two_is_in_parts(k: int):
    rows = rows_of(f"ring(k={k})", "links", 1)
    assert (rows["diameter"]["mean"], rows["diameter"]["worst"]) == (k - 1, k - 1)
    assert rows["mean_distance"]["mean"] == pytest.approx((k * k - 1) / (3 * k), rel=1e-15)
    rows = rows_of(f"ring(k={k})", "links", 2)
    assert rows["connected"]["mean"] == 0
    assert rows["diameter"]["mean"] is None
    assert rows["connected"]["method"] == f"all {comb(k, 2)} combinations"


@pytest.mark.parametrize("n", [3, 4])
def test_fewer_links_than_its_degree_never_disconnect_a_hypercube(n: int):
    for count in range(n):
        assert rows_of(f"hypercube(n={n})", "links", count)["connected"]["worst"] == 1
    rows = rows_of(f"hypercube(n={n})", "links", n, draws=40_000)  # only all links of one node do
    ways = comb(n * 2 ** (n - 1), n)
    assert rows["connected"]["mean"] == pytest.approx(1 - 2**n / ways, rel=1e-15)
    assert rows["largest_component"]["worst"] == (2**n - 1) / 2**n
    assert len(rows["connected"]["worst_parts"]) == 2 * n
    (alone,) = set.intersection(*map(set, np.reshape(rows["connected"]["worst_parts"], (n, 2)).tolist()))
    assert 0 <= alone < 2**n


@pytest.mark.parametrize("probability", [0.1, 0.5])
def test_a_ring_survives_none_or_one_failure(probability: float):
    rows = rows_of("ring(k=9)", "links", probability)
    stays = (1 - probability) ** 9
    one = 9 * probability * (1 - probability) ** 8
    assert rows["connected"]["mean"] == pytest.approx(stays + one, rel=1e-12)
    assert rows["diameter"]["mean"] == pytest.approx((4 * stays + 8 * one) / (stays + one), rel=1e-12)
    assert "by their probabilities" in rows["connected"]["method"]


@pytest.mark.parametrize(("probability", "connected"), [(0.0, 1), (1.0, 0)])
def test_certain_failures_need_one_draw(probability: float, connected: int):
    rows = rows_of("torus(k=4, n=2)", "links", probability)
    assert (rows["connected"]["draws"], rows["connected"]["mean"]) == (1, connected)


def test_a_torus_less_a_link_by_networkx():
    graph = networkx.grid_graph((6, 6), periodic=True)
    graph.remove_edge((0, 0), (0, 1))
    rows = rows_of("torus(k=6, n=2)", "links", 1)
    mean = networkx.average_shortest_path_length(graph) * 35 / 36  # over distinct pairs; ours has a node and itself
    assert rows["mean_distance"]["mean"] == pytest.approx(mean, rel=1e-14)
    assert rows["mean_distance"]["intact"] == 3


def test_all_routers_failed_leave_nothing():
    rows = rows_of("ring(k=4)", "routers", 4)
    assert (rows["connected"]["mean"], rows["largest_component"]["mean"]) == (0, 0)
    assert rows["diameter"]["mean"] is None
    alone = rows_of("ring(k=4)", "routers", 3)
    assert (alone["connected"]["mean"], alone["diameter"]["mean"], alone["mean_distance"]["mean"]) == (1, 0, 0)


def test_parallel_links_fail_one_by_one():
    """Two nodes with three links: two of them leave one, and the third is the last."""
    spelling = "hyperx(radices=[2], widths=[3])"
    assert rows_of(spelling, "links", 2)["connected"]["mean"] == 1
    assert rows_of(spelling, "links", 3)["connected"]["mean"] == 0


# --- measures of each draw -----------------------------------------------------------------------


def uniform_saturation(graph: networkx.Graph, widths: tuple[int, int] = (1, 1)) -> float:
    """1 / the greatest load of a channel, by every shortest path of every pair of nodes.

    widths   flits a cycle of the links within rows of three nodes, and between rows
    """
    load = dict.fromkeys(networkx.DiGraph(graph).edges(), Fraction(0))
    for source, goal in product(graph, graph):
        if source != goal:
            paths = list(networkx.all_shortest_paths(graph, source, goal))
            for path in paths:
                for hop in pairwise(path):
                    load[hop] += Fraction(1, len(paths) * len(graph))
    return float(1 / max(flits / widths[a // 3 != b // 3] for (a, b), flits in load.items()))


def test_links_of_two_bandwidths_saturate_by_what_they_carry():
    graph, _ = oracle.graph_of("torus(k=3, n=2)")
    found = []
    for failed in graph.edges():
        less = graph.copy()
        less.remove_edge(*failed)
        found.append(uniform_saturation(less, (1, 2)))
    row = rows_of("with_links(torus(k=3, n=2), bandwidths=[1, 2])", "links", 1, "saturation")["saturation_load"]
    assert row["mean"] == pytest.approx(sum(found) / len(found), rel=1e-12)
    assert row["worst"] == pytest.approx(min(found), rel=1e-12)


@pytest.mark.parametrize(("spelling", "count"), [("ring(k=5)", 1), ("torus(k=3, n=2)", 1), ("hypercube(n=3)", 2)])
def test_saturation_is_that_of_every_shortest_path(spelling: str, count: int):
    graph, _ = oracle.graph_of(spelling)
    found = []
    for failed in combinations(sorted(graph.edges()), count):
        less = graph.copy()
        less.remove_edges_from(failed)
        if networkx.is_connected(less):
            found.append(uniform_saturation(less))
    row = rows_of(spelling, "links", count, "saturation")["saturation_load"]
    assert row["mean"] == pytest.approx(sum(found) / len(found), rel=1e-12)
    assert row["worst"] == pytest.approx(min(found), rel=1e-12)


@pytest.mark.parametrize(("fails", "count"), [("links", 1), ("routers", 1)])
def test_an_all_reduce_takes_what_the_best_partition_says(fails: str, count: int):
    graph, _ = oracle.graph_of("hypercube(n=3)")
    found = []
    for failed in combinations(sorted(graph.edges() if fails == "links" else graph), count):
        less = graph.copy()
        (less.remove_edges_from if fails == "links" else less.remove_nodes_from)(failed)
        links = [(*ends, 1) for ends in networkx.convert_node_labels_to_integers(less).edges()]
        found.append(float(narrowest_partition(len(less), links)))
    row = rows_of("hypercube(n=3)", fails, count, "all_reduce")["all_reduce"]
    assert row["worst"] == pytest.approx(max(found), rel=1e-12)
    assert row["mean"] == pytest.approx(sum(found) / len(found), rel=1e-12)


def test_draws_that_leave_the_terminals_at_one_router_have_no_all_reduce():
    """Three routers take 4 messages over 6 channels; two of them 2 over 2; one, or none, has no link."""
    row = rows_of("hyperx(radices=[3], terminals=2)", "routers", 0.5, "all_reduce")["all_reduce"]
    assert (row["draws"], row["measured"], row["worst"]) == (8, 4, 1.0)
    assert row["mean"] == pytest.approx((Fraction(2, 3) + 3) / 4)


def test_minimal_rerouting_of_rings_and_trees():
    """A ring of four channels or more, each way, has a circle of dependencies; a line has none."""
    assert rows_of("ring(k=6)", "links", 0, "minimal_rerouting")["virtual_channels"]["mean"] == 2
    assert rows_of("ring(k=6)", "links", 1, "minimal_rerouting")["virtual_channels"]["worst"] == 1
    assert rows_of("fat_tree(k=2, n=3)", "links", 1, "minimal_rerouting")["virtual_channels"]["q50"] == 1


def dependencies_of(graph: networkx.Graph, root: int) -> networkx.DiGraph:
    """Channels that follow each other on up*/down* routes: none goes up after it went down."""
    level = networkx.single_source_shortest_path_length(graph, root)
    rank = {node: place for place, node in enumerate(sorted(graph, key=lambda node: (level[node], node)))}
    channels = networkx.DiGraph()
    for a, b in networkx.DiGraph(graph).edges():
        channels.add_node((a, b))
        for c in graph.neighbors(b):
            if c != a and not (rank[b] > rank[a] and rank[c] < rank[b]):
                channels.add_edge((a, b), (b, c))
    return channels


def test_up_down_routes_connected_survivors_free_of_deadlock():
    """Where the row says yes, the dependencies of up*/down* on the survivors have no cycle, and all pairs a route."""
    row = rows_of("torus(k=3, n=2)", "links", 2, "rerouting")["deadlock_free"]
    graph, _ = oracle.graph_of("torus(k=3, n=2)")
    free = 0
    for failed in combinations(sorted(graph.edges()), 2):
        less = graph.copy()
        less.remove_edges_from(failed)
        if networkx.is_connected(less):
            assert networkx.is_directed_acyclic_graph(dependencies_of(less, 0))
            free += 1
    assert row["mean"] == free / row["draws"]


def test_links_of_one_direction_have_no_up_down():
    row = rows_of("kautz(d=2, k=2)", "links", 1, "rerouting")["deadlock_free"]
    assert (row["mean"], row["method"]) == (None, "not known: links have one direction")


def saturation_by_links(links: list[tuple[int, int]], terminals: dict[int, int]) -> float:
    """1 / the greatest load of a link in one direction: parallel links are paths of their own."""
    graph = networkx.Graph(links)
    number = {pair: links.count(pair) for pair in links} | {pair[::-1]: links.count(pair) for pair in links}
    load = dict.fromkeys(number, Fraction(0))
    all_of = sum(terminals.values())
    for source, goal in product(terminals, terminals):
        if source != goal:
            paths = [list(pairwise(path)) for path in networkx.all_shortest_paths(graph, source, goal)]
            ways = [prod(number[hop] for hop in path) for path in paths]
            for path, way in zip(paths, ways):
                for hop in path:
                    load[hop] += Fraction(way * terminals[source] * terminals[goal], sum(ways) * all_of)
    return float(1 / max(load[hop] / number[hop] for hop in number))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_saturation_with_parallel_links_and_several_terminals(count: int):
    spelling = "hyperx(radices=[2, 3], widths=[2, 1], terminals=2)"
    topology = build(spelling)
    links = [
        (node, int(other))
        for node, row in enumerate(topology.ports)
        for port, other in enumerate(row)
        if node < other
        for _ in range(int(topology.capacity[node, port]))
    ]
    found = []
    for failed in combinations(range(len(links)), count):
        left = [link for place, link in enumerate(links) if place not in failed]
        if networkx.is_connected(networkx.Graph(left)):
            found.append(saturation_by_links(left, dict.fromkeys(range(6), 2)))
    row = rows_of(spelling, "links", count, "saturation")["saturation_load"]
    assert row["measured"] == len(found)
    assert (row["mean"], row["worst"]) == (
        pytest.approx(sum(found) / len(found), rel=1e-12),
        pytest.approx(min(found), rel=1e-12),
    )


@pytest.mark.parametrize("spelling", ["dragonfly(a=4, p=2, h=2)", "fat_tree(k=3, n=2)", "kautz(d=2, k=3)", "ccc(n=3)"])
def test_without_failures_it_is_the_row_of_the_other_tables(spelling: str):
    rows = rows_of(spelling, "links", 0, "distances, saturation")
    assert rows["saturation_load"]["intact"] == pytest.approx(
        loads_record(build(spelling))["saturation_load"], rel=1e-12
    )
    record = static_record(build(spelling))
    assert rows["diameter"]["intact"] == record["diameter"]
    assert rows["mean_distance"]["intact"] == record["mean_distance"]
    for row in rows.values():
        assert row["mean"] == row["worst"] == row["intact"]


# --- what does not fit ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelling", "fails", "count", "says"),
    [
        ("ring(k=4)", "links", 5, "expected at most the 4 links of ring(k=4) to fail, got 5"),
        ("ring(k=4)", "routers", 5, "expected at most the 4 routers of ring(k=4) to fail, got 5"),
        ("lattice(matrix=[[1]])", "links", 1, "expected at most the 0 links"),  # a node without ports
        ("ring(k=4)", "cubes", 1, "cubes of ring(k=4): expected one of cube_pod, torus"),
        ("torus(k=6, n=2)", "cubes", 1, "expected sides that are multiples of 4, got 6 × 6"),
    ],
)
def test_what_cannot_fail_is_refused(spelling: str, fails: str, count: int, says: str):
    with pytest.raises(BadInput) as refused:
        rows_of(spelling, fails, count)
    assert says in str(refused.value)


def test_unknown_measures_are_refused():
    with pytest.raises(BadInput, match=r"unknown measure 'distanses' \(did you mean 'distances'\?\)"):
        measures_of(["distanses"])
    assert measures_of(["saturation", "distances"]) == "distances, saturation"
    assert measures_of(["all"]).endswith("rerouting, minimal_rerouting")
