"""Multigrid: the communication of NPB's MG, exchanges of faces at all levels."""

from __future__ import annotations

from math import prod
from typing import Annotated

from torusweep.errors import BadInput
from torusweep.networks.topology import Whole
from torusweep.workloads.collectives import Rounds, Tasks
from torusweep.workloads.messages import Program, Workload, flits_of, power_of_2_tasks

DOUBLE = 8  # bytes


def mg(
    terminals: int,
    side: Annotated[int, Whole(4, "points of the grid in each dimension", 1 << 14)] = 256,
    rounds: Rounds = 1,
    tasks: Tasks = None,
) -> Workload:
    """The communication of NPB's MG: `rounds` V-cycles, on side³ points (class A: 256³) and 2^m tasks.

    The grid is periodic, its side a power of 2. The tasks form a three-dimensional grid, x numbered fastest,
    whose sides differ by a factor of 2 at most, z the largest. From the finest grid down to 2³ and up again, a
    task exchanges the faces of its part with its two neighbours in x, then y, then z: once per level down
    (restricted residual), once at the bottom, twice per level up (residual and smoothing), and once more at the
    top. At a level with fewer points than tasks along a dimension, only every second, fourth, … task has a
    part.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks; its comm3 in mg3P).
    """
    number = power_of_2_tasks(terminals, tasks)
    if side & (side - 1):
        raise BadInput(f"side={side}: expected a power of 2; choose {1 << side.bit_length() - 1}")
    bits = number.bit_length() - 1
    shape = tuple(1 << (bits + dimension) // 3 for dimension in range(3))
    if side < shape[-1]:
        raise BadInput(
            f"side={side}: expected a point for each of {shape[-1]} tasks at least; choose a larger grid or fewer tasks"
        )
    sides = [1 << level for level in range(1, side.bit_length())]  # of the levels, coarsest first
    levels = [*sides[-2::-1], sides[0], *(finer for finer in sides[1:] for _ in range(2)), sides[-1]]
    # of each exchange of faces in one dimension, the parts of the grid
    parts = [prod(min(along, level) for along in shape) for level in levels for tasks in shape if min(tasks, level) > 1]
    program = Program(number)
    program.check_rounds(rounds, len(parts), 2 * sum(parts))
    for _ in range(rounds):
        for level in levels:
            exchange_faces(program, shape, level)
    return program.workload()


def exchange_faces(program: Program, shape: tuple[int, ...], side: int) -> None:
    """Append the exchange of faces between the parts of a periodic grid of side³ points, dimension by dimension."""
    stride = [max(1, tasks // side) for tasks in shape]  # between tasks with a part
    weight = [1, shape[0], shape[0] * shape[1]]
    parts = [min(tasks, side) for tasks in shape]
    places = [
        (x * stride[0], y * stride[1] * weight[1], z * stride[2] * weight[2])
        for z in range(parts[2])
        for y in range(parts[1])
        for x in range(parts[0])
    ]
    for axis in range(3):
        if parts[axis] == 1:
            continue
        flits = flits_of(DOUBLE * side**2 * parts[axis] / (parts[0] * parts[1] * parts[2]))
        step, around = stride[axis] * weight[axis], shape[axis] * weight[axis]
        messages = []
        for place in places:
            task, rest = sum(place), sum(place) - place[axis]
            messages += [(task, rest + (place[axis] + way * step) % around, flits) for way in (1, -1)]
        program.exchange(messages)
