"""Minimal routing in exact fractions, as its definitions read: every shortest path listed, every split followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache

Channel = tuple[int, int]  # (node, port)
Load = dict[Channel, Fraction]


def hops_to(ports: Sequence[Sequence[int]], target: int) -> list[int | None]:
    """Distance from every node to the target; None where there is no path."""
    hops: list[int | None] = [0 if node == target else None for node in range(len(ports))]
    for distance in range(len(ports)):
        for node, row in enumerate(ports):
            if hops[node] is None and any(other >= 0 and hops[other] == distance for other in row):
                hops[node] = distance + 1
    return hops


def nearer(ports: Sequence[Sequence[int]], hops: Sequence[int | None], node: int) -> Iterator[tuple[Channel, int]]:
    """(channel, its head) of the channels that lead one hop nearer."""
    mine = hops[node]
    for port, other in enumerate(ports[node]):
        if other >= 0 and mine and hops[other] == mine - 1:
            yield (node, port), other


def over_paths(
    ports: Sequence[Sequence[int]], capacity: Sequence[Sequence[int]], source: int, target: int
) -> Load | None:
    """A unit of traffic, spread equally over all shortest paths; parallel links make different paths. None: there is
    none."""
    hops = hops_to(ports, target)
    if hops[source] is None:
        return None

    def paths(node: int) -> Iterator[list[Channel]]:
        if node == target:
            yield []
        for channel, other in nearer(ports, hops, node):
            for _ in range(capacity[channel[0]][channel[1]]):
                for rest in paths(other):
                    yield [channel, *rest]

    every = list(paths(source))
    load: Load = {}
    for path in every:
        for channel in path:
            load[channel] = load.get(channel, Fraction(0)) + Fraction(1, len(every))
    return load


def over_next_hops(
    ports: Sequence[Sequence[int]], capacity: Sequence[Sequence[int]], source: int, target: int
) -> Load | None:
    """A unit of traffic, split equally at every node over the links that lead nearer. None: there is no path."""
    hops = hops_to(ports, target)
    if hops[source] is None:
        return None
    load: Load = {}

    def send(node: int, amount: Fraction) -> None:
        links = [
            (channel, other)
            for channel, other in nearer(ports, hops, node)
            for _ in range(capacity[channel[0]][channel[1]])
        ]
        for channel, other in links:
            load[channel] = load.get(channel, Fraction(0)) + amount / len(links)
            send(other, amount / len(links))

    send(source, Fraction(1))
    return load


SPLITS: dict[str, Callable[..., Load | None]] = {"paths": over_paths, "next-hops": over_next_hops}


def loads(
    ports: Sequence[Sequence[int]],
    roots: Sequence[int],
    weights: Sequence[Fraction],
    demand: Sequence[Sequence[Fraction]],
    capacity: Sequence[Sequence[int]] | None,
    split: str,
) -> tuple[list[list[Fraction]], Fraction, Fraction, Fraction]:
    """(load of every port, delivered, unreachable, hops): each root sends, over paths, or receives, over next hops."""
    links = [[1] * len(row) for row in ports] if capacity is None else capacity
    unit = cache(lambda source, target: SPLITS[split](ports, links, source, target))
    total = [[Fraction(0)] * len(row) for row in ports]
    delivered = unreachable = hops = Fraction(0)
    for place, root in enumerate(roots):
        for node in range(len(ports)):
            amount = weights[place] * demand[place][node]
            load = unit(root, node) if split == "paths" else unit(node, root)
            if load is None:
                unreachable += amount
                continue
            delivered += amount
            hops += amount * sum(load.values())
            for (tail, port), part in load.items():
                total[tail][port] += amount * part
    return total, delivered, unreachable, hops
