"""Edge connectivity of networks without symmetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import networkx
from torusweep.networks.families import build
from torusweep.networks.links import channel_matrix, link_orbits
from torusweep.networks.symmetry import orbits_under
from torusweep.networks.topology import Topology
from torusweep.questions.static.connectivity import edge_connectivity

from benchmarks.networks import in_igraph, in_networkx
from benchmarks.race import Race

SLOW, SLOWEST = 4096, 64  # nodes beyond which igraph takes minutes, networkx seconds


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    """`threads` changes nothing: a network's cuts are counted on one."""
    sizes = {"8 × 8": "torus(k=8, n=2)", "8³": "torus(k=8, n=3)", "16³": "torus(k=16, n=3)", "32³": "torus(k=32, n=3)"}
    if large:
        sizes["100³"] = "torus(k=100, n=3)"
    for size, whole in sizes.items():
        topology = build(f"faulty({whole}, links=2, seed=5)")
        yield Race(
            "cuts", f"torus {size}, 2 links cut", topology.nodes, contenders(topology), float(topology.nodes), "nodes"
        )


def contenders(topology: Topology) -> dict[str, Callable[[], int | None]]:
    """The least number of links whose removal disconnects the network. Ours takes its matrix, others a graph."""
    matrix, nodes = channel_matrix(topology), orbits_under(topology.nodes, [])
    links = link_orbits(topology, [], nodes)
    chosen: dict[str, Callable[[], int | None]] = {
        "torusweep": lambda: edge_connectivity(topology, matrix, nodes, links, connected=True)[0],
    }
    if topology.nodes <= SLOW:
        graph = in_igraph(topology.ports)
        chosen["igraph"] = graph.edge_connectivity
    if topology.nodes <= SLOWEST:
        slow = in_networkx(topology.ports)
        chosen["networkx"] = lambda: networkx.edge_connectivity(slow)
    return chosen
