"""Draw a small picture of a network in Unicode, for the terminal.

The picture shows the network on the grid of its addresses. A network that is too large is replaced by a
smaller member of its family, or by one corner; for a network without a grid, the links of the first nodes are listed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.topology import Topology

WINDOW = (16, 8, 4)  # largest number of nodes along x, y, z
WIDTH = 100  # columns of a text picture
FAILED = "×"
LISTED = 12  # nodes in the list of a network without a grid

# a small member of each family, by the number of dimensions (0: any other number)
SMALL: dict[str, dict[int, str]] = {
    "ring": {0: "ring(k=8)"},
    "torus": {1: "torus(k=8, n=1)", 2: "torus(k=4, n=2)", 0: "torus(k=4, n=3)"},
    "mesh": {1: "mesh(k=8, n=1)", 2: "mesh(k=4, n=2)", 0: "mesh(k=4, n=3)"},
    "slice": {
        1: "slice(radices=[8], wrap=[false])",
        2: "slice(radices=[4, 4], wrap=[true, false])",
        0: "slice(radices=[4, 4, 4], wrap=[true, true, false])",
    },
    "pod_slice": {2: "pod_slice(shape=[4, 8])", 0: "pod_slice(shape=[4, 4, 8], twisted=true)"},
    "hypercube": {0: "hypercube(n=5)"},
    "pruned_torus": {0: "pruned_torus(k=4, n=3)"},
    "partly_pruned_torus": {0: "partly_pruned_torus(k=4, n=4, intact=2)"},
    "pruned_t1": {0: "pruned_t1(k=4)"},
    "pruned_t2": {0: "pruned_t2(k=4)"},
    "pruned_xy": {0: "pruned_xy(k=4)"},
    "directed_torus": {2: "directed_torus(k=4, n=2)", 0: "directed_torus(k=4, n=3)"},
    "pruned_directed_torus": {0: "pruned_directed_torus(k=4, n=3)"},
    "rt": {0: "rt(a=4)"},
    "rtt": {0: "rtt(a=4)"},
    "pt": {0: "pt(a=4)"},
    "ptt": {0: "ptt(a=4)"},
    "pdtt": {0: "pdtt(a=4)"},
    "circulant": {0: "circulant(n=13, steps=[1, 5])"},
    "hexagonal_torus": {0: "hexagonal_torus(a=2, b=3)"},
    "illiac": {0: "illiac(k=8)"},
    "twisted_torus": {
        3: "twisted_torus(radices=[4, 4, 4], twists={2: {0: 2}})",
        0: "twisted_torus(radices=[6, 4], twists={1: {0: 2}})",
    },
    "lattice": {3: "lattice(matrix=[[4, 0, 2], [0, 4, 2], [0, 0, 2]])", 0: "lattice(matrix=[[5, 2], [0, 4]])"},
    "sequin": {0: "sequin(k=5, s=1, t=2)"},
    "ccc": {0: "ccc(n=3)"},
    "tesh": {0: "tesh(m=2, levels=2, q=0)"},
    "h3dt": {0: "h3dt(m=3, n=2, levels=2, q=0)"},
    "mh3dt": {0: "mh3dt(m=3, n=2, levels=2, q=0)"},
    "hyperx": {1: "hyperx(radices=[6])", 0: "hyperx(radices=[4, 3])"},
    "hamming": {1: "hamming(radices=[6])", 0: "hamming(radices=[4, 3])"},
    "generalised_hypercube": {1: "generalised_hypercube(radices=[6])", 0: "generalised_hypercube(radices=[4, 3])"},
    "full_mesh": {1: "full_mesh(radices=[6])", 0: "full_mesh(radices=[4, 3])"},
    "dragonfly": {0: "dragonfly(a=4, p=1, h=1)"},
    "boardfly": {0: "boardfly(groups=2, copper=2, optical=1)"},
    "megafly": {0: "megafly(leaves=2, spines=2, p=2, h=1)"},
    "fat_tree": {0: "fat_tree(k=2, n=3)"},
    "xgft": {0: "xgft(down=[2, 2, 2], up=[1, 2, 2])"},
    "slim_fly": {0: "slim_fly(q=3)"},
    "polarfly": {0: "polarfly(q=2)"},
    "random_regular": {0: "random_regular(nodes=12, degree=3)"},
    "jellyfish": {0: "jellyfish(switches=12, ports=4, degree=3)"},
    "xpander": {0: "xpander(degree=3, lift=3)"},
    "kautz": {0: "kautz(d=2, k=3)"},
    "de_bruijn": {0: "de_bruijn(d=2, k=3)"},
    "hamming_mesh": {0: "hamming_mesh(board=[2, 2], boards=[2, 2])"},
    "tofu": {0: "tofu(radices=[2, 2, 2])"},
    "cube_pod": {0: "cube_pod(x=[1, 0], y=[0, 1], z=[0, 1], side=3)"},
    "faulty": {0: "faulty(torus(k=4, n=2), links=3, nodes=1)"},
    "without": {0: "without(mesh(k=4, n=2), links=[[1, 2]], nodes=[10])"},
    "concentrated": {0: "concentrated(mesh(k=4, n=2), terminals=2)"},
    "with_links": {0: "with_links(torus(k=4, n=2), bandwidths=[1, 2])"},
}

# families whose nodes lie on no grid: pictures show them on a circle, in order of their numbers
ON_A_CIRCLE = frozenset(
    {
        *("graph", "hyperx", "hamming", "generalised_hypercube", "full_mesh", "dragonfly", "megafly", "fat_tree"),
        *("xgft", "slim_fly", "polarfly", "random_regular", "jellyfish", "xpander", "kautz", "de_bruijn"),
        "hamming_mesh",
    }
)


def small_instance(topology: Topology) -> Topology:
    """Return the small member of the network's family that pictures show, or the network itself if there is none.

    A faulty network is returned unchanged, because a smaller network would have other faults.
    """
    choices = {} if topology.plan.whole is not None else SMALL.get(topology.family, {})
    spelling = choices.get(len(topology.plan.radices), choices.get(0))
    try:
        return topology if spelling is None else build(spelling)
    except BadInput:
        return topology


def text_picture(topology: Topology) -> str:
    """Draw a network in Unicode, at most 100 columns wide, with a legend. The text has no final line break."""
    radices = topology.plan.radices
    shown = topology if all(side <= most for side, most in zip(radices, WINDOW)) else small_instance(topology)
    block = _Block(shown)
    if not block.is_a_grid():
        return "\n".join(_list(topology))
    title = "" if shown.spelling == topology.spelling else f"{shown.spelling}, a small one of its family:\n"
    return title + "\n".join(block.lines())


class _Block:
    """A block of a network, drawn plane by plane: nodes with three digits within WINDOW and all other digits 0."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        sides = topology.plan.radices
        inner = [min(side, most) for side, most in zip(sides, WINDOW)]
        self.clipped = any(side > kept for side, kept in zip(sides, inner))
        self.width, self.height, self.depth = (inner + [1, 1])[:3]
        strides = (np.cumprod([1, *sides])[:3].tolist() + [0, 0])[:3]
        self.at: dict[tuple[int, int, int], int] = {}
        for z in range(self.depth):
            for y in range(self.height):
                for x in range(self.width):
                    self.at[x, y, z] = x * strides[0] + y * strides[1] + z * strides[2]
        self.place = {node: where for where, node in self.at.items()}
        self.out = {node: [int(v) for v in topology.ports[node] if v >= 0] for node in self.place}
        self.legend: dict[str, str] = {}
        self.undrawn = self.oblique = 0

    def is_a_grid(self) -> bool:
        """Return whether at least half of the links within the block are steps along one digit or wraparound links."""
        inside = [(self.place[u], self.place[v]) for u, heads in self.out.items() for v in heads if v in self.place]
        return bool(inside) and 2 * sum(_is_step(a, b) or self._stub(a, b) is not None for a, b in inside) >= len(
            inside
        )

    def lines(self) -> Iterator[str]:
        panels = [self._plane(z) for z in range(self.depth)]
        across = max(1, WIDTH // (len(panels[0][0]) + 3))
        for start in range(0, len(panels), across):
            for row, parts in enumerate(zip(*panels[start : start + across])):
                line = "   ".join(parts).rstrip()
                at_the_edge = row in ((self.depth > 1), len(panels[0]) - 1)
                if line or not at_the_edge:
                    yield line
        if self.clipped or len(self.topology.plan.radices) > 3:
            yield f"one corner of {' × '.join(str(side) for side in self.topology.plan.radices)} nodes"
        yield from (f"{sign}  {meaning}" for sign, meaning in self.legend.items())
        if self.oblique:
            yield f"{self.oblique} links between planes lead to another place there"
        if self.undrawn:
            yield f"{self.undrawn} more links are not drawn"

    def _plane(self, z: int) -> list[str]:
        """Draw a plane as lines of equal length, y upwards: stubs of wraparounds, then rows of nodes, then stubs."""
        rows = [f"z = {z}"] if self.depth > 1 else []
        rows.append(self._edge(z, self.height - 1, +1))
        for y in reversed(range(self.height)):
            rows.append(self._row(y, z))
            if y:
                rows.append(
                    "   " + "".join(f"{self._link((x, y - 1, z), (x, y, z), '│↑↓')}   " for x in range(self.width))
                )
        rows.append(self._edge(z, 0, -1))
        longest = 4 * self.width + 5
        return [row.ljust(longest) for row in rows]

    def _row(self, y: int, z: int) -> str:
        signs = [self._node((x, y, z)) for x in range(self.width)]
        links = []
        for x in range(self.width - 1):
            sign = self._link((x, y, z), (x + 1, y, z), "─→←")
            links.append(" " * 3 if sign == " " else f"─{sign}─")
        row = "".join(sign + link for sign, link in zip(signs, [*links, ""]))
        return f"{self._side((0, y, z), -1):>3}{row}{self._side((self.width - 1, y, z), +1):<3}"

    def _link(self, low: tuple[int, int, int], high: tuple[int, int, int], signs: str) -> str:
        forth, back = self.at[high] in self.out[self.at[low]], self.at[low] in self.out[self.at[high]]
        return signs[0] if forth and back else signs[1] if forth else signs[2] if back else " "

    def _node(self, where: tuple[int, int, int]) -> str:
        if not self.topology.works[self.at[where]]:
            return self._mark(FAILED, "a node that has failed")
        z = where[2]
        heads = self.out[self.at[where]]
        places = [self.place[v] for v in heads if v in self.place]
        self.undrawn += sum(
            not _is_step(where, b) and self._stub(where, b) is None
            for b in places
            if b[2] == z and (where < b or self.at[where] not in self.out[self.at[b]])  # count an undirected link once
        )
        self.oblique += sum(b[2] > z and b[:2] != where[:2] for b in places)
        if len(self.topology.plan.radices) > 3 and len(places) < len(heads):
            return self._mark("◆", "has links that leave this corner")
        if self.depth == 1:
            return "●"
        around = self.topology.plan.radices[2] - 1
        steps = {b[2] - z for b in places}
        up, down = (step in steps or (around > 1 and -around * step in steps) for step in (1, -1))
        if up and down:
            return self._mark("●", "links to the planes z + 1 and z − 1")
        if up or down:
            return (
                self._mark("▲", "a link to the plane z + 1 only")
                if up
                else self._mark("▼", "a link to the plane z − 1 only")
            )
        return self._mark("○", "no links to other planes")

    def _stub(self, a: tuple[int, int, int], b: tuple[int, int, int]) -> tuple[int, int] | None:
        """Return (digit, direction) of a wraparound link or of a link between planes; None for other links."""
        for digit, side in ((0, self.width), (1, self.height)):
            if a[2] == b[2] and side > 2 and {a[digit], b[digit]} == {0, side - 1}:
                return digit, 1 if a[digit] else -1
        return None if a[2] == b[2] or a[:2] != b[:2] else (2, 0)

    def _wraparounds(
        self, where: tuple[int, int, int], digit: int, direction: int
    ) -> list[tuple[tuple[int, int, int], str]]:
        """Return (other end, 'in', 'out' or 'both') of each wraparound link at a node in the given direction."""
        node, found = self.at[where], []
        for other in self.place:
            forth, back = other in self.out[node], node in self.out[other]
            if (
                (forth or back)
                and not _is_step(where, self.place[other])
                and self._stub(where, self.place[other]) == (digit, direction)
            ):
                found.append((self.place[other], "both" if forth and back else "out" if forth else "in"))
        return found

    def _side(self, where: tuple[int, int, int], direction: int) -> str:
        for other, way in self._wraparounds(where, 0, direction)[:1]:
            sign = {"both": "╌", "out": "→" if direction > 0 else "←", "in": "←" if direction > 0 else "→"}[way]
            self._mark_wraparound("╌" if way == "both" else "→", "row", shifted=other[1] != where[1])
            label = "" if other[1] == where[1] else str(other[1])
            return sign + label if direction > 0 else label + sign
        return ""

    def _edge(self, z: int, y: int, direction: int) -> str:
        cells = []
        for x in range(self.width):
            sign = ""
            for other, way in self._wraparounds((x, y, z), 1, direction)[:1]:
                sign = {"both": "╎", "out": "↑" if direction > 0 else "↓", "in": "↓" if direction > 0 else "↑"}[way]
                self._mark_wraparound("╎" if way == "both" else "↑", "column", shifted=other[0] != x)
                sign += "" if other[0] == x else str(other[0])
            cells.append(sign.ljust(4))
        return "   " + "".join(cells)

    def _mark_wraparound(self, sign: str, line: str, *, shifted: bool) -> None:
        self._mark(
            sign,
            ("at the edge: " if sign in "→↑" else "")
            + "goes round to the other side"
            + (f", to the {line} with the number next to it" if shifted else ""),
        )

    def _mark(self, sign: str, meaning: str) -> str:
        self.legend.setdefault(sign, meaning)
        return sign


def _is_step(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return sum(abs(p - q) for p, q in zip(a, b)) == 1


def _list(topology: Topology) -> Iterator[str]:
    """List the links of the first nodes, for a network that has no grid."""
    arrow = "→" if topology.directed else "─"
    last = min(topology.nodes, LISTED)
    for node in range(last):
        heads = [str(v) for v in topology.ports[node] if v >= 0]
        neighbours = " ".join(heads[:LISTED]) or ("(no links)" if topology.works[node] else FAILED)
        more = f" and {len(heads) - LISTED} more" if len(heads) > LISTED else ""
        yield f"{node:>{len(str(last))}} {arrow} {neighbours}{more}"
    if topology.nodes > last:
        yield f"… and {topology.nodes - last:,} more nodes"
