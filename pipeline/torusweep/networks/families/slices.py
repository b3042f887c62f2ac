"""Slices of machines, which are grids with wraparounds in some dimensions only, and slices of pods, some twisted.

Further networks of boards and cubes are HammingMesh, Tofu's 6D mesh/torus, and pods of cubes with circuit switches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Annotated

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.families.algebra import box
from torusweep.networks.families.cubes import mesh, torus
from torusweep.networks.families.lattices import twisted_torus
from torusweep.networks.families.wiring import (
    ClassLinks,
    Terminals,
    UnitSteps,
    class_names,
    neighbour,
    reflection,
    swap,
    terminals_of,
    validate_radices,
    wiring_of_links,
)
from torusweep.networks.topology import Meaning, Plan, Whole, Wiring, require

Radix = Annotated[int, Whole(2, "radix: nodes along each dimension")]
Radices = Annotated[list[Radix], Meaning("radix of each dimension, x first; at most 30, each ≥ 2")]
Wraps = Annotated[list[bool], Meaning("whether each dimension is a ring (true) or a line (false), x first")]
Shape = Annotated[
    list[int], Meaning("chips along each axis, x first: 2 or 3 axes; an axis of one chip does not count as a dimension")
]
Twisted = Annotated[bool, Meaning("the wraparounds of the short axes shift the long ones by half their length")]

CUBE = 4  # side of the cubes of a three-dimensional pod, which optical switches join
POD = 16  # side of a two-dimensional pod
BISECTION_SOURCE = (
    "a plane across the dimension of greatest effective side (a line's side, half of a ring's); no cut is narrower:"
    " N²/2 pairs cross it, and under dimension order no channel carries more pairs than the channels across it"
)


def slice(radices: Radices, wrap: Wraps) -> Plan:
    """Slice of a machine, in which each dimension is a ring (wrap true) or a line (wrap false).

    All rings make a torus, all lines a mesh. A radix of 2 gives one link, not two, whether ring or line.

    Constraint: wrap has as many values as radices.
    Source: Austin et al. 2025, How to scale your model, ch. 2: a pod's axis has its wraparound where a slice spans it.
    """
    sides = validate_radices(radices)
    require(len(wrap) == len(sides), "wrap", wrap, f"{len(sides)} values, as radices", "each dimension has one")
    rings = tuple(ring and side > 2 for side, ring in zip(sides, wrap))
    if all(ring or side == 2 for side, ring in zip(sides, rings)):
        return torus(radices=list(sides))
    if not any(rings):
        return mesh(radices=list(sides))
    kinds = list(zip(sides, rings))
    first = [i for i, kind in enumerate(kinds) if kind not in kinds[:i]]
    width = _bisection(sides, rings)
    return Plan(
        nodes=prod(sides),
        degree=sum(1 if side == 2 else 2 for side in sides),
        radices=sides,
        wire=UnitSteps(box(sides), tuple(rings)),
        symmetries=lambda: [
            *(neighbour(sides, i, 1).reshape(-1) for i in first if rings[i]),
            *(reflection(sides, i, 0 if rings[i] else -1) for i in first),
            *(swap(sides, kinds.index(kind), i) for i, kind in enumerate(kinds) if kind in kinds[:i]),
        ],
        bisection=width,
        bisection_source="" if width is None else BISECTION_SOURCE,
        classes=class_names(len(sides)),
    )


def pod_slice(shape: Shape, twisted: Twisted = False) -> Plan:
    """Slice of a pod: three axes for a pod of 4 × 4 × 4 cubes, two axes for a pod of 16 × 16 chips.

    Whole cubes have all wraparounds; a part of a cube has none. With two axes, an axis of 16 chips has a wraparound.
    Twisted slices are k × 2k (the RTT), k × k × 2k (the PDTT, a face-centred cubic lattice) or k × 2k × 2k
    (body-centred), with the axes in any order: the wraparound of each short axis shifts every long axis by k. These
    twists are from the papers on lattices, and make all links alike; the makers of pods publish the shapes only.

    Constraints: 2 or 3 axes. With three, all sides are multiples of 4, or all 1, 2 or 4; with two, sides of at most
    16. Twisted slices have sides k and 2k with k ≥ 2; real pods offer k × k × 2k and k × 2k × 2k, in multiples of 4.
    Source: Jouppi et al. 2023, sec. 2 (cubes, twisted slices); Google, TPU v4 and v5p (shapes); Austin et al. 2025,
    How to scale your model, ch. 2 (wraparounds); Cámara et al. 2010, and Camarero et al. 2013 (cubic lattices).
    """
    require(2 <= len(shape) <= 3, "shape", shape, "2 or 3 axes, as in [4, 4, 8]", "pods have as many")
    require(min(shape) >= 1, "shape", shape, "sides ≥ 1", "an axis has a chip")
    sides = [side for side in shape if side > 1]
    require(bool(sides), "shape", shape, "2 chips or more", "one chip has no links")
    if twisted:
        return _twisted_slice(shape)
    if len(shape) == 2:
        require(max(shape) <= POD, "shape", shape, f"sides of at most {POD}", f"such a pod has {POD} × {POD} chips")
        return slice(radices=sides, wrap=[side == POD for side in sides])
    whole = all(side % CUBE == 0 for side in shape)
    part = all(CUBE % side == 0 for side in shape)
    require(
        whole or part,
        "shape",
        shape,
        f"sides that are multiples of {CUBE}, or that divide {CUBE}",
        "optical switches join whole cubes; for another network use slice(radices=[…], wrap=[…])",
    )
    return slice(radices=sides, wrap=[whole] * len(sides))


def _twisted_slice(shape: list[int]) -> Plan:
    short, long = min(shape), max(shape)
    if long != 2 * short or short < 2 or any(side not in (short, long) for side in shape):
        raise BadInput(
            f"shape={shape}: expected sides k and 2k, as in [4, 4, 8] or [4, 8, 8], for a twist;"
            " leave twisted out, or use twisted_torus"
        )
    shifts = {i: short for i, side in enumerate(shape) if side == long}
    plan = twisted_torus(radices=shape, twists={j: shifts for j, side in enumerate(shape) if side == short})
    if len(shape) == 3 and short % CUBE == 0:
        return plan
    return replace(plan, notes=("no pod has this slice: twisted ones have three axes, each a multiple of 4",))


def _bisection(sides: Sequence[int], rings: Sequence[bool]) -> int | None:
    """Return the bisection width of a grid of lines and rings, in links; None if the following argument fails.

    Under dimension-order routing, a channel of a line of side k carries at most N k/4 of all N² pairs of nodes (for odd
    k, N (k² − 1)/(4k)), and a channel of a ring half as many. N²/2 pairs cross a bisection, over two channels per link,
    so it has at least N²/4 links over the greatest load. If the dimension with that load is even, its middle plane has
    exactly this number of links.
    """
    loads = [(side - side % 2 / side) / (2 if ring else 1) for side, ring in zip(sides, rings)]
    across = next((i for i, load in enumerate(loads) if load == max(loads) and sides[i] % 2 == 0), None)
    return None if across is None else prod(sides) // sides[across] * (2 if rings[across] else 1)


Board = Annotated[list[int], Meaning("accelerators along x and y of a board")]
Boards = Annotated[list[int], Meaning("boards along x and y")]
Groups = Annotated[list[int], Meaning("groups along the axes X, Y and Z")]
CubeSide = Annotated[int, Whole(3, "nodes along each axis of a cube", maximum=1024)]
Joined = Annotated[list[int], Meaning("for each cube, the cube whose − face its + face along this axis is joined to")]


def hamming_mesh(board: Board, boards: Boards, terminals: Terminals = 1) -> Plan:
    """HammingMesh (HxMesh): boards of a × b accelerators in a mesh; the edges of boards in a row share switches.

    Both ends of row r of every board in a row of boards are joined to one switch; columns likewise. Nodes are numbered
    in this order: accelerators, x first (over boards and within them), then y; switches of rows, by y; switches of
    columns, by x. Switches have no terminals. A row of one accelerator has two links to its switch.

    Constraint: two values in board and in boards, each ≥ 1.
    Source: Hoefler et al. 2022, sec. III (one switch where the paper has a tree of them).
    """
    for name, value in (("board", board), ("boards", boards)):
        require(len(value) == 2 and min(value) >= 1, name, value, "two values ≥ 1, along x and y", "boards are flat")
    wide, high = board[0] * boards[0], board[1] * boards[1]
    accelerators, nodes = wide * high, wide * high + wide + high

    def wire() -> Wiring:
        y, x = (side.reshape(-1) for side in np.indices((high, wide)))
        number = x + wide * y
        listed = []
        for along, side, step, switch, kind in (
            (x, board[0], 1, accelerators + y, 0),
            (y, board[1], wide, accelerators + high + x, 1),
        ):
            inside = along % side < side - 1
            listed.append(ClassLinks(number[inside], number[inside] + step, kind))
            for edge in (0, side - 1):
                ends = along % side == edge
                listed.append(ClassLinks(number[ends], switch[ends], 2))
        return wiring_of_links(nodes, listed, terminals=terminals_of(np.arange(accelerators), terminals))

    return Plan(
        nodes=nodes,
        degree=max(sum(min(side, 2) for side in board), *(min(side, 2) * count for side, count in zip(board, boards))),
        radices=(nodes,),
        wire=wire,
        terminals=accelerators * terminals,
        symmetries=lambda: _board_symmetries(board, boards),
        classes=("board x", "board y", "switch"),
    )


def _board_symmetries(board: list[int], boards: list[int]) -> list[np.ndarray]:
    """Return symmetries that shift all rows or columns of boards by one, or reverse x or y within all boards."""
    wide, high = board[0] * boards[0], board[1] * boards[1]
    x, y = np.arange(wide), np.arange(high)
    images = []
    for along_x, along_y in (
        ((x + board[0]) % wide, y),
        (x, (y + board[1]) % high),
        (x // board[0] * board[0] + board[0] - 1 - x % board[0], y),
        (x, y // board[1] * board[1] + board[1] - 1 - y % board[1]),
    ):
        accelerators = (along_x + wide * along_y[:, None]).reshape(-1)
        rows, columns = wide * high + along_y, wide * high + high + along_x
        images.append(np.concatenate([accelerators, rows, columns]).astype(np.int32))
    return images


def tofu(radices: Groups) -> Plan:
    """Tofu's 6D mesh/torus: rings along X, Y, Z and B, lines of 2 along A and C; groups of A × B × C = 2 × 3 × 2 nodes.

    Digits: x, y, z, a, b, c. A radix of 2 gives one link, not two.

    Constraint: three radices, each ≥ 2.
    Source: Ajima et al. 2009, Tofu: a 6D mesh/torus interconnect for exascale computers (the shape of a group).
    """
    require(len(radices) == 3, "radices", radices, "three sides: x, y and z", "the sides of a group are 2, 3 and 2")
    plan = slice(radices=[*radices, 2, 3, 2], wrap=[True, True, True, False, True, False])
    return replace(plan, classes=("x", "y", "z", "a", "b", "c"))


@dataclass(frozen=True)
class Pod:
    """The structure of a pod. The nodes of a cube have consecutive numbers; links between faces are circuits.

    side   nodes along each edge of a cube
    """

    side: int


def cube_pod(x: Joined, y: Joined, z: Joined, side: CubeSide = 4) -> Plan:
    """Cubes of side³ nodes, joined by circuit switches: in each dimension, the + face of cube i to the − face of x[i].

    Digits: the place in the cube, x first, then the cube. Each node of a face is joined to the node at the same place
    of the other face. A cube whose + face is joined to its own − face has rings of `side` nodes.

    Constraint: x, y and z are permutations of the cubes 0, 1, ….
    Source: Jouppi et al. 2023, sec. 2 (cubes of 4³ and optical circuit switches of TPU v4).
    """
    cubes = len(x)
    for name, value in (("x", x), ("y", y), ("z", z)):
        require(
            sorted(value) == list(range(cubes)) and cubes >= 1,
            name,
            value,
            f"each of 0 … {max(cubes - 1, 0)} once",
            "a face is joined to one other",
        )
    volume = side**3

    def wire() -> Wiring:
        place, number = np.arange(volume), np.arange(volume * cubes)
        listed = []
        for axis, joined in enumerate((x, y, z)):
            stride = side**axis
            digit = place // stride % side
            inside = np.tile(digit < side - 1, cubes)
            listed.append(ClassLinks(number[inside], number[inside] + stride, axis))
            face = place[digit == side - 1]
            cube = np.arange(cubes)[:, None]
            near = face + volume * cube
            far = face - (side - 1) * stride + volume * np.array(joined)[:, None]
            listed.append(ClassLinks(near.reshape(-1), far.reshape(-1), axis))
        return wiring_of_links(volume * cubes, listed)

    return Plan(
        nodes=volume * cubes,
        degree=6,
        radices=(side, side, side, cubes),
        wire=wire,
        classes=("x", "y", "z"),
        structure=Pod(side),
    )
