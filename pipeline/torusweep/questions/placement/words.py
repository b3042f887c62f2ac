"""A ranking in words: where an axis lies, the busiest link, what its routing needs against deadlock, remarks."""

from __future__ import annotations

from collections.abc import Sequence

from torusweep.questions.placement.blocks import Block, size_of
from torusweep.questions.placement.machine import PATTERN, JobOperation, Machine
from torusweep.questions.placement.ranking import JobPlacement


def block_in_words(machine: Machine, block: Block | None, order: str) -> str:
    """Return "4 x × 2 y, cycle x, y"; "4 x by 2" where the members are two nodes apart."""
    if block is None:
        return "in the order of the nodes"
    if not block:
        return "one rank"
    sides = [
        f"{part.factor} {machine.names[part.dimension]}" + (f" by {part.stride}" if part.stride > 1 else "")
        for part in block
    ]
    return f"{' × '.join(sides)}, {order}"


def link_in_words(machine: Machine, link: int | None) -> str:
    """Return "(3, 0) +x", a node's coordinates and a direction; "all sides" for the bucket algorithm."""
    if link is None:
        return "sides of the block"
    node, direction = divmod(link, machine.ways.step.shape[1])
    digits = [node // stride % side for stride, side in zip(machine.strides, machine.sides)]
    return f"({', '.join(map(str, digits))}) {'+-'[direction % 2]}{machine.names[direction // 2]}"


def deadlock_in_words(machine: Machine, placement: JobPlacement) -> str:
    """What keeps the routes of a placement free of deadlock."""
    if max((phase.hops for phase in placement.phases), default=0) <= 1:
        return (
            "no deadlock: every message takes one hop, so that no channel waits for another;"
            " one virtual channel is enough"
        )
    if machine.twisted:
        return (
            "messages take several hops, along x, then y, then z, by a shortest displacement; with a dateline and two"
            f" virtual channels, torusweep deadlock '{machine.topology.spelling}' --routing routing_record --vc-rule"
            " dateline --virtual-channels 2 gives the verdict"
        )
    if any(machine.rings):
        return (
            "no deadlock with two virtual channels: messages take several hops in dimension order, and each ring has a"
            " dateline (Dally & Seitz 1987)"
        )
    return "no deadlock: dimension order on lines is free of cycles; one virtual channel is enough"


def _has_ring(machine: Machine, block: Block) -> bool:
    """Whether a side of a block is a whole ring, round which there may be a cycle of odd length."""
    return any(machine.rings[part.dimension] and part.factor == machine.sides[part.dimension] for part in block)


def notes(
    machine: Machine, axes: dict[str, int], operations: Sequence[JobOperation], best: Sequence[JobPlacement]
) -> list[str]:
    """Remarks on what the placements are, and are not."""
    found = list(machine.topology.plan.notes)
    ringed = {operation.axis for operation in operations if PATTERN[operation.kind] == "ring"}
    names = list(axes)
    odd = {
        (name, block)
        for placement in best
        for name, block in zip(names, placement.blocks)
        if name in ringed and block and len(block) > 1 and size_of(block) % 2 and not _has_ring(machine, block)
    }
    for name, block in sorted(odd):
        sides = " × ".join(str(part.factor) for part in block)
        found.append(
            f"{name} on {sides}: a mesh block whose sides are all odd has no Hamiltonian cycle, as it is bipartite; the"
            " near-cycle has one step of two hops"
        )
    if machine.twisted:
        found.append("a group that winds round a twisted slice more than once is not among the placements")
    return found
