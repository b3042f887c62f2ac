"""Integer sort and Fourier transform: the communication of NPB's IS and FT, all-to-all."""

from __future__ import annotations

from typing import Annotated

from torusweep.networks.topology import Whole
from torusweep.workloads.collectives import Rounds, Tasks, exchange_all, recursive_doubling
from torusweep.workloads.messages import Program, Workload, flits_of, power_of_2_tasks

INTEGER, COMPLEX = 4, 16  # bytes
TEST_KEYS = 5  # keys whose ranks are sent along with the buckets

Side = Annotated[int, Whole(1, "points of the grid in this dimension", 1 << 16)]


def integer_sort(
    terminals: int,
    keys: Annotated[int, Whole(1, "keys", 1 << 40)] = 1 << 23,
    buckets: Annotated[int, Whole(1, "buckets", 1 << 24)] = 1024,
    rounds: Rounds = 1,
    tasks: Tasks = None,
) -> Workload:
    """The communication of NPB's IS: `rounds` bucket sorts of `keys` keys (class A: 2^23), on 2^m tasks.

    In each sort the tasks sum the sizes of the buckets (all-reduce by recursive doubling), announce the numbers of
    keys (all-to-all of one integer), and send each other the keys of their buckets: keys/tasks², since keys
    are approximately evenly distributed.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks); collectives as in Thakur, Rabenseifner & Gropp 2005.
    """
    number = power_of_2_tasks(terminals, tasks)
    program = Program(number)
    doublings = number.bit_length() - 1
    program.check_rounds(rounds, doublings + 2, number * doublings + 2 * number * (number - 1))
    for _ in range(rounds):
        recursive_doubling(program, flits_of(INTEGER * (buckets + TEST_KEYS)))
        exchange_all(program, flits_of(INTEGER))
        exchange_all(program, flits_of(INTEGER * keys / number**2))
    return program.workload()


def ft(
    terminals: int, nx: Side = 256, ny: Side = 256, nz: Side = 128, rounds: Rounds = 1, tasks: Tasks = None
) -> Workload:
    """The communication of NPB's FT: `rounds` transforms of nx × ny × nz complex numbers, in slabs on 2^m tasks.

    The default grid is class A, 256 × 256 × 128. A transform transposes the grid, an all-to-all of
    nx ny nz/tasks² numbers, and sums a checksum of one number to task 0 along a binomial tree. A task
    begins the next transform when it has received all messages to it; no task waits for the checksum.
    Source: Bailey et al. 1991 (NAS Parallel Benchmarks, one-dimensional layout).
    """
    number = power_of_2_tasks(terminals, tasks)
    program = Program(number)
    program.check_rounds(rounds, number.bit_length(), (number + 1) * (number - 1))
    for _ in range(rounds):
        exchange_all(program, flits_of(COMPLEX * nx * ny * nz / number**2))
        distance = 1
        while distance < number:
            program.exchange((task + distance, task, flits_of(COMPLEX)) for task in range(0, number, 2 * distance))
            distance *= 2
    return program.workload()
