"""Which packets close a cycle: for each of its channels one that holds it and asks for the next."""

from __future__ import annotations

import numpy as np

from torusweep.routing.forms import LayeredRouting, Moves, Routing, SourceRouting
from torusweep.stages.deadlock.rules import Rule
from torusweep.stages.deadlock.windows import runs_first

BLOCK = 1 << 12  # destinations that are tried at a time


def packets_of(
    routing: Routing, rule: Rule, virtual_channels: int, cycle: np.ndarray, *, entering: bool
) -> list[str] | None:
    """`source → destination`, one for each channel of a cycle (node · W + channel, in order); None where none is looked for.

    entering   each channel has a packet that enters the network there and asks for the next one as its second
               (torusweep_kernels.dependencies.FIRST); of other cycles of routes settled at the source none is looked for

    Of two passes: `source by way of node`, on to any destination, or `source by way of itself → destination`.
    """
    if isinstance(routing, LayeredRouting):
        return _along_links(routing, cycle)
    if not entering:
        return None
    ways = ["→"] if routing.passes == 1 else ["by way of", "by way of itself →"]
    found = _entering(routing, rule.within(virtual_channels), rule.memory, cycle)
    return [f"{source} {ways[half]} {end}" for source, end, half in zip(*(array.tolist() for array in found))]


def _along_links(routing: LayeredRouting, cycle: np.ndarray) -> list[str] | None:
    """Of shortest paths u → v → w is one from u to w, if these send and receive."""
    ports = routing.topology.ports  # of one class
    near, far = cycle // ports.shape[1], ports.reshape(-1)[np.roll(cycle, -1)]
    if not (routing.plain and np.isin([*near, *far], routing.topology.terminals).all()):
        return None
    return [f"{source} → {destination}" for source, destination in zip(near.tolist(), far.tolist())]


def _entering(
    routing: SourceRouting, classes: np.ndarray, memory: str, cycle: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(source, node that it goes to in this half of its route, half) of a packet for each channel; a first half may have no hops."""
    ports, count = routing.topology.ports, int(classes.max()) + 1
    source, held = np.divmod(cycle, ports.shape[1] * count)
    after, asked = np.divmod(np.roll(cycle, -1), ports.shape[1] * count)
    nearest = ports[after, asked // count]  # most often a packet to where the second channel leads will do
    goes_to, in_half = np.full(len(cycle), -1), np.zeros(len(cycle), np.int64)
    for half in range(routing.passes):
        own = classes[half * routing.phases : (half + 1) * routing.phases]
        ends = (
            np.unique(routing.topology.terminals) if half == routing.passes - 1 else np.arange(routing.topology.nodes)
        )

        def attempt(places: np.ndarray, to: np.ndarray, half: int = half, own: np.ndarray = own) -> None:
            fits = _begins(routing, own, memory, count, source[places], to, held[places], asked[places])
            goes_to[places[fits]], in_half[places[fits]] = to[fits], half

        open_ = np.flatnonzero((goes_to < 0) & np.isin(nearest, ends))
        attempt(open_, nearest[open_])
        for begin in range(0, len(ends), BLOCK):
            some = ends[begin : begin + BLOCK]
            for place in np.flatnonzero(goes_to < 0):
                attempt(np.full(len(some), place), some)
    assert (goes_to >= 0).all(), "a first dependency has a packet"
    return source, goes_to, in_half


def _begins(
    routing: SourceRouting,
    classes: np.ndarray,
    memory: str,
    count: int,
    source: np.ndarray,
    destination: np.ndarray,
    held: np.ndarray,
    asked: np.ndarray,
) -> np.ndarray:
    """bool[B]: whether some route from source to destination begins with these two channels (port · count + class), by classes and memory."""
    moves = routing.moves
    keys, which = np.unique(routing.key(source, destination), return_inverse=True)
    first, _, *runs = routing.routes(keys)
    ways = np.diff(first)[which]
    pair = np.repeat(np.arange(len(source)), ways)
    row = np.arange(len(pair)) - np.repeat(np.cumsum(ways) - ways, ways) + first[which][pair]
    direction, hops, phase = (
        np.hstack([array, np.zeros((len(array), 1), np.int64)])[row] for array in runs_first(*runs)
    )
    at, goes_on = source[pair], hops[:, 0] > 1
    there = moves.next[at, direction[:, 0]]
    lane, then = np.arange(len(row)), np.where(goes_on, 0, 1)
    onwards, stage, left = direction[lane, then], phase[lane, then], hops[lane, then] - goes_on
    crossed, later = moves.wrap[at, direction[:, 0]], moves.wrap[there, onwards]
    if memory == "ahead":
        crossed, later = _crosses(moves, at, direction[:, 0], hops[:, 0]), _crosses(moves, there, onwards, left)
    same_axis = (direction[:, 0] >> 1 == onwards >> 1) & (phase[:, 0] == stage)
    later = later | (crossed & {"run": goes_on, "ahead": goes_on, "axis": same_axis, "path": True}[memory])
    begins = moves.port[at, direction[:, 0]] * count + classes[phase[:, 0], crossed.astype(np.int8)]
    asks = moves.port[there, onwards] * count + classes[stage, later.astype(np.int8)]
    fits = (hops[:, 0] > 0) & (left > 0) & (begins == held[pair]) & (asks == asked[pair])
    return np.bincount(pair[fits], minlength=len(source)) > 0


def _crosses(moves: Moves, at: np.ndarray, direction: np.ndarray, hops: np.ndarray) -> np.ndarray:
    """Whether a run of so many hops crosses a dateline."""
    crossed = np.zeros(len(at), bool)
    for hop in range(int(hops.max(initial=0))):
        on = hop < hops
        crossed |= on & moves.wrap[at, direction]
        at = np.where(on, moves.next[at, direction], at)
    return crossed
