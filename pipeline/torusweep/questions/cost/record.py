"""The row of the table `cost`: how a network is packed into cabinets, what it is made of, and what it costs.

`pack` says which cabinet each router stands in, and where the cabinets stand on the floor. A packing is `automatic`, or
a placement of the question layout, as in straight(dimensions=2, block=[4, 4, 2]).
Automatic packing keeps together what the network's construction joins most:

- groups of a Dragonfly or Megafly, cubes of a pod: a cabinet holds whole groups, or a group fills cabinets of its own;
- grids (tori, meshes, HyperX, hierarchies): a cabinet is a block of addresses, as large and as even as fits, and
  cabinets are placed by their addresses, lattices with their rings folded;
- trees: a pod, what is below a root's child, has cabinets next to each other, its leaves apart from its other switches,
  and the roots have cabinets of their own; small pods share cabinets;
- all others: routers fill cabinets in the order of their numbers, those with equally many terminals together, and
  cabinets fill rows of a square floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod, sqrt
from typing import Any

import numpy as np

from torusweep.errors import BadInput, printable
from torusweep.networks.families.algebra import Lattice
from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.families.slices import Pod
from torusweep.networks.families.trees import Tree
from torusweep.networks.links import surviving_network
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import NO_PORT, Plan, Topology
from torusweep.questions.cost.arithmetic import Cables, Counts, prices
from torusweep.questions.cost.columns import COST
from torusweep.questions.cost.model import CostModel, Racks, canonical, cost_model
from torusweep.questions.layout.placements import Placement, default_placement, dimensions_of, place
from torusweep.questions.layout.placements import canonical as canonical_placement
from torusweep.questions.static.distances import terminal_distances

AUTOMATIC = "automatic"
NUMBERS, GROUPS, PODS = "numbers", "groups", "pods"  # how automatic packing went, where no placement describes it


def spelling_of(packing: str) -> str:
    """The canonical spelling of a packing. Raises BadInput for an unknown one."""
    return AUTOMATIC if packing.strip().lower() == AUTOMATIC else canonical_placement(packing)


def check_suits(packing: str, plan: Plan, name: str) -> None:
    """Raise BadInput where a packing does not suit a network, or has more dimensions than a floor; at no cost."""
    if packing != AUTOMATIC and dimensions_of(packing, plan, name) > 2:
        raise BadInput(
            f"packing {packing} on {name}: expected cabinets on a floor, got a placement in space; add dimensions=2"
        )


def pack(topology: Topology, packing: str, racks: Racks) -> Placement:
    """The cabinets of a network.

    packing   AUTOMATIC, or the spelling of a placement
    returns   spelling: how the routers were packed; positions int32[C, 1 or 2]: of each place for a cabinet, x along a
              row; some are empty where rows are not full. cabinet int32[N]: of each router

    Raises BadInput where a placement does not suit the network, or has more dimensions than a floor.
    """
    if packing != AUTOMATIC:
        check_suits(packing, topology.plan, topology.spelling)
        return place(packing, topology.plan, topology.spelling)
    plan, most = topology.plan, routers_of_cabinet(racks, int(np.bincount(topology.terminals, minlength=1).max()))
    size = _size_of_group(plan)
    if size is not None:
        return _in_rows(_groups(topology.nodes, size, most), GROUPS, racks, max(1, ceil(size / most)))
    if isinstance(plan.structure, Tree):
        pods, cabinets = _pods(topology, plan.structure, racks)
        return _in_rows(_by_numbers(topology, racks, pods), PODS, racks, cabinets)
    block = _block(plan, most)
    if block is None:
        return _in_rows(_by_numbers(topology, racks, np.zeros(topology.nodes, np.int64)), NUMBERS, racks, 1)
    name = default_placement(topology.family) if isinstance(plan.structure, Lattice) else "straight"
    space = min(2, len(plan.radices))
    return place(f"{name}(dimensions={space}, block={list(block)})", plan, topology.spelling)


def routers_of_cabinet(racks: Racks, terminals: int) -> int:
    """Routers with `terminals` hosts each that fit in a cabinet, hosts included."""
    return max(1, min(racks.routers, racks.terminals // max(terminals, 1)))


def _size_of_group(plan: Plan) -> int | None:
    """Routers with successive numbers that belong together: a group's, or a cube's; None where there are no such."""
    if isinstance(plan.structure, Grouped):
        return plan.structure.size
    return plan.structure.side**3 if isinstance(plan.structure, Pod) else None


def _groups(nodes: int, size: int, most: int) -> np.ndarray:
    """int64[N]: the cabinet of each router; small groups share cabinets, large ones have several of equal size."""
    router = np.arange(nodes, dtype=np.int64)
    group, place_in_group = router // size, router % size
    if size <= most:
        return group // (most // size)
    several = ceil(size / most)
    return group * several + place_in_group * several // size


def _pods(topology: Topology, tree: Tree, racks: Racks) -> tuple[np.ndarray, int]:
    """(int64[N], cabinets of each): the pods of a tree, what is below a root's child; the roots are the last one.

    Small pods are one while their switches of a kind fit in a cabinet.
    """
    levels = [prod(tree.up[1:level]) * prod(tree.down[level:]) for level in range(1, len(tree.down))]  # without roots
    count, leaves = tree.down[-1], routers_of_cabinet(racks, tree.down[0])
    own, others = levels[0] // count if levels else 1, sum(levels[1:]) // count
    shared = max(1, min(leaves // own, racks.routers // max(others, 1)))
    pod = [np.arange(size) // (size // count) // shared for size in levels]
    roots = np.full(topology.nodes - sum(levels), ceil(count / shared))
    return np.concatenate([*pod, roots]).astype(np.int64), ceil(own * shared / leaves) + ceil(
        others * shared / racks.routers
    )


def _by_numbers(topology: Topology, racks: Racks, group: np.ndarray) -> np.ndarray:
    """int64[N]: the cabinet of each router, by its group; in a group, routers with equally many terminals are together.

    group   int64[N]; a cabinet holds routers of one group
    """
    terminals = np.bincount(topology.terminals, minlength=topology.nodes)
    order = np.lexsort((-terminals, group))
    changes = np.flatnonzero(np.diff(group[order]) | np.diff(terminals[order])) + 1
    cabinet = np.zeros(topology.nodes, np.int64)
    first = 0
    for own in np.split(order, changes):
        cabinets = ceil(len(own) / routers_of_cabinet(racks, int(terminals[own[0]])))
        cabinet[own] = first + np.arange(len(own)) * cabinets // len(own)
        first += cabinets
    return cabinet


def _in_rows(cabinet: np.ndarray, spelling: str, racks: Racks, together: int) -> Placement:
    """Cabinets in rows of a floor that is as square as may be; `together` cabinets in a row stay in one row."""
    cabinets = int(cabinet.max(initial=0)) + 1
    width, depth = max(racks.width, 1e-9), max(racks.depth, 1e-9)
    row = max(1, round(sqrt(cabinets * depth / width) / together)) * together
    row = min(row, cabinets)
    rows = ceil(cabinets / row)
    places = np.arange(row * rows)
    positions = np.stack([places % row, places // row], axis=1).astype(np.int32)
    return Placement(spelling, None, positions, cabinet.astype(np.int32))


def _block(plan: Plan, most: int) -> tuple[int, ...] | None:
    """Sides of a cabinet along each digit of the address; None where the network is no grid, or little would fit.

    Of the blocks that hold most routers, the one with the least sum of its sides: the most even.
    """
    if len(plan.radices) == 1:
        return None
    best: dict[int, tuple[int, tuple[int, ...]]] = {1: (0, ())}  # product → (sum of the sides, sides)
    for radix in plan.radices:
        larger: dict[int, tuple[int, tuple[int, ...]]] = {}
        for product, (total, sides) in best.items():
            for side in _divisors(radix, most // product):
                candidate = total + side, (*sides, side)
                larger[product * side] = min(larger.get(product * side, candidate), candidate)
        best = larger
    size = max(best)
    return best[size][1] if 2 * size > min(most, plan.nodes) else None


def _divisors(number: int, most: int) -> Sequence[int]:
    return [divisor for divisor in range(1, min(number, most) + 1) if number % divisor == 0]


MOST_LINKS_READ = 1e11  # links that a search for all distances may read; some seconds
MOST_SEARCHED = 2**18  # nodes of a network whose distances are searched: proofs of symmetries read each link, too


def cost_record(
    topology: Topology, model: str, packing: str, *, backend: str = "auto", threads: int | None = None
) -> dict[str, Any]:
    """The row of the table `cost`, as Python values without NaN.

    model     a name of torusweep.questions.cost, or the path of a file
    packing   AUTOMATIC, or the spelling of a placement (torusweep.questions.cost.record)
    Raises BadInput where the model cannot be read or prices no such part, or the packing does not suit the network.
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
    """int64[N]: ports of each router: links that leave or, of one direction, enter it, and terminals."""
    return _ports(topology, topology.capacity).astype(np.int64)


def widths_of(topology: Topology) -> np.ndarray:
    """float64[N]: the same, a port as many times as its link carries flits a cycle: its lanes, say."""
    return _ports(topology, topology.bandwidth)


def _ports(topology: Topology, weight: np.ndarray | None) -> np.ndarray:
    """float64[N]: links of each router and its terminals; weight[N, P] of each channel, None: 1."""
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
    """The links as cables, grouped by length; a bidirectional link is one cable, one of one direction, too."""
    sides = [int(most) + 1 for most in placed.positions.max(axis=0)]
    groups: dict[int, int] = {}
    named = () if model.circuit_switch is None else model.circuit_switch.classes
    switched = [kind for kind, name in enumerate(topology.plan.classes) if name in named]
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
    """float64[G]: distances on the floor, along the rows and across them, of int64[G, 1 or 2] places."""
    return reach @ np.array([racks.width, racks.depth])[: reach.shape[1]]


def _between_faces(topology: Topology, tails: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """bool[A]: which links join faces of a pod's cubes: those to another cube, or across a whole cube."""
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
    """Routers on a shortest path between two terminals, on average; None where the search would take long."""
    topology = surviving_network(topology)
    if topology.nodes > MOST_SEARCHED or len(topology.terminals) < 2:
        return None
    orbits = orbits_under(topology.nodes, proved_symmetries(topology))
    if len(orbits.representatives) * float(topology.nodes) * max(topology.plan.degree, 1) > MOST_LINKS_READ:
        return None
    found = terminal_distances(topology, orbits, use_symmetry=True, backend=backend, threads=threads)
    return found.mean_distinct + 1
