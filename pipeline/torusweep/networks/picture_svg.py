"""Draw a small picture of a network in SVG, for the web page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.picture import ON_A_CIRCLE, small_instance
from torusweep.networks.topology import Topology, addresses

MAX_NODES = 600
# colours by link class
PALETTE = ("#006DAD", "#B84300", "#008A62", "#CB73A3", "#C48600", "#379AD8")
Point = np.ndarray  # float64[2], y downwards


class _Frame(NamedTuple):
    """The places of nodes in a picture.

    positions  float64[N, 2]  of each node
    axes       float64[K, 2]  step along each digit
    digits     int32[N, K]    address of each node
    """

    positions: np.ndarray
    axes: np.ndarray
    digits: np.ndarray


def svg_picture(topology: Topology) -> str:
    """Draw a network as an SVG element. Raises BadInput for more than 600 nodes if the family has no smaller member.

    Nodes lie on the grid of their addresses and have the colour of the text. Links are coloured by class;
    wraparound links are dashed stubs. The nodes of a network without a grid lie on a circle. For more
    than 600 nodes, a smaller member of the family is drawn.
    """
    shown = topology if topology.nodes <= MAX_NODES else small_instance(topology)
    if shown.nodes > MAX_NODES:
        raise BadInput(
            f"expected at most {MAX_NODES} nodes to draw, got {shown.nodes} in {shown.spelling}; choose a smaller one"
        )
    circled = shown.family in ON_A_CIRCLE
    frame = _circle(shown) if circled else _frame(shown)
    links = _chords(shown, frame) if circled else _links(shown, frame)
    low, high = frame.positions.min(axis=0) - 0.7, frame.positions.max(axis=0) + 0.7
    box = " ".join(f"{value:.2f}" for value in (*low, *(high - low)))
    marks = "".join(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="0.11"/>' for x, y in frame.positions[shown.works])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" class="network">'
        f"<title>{escape(shown.spelling)}</title>"
        f'<g fill="none" stroke-width="0.06" stroke-linecap="round">{"".join(links)}</g>'
        f'<g fill="currentColor">{marks}</g>'
        f"{''.join(_cross(place) for place in frame.positions[~shown.works])}</svg>"
    )


def _frame(topology: Topology) -> _Frame:
    """Place the nodes on the grid of their addresses.

    The first digits run right, up and (if there are three, or more than four) obliquely. Each further
    digit places copies of the whole block, right and up alternately.
    """
    radices = topology.plan.radices
    digits = addresses(radices)
    axes = np.zeros((len(radices), 2))
    inner = 2 if len(radices) == 4 else 3
    axes[:inner] = np.array([[1.0, 0.0], [0.0, -1.0], [0.38, -0.27]])[: min(inner, len(radices))]
    for digit in range(inner, len(radices)):
        extent = (np.abs(axes) * (np.array(radices)[:, None] - 1)).sum(axis=0)
        axes[digit] = (extent[0] + 1.4, 0.0) if (digit - inner) % 2 == 0 else (0.0, -extent[1] - 1.4)
    return _Frame(digits @ axes, axes, digits)


def _circle(topology: Topology) -> _Frame:
    """Place the nodes on a circle, one unit apart, with the first node at the top."""
    turn = np.arange(topology.nodes) * (2 * np.pi / topology.nodes)
    radius = max(topology.nodes / (2 * np.pi), 0.5) if topology.nodes > 1 else 0.0
    positions = radius * np.column_stack([np.sin(turn), -np.cos(turn)])
    return _Frame(positions, np.zeros((1, 2)), topology.addresses())


def _chords(topology: Topology, frame: _Frame) -> Iterable[str]:
    """Draw a straight line for each link, with an arrow if links have one direction."""
    tails, heads, ports = topology.arcs
    for u, v, port in zip(tails.tolist(), heads.tolist(), ports.tolist()):
        colour = PALETTE[int(topology.link_class[u, port]) % len(PALETTE)]
        if topology.directed or u < v:
            yield _line(frame.positions[u], frame.positions[v], colour, ' stroke-opacity="0.7"')
        if topology.directed:
            yield _arrow(frame.positions[u], frame.positions[v], colour)


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
            yield _curve(a, b, colour)  # the stubs of a twisted link do not show its ends
        if one_way:
            yield _line(b - 0.36 * outwards, b, colour, ' stroke-dasharray="0.08 0.1"')


def _cross(place: Point) -> str:
    """Draw a cross for a node that has failed."""
    x, y = place
    bars = "".join(
        f'<line x1="{x - 0.11:.2f}" y1="{y - way:.2f}" x2="{x + 0.11:.2f}" y2="{y + way:.2f}"/>'
        for way in (0.11, -0.11)
    )
    return f'<g stroke="currentColor" stroke-width="0.05"><title>a node that has failed</title>{bars}</g>'


def _line(a: Point, b: Point, colour: str, more: str = "") -> str:
    return f'<path d="M{a[0]:.2f} {a[1]:.2f}L{b[0]:.2f} {b[1]:.2f}" stroke="{colour}"{more}/>'


def _curve(a: Point, b: Point, colour: str) -> str:
    """Draw a link as a curve, because a straight line would pass over other nodes."""
    middle = (a + b) / 2 + 0.12 * np.array([b[1] - a[1], a[0] - b[0]])
    path = f"M{a[0]:.2f} {a[1]:.2f}Q{middle[0]:.2f} {middle[1]:.2f} {b[0]:.2f} {b[1]:.2f}"
    return f'<path d="{path}" stroke="{colour}" stroke-opacity="0.5"/>'


def _arrow(a: Point, b: Point, colour: str) -> str:
    """Draw a triangle at the middle of a link from a to b, pointing to b."""
    along = (b - a) / np.linalg.norm(b - a)
    across = np.array([-along[1], along[0]])
    tip, back = (a + b) / 2 + 0.16 * along, (a + b) / 2 - 0.08 * along
    corners = " ".join(f"{x:.2f},{y:.2f}" for x, y in (tip, back + 0.11 * across, back - 0.11 * across))
    return f'<polygon points="{corners}" fill="{colour}" stroke="none"/>'
