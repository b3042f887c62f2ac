"""Dependency graphs and verdicts of every routing and rule on small networks, against plain loops and networkx."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest
from torusweep.networks.families import build
from torusweep.networks.families.hierarchies import Hierarchy
from torusweep.questions.deadlock.counterexamples import packets_of
from torusweep.questions.deadlock.dependencies import dependencies, merge_classes, walk_all_pairs
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.deadlock.rules import RULES as OUR_RULES
from torusweep.questions.deadlock.rules import Rule, vc_rule
from torusweep.questions.deadlock.verdict import TOGETHER, verdict
from torusweep.questions.deadlock.window_dependencies import mark_windows
from torusweep.routing import ROUTINGS, GivenRouting, routing
from torusweep.routing.tables.as_table import table_of
from torusweep_kernels.dependencies import no_channels

from tests.questions.deadlock.least import once
from tests.questions.deadlock.plain_dependencies import (
    RULES,
    Datelines,
    every_route,
    graph,
    shortest_cycle_length,
    stepping,
)
from tests.questions.deadlock.plain_layered import LAYERED

IN_DIRECTIONS = [
    *((f"dimension_order(tie={tie})", "torus(k=4, n=2)") for tie in ("split", "positive", "sign", "random")),
    *(
        ("dimension_order", network)
        for network in ("torus(radices=[5, 3])", "torus(k=2, n=3)", "mesh(k=4, n=2)", "hypercube(n=4)", "ring(k=6)")
    ),
    ("dimension_order", "torus(k=4, n=2, directed=true)"),
    ("dimension_order(tie=sign)", "torus(radices=[6, 4])"),
    *(("random_order", network) for network in ("torus(k=4, n=2)", "mesh(radices=[3, 2, 2])", "hypercube(n=3)")),
    *((name, network) for name in ("reverse_order", "romm") for network in ("torus(k=4, n=2)", "mesh(k=3, n=2)")),
    ("romm", "hypercube(n=3)"),
    *(
        ("routing_record", network)
        for network in ("rtt(a=3)", "pdtt(a=2)", "illiac(k=4)", "lattice(matrix=[[4, 1], [1, 5]])")
    ),
    ("routing_record(tie=positive)", "ptt(a=2)"),
    *(
        ("minimal_by_address", network)
        for network in ("pruned_torus(k=4, n=3)", "pruned_t2(k=4)", "directed_torus(k=4, n=2)", "ccc(n=3)")
    ),
    ("clustering", "pruned_torus(k=4, n=3)"),
    ("clustering(tie=positive)", "pruned_torus(k=6, n=3)"),
    *(
        (name, network)
        for name in ("valiant", "valiant(by=random_order)")
        for network in ("torus(k=3, n=2)", "mesh(k=3, n=2)")
    ),
    ("valiant", "rtt(a=2)"),
    *(("valiant", network) for network in ("ring(k=5)", "ring(k=3)", "ring(k=2)", "mesh(k=3, n=1)", "torus(k=3, n=2)")),
    ("hierarchical", "tesh(m=2, levels=2, q=0)"),
    ("hierarchical(tie=split)", "mh3dt(m=3, n=2, levels=2, q=0)"),
    ("hierarchical(tie=positive)", "h3dt(m=3, n=2, levels=2, q=1)"),
]
RULES_TRIED = [
    ("none", 1),
    ("dateline", 1),
    ("dateline", 2),
    ("phases", 16),
    ("phases_dateline", 3),
    ("phases_dateline", 16),
]
MODULE_RULES = [(f"r05_wrap(reading={reading})", 2) for reading in ("dimension", "path", "will")]
MODULE_RULES += [(rule, number) for rule in ("r05_phases", "r05_phases(split=after_first)") for number in (2, 3)]
MODULE_RULES += [("r05_phases(split=levels)", 3)]


@cache
def build_routing(name, network):
    return routing(name, build(network))


@cache
def walk_routes(name, network):
    form = build_routing(name, network)[1]
    step, made = stepping(form), form.topology.plan.structure
    lines = Datelines(
        form.topology.nodes, form.moves.port.shape[1], step, len(made.module) if isinstance(made, Hierarchy) else 0
    )
    return list(every_route(form)), step, lines


@cache
def expected(name, network, rule, virtual_channels):
    canonical = rule.replace("(reading=dimension)", "")
    routes, step, lines = walk_routes(name, network)
    return graph(routes, RULES[canonical], virtual_channels, step, lines)


def in_words(channel, step, form):
    """As a record shows it."""
    node, there, virtual = channel
    d = min(d for d in range(form.moves.port.shape[1]) if step(node, d) == there)
    digits = ",".join(map(str, form.topology.addresses()[node]))
    return f"{node} ({digits}) {form.moves.names[d // 2]}{'+-'[d % 2]} vc{virtual}"


CASES = [
    *((*case, *rule) for case in IN_DIRECTIONS for rule in RULES_TRIED if "hier" not in case[0]),
    *(
        (*case, *rule)
        for case in IN_DIRECTIONS
        for rule in MODULE_RULES[:3]
        if case[0] in ("dimension_order", "clustering", "routing_record")
    ),
    *(
        (*case, *rule)
        for case in IN_DIRECTIONS
        for rule in [("dateline", 2), *MODULE_RULES]
        if case[1].startswith("mh3dt")
    ),
    *((*case, *rule) for case in IN_DIRECTIONS for rule in MODULE_RULES[1::2] if case[1].startswith("h3dt")),
    *(
        ("hierarchical", "tesh(m=2, levels=2, q=0)", *rule)
        for rule in [("phases", 16), MODULE_RULES[2], MODULE_RULES[6]]
    ),
]


def test_every_routing_and_rule_has_a_row():
    layered = {name for name, *_ in LAYERED}
    # test_table.py, test_hop_counts.py, routing/test_d_mod_k.py, routing/test_weighted.py
    tables = {"table", "valiant_by_group", "d_mod_k", "weighted"}
    assert {name.partition("(")[0] for name, *_ in CASES} | layered | tables == set(ROUTINGS)
    elsewhere = {"bubble", "table", "hops", "class_hops"}  # test_verdicts.py, test_table.py, test_hop_counts.py
    assert {rule.partition("(")[0] for *_, rule, _ in CASES} | elsewhere == set(OUR_RULES)


@pytest.mark.parametrize(("name", "network", "rule", "virtual_channels"), CASES)
def test_graph_equals_that_of_walked_packets(name, network, rule, virtual_channels):
    form = build_routing(name, network)[1]
    found = dependencies(form, vc_rule(rule, form)[1], virtual_channels)
    plain = expected(name, network, rule, virtual_channels)
    ports, count = form.topology.ports, found.classes

    def channel(node, own):
        return int(node), int(ports[node, own // count]), int(own % count)

    def edges(marks):
        return {(channel(u, own), channel(ports[u, own // count], after)) for u, own, after in np.argwhere(marks)}

    assert {channel(*place) for place in np.argwhere(found.channels.used)} == set(plain)
    assert edges(found.channels.depends) == set(plain.edges)
    first = edges(found.channels.depends & 2)
    marked = {(u, v) for u, v, is_first in plain.edges(data="first") if is_first}
    assert first <= marked
    assert form.passes == 2 or first == marked  # the turn at the random node is not marked


@pytest.mark.parametrize(("name", "network", "rule", "virtual_channels"), CASES)
def test_merged_classes_give_the_graph_of_rule_none(name, network, rule, virtual_channels):
    form = build_routing(name, network)[1]
    left = merge_classes(dependencies(form, vc_rule(rule, form)[1], virtual_channels))
    plain = dependencies(form, vc_rule("none", form)[1], 1)
    np.testing.assert_array_equal(left.channels.used, plain.channels.used)
    np.testing.assert_array_equal(left.channels.depends, plain.channels.depends)


@pytest.mark.parametrize(("name", "network"), IN_DIRECTIONS)
@pytest.mark.parametrize(("rule", "virtual_channels"), [("none", 1), ("dateline", 2), ("phases_dateline", 16)])
def test_windows_and_walks_agree(name, network, rule, virtual_channels):
    form = build_routing(name, network)[1]
    classes, memory = vc_rule(rule, form)[1].within(virtual_channels), vc_rule(rule, form)[1].memory
    parts, walks = (
        no_channels(form.topology.nodes, form.topology.ports.shape[1] * (int(classes.max()) + 1)) for _ in range(2)
    )
    if not mark_windows(form, classes, memory, parts):
        assert not parts.used.any()
        assert not form.separable
        return
    walk_all_pairs(form, classes, memory, walks)
    for ours, theirs in zip(parts[:2], walks[:2]):
        np.testing.assert_array_equal(ours, theirs)
    if form.passes == 2:
        np.testing.assert_array_equal(parts.ending, walks.ending)
        np.testing.assert_array_equal(parts.starting, walks.starting)


def test_channel_numbers_beyond_a_byte():
    """4 ports × 61 classes, of which packets use the last: the same channels and packets as with one class."""
    form = build_routing("dimension_order", "torus(k=4, n=2)")[1]
    rules = {classes: Rule(np.full((1, 2), classes - 1, np.int16)) for classes in (1, 61)}
    one, last = (dependencies(form, rule, classes) for classes, rule in rules.items())
    np.testing.assert_array_equal(last.channels.used[:, 60::61], one.channels.used)
    np.testing.assert_array_equal(last.channels.depends[:, 60::61, 60::61], one.channels.depends)
    assert last.channels.depends.any(axis=(0, 1)).sum() == one.channels.depends.any(axis=(0, 1)).sum()
    cycle = verdict(form, rules[1], one).cycle
    packets = [packets_of(form, rules[n], n, cycle * n + n - 1, entering=True) for n in (1, 61)]
    assert packets[0] == packets[1]


LEAST = once()


@pytest.mark.parametrize(("name", "network", "rule", "virtual_channels"), CASES)
def test_verdict(name, network, rule, virtual_channels, monkeypatch):
    monkeypatch.setattr("torusweep.questions.deadlock.record.least_virtual_channels", LEAST)
    form = build_routing(name, network)[1]
    plain = expected(name, network, rule, virtual_channels)
    record = deadlock_record(form.topology, routing=name, vc_rule=rule, virtual_channels=virtual_channels)
    assert record["acyclic"] == nx.is_directed_acyclic_graph(plain)
    if record["acyclic"]:
        assert [record[name] for name in ("deadlock_free", "cycle", "cycle_length", "packets")] == ["yes"] + [None] * 3
        return
    assert record["deadlock_free"] in ("no", "unknown")
    first = nx.DiGraph((u, v) for u, v, is_first in plain.edges(data="first") if is_first)
    proving = plain if record["deadlock_free"] == "unknown" else first
    together = record["argument"] == TOGETHER  # beyond their first channels
    if together:
        proving = plain
    assert (record["deadlock_free"] == "no" and not together) != nx.is_directed_acyclic_graph(first)
    spelled = {in_words(channel, walk_routes(name, network)[1], form): channel for channel in plain}
    assert len(record["cycle"]) == record["cycle_length"]
    if virtual_channels <= vc_rule(rule, form)[1].number:  # each class is one virtual channel: words identify it
        cycle = [spelled[words] for words in record["cycle"]]
        assert all(proving.has_edge(u, v) for u, v in pairwise([*cycle, cycle[0]]))
        if together:
            check_together(name, network, rule, virtual_channels, record["packets"], cycle)
        elif record["deadlock_free"] == "no":
            check_packets(name, network, rule, virtual_channels, record["packets"], cycle)
    assert (record["packets"] is None) == (record["deadlock_free"] == "unknown")
    if form.passes == 1 and not together:
        assert record["cycle_length"] == shortest_cycle_length(proving)


def check_together(name, network, rule, virtual_channels, packets, cycle):
    """Assert that some routes of the packets have equally many hops before the cycle, none near another's."""
    routes, step, lines = walk_routes(name, network)
    choose = RULES[rule.replace("(reading=dimension)", "")]
    wanted = {packet: (held, onto) for packet, held, onto in zip(packets, cycle, [*cycle[1:], cycle[0]], strict=True)}
    assert len(wanted) == len(cycle) == len({packet.split(" → ")[0] for packet in packets})
    ways = {}  # by packet and number of hops before its channel of the cycle: those hops' links
    for hops in filter(None, routes):
        end = step(*hops[-1][:2])
        packet = f"{hops[0][0]} → {end}"
        if packet in wanted and hops[0][0] != end:
            chosen = [min(c, virtual_channels - 1) for c in choose(hops, lines)]
            channels = [(node, step(node, d), c) for (node, d, _, _), c in zip(hops, chosen)]
            for place in range(1, len(channels) - 1):
                if (channels[place], channels[place + 1]) == wanted[packet]:
                    ways.setdefault((packet, place), []).append({channel[:2] for channel in channels[:place]})
    circle = {channel[:2] for channel in cycle}
    assert len(circle) == len(cycle)
    places = {place for _, place in ways}
    assert any(
        len(set.union(circle, *chosen)) == len(circle) + sum(map(len, chosen))
        for place in places
        for chosen in product(*(ways.get((packet, place), []) for packet in packets))
    )


def check_packets(name, network, rule, virtual_channels, packets, cycle):
    """Assert that each packet enters a channel of the cycle and requests the next one on one of its routes."""
    form = build_routing(name, network)[1]
    routes, step, lines = walk_routes(name, network)
    choose = RULES[rule.replace("(reading=dimension)", "")]
    by_source = {}
    for hops in filter(None, routes):
        by_source.setdefault(hops[0][0], []).append(hops)
    for packet, *channels in zip(packets, cycle, [*cycle[1:], cycle[0]], strict=True):
        source, way, middle, there = re.fullmatch(
            r"(\d+) (→|by way of itself →|by way of (\d+) →|by way of) (\d+)", packet
        ).groups()
        firsts = set()
        for hops in by_source[int(source)]:
            if middle is not None:  # one hop to the middle, and on
                first_half = [hop for hop in hops if hop[2] < form.phases]
                ends = [step(half[-1][0], half[-1][1]) for half in (first_half, hops) if half]
                if len(first_half) == 1 and len(hops) > 1 and ends == [int(middle), int(there)]:
                    chosen = [min(c, virtual_channels - 1) for c in choose(hops, lines)]
                    firsts.add(tuple((node, step(node, d), c) for (node, d, _, _), c in zip(hops[:2], chosen)))
                continue
            inner = [hop for hop in hops if (hop[2] < form.phases) == (way != "by way of itself →")]
            # with one pass, or by way of the source itself, the route has no hops before these
            whole = inner if way == "by way of" else hops
            if inner and inner == whole and step(inner[-1][0], inner[-1][1]) == int(there):
                chosen = [min(c, virtual_channels - 1) for c in choose(hops, lines)]
                firsts.add(tuple((node, step(node, d), c) for (node, d, _, _), c in zip(inner[:2], chosen)))
        assert tuple(channels) in firsts


@pytest.mark.parametrize(("rule", "virtual_channels"), [("none", 1), ("phases", 2), ("phases_dateline", 4)])
@pytest.mark.parametrize(
    ("network", "one_class"),  # dependencies of rule none: all packets, and those to another node
    [
        ("hamming(radices=[4])", (36, 24)),  # 12 channels × 3 that go on; 2 do not lead back
        ("ring(k=2)", (2, 0)),
        ("ring(k=3)", (12, 6)),
        ("ring(k=4)", (16, 16)),
        (
            "mesh(k=3, n=1)",
            (6, 4),
        ),  # 0's channel to 1 has only 0's packets, the one back only those to 0; likewise 2
        ("hyperx(radices=[3], terminals=2)", (12, 12)),  # a terminal to the other one of its router, by way of another
        ("torus(radices=[3, 2])", (54, 54)),
    ],
)
def test_of_uniform_other_no_packets_to_their_own_source_count(network, one_class, rule, virtual_channels):
    form = build_routing("valiant", network)[1]
    routes, step, lines = walk_routes("valiant", network)
    alone = len(form.topology.terminals) == form.topology.nodes
    away = [hops for hops in routes if hops and (not alone or hops[0][0] != step(*hops[-1][:2]))]
    for traffic, some, number in zip(("uniform", "uniform_other"), (routes, away), one_class):
        plain = graph(some, RULES[rule], virtual_channels, step, lines)
        record = deadlock_record(
            form.topology, routing="valiant", vc_rule=rule, virtual_channels=virtual_channels, traffic=traffic
        )
        assert record["dependencies"] == plain.number_of_edges()
        assert record["acyclic"] == nx.is_directed_acyclic_graph(plain)
        if rule == "none":
            table = GivenRouting("listed", table_of(form))
            listed = deadlock_record(form.topology, routing=table, vc_rule=rule, virtual_channels=1, traffic=traffic)
            assert (record["dependencies"], listed["dependencies"]) == (number, number)
