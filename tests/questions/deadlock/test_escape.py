"""Adaptive routing with an escape: Duato's extended dependency graph by plain loops, and known results on grids."""

from __future__ import annotations

import re
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.deadlock.routing_case import deadlock_case, routing_spelling
from torusweep.questions.deadlock.verdict import _escapes
from torusweep_kernels.dependencies import raise_heights


def record(network, rule, number, name="adaptive"):
    return deadlock_record(build(network), routing=name, vc_rule=rule, virtual_channels=number)


def address(node, sides):
    digits = []
    for side in sides:
        node, digit = divmod(node, side)
        digits.append(digit)
    return digits


def number_of(digits, sides):
    value, stride = 0, 1
    for digit, side in zip(digits, sides):
        value, stride = value + digit * stride, stride * side
    return value


def escape_hop(node, destination, sides, wraps, two_classes):
    """(next node, class): dimension order, + at half a ring; class 0 while a wraparound lies ahead in the dimension."""
    here, there = address(node, sides), address(destination, sides)
    for i, side in enumerate(sides):
        if here[i] != there[i]:
            ahead = (there[i] - here[i]) % side if wraps else there[i] - here[i]
            forward = ahead > 0 and (2 * ahead <= side or not wraps)
            after = list(here)
            after[i] = (here[i] + (1 if forward else -1)) % side
            crosses = wraps and (there[i] < here[i] if forward else there[i] > here[i])
            return number_of(after, sides), int(two_classes and not crosses)
    raise AssertionError


def extended_graph(sides, wraps, two_classes):
    """For every destination: hold an escape channel, continue on any shortest path, request another."""
    nodes = range(number_of([side - 1 for side in sides], sides) + 1)
    links = nx.DiGraph()
    for node in nodes:
        here = address(node, sides)
        for i, side in enumerate(sides):
            for step in (1, -1):
                if wraps or 0 <= here[i] + step < side:
                    links.add_edge(node, number_of([*here[:i], (here[i] + step) % side, *here[i + 1 :]], sides))
    return extended(links, lambda node, destination: escape_hop(node, destination, sides, wraps, two_classes))


def extended(links: nx.DiGraph, escape):
    """The graph of a network's links and the hops `escape(node, destination)`: (next node, class)."""
    found = nx.DiGraph()
    for destination in links:
        away = nx.shortest_path_length(links, target=destination)
        nearer = nx.DiGraph((u, v) for u, v in links.edges if away[v] == away[u] - 1)
        hop = {node: escape(node, destination) for node in links if node != destination}
        for node, (after, kind) in hop.items():
            found.add_node((node, after, kind))
            for there in {after, *nx.descendants(nearer, after)} - {destination}:
                found.add_edge((node, after, kind), (there, *hop[there]))
    return found


@pytest.mark.parametrize("sides", [(4, 3), (3, 2, 3), (5,), (4, 4)])
def test_adaptive_routing_on_a_hyperx_needs_two_virtual_channels(sides):
    """One escape in dimension order, one hop a dimension; one for any shortest path."""
    graph = nx.DiGraph()
    nodes = range(int(np.prod(sides)))
    for u in nodes:
        apart = ((v, sum(a != b for a, b in zip(address(u, sides), address(v, sides)))) for v in nodes)
        graph.add_edges_from((u, v) for v, digits in apart if digits == 1)

    def escape(node, destination):
        here, there = address(node, sides), address(destination, sides)
        first = next(i for i in range(len(sides)) if here[i] != there[i])
        return number_of([*here[:first], there[first], *here[first + 1 :]], sides), 0

    plain = extended(graph, escape)
    found = record(f"hyperx(radices={list(sides)}, terminals=2)", "none", 2)
    assert nx.is_directed_acyclic_graph(plain)
    assert (found["channels"], found["dependencies"]) == (len(plain), plain.number_of_edges())
    assert (found["deadlock_free"], found["least_virtual_channels"], found["least_rule"]) == ("yes", 2, "none")


@pytest.mark.parametrize(
    ("network", "sides", "wraps"),
    [
        ("mesh(k=4, n=2)", (4, 4), False),
        ("mesh(radices=[3, 2, 3])", (3, 2, 3), False),
        ("hypercube(n=4)", (2, 2, 2, 2), False),
        ("torus(k=4, n=2)", (4, 4), True),
        ("torus(radices=[5, 3])", (5, 3), True),
        ("torus(radices=[3, 4, 3])", (3, 4, 3), True),
        ("ring(k=6)", (6,), True),
    ],
)
@pytest.mark.parametrize("rule", ["none", "dateline"])
def test_extended_graph_equals_that_of_plain_loops(network, sides, wraps, rule):
    plain = extended_graph(sides, wraps, rule == "dateline")
    found = record(network, rule, 3)
    assert (found["channels"], found["dependencies"]) == (len(plain), plain.number_of_edges())
    acyclic = nx.is_directed_acyclic_graph(plain)
    assert (found["acyclic"], found["deadlock_free"]) == (acyclic, "yes" if acyclic else "unknown")
    assert found["argument"].startswith("escape-acyclic" if acyclic else "cyclic")
    if not acyclic:
        assert len(found["cycle"]) == found["cycle_length"] > 1
        nodes = [int(words.split()[0]) for words in found["cycle"]]
        edges = {(u[0], v[0]) for u, v in plain.edges}
        assert all(pair in edges for pair in pairwise([*nodes, nodes[0]]))


@pytest.mark.parametrize(
    ("network", "sides", "wraps"),
    [
        ("mesh(k=4, n=2)", (4, 4), False),
        ("torus(k=4, n=2)", (4, 4), True),
        ("torus(radices=[5, 3])", (5, 3), True),
        ("ring(k=6)", (6,), True),
    ],
)
@pytest.mark.parametrize("rule", ["none", "dateline"])
@pytest.mark.parametrize("passes", [0, 1, 12])  # the limit on passes for heights
def test_verdict_without_a_matrix_is_the_same(monkeypatch, network, sides, wraps, rule, passes):
    monkeypatch.setattr("torusweep.questions.deadlock.verdict.MAX_MATRIX_CHANNELS", 0)
    monkeypatch.setattr("torusweep.questions.deadlock.verdict.PASSES", passes)
    plain = extended_graph(sides, wraps, rule == "dateline")
    found = record(network, rule, 3)
    assert (found["channels"], found["dependencies"]) == (len(plain), None)
    assert found["acyclic"] == nx.is_directed_acyclic_graph(plain)
    assert (found["least_virtual_channels"], found["least_rule"]) == ((3, "dateline") if wraps else (2, "none"))
    if not found["acyclic"]:
        words = [re.fullmatch(r"(\d+) \(([\d,]+)\) ([xyz])([+-]) vc(\d)", channel) for channel in found["cycle"]]
        cycle = []
        for word in words:
            here = address(int(word[1]), sides)
            here["xyz".index(word[3])] += 1 if word[4] == "+" else -1
            cycle.append(
                (int(word[1]), number_of([digit % side for digit, side in zip(here, sides)], sides), int(word[5]))
            )
        assert all(plain.has_edge(u, v) for u, v in pairwise([*cycle, cycle[0]]))
        back = nx.shortest_path_length(plain, target=cycle[0])  # from every channel that leads there
        assert len(cycle) == 1 + min(back[after] for after in plain.successors(cycle[0]) if after in back)


@pytest.mark.parametrize(
    ("network", "sides", "wraps"),
    [
        ("mesh(k=4, n=2)", (4, 4), False),
        ("torus(k=4, n=2)", (4, 4), True),
        ("torus(radices=[3, 4, 3])", (3, 4, 3), True),
    ],
)
def test_heights_are_the_longest_chains_of_dependencies(network, sides, wraps):
    """Raised from 0 until none changes, a channel's height is the length of the longest chain that begins with it."""
    plain = extended_graph(sides, wraps, True)
    longest = {}
    for channel in reversed(list(nx.topological_sort(plain))):
        longest[channel] = max((longest[after] + 1 for after in plain.successors(channel)), default=0)
    case = deadlock_case(build(network), routing="adaptive", vc_rule="dateline", virtual_channels=3)
    escapes, used = _escapes(case.form, case.rule.within(2))
    height = np.zeros(len(used), np.int32)
    while not np.array_equal(height, after := raise_heights(height, escapes)):
        height = after
    classes = len(used) // escapes.ports.size
    ours = {
        (c // classes // escapes.ports.shape[1], int(escapes.ends[c]), c % classes): int(height[c])
        for c in np.flatnonzero(used).tolist()
    }
    assert ours == longest


@pytest.mark.parametrize(
    ("network", "least", "least_rule"),
    [
        ("mesh(k=4, n=2)", 2, "none"),
        ("hypercube(n=5)", 2, "none"),
        ("torus(k=5, n=2)", 3, "dateline"),
        ("torus(k=8, n=2)", 3, "dateline"),
    ],
)
@pytest.mark.parametrize(("rule", "number"), [("none", 2), ("dateline", 3), ("dateline", 5), ("bubble", 2)])
def test_least_virtual_channels_include_an_adaptive_one(network, least, least_rule, rule, number):
    """Duato 1993: the escape of a mesh needs one channel, that of a torus two."""
    found = record(network, rule, number)
    assert (found["least_virtual_channels"], found["least_rule"]) == (least, least_rule)
    assert found["deadlock_free"] == ("unknown" if number < least and rule != "bubble" else "yes")


@pytest.mark.parametrize("network", ["torus(k=8, n=2)", "rtt(a=4)", "pdtt(a=2)", "mesh(k=4, n=2)"])
def test_bubble_in_the_escape_rings(network):
    """The router of Cámara et al. 2010: an escape channel with a bubble, and adaptive channels."""
    found = record(network, "bubble", 3)
    assert found["deadlock_free"] == "yes"
    assert found["argument"].startswith("bubble")


@pytest.mark.parametrize(
    ("network", "rule", "number", "name", "says"),
    [
        ("ring(k=4)", "none", 1, "adaptive", "expected 2 or more with adaptive routing"),
        ("ring(k=4)", "phases", 2, "adaptive", "rule phases: expected none, dateline, bubble"),
        ("ccc(n=3)", "none", 2, "adaptive", "expected a torus"),
        ("ring(k=4)", "none", 2, "adaptive(escape=minimal)", "expected dimension_order or routing_record"),
        (
            "torus(k=21, n=3)",
            "dateline",
            3,
            "adaptive",
            "at most 67,108,864 pairs of a node and a destination, got 85,766,121",
        ),
    ],
)
def test_refusals(network, rule, number, name, says):
    with pytest.raises(BadInput, match=says):
        record(network, rule, number, name)


def test_case_and_spelling():
    deadlock_case(build("ring(k=4)"), routing="adaptive", vc_rule="dateline", virtual_channels=3)
    assert routing_spelling("adaptive(escape = routing_record)") == "adaptive(escape=routing_record)"
    assert routing_spelling("dimension-order(tie=split)") == "dimension_order"
