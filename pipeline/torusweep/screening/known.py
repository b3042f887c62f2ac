"""The lattices that people know, of one size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from torusweep.networks.families import plan
from torusweep.networks.families.algebra import Lattice, hermite

TWISTED_BOXES = {2: ("rtt",), 3: ("pdtt", "ptt")}  # 2aⁿ nodes


class Known(NamedTuple):
    """A lattice that has a name: its network's spelling, and its Hermite normal form, int32[n, n]."""

    name: str
    spelling: str
    form: np.ndarray


def known_lattices(nodes: int, dimensions: int) -> list[Known]:
    """Cube, rectangular torus, twisted tori and crystal lattices of so many nodes, as far as there are any."""
    return [Known(name, spelling, form_of(spelling)) for name, spelling in _names(nodes, dimensions)]


def form_of(spelling: str) -> np.ndarray:
    """int32[n, n]: the Hermite normal form of a torus, twisted torus or lattice."""
    shape = plan(spelling)[1].structure
    assert isinstance(shape, Lattice), f"{spelling} is not a lattice"
    canonical = hermite([list(row) for row in zip(*shape.columns)])
    return np.array(canonical.columns, np.int32).T.copy()


def _names(nodes: int, n: int) -> Iterator[tuple[str, str]]:
    side = _root(nodes, n)
    if side > 1 and n > 1:
        yield ("square torus" if n == 2 else "cube"), f"torus(k={side}, n={n})"
    sides = _nearest_to_a_cube(nodes, n)
    if n > 1 and min(sides) > 1 and len(set(sides)) > 1:
        yield "rectangular torus", f"torus(radices={sides})"
    a = _root(nodes // 2, n) if nodes % 2 == 0 else 0
    if a > 1:
        for family in TWISTED_BOXES.get(n, ()):
            yield ("PDTT, the FCC lattice" if family == "pdtt" else family.upper()), f"{family}(a={a})"
    a = _root(nodes // 4, 3) if nodes % 4 == 0 and n == 3 else 0
    if a > 1:
        yield "BCC lattice", f"lattice(matrix=[[{-a}, {a}, {a}], [{a}, {-a}, {a}], [{a}, {a}, {-a}]])"
    if n == 1 and nodes > 1:
        yield "ring", f"ring(k={nodes})"


def _root(number: int, power: int) -> int:
    """The whole number whose power this is; 0 if there is none."""
    root = round(number ** (1 / power))
    return root if root**power == number else 0


def _nearest_to_a_cube(nodes: int, n: int) -> list[int]:
    """The sides whose sum is least, longest first."""
    if n == 1:
        return [nodes]
    candidates = [
        [side, *_nearest_to_a_cube(nodes // side, n - 1)] for side in range(1, nodes + 1) if nodes % side == 0
    ]
    return sorted(min(candidates, key=sum), reverse=True)
