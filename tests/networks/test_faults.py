"""Random faults of links and nodes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from torusweep.networks.families import build

from tests.networks.plain_networks import arcs_of


def test_faults_have_the_requested_number_are_nested_and_reproducible():
    whole = build("torus(k=6, n=2)")
    lost = []
    for links in range(0, 73, 8):
        topology = build(f"faulty(torus(k=6, n=2), links={links}, seed=3)")
        assert topology.links == whole.links - links
        lost.append(arcs_of(whole).keys() - arcs_of(topology).keys())
    assert all(fewer < more for fewer, more in pairwise(lost))
    again = build("faulty(torus(k=6, n=2), links=8, seed=3)")
    assert arcs_of(whole).keys() - arcs_of(again).keys() == lost[1]
    other = build("faulty(torus(k=6, n=2), links=8, seed=4)")
    assert arcs_of(whole).keys() - arcs_of(other).keys() != lost[1]


def test_faulty_nodes_lose_links_and_terminals():
    topology = build("faulty(directed_torus(k=4, n=2), nodes=5, links=2, seed=1)")
    gone = np.setdiff1d(np.arange(16), topology.terminals)
    assert len(gone) == 5
    assert (topology.ports[gone] == -1).all()
    assert not np.isin(topology.ports, gone).any()
    intact = sum(1 for u, v in zip(*build("directed_torus(k=4, n=2)").arcs[:2]) if u not in gone and v not in gone)
    assert topology.links == intact - 2
    assert topology.plan.symmetries() == []
    assert topology.plan.bisection is None


def test_faults_pinned_to_a_seed():
    """Links, ordered by tail and head, fail in the order of their Philox words. Old results depend on this."""
    words = np.random.Philox(key=[7, 1]).random_raw(18).tolist()
    links = [(u, v) for u, v in zip(*(a.tolist() for a in build("torus(k=3, n=2)").arcs[:2])) if u < v]
    expected = {links[i] for i in sorted(range(18), key=words.__getitem__)[:3]}
    left = {
        (u, v)
        for u, v in zip(*(a.tolist() for a in build("faulty(torus(k=3, n=2), links=3, seed=7)").arcs[:2]))
        if u < v
    }
    assert set(links) - left == expected


def test_faults_of_faults():
    topology = build("faulty(faulty(hypercube(n=4), links=3, seed=1), links=4, seed=2)")
    assert topology.links == 32 - 7
    assert topology.plan.notes == ("0 faulty nodes, 3 faulty links, seed 1", "0 faulty nodes, 4 faulty links, seed 2")
