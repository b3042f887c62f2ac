"""LU solver: the communication of NPB's LU, a wave front over planes."""

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
    """NPB's LU without its computation: a grid of side³ points (class A: 64³) in columns on 2^m tasks, so many iterations of SSOR.

    Tasks are rows × columns, columns = rows or 2 rows, numbered row by row. For each of the side − 2 inner planes, lowest first, a task
    receives the edges of its northern and western neighbours, then sends its own to the south and east, 5 doubles a point; then for
    each plane, highest first, the other way. At last the right-hand side exchanges two layers of all planes with the four neighbours,
    along columns of tasks first, then along rows.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks; its exchange_1 and exchange_3).
    """
    number = power_of_2_tasks(terminals, tasks)
    bits = number.bit_length() - 1
    rows, columns = 1 << bits // 2, 1 << (bits + 1) // 2
    if side < columns:
        raise BadInput(
            f"side={side}: expected a point for each of the {columns} columns of tasks at least; choose a larger grid or fewer tasks"
        )
    south, east = (
        flits_of(POINT * side / columns),
        flits_of(POINT * side / rows),
    )  # an edge to the south is as long as the part is wide
    program = Program(number)
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
    """A plane's wave front from the first task to the last (way 1), or from the last to the first (−1)."""
    under_way: dict[int, list[int]] = {}
    for row in range(rows)[::way]:
        for column in range(columns)[::way]:
            task = row * columns + column
            if task in under_way:
                program.receive(task, under_way.pop(task))
            if 0 <= row + way < rows:
                under_way.setdefault(task + way * columns, []).append(
                    program.send(task, task + way * columns, flits[0])
                )
            if 0 <= column + way < columns:
                under_way.setdefault(task + way, []).append(program.send(task, task + way, flits[1]))
