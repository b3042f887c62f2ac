"""Rings through all nodes: that they are rings, that they share no link, how many there are."""

from __future__ import annotations

import networkx as nx
import pytest
from torusweep.collectives.rings import disjoint_rings, ring_of
from torusweep.errors import BadInput
from torusweep.networks.families import build

from tests.questions.static.networks import as_networkx

# network, hops between neighbours of the ring, disjoint rings (0: no Hamiltonian cycle)
RINGS = [
    ("ring(k=7)", 1, 1),
    ("torus(k=8, n=2)", 1, 2),  # Kotzig 1973
    ("torus(radices=[3, 5])", 1, 2),
    ("torus(k=4, n=3)", 1, 3),  # Foregger 1978
    ("torus(radices=[3, 4, 5])", 1, 3),
    ("torus(radices=[4, 4, 8])", 1, 3),
    ("torus(radices=[8, 4, 2])", 1, 2),  # five links a node: two rings and a matching
    ("rtt(a=4)", 1, 2),
    ("pdtt(a=3)", 1, 3),
    ("circulant(n=21, steps=[1, 8])", 1, 2),
    ("hypercube(n=6)", 1, 3),
    ("mesh(radices=[4, 5])", 1, 1),
    ("mesh(radices=[3, 3, 4])", 1, 1),
    ("mesh(k=3, n=2)", 2, 0),  # bipartite, 5 and 4 nodes of either colour
    ("mesh(radices=[5, 3])", 2, 0),
    ("mesh(k=3, n=3)", 2, 0),
    ("mesh(radices=[7])", 2, 0),
    ("ccc(n=3)", 1, 1),
    ("faulty(torus(k=6, n=2), links=1, seed=1)", 1, 1),
]


@pytest.mark.parametrize(("network", "hops", "rings"), RINGS)
def test_rings(network, hops, rings):
    topology = build(network)
    graph = as_networkx(topology)
    order, most = ring_of(topology)
    assert sorted(order.tolist()) == list(range(topology.nodes))
    distances = [nx.shortest_path_length(graph, *ends) for ends in pairs(order.tolist())]
    assert max(distances) == most == hops
    if not rings:
        with pytest.raises(BadInput, match="Hamiltonian cycle"):
            disjoint_rings(topology)
        return
    found = disjoint_rings(topology)
    assert len(found) >= rings
    used = set()
    for ring in found:
        assert sorted(ring.tolist()) == list(range(topology.nodes))
        for ends in pairs(ring.tolist()):
            assert graph.has_edge(*ends)
            assert frozenset(ends) not in used
            used.add(frozenset(ends))


def pairs(order):
    return list(zip(order, [*order[1:], order[0]]))


def test_two_nodes_have_no_ring():
    with pytest.raises(BadInput, match="expected a Hamiltonian cycle, found none"):
        disjoint_rings(build("hypercube(n=1)"))
