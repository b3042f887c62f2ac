"""The messages of a collective operation between ranks, by the algorithms of `torusweep.collectives`."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Literal

from torusweep.collectives.algorithms import POWERS_OF_2, schedule_of
from torusweep.collectives.cost import messages_of
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.workloads.traces.operations import BARRIER

# those that need no links, only ranks; "one_way_ring" is ASTRA-sim's and NCCL's ring
Algorithm = Literal["one_way_ring", "ring", "direct", "halving_doubling"]
DIRECT = "direct"
GATHERS = ("all_reduce", "all_gather", "reduce_scatter")
Messages = list[tuple[int, int, int]]  # source, destination, bytes


def expanded(operation: str, ranks: int, size: int, root: int, algorithm: str) -> list[Messages]:
    """The messages (source, destination, bytes) of each step of a collective between ranks 0 … ranks − 1.

    size       bytes, as torusweep.collectives.operations defines it
    root       of broadcast and reduce
    algorithm  of all_reduce, all_gather and reduce_scatter; the others are direct: every message at once. A barrier
               is a dissemination: in step i, rank r tells rank r + 2^i (Hensgen, Finkel & Manber 1988)

    A message has whole bytes, rounded up. Raises BadInput where the algorithm does not suit the number of ranks.
    """
    if ranks == 1:
        return []
    if operation == BARRIER:
        return [
            [(rank, (rank + (1 << bit)) % ranks, 0) for rank in range(ranks)] for bit in range((ranks - 1).bit_length())
        ]
    units, steps = _schedule(operation, ranks, root, algorithm)
    return [[(source, destination, -(-part * size // units)) for source, destination, part in step] for step in steps]


@lru_cache(maxsize=64)
def _schedule(operation: str, ranks: int, root: int, algorithm: str) -> tuple[int, list[Messages]]:
    """(units of the operation, (source, destination, units) of the messages of each step)."""
    if algorithm in POWERS_OF_2 and ranks & (ranks - 1):
        raise BadInput(
            f"{operation} between {ranks:,} ranks: expected a power of 2 of them with algorithm {algorithm};"
            " choose algorithm=one_way_ring"
        )
    logical = build(f"ring(k={ranks})" if ranks > 2 else "hypercube(n=1)")
    wanted = algorithm if operation in GATHERS and ranks > 2 else DIRECT  # two ranks have no ring
    schedule = schedule_of(logical, operation, wanted, root=root)
    rows = zip(*(column.tolist() for column in messages_of(schedule)))
    steps = groupby(rows, key=itemgetter(0))
    return schedule.units, [
        [(source, destination, int(units)) for _, source, destination, units in own] for _, own in steps
    ]
