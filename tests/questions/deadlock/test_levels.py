"""Three levels of modules: R05's phases suffice for two levels only, a class for each level for any number."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from torusweep.networks.families import build
from torusweep.questions.deadlock.dependencies import dependencies
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.deadlock.rules import vc_rule
from torusweep.questions.deadlock.verdict import verdict
from torusweep.routing import routing

from tests.questions.deadlock.plain_dependencies import RULES, Datelines, hops_of, stepping

NETWORKS = ["h3dt(m=3, n=2, levels=3, q=0)", "mh3dt(m=3, n=2, levels=3, q=0)"]
MODULE = 27  # nodes


@cache
def build_routing(network):
    form = routing("hierarchical", build(network))[1]
    step = stepping(form)
    return form, step, Datelines(form.topology.nodes, form.moves.port.shape[1], step, module=3)


def routes_from(network, sources, destinations):
    """The route of each pair, as hops."""
    form, step, _ = build_routing(network)
    first, _, *runs = form.routes(form.key(np.array(sources), np.array(destinations)))
    assert len(first) == len(sources) + 1 == first[-1] + 1
    for source, *row in zip(sources, *(array.tolist() for array in runs)):
        yield hops_of(source, [run for run in zip(*row) if run[1]], step)[0]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(
    ("rule", "number", "acyclic"), [("last", 2, False), ("last", 4, False), ("levels", 2, False), ("levels", 3, True)]
)
def test_verdicts_with_three_levels(network, rule, number, acyclic):
    """A cycle remains a cycle when translations fold all modules onto one: an acyclic folded graph is a proof.

    The converse does not hold: the test below shows a cycle by its packets.
    """
    form, _, lines = build_routing(network)
    name = "r05_phases" if rule == "last" else f"r05_phases(split={rule})"
    own = vc_rule(name, form)[1]
    found = verdict(form, own, dependencies(form, own, number))
    assert (found.acyclic, found.deadlock_free) == (acyclic, "yes" if acyclic else "no")
    if acyclic:
        folded = nx.DiGraph()
        for hops in routes_from(network, *np.divmod(np.arange(MODULE * form.topology.nodes), form.topology.nodes)):
            chosen = RULES[name](hops, lines)
            inside = [
                (node % MODULE, d, min(c, number - 1) if d < 6 else None) for (node, d, *_), c in zip(hops, chosen)
            ]
            folded.add_edges_from(pairwise(inside))
        assert nx.is_directed_acyclic_graph(folded)


@pytest.mark.parametrize("network", NETWORKS)
def test_the_packets_of_the_cycle_block_each_other(network):
    """z of level 3, z+, y of level 3, z− on the way down, z of level 3 …, from the packets' own routes."""
    form, step, lines = build_routing(network)
    record = deadlock_record(form.topology, routing="hierarchical", vc_rule="r05-phases", virtual_channels=2)
    ends = [tuple(map(int, re.fullmatch(r"(\d+) → (\d+)", packet).groups())) for packet in record["packets"]]
    entered, waits = [], nx.DiGraph()
    for hops in routes_from(network, *zip(*ends)):
        current, requested = [
            (node, step(node, d), min(c, 1)) for (node, d, *_), c in zip(hops, RULES["r05_phases"](hops, lines))
        ][:2]
        entered.append(current)
        waits.add_edge(current, requested)
    assert len(set(entered)) == len(ends) == record["cycle_length"] == 8
    assert nx.is_isomorphic(waits, nx.cycle_graph(8, create_using=nx.DiGraph))
    assert [channel.split()[2:-1] for channel in record["cycle"]].count(["level", "3", "z+"]) >= 2
    assert (record["least_virtual_channels"], record["least_rule"], record["least_reason"]) == (
        2,
        "r05_phases(split=after_first)",
        None,
    )
