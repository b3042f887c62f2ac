"""Conjugate gradient: the communication of NPB's CG."""

from __future__ import annotations

from typing import Annotated

from torusweep.networks.topology import Whole
from torusweep.workloads.collectives import Rounds, Tasks
from torusweep.workloads.messages import Program, Workload, flits_of, power_of_2_tasks

DOUBLE = 8  # bytes


def cg(
    terminals: int,
    order: Annotated[int, Whole(2, "order of the matrix", 10**8)] = 14_000,
    rounds: Rounds = 1,
    tasks: Tasks = None,
) -> Workload:
    """The communication of NPB's CG: `rounds` steps of the conjugate gradient on 2^m tasks.

    `order` is that of the matrix (class A: 14,000). The tasks form rows × columns, columns = rows or 2 rows,
    numbered row by row. A step multiplies matrix and vector: log₂ columns exchanges within a row, at distances
    columns/2, columns/4, …, add partial sums of a segment of order/columns doubles; the result goes to the task
    at the transposed place. Two scalar products follow, each with log₂ columns exchanges of a double within the
    row.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks); Cámara et al. 2010, sec. 7.5, replay a trace of it
    without stating its class.
    """
    number = power_of_2_tasks(terminals, tasks)
    bits = number.bit_length() - 1
    rows, columns = 1 << bits // 2, 1 << (bits + 1) // 2
    segment = flits_of(DOUBLE * order / columns)
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
            within_rows(program, columns, flits_of(DOUBLE))
    return program.workload()


def within_rows(program: Program, columns: int, flits: int) -> None:
    """Sum over each row of tasks: exchanges at distances columns/2, columns/4, …, 1."""
    distance = columns // 2
    while distance:
        # the column is in the lowest bits
        program.exchange((task, task ^ distance, flits) for task in range(program.tasks))
        distance //= 2


def transposed(task: int, rows: int, columns: int) -> int:
    """The partner exch_proc of NPB: row and column exchanged; with twice as many columns as rows, in pairs of tasks."""
    if rows == columns:
        return task % rows * rows + task // rows
    return 2 * (task // 2 % rows * rows + task // 2 // rows) + task % 2
