"""ASTRA-sim: the physical topology of its ns-3 backend, and where it can hold the network, its analytical backend's.

Source: astra-sim/astra-network-ns3, commit 8fd3604: scratch/common.h (SetupNetwork reads the file; only switches
forward; a host's address has 16 bits of its number), scratch/topology/8_nodes_1_switch_topology.txt.
astra-sim/astra-network-analytical, commit 599a047: common/network-parser/NetworkParser.cpp, input/*.yml; dimension 0
varies fastest in the numbers of NPUs (congestion_unaware/multi-dim-topology/MultiDimTopology.cpp).
astra-sim/astra-sim, commit 518bd51: examples/network/ns3/sample_8nodes_1D.json (logical topology).

ns-3: terminal t is host t, node v is switch T + v for T terminals, since a host does not forward packets.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from torusweep.errors import Refused
from torusweep.interchange.formats import Format, links_of, one_each
from torusweep.networks.topology import NO_PORT, Topology, node_index
from torusweep.tables.store import publish

PHYSICAL, LOGICAL, ANALYTICAL = "topology.txt", "logical_topology.json", "network.yml"
RATE, DELAY, ERRORS = "400Gbps", "0.0005ms", "0"  # of a link, as in the ns-3 backend's example
BANDWIDTH, LATENCY = 50.0, 500.0  # GB/s and ns of a link, as in the analytical backend's examples
MOST_HOSTS = 1 << 16


def physical(topology: Topology) -> str:
    """The ns-3 backend's file: counts, numbers of the switches, then a line for each link."""
    hosts = len(topology.terminals)
    links = links_of(topology)
    ends = chain(
        zip(range(hosts), (topology.terminals + hosts).tolist()),
        zip((links.source + hosts).tolist(), (links.target + hosts).tolist()),
    )
    lines = [f"{hosts + topology.nodes} {topology.nodes} {hosts + len(links.source)}"]
    lines.append(" ".join(map(str, range(hosts, hosts + topology.nodes))))
    lines += [f"{one} {other} {RATE} {DELAY} {ERRORS}" for one, other in ends]
    return "\n".join([*lines, ""])


def building_blocks(topology: Topology) -> list[tuple[str, int]] | None:
    """[("Ring" or "FullyConnected", NPUs), …] of a network that is a product of rings and complete graphs, else None.

    The dimensions are those of the addresses of its nodes, dimension 0 first. Two nodes are a complete graph: between
    two, a ring would have two links.
    """
    sides = [side for side in topology.plan.radices if side > 1]
    if topology.directed or topology.capacity is not None or not one_each(topology) or not sides:
        return None
    shape = tuple(sides)
    digits = topology.addresses()[:, [side > 1 for side in topology.plan.radices]]
    steps: list[Sequence[int]] = []
    for dimension, side in enumerate(shape):
        complete = _is_neighbour(topology, digits, shape, dimension, 2)
        steps.append(range(1, side) if complete else (1, side - 1))
    used = np.sort(topology.ports, axis=1)
    used = used[:, (used != NO_PORT).any(axis=0)]
    if sum(map(len, steps)) != used.shape[1]:
        return None
    expected = []
    for dimension, moves in enumerate(steps):
        for step in moves:
            moved = digits.copy()
            moved[:, dimension] += step
            expected.append(node_index(moved, shape))
    if not np.array_equal(np.sort(np.column_stack(expected), axis=1), used):
        return None
    return [("FullyConnected" if len(moves) == side - 1 else "Ring", side) for moves, side in zip(steps, shape)]


def _is_neighbour(topology: Topology, digits: np.ndarray, shape: tuple[int, ...], dimension: int, step: int) -> bool:
    """Whether node 0 has a link to the node `step` further in a dimension; steps of 1 and side − 1 are in any ring."""
    if shape[dimension] < 4:
        return True
    other = digits[0].copy()
    other[dimension] += step
    return bool((topology.ports[0] == node_index(other, shape)).any())


def analytical(blocks: list[tuple[str, int]]) -> str:
    """The analytical backend's file."""
    return (
        f"topology: [ {', '.join(kind for kind, _ in blocks)} ]\n"
        f"npus_count: [ {', '.join(str(side) for _, side in blocks)} ]\n"
        f"bandwidth: [ {', '.join([str(BANDWIDTH)] * len(blocks))} ]  # GB/s\n"
        f"latency: [ {', '.join([str(LATENCY)] * len(blocks))} ]  # ns\n"
    )


def write(topology: Topology, folder: Path) -> list[Path]:
    """Write topology.txt, logical_topology.json and, for products of rings and complete graphs, network.yml."""
    blocks = building_blocks(topology)
    sides = [len(topology.terminals)] if blocks is None else [side for _, side in blocks]
    contents = {
        PHYSICAL: physical(topology),
        LOGICAL: json.dumps({"logical-dims": [str(side) for side in sides]}) + "\n",
    }
    if blocks is not None:
        contents[ANALYTICAL] = analytical(blocks)
    for name, content in contents.items():
        publish(folder / name, content.encode())
    return [folder / name for name in contents]


def _check(topology: Topology) -> None:
    if len(topology.terminals) > MOST_HOSTS:
        raise Refused(
            f"{topology.spelling} as astra-sim: expected at most {MOST_HOSTS:,} terminals, which have addresses there,"
            f" got {len(topology.terminals):,}; choose a smaller network"
        )


def _remarks(topology: Topology) -> list[str]:
    hops = "ns-3 counts a link more at either end: from a terminal to its switch"
    if building_blocks(topology) is None:
        return [hops, "no network.yml: the analytical backend holds only products of rings and complete graphs"]
    return [hops]


def _command(files: list[Path]) -> str:
    if files[-1].name == ANALYTICAL:
        return f"AstraSim_Analytical_Congestion_Unaware --network-configuration={files[-1]} …"
    return f"AstraSimNetwork --logical-topology-configuration={files[1]} …, with TOPOLOGY_FILE {files[0]} in config.txt"


FORMAT = Format(
    "ASTRA-sim: the topology of its ns-3 backend, and of its analytical one where that can hold it",
    "",
    frozenset({"terminals", "terminal order"}),
    write,
    _command,
    simulates=True,
    check=_check,
    remarks=_remarks,
)
