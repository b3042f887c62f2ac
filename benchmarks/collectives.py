"""The optimum of collective operations on networks without symmetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from torusweep.collectives.optimum import optimum
from torusweep.networks.families import build
from torusweep.networks.topology import Topology

from benchmarks.networks import in_igraph
from benchmarks.race import Race


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    """`threads` changes nothing: a network's cuts are counted on one."""
    sizes = {"8 × 8": "torus(k=8, n=2)", "16 × 16": "torus(k=16, n=2)", "8³": "torus(k=8, n=3)"}
    if large:
        sizes["32 × 32"] = "torus(k=32, n=2)"
    for size, whole in sizes.items():
        topology = build(f"faulty({whole}, links=4, seed=5)")
        yield Race(
            "collectives",
            f"all_gather, torus {size}, 4 links cut",
            topology.nodes,
            gathering(topology),
            float(topology.nodes),
            "nodes",
            agree=same,
        )


def same(contender: str, ours: Fraction, theirs: Fraction) -> None:
    """That two fractions are equal, not nearly so."""
    assert theirs == ours, (contender, theirs, ours)


def gathering(topology: Topology) -> dict[str, Callable[[], Fraction]]:
    """N times the least time of an all-gather. igraph's maximum flows: the same method, from a source to all nodes."""
    rate = 1 / Fraction(optimum(topology, "all_gather").bound * topology.nodes).limit_denominator(10**6)
    graph = in_igraph(topology.ports).as_directed()
    nodes = topology.nodes
    source = graph.add_vertex()
    graph.add_edges([(source.index, node) for node in range(nodes)])
    capacity = np.append(np.full(graph.ecount() - nodes, rate.denominator), np.full(nodes, rate.numerator)).tolist()
    whole = nodes * rate.numerator

    def by_igraph() -> Fraction:
        """That no cut is narrower than the best one, which it is given: a flow for each node."""
        assert all(graph.maxflow_value(source.index, node, capacity) >= whole for node in range(nodes))
        return 1 / rate

    return {
        "torusweep": lambda: Fraction(optimum(topology, "all_gather").bound * nodes).limit_denominator(10**6),
        "igraph": by_igraph,
    }
