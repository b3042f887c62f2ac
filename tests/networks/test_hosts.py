"""Hosts that forward nothing: no question and no routing sends packets of others through them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from torusweep.capacity import capacity
from torusweep.collectives.algorithms import ALGORITHMS, schedule_of
from torusweep.collectives.cost import cost_of, messages_of
from torusweep.collectives.optimum import optimum
from torusweep.errors import BadInput
from torusweep.networks.ends import first_forwarding, joined, relaying
from torusweep.networks.topology import Topology
from torusweep.questions import QUESTIONS
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.deadlock.routing_case import ALL_ROUTINGS
from torusweep.questions.how import How
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.monte_carlo import sampled_loads
from torusweep.questions.placement.tasks import NamedTasks, place_tasks
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.runs import Experiment, run
from torusweep.questions.simulation.setup import set_up
from torusweep.questions.static.distances import distances
from torusweep.questions.static.record import static_record
from torusweep.routing import ROUTINGS, GivenRouting, SourceRouting, routing
from torusweep.routing.hosts import expect_hosts_end

from tests.faults.command_line import torusweep
from tests.networks import plain_hosts as plain

SEEDS = range(8)
HOW = How()
RAILS = [(0, 4), (1, 4), (2, 5), (3, 5), (0, 6), (2, 6), (1, 7), (3, 7)]
SPINE = [*RAILS, (6, 8), (7, 8)]


def both_ways(links: list[tuple[int, int]], nodes: int) -> Topology:
    return of_hosts(links, nodes, [0, 1, 2, 3])


def of_hosts(links: list[tuple[int, int]], nodes: int, hosts: list[int]) -> Topology:
    return plain.network(nodes, [*links, *((v, u) for u, v in links)], {}, hosts, directed=False)


def written(folder: Path, links: list[tuple[int, int]], nodes: int) -> str:
    """ns-3's text, whose first four nodes are hosts."""
    switches = range(4, nodes)
    lines = [f"{nodes} {len(switches)} {len(links)}", " ".join(map(str, switches))]
    path = folder / "fabric.txt"
    path.write_text("\n".join([*lines, *(f"{u} {v} 400Gbps 0.0005ms 0" for u, v in links)]) + "\n")
    return str(path)


def loads_of(topology: Topology, found: np.ndarray) -> dict[plain.Channel, float]:
    tail, head, port = topology.arcs
    return {(int(u), int(v)): float(load) for u, v, load in zip(tail, head, found[tail, port]) if load}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_distances_and_cuts(seed: int, directed: bool):
    topology = plain.fabric(seed, directed=directed)
    graph = plain.apart(topology)
    hops = {one: nx.single_source_shortest_path_length(graph, one) for one in range(topology.nodes)}
    cycles = {one: nx.single_source_dijkstra_path_length(graph, one, weight="latency") for one in hops}

    def between(away: dict[int, Any], nodes: list[int]) -> list[int]:
        ends = [(one, plain.to(topology, other), one == other) for one in nodes for other in nodes]
        return [0 if same else away[one][end] for one, end, same in ends if same or end in away[one]]

    terminals = topology.terminals.tolist()
    own, every, late = between(hops, terminals), between(hops, list(range(topology.nodes))), between(cycles, terminals)
    row = static_record(topology, measures="distances,latencies,connectivity")
    assert row["distance_histogram"] == np.bincount(own).tolist()
    assert (row["diameter"], row["router_diameter"], row["latency_diameter"]) == (max(own), max(every), max(late))
    assert row["mean_distance"] == pytest.approx(np.mean(own))
    distinct = len(own) - len(terminals)
    assert row["latency_mean"] == pytest.approx(sum(late) / distinct if distinct else 0)
    assert row["router_mean_distance"] == pytest.approx(sum(every) / max(1, len(every) - topology.nodes))
    reached = {
        one: [hops[one].get(plain.to(topology, other), 0) for other in terminals if other != one] for one in hops
    }
    assert distances(topology, HOW).eccentricities.tolist() == [max([0, *reached[one]]) for one in terminals]
    cuts = [nx.maximum_flow_value(graph, one, plain.to(topology, other)) for one, other in plain.pairs(topology)]
    assert row["edge_connectivity"] == min(cuts)
    assert row["connected"] is (min(cuts) > 0) is (row["components"] == 1)


TAIL = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]  # halves that part no hosts: one link


@pytest.mark.parametrize("seed", ["tail", *SEEDS])
def test_bounds_of_the_bisection_width_hold_for_all_halves(seed: int | str):
    """Halves are of nodes: they need not part hosts, whose cuts are no bound."""
    topology = plain.fabric(seed) if isinstance(seed, int) else of_hosts(TAIL, 8, [0, 1])
    arcs = list(zip(*(ends.tolist() for ends in topology.arcs[:2])))
    halves = map(set, combinations(range(topology.nodes), topology.nodes // 2))
    width = min(sum(u in half and v not in half for u, v in arcs) for half in halves)
    row = static_record(topology, measures="bisection")
    assert row["bisection_lower"] <= width <= row["bisection_upper"]


@pytest.mark.parametrize(
    ("links", "hosts", "vertex", "edge"),
    [
        ([(node, (node + 1) % 8) for node in range(8)], [0, 2, 4, 6], False, True),  # a host between any two switches
        ([(node, (node + 1) % 8) for node in range(8)], [0, 1, 4, 5], False, False),
        ([(node, (node + 1) % 8) for node in range(8)], list(range(8)), True, True),
    ],
)
def test_hosts_and_switches_are_not_alike(links: list[tuple[int, int]], hosts: list[int], vertex: bool, edge: bool):
    row = static_record(of_hosts(links, 8, hosts), measures="transitivity")
    assert (row["vertex_transitive"], row["edge_transitive"]) == (vertex, edge)


@pytest.mark.parametrize("name", ["minimal", "minimal_ecmp", "up_down"])
@pytest.mark.parametrize("seed", SEEDS)
def test_loads_and_verdicts(seed: int, name: str):
    topology, spelling = plain.fabric(seed), name
    if name == "up_down":
        root = first_forwarding(topology)
        spelling = f"up_down(root={root})"
        if not plain.spans(topology, root):
            with pytest.raises(BadInput, match="expected links that connect all terminals with root"):
                routing(spelling, topology)
            return
        paths = {pair: plain.up_down_paths(topology, root, *pair) for pair in plain.pairs(topology)}
    else:
        paths = {pair: plain.minimal_paths(topology, *pair) for pair in plain.pairs(topology)}
    divide, wanted = plain.by_next_hops if name == "minimal_ecmp" else plain.by_paths, defaultdict[Any, float](float)
    for pair in plain.pairs(topology):
        for channel, share in divide(paths[pair]).items():
            wanted[channel] += share / len(topology.terminals)
    for as_table in (False, True):
        found = exact_loads(topology, routing=spelling, as_table=as_table)
        assert loads_of(topology, found.load) == pytest.approx(dict(wanted))
    lost = sum(not paths[pair] for pair in plain.pairs(topology))
    assert found.lost.lost_pairs == lost
    row = deadlock_record(topology, routing=spelling, vc_rule="none", virtual_channels=1)
    assert row["acyclic"] is plain.is_acyclic(path for own in paths.values() for path in own)
    assert row["lost_pairs"] == lost


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_capacity(seed: int, directed: bool):
    topology = plain.fabric(seed, directed=directed)
    graph, demands = plain.apart(topology), defaultdict[Any, float](float)
    for source, destination in plain.pairs(topology):
        demands[source, plain.to(topology, destination)] += 1 / len(topology.terminals)
    if not all(nx.has_path(graph, *pair) for pair in demands):
        assert not joined(topology, np.unique(topology.terminals))
        with pytest.raises(BadInput, match="no path to its destination, as hosts forward nothing"):
            capacity(topology, "uniform")
        return
    assert joined(topology, np.unique(topology.terminals))
    assert capacity(topology, "uniform").throughput == pytest.approx(plain.throughput(list(graph.edges), demands))


def routings(topology: Topology) -> list[str]:
    """All routings by their names, up_down with a root that forwards; a table needs a file."""
    root = {"up_down": f"up_down(root={first_forwarding(topology)})", "weighted": "weighted(by=latency)"}
    return [root.get(name, name) for name in ALL_ROUTINGS if name != "table"]


@pytest.mark.parametrize("seed", SEEDS)
def test_hosts_carry_nothing_of_others(seed: int):
    """Under every routing that takes the network: in loads, in sampled loads and flit by flit."""
    topology, taken = plain.fabric(seed), 0
    tail, head, port = topology.arcs
    leaves, enters = np.isin(tail, topology.terminals), np.isin(head, topology.terminals)
    many = np.bincount(topology.terminals, minlength=topology.nodes)
    for name in routings(topology):
        try:
            form = routing(name, topology)[1]
        except BadInput:
            continue
        taken += 1
        sent = np.outer(many, many) / many.sum()
        sent[np.eye(topology.nodes, dtype=bool)] = 0
        sent.reshape(-1)[[] if form.lost is None else form.lost] = 0
        load = exact_loads(topology, routing=name).load[tail, port]
        assert np.bincount(tail, load, topology.nodes)[many > 0] == pytest.approx(sent.sum(axis=1)[many > 0])
        assert np.bincount(head, load, topology.nodes)[many > 0] == pytest.approx(sent.sum(axis=0)[many > 0])
        drawn = sampled_loads(topology, routing=name, packets=1 << 12).load[tail, port]
        assert drawn[leaves].sum() == pytest.approx(drawn[enters].sum()) == pytest.approx(sent.sum(), rel=0.1)
        how = Parameters(routing=name, vc_rule="none", virtual_channels=2, packet_flits=1, allow_deadlock=True)
        (outcome,) = run(set_up(topology, how), [Experiment(None, seed, 8)])
        flits = outcome.use[tail, port] * outcome.run.end
        assert outcome.stalled < 0
        assert flits[leaves].sum() == pytest.approx(flits[enters].sum()) == pytest.approx(len(outcome.run.flits))
    assert taken >= 3


@pytest.mark.parametrize("name", ROUTINGS)
def test_each_routing_is_checked(name: str):
    """What a routing does on the same links where hosts forward is refused where they do not, unless it is the same."""
    topology = both_ways([(0, 1), (1, 2), (2, 3), (3, 0)], 4)
    assert topology.ends is not None
    before = GivenRouting(name, ROUTINGS["minimal"](relaying(topology)))
    with pytest.raises(BadInput, match="expected no route through 0, a host that forwards nothing"):
        routing(GivenRouting(name, replace(before.form, topology=topology)), topology)
    with suppress(BadInput):
        found = routing(name, topology)[1]
        expect_hosts_end(found)
        assert not isinstance(found, SourceRouting)


def table_of(rows: list[tuple[int, int, int]], folder: Path) -> str:
    path = folder / "table.csv"
    path.write_text("at,destination,to\n" + "".join(f"{at},{goal},{there}\n" for at, goal, there in rows))
    return f'table(path="{path}")'


WAYS = {(0, 3): [0, 6, 8, 7, 3], (0, 1): [0, 4, 1], (0, 2): [0, 6, 2], (1, 2): [1, 7, 8, 6, 2], (1, 3): [1, 7, 3]}
WAYS |= {(2, 3): [2, 5, 3]} | {(t, s): way[::-1] for (s, t), way in WAYS.items()} | {(3, 2): [3, 5, 2]}


def test_a_table_through_a_host_is_refused(tmp_path: Path):
    topology = both_ways(SPINE, 9)
    rows = sorted({(way[i], t, way[i + 1]) for (_, t), way in WAYS.items() for i in range(len(way) - 1)})
    assert exact_loads(topology, routing=table_of(rows, tmp_path)).load.max() == 0.5
    through = [row for row in rows if row[:2] != (0, 3)] + [(0, 3, 4), (4, 3, 1)]  # 0-4-1-7-3
    message = "expected no route through 1, a host that forwards nothing, got one at 4 towards 3; change the row"
    with pytest.raises(BadInput, match=message):
        exact_loads(topology, routing=table_of(through, tmp_path))


@pytest.mark.parametrize("seed", SEEDS)
def test_messages_of_algorithms(seed: int):
    """Ranks may pass on what they get; a message passes no third one, and each node divides it among next hops."""
    topology, measured = plain.fabric(seed), 0
    pairs = {pair: plain.minimal_paths(topology, *pair) for pair in set(plain.pairs(topology))}
    for name, algorithm in ALGORITHMS.items():
        for operation in algorithm.operations:
            try:
                schedule = schedule_of(topology, operation, name)
            except BadInput:
                continue
            wanted = defaultdict[int, dict[Any, float]](lambda: defaultdict(float))
            for step, source, destination, units in zip(*(column.tolist() for column in messages_of(schedule))):
                one, other = (int(schedule.node[rank]) for rank in (source, destination))
                link = [[(one, other)]] if one != other else []  # of trees of switches
                paths = pairs.get((one, other), link)
                for channel, share in plain.by_next_hops(paths).items():
                    wanted[step][channel] += units * share
            found, measured = cost_of(topology, schedule), measured + 1
            total = sum((Counter(step) for step in map(Counter, wanted.values())), Counter())
            assert loads_of_arcs(topology, found.load) == pytest.approx(
                {k: v / schedule.units for k, v in total.items()}
            )
    assert measured or not joined(topology, np.unique(topology.terminals))


def loads_of_arcs(topology: Topology, load: np.ndarray) -> dict[plain.Channel, float]:
    tail, head, _ = topology.arcs
    return {(int(u), int(v)): float(each) for u, v, each in zip(tail, head, load) if each}


@pytest.mark.parametrize("seed", SEEDS)
def test_optima(seed: int):
    """Ranks at hosts pass on what they get: every set of nodes, and the program in which hosts forward."""
    topology = plain.fabric(seed)
    arcs = list(zip(*(ends.tolist() for ends in topology.arcs[:2])))
    graph, many = nx.DiGraph(arcs), np.bincount(topology.terminals, minlength=topology.nodes)
    if not nx.is_connected(graph.to_undirected()):
        return
    best = 0.0
    for chosen in range(1, 2**topology.nodes - 1):
        inside = [chosen >> node & 1 for node in range(topology.nodes)]
        if many @ inside < len(topology.terminals):
            best = max(best, float(many @ inside) / sum(inside[u] > inside[v] for u, v in arcs))
    assert optimum(topology, "all_gather").bound == pytest.approx(best / len(topology.terminals))
    demands = defaultdict[Any, float](float)
    for pair in plain.pairs(topology):
        demands[pair] += 1 / len(topology.terminals)
    assert 1 / optimum(topology, "all_to_all").bound == pytest.approx(plain.throughput(arcs, demands))


@pytest.mark.parametrize("least", ["hops", "load"])
@pytest.mark.parametrize("links", [SPINE, [*SPINE, (4, 8), (5, 8)]])
def test_tasks_by_all_placements(least: str, links: list[tuple[int, int]]):
    topology, draw = both_ways(links, 9), np.random.default_rng(1)
    matrix = draw.integers(0, 9, (4, 4)) * ~np.eye(4, dtype=bool)
    paths = {pair: plain.minimal_paths(topology, *pair) for pair in plain.pairs(topology)}
    values = []
    for place in permutations(range(4)):
        load, hops = defaultdict[Any, float](float), 0.0
        for (s, t), demand in np.ndenumerate(matrix):
            if s != t:
                hops += demand * len(paths[place[s], place[t]][0])
                for channel, share in plain.by_paths(paths[place[s], place[t]]).items():
                    load[channel] += demand * share
        values.append(hops if least == "hops" else max(load.values()))
    found = place_tasks(topology, HOW, NamedTasks(tuple(range(4)), matrix.astype(float)), least, 1, 0)
    assert found.optimum == pytest.approx(min(values))


def test_after_each_failure():
    """All failures of a link, or of a router: joined terminals, distances, loads and roots by networkx."""
    for fails, parts in (("links", SPINE), ("routers", [(node,) for node in range(9)])):
        wanted = defaultdict[str, list[float]](list)
        for part in parts:
            links = [link for link in SPINE if link != part and part[0] not in link[: 2 * (len(part) == 1)]]
            terminals = [node for node in range(4) if part != (node,)]
            left = plain.network(9, [*links, *((v, u) for u, v in links)], {}, terminals, directed=False)
            graph, ends = plain.apart(left), {node: plain.to(left, node) for node in terminals}
            pairs = [(one, other) for one in terminals for other in terminals if one != other]
            joined_pairs = [nx.has_path(graph, one, ends[other]) for one, other in pairs]
            wanted["connected"].append(all(joined_pairs))
            if all(joined_pairs):
                hops = [nx.shortest_path_length(graph, one, ends[other]) for one, other in pairs]
                wanted["diameter"].append(max(hops))
                wanted["mean_distance"].append(sum(hops) / len(terminals) ** 2)
                load = defaultdict[Any, float](float)
                for pair in pairs:
                    for channel, share in plain.by_paths(plain.minimal_paths(left, *pair)).items():
                        load[channel] += share / len(terminals)
                wanted["saturation_load"].append(1 / max(load.values()))
            roots = [node for node in range(4, 9) if part != (node,)]
            wanted["deadlock_free"].append(all(joined_pairs) and any(plain.spans(left, root) for root in roots))
        measures = ("connectivity", "distances", "saturation", "rerouting")
        found = ts.network(both_ways(SPINE, 9)).availability(**{fails: 1}, measures=measures)
        means = {row["measure"]: row["mean"] for row in found.rows}
        assert {name: pytest.approx(np.mean(values)) for name, values in wanted.items()} == {
            name: means[name] for name in wanted
        }


def test_a_failed_node():
    """The largest distance after a node failed: here every terminal keeps a path of at most 4 hops."""
    links = [*((host, leaf) for host in range(4) for leaf in (4, 5)), (4, 6), (5, 6)]
    row = static_record(both_ways(links, 7), fault_nodes=1, measures="distances")
    assert (row["diameter"], row["fault_diameter"]) == (2, 2)
    split_leaves = [(0, 4), (1, 4), (2, 5), (3, 5), (0, 5), (1, 5), (2, 4), (3, 4)]
    row = static_record(both_ways(split_leaves, 6), fault_nodes=2, measures="distances")
    assert row["fault_diameter"] is None  # both leaves; hosts would not help


LONG = [*RAILS, (6, 8), (8, 9), (9, 7)]  # 0 reaches 3 in 5 hops; by way of host 1 or 2 in 4
TASKS = [[0, 0, 0, 1], [0] * 4, [0] * 4, [1, 0, 0, 0]]
HEED: dict[str, Callable[[Any], Any]] = {
    "describe": lambda network: network.static().record,
    "distances": lambda network: network.distances().record,
    "capacity": lambda network: network.capacity(routes="minimal").load.tolist(),
    "loads": lambda network: network.loads().load.tolist(),
    "deadlock": lambda network: network.deadlock().record,
    "collective": lambda network: network.collective("all_gather", algorithms=("direct",)).rows,
    "availability": lambda network: network.availability(links=1).rows,
    "simulate": lambda network: network.simulate(packets_each=4).record,
    "place": lambda network: network.place(tasks=TASKS).in_order,
    "cost": lambda network: ts.cost(network).record,
    "screen": lambda network: ts.screen(network).rows,
}
WITHOUT = {
    "layout": "where nodes stand, and wires",
    "latency": "refuses networks with switches, and reads distances",
    "best": "of lattices",
    "search": "of graphs that it makes",
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_question_heeds_hosts(name: str):
    """A new question stands in one of the two tables."""
    assert (name in HEED) != (name in WITHOUT)
    if name in HEED:
        topology = both_ways(LONG, 10)
        answers = [HEED[name](ts.network(one)) for one in (topology, relaying(topology))]
        assert answers[0] != answers[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("describe", "rails"), ["diameter 2 hops", "connected no: 4 components"]),
        (("describe", "spine"), ["diameter 4 hops", "connected yes", "edge connectivity 1 (min-cut)"]),
        (("deadlock", "spine"), ["1, rule none", "without a cycle", "deadlock-free yes"]),
        (("deadlock", "rails"), ["4 pairs of terminals (33.33%), as 0 → 3, 1 → 2, 2 → 1, 3 → 0", "without a cycle"]),
        (("loads", "spine", "--traffic", "only", "--channels"), ["0,6,link,4.0", "6,8,link,4.0", "8,7,link,4.0"]),
        (("loads", "rails", "--traffic", "only"), ["got none: hosts forward nothing"]),
        (("capacity", "rails"), ["0.25 of traffic uniform has no path to its destination, as hosts forward nothing"]),
        (("loads", "spine", "--routing", "up_down"), ["expected a root that forwards packets, got 0", "say root=6"]),
        (("loads", "spine", "--routing", "up_down(root=6)"), ["busiest channel 1 (mean 0.5)"]),
        (
            ("collective", "rails", "all_gather", "--algorithm", "direct"),
            ["got none from 0 to 3", "choose ring or trees"],
        ),
        (("collective", "rails", "all_gather", "--algorithm", "ring"), ["100 %", "as in 0, 1, 3, 2"]),
        (("place", "rails", "--tasks", "only"), ["expected paths between all terminals", "hosts forward nothing"]),
        (("describe", "spine", "--certificate", "out"), ["expected a family that certify/check.py derives"]),
        (("export", "spine", "--format", "graphml", "-o", "out"), ["not held: that 4 hosts forward nothing"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_commands(arguments: tuple[str, ...], said: list[str], tmp_path: Path):
    """Two fabrics in ns-3's text: rails without a spine, and two of them joined; one demand, from host 0 to 3."""
    (tmp_path / "d.csv").write_text("source,destination,demand\n0,3,1\n")
    (tmp_path / "spine").mkdir()
    given = {"rails": written(tmp_path, RAILS, 8), "spine": written(tmp_path / "spine", SPINE, 9)}
    traffic = f"{tmp_path}/d.csv" if "place" in arguments else f'demand(path="{tmp_path}/d.csv")'
    given |= {"only": traffic, "out": str(tmp_path / "out.graphml")}
    found = torusweep(*(given.get(word, word) for word in arguments))
    answer = " ".join((found.out + found.err).split())
    assert [words for words in said if words not in answer] == []
