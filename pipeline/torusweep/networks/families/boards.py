"""Networks of boards and cubes: HammingMesh, Tofu's 6D mesh/torus, and pods of cubes joined by circuit switches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from torusweep.networks.families.linked import ClassLinks, Terminals, terminals_of, wiring_of_links
from torusweep.networks.families.slices import slice
from torusweep.networks.topology import Meaning, Plan, Whole, Wiring, require

Board = Annotated[list[int], Meaning("accelerators along x and y of a board")]
Boards = Annotated[list[int], Meaning("boards along x and y")]
Radices = Annotated[list[int], Meaning("groups along the axes X, Y and Z")]
CubeSide = Annotated[int, Whole(3, "nodes along each axis of a cube", maximum=1024)]
Joined = Annotated[list[int], Meaning("the cube that the + face of each cube is joined to, along this axis")]


def hamming_mesh(board: Board, boards: Boards, terminals: Terminals = 1) -> Plan:
    """HammingMesh (HxMesh): boards of a × b accelerators in a mesh; the edges of boards in a row share switches.

    Both ends of row r of every board in a row of boards are joined to one switch; columns likewise. Accelerators
    come first: x varies fastest, over boards and within them, then y. Then the switches of rows, by y, and those of
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
        symmetries=lambda: _board_symmetries(board, boards),
        classes=("board x", "board y", "switch"),
    )


def _board_symmetries(board: list[int], boards: list[int]) -> list[np.ndarray]:
    """Turn the boards of all rows, or of all columns; reverse the x, or the y, of all boards."""
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


def tofu(radices: Radices) -> Plan:
    """6D mesh/torus of Tofu: rings along X, Y, Z and B, lines of 2 along A and C; groups of A × B × C = 2 × 3 × 2.

    Digits: x, y, z, a, b, c. A radix of 2 gives one link, not two.

    Constraint: three radices, each ≥ 2.
    Source: Ajima et al. 2009, Tofu: a 6D mesh/torus interconnect for exascale computers (the shape of a group).
    """
    require(len(radices) == 3, "radices", radices, "three sides: x, y and z", "those of a group are 2, 3 and 2")
    plan = slice(radices=[*radices, 2, 3, 2], wrap=[True, True, True, False, True, False])
    return replace(plan, classes=("x", "y", "z", "a", "b", "c"))


@dataclass(frozen=True)
class Pod:
    """The structure of a pod: nodes of a cube are numbered one after another; links between faces are circuits.

    side   nodes along each edge of a cube
    """

    side: int


def cube_pod(x: Joined, y: Joined, z: Joined, side: CubeSide = 4) -> Plan:
    """Cubes of side³ nodes whose faces are joined by circuit switches: the + face of cube i to the − face of x[i].

    Digits: the place in the cube, x first, then the cube. Node by node, opposite faces have the same places.
    A cube whose face is joined to its own has a ring of side nodes.

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
