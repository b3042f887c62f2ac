"""Skeletons of applications: collective operations as messages, and the communication of programs in NPB.

NPB is the NAS Parallel Benchmarks. The module has its programs CG (conjugate gradient), IS (integer sort) and FT
(Fourier transform), which use all-to-all, LU (a solver, with a wavefront per plane), and MG (multigrid, with exchanges
of faces at all levels). The collective operations are workloads, and also parts of these programs.
"""

from __future__ import annotations

from math import prod
from typing import Annotated

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.physical import Clock
from torusweep.networks.topology import Whole
from torusweep.workloads.messages import Program, Target, Workload, power_of_2_tasks, task_count

Tasks = Annotated[int | None, Whole(2, "number of tasks; by default one per terminal")]
Flits = Annotated[int, Whole(1, "number of flits", 2**40)]
Rounds = Annotated[int, Whole(1, "number of rounds", 10**6)]
DOUBLE = 8  # bytes
INTEGER, COMPLEX = 4, 16  # bytes
TEST_KEYS = 5  # keys whose ranks are sent along with the buckets
POINT = 5 * 8  # bytes: five doubles


def ring_all_reduce(target: Target, flits: Flits = 1024, tasks: Tasks = None) -> Workload:
    """All-reduce of a vector of `flits` on a ring of tasks: reduce-scatter, then all-gather.

    There are 2 (N − 1) steps; in each, a task sends ⌈flits/N⌉ flits to the next task, after it has received
    the flits of the step before.
    Source: Patarasuk & Yuan 2009.
    """
    number = task_count(target.terminals, tasks)
    program, share = Program(number), -(-flits // number)
    program.check_rounds(2 * (number - 1), 1, number)
    for _ in range(2 * (number - 1)):
        program.exchange((task, (task + 1) % number, share) for task in range(number))
    return program.workload()


def all_to_all(target: Target, flits: Flits = 64, rounds: Rounds = 1, tasks: Tasks = None) -> Workload:
    """Send `flits` flits from every task to every other at once; a task's next round begins when it has received all.

    Task i sends to i + 1, i + 2, … in this order, so that no task is the first destination of several others.
    Source: Thakur, Rabenseifner & Gropp 2005 (MPICH's all-to-all of medium messages).
    """
    number = task_count(target.terminals, tasks)
    program = Program(number)
    program.check_rounds(rounds, 1, number * (number - 1))
    for _ in range(rounds):
        exchange_all(program, flits)
    return program.workload()


def exchange_all(program: Program, flits: int) -> None:
    """Append a message of `flits` flits from every task to every other task."""
    tasks = program.tasks
    program.check_memory(tasks * (tasks - 1))
    source, away = np.tile(np.arange(tasks), tasks - 1), np.repeat(np.arange(1, tasks), tasks)
    program.exchange(np.stack([source, (source + away) % tasks, np.full_like(source, flits)], axis=1))


def recursive_doubling(program: Program, flits: int) -> None:
    """Append an all-reduce of short vectors on 2^m tasks: in step i, tasks whose numbers differ in bit i exchange.

    Source: Thakur, Rabenseifner & Gropp 2005.
    """
    distance = 1
    while distance < program.tasks:
        program.exchange((task, task ^ distance, flits) for task in range(program.tasks))
        distance *= 2


def cg(
    target: Target,
    order: Annotated[int, Whole(2, "order of the matrix", 10**8)] = 14_000,
    rounds: Rounds = 1,
    tasks: Tasks = None,
) -> Workload:
    """The communication of NPB's CG: `rounds` steps of the conjugate gradient on 2^m tasks.

    `order` is the order of the matrix (class A: 14,000). The tasks form rows × columns, with columns = rows or
    2 rows, and are numbered row by row. A step multiplies matrix and vector: log₂ columns exchanges within a row, at
    distances columns/2, columns/4, …, add partial sums of a segment of order/columns doubles; the result goes to the
    task at the transposed place. Two scalar products follow, each with log₂ columns exchanges of a double within
    the row.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks); Cámara et al. 2010, sec. 7.5, replay a trace of it
    without stating its class.
    """
    number = power_of_2_tasks(target.terminals, tasks)
    bits = number.bit_length() - 1
    rows, columns = 1 << bits // 2, 1 << (bits + 1) // 2
    segment = target.clock.flits(DOUBLE * order / columns)
    program = Program(number)
    sums = columns.bit_length() - 1
    program.check_rounds(rounds, 3 * sums + 1, 3 * sums * number)
    for _ in range(rounds):
        within_rows(program, columns, segment)
        program.exchange(
            (task, transposed(task, rows, columns), segment)
            for task in range(number)
            if transposed(task, rows, columns) != task
        )
        for _ in range(2):
            within_rows(program, columns, target.clock.flits(DOUBLE))
    return program.workload()


def within_rows(program: Program, columns: int, flits: int) -> None:
    """Append a sum over each row of tasks: exchanges at distances columns/2, columns/4, …, 1."""
    distance = columns // 2
    while distance:
        # the column is in the lowest bits
        program.exchange((task, task ^ distance, flits) for task in range(program.tasks))
        distance //= 2


def transposed(task: int, rows: int, columns: int) -> int:
    """Return the task at the transposed place (NPB's exch_proc); if columns = 2 rows, pairs of tasks are transposed."""
    if rows == columns:
        return task % rows * rows + task // rows
    return 2 * (task // 2 % rows * rows + task // 2 // rows) + task % 2


Side = Annotated[int, Whole(1, "points of the grid in this dimension", 1 << 16)]


def integer_sort(
    target: Target,
    keys: Annotated[int, Whole(1, "number of keys", 1 << 40)] = 1 << 23,
    buckets: Annotated[int, Whole(1, "number of buckets", 1 << 24)] = 1024,
    rounds: Rounds = 1,
    tasks: Tasks = None,
) -> Workload:
    """The communication of NPB's IS: `rounds` bucket sorts of `keys` keys (class A: 2^23), on 2^m tasks.

    In each sort the tasks sum the sizes of the buckets (all-reduce by recursive doubling), announce the numbers of
    keys (all-to-all of one integer), and send each other the keys of their buckets: keys/tasks², since keys
    are approximately evenly distributed.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks); collectives as in Thakur, Rabenseifner & Gropp 2005.
    """
    number = power_of_2_tasks(target.terminals, tasks)
    program = Program(number)
    doublings = number.bit_length() - 1
    program.check_rounds(rounds, doublings + 2, number * doublings + 2 * number * (number - 1))
    for _ in range(rounds):
        recursive_doubling(program, target.clock.flits(INTEGER * (buckets + TEST_KEYS)))
        exchange_all(program, target.clock.flits(INTEGER))
        exchange_all(program, target.clock.flits(INTEGER * keys / number**2))
    return program.workload()


def ft(
    target: Target, nx: Side = 256, ny: Side = 256, nz: Side = 128, rounds: Rounds = 1, tasks: Tasks = None
) -> Workload:
    """The communication of NPB's FT: `rounds` transforms of nx × ny × nz complex numbers, in slabs on 2^m tasks.

    The default grid is class A, 256 × 256 × 128. A transform transposes the grid, an all-to-all of
    nx ny nz/tasks² numbers, and adds up a checksum of one number at task 0 along a binomial tree. A task
    begins the next transform when it has received all messages to it; no task waits for the checksum.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks, one-dimensional layout).
    """
    number = power_of_2_tasks(target.terminals, tasks)
    program = Program(number)
    program.check_rounds(rounds, number.bit_length(), (number + 1) * (number - 1))
    for _ in range(rounds):
        exchange_all(program, target.clock.flits(COMPLEX * nx * ny * nz / number**2))
        distance = 1
        while distance < number:
            value = target.clock.flits(COMPLEX)
            program.exchange((task + distance, task, value) for task in range(0, number, 2 * distance))
            distance *= 2
    return program.workload()


def lu(
    target: Target,
    side: Annotated[int, Whole(4, "points of the grid in each dimension", 4096)] = 64,
    rounds: Rounds = 1,
    tasks: Tasks = None,
) -> Workload:
    """The communication of NPB's LU: `rounds` iterations of SSOR, on side³ points (class A: 64³) and 2^m tasks.

    The tasks form rows × columns, columns = rows or 2 rows, numbered row by row; each has a column of the grid.
    For each of the side − 2 inner planes, lowest first, a task receives the edges of its northern and western
    neighbours, then sends its own edges to the south and east, 5 doubles per point. It then does the same for each
    plane, highest first, in the opposite direction. Finally, for the right-hand side, tasks exchange two layers of
    all planes with their four neighbours, first along columns of tasks, then along rows.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks; its exchange_1 and exchange_3).
    """
    number = power_of_2_tasks(target.terminals, tasks)
    bits = number.bit_length() - 1
    rows, columns = 1 << bits // 2, 1 << (bits + 1) // 2
    if side < columns:
        raise BadInput(
            f"side={side}: expected a point for each of the {columns} columns of tasks at least;"
            " choose a larger grid or fewer tasks"
        )
    # an edge to the south is as long as the part of the grid is wide
    south, east = target.clock.flits(POINT * side / columns), target.clock.flits(POINT * side / rows)
    program = Program(number)
    edges = rows * (columns - 1) + (rows - 1) * columns  # between parts of the grid
    program.check_rounds(rounds, 2, 2 * (side - 2) * edges + 2 * edges)
    for _ in range(rounds):
        for _ in range(side - 2):
            _sweep(program, rows, columns, (south, east), 1)
        for _ in range(side - 2):
            _sweep(program, rows, columns, (south, east), -1)
        for away, flits in ((columns, 2 * side * south), (1, 2 * side * east)):
            pairs = [(task, task + away) for task in range(number - away) if away > 1 or (task + 1) % columns]
            program.exchange((*pair, flits) for one, other in pairs for pair in ((one, other), (other, one)))
    return program.workload()


def _sweep(program: Program, rows: int, columns: int, flits: tuple[int, int], way: int) -> None:
    """Append the wavefront of a plane from the first task to the last (way 1), or from the last to the first (−1)."""
    in_flight: dict[int, list[int]] = {}
    for row in range(rows)[::way]:
        for column in range(columns)[::way]:
            task = row * columns + column
            if task in in_flight:
                program.receive(task, in_flight.pop(task))
            if 0 <= row + way < rows:
                in_flight.setdefault(task + way * columns, []).append(
                    program.send(task, task + way * columns, flits[0])
                )
            if 0 <= column + way < columns:
                in_flight.setdefault(task + way, []).append(program.send(task, task + way, flits[1]))


def mg(
    target: Target,
    side: Annotated[int, Whole(4, "points of the grid in each dimension", 1 << 14)] = 256,
    rounds: Rounds = 1,
    tasks: Tasks = None,
) -> Workload:
    """The communication of NPB's MG: `rounds` V-cycles, on side³ points (class A: 256³) and 2^m tasks.

    The grid is periodic, and its side a power of 2. The tasks form a three-dimensional grid, with x numbered fastest,
    whose sides differ by a factor of at most 2; z is the largest. From the finest grid down to 2³ and up again, a
    task exchanges the faces of its part with its two neighbours in x, then y, then z: once per level down
    (restricted residual), once at the bottom, twice per level up (residual and smoothing), and once more at the
    top. At a level with fewer points than tasks along a dimension, only every second, fourth, … task has a
    part.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks; its comm3 in mg3P).
    """
    number = power_of_2_tasks(target.terminals, tasks)
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
            exchange_faces(program, shape, level, target.clock)
    return program.workload()


def exchange_faces(program: Program, shape: tuple[int, ...], side: int, clock: Clock) -> None:
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
        flits = clock.flits(DOUBLE * side**2 * parts[axis] / (parts[0] * parts[1] * parts[2]))
        step, around = stride[axis] * weight[axis], shape[axis] * weight[axis]
        messages = []
        for place in places:
            task, rest = sum(place), sum(place) - place[axis]
            messages += [(task, rest + (place[axis] + way * step) % around, flits) for way in (1, -1)]
        program.exchange(messages)
