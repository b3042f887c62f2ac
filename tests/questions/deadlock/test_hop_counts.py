"""Classes of virtual channels by hops done: graphs of every path, walked in plain loops and judged by networkx."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise, permutations

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.networks.link_lists import network_of_links
from torusweep.questions.deadlock import rules
from torusweep.questions.deadlock.dependencies import hops_needed
from torusweep.questions.deadlock.record import deadlock_record, least_rule
from torusweep.questions.deadlock.routing_case import deadlock_case, routing_table
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records
from torusweep.questions.simulation.routes import routes_of
from torusweep.questions.simulation.setup import set_up
from torusweep.routing import GivenRouting, routing
from torusweep.routing.tables.as_table import HOP_BYTES, table_of

from tests.routing.plain_routes import by_way_of_a_group, routes_between, shortest_by_group

NETWORKS = [  # with the routers of a group
    ("dragonfly(a=4, p=2, h=2)", 4),
    ("dragonfly(a=3, p=1, h=1, arrangement=consecutive)", 3),
    ("dragonfly(a=2, p=1, h=2, groups=3)", 2),
    ("dragonfly(a=4, p=1, h=1, local=[2, 2], groups=4)", 4),
    ("megafly(leaves=2, spines=2, p=1, h=1)", 4),
]
ROUTINGS = ("by_group", "valiant_by_group", "ugal", "progressive")


def paths_of(name: str, topology, size: int):
    """routes(u, v): every path that packets may take, as nodes."""
    on, detours = shortest_by_group(topology, size), by_way_of_a_group(topology, size)

    def minimal(u, v):
        return [path for _, path in on(u, v)]

    def valiant(u, v):
        return [path for _, path in detours(u, v)]

    def ugal(u, v):
        return minimal(u, v) + valiant(u, v)

    def progressive(u, v):
        found = ugal(u, v)
        for path in minimal(u, v) if u // size != v // size else ():
            for place, node in enumerate(path):
                if node // size == u // size:
                    found += [path[:place] + rest for rest in valiant(node, v)]
        return found

    return {"by_group": minimal, "valiant_by_group": valiant, "ugal": ugal, "progressive": progressive}[name]


def graph_of(paths, counts) -> nx.DiGraph:
    """The dependencies of packets along paths; `counts(u, v)`: whether the hop is counted."""
    graph = nx.DiGraph()
    for path in paths:
        count, channels = 0, []
        for u, v in pairwise(path):
            channels.append((u, v, count))
            count += counts(u, v)
        graph.add_nodes_from(channels)
        graph.add_edges_from(pairwise(channels))
    return graph


def within(graph: nx.DiGraph, virtual_channels: int) -> nx.DiGraph:
    """The graph where the last virtual channel takes all later counts."""

    def merged(channel):
        return (*channel[:2], min(channel[2], virtual_channels - 1))

    found = nx.DiGraph()
    found.add_nodes_from(map(merged, graph))
    found.add_edges_from((merged(one), merged(other)) for one, other in graph.edges)
    return found


def all_paths(routes, topology) -> list[list[int]]:
    terminals = np.unique(topology.terminals).tolist()
    return [path for u in terminals for v in terminals for path in routes(u, v)]


@pytest.fixture(scope="module", params=NETWORKS, ids=lambda network: network[0])
def network(request):
    spelling, size = request.param
    return build(spelling), size


@pytest.mark.parametrize("name", ROUTINGS)
def test_graphs_are_those_of_every_path(network, name):
    topology, size = network
    row = 2 if "local" in topology.spelling else size
    paths = all_paths(paths_of(name, topology, size), topology)
    rules_and_counts = (
        ("hops", lambda u, v: 1),
        ("class_hops", lambda u, v: u // size != v // size),
        ("class_hops(link_class=0)", lambda u, v: u // row == v // row),
    )
    for rule, counts in rules_and_counts:
        of_counts = graph_of(paths, counts)
        for number in range(1, 8):
            graph = within(of_counts, number)
            found = deadlock_record(topology, routing=name, vc_rule=rule, virtual_channels=number)
            assert found["acyclic"] == nx.is_directed_acyclic_graph(graph), (rule, number)
            assert (found["cycle"] is None) == found["acyclic"]
            if len({channel[2] for channel in graph}) == number:  # otherwise a class has several virtual channels
                assert (found["channels"], found["dependencies"]) == (len(graph), graph.number_of_edges())


# the least virtual channels by which each count is proved on the largest Dragonfly of a=4, h=2; None: no number does
LEAST = {
    ("by_group", "hops"): 2,
    ("by_group", "class_hops"): 2,
    ("valiant_by_group", "hops"): 4,
    ("valiant_by_group", "class_hops"): 3,
    ("ugal", "hops"): 4,
    ("ugal", "class_hops"): 3,
    ("progressive", "hops"): 5,
    ("progressive", "class_hops"): None,
}


@pytest.mark.parametrize(("name", "rule"), LEAST)
def test_verdicts_of_a_dragonfly_with_one_to_seven_virtual_channels(name, rule):
    """With n virtual channels, classes 0 … n − 2 are left for good; those that share the last one decide.

    By hop, the last class of minimal routes (local, global, local) holds a global and a local hop with two, and
    Valiant's (l g l g l) with four; three close a circle of global hops and local hops between them. By global
    hop each class has a local and a global hop. Progressive routes have two local hops before the first global one.
    """
    topology, least = build("dragonfly(a=4, p=2, h=2)"), LEAST[name, rule]
    for number in range(1, 8):
        found = deadlock_record(topology, routing=name, vc_rule=rule, virtual_channels=number)
        free = least is not None and number >= least
        assert (found["acyclic"], found["deadlock_free"] == "yes") == (free, free), number
        of_all = {row: count for row, count in LEAST.items() if row[0] == name and count is not None}
        assert found["least_virtual_channels"] == min(of_all.values())
        assert found["least_rule"] == min(of_all, key=lambda row: (of_all[row], row[1] != "hops"))[1]


@pytest.mark.parametrize(
    ("name", "rule", "number"),
    [
        ("by_group", "none", 1),
        ("valiant_by_group", "hops", 3),
        ("valiant_by_group", "class_hops", 2),
        ("ugal", "hops", 3),
    ],
)
def test_well_known_wrong_counts_deadlock(name, rule, number):
    """One for minimal routes; as many as minimal routes have hops, or classes, for Valiant's and UGAL's."""
    topology = build("dragonfly(a=4, p=2, h=2)")
    found = deadlock_record(topology, routing=name, vc_rule=rule, virtual_channels=number)
    assert found["deadlock_free"] == "no"
    assert len(found["packets"]) == len(found["cycle"])
    routes = paths_of(name, topology, 4)
    hops = [channel.split(" ") for channel in found["cycle"]]
    held = [(int(node), int(to), int(kind.removeprefix("vc"))) for node, _, _, to, kind in hops]
    counts = (lambda u, v: u // 4 != v // 4) if rule == "class_hops" else (lambda u, v: 1)
    for packet, channel, wanted in zip(found["packets"], held, held[1:] + held[:1]):
        source, destination = map(int, packet.split(" → "))
        graph = within(graph_of(routes(source, destination), counts), number)
        assert graph.has_edge(channel, wanted)  # this packet may hold the one and want the other


def test_queues_decide_whether_ugal_takes_the_routes_of_a_cycle():
    found = deadlock_record(build("dragonfly(a=4, p=2, h=2)"), routing="ugal", vc_rule="hops", virtual_channels=3)
    assert "queues can make them choose these routes" in found["argument"]
    assert "3 of the rule's 5 classes: the last one takes all later hops" in found["argument"]


OTHERS = [
    ("dimension_order", "torus(k=4, n=2)"),
    ("valiant", "torus(k=3, n=2)"),
    ("minimal", "mesh(k=3, n=2)"),
    ("minimal", "slim_fly(q=5)"),
    ("minimal", "polarfly(q=3)"),
    ("up_down", "faulty(torus(k=4, n=2), links=3, seed=2)"),
    ("dimension_order", "hyperx(radices=[3, 3], terminals=2)"),
    ("minimal", "hyperx(radices=[3, 3], terminals=2)"),
]


@pytest.mark.parametrize(("name", "spelling"), OTHERS)
def test_hops_are_counted_on_routings_of_every_form(name, spelling):
    topology = build(spelling)
    form = routing(name, topology)[1]

    def routes(u, v):
        ways = [hops for _, hops in routes_between(form, u, v) if hops]
        return [[hops[0][0], *(int(topology.ports[hop]) for hop in hops)] for hops in ways]

    paths = all_paths(routes, topology)
    most = max(map(len, paths)) - 1
    of_hops = graph_of(paths, lambda u, v: 1)
    for number in range(1, most + 2):
        graph = within(of_hops, number)
        found = deadlock_record(topology, routing=name, vc_rule="hops", virtual_channels=number)
        assert found["acyclic"] == nx.is_directed_acyclic_graph(graph)
        if number <= most:
            assert (found["channels"], found["dependencies"]) == (len(graph), graph.number_of_edges())


NEAR_AND_FAR = [
    "slim_fly(q=5)",
    "polarfly(q=5)",
    "hyperx(radices=[4, 4])",
    "full_mesh(radices=[5])",
    "ring(k=5)",
    "hyperx(radices=[3, 3, 3])",
    "ring(k=6)",
    "ring(k=33)",
    "ring(k=34)",
    "torus(k=4, n=2)",
    "torus(radices=[4], directed=true)",
    "torus(radices=[18], directed=true)",
    "xgft(down=[4, 4], up=[1, 4])",
    "fat_tree(k=2, n=3)",
]


@pytest.mark.parametrize("spelling", NEAR_AND_FAR)
def test_rules_by_hop_are_tried_where_hops_are_few(spelling):
    """Shortest paths: at most 16, the virtual channels of a channel. Tables: two, over links in both directions."""
    topology = build(spelling)
    tail, head, _ = topology.arcs
    hops = dict(nx.all_pairs_shortest_path_length(nx.DiGraph(zip(tail.tolist(), head.tolist()))))
    terminals = topology.terminals.tolist()
    furthest = max(hops[source][goal] for source in terminals for goal in terminals)
    form = routing("minimal", topology)[1]
    assert ("hops" in rules.candidate_rules(form)) == (furthest <= 16)
    assert ("hops" in rules.candidate_rules(table_of(form))) == (furthest <= 2 and not topology.directed)


FAR = [
    ("hexagonal_torus(a=3, b=4)", 3),
    ("ring(k=6)", 3),
    ("circulant(n=13, steps=[1, 5])", 2),
    ("hypercube(n=3)", 3),
    ("hyperx(radices=[3, 3, 3])", 3),
    ("torus(k=6, n=2)", 6),
]


@pytest.mark.parametrize(("spelling", "diameter"), FAR)
def test_a_class_for_every_hop_of_a_shortest_path_leaves_no_cycle(spelling, diameter):
    """With as many virtual channels as hops, classes only ascend; fewer are tried on paths in plain loops."""
    topology = build(spelling)
    tail, head, _ = topology.arcs
    graph = nx.DiGraph(zip(tail.tolist(), head.tolist()))
    assert nx.diameter(graph) == diameter
    paths = all_paths(lambda u, v: list(nx.all_shortest_paths(graph, u, v)), topology)
    fewer = [nx.is_directed_acyclic_graph(within(graph_of(paths, lambda u, v: 1), n)) for n in range(1, diameter + 1)]
    least = fewer.index(True) + 1
    for rule, number in (("none", 1), ("hops", diameter)):
        found = deadlock_record(topology, routing="minimal", vc_rule=rule, virtual_channels=number)
        assert (found["least_virtual_channels"], found["least_rule"]) == (least, "hops" if least > 1 else "none")
        assert found["least_reason"] is None


def test_no_answer_is_less_than_what_the_row_proves():
    """Of a table on a ring in one direction, whose hops a search by itself does not count: routes of up to four."""
    form = table_of(routing("minimal", build("torus(radices=[5], directed=true)"))[1])
    asked = {"routing": GivenRouting("clockwise", form)}
    found = deadlock_record(form.topology, **asked, vc_rule="hops", virtual_channels=4)
    paths = [[(at + step) % 5 for step in range(hops + 1)] for at in range(5) for hops in range(1, 5)]
    graph = graph_of(paths, lambda u, v: 1)
    fewer = [nx.is_directed_acyclic_graph(within(graph, number)) for number in range(1, 5)]
    assert found["deadlock_free"] == "yes"
    assert (found["least_virtual_channels"], found["least_rule"]) == (fewer.index(True) + 1, "hops")
    unproved = deadlock_record(form.topology, **asked, vc_rule="none", virtual_channels=1)
    assert unproved["least_virtual_channels"] is None
    assert unproved["least_reason"].endswith("; not tried: hops")


def test_a_few_terminals_on_a_network_of_a_million_nodes_are_looked_at_in_little_memory():
    ends = np.stack([np.arange(10**6), np.arange(1, 10**6 + 1) % 10**6], axis=1)
    topology = network_of_links(ends, 10**6, directed=False, terminals=np.arange(300, dtype=np.int32))
    assert "hops" not in rules.candidate_rules(routing("minimal", topology)[1])


@pytest.mark.parametrize("spelling", ["slim_fly(q=5)", "polarfly(q=5)", "hyperx(radices=[4, 4])"])
def test_minimal_routes_of_diameter_two_need_two_virtual_channels_by_hop(spelling):
    topology = build(spelling)
    found = deadlock_record(topology, routing="minimal", vc_rule="hops", virtual_channels=2)
    assert (found["deadlock_free"], found["least_virtual_channels"], found["least_rule"]) == ("yes", 2, "hops")
    assert not deadlock_record(topology, routing="minimal", vc_rule="none", virtual_channels=1)["acyclic"]


def test_counting_changes_no_load():
    topology = build("dragonfly(a=4, p=1, h=2, groups=5)")
    for name in ("by_group", "valiant_by_group"):
        counted = deadlock_case(topology, routing=name, vc_rule="class_hops", virtual_channels=3).form
        loads = exact_loads(topology, routing=GivenRouting("counted", counted), traffic="group_shift").load
        np.testing.assert_allclose(loads, exact_loads(topology, routing=name, traffic="group_shift").load, rtol=1e-12)


def test_a_written_table_names_the_classes(tmp_path):
    topology, path = build("dragonfly(a=3, p=1, h=1)"), tmp_path / "routes.csv"
    for number in (2, 3, 4):
        path.write_bytes(routing_table(topology, routing="valiant_by_group", vc_rule="hops", virtual_channels=number))
        own = deadlock_record(topology, routing="valiant_by_group", vc_rule="hops", virtual_channels=number)
        found = deadlock_record(topology, routing=f'table(path="{path}")', vc_rule="table", virtual_channels=number)
        for column in ("acyclic", "deadlock_free", "channels", "dependencies"):
            assert found[column] == own[column], (number, column)


def test_a_simulated_packet_counts_its_hops():
    topology = build("dragonfly(a=4, p=2, h=2)")
    everyone = np.arange(topology.nodes, dtype=np.int32)
    source, destination = np.repeat(everyone, len(everyone)), np.tile(everyone, len(everyone))
    words = np.random.default_rng(1).integers(0, 2**32, (9, 4, len(source)), dtype=np.uint32)
    for rule, link_classes in (("hops", (0, 1)), ("class_hops", (1,))):
        form = deadlock_case(topology, routing="valiant_by_group", vc_rule=rule, virtual_channels=5).form
        routes = routes_of(form, source, destination, lambda purpose: words[purpose])
        for packet in range(len(source)):
            node, count = int(source[packet]), 0
            runs = zip(routes.direction[packet], routes.hops[packet], routes.phase[packet])
            for port, hops, phase in runs:
                if hops:
                    assert phase == count
                    count += topology.link_class[node, port] in link_classes
                    node = int(topology.ports[node, port])
            assert node == destination[packet]


def test_a_simulation_takes_the_rule_that_the_search_finds():
    topology = build("dragonfly(a=4, p=2, h=2)")
    for name, rule, number in (("by_group", "hops", 2), ("valiant_by_group", "class_hops", 3)):
        setup = set_up(topology, Parameters(routing=name))
        assert (setup.parameters.vc_rule, setup.parameters.virtual_channels) == (rule, number)
    parameters = Parameters(routing="valiant_by_group", traffic="group_shift", cycles=2000, virtual_channels=3)
    record = simulation_records(topology, parameters, loads=(0.2,), seeds=(1,))[0]
    assert record["accepted_load"] == pytest.approx(0.2, rel=0.05)


@pytest.mark.parametrize(
    ("spelling", "name", "rule", "says"),
    [
        ("torus(k=4, n=2)", "minimal", "class_hops(link_class=2)", "expected 0 … 1; torus.* has the link classes x, y"),
        ("torus(k=4, n=2)", "adaptive", "hops", "expected none, dateline, bubble on the escape channels"),
        ("torus(k=4, n=2)", "ugal", "hops", "expected a dragonfly or megafly"),
        ("torus(k=4, n=2)", "progressive", "hops", "expected a dragonfly or megafly"),
    ],
)
def test_refusals(spelling, name, rule, says):
    with pytest.raises(BadInput, match=says):
        deadlock_case(build(spelling), routing=name, vc_rule=rule, virtual_channels=2)


def test_refusals_of_what_is_not_there(monkeypatch):
    topology = build("dragonfly(a=3, p=1, h=1)")
    for name in ("ugal", "progressive"):
        with pytest.raises(BadInput, match="expected an oblivious routing"):
            exact_loads(topology, routing=name)
        with pytest.raises(BadInput, match="expected an oblivious routing"):
            routing_table(topology, routing=name)
    monkeypatch.setattr(rules, "MOST_PAIRS", 100)
    with pytest.raises(Refused, match="expected at most 100 pairs of routers whose hops to count, got 144"):
        deadlock_case(topology, routing="by_group", vc_rule="hops", virtual_channels=2)


@pytest.mark.parametrize("most", [350, 289])
def test_hops_that_memory_cannot_hold_are_refused(most, monkeypatch):
    """On a ring of 10, a packet at distance d from one of 10 destinations has done 0 … 5 - d hops; d = 0 may be absent.

    Two nodes are at each distance 1 … 4, one at 5: 10 · (2 · (5 + 4 + 3 + 2) + 1) = 290 numbers, and 60 where d = 0.
    """
    monkeypatch.setattr("torusweep.routing.tables.as_table.default_memory", lambda: most * HOP_BYTES)
    with pytest.raises(Refused, match=f"expected at most {most} hops to count") if most < 290 else nullcontext():
        deadlock_case(build("ring(k=10)"), routing="minimal", vc_rule="hops", virtual_channels=2)


NEAR = ["ring(k=7)", "torus(k=4, n=2)", "torus(radices=[5, 3], directed=true)", "mesh(k=3, n=2)", "hypercube(n=3)"]
NEAR += [
    "random_regular(nodes=12, degree=3, seed=2)",
    "faulty(torus(k=4, n=2), links=3, seed=1)",
    "hyperx(radices=[5])",
]


@pytest.mark.parametrize("spelling", [*NEAR, "hyperx(radices=[5])", "ccc(n=3)", "de_bruijn(d=2, k=3)"])
def test_the_least_number_of_classes_of_hops_needs_no_table(spelling: str, monkeypatch):
    """Against all shortest paths of networkx, hop by hop, with classes merged from the last one that is left."""
    network = build(spelling)
    tail, head, _ = network.arcs
    graph = nx.DiGraph(zip(tail.tolist(), head.tolist()))
    hops = {
        (hop, *path[hop : hop + 3])
        for source, target in permutations(graph, 2)
        for path in nx.all_shortest_paths(graph, source, target)
        for hop in range(len(path) - 2)
    }
    number = 1
    while not nx.is_directed_acyclic_graph(
        nx.DiGraph(((u, v, min(hop, number - 1)), (v, w, min(hop + 1, number - 1))) for hop, u, v, w in hops)
    ):
        number += 1
    monkeypatch.setattr(rules, "_counting", lambda *given: pytest.fail("the table was made"))
    assert hops_needed(routing("minimal", network)[1]) == number
    assert least_rule(network, "minimal")[0] == number
