"""Routings on networks with faults against plain loops: routes listed node by node, broken ones crossed out.

The loops share nothing with the routings: nodes are tuples of digits, routes are lists of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import prod

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.loads.bounds import pair_shares
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.monte_carlo import sampled_loads
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records
from torusweep.questions.simulation.setup import set_up
from torusweep.routing import faults, routing
from torusweep.routing.faults import unrouted
from torusweep.routing.tables.as_table import table_of

Route = tuple[Fraction, list[tuple[int, ...]]]  # share of the packets, nodes


def number(address, sides):
    return sum(digit * prod(sides[:i]) for i, digit in enumerate(address))


def nodes_of(sides):
    return [digits[::-1] for digits in product(*map(range, reversed(sides)))]


def along(at, dimension, step, hops, sides):
    """The nodes of a run, its first one left out."""
    way = []
    for _ in range(hops):
        at = tuple((a + step) % sides[i] if i == dimension else a for i, a in enumerate(at))
        way.append(at)
    return way


def runs_of(source, destination, sides, ring):
    """For each dimension the (step, hops) that are shortest, one or two of them."""
    found = []
    for a, b, side in zip(source, destination, sides):
        onwards = (b - a) % side
        if not ring:
            found.append([(1 if b > a else -1, abs(b - a))])
        elif side > 2 and 2 * onwards == side:
            found.append([(1, onwards), (-1, onwards)])
        else:
            found.append([(1, onwards) if 2 * onwards <= side else (-1, side - onwards)])
    return found


def in_orders(source, destination, sides, ring, orders) -> list[Route]:
    ways = list(product(*runs_of(source, destination, sides, ring)))
    found = []
    for order in orders:
        for way in ways:
            nodes = [source]
            for dimension in order:
                nodes += along(nodes[-1], dimension, *way[dimension], sides)
            found.append((Fraction(1, len(ways) * len(orders)), nodes))
    return found


def by_turns(source, destination, sides, first, broken) -> list[Route]:
    """All minimal ways on which no hop of `first`, (dimension, step), comes after another one; equal shares of the
    next hops that can still arrive."""

    def arrive(at, behind):
        """[(share, nodes from at on)]"""
        if at == destination:
            return [(Fraction(1), [at])]
        onwards = []
        for dimension, (a, b) in enumerate(zip(at, destination)):
            step = 1 if b > a else -1
            if a == b or (behind and (dimension, step) in first):
                continue
            (then,) = along(at, dimension, step, 1, sides)
            if frozenset((at, then)) in broken:
                continue
            rest = arrive(then, behind or (dimension, step) not in first)
            if rest:
                onwards.append(rest)
        return [(share / len(onwards), [at, *nodes]) for rest in onwards for share, nodes in rest]

    return arrive(source, False)


TURNS = {
    "west_first": [(0, -1)],
    "north_last": [(0, 1), (0, -1), (1, -1)],
    "negative_first": [(0, -1), (1, -1)],
}


def routes_left(name, sides, ring, broken):
    """{(source, destination): routes that are left, with their shares}; an empty list: lost."""
    found = {}
    dimensions = tuple(range(len(sides)))
    orders = {
        "dimension_order": [dimensions],
        "reverse_order": [dimensions[::-1]],
        "random_order": list(permutations(dimensions)),
    }
    for pair in product(nodes_of(sides), repeat=2):
        if name in TURNS:
            found[pair] = by_turns(*pair, sides, TURNS[name], broken)
            continue
        left = [
            (share, nodes)
            for share, nodes in in_orders(*pair, sides, ring, orders[name])
            if not any(frozenset(hop) in broken for hop in pairwise(nodes))
        ]
        total = sum(share for share, _ in left)
        found[pair] = [(share / total, nodes) for share, nodes in left]
    return found


def links_of(sides, ring):
    found = set()
    for at in nodes_of(sides):
        for dimension, side in enumerate(sides):
            if ring or at[dimension] + 1 < side:
                found.add(frozenset((at, *along(at, dimension, 1, 1, sides))))
    return sorted(map(sorted, found))


def check(name, sides, ring, broken, spelling):
    """Pairs lost, loads under uniform traffic and dependencies against the routes of the loops."""
    left = routes_left(name, sides, ring, {frozenset(link) for link in broken})
    nodes = len(nodes_of(sides))
    lost = sorted((number(s, sides), number(d, sides)) for (s, d), routes in left.items() if s != d and not routes)
    topology = build(spelling)
    form = routing(name, topology)[1]
    assert [divmod(pair, nodes) for pair in unrouted(form).lost.tolist()] == lost
    load, graph = defaultdict(Fraction), nx.DiGraph()
    for routes in left.values():
        for share, way in routes:
            channels = [(number(one, sides), number(other, sides)) for one, other in pairwise(way)]
            graph.add_nodes_from(channels)
            graph.add_edges_from(pairwise(channels))
            for channel in channels:
                load[channel] += share / nodes
    found = exact_loads(topology, routing=name)
    for tail, head, port in zip(*(column.tolist() for column in topology.arcs)):
        assert found.load[tail, port] == pytest.approx(float(load.pop((tail, head), 0)), abs=1e-12)
    assert not load
    assert found.lost.lost_pairs == len(lost)
    assert found.lost.lost_share == pytest.approx(len(lost) / (nodes * (nodes - 1)))
    assert found.lost.lost_traffic == pytest.approx(len(lost) / nodes**2)
    assert list(found.lost.lost_examples) == [f"{s} → {d}" for s, d in lost[:5]]
    hops = sum(share * (len(way) - 1) for routes in left.values() for share, way in routes)
    assert found.mean_hops == pytest.approx(float(hops / (nodes**2 - len(lost))))
    assert np.array_equal(exact_loads(topology, routing=name, as_table=True).load, found.load) or name in TURNS
    assert exact_loads(topology, routing=name, as_table=True).load == pytest.approx(found.load)
    record = deadlock_record(topology, routing=name, vc_rule="none", virtual_channels=1)
    assert (record["channels"], record["dependencies"]) == (len(graph), graph.number_of_edges())
    assert record["acyclic"] == nx.is_directed_acyclic_graph(graph)
    assert record["lost_pairs"] == len(lost)
    shares = pair_shares(
        form, np.array([tail * topology.ports.shape[1] + port for tail, port in zip(*topology.arcs[::2])])
    )
    assert shares.sum() == pytest.approx(float(hops))


@pytest.mark.parametrize("name", ["dimension_order", "reverse_order", "random_order", *TURNS])
@pytest.mark.parametrize("link", links_of((3, 3), False), ids=str)
def test_every_link_of_a_mesh(name, link):
    one, other = (number(end, (3, 3)) for end in link)
    check(name, (3, 3), False, [link], f"without(mesh(k=3, n=2), links=[[{one}, {other}]])")


@pytest.mark.parametrize("name", ["dimension_order", "random_order"])
@pytest.mark.parametrize("link", links_of((4, 3), True)[::3], ids=str)
def test_links_of_a_torus(name, link):
    one, other = (number(end, (4, 3)) for end in link)
    check(name, (4, 3), True, [link], f"without(torus(radices=[4, 3]), links=[[{one}, {other}]])")


@pytest.mark.parametrize("name", ["dimension_order", "random_order", "west_first", "north_last", "negative_first"])
@pytest.mark.parametrize("seed", range(3))
def test_several_links(name, seed):
    sides = (4, 3)
    known = links_of(sides, False)
    chosen = [known[i] for i in np.random.default_rng(seed).permutation(len(known))[:4]]
    named = [[number(end, sides) for end in link] for link in chosen]
    check(name, sides, False, chosen, f"without(mesh(radices=[4, 3]), links={named})")


def test_random_faults_are_those_faults_named():
    for seed in range(4):
        random = build(f"faulty(torus(k=4, n=2), links=5, nodes=1, seed={seed})")
        whole = build("torus(k=4, n=2)")
        (gone,) = np.setdiff1d(np.arange(16), random.terminals).tolist()
        missing = [
            [tail, head]
            for tail, head in zip(*(end.tolist() for end in whole.arcs[:2]))
            if tail < head and gone not in (tail, head) and head not in random.ports[tail]
        ]
        named = build(f"without(torus(k=4, n=2), links={missing}, nodes=[{gone}])")
        assert np.array_equal(random.ports, named.ports)
        for name in ("dimension_order", "routing_record", "romm"):
            one, other = (exact_loads(each, routing=name) for each in (random, named))
            assert one.lost == other.lost
            assert np.array_equal(one.load, other.load)


def test_a_failed_router_takes_its_terminal_along():
    """The centre of 3 × 3 under x–y: the pairs of the middle row and column pass it, and those that turn there."""
    lost = {
        (s, d)
        for s, d in product(nodes_of((3, 3)), repeat=2)
        if s != d and (1, 1) not in (s, d) and (1, 1) in in_orders(s, d, (3, 3), False, [(0, 1)])[0][1]
    }
    network = ts.network("without(mesh(k=3, n=2), nodes=[4])")
    record = network.loads("dimension_order").record
    assert record["lost_pairs"] == len(lost) > 0
    assert record["lost_share"] == pytest.approx(len(lost) / (8 * 7))
    assert network.loads("minimal").record["lost_pairs"] == 0


@pytest.mark.parametrize(
    ("whole", "name"),
    [
        ("xgft(down=[2, 2, 2], up=[1, 2, 2])", "d_mod_k"),
        ("dragonfly(a=4, p=1, h=1)", "by_group"),
        ("dragonfly(a=4, p=1, h=1)", "valiant_by_group"),
        ("hyperx(radices=[3, 3])", "dimension_order"),
        ("pruned_torus(k=4, n=3)", "clustering"),
        ("tesh(m=2, levels=2, q=0)", "hierarchical"),
        ("rtt(a=3)", "routing_record"),
        ("torus(k=4, n=2)", "romm"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_other_routings_keep_the_routes_that_are_whole(whole, name, seed):
    """Of the whole network's routes, listed one by one from its table, those with a missing link are crossed out."""
    before = table_of(routing(name, build(whole))[1])
    topology = build(f"faulty({whole}, links=3, seed={seed})")
    after = routing(name, topology)[1]
    table, nodes = table_of(after), topology.nodes
    expected, lost = listed(before, topology), []
    length = {pair: min(map(len, ways)) for pair, ways in listed(before, before.topology).items()}
    if name == "by_group":  # only ways as short as before
        expected = {pair: {way for way in ways if len(way) == length[pair]} for pair, ways in expected.items()}
    lost = sorted(source * nodes + goal for (source, goal), ways in expected.items() if not ways)
    assert unrouted(after).lost.tolist() == unrouted(table).lost.tolist() == lost
    assert listed(table, topology) == {pair: ways for pair, ways in expected.items() if ways}


def listed(table, topology):
    """{(source, destination): ways of ports that the topology has}"""

    def ways(configuration):
        if configuration < 0:
            return [()]
        found = []
        for row in range(int(table.rows[configuration]), int(table.rows[configuration + 1])):
            port = int(table.port[row])
            at = int(table.at[configuration])
            if port >= 0 and topology.ports[at, port] < 0:
                continue
            found += [((at, port), *rest) if port >= 0 else rest for rest in ways(int(table.next[row]))]
        return found

    goals, sources = np.divmod(table.entry_pair, topology.nodes)
    return {
        (source, goal): set(ways(entry))
        for source, goal, entry in zip(sources.tolist(), goals.tolist(), table.entry.tolist())
        if source != goal
    }


def test_sampled_and_simulated_loads_are_those_of_the_rest():
    topology = build("without(mesh(k=4, n=2), links=[[1, 2], [9, 13]])")
    for name in ("dimension_order", "west_first"):
        exact = exact_loads(topology, routing=name)
        sampled = sampled_loads(topology, routing=name, packets=400_000, seed=2)
        assert sampled.lost == exact.lost
        assert sampled.load == pytest.approx(exact.load, abs=0.02)
        assert sampled.mean_hops == pytest.approx(exact.mean_hops, rel=0.01)
        (row,) = simulation_records(
            topology, Parameters(routing=name, cycles=20000, packet_flits=1), loads=[0.2], seeds=[1]
        )
        left = 1 - exact.lost.lost_traffic
        assert row["generated_load"] == pytest.approx(0.2 * left, rel=0.03)
        assert row["accepted_load"] == pytest.approx(0.2 * left, rel=0.03)
        assert row["max_channel_utilization"] == pytest.approx(0.2 * exact.load.max(), rel=0.1)
        assert (row["lost_pairs"], row["lost_traffic"]) == (exact.lost.lost_pairs, exact.lost.lost_traffic)


def test_a_simulation_does_not_saturate_beyond_the_loads_bound():
    network = ts.network("without(mesh(k=4, n=2), links=[[1, 2]])")
    bound = network.loads("dimension_order").saturation_load
    found = network.simulate(saturation=True, precision=0.05, routing="dimension_order", cycles=4000)
    assert 0.3 * bound < found.saturation <= bound * 1.02


def test_datelines_stay_where_they_were():
    """A ring without one of its links: what still travels round it changes class at the dateline as before."""
    for link in ([0, 1], [3, 4], [7, 0]):
        network = ts.network(f"without(torus(k=8, n=2), links=[{link}])")
        assert network.deadlock("dimension_order", "dateline", 2).deadlock_free == "yes"
        assert network.deadlock("dimension_order", "none", 1).deadlock_free == "no"  # the other rings are whole
    broken = [[number((7, y), (8, 8)), number((0, y), (8, 8))] for y in range(8)]
    broken += [[number((x, 3), (8, 8)), number((x, 4), (8, 8))] for x in range(8)]
    assert ts.network(f"without(torus(k=8, n=2), links={broken})").deadlock("dimension_order").deadlock_free == "yes"


def test_what_cannot_be_delivered_is_refused():
    broken = ts.network("without(mesh(k=4, n=2), links=[[1, 2]])")
    with pytest.raises(BadInput, match=r"^routing valiant .* expected a torus, mesh or hypercube with all its links"):
        broken.loads("valiant(by=dimension_order)")
    with pytest.raises(BadInput, match=r"every message of the workload, got none from 0 to 2"):
        broken.simulate(workload="all_to_all(flits=16)", routing="dimension_order", cycles=4000)
    matrix = np.zeros((16, 16))
    matrix[1, 2] = 1
    with pytest.raises(BadInput, match="the faults break all"):
        broken.loads("dimension_order", matrix)


def test_shortest_paths_of_what_hangs_together():
    """Faults divide a mesh: minimal routing delivers within the parts, and the other pairs are lost."""
    links = links_of((4, 3), False)
    for seed in range(4):
        gone = [links[i] for i in np.random.default_rng(seed).permutation(len(links))[:9]]
        named = [[number(end, (4, 3)) for end in link] for link in gone]
        graph = nx.Graph([tuple(link) for link in links if link not in gone])
        graph.add_nodes_from(nodes_of((4, 3)))
        part = {node: i for i, nodes in enumerate(nx.connected_components(graph)) for node in nodes}
        lost = [p for p in product(part, repeat=2) if part[p[0]] != part[p[1]]]
        topology = build(f"without(mesh(radices=[4, 3]), links={named})")
        for name in ("minimal", "minimal_ecmp"):
            found = exact_loads(topology, routing=name)
            assert (found.lost.lost_pairs, found.lost.lost_traffic) == (len(lost), pytest.approx(len(lost) / 144))
            hops = sum(d for _, to in nx.all_pairs_shortest_path_length(graph) for d in to.values())
            assert found.load.sum() == pytest.approx(hops / 12)
            assert sampled_loads(topology, routing=name, packets=200_000).load == pytest.approx(found.load, abs=0.05)
            assert deadlock_record(topology, routing=name, vc_rule="none", virtual_channels=1)["lost_pairs"] == len(
                lost
            )
        assert lost, "a seed that divides nothing shows nothing"


def test_defaults_reach_all_pairs():
    (row,) = ts.network("without(mesh(k=4, n=2), links=[[1, 2]])").simulate(0.1, cycles=3000).rows
    assert row["routing"] == "minimal_by_address"
    assert row["lost_pairs"] == 0


def test_too_many_pairs_are_refused_at_once(monkeypatch):
    monkeypatch.setattr(faults, "MOST_PAIRS", 255)
    with pytest.raises(Refused, match="at most 255 pairs of nodes whose routes may be broken, got 256"):
        routing("dimension_order(tie=positive)", build("without(mesh(k=4, n=2), links=[[5, 6]])"))


def test_large_networks_look_at_pairs_in_blocks(monkeypatch):
    whole = routing("dimension_order(tie=sign)", build("faulty(torus(k=4, n=2), links=4)"))[1].lost
    monkeypatch.setattr(faults, "BLOCK", 20)
    monkeypatch.setattr(faults, "STATES", 20)
    again = faults.on_faulty(
        routing("dimension_order(tie=sign)", build("torus(k=4, n=2)"))[1], build("faulty(torus(k=4, n=2), links=4)")
    )
    assert np.array_equal(again.lost, whole)


@pytest.mark.parametrize(
    "network", ["without(torus(k=4, n=2), links=[[0, 1]])", "faulty(mesh(k=4, n=2), links=2, seed=1)"]
)
def test_adaptive_routing_on_a_faulty_network_names_what_works(network):
    """The remedy is taken as it stands: the routing that it names, on the same network."""
    topology = build(network)
    with pytest.raises(BadInput, match=r"expected a network with all its links, .*, got one with faults") as refusal:
        set_up(topology, Parameters(routing="adaptive"))
    routing, rule = re.search(r"choose routing (\S+) with rule (\S+) ", str(refusal.value)).groups()
    set_up(topology, Parameters(routing=routing, vc_rule=rule))
