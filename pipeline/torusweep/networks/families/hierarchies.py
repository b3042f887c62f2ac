"""Hierarchical tori: basic modules whose gate nodes are connected as tori, level by level (TESH, H3DT, MH3DT)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Annotated

import numpy as np

from torusweep.networks.families.cubes import mesh, torus
from torusweep.networks.families.wiring import affine, neighbour
from torusweep.networks.topology import NO_PORT, Plan, Whole, Wiring, require

ModuleSide = Annotated[
    int, Whole(3, "side of the basic module, m × m × m nodes; its planes z = 0, 1, 2 carry the gates")
]
Exponent = Annotated[int, Whole(1, "exponent: the basic module has 2^m × 2^m nodes")]
TorusSide = Annotated[int, Whole(2, "side of the torus that joins the modules of a level")]
Levels = Annotated[int, Whole(2, "levels of the hierarchy, the basic module being level 1")]
Connectivity = Annotated[int, Whole(0, "inter-level connectivity: 2^q gates for each level and direction", maximum=2)]

Place = tuple[int, ...]  # digits within the basic module, x first
Direction = tuple[int, int]  # (level, dimension) in which a gate's two links lead


def mh3dt(m: ModuleSide, n: TorusSide, levels: Levels, q: Connectivity) -> Plan:
    """Modified hierarchical 3D torus: m × m × m torus modules, joined level by level as n × n × n tori.

    m is the module's side (in TESH it is an exponent). In every module, the gates of level i are at corners
    number (i − 2)·2^q … (i − 1)·2^q − 1 of the list (a_y, a_x) = (0, 0), (0, m−1), (m−1, 0), (m−1, m−1), in
    the planes a_z = 0, 1, 2 for the z, y, x links. Each gate has a + and a − link (one link where n = 2).

    Constraint: at most 2^(2 − q) + 1 levels (5, 3 or 2 for q = 0, 1, 2), because each takes 2^q of the 4 corners.
    Source: Rahman et al. 2005, sec. 2 and Eq. 7; the order in which the levels take the corners is our choice.
    """
    return _three_dimensional(m, n, levels, q, is_torus=True)


def h3dt(m: ModuleSide, n: TorusSide, levels: Levels, q: Connectivity) -> Plan:
    """Hierarchical 3D torus: like mh3dt, but its modules are m × m × m meshes.

    m is the module's side (in TESH it is an exponent).

    Constraint: at most 2^(2 − q) + 1 levels (5, 3 or 2 for q = 0, 1, 2), because each takes 2^q of the 4 corners.
    Source: Rahman et al. 2005, sec. 1 and Table 1.
    """
    return _three_dimensional(m, n, levels, q, is_torus=False)


def tesh(m: Exponent, levels: Levels, q: Annotated[int, Whole(0, "inter-level connectivity")]) -> Plan:
    """TESH: 4 × 4 mesh modules, joined level by level as 4 × 4 tori. m is an exponent: the module's side is 2^m = 4.

    Gates (a_y, a_x) of every module, each with a + and a − link: for level 3, (0, 0) along y and (0, 3) along x;
    for level 2, (3, 0) along y and (3, 3) along x.

    Constraint: m=2, 2 or 3 levels, q=0; the gates of other TESH networks are not given in the papers at hand.
    Source: Rahman et al. 2005, Table 1 (routed diameter and mean distance of TESH(2, 3, 0)).
    """
    unknown = "the papers at hand do not give the gates of other TESH networks"
    require(m == 2, "m", m, "m=2 (4 × 4 modules)", unknown)
    require(levels <= 3, "levels", levels, "2 or 3 levels", unknown)
    require(q == 0, "q", q, "q=0", unknown)
    corners = {(3, 1): (0, 0), (3, 0): (3, 0), (2, 1): (0, 3), (2, 0): (3, 3)}
    gates: dict[Place, Direction] = {place: direction for direction, place in corners.items() if direction[0] <= levels}
    return Hierarchy((4, 4), False, 4, levels, gates).plan()


def _three_dimensional(m: int, n: int, levels: int, q: int, *, is_torus: bool) -> Plan:
    most = 2 ** (2 - q) + 1
    require(
        levels <= most,
        "levels",
        levels,
        f"at most {most} levels with q={q}",
        f"each level takes 2^q = {2**q} of a plane's 4 corners",
    )
    corners = [(0, 0), (0, m - 1), (m - 1, 0), (m - 1, m - 1)]  # (a_y, a_x)
    gates: dict[Place, Direction] = {
        (x, y, 2 - dimension): (level, dimension)
        for level in range(2, levels + 1)
        for y, x in corners[(level - 2) * 2**q : (level - 1) * 2**q]
        for dimension in range(3)
    }
    return Hierarchy((m, m, m), is_torus, n, levels, gates).plan()


@dataclass(frozen=True)
class Hierarchy:
    """The structure of a hierarchical network.

    module     sides of the basic module, x first
    is_torus   whether the module is a torus rather than a mesh
    n          side of the tori above the module
    levels     number of levels; the module is level 1
    gates      place of each gate in the module → (level, dimension) in which its two links lead
    """

    module: tuple[int, ...]
    is_torus: bool
    n: int
    levels: int
    gates: dict[Place, Direction]

    @property
    def sides(self) -> tuple[int, ...]:
        return self.module + (self.n,) * (len(self.module) * (self.levels - 1))

    def digit_of(self, direction: Direction) -> int:
        """Return the digit of the address that links in the given direction change."""
        level, dimension = direction
        return len(self.module) * (level - 1) + dimension

    def gates_of(self, direction: Direction) -> list[Place]:
        """Return the places of the gates whose links lead in a direction, in the order of the corners."""
        return [place for place, leads in self.gates.items() if leads == direction]

    def module_wiring(self) -> Wiring:
        """Return the wiring of one basic module."""
        return (torus if self.is_torus else mesh)(radices=list(self.module)).wire()

    def plan(self) -> Plan:
        dimensions = len(self.module)
        links = (1,) if self.n == 2 else (1, -1)
        degree = 2 * dimensions  # an inner node of the module
        for place in self.gates:
            lost = 0 if self.is_torus else sum(digit in (0, side - 1) for digit, side in zip(place, self.module))
            degree = max(degree, 2 * dimensions - lost + len(links))
        names = "xyz"[:dimensions]
        return Plan(
            nodes=prod(self.sides),
            degree=degree,
            radices=self.sides,
            wire=lambda: self.wire(degree, links),
            symmetries=lambda: list(self.symmetries()),
            classes=(*names, *(f"level {level} {name}" for level in range(2, self.levels + 1) for name in names)),
            structure=self,
        )

    def wire(self, degree: int, links: Sequence[int]) -> Wiring:
        inside = self.module_wiring()
        size, width = inside.ports.shape
        copies = prod(self.sides) // size
        ports = np.full((copies, size, degree), NO_PORT, np.int32)
        first = np.arange(copies, dtype=np.int32)[:, None, None] * size
        ports[:, :, :width] = np.where(inside.ports == NO_PORT, np.int32(NO_PORT), inside.ports + first)
        classes = np.zeros((size, degree), np.int8)
        classes[:, :width] = inside.link_class
        above = self.sides[len(self.module) :]
        for place, direction in self.gates.items():
            node = sum(digit * prod(self.module[:d]) for d, digit in enumerate(place))
            free = np.flatnonzero(ports[0, node] == NO_PORT)
            for port, step in zip(free, links):
                across = neighbour(above, self.digit_of(direction) - len(self.module), step).reshape(-1)
                ports[:, node, port] = across * np.int32(size) + np.int32(node)
                classes[node, port] = self.digit_of(direction)
        return Wiring(ports.reshape(-1, degree), np.tile(classes, (copies, 1)))

    def symmetries(self) -> Iterator[np.ndarray]:
        """Yield symmetries, int32[N] each, first of the upper tori, then of the module.

        Upper tori have translations and reflections. Symmetries of the module must map gates onto gates; they also
        permute the directions of the upper tori.
        """
        sides, dimensions = self.sides, len(self.module)
        for digit in range(dimensions, len(sides)):
            yield neighbour(sides, digit, 1).reshape(-1)
            if self.n > 2:
                yield affine(
                    sides, range(len(sides)), [-1 if i == digit else 1 for i in range(len(sides))], [0] * len(sides)
                )
        for sources, signs, shift in self.module_symmetries():
            directions = self.map_directions(sources, signs, shift)
            if directions is not None:
                whole = list(range(len(sides)))
                whole[:dimensions] = sources
                for before, after in directions.items():
                    whole[self.digit_of(after)] = self.digit_of(before)
                above = len(sides) - dimensions
                yield affine(sides, whole, [*signs, *[1] * above], [*shift, *[0] * above])

    def module_symmetries(self) -> Iterator[tuple[list[int], list[int], list[int]]]:
        """Yield reflections, translations and exchanges of the module as (sources, signs, shifts) of its digits."""
        dimensions = len(self.module)
        same, none = list(range(dimensions)), [0] * dimensions
        for d, side in enumerate(self.module):
            for about in sorted({0, 2 % side, side - 1}) if self.is_torus else (side - 1,):
                yield same, [-1 if i == d else 1 for i in same], [about if i == d else 0 for i in same]
            if self.is_torus:
                yield same, [1] * dimensions, [int(i == d) for i in same]
        for d, e in combinations(same, 2):
            yield [e if i == d else d if i == e else i for i in same], [1] * dimensions, none

    def map_directions(
        self, sources: list[int], signs: list[int], shift: list[int]
    ) -> dict[Direction, Direction] | None:
        """Return the image of each direction under a symmetry of the module; None if it moves a gate to no gate."""
        directions: dict[Direction, Direction] = {}
        for place, direction in self.gates.items():
            image = tuple(
                (sign * place[source] + by) % side for source, sign, by, side in zip(sources, signs, shift, self.module)
            )
            after = self.gates.get(image)
            if after is None or directions.setdefault(direction, after) != after:
                return None
        return directions
