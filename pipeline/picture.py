"""A small picture of a network: Unicode for the terminal, SVG for a page.

Both show a network on the grid of its addresses. What is too large to draw is shown by a smaller
instance of the same family, or by one corner; what has no grid is shown by its first nodes' links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

import numpy as np

from pipeline.errors import BadInput
from pipeline.topologies import build
from pipeline.topology import Topology, addresses

WINDOW = (16, 8, 4)  # most nodes along x, y, z in a text picture
WIDTH = 100  # columns of a text picture
LISTED = 12  # nodes in the list of a network without a grid
DRAWN = 600  # most nodes in an SVG picture
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe & Ito 2008; by link class

# a member of each family that can be drawn, by the number of dimensions (0: whatever it is)
SMALL: dict[str, dict[int, str]] = {
    "ring": {0: "ring(k=8)"},
    "torus": {1: "torus(k=8, n=1)", 2: "torus(k=4, n=2)", 0: "torus(k=4, n=3)"},
    "mesh": {1: "mesh(k=8, n=1)", 2: "mesh(k=4, n=2)", 0: "mesh(k=4, n=3)"},
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
    "illiac": {0: "illiac(k=8)"},
    "ccc": {0: "ccc(n=3)"},
    "tesh": {0: "tesh(m=2, levels=2, q=0)"},
    "h3dt": {0: "h3dt(m=3, n=2, levels=2, q=0)"},
    "mh3dt": {0: "mh3dt(m=3, n=2, levels=2, q=0)"},
}


def small_instance(topology: Topology) -> Topology:
    """The member of the same family that pictures show, or the network itself where there is none."""
    choices = SMALL.get(topology.family, {})
    spelling = choices.get(len(topology.plan.radices), choices.get(0))
    try:
        return topology if spelling is None else build(spelling)
    except BadInput:
        return topology


def text_picture(topology: Topology) -> str:
    """A drawing in Unicode, at most 100 columns wide, with a line for each sign used; ends without a line break."""
    radices = topology.plan.radices
    shown = topology if all(side <= most for side, most in zip(radices, WINDOW)) else small_instance(topology)
    block = _Block(shown)
    title = "" if shown is topology else f"{shown.spelling}, a small one of its family:\n"
    return title + ("\n".join(block.lines()) if block.is_a_grid() else "\n".join(_list(topology)))


class _Block:
    """The nodes whose first digits lie in the window and whose other digits are 0: planes of rows of nodes."""

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
        self.used: dict[str, str] = {}
        self.undrawn = self.aslant = 0

    def is_a_grid(self) -> bool:
        """Whether most links that stay in the block are steps along one digit or come back round its edge."""
        inside = [(self.place[u], self.place[v]) for u, heads in self.out.items() for v in heads if v in self.place]
        return bool(inside) and 2 * sum(_is_step(a, b) or self._stub(a, b) is not None for a, b in inside) >= len(inside)

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
        yield from (f"{sign}  {meaning}" for sign, meaning in self.used.items())
        if self.aslant:
            yield f"{self.aslant} links between planes lead to another place there"
        if self.undrawn:
            yield f"{self.undrawn} more links are not drawn"

    def _plane(self, z: int) -> list[str]:
        """A plane as lines of equal length, y upwards: stubs, rows of nodes, stubs."""
        rows = [f"z = {z}"] if self.depth > 1 else []
        rows.append(self._edge(z, self.height - 1, +1))
        for y in reversed(range(self.height)):
            rows.append(self._row(y, z))
            if y:
                rows.append("   " + "".join(f"{self._link((x, y - 1, z), (x, y, z), '│↑↓')}   " for x in range(self.width)))
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
        z = where[2]
        heads = self.out[self.at[where]]
        places = [self.place[v] for v in heads if v in self.place]
        self.undrawn += sum(not _is_step(where, b) and self._stub(where, b) is None for b in places if b[2] == z)
        self.aslant += sum(b[2] > z and b[:2] != where[:2] for b in places)
        if len(self.topology.plan.radices) > 3 and len(places) < len(heads):
            return self._say("◆", "has links that leave this corner")
        if self.depth == 1:
            return "●"
        up, down = (any(b[2] == (z + step) % self.topology.plan.radices[2] for b in places if b[2] != z) for step in (1, -1))
        if up and down:
            return self._say("●", "links to the planes z + 1 and z − 1")
        if up or down:
            return self._say("▲", "a link to the plane z + 1 only") if up else self._say("▼", "a link to the plane z − 1 only")
        return self._say("○", "no links to other planes")

    def _stub(self, a: tuple[int, int, int], b: tuple[int, int, int]) -> tuple[int, int] | None:
        """(digit, direction) of a link that leaves the block at a's edge and comes in at b's, as far as planes go."""
        for digit, side in ((0, self.width), (1, self.height)):
            if a[2] == b[2] and side > 2 and {a[digit], b[digit]} == {0, side - 1}:
                return digit, 1 if a[digit] else -1
        return None if a[2] == b[2] or a[:2] != b[:2] else (2, 0)

    def _wrapped(self, where: tuple[int, int, int], digit: int, direction: int) -> list[tuple[tuple[int, int, int], str]]:
        """(other end, which way it points) of links that go round from this node in this direction."""
        node, found = self.at[where], []
        for other in self.place:
            forth, back = other in self.out[node], node in self.out[other]
            if (forth or back) and not _is_step(where, self.place[other]) and self._stub(where, self.place[other]) == (digit, direction):
                found.append((self.place[other], "both" if forth and back else "out" if forth else "in"))
        return found

    def _side(self, where: tuple[int, int, int], direction: int) -> str:
        for other, way in self._wrapped(where, 0, direction)[:1]:
            sign = {"both": "╌", "out": "→" if direction > 0 else "←", "in": "←" if direction > 0 else "→"}[way]
            self._say_round("╌" if way == "both" else "→", "row", shifted=other[1] != where[1])
            label = "" if other[1] == where[1] else str(other[1])
            return sign + label if direction > 0 else label + sign
        return ""

    def _edge(self, z: int, y: int, direction: int) -> str:
        cells = []
        for x in range(self.width):
            sign = ""
            for other, way in self._wrapped((x, y, z), 1, direction)[:1]:
                sign = {"both": "╎", "out": "↑" if direction > 0 else "↓", "in": "↓" if direction > 0 else "↑"}[way]
                self._say_round("╎" if way == "both" else "↑", "column", shifted=other[0] != x)
                sign += "" if other[0] == x else str(other[0])
            cells.append(sign.ljust(4))
        return "   " + "".join(cells)

    def _say_round(self, sign: str, line: str, *, shifted: bool) -> None:
        self._say(
            sign,
            ("at the edge: " if sign in "→↑" else "")
            + "goes round to the other side"
            + (f", to the {line} with the number beside it" if shifted else ""),
        )

    def _say(self, sign: str, meaning: str) -> str:
        self.used.setdefault(sign, meaning)
        return sign


def _is_step(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return sum(abs(p - q) for p, q in zip(a, b)) == 1


def _list(topology: Topology) -> Iterator[str]:
    """The first nodes' links, for what has no grid to be drawn on."""
    arrow = "→" if topology.directed else "─"
    last = min(topology.nodes, LISTED)
    for node in range(last):
        heads = [str(v) for v in topology.ports[node] if v >= 0]
        more = f" and {len(heads) - LISTED} more" if len(heads) > LISTED else ""
        yield f"{node:>{len(str(last))}} {arrow} {' '.join(heads[:LISTED]) or '(no links)'}{more}"
    if topology.nodes > last:
        yield f"… and {topology.nodes - last:,} more nodes"


# --- SVG ------------------------------------------------------------------------------------------

Point = np.ndarray  # float64[2], y downwards


class _Frame(NamedTuple):
    """positions float64[N, 2]; axes float64[K, 2]: where a step along each digit leads; digits int32[N, K]."""

    positions: np.ndarray
    axes: np.ndarray
    digits: np.ndarray


def svg_picture(topology: Topology) -> str:
    """An SVG element: nodes on the grid of their addresses, links coloured by class, those that go round as dashed stubs.

    A network of more than 600 nodes is shown by a smaller one of its family. Colours of nodes follow the text's.
    """
    shown = topology if topology.nodes <= DRAWN // 3 else small_instance(topology)
    if shown.nodes > DRAWN:
        raise BadInput(f"expected at most {DRAWN} nodes to draw, got {shown.nodes} in {shown.spelling}; choose a smaller one")
    frame = _frame(shown)
    low, high = frame.positions.min(axis=0) - 0.7, frame.positions.max(axis=0) + 0.7
    box = " ".join(f"{value:.2f}" for value in (*low, *(high - low)))
    marks = "".join(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="0.11"/>' for x, y in frame.positions)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" class="network"><title>{escape(shown.spelling)}</title>'
        f'<g fill="none" stroke-width="0.06" stroke-linecap="round">{"".join(_links(shown, frame))}</g><g fill="currentColor">{marks}</g></svg>'
    )


def _frame(topology: Topology) -> _Frame:
    """The first digits run right, up and (where there are three, or more than four) aslant; further ones space whole blocks, right and up in turn."""
    radices = topology.plan.radices
    digits = addresses(radices)
    axes = np.zeros((len(radices), 2))
    inner = 2 if len(radices) == 4 else 3
    axes[:inner] = np.array([[1.0, 0.0], [0.0, -1.0], [0.38, -0.27]])[: min(inner, len(radices))]
    for digit in range(inner, len(radices)):
        extent = (np.abs(axes) * (np.array(radices)[:, None] - 1)).sum(axis=0)
        axes[digit] = (extent[0] + 1.4, 0.0) if (digit - inner) % 2 == 0 else (0.0, -extent[1] - 1.4)
    return _Frame(digits @ axes, axes, digits)


def _links(topology: Topology, frame: _Frame) -> Iterable[str]:
    tails, heads, ports = topology.arcs
    arcs = set(zip(tails.tolist(), heads.tolist()))
    for u, v, port in zip(tails.tolist(), heads.tolist(), ports.tolist()):
        kind = int(topology.link_class[u, port])
        colour = PALETTE[kind % len(PALETTE)]
        one_way = (v, u) not in arcs
        step = frame.digits[v] - frame.digits[u]
        a, b = frame.positions[u], frame.positions[v]
        if np.abs(step).sum() == 1:
            if one_way or u < v:
                between_blocks = np.abs(b - a).max() > 1.5
                yield _curve(a, b, colour) if between_blocks else _line(a, b, colour)
                yield _arrow(a, b, colour) if one_way else ""
            continue
        digit = kind if kind < len(step) and step[kind] else int(np.abs(step).argmax())
        outwards = -np.sign(step[digit]) * frame.axes[digit] / np.linalg.norm(frame.axes[digit])
        yield _line(a, a + 0.36 * outwards, colour, ' stroke-dasharray="0.08 0.1"')
        if np.count_nonzero(step) > 1 and (one_way or u < v):
            yield _curve(a, b, colour)  # a twisted link: its stubs do not show where it goes
        if one_way:
            yield _line(b - 0.36 * outwards, b, colour, ' stroke-dasharray="0.08 0.1"')


def _line(a: Point, b: Point, colour: str, more: str = "") -> str:
    return f'<path d="M{a[0]:.2f} {a[1]:.2f}L{b[0]:.2f} {b[1]:.2f}" stroke="{colour}"{more}/>'


def _curve(a: Point, b: Point, colour: str) -> str:
    """A link that would pass over other nodes if it were straight."""
    middle = (a + b) / 2 + 0.12 * np.array([b[1] - a[1], a[0] - b[0]])
    return f'<path d="M{a[0]:.2f} {a[1]:.2f}Q{middle[0]:.2f} {middle[1]:.2f} {b[0]:.2f} {b[1]:.2f}" stroke="{colour}" stroke-opacity="0.5"/>'


def _arrow(a: Point, b: Point, colour: str) -> str:
    """A triangle on the middle of a link, pointing to b."""
    along = (b - a) / np.linalg.norm(b - a)
    across = np.array([-along[1], along[0]])
    tip, back = (a + b) / 2 + 0.16 * along, (a + b) / 2 - 0.08 * along
    corners = " ".join(f"{x:.2f},{y:.2f}" for x, y in (tip, back + 0.11 * across, back - 0.11 * across))
    return f'<polygon points="{corners}" fill="{colour}" stroke="none"/>'
