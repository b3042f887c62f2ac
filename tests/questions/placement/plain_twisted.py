"""A twisted torus as plain loops: shortest displacements found by trying all, loads of the bucket algorithm."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np


class Twisted:
    """A twisted torus as its links: the steps along each dimension, found from the links' classes."""

    def __init__(self, topology) -> None:
        self.sides = topology.plan.radices
        self.forward: dict[tuple[int, int], int] = {}
        self.back: dict[tuple[int, int], int] = {}
        heads: dict[tuple[int, int], list[int]] = {}
        for tail, head, port in zip(*(array.tolist() for array in topology.arcs)):
            heads.setdefault((tail, int(topology.link_class[tail, port])), []).append(head)
        dimensions = range(len(self.sides))
        strides = [int(np.prod(self.sides[:i])) for i in dimensions]
        inside = [
            (v, i)
            for v in range(topology.nodes)
            for i in dimensions
            if v // strides[i] % self.sides[i] < self.sides[i] - 1
        ]
        for v, i in inside:
            self.forward[v, i], self.back[v + strides[i], i] = v + strides[i], v
        for v, i in heads.keys() - self.forward.keys():
            (there,) = (head for head in heads[v, i] if head != self.back.get((v, i)))
            self.forward[v, i], self.back[there, i] = there, v
        spans = [range(-side, side + 1) for side in self.sides]
        self.displacements = sorted(product(*spans), key=lambda displacement: sum(map(abs, displacement)))

    def walk(self, node: int, displacement: tuple[int, ...]) -> list[tuple[int, int]]:
        links = []
        for i, hops in enumerate(displacement):
            for _ in range(abs(hops)):
                there = (self.forward if hops > 0 else self.back)[node, i]
                links.append((node, there))
                node = there
        return links

    def routes(self, a: int, b: int) -> list[list[tuple[int, int]]]:
        """By all shortest displacements, of all in the box of twice the sides; each along x, then y, then z."""
        ways: list[list[tuple[int, int]]] = []
        for displacement in self.displacements:
            if ways and sum(map(abs, displacement)) > len(ways[0]):
                return ways
            links = self.walk(a, displacement)
            if links[-1][1] == b if links else a == b:
                ways.append(links)
        return ways

    def busiest(self, messages) -> tuple[Fraction, int]:
        load: dict[tuple[int, int], Fraction] = {}
        longest = 0
        for a, b, number in messages:
            ways = self.routes(a, b)
            longest = max(longest, len(ways[0]))
            for link in (link for links in ways for link in links):
                load[link] = load.get(link, Fraction(0)) + Fraction(number) / len(ways)
        return max(load.values()), longest


def line_bucket(twisted: Twisted, groups: list[list[int]], sides: list[list[list[int]]], size: int) -> Fraction:
    """Bytes on the busiest link, phase by phase, of a bucket all-gather in all groups at once.

    Along a line each share goes from its rank to both ends; in a ring half of it goes each way round.
    """
    count, members = len(sides), len(groups[0])
    held = [{node: 1 for group in groups for node in group} for _ in range(count)]
    total = Fraction(0)
    for phase in range(count):
        messages: list[tuple[int, int, Fraction]] = []
        for part in range(count):
            before, after = held[part], {}
            for line in sides[(part + phase) % count]:
                closed = len(line) > 2 and len(twisted.routes(line[-1], line[0])[0]) == 1
                for place, node in enumerate(line):
                    share = Fraction(before[node] * size, members * count)
                    onwards = line[place:] if not closed else (line[place:] + line[:place])
                    back = (
                        line[: place + 1][::-1] if not closed else [node, *line[:place][::-1], *line[place + 1 :][::-1]]
                    )
                    for way in (onwards, back):
                        messages += [(a, b, share / 2 if closed else share) for a, b in pairwise(way)]
                    after[node] = sum(before[other] for other in line)
            held[part] = after
        total += twisted.busiest(messages)[0]
    assert all(number == members for part in held for number in part.values())
    return total
