"""LU solver: the communication of NPB's LU, a wavefront per plane."""

from __future__ import annotations

from typing import Annotated

from torusweep.errors import BadInput
from torusweep.networks.topology import Whole
from torusweep.workloads.collectives import Rounds, Tasks
from torusweep.workloads.messages import Program, Workload, flits_of, power_of_2_tasks

POINT = 5 * 8  # bytes: five doubles


def lu(
    terminals: int,
    side: Annotated[int, Whole(4, "points of the grid in each dimension", 4096)] = 64,
    rounds: Rounds = 1,
    tasks: Tasks = None,
) -> Workload:
    """The communication of NPB's LU: `rounds` iterations of SSOR, on side³ points (class A: 64³) and 2^m tasks.

    The tasks form rows × columns, columns = rows or 2 rows, numbered row by row; each has a column of the grid.
    For each of the side − 2 inner planes, lowest first, a task receives the edges of its northern and western
    neighbours, then sends its own to the south and east, 5 doubles per point; then the same for each plane,
    highest first, in the opposite direction. Finally the right-hand side exchanges two layers of all planes
    with the four neighbours, first along columns of tasks, then along rows.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks; its exchange_1 and exchange_3).
    """
    number = power_of_2_tasks(terminals, tasks)
    bits = number.bit_length() - 1
    rows, columns = 1 << bits // 2, 1 << (bits + 1) // 2
    if side < columns:
        raise BadInput(
            f"side={side}: expected a point for each of the {columns} columns of tasks at least;"
            " choose a larger grid or fewer tasks"
        )
    # an edge to the south is as long as the part of the grid is wide
    south, east = flits_of(POINT * side / columns), flits_of(POINT * side / rows)
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
