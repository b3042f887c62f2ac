"""Collective operations as messages: workloads, and parts of the application skeletons."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from torusweep.networks.topology import Whole
from torusweep.workloads.messages import Program, Workload, task_count

Tasks = Annotated[int | None, Whole(2, "tasks; by default one a terminal")]
Flits = Annotated[int, Whole(1, "flits", 2**40)]
Rounds = Annotated[int, Whole(1, "how often", 10**6)]


def ring_all_reduce(terminals: int, flits: Flits = 1024, tasks: Tasks = None) -> Workload:
    """All-reduce of a vector of `flits` on a ring of tasks: reduce-scatter, then all-gather.

    There are 2 (N − 1) steps; in each, a task sends ⌈flits/N⌉ flits to the next, after it has received those
    of the step before.
    Source: Patarasuk & Yuan 2009.
    """
    number = task_count(terminals, tasks)
    program, share = Program(number), -(-flits // number)
    program.check_rounds(2 * (number - 1), 1, number)
    for _ in range(2 * (number - 1)):
        program.exchange((task, (task + 1) % number, share) for task in range(number))
    return program.workload()


def all_to_all(terminals: int, flits: Flits = 64, rounds: Rounds = 1, tasks: Tasks = None) -> Workload:
    """`flits` flits from every task to every other, posted at once; the next round begins when all have arrived.

    Task i sends to i + 1, i + 2, … in this order, so that no task is the first destination of several others.
    Source: Thakur, Rabenseifner & Gropp 2005 (MPICH's all-to-all of medium messages).
    """
    number = task_count(terminals, tasks)
    program = Program(number)
    program.check_rounds(rounds, 1, number * (number - 1))
    for _ in range(rounds):
        exchange_all(program, flits)
    return program.workload()


def exchange_all(program: Program, flits: int) -> None:
    """Append a message from every task to every other."""
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
