"""Networks, routes and packets to simulate, made without the pipeline."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
from torusweep_kernels.router import (
    MEMORIES,
    SWITCHINGS,
    VIEWS,
    Batch,
    Detours,
    Messages,
    Router,
    Simulated,
    Wiring,
    cpu,
    simulate,
)

from tests.kernels import oracle


def torus_wiring(
    *radices: int, vcs: int = 2, dateline: bool = True, delay: int = 1, escape: int | None = None, memory: str = "axis"
) -> Wiring:
    """Port p is direction p; with a dateline, class 1 from the wrap on, else one class; the classes share all VCs (the
    escape's)."""
    to = oracle.torus(*radices)
    nodes, ports = to.shape
    digits = np.array(np.unravel_index(np.arange(nodes), radices[::-1])[::-1])
    wrap = np.zeros((nodes, ports), bool)
    for dimension, k in enumerate(radices):
        wrap[:, 2 * dimension], wrap[:, 2 * dimension + 1] = digits[dimension] == k - 1, digits[dimension] == 0
    classes = np.array([[0, 1]] if dateline else [[0, 0]], np.int8)
    number = 2 if dateline else 1
    own = vcs if escape is None else escape
    shares = np.array([own // number + (i < own % number) for i in range(number)])
    port_of = np.broadcast_to(np.arange(ports, dtype=np.int8), to.shape)
    return Wiring(to, port_of, wrap, np.full(to.shape, delay, np.int16), classes, memory, shares)


class Routes:
    """Dimension order on a torus, ties +: a row for each relative address."""

    def __init__(self, *radices: int) -> None:
        self.radices = radices
        relative = np.array(np.unravel_index(np.arange(np.prod(radices)), radices[::-1])[::-1]).T
        sides = np.array(radices)
        back = relative > sides // 2
        self.direction = (2 * np.arange(len(radices)) + back).astype(np.int8)
        self.hops = np.where(back, sides - relative, relative).astype(np.int16)
        self.phase = np.zeros_like(self.direction)

    def row(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        shape = self.radices[::-1]
        away = [
            (d - s) % k for s, d, k in zip(np.unravel_index(source, shape), np.unravel_index(destination, shape), shape)
        ]
        return np.ravel_multi_index(away, shape)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.direction, self.hops, self.phase


def batch(nodes: int, packets: list[list[tuple[int, int, int, int, int]]]) -> Batch:
    """Of each experiment the packets as (time, source, destination, row, length), in any order."""
    first, columns = [], []
    start = 0
    for own in packets:
        rows = np.array(sorted(own, key=lambda packet: (packet[1], packet[0])), np.int64).reshape(-1, 5)
        first.append(start + np.searchsorted(rows[:, 1], np.arange(nodes + 1)))
        start += len(rows)
        columns.append(rows)
    all_rows = np.concatenate(columns)
    return Batch(np.array(first), all_rows[:, 0], all_rows[:, 3], all_rows[:, 4], all_rows[:, 2])


def uniform(routes: Routes, load: float, cycles: int, flits: int, seeds: list[int]) -> Batch:
    """Bernoulli packets to other nodes, an experiment for each seed."""
    nodes = int(np.prod(routes.radices))
    packets = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        source, time = np.nonzero(rng.random((nodes, cycles)) < load / flits)
        destination = (source + rng.integers(1, nodes, len(source))) % nodes
        packets.append(
            np.stack(
                [time, source, destination, routes.row(source, destination), np.full(len(source), flits)], axis=1
            ).tolist()
        )
    return batch(nodes, packets)


def both(wiring: Wiring, router: Router, routes: Any, packets: Batch, **options: Any) -> Simulated:
    """The reference's outcome, after numba's has been found equal, with nodes shared out among three threads, too."""
    one = simulate(wiring, router, *routes, packets, backend="numpy", **options)
    same(one, simulate(wiring, router, *routes, packets, backend="numba", **options))
    with patch.object(cpu, "SHARE", 1):
        same(
            one,
            simulate(
                wiring, router, *routes, packets, backend="numba", threads=3 * max(1, len(packets.first)), **options
            ),
        )
    return one


def same(one: Simulated, other: Simulated) -> None:
    for name, a, b in zip(Simulated._fields, one, other):
        assert (a.dtype == b.dtype and np.array_equal(a, b)) if isinstance(a, np.ndarray) else a == b, name


def ring_packets(nodes: int, flits: int) -> Batch:
    """Every node at once to the one half-way round: all channels of one direction are held, each by a packet that needs
    the next."""
    return batch(nodes, [[(0, s, (s + nodes // 2) % nodes, nodes // 2, flits) for s in range(nodes)]])


# no deadlock where nodes of a ring send `ring_packets`
FREE: dict[str, tuple[Wiring, Router]] = {
    "dateline": (torus_wiring(6, vcs=2), Router(2, 2)),
    "dateline, cut-through": (torus_wiring(6, vcs=2), Router(2, 6, "virtual-cut-through")),
    "dateline, both classes": (torus_wiring(6, vcs=2)._replace(balanced=True), Router(2, 2)),
    "a class where a dateline is ahead": (torus_wiring(6, vcs=2, memory="rest"), Router(2, 2)),
    "bubble": (torus_wiring(6, vcs=1, dateline=False), Router(1, 12, "virtual-cut-through", bubble=True)),
    "bubble, store-and-forward": (
        torus_wiring(6, vcs=1, dateline=False),
        Router(1, 12, "store-and-forward", bubble=True),
    ),
}

# … and where every node sends all the time
SATURATED: dict[str, tuple[Wiring, Router]] = {
    "dateline": (torus_wiring(4, 4, vcs=2), Router(2, 2)),
    "dateline, both classes": (torus_wiring(4, 4, vcs=2)._replace(balanced=True), Router(2, 2)),
    "bubble, 2 VCs": (torus_wiring(4, 4, vcs=2, dateline=False), Router(2, 10, "virtual-cut-through", bubble=True)),
    "adaptive, bubble": (
        torus_wiring(4, 4, vcs=3, dateline=False, escape=1),
        Router(3, 10, "virtual-cut-through", adaptive=True, escape=1, bubble=True, transit_first=True),
    ),
    "adaptive, wormhole": (torus_wiring(4, 4, vcs=3, escape=2), Router(3, 2, adaptive=True, escape=2)),
    "adaptive, cut-through": (
        torus_wiring(4, 4, vcs=3, escape=2),
        Router(3, 5, "virtual-cut-through", adaptive=True, escape=2),
    ),
}

DIRECTIONS = 4


def random_case(seed: int) -> tuple[Wiring, Router, tuple[np.ndarray, ...], Batch]:
    """A directed network of permutations, cut in places, with parallel channels and channels of several directions;
    random routes that lead on."""
    rng = np.random.default_rng(seed)
    nodes, ports, phases, runs = int(rng.integers(2, 9)), 3, 2, int(rng.integers(1, 5))
    to = np.stack([rng.permutation(nodes) for _ in range(ports)], axis=1).astype(np.int32)
    to[rng.random(to.shape) < 0.15] = -1
    port_of = rng.integers(0, ports, (nodes, DIRECTIONS))
    port_of = np.where(np.take_along_axis(to, port_of, axis=1) >= 0, port_of, -1).astype(np.int8)
    adaptive, switching = bool(rng.random() < 0.35), SWITCHINGS[rng.integers(3)]
    vcs = int(rng.integers(2, 6))
    escape = int(rng.integers(1, vcs)) if adaptive else vcs
    classes = int(rng.integers(1, min(escape, 3) + 1))
    shares = np.ones(classes, int)
    np.add.at(shares, rng.integers(0, classes, escape - classes), 1)
    wiring = Wiring(
        to,
        port_of,
        rng.random(port_of.shape) < 0.3,
        rng.integers(0, 4, to.shape).astype(np.int16),
        rng.integers(0, classes, (phases, 2)).astype(np.int8),
        MEMORIES[rng.integers(len(MEMORIES))],
        shares,
    )
    balanced = bool(rng.random() < 0.5) and wiring.memory in ("run", "axis") and not adaptive
    bubble = bool(rng.random() < 0.4) and switching != "wormhole"
    longest = int(rng.integers(1, 7))
    least = {"wormhole": 1}.get(switching, longest * (2 if bubble else 1))
    router = Router(
        vcs,
        least + int(rng.integers(0, 4)),
        switching,
        *(int(delay) for delay in rng.integers(0, 3, 2)),
        switch_delay=int(rng.integers(1, 3)),
        credit_delay=int(rng.integers(1, 4)),
        adaptive=adaptive,
        escape=escape if adaptive else None,
        bubble=bubble,
        transit_first=bool(rng.random() < 0.4),
        injection_flits=int(rng.integers(1, 3)),
        ejection_flits=int(rng.integers(1, 3)),
    )
    direction, hops = rng.integers(0, DIRECTIONS, (60, runs)), rng.integers(0, 4, (60, runs))
    phase = rng.integers(0, phases, (60, runs))
    packets: list[list[tuple[int, int, int, int, int]]] = [[], []]
    for own in packets:
        for _ in range(40):
            source, row = int(rng.integers(nodes)), int(rng.integers(60))
            end = arrival(to, port_of, source, direction[row], hops[row], every_order=adaptive)
            if end is not None:
                own.append((int(rng.integers(0, 25)), source, end, row, int(rng.integers(1, longest + 1))))
    if rng.random() < 0.5:
        wiring = wiring._replace(capacity=rng.integers(1, vcs + 1, to.shape))
    router = router._replace(input_speedup=int(rng.integers(1, 4)))
    if rng.random() < 0.5:
        wiring = wiring._replace(back=rng.integers(0, 12, to.shape).astype(np.int16))
    if rng.random() < 0.5:
        router = router._replace(injection_speedup=int(rng.integers(1, 4)))
    return wiring._replace(balanced=balanced), router, (direction, hops, phase), batch(nodes, packets)


def arrival(
    to: np.ndarray, port_of: np.ndarray, node: int, direction: np.ndarray, hops: np.ndarray, every_order: bool
) -> int | None:
    """Where a route leads; None where it does not lead on (in some order of its hops)."""
    ends = set()
    seen, states = set(), [(node, tuple(hops.tolist()))]
    while states:
        node, left = states.pop()
        if (node, left) in seen:
            continue
        seen.add((node, left))
        runs = [i for i, h in enumerate(left) if h][: None if every_order else 1]
        if not runs:
            ends.add(node)
        for i in runs:
            port = port_of[node, direction[i]]
            if port < 0:
                return None
            states.append((int(to[node, port]), tuple(h - (j == i) for j, h in enumerate(left))))
    return ends.pop() if len(ends) == 1 else None


def with_messages(seed: int, nodes: int, packets: Batch) -> Batch:
    """The packets of a random case, cut into messages of 1 … 3 that wait for some before, with steps between them."""
    rng = np.random.default_rng(seed)
    experiments = []
    for e in range(2):
        parts = []
        for s in range(nodes):
            place, end = packets.first[e, s], packets.first[e, s + 1]
            while place < end:
                many = min(int(rng.integers(1, 4)), int(end - place))
                parts.append((int(place), many))
                place += many
        parts += [(0, 0)] * int(rng.integers(0, 6))
        experiments.append([parts[i] for i in rng.permutation(len(parts))])
    number = [len(own) for own in experiments]
    start = np.cumsum([0, *number])
    followers: list[list[int]] = []
    for s, many in zip(start.tolist(), number):
        for g in range(many):
            later = rng.integers(g + 1, many, int(rng.integers(0, 3))) if g + 1 < many else []
            followers.append([s + int(h) for h in later])  # now and then the same one twice
    flat = [part for own in experiments for part in own]
    return packets._replace(
        time=np.zeros_like(packets.time),
        messages=Messages(
            start,
            np.array([begin for begin, _ in flat], np.int64),
            np.array([many for _, many in flat], np.int32),
            rng.choice([0, 0, 1, 2, 20], len(flat)).astype(np.int32),
            np.cumsum([0, *map(len, followers)]),
            np.array([g for own in followers for g in own], np.int64),
        ),
    )


def with_detours(seed: int) -> tuple[Wiring, Router, tuple[np.ndarray, ...], Batch]:
    """A random case, not adaptive, in which some packets may take others of its routes, at the source or later."""
    while True:
        wiring, router, routes, packets = random_case(seed)
        if not router.adaptive:
            break
        seed += 10**6
    rng = np.random.default_rng([seed, 1])
    direction, hops, _ = routes
    ways = range(len(hops))
    ends = [[arrival(wiring.to, wiring.port_of, node, direction[w], hops[w], False) for w in ways]
            for node in range(len(wiring.to))]  # fmt: skip
    row = np.full((len(packets.row), int(rng.integers(1, 4))), -1, np.int32)
    source = np.concatenate([np.repeat(np.arange(len(wiring.to)), np.diff(first)) for first in packets.first])
    for packet, own in enumerate(packets.row.tolist()):
        node, steps = int(source[packet]), np.repeat(direction[own], hops[own]).tolist()
        for k, step in enumerate(steps[: row.shape[1]]):
            others = [w for w in ways if ends[node][w] == packets.destination[packet] and hops[w].sum()]
            if others and rng.random() < 0.8:
                row[packet, k] = rng.choice(others)
            node = int(wiring.to[node, wiring.port_of[node, step]])
    detours = Detours(row, VIEWS[int(rng.integers(2))], int(rng.integers(-3, 4)))
    return wiring, router, routes, packets._replace(detours=detours)
