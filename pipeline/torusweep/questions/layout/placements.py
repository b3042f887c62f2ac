"""Placements: each node, or each cabinet of nodes, gets a place on a unit grid of 1 to 3 dimensions.

A new placement is a function from a grid of digits (and parameters, annotated like a family's) to
coordinates. Its docstring describes the placement in the first line, and names the source in the last. It must be
listed in PLACEMENTS, and needs a row in the tests of tests/questions/layout/.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Annotated, NamedTuple

import numpy as np

from torusweep.errors import BadInput, naming
from torusweep.networks.families.algebra import Lattice, triangular
from torusweep.networks.families.hierarchies import Hierarchy
from torusweep.networks.signature import resolve
from torusweep.networks.topology import Plan, Whole, addresses, node_index

MAX_DIMENSIONS = 3
EXAMPLE = "straight or folded(dimensions=2, block=[4, 4, 2])"
Dimensions = Annotated[
    int,
    Whole(1, "dimensions of space; by default those of the network if at most 3, else 2", maximum=MAX_DIMENSIONS),
]
SIDES = Whole(
    1,
    "sides of a cabinet in nodes, one for each digit of the address: only wires between cabinets count; by default "
    "there are no cabinets",
)
Block = Annotated[list[int] | None, SIDES]


class PlacementGrid(NamedTuple):
    """The C nodes or cabinets to place, as a box in which each digit of the address is a dimension.

    sides    number of values of each digit, x first
    lattice  the wraparounds of the box; None if unknown
    digits   for each digit int32[C]: its value at each node or cabinet
    """

    sides: tuple[int, ...]
    lattice: Lattice | None
    digits: Sequence[np.ndarray]


class Placement(NamedTuple):
    """A placed network.

    spelling   canonical spelling of the placement
    block      sides of a cabinet in nodes; None if every node has a place of its own
    positions  int32[C, D]  coordinates of each node or cabinet
    cabinet    int32[N]     row of each node in `positions`
    """

    spelling: str
    block: tuple[int, ...] | None
    positions: np.ndarray
    cabinet: np.ndarray


def default_placement(family: str) -> str:
    """Return a family's default placement: straight for a mesh, whose wires folding would double, otherwise folded."""
    return "straight" if family == "mesh" else "folded"


def straight(grid: PlacementGrid, dimensions: Dimensions | None = None, block: Block = None) -> list[np.ndarray]:
    """Every node is placed at its address.

    Source: Dally 1990, sec. 5 (digits are assigned to the dimensions of space in turn).
    """
    return list(grid.digits)


def folded(grid: PlacementGrid, dimensions: Dimensions | None = None, block: Block = None) -> list[np.ndarray]:
    """Every ring is folded to the order 0, k − 1, 1, k − 2, …: neighbours in a ring are at most 2 places apart.

    Source: Dally 1990, Fig. 5; Cámara et al. 2010, sec. 8.1.
    """
    return [fold(digit, side) for digit, side in zip(grid.digits, grid.sides)]


def trellis(grid: PlacementGrid, dimensions: Dimensions | None = None, block: Block = None) -> list[np.ndarray]:
    """A torus 2a × a whose short wraparound shifts x by a is folded so that no wire is longer than √5, for any a.

    Other dimensions are folded as by `folded`.
    In the coordinates u = x + y and v = x − y, the torus is the half of a 2a × 2a torus in which u and v have the
    same parity, and each link changes both by one. If both rings are folded, the places 2i and 2i + 1 of a ring hold
    an even and an odd value. So every 2 × 2 square holds two nodes, in different columns, and is replaced by two
    places of one row. A link then spans at most 2 columns and 1 row, if the network has no more dimensions than space.

    Constraint: rtt, ptt, or an equal twisted_torus or lattice; the same for the grid of cabinets.
    Source: Cámara et al. 2010, sec. 8.1, Algorithm 2 (whose listing is lost; the construction is ours).
    """
    long, short = _twist(grid)
    digits, side = grid.digits, grid.sides[long]
    u, v = (digits[long] + digits[short]) % side, (digits[long] - digits[short]) % side
    placed = folded(grid)
    placed[long], placed[short] = fold(u, side), fold(v, side) // 2
    return placed


def shuffled(grid: PlacementGrid, dimensions: Dimensions | None = None, block: Block = None) -> list[np.ndarray]:
    """Rings are folded, and x and x + a are neighbours in the ring of 2a nodes that is shifted by a: wires up to 4.

    Constraint: rtt, ptt, pdtt, or a twisted_torus or lattice whose wraparounds shift one dimension, by half its side.
    Source: Cámara et al. 2010, sec. 8.2, Fig. 17 (which shuffles once along y and twice along x).
    """
    shifted, _ = _half_shifts(grid)
    placed = folded(grid)
    a, x = grid.sides[shifted] // 2, grid.digits[shifted]
    placed[shifted] = 2 * fold(x % a, a) + x // a
    return placed


PLACEMENTS: dict[str, Callable[..., list[np.ndarray]]] = {
    placement.__name__: placement for placement in (straight, folded, trellis, shuffled)
}


def canonical(spelling: str) -> str:
    """Return the canonical spelling of a placement, for any network. Raises BadInput for a wrong spelling."""
    return resolve(spelling, PLACEMENTS, kind="placement", example=EXAMPLE)[0]


def sides_of(texts: Sequence[str]) -> tuple[int, ...]:
    """Read the sides of a cabinet from a command's text, such as 4,4,2."""
    sides = ",".join(texts).split(",")
    if not all(side.strip().isdecimal() for side in sides):
        raise BadInput(
            "expected whole numbers between commas, as in 4,4,2: a cabinet's side for each digit of the address, got"
            f" {','.join(texts)!r}"
        )
    return tuple(map(int, sides))


def spelling_of(name: str, dimensions: int | None = None, block: Sequence[int] | None = None) -> str:
    """Return the canonical spelling of a placement from its name and parameters. block: sides of a cabinet.

    Raises BadInput if a parameter is wrong, or if the name already has parameters in brackets.
    """
    given = [] if dimensions is None else [f"dimensions={dimensions}"]
    if block is not None:
        given.append(f"block=[{', '.join(map(str, block))}]")
    if given and "(" in name:
        raise BadInput(
            f"placement {name!r}: expected its parameters in the spelling or as options, got both;"
            f" write {name.partition('(')[0]}"
        )
    return canonical(f"{name}({', '.join(given)})" if given else name)


def place(spelling: str, plan: Plan, name: str) -> Placement:
    """Place the nodes or cabinets of a network.

    spelling   placement: `folded`, `straight(dimensions=2)`, `trellis(block=[4, 4])`
    plan, name plan and name of the network; its links are not needed
    returns    positions int32[C, D]: distinct places on the unit grid, from 0 on, of the C nodes, or cabinets (numbered
               like nodes, x fastest); cabinet int32[N]: cabinet of each node, or the node itself without cabinets

    Digits are assigned to the dimensions of space in turn, the lower ones inside the higher ones: on a plane, the
    planes of a 3D network are next to each other, and the modules of a hierarchy are blocks.
    Raises BadInput if the spelling is wrong, or the placement is not defined for the network.
    """
    return _placed(spelling, plan, name, lambda sides: list(addresses(sides).T))


def check_suits(spelling: str, plan: Plan, name: str) -> str:
    """Return a placement's canonical spelling for a network. Raises BadInput where `place` does, but takes no time."""
    return _placed(spelling, plan, name, lambda sides: [np.zeros(1, np.int32) for _ in sides]).spelling


def dimensions_of(spelling: str, plan: Plan, name: str) -> int:
    """Return the dimensions of a network's placement. Raises BadInput where `place` does, but takes no time."""
    return _placed(spelling, plan, name, lambda sides: [np.zeros(1, np.int32) for _ in sides]).positions.shape[1]


def _placed(spelling: str, plan: Plan, name: str, digits_of: Callable[[Sequence[int]], list[np.ndarray]]) -> Placement:
    canonical_spelling, function, values = resolve(spelling, PLACEMENTS, kind="placement", example=EXAMPLE)
    with naming(f"placement {function.__name__} on {name}"):
        radices = plan.radices
        if len(radices) == 1 and plan.classes == ("link",):
            raise BadInput(
                "expected a network with addresses, got one whose nodes are only numbered; choose another family"
            )
        block = _block(values.get("block"), radices)
        space = values.get("dimensions", _own_dimensions(plan))
        assert isinstance(space, int)
        if space > len(radices):
            raise BadInput(
                f"dimensions={space}: expected at most {len(radices)}, a dimension for each digit of the address"
            )
        sides, lattice = _cabinets(plan, block)
        positions = _embed(function(PlacementGrid(sides, lattice, digits_of(sides))), sides, space)
    if block is None:
        return Placement(canonical_spelling, None, positions, np.arange(len(positions), dtype=np.int32))
    within = np.array(block, np.int32)
    return Placement(
        canonical_spelling, block, positions, node_index(np.stack(digits_of(radices), axis=1) // within, sides)
    )


def fold(digit: np.ndarray, side: int) -> np.ndarray:
    """Return the place of each node of a ring of `side` nodes that is folded to the order 0, k − 1, 1, k − 2, …."""
    return np.where(2 * digit < side, 2 * digit, 2 * (side - 1 - digit) + 1)


def _embed(coordinates: Sequence[np.ndarray], sides: Sequence[int], space: int) -> np.ndarray:
    """Return places, int32[C, D]. Coordinates are assigned to dimensions of space in turn, as mixed-radix digits."""
    places = np.zeros((len(coordinates[0]), space), np.int32)
    pitch = [1] * space
    for i, (coordinate, side) in enumerate(zip(coordinates, sides)):
        places[:, i % space] += coordinate.astype(np.int32) * np.int32(pitch[i % space])
        pitch[i % space] *= side
    return places


def _own_dimensions(plan: Plan) -> int:
    """Return the default dimensions of space: as in the network or a hierarchy's module; 2 if these have over 3."""
    own = len(plan.structure.module) if isinstance(plan.structure, Hierarchy) else len(plan.radices)
    return own if own <= MAX_DIMENSIONS else 2


def _block(given: object, sides: Sequence[int]) -> tuple[int, ...] | None:
    if given is None:
        return None
    assert isinstance(given, list)
    shown = f"block={given}"
    if len(given) != len(sides):
        raise BadInput(
            f"{shown}: expected {len(sides)} sides, one for each digit of the address"
            f" {'×'.join(map(str, sides))}, got {len(given)}"
        )
    for side, own in zip(sides, given):
        if own < 1 or side % own:
            raise BadInput(
                f"{shown}: expected sides that divide {list(sides)}, got {own} for {side}; cabinets have equal sides"
            )
    return tuple(given)


def _cabinets(plan: Plan, block: Sequence[int] | None) -> tuple[tuple[int, ...], Lattice | None]:
    """Return the sides of the grid of nodes or cabinets, and its lattice (None if a wraparound splits cabinets)."""
    lattice = plan.structure if isinstance(plan.structure, Lattice) else None
    if block is None:
        return plan.radices, lattice
    sides = tuple(side // own for side, own in zip(plan.radices, block))
    if lattice is None or any(entry % own for column in lattice.columns for entry, own in zip(column, block)):
        return sides, None
    return sides, triangular(
        [[entry // own for entry, own in zip(column, block)] for column in lattice.columns], lattice.order
    )


def _half_shifts(grid: PlacementGrid) -> tuple[int, list[int]]:
    """Return (dimension shifted by half its side, dimensions of these wraparounds). Raises BadInput for other grids."""
    if grid.lattice is None:
        raise BadInput(
            "expected a twisted torus, got a network that is no lattice, or cabinets that a wraparound would split;"
            " choose straight or folded"
        )
    shifts = [
        (i, j, entry)
        for j, column in enumerate(grid.lattice.columns)
        for i, entry in enumerate(column)
        if i != j and entry
    ]
    shifted = {i for i, _, _ in shifts}
    if len(shifted) != 1 or any(2 * entry != grid.sides[i] for i, _, entry in shifts):
        twists = ", ".join(f"{entry} along dimension {i}" for i, _, entry in shifts)
        raise BadInput(
            "expected a torus whose wraparounds shift one dimension, by half its side,"
            f" got {f'twists of {twists}' if shifts else 'one without twists'}; choose straight or folded"
        )
    return shifted.pop(), [j for _, j, _ in shifts]


def _twist(grid: PlacementGrid) -> tuple[int, int]:
    """Return (long, short) dimension of a torus 2a × a where the short one's wraparound shifts the long one by a."""
    long, shifting = _half_shifts(grid)
    if len(shifting) != 1:
        raise BadInput(
            f"expected one twisted wraparound, got those of dimensions {' and '.join(map(str, shifting))};"
            " choose shuffled"
        )
    short = shifting[0]
    if grid.sides[long] != 2 * grid.sides[short]:
        raise BadInput(
            f"expected the twisted dimensions to be 2a × a, got {grid.sides[long]} × {grid.sides[short]};"
            " choose shuffled"
        )
    return long, short


def extent(placement: Placement) -> tuple[int, ...]:
    """Return the number of places along each dimension of a placement's bounding box."""
    sides = tuple(int(most) + 1 for most in placement.positions.max(axis=0))
    assert prod(sides) == len(placement.positions), "a node or cabinet at every place of the box"
    return sides
