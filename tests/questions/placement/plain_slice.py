"""A slice as plain loops: routes hop by hop, loads of collectives, from the definitions; no code of pipeline/."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product

Node = tuple[int, ...]
Link = tuple[Node, Node, int]  # tail, head, dimension


class Slice:
    """Sides of a box, and whether each dimension is a ring. Nodes are numbered with x varying fastest."""

    def __init__(self, sides: tuple[int, ...], rings: tuple[bool, ...]) -> None:
        self.sides, self.rings = sides, rings
        self.nodes = [digits[::-1] for digits in product(*(range(side) for side in reversed(sides)))]

    def routes(self, a: Node, b: Node) -> list[tuple[Fraction, list[Link]]]:
        """(share, links) of each route: along x, then y …, the shorter way round; both ways alike at half a ring."""
        found: list[tuple[Fraction, Node, list[Link]]] = [(Fraction(1), a, [])]
        for i, side in enumerate(self.sides):
            ways = [1 if b[i] > a[i] else -1]
            if self.rings[i] and side > 2:
                onwards = (b[i] - a[i]) % side
                ways = [1] if 2 * onwards < side else [-1] if 2 * onwards > side else [1, -1]
            grown = []
            for share, at, links in found:
                for way in ways if a[i] != b[i] else ways[:1]:
                    here, path = at, list(links)
                    while here[i] != b[i]:
                        there = (*here[:i], (here[i] + way) % side, *here[i + 1 :])
                        path.append((here, there, i))
                        here = there
                    grown.append((share / len(ways) if a[i] != b[i] else share, here, path))
            found = grown
        return [(share, links) for share, _, links in found]

    def busiest(self, messages: list[tuple[int, int, Fraction]]) -> tuple[Fraction, int]:
        """(bytes on the busiest link, hops of the longest route) of messages (from, to, bytes) sent at once."""
        load: dict[Link, Fraction] = defaultdict(Fraction)
        longest = 0
        for a, b, number in messages:
            for share, links in self.routes(self.nodes[a], self.nodes[b]):
                longest = max(longest, len(links))
                for link in links:
                    load[link] += share * number
        return max(load.values(), default=Fraction(0)), longest


def ring_bytes(group: list[int], kind: str, size: int) -> list[tuple[int, int, Fraction]]:
    """All messages of an operation on one group, summed over its steps: each step is walked.

    In a ring all-gather a rank sends in each of A − 1 steps what it got last; here half of each share goes each way.
    """
    number = len(group)
    sent: list[tuple[int, int, Fraction]] = []
    neighbours = [(group[i], group[(i + 1) % number]) for i in range(number)]
    if kind in ("all_gather", "reduce_scatter", "all_reduce"):
        for _ in range((number - 1) * (2 if kind == "all_reduce" else 1)):
            for a, b in neighbours:
                sent += [(a, b, Fraction(size, 2 * number)), (b, a, Fraction(size, 2 * number))]
    elif kind == "all_to_all":
        sent = [(a, b, Fraction(size, number)) for a in group for b in group if a != b]
    elif kind == "permute":
        sent = [(a, b, Fraction(size)) for a, b in neighbours]
    elif kind == "exchange":
        sent = [pair for a, b in neighbours[:-1] for pair in ((a, b, Fraction(size)), (b, a, Fraction(size)))]
    elif kind == "broadcast":
        sent = [(a, b, Fraction(size, 2)) for a, b in neighbours[:-1]]
        sent += [(b, a, Fraction(size, 2)) for a, b in neighbours[1:]]
    return sent


def bucket_phases(slice_of: Slice, groups: list[list[int]], sides: list[list[list[int]]], size: int) -> Fraction:
    """Bytes on the busiest link, phase by phase, of a bucket all-gather in all groups at once: shares are counted.

    groups  of the axis
    sides   for each side of the block, its lines: lists of nodes in order, which together have every node
    """
    count, members = len(sides), len(groups[0])
    held = [{node: 1 for group in groups for node in group} for _ in range(count)]  # shares of part j at each node
    total = Fraction(0)
    for phase in range(count):
        messages: list[tuple[int, int, Fraction]] = []
        for part in range(count):
            lines = sides[(part + phase) % count]
            before, after = held[part], {}
            for line in lines:
                # a ring all-gather of what each member of the line has
                for _ in range(len(line) - 1):
                    for place, node in enumerate(line):
                        share = Fraction(before[node] * size, members * count * 2)
                        other = line[(place + 1) % len(line)]
                        messages += [(node, other, share), (other, node, share)]
                for node in line:
                    after[node] = sum(before[other] for other in line)
            held[part] = after
        total += slice_of.busiest(messages)[0]
    assert all(number == members for part in held for number in part.values())
    return total
