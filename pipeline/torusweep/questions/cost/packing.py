"""Pack a network into cabinets.

`pack` assigns a cabinet to each router, and a place on the floor to each cabinet. A packing is `automatic`, or the
spelling of a placement as for the question layout, such as straight(dimensions=2, block=[4, 4, 2]). Automatic packing
depends on the network's construction:

- groups of a Dragonfly or Megafly, and cubes of a pod: a cabinet holds whole groups, or a group fills several cabinets;
- grids (tori, meshes, HyperX, hierarchies): a cabinet holds the largest and most even block of addresses that fits.
  Cabinets are placed by their addresses, and rings of lattices are folded;
- trees: a pod is a child of the root with all nodes below it. Its cabinets are neighbours, some for leaves and others
  for other switches. Roots have cabinets of their own, and small pods share cabinets;
- other networks: routers with the same number of terminals fill cabinets in the order of their numbers, and cabinets
  fill the rows of a square floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod, sqrt

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.families.algebra import Lattice
from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.families.slices import Pod
from torusweep.networks.families.trees import Tree
from torusweep.networks.topology import Plan, Topology
from torusweep.questions.cost.model import Racks
from torusweep.questions.layout.placements import Placement, default_placement, dimensions_of, place
from torusweep.questions.layout.placements import canonical as canonical_placement

AUTOMATIC = "automatic"
NUMBERS, GROUPS, PODS = "numbers", "groups", "pods"  # names of automatic packings that are no placements


def spelling_of(packing: str) -> str:
    """Return the canonical spelling of a packing. Raises BadInput for an unknown packing."""
    return AUTOMATIC if packing.strip().lower() == AUTOMATIC else canonical_placement(packing)


def check_suits(packing: str, plan: Plan, name: str) -> None:
    """Raise BadInput if a packing is not defined for a network, or has three dimensions. The check takes no time."""
    if packing != AUTOMATIC and dimensions_of(packing, plan, name) > 2:
        raise BadInput(
            f"packing {packing} on {name}: expected cabinets on a floor, got a placement in space; add dimensions=2"
        )


def pack(topology: Topology, packing: str, racks: Racks) -> Placement:
    """Pack a network's routers into cabinets on a floor.

    packing   AUTOMATIC, or the spelling of a placement
    returns   spelling: how the routers were packed; positions int32[C, 1 or 2]: places for cabinets, x along a row,
              some of them empty; cabinet int32[N]: place of the cabinet of each router

    Raises BadInput if a placement is not defined for the network, or has three dimensions.
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
    """Return the number of routers that fit in a cabinet with their terminals. terminals: number at each router."""
    return max(1, min(racks.routers, racks.terminals // max(terminals, 1)))


def _size_of_group(plan: Plan) -> int | None:
    """Return the number of routers in a group or cube, numbered in succession; None for networks without these."""
    if isinstance(plan.structure, Grouped):
        return plan.structure.size
    return plan.structure.side**3 if isinstance(plan.structure, Pod) else None


def _groups(nodes: int, size: int, most: int) -> np.ndarray:
    """Return the cabinet of each router, int64[N]. Small groups share cabinets; large groups fill several evenly."""
    router = np.arange(nodes, dtype=np.int64)
    group, place_in_group = router // size, router % size
    if size <= most:
        return group // (most // size)
    several = ceil(size / most)
    return group * several + place_in_group * several // size


def _pods(topology: Topology, tree: Tree, racks: Racks) -> tuple[np.ndarray, int]:
    """Return the pod of each switch of a tree, int64[N], and the number of cabinets of a pod. Roots are the last pod.

    Small pods are combined as long as their leaves fit in one cabinet, and their other switches in another cabinet.
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
    """Return each router's cabinet, int64[N]. Routers of a cabinet share a `group` and have equally many terminals."""
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
    """Place cabinets in rows on a floor that is nearly square. A row's length is a multiple of `together` cabinets."""
    cabinets = int(cabinet.max(initial=0)) + 1
    width, depth = max(racks.width, 1e-9), max(racks.depth, 1e-9)
    row = max(1, round(sqrt(cabinets * depth / width) / together)) * together
    row = min(row, cabinets)
    rows = ceil(cabinets / row)
    places = np.arange(row * rows)
    positions = np.stack([places % row, places // row], axis=1).astype(np.int32)
    return Placement(spelling, None, positions, cabinet.astype(np.int32))


def _block(plan: Plan, most: int) -> tuple[int, ...] | None:
    """Return a cabinet's sides along each digit of the address; None without a grid, or if cabinets stay half empty.

    The block with the most routers is chosen; among several, the block with the least sum of sides.
    """
    if len(plan.radices) == 1:
        return None
    best: dict[int, tuple[int, tuple[int, ...]]] = {1: (0, ())}  # product of sides → (their sum, sides)
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
