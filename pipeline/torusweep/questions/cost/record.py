"""Compute a row of the table `cost`: the parts of a network, and their prices."""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep.errors import BadInput, printable
from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.families.slices import Pod
from torusweep.networks.links import surviving_network
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.cost.arithmetic import Cables, Counts, prices
from torusweep.questions.cost.columns import COST
from torusweep.questions.cost.model import CostModel, Racks, canonical, cost_model
from torusweep.questions.cost.packing import pack, spelling_of
from torusweep.questions.layout.placements import Placement
from torusweep.questions.static.distances import terminal_distances

MOST_LINKS_READ = 1e11  # links that a search for all distances may read; takes some seconds
MOST_SEARCHED = 2**18  # nodes; no distances are computed in larger networks, whose symmetries take long to prove, too


def cost_record(
    topology: Topology, model: str, packing: str, *, backend: str = "auto", threads: int | None = None
) -> dict[str, Any]:
    """Compute a row of the table `cost`, as Python values without NaN.

    model     name of a cost model, or path of its file
    packing   AUTOMATIC, or the spelling of a placement (torusweep.questions.cost.packing)
    Raises BadInput if the model cannot be read or lacks a part's price, or if the packing cannot be applied.
    """
    priced = cost_model(model)
    placed = pack(topology, spelling_of(packing), priced.racks)
    counts = _counts(topology, placed, priced)
    try:
        found = prices(priced, counts)
    except BadInput as refusal:
        raise BadInput(f"cost of {topology.spelling} by {printable(canonical(model))}: {refusal}") from None
    terminals, works, ports = counts.terminals, topology.works, ports_of(topology)
    passed = None if found.picojoules is None else _routers_passed(topology, backend, threads)
    values = {
        "topology": topology.spelling,
        "cost_model": canonical(model),
        "packing": placed.spelling,
        "routers": int(counts.routers.sum()),
        "terminals": terminals,
        "cabinets": len(np.unique(placed.cabinet[works])),
        "radix": int(ports.max(initial=0)),
        "ports": int(ports.sum()),
        "electrical_cables": found.electrical,
        "optical_cables": found.optical,
        "terminal_cables": found.terminal_cables,
        "cable_metres": found.metres,
        "cable_metres_max": float(counts.cables.metres.max()) if len(counts.cables.metres) else None,
        "circuit_ports": found.circuit_ports,
        "router_cost": found.routers,
        "cable_cost": found.cables,
        "circuit_cost": found.circuits,
        "total_cost": found.total,
        "cost_per_terminal": found.total / terminals if terminals else None,
        "watts": found.watts,
        "watts_per_terminal": None if found.watts is None or not terminals else found.watts / terminals,
        "energy_per_bit": None if passed is None or found.picojoules is None else passed * found.picojoules,
        "currency": priced.currency,
        "date": priced.dates(),
        "estimates": ", ".join(priced.estimates()) or None,
        "notes": "; ".join(topology.plan.notes),
    }
    return {column.name: values[column.name] for column in COST}


def ports_of(topology: Topology) -> np.ndarray:
    """Return the ports of each router, int64[N]: terminals and links. One-way links in and out share ports."""
    return _ports(topology, topology.capacity).astype(np.int64)


def widths_of(topology: Topology) -> np.ndarray:
    """Return float64[N]: the sum over each router's ports of the bandwidth of the port's link, in flits per cycle."""
    return _ports(topology, topology.bandwidth)


def _ports(topology: Topology, weight: np.ndarray | None) -> np.ndarray:
    """Return the weighted number of each router's links and terminals, float64[N]. weight: [N, P], None for 1."""
    present = topology.ports != NO_PORT
    links = (present if weight is None else np.where(present, weight, 0)).sum(axis=1, dtype=np.float64)
    if topology.directed:
        tail, head, port = topology.arcs
        entering = np.bincount(head, None if weight is None else weight[tail, port], minlength=topology.nodes)
        links = np.maximum(links, entering)
    return links + np.bincount(topology.terminals, minlength=topology.nodes)


def _counts(topology: Topology, placed: Placement, model: CostModel) -> Counts:
    widths, routers = np.unique(widths_of(topology)[topology.works], return_counts=True)
    return Counts(widths, routers, len(topology.terminals), cables_of(topology, placed, model))


def cables_of(topology: Topology, placed: Placement, model: CostModel) -> Cables:
    """Return the network's links as cables, grouped by length and kind. A link is one cable in 1 or 2 directions."""
    sides = [int(most) + 1 for most in placed.positions.max(axis=0)]
    groups: dict[int, int] = {}
    named, structure = [] if model.circuit_switch is None else model.circuit_switch.classes, topology.plan.structure
    circuits = structure.circuits if isinstance(structure, Grouped) else None
    switched = [kind for kind, name in enumerate(topology.plan.classes) if name in named or name == circuits]
    for port in range(topology.ports.shape[1]):  # port by port, to limit memory
        heads = topology.ports[:, port]
        tails = np.flatnonzero((heads != NO_PORT) & (topology.directed | (np.arange(topology.nodes) < heads)))
        heads, kind = heads[tails], topology.link_class[tails, port]
        ends = placed.cabinet[tails], placed.cabinet[heads]
        code = (kind.astype(np.int64) * 2 + (np.isin(kind, switched) | _between_faces(topology, tails, heads))) * 2
        code += ends[0] != ends[1]
        for dimension, side in enumerate(sides):
            code = code * side + np.abs(placed.positions[ends[0], dimension] - placed.positions[ends[1], dimension])
        found, group = np.unique(code, return_inverse=True)
        weights = None if topology.capacity is None else topology.capacity[tails, port]
        numbers = np.bincount(group, weights, minlength=len(found)).astype(np.int64)
        for value, number in zip(found.tolist(), numbers.tolist()):
            groups[value] = groups.get(value, 0) + number
    rest = np.array(sorted(groups), np.int64)
    number = np.array([groups[value] for value in sorted(groups)], np.int64)
    reach = np.zeros((len(rest), len(sides)), np.int64)
    for dimension in reversed(range(len(sides))):
        rest, reach[:, dimension] = np.divmod(rest, sides[dimension])
    between, circuit, kind = rest % 2 == 1, rest // 2 % 2 == 1, rest // 4
    one = np.array([float(width) for width, _ in topology.links_by_class])
    metres = np.where(between, model.racks.overhead + _metres(reach, model.racks), model.racks.inside)
    return Cables(metres=metres, between=between, circuit=circuit, bandwidth=one[kind], number=number)


def _metres(reach: np.ndarray, racks: Racks) -> np.ndarray:
    """Return metres of cable on the floor, float64[G]. reach: cabinets along and across rows, int64[G, 1 or 2]."""
    return reach @ np.array([racks.width, racks.depth])[: reach.shape[1]]


def _between_faces(topology: Topology, tails: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """Return bool[A]: whether each link joins faces of two cubes of a pod, or opposite faces of one cube."""
    structure = topology.plan.structure
    if not isinstance(structure, Pod):
        return np.zeros(len(tails), bool)
    volume = structure.side**3
    apart = tails // volume != heads // volume
    for axis in range(3):
        stride = structure.side**axis
        apart |= np.abs(tails // stride % structure.side - heads // stride % structure.side) > 1
    return apart


def _routers_passed(topology: Topology, backend: str, threads: int | None) -> float | None:
    """Return the mean number of routers on a shortest path between distinct terminals; None if it would take long."""
    topology = surviving_network(topology)
    if topology.nodes > MOST_SEARCHED or len(topology.terminals) < 2:
        return None
    orbits = orbits_under(topology.nodes, proved_symmetries(topology))
    if len(orbits.representatives) * float(topology.nodes) * max(topology.plan.degree, 1) > MOST_LINKS_READ:
        return None
    found = terminal_distances(topology, orbits, use_symmetry=True, backend=backend, threads=threads)
    return found.mean_distinct + 1
