"""Draw a placed network as text, with the node at every place, or as SVG, also with the wires."""

from __future__ import annotations

from html import escape

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.picture_svg import PALETTE
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.layout.placements import Placement, extent, place

MAX_TEXT_SIDES = (16, 16)  # places along x and y
MAX_SVG_PLACES = 1024
BEND = 0.12  # deviation of a wire longer than 1 from a straight line, as a share of its length


def text_layout(topology: Topology, placement: str) -> str:
    """Return the address of the node or cabinet at each place as text, y upwards; '' in space or beyond 16 × 16."""
    placed = place(placement, topology.plan, topology.spelling)
    sides = (*extent(placed), 1, 1)[:3]
    if sides[2] > 1 or sides[0] > MAX_TEXT_SIDES[0] or sides[1] > MAX_TEXT_SIDES[1]:
        return ""
    labels = np.full((sides[1], sides[0]), "", dtype=object)
    for (x, y), name in zip(_plane(placed).tolist(), _names(topology, placed)):
        labels[y, x] = name
    width = max(map(len, labels.ravel()))
    return "\n".join("  ".join(f"{label:>{width}}" for label in row) for row in labels[::-1])


def svg_layout(topology: Topology, placement: str) -> str:
    """Draw a layout as an SVG element, with places as dots (y upwards) and wires coloured by link class.

    Wires longer than 1 are curved. Raises BadInput for a layout in three dimensions, or with more than 1024 places.
    """
    placed = place(placement, topology.plan, topology.spelling)
    sides = (*extent(placed), 1, 1)[:3]
    if sides[2] > 1:
        raise BadInput(f"expected a layout in a plane to draw, got {placed.spelling} in space; add dimensions=2")
    if len(placed.positions) > MAX_SVG_PLACES:
        raise BadInput(
            f"expected at most {MAX_SVG_PLACES} places to draw, got {len(placed.positions):,};"
            " choose a smaller network or larger cabinets"
        )
    plane = _plane(placed)
    ends = _ends(topology, placed)
    wires = "".join(_wire(plane[u], plane[v], kind) for u, v, kind in ends)
    marks = "".join(
        f'<circle cx="{x}" cy="{-y}" r="0.13"><title>{name}</title></circle>'
        for (x, y), name in zip(plane, _names(topology, placed))
    )
    margin = 0.5 + BEND * max((int(np.abs(plane[u] - plane[v]).max()) for u, v, _ in ends), default=0)
    box = (
        f"{-margin:.2f} {-(sides[1] - 1) - margin:.2f} {sides[0] - 1 + 2 * margin:.2f} {sides[1] - 1 + 2 * margin:.2f}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" class="layout">'
        f"<title>{escape(f'{topology.spelling}, {placed.spelling}')}</title>"
        f'<g fill="none" stroke-width="0.05" stroke-linecap="round">{wires}</g><g fill="currentColor">{marks}</g></svg>'
    )


def _plane(placed: Placement) -> np.ndarray:
    """Return the coordinates x and y of each of the C places, int32[C, 2]."""
    missing = max(0, 2 - placed.positions.shape[1])
    return np.pad(placed.positions, ((0, 0), (0, missing)))[:, :2]


def _names(topology: Topology, placed: Placement) -> list[str]:
    """Return the address of the node at each place; for cabinets, an address in units of cabinets."""
    first = np.unique(placed.cabinet, return_index=True)[1]
    digits = topology.addresses()[first] // np.array(placed.block or [1], np.int32)
    return [",".join(map(str, own)) for own in digits.tolist()]


def _ends(topology: Topology, placed: Placement) -> list[tuple[int, int, int]]:
    """Return (place, place, link class) of every wire; wires of one class between the same places are listed once."""
    tails, ports = np.nonzero(topology.ports != NO_PORT)
    ends = np.sort(placed.cabinet[np.stack([tails, topology.ports[tails, ports]], axis=1)], axis=1)
    rows = np.concatenate([ends, topology.link_class[tails, ports][:, None]], axis=1)[ends[:, 0] != ends[:, 1]]
    return [(u, v, kind) for u, v, kind in np.unique(rows, axis=0).tolist()]


def _wire(a: np.ndarray, b: np.ndarray, kind: int) -> str:
    """Return an SVG path from a to b: a straight line between neighbours, otherwise a curve that bends right."""
    step, curve = b - a, "L"
    if np.abs(step).sum() != 1:
        bend = (a + b) / 2 + 2 * BEND * np.array([step[1], -step[0]])
        curve = f"Q{bend[0]:.2f} {-bend[1]:.2f} "
    return f'<path d="M{a[0]} {-a[1]}{curve}{b[0]} {-b[1]}" stroke="{PALETTE[kind % len(PALETTE)]}"/>'
