"""Channel dependency graphs by plain loops: walk every packet, choosing virtual channels as a router does.

A hop is (node, direction, phase, run); a channel is (node, next node, virtual channel).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import networkx as nx
import numpy as np
from torusweep.routing import SourceRouting

Hop = tuple[int, int, int, int]  # node, direction, phase, number of the run
Channel = tuple[int, int | None, int]  # node, next node, virtual channel
Step = Callable[[int, int], int | None]  # (node, direction) → the next node
Choice = Callable[[list[Hop], "Datelines"], list[int]]  # the virtual channel of every hop


class Datelines:
    """The datelines of all rings, each found by walking round the ring.

    A ring's dateline lies between its lowest-numbered node and the node before that in + direction.
    module: axes of the basic module of a hierarchy; each higher level has as many.
    """

    def __init__(self, nodes: int, directions: int, step: Step, module: int = 0) -> None:
        self.module, self.levels = module, directions // 2 // module if module else 1
        self.hops: set[tuple[int, int]] = set()
        for d in range(directions):
            for lowest in range(nodes):
                ring, node = [lowest], step(lowest, d)
                while node is not None and node > lowest:
                    ring.append(node)
                    node = step(node, d)
                if node == lowest and len(ring) > 1:
                    self.hops.add((lowest if d % 2 else ring[-1], d))

    def crosses(self, hop: Hop) -> bool:
        return hop[:2] in self.hops


def none(hops: list[Hop], lines: Datelines) -> list[int]:
    return [0 for _ in hops]


def dateline(hops: list[Hop], lines: Datelines) -> list[int]:
    """One bit per axis; a new phase clears all of them."""
    bits: set[int] = set()
    chosen, before = [], None
    for hop in hops:
        if hop[2] != before:
            bits.clear()
        before = hop[2]
        if lines.crosses(hop):
            bits.add(hop[1] // 2)
        chosen.append(int(hop[1] // 2 in bits))
    return chosen


def phases(hops: list[Hop], lines: Datelines) -> list[int]:
    return [hop[2] for hop in hops]


def phases_dateline(hops: list[Hop], lines: Datelines) -> list[int]:
    return [2 * hop[2] + crossed for hop, crossed in zip(hops, dateline(hops, lines))]


def wrap_dimension(hops: list[Hop], lines: Datelines) -> list[int]:
    """Class 1 from a wraparound link to the end of its run."""
    chosen, crossed, before = [], False, None
    for hop in hops:
        crossed = lines.crosses(hop) or (crossed and hop[3] == before)
        before = hop[3]
        chosen.append(int(crossed))
    return chosen


def wrap_path(hops: list[Hop], lines: Datelines) -> list[int]:
    return [int(any(map(lines.crosses, hops[: i + 1]))) for i in range(len(hops))]


def wrap_will(hops: list[Hop], lines: Datelines) -> list[int]:
    return [int(any(lines.crosses(other) for other in hops if other[3] == hop[3])) for hop in hops]


def by_modules(split: str) -> Choice:
    """R05's phases, derived from the links between modules: those already passed, and the level of the next one.

    The channels of these links change class at the dateline. The class after those of the split serves the
    dateline of the last module.
    """

    def choose(hops: list[Hop], lines: Datelines) -> list[int]:
        crossed, levels = wrap_dimension(hops, lines), [hop[1] // 2 // lines.module + 1 for hop in hops]
        links = [i for i, level in enumerate(levels) if level > 1]
        chosen = []
        for i, (level, past) in enumerate(zip(levels, crossed)):
            ahead = next((levels[link] for link in links if link >= i), None)
            if level > 1:
                chosen.append(past)
            elif ahead is None:
                chosen.append((lines.levels - 1 if split == "levels" else 1) + past)
            elif split == "levels":
                chosen.append(lines.levels - ahead)
            else:
                chosen.append(1 + past if split == "after_first" and links[0] < i else 0)
        return chosen

    return choose


RULES: dict[str, Choice] = {
    "none": none,
    "dateline": dateline,
    "phases": phases,
    "phases_dateline": phases_dateline,
    "r05_wrap": wrap_dimension,
    "r05_wrap(reading=path)": wrap_path,
    "r05_wrap(reading=will)": wrap_will,
    "r05_phases": by_modules("last"),
    "r05_phases(split=after_first)": by_modules("after_first"),
    "r05_phases(split=levels)": by_modules("levels"),
}


def graph(
    routes: Iterable[list[Hop]], choice: Choice, virtual_channels: int, step: Step, lines: Datelines
) -> nx.DiGraph:
    """All channels and dependencies; the edge attribute `first` marks those of a route's first two hops.

    A route by way of a random node may lead back to its source. A deadlock may not rest on it: its hops are not marked.
    """
    used: set[Channel] = set()
    follows: set[tuple[Channel, Channel]] = set()
    first: set[tuple[Channel, Channel]] = set()
    for hops in routes:
        chosen = [min(c, virtual_channels - 1) for c in choice(hops, lines)]
        channels = [(node, step(node, d), c) for (node, d, _, _), c in zip(hops, chosen)]
        used.update(channels)
        follows.update(pairwise(channels))
        if len(channels) > 1 and channels[0][0] != channels[-1][1]:
            first.add((channels[0], channels[1]))
    found = nx.DiGraph()
    found.add_nodes_from(used)
    found.add_edges_from(follows)
    found.add_edges_from(first, first=True)
    return found


def hops_of(source: int, runs: Iterable[tuple[int, int, int]], step: Step, first_run: int = 0) -> tuple[list[Hop], int]:
    """(hops, last node) of runs (direction, hops, phase)."""
    node, hops = source, []
    for run, (d, count, phase) in enumerate(runs, first_run):
        for _ in range(count):
            hops.append((node, d, phase, run))
            there = step(node, d)
            assert there is not None
            node = there
    return hops, node


def stepping(routing: SourceRouting) -> Step:
    table = [
        [None if port < 0 else int(routing.topology.ports[node, port]) for port in row]
        for node, row in enumerate(routing.moves.port.tolist())
    ]
    return lambda node, d: table[node][d]


def rows(routing: SourceRouting) -> Iterator[tuple[int, int, list[tuple[int, int, int]]]]:
    """(source, destination, runs) of every route of every pair."""
    everyone = range(routing.topology.nodes)
    keys = routing.key(np.repeat(everyone, len(everyone)), np.tile(everyone, len(everyone)))
    number = {int(key): place for place, key in enumerate(np.unique(keys))}
    first, _, direction, hops, phase = routing.routes(np.unique(keys))
    runs = [[run for run in zip(*row) if run[1]] for row in zip(direction.tolist(), hops.tolist(), phase.tolist())]
    for pair, key in enumerate(keys.tolist()):
        for row in range(first[number[key]], first[number[key] + 1]):
            yield (*divmod(pair, len(everyone)), runs[row])


def every_route(routing: SourceRouting) -> Iterator[list[Hop]]:
    """All routes as hops; with two passes, by way of every node."""
    step = stepping(routing)
    halves: dict[tuple[int, int], list[list[tuple[int, int, int]]]] = {}
    for source, destination, runs in rows(routing):
        halves.setdefault((source, destination), []).append(runs)
    for (source, between), first in halves.items():
        for runs in first:
            if routing.passes == 1:
                yield hops_of(source, runs, step)[0]
                continue
            for destination in range(routing.topology.nodes):
                for second in halves[between, destination]:
                    yield hops_of(
                        source, [*runs, *((d, count, phase + routing.phases) for d, count, phase in second)], step
                    )[0]


def shortest_cycle_length(plain):
    """Length of a shortest cycle: search from every channel until the search returns to it."""
    best = len(plain) + 1
    for root in plain:
        level, visited, length = {root}, set(), 0
        while level and length < best:
            level, length = {v for u in level for v in plain.successors(u)} - visited, length + 1
            visited |= level
            if root in level:
                best = length
    return best
