"""What an axis of a job does, how a collective's time follows from loads, and what no placement can beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from torusweep.placements.machine import Machine

Kind = Literal["all_gather", "reduce_scatter", "all_reduce", "all_to_all", "broadcast", "permute", "exchange"]
KINDS: tuple[str, ...] = get_args(Kind)
# the pattern of messages of the kernel `groups`, whose loads the time of an operation needs
PATTERN = {
    "all_gather": "ring",
    "reduce_scatter": "ring",
    "all_reduce": "ring",
    "all_to_all": "pairs",
    "broadcast": "broadcast",
    "permute": "next",
    "exchange": "line",
}
MEANING = {
    "all_gather": "bytes of the gathered result",
    "reduce_scatter": "bytes of the vector that each rank has",
    "all_reduce": "bytes of the vector that each rank has",
    "all_to_all": "bytes that each rank sends in all, its own part included",
    "broadcast": "bytes of the message",
    "permute": "bytes that each rank sends to the next, the last to the first",
    "exchange": "bytes that each rank sends to the next and to the previous; the ends have one neighbour",
}


class JobOperation(NamedTuple):
    """A collective on all groups of an axis at once.

    axis   of the job
    kind   of KINDS
    bytes  as nccl-tests define the size of each: see MEANING
    times  a step
    why    which part of a model needs it; "" where a user gave it
    """

    axis: str
    kind: str
    bytes: int
    times: int = 1
    why: str = ""


class OperationCost(NamedTuple):
    """What one operation takes.

    bytes      on the busiest link
    steps      that follow each other, each after a latency
    algorithm  "ring", "bucket", "direct", "pipeline"
    """

    bytes: float
    steps: int
    algorithm: str

    def seconds(self, bandwidth: float, latency: float) -> float:
        return self.bytes / bandwidth + self.steps * latency


def cost(operation: JobOperation, size: int, loads: Mapping[str, float]) -> OperationCost:
    """Of an operation by rings, or directly.

    size   members of a group
    loads  messages on the busiest link, by pattern

    all_gather, reduce_scatter: half of the data goes round the ring each way, (A − 1)/A · bytes/2 over each of its
    edges, in A − 1 steps; all_reduce: both, one after the other (Thakur, Rabenseifner & Gropp 2005; Patarasuk & Yuan
    2009). all_to_all: bytes/A to each member. broadcast: half of the data along the ring each way, in small pieces.
    """
    kind, number = operation.kind, operation.bytes
    if size == 1:
        return OperationCost(0.0, 0, "none")
    load = loads[PATTERN[kind]]
    if kind == "all_to_all":
        return OperationCost(number / size * load, size - 1, "direct")
    if kind in ("permute", "exchange"):
        return OperationCost(number * load, 1, "direct")
    if kind == "broadcast":
        return OperationCost(number / 2 * load, size - 1, "pipeline")
    passes = 2 if kind == "all_reduce" else 1
    return OperationCost(passes * number * (size - 1) / size / 2 * load, passes * (size - 1), "ring")


def bucket_cost(operation: JobOperation, factors: list[int], loads: list[float]) -> OperationCost | None:
    """Of an all-gather, reduce-scatter or all-reduce on all sides of a block at once; None for other operations.

    factors  sides of the block, two or more
    loads    messages on the busiest link of each side's rings, all of them at once

    The data are divided into a part for each side. Part j is gathered along side j, then along the next, and so on, so
    that all sides are in use in each of the phases, which wait for each other. Along a side of a members, each of which
    has P shares, (a − 1) · P shares go over the ring, half of them each way.
    Source: Sack & Gropp 2015, for equal sides; here the sides may differ.
    """
    if operation.kind not in ("all_gather", "reduce_scatter", "all_reduce") or len(factors) < 2:
        return None
    count, size = len(factors), 1
    for factor in factors:
        size *= factor
    share = operation.bytes / size / count
    shares, total = [1] * count, 0.0
    for phase in range(count):
        most = 0.0
        for part in range(count):
            side = (part + phase) % count
            most = max(most, (factors[side] - 1) * shares[part] * share / 2 * loads[side])
            shares[part] *= factors[side]
        total += most
    passes = 2 if operation.kind == "all_reduce" else 1
    steps = sum(max(factors[(part + phase) % count] - 1 for part in range(count)) for phase in range(count))
    return OperationCost(passes * total, passes * steps, "bucket")


def least_bytes(operation: JobOperation, size: int, machine: Machine) -> float:
    """Bytes on the busiest link that no placement and no routing can go below.

    all_gather: every node receives all but its own part, (A − 1)/A · bytes, that with the fewest links, too.
    reduce_scatter: every node sends as much. broadcast: every node receives all, or is the first and sends all.
    all_reduce: a group's members send 2 (A − 1)/A · bytes each in the mean (Patarasuk & Yuan 2009, where only members
    combine); all channels carry at least one hop of these. permute, exchange: likewise.
    all_to_all: bytes/A to A − 1 others, which are not nearer than the nearest A − 1 nodes, over all channels.
    """
    if size == 1:
        return 0.0
    kind, number = operation.kind, operation.bytes
    nodes, channels = machine.nodes, machine.channels
    if kind in ("all_gather", "reduce_scatter"):
        return number * (size - 1) / size / machine.fewest_ports
    if kind == "broadcast":
        return number / machine.fewest_ports
    if kind == "all_to_all":
        return number / size * int(machine.nearest[size - 1]) / channels
    each = {"all_reduce": 2 * (size - 1) / size, "permute": 1.0, "exchange": 2 * (size - 1) / size}[kind]
    return number * each * nodes / channels


def bound_name(kind: str) -> str:
    """How the bound of an operation is proved, in words."""
    return {
        "all_gather": "what a node receives, over its links",
        "reduce_scatter": "what a node sends, over its links",
        "broadcast": "what a node receives, over its links",
        "all_to_all": "bytes times the distance to the nearest others, over all channels",
    }.get(kind, "what all nodes send, over all channels")
