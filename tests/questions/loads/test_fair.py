"""Max-min fair rates against a linear program for each level, closed forms, and what one sees at once."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from scipy.optimize import linprog
from torusweep.errors import Refused
from torusweep.questions.loads.bounds import pair_shares
from torusweep.questions.loads.fair import fair_rates
from torusweep.routing import routing

from tests.questions.loads.test_command import torusweep


def shares_by_hand(graph: nx.Graph) -> dict[tuple[int, int], dict[tuple[int, int], float]]:
    """Share of each pair's packets in each channel, if all shortest paths share them equally."""
    shares = {}
    for source in graph:
        for target in graph:
            paths = list(nx.all_shortest_paths(graph, source, target))
            own = shares.setdefault((source, target), {})
            for path in paths:
                for channel in pairwise(path):
                    own[channel] = own.get(channel, 0.0) + 1 / len(paths)
    return shares


def rates_by_programs(graph: nx.Graph, demand: np.ndarray) -> np.ndarray:
    """Raise the least share of all pairs by a linear program, fix the pairs that cannot have more, and go on."""
    shares, nodes = shares_by_hand(graph), len(graph)
    pairs = [pair for pair in shares if demand[pair] > 0]
    channels = [*graph.edges, *((head, tail) for tail, head in graph.edges)]
    limits = [[shares[pair].get(channel, 0.0) for pair in pairs] for channel in channels]
    limits += [[float(pair[end] == node) for pair in pairs] for end in (0, 1) for node in range(nodes)]
    wanted = [demand[pair] for pair in pairs]
    fixed: dict[int, float] = {}

    def most(goal: np.ndarray, free: list[int], least: float) -> float:
        """The largest goal · (rates, level), if each free pair has at least `least`, and the level, of its demand."""
        above = [[-float(place == other) for other in range(len(pairs))] + [wanted[place]] for place in free]
        bounds = [(fixed[place],) * 2 if place in fixed else (least * want, want) for place, want in enumerate(wanted)]
        rows = [[*row, 0.0] for row in limits] + above
        found = linprog(-goal, rows, [1.0] * len(limits) + [0.0] * len(above), bounds=[*bounds, (0, 1)])
        assert found.status == 0
        return -found.fun

    while free := [place for place in range(len(pairs)) if place not in fixed]:
        level = most(np.eye(len(pairs) + 1)[-1], free, 0.0)
        stuck = [
            place
            for place in free
            if most(np.eye(len(pairs) + 1)[place], free, level * (1 - 1e-9)) < wanted[place] * level * (1 + 1e-6)
        ]
        fixed |= {place: wanted[place] * level * (1 - 1e-12) for place in stuck or free}
    rate = np.zeros((nodes, nodes))
    for place, value in fixed.items():
        rate[pairs[place]] = value
    return rate


@pytest.mark.parametrize("seed", range(6))
def test_rates_are_those_of_linear_programs(seed: int):
    graph, draw = nx.gnm_random_graph(5, 6, seed=seed), np.random.default_rng(seed)
    graph.add_edges_from(zip(range(4), range(1, 5)))
    demand = draw.random((5, 5)) * (draw.random((5, 5)) < 0.7) * (1 - np.eye(5))
    demand *= 5 / demand.sum()
    found = ts.network(graph).loads("minimal", demand)
    expected = rates_by_programs(graph, demand)
    rows = sorted(found.terminals.to_pylist(), key=lambda row: row["terminal"])
    assert [row["sends"] for row in rows] == pytest.approx(expected.sum(axis=1), abs=1e-6)
    assert [row["receives"] for row in rows] == pytest.approx(expected.sum(axis=0), abs=1e-6)


def test_two_switches_of_three_hosts_share_one_link():
    """Nine pairs cross the link in each direction: each gets 1/9 instead of 1/6, beside three local pairs of 1/6."""
    graph = nx.Graph([(host, "ab"[host // 3]) for host in range(6)] + [("a", "b")])
    rows = ts.network(graph, terminals=range(6)).loads().terminals.to_pylist()
    assert [row["sends"] for row in rows] == pytest.approx([3 / 6 + 3 / 9] * 6)
    assert {row["bottleneck"] for row in rows} == {"a → b", "b → a"}
    assert [row["whole_sends"] for row in rows] == [None] * 6


def test_terminals_that_faults_cost_most_come_first():
    """One of a router's two links is gone: it sends at most one flit, of which the others take no more than before."""
    table = ts.network("faulty(ring(k=8), links=1, seed=0)").loads().terminals.to_pydict()
    lost = np.minimum(*(np.divide(table[now], table[f"whole_{now}"]) for now in ("sends", "receives")))
    assert (np.diff(lost) >= 0).all()
    assert lost[0] < 1
    assert table["whole_sends"] == [1.0] * 8


@pytest.mark.parametrize("spelling", ["torus(k=4, n=2)", "hypercube(n=4)"])
def test_terminals_of_a_network_that_carries_its_demand_get_it(spelling: str):
    table = ts.network(spelling).loads().terminals.to_pydict()
    assert set(table["sends"]) == set(table["receives"]) == {1.0}
    assert set(table["bottleneck"]) == {None}


def test_a_terminal_receives_at_most_a_flit_per_cycle():
    found = fair_rates(ts.network("circulant(n=4, steps=[1, 2])").topology, "minimal", "hot_spot(node=0, percent=100)")
    assert found.rate[:, 0] == pytest.approx([0.25] * 4)
    assert (found.full[:, 0] == 12 + 4 + 0).all()


def test_every_stopped_pair_has_a_full_channel_and_no_faster_pair_uses_it():
    """The definition: each pair that wants more uses a full channel, on which no pair has more of its demand."""
    topology = ts.network("faulty(torus(k=8, n=2), links=3, seed=2)").topology
    found = fair_rates(topology, "minimal", "uniform")
    tail, _, port = topology.arcs
    shares = pair_shares(routing("minimal", topology)[1], tail.astype(np.int64) * topology.ports.shape[1] + port)
    carried = (shares * found.rate).sum(axis=(1, 2))
    assert carried.max() <= 1 + 1e-9
    stopped = np.argwhere(found.rate < found.demand * (1 - 1e-9))
    assert len(stopped)
    for source, target in stopped.tolist():
        channel = found.full[source, target]
        using = shares[channel] > 0
        assert using[source, target]
        assert carried[channel] == pytest.approx(1)
        assert (found.rate[using] <= found.rate[source, target] * (1 + 1e-9)).all()


def test_the_command_prints_them_and_refuses_a_large_network():
    lines = torusweep("loads", "mesh(k=3, n=2)", "--terminals").splitlines()
    assert lines[0].startswith("topology,routing,traffic,terminal,sends,receives")
    assert len(lines) == 10
    with pytest.raises(Refused, match="expected at most 134,217,728 shares"):
        fair_rates(ts.network("torus(k=12, n=3)").topology, "minimal", "uniform")


@pytest.mark.parametrize("ring", ["ring(k=6)", "concentrated(ring(k=8), terminals=2)"])
def test_the_terminals_of_failed_nodes_are_left_out_of_the_comparison(ring: str):
    """Each terminal that is left is beside itself: in a ring, all send alike before the failure."""
    network = ts.network(f"faulty({ring}, nodes=1, seed=3)")
    table = network.loads().terminals.to_pydict()
    assert len(table["sends"]) == len(network.terminals)
    assert len(set(table["whole_sends"])) == 1
    lost = np.minimum(*(np.divide(table[now], table[f"whole_{now}"]) for now in ("sends", "receives")))
    assert (np.diff(lost) >= 0).all()


def test_a_network_without_channels_has_packets_to_oneself_alone():
    table = ts.network("lattice(matrix=[[1, 0], [0, 1]])").loads().terminals.to_pydict()
    assert (table["sends"], table["receives"], table["bottleneck"]) == ([1.0], [1.0], [None])
