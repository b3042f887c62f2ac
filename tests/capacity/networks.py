"""Small networks, and demands between their nodes, for the tests of this folder."""

from __future__ import annotations

import numpy as np
from torusweep.networks.families import build
from torusweep.traffic import traffic

from tests.questions.static.networks import network

KITE = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (3, 6), (4, 6), (5, 6), (6, 7)]
MAKERS = {
    "kite": lambda: network(8, KITE),
    "kite with parallel links": lambda: network(8, [(*link, 1 + i % 3) for i, link in enumerate(KITE)]),
    "kite with terminals": lambda: network(8, KITE, terminals=[0, 0, 6, 3, 2, 2, 2, 5]),
    "one-way kite": lambda: network(8, [*KITE, (7, 0), (4, 2), (5, 1)], directed=True),
}


def make(name):
    return MAKERS[name]() if name in MAKERS else build(name)


def between_nodes(topology, spelling):
    return traffic(spelling, topology)[1].at_nodes(topology.terminals, topology.nodes)


def demands(topology, spelling):
    """{(source node, destination node): flits} from the matrix between terminals."""
    amount = {}
    matrix = traffic(spelling, topology)[1].rows(np.arange(len(topology.terminals)))
    for (i, j), flits in np.ndenumerate(matrix):
        ends = tuple(topology.terminals[[i, j]].tolist())
        if ends[0] != ends[1] and flits:
            amount[ends] = amount.get(ends, 0) + flits
    return amount
