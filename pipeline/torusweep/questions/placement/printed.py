"""Print placements: the best placement, the ranking, the times of its operations, and the loss by row-major order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from torusweep.networks.physical import LinkSpeed
from torusweep.quantities import counted, duration, size, size_as_given
from torusweep.questions.console import Columns, print_heading, print_note, print_rows
from torusweep.questions.placement.blocks import Block, size_of
from torusweep.questions.placement.job import Job
from torusweep.questions.placement.machine import PATTERN, JobOperation, Machine
from torusweep.questions.placement.ranking import JobPlacement, OperationTime, Ranking

MOST_RANKS = 8  # ranks of a group that are printed
ROUTES: Columns = {"algorithm": "by", "hops": "hops", lambda phase: phase.operation.why: "for"}


def block_in_words(machine: Machine, block: Block | None, order: str) -> str:
    """Describe an axis's block and order, as in "4 x × 2 y, cycle x, y"; "4 x by 2" if members are 2 nodes apart."""
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
    """Describe a link by its node and direction, as in "(3, 0) +x"; "sides of the block" for the bucket algorithm."""
    if link is None:
        return "sides of the block"
    node, direction = divmod(link, machine.ways.step.shape[1])
    digits = [node // stride % side for stride, side in zip(machine.strides, machine.sides)]
    return f"({', '.join(map(str, digits))}) {'+-'[direction % 2]}{machine.names[direction // 2]}"


def deadlock_in_words(machine: Machine, placement: JobPlacement) -> str:
    """Return a sentence on why a placement's routes are free of deadlock, or on how to find out."""
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
    """Return whether a side of a block is a whole ring of the slice, so that the block may have an odd cycle."""
    return any(machine.rings[part.dimension] and part.factor == machine.sides[part.dimension] for part in block)


def notes(
    machine: Machine, axes: dict[str, int], operations: Sequence[JobOperation], best: Sequence[JobPlacement]
) -> list[str]:
    """Return notes on the network, on blocks without a Hamiltonian cycle, and on placements that were not compared."""
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


def _wait(links: LinkSpeed) -> str:
    """Return the latency of a step of a collective, in words."""
    wait = f"{links.latency * 1e6:g} µs a step of a collective"
    if links.tick is None:
        return wait
    return "a step takes the latencies of its links" + (f", and {wait}" if links.latency else "")


def print_placements(
    console: Console,
    rows: Sequence[dict[str, Any]],
    machine: Machine,
    job: Job,
    links: LinkSpeed,
    ranking: Ranking,
    took: float,
) -> None:
    """Print the best placement, the number of placements compared, the rows, and the best placement's operations."""
    best, plain = ranking.best[0], ranking.row_major
    names = list(job.axes)
    print_heading(console, f"{seconds_in_words(best.seconds)} a step: {axes_in_words(machine, names, best)}")
    console.print(Text(_loss(best, plain)))
    compared, routed = counted(ranking.compared, "placement"), counted(ranking.routed, "order")
    console.print(Text(f"{compared} compared in {duration(took)}; {routed} of axes routed, message by message"))
    console.print(Text(deadlock_in_words(machine, best)))
    console.print()
    headings: Columns = {
        **{"placement": "", lambda row: seconds_in_words(row["seconds"]): "a step"},
        **{"to_the_best:.3f": "to the best", "ties": "ties", **{name: name for name in names}},
    }
    print_rows(console, rows, headings, left=names)
    console.print()
    print_heading(console, "Operations of the best")
    columns = {**PHASES, lambda phase: link_in_words(machine, phase.link): "which", **ROUTES}
    print_rows(console, best.phases, columns, left=[*PHASES][:2] + [*columns][8:10] + [*columns][11:])
    console.print()
    for axis, name in enumerate(names):
        if job.axes[name] > 1:
            console.print(Text(f"the first group of {name}: {_first_group(best, axis)}"))
    for note in notes(machine, job.axes, job.operations, ranking.best):
        print_note(console, f"Note: {note}.")
    unit = "each way" if machine.topology.bandwidth is None else "for a flit a cycle"
    print_note(
        console,
        f"Links of {links.bandwidth / 1e9:g} GB/s {unit}, {_wait(links)}."
        " Ties: placements with the same times of operations. Bound: for any placement and routing, without latency.",
    )


def _share(phase: OperationTime) -> str:
    return f"{phase.least / phase.seconds:.0%}" if phase.seconds else ""


def _loss(best: JobPlacement, plain: JobPlacement) -> str:
    loss = plain.seconds / best.seconds - 1
    if loss < 0.0005:
        return "the row-major order is as fast"
    return f"the row-major order takes {seconds_in_words(plain.seconds)}: {loss:.1%} more"


def axes_of(machine: Machine, names: Iterable[str], placement: JobPlacement) -> dict[str, str]:
    """Return each axis's block and order in words, by the axis's name."""
    found = zip(names, placement.blocks, placement.orders, strict=True)
    return {name: block_in_words(machine, block, order) for name, block, order in found}


def axes_in_words(machine: Machine, names: list[str], placement: JobPlacement) -> str:
    return "; ".join(f"{name} on {place}" for name, place in axes_of(machine, names, placement).items())


def _first_group(placement: JobPlacement, axis: int) -> str:
    place: list[Any] = [0] * placement.devices.ndim
    place[axis] = slice(None)
    ranks = placement.devices[tuple(place)].tolist()
    return ", ".join(map(str, ranks[:MOST_RANKS])) + (", …" if len(ranks) > MOST_RANKS else "")


def seconds_in_words(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:,.4g} {unit}"
    return f"{seconds * 1e6:.4g} µs"


PHASES: Columns = {
    lambda phase: phase.operation.axis: "axis",
    lambda phase: phase.operation.kind: "operation",
    lambda phase: size_as_given(phase.operation.bytes): "size",
    lambda phase: phase.operation.times: "times",
    lambda phase: seconds_in_words(phase.seconds): "a step",
    lambda phase: seconds_in_words(phase.least): "bound",
    _share: "share",
    lambda phase: size(phase.bytes): "on the busiest link",
}
