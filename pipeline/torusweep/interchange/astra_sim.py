"""Export to ASTRA-sim: the topology of its ns-3 backend and, if possible, that of its analytical backend.

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
from fractions import Fraction
from itertools import chain
from pathlib import Path

import numpy as np

from torusweep.errors import Refused
from torusweep.interchange.formats import Format, links_of, one_each
from torusweep.networks.topology import NO_PORT, Topology, node_index
from torusweep.tables.store import publish

PHYSICAL, LOGICAL, ANALYTICAL = "topology.txt", "logical_topology.json", "network.yml"
# rate of a flit per cycle, and time of a cycle, if a network gives none: 50 GB/s and 500 ns, as in both's examples
RATE, TICK, ERRORS = Fraction(400 * 10**9), Fraction(500, 10**9), "0"
MOST_HOSTS = 1 << 16


def physical(topology: Topology) -> str:
    """Return the text of the ns-3 backend's file: counts, numbers of the switches, then a line for each link.

    The link between a terminal and its switch carries one flit per cycle and has a latency of one cycle.
    """
    hosts, plan = len(topology.terminals), topology.plan
    links = links_of(topology)
    kinds = [(1, 1)] * hosts + [
        (plan.bandwidths[kind] if plan.bandwidths else 1, plan.latencies[kind] if plan.latencies else 1)
        for kind in links.link_class.tolist()
    ]
    said = {kind: _ns3(topology, *kind) for kind in set(kinds)}
    ends = chain(
        zip(range(hosts), (topology.terminals + hosts).tolist()),
        zip((links.source + hosts).tolist(), (links.target + hosts).tolist()),
    )
    lines = [f"{hosts + topology.nodes} {topology.nodes} {hosts + len(links.source)}"]
    lines.append(" ".join(map(str, range(hosts, hosts + topology.nodes))))
    lines += [f"{one} {other} {said[kind]} {ERRORS}" for (one, other), kind in zip(ends, kinds)]
    return "\n".join([*lines, ""])


def _units(topology: Topology) -> tuple[Fraction, Fraction]:
    """Return (bits per second of one flit per cycle, seconds per cycle)."""
    return topology.plan.rate or RATE, topology.plan.tick or TICK


def _ns3(topology: Topology, width: Fraction | int, cycles: int) -> str:
    rate, tick = _units(topology)
    delay = f"{float(cycles * tick * 1000):.12f}".rstrip("0").rstrip(".")
    return f"{float(width * rate / 10**9):.12g}Gbps {delay}ms"


def building_blocks(topology: Topology) -> list[tuple[str, int]] | None:
    """Return ("Ring" or "FullyConnected", NPUs) per dimension if a network is a product of rings and complete graphs.

    Returns None for other networks. The dimensions are those of the nodes' addresses, dimension 0 first. Two nodes form
    a complete graph, as a ring of two would have two links.
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
    """Return whether node 0 has a link to the node `step` further along a dimension; always true for sides below 4."""
    if shape[dimension] < 4:
        return True
    other = digits[0].copy()
    other[dimension] += step
    return bool((topology.ports[0] == node_index(other, shape)).any())


def speeds(topology: Topology) -> list[tuple[float, float]] | None:
    """Return the links' (GB/s, ns) in each dimension of more than one node; None if links in a dimension differ."""
    plan, (rate, tick) = topology.plan, _units(topology)
    digits = topology.addresses()[:, [side > 1 for side in plan.radices]]
    tail, head, port = topology.arcs
    dimension, kind = (digits[tail] != digits[head]).argmax(axis=1), topology.link_class[tail, port]
    found: list[tuple[float, float]] = []
    for axis in range(digits.shape[1]):
        kinds = np.unique(kind[dimension == axis]).tolist()
        of_axis = {
            (
                float((plan.bandwidths[one] if plan.bandwidths else 1) * rate / (8 * 10**9)),
                float((plan.latencies[one] if plan.latencies else 1) * tick * 10**9),
            )
            for one in kinds
        }
        if len(of_axis) != 1:
            return None
        found += of_axis
    return found


def analytical(blocks: list[tuple[str, int]], links: list[tuple[float, float]]) -> str:
    """Return the text of the analytical backend's file, from `building_blocks` and `speeds` of a network."""
    bandwidths, latencies = (", ".join(map(str, column)) for column in zip(*links))
    return (
        f"topology: [ {', '.join(kind for kind, _ in blocks)} ]\n"
        f"npus_count: [ {', '.join(str(side) for _, side in blocks)} ]\n"
        f"bandwidth: [ {bandwidths} ]  # GB/s\n"
        f"latency: [ {latencies} ]  # ns\n"
    )


def write(topology: Topology, folder: Path) -> list[Path]:
    """Write topology.txt, logical_topology.json and, for a network that the analytical backend holds, network.yml."""
    blocks = building_blocks(topology)
    sides = [len(topology.terminals)] if blocks is None else [side for _, side in blocks]
    contents = {
        PHYSICAL: physical(topology),
        LOGICAL: json.dumps({"logical-dims": [str(side) for side in sides]}) + "\n",
    }
    links = None if blocks is None else speeds(topology)
    if blocks is not None and links is not None:
        contents[ANALYTICAL] = analytical(blocks, links)
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
    hops = "ns-3 counts one more link at each end of a route: between a terminal and its switch"
    remarks = [hops]
    plan, (rate, tick) = topology.plan, _units(topology)
    if plan.rate is None or (plan.tick is None and plan.latencies):
        remarks.append(
            f"1 flit a cycle is written as {float(rate / 10**9):g} Gb/s, a cycle as {float(tick * 10**9):g} ns"
        )
    if building_blocks(topology) is None:
        remarks.append("no network.yml: the analytical backend holds only products of rings and complete graphs")
    elif speeds(topology) is None:
        remarks.append("no network.yml: the analytical backend holds only equal links within a dimension")
    return remarks


def _command(files: list[Path]) -> str:
    if files[-1].name == ANALYTICAL:
        return f"AstraSim_Analytical_Congestion_Unaware --network-configuration={files[-1]} …"
    return f"AstraSimNetwork --logical-topology-configuration={files[1]} …, with TOPOLOGY_FILE {files[0]} in config.txt"


FORMAT = Format(
    "ASTRA-sim: the topology of its ns-3 backend, and of its analytical backend if that can hold it",
    "",
    frozenset({"terminals", "terminal order", "bandwidths", "latencies", "units"}),
    write,
    _command,
    simulates=True,
    check=_check,
    remarks=_remarks,
)
