"""Lattice graphs Zⁿ/L with links ± e_i: the general lattice graph, twisted tori, and the family of Cámara et al. 2010.

The module also has Séquin's doubly twisted torus, which is not a lattice graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product
from math import gcd, prod
from typing import Annotated

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.algebra import Lattice, determinant, hermite, kernel, triangular
from torusweep.networks.families.cubes import torus
from torusweep.networks.families.wiring import UnitSteps, affine, class_names, digit, neighbour, swap, validate_radices
from torusweep.networks.topology import Meaning, Plan, Whole, Wiring, require, simple_graph

Side = Annotated[int, Whole(2, "a, half the longest side")]
Radix = Annotated[int, Whole(2, "radix: nodes along each dimension")]
Matrix = Annotated[list[list[int]], Meaning("rows of M; each row has the entries of one dimension")]
Nodes = Annotated[int, Whole(2, "nodes in a circle")]
Step = Annotated[int, Whole(1, "nodes from one end of a link to the other")]
Steps = Annotated[
    list[Step], Meaning("steps along the circle: for each step s, a node is linked to the nodes s further and s back")
]
Radices = Annotated[list[Radix], Meaning("radix of each dimension, x first; at most 30, each ≥ 2")]
Twists = Annotated[
    dict[int, dict[int, int]],
    Meaning("{j: {i: s}}: the wraparound of dimension j adds s to dimension i; {} for no shifts"),
]
Unit = Annotated[int, Whole(0, "steps along the direction 1, in the modulus a + bρ")]
Turned = Annotated[int, Whole(1, "steps along the direction ρ, which is turned by 60°")]
SignedPermutation = tuple[tuple[int, int], ...]  # per dimension i: (source dimension, sign)

MOST_DIMENSIONS = 16
ALL_SIGNED_PERMUTATIONS_UP_TO = 4  # dimensions: 4!·2⁴ = 384 candidates


def lattice(matrix: Matrix) -> Plan:
    """Lattice graph Zⁿ/MZⁿ: nodes are integer vectors a modulo the columns of M, with links to a ± e_i.

    `matrix` lists the rows of M, and the columns of M generate the lattice: RTT is [[2a, a], [0, a]].
    The radices are the diagonal of M's Hermite normal form. Links from a node to itself and second
    links between two nodes are dropped.

    Constraints: M is square, with 1 to 16 rows, and nonsingular; its determinant, the number of nodes, is below 2³¹.
    Source: Cámara et al. 2010, sec. 3 and its reference [16]; Fiol 1987.
    """
    n = len(matrix)
    require(
        1 <= n <= MOST_DIMENSIONS, "matrix", f"({n} rows)", f"1 … {MOST_DIMENSIONS} rows", "each row is a dimension"
    )
    ragged = next((row for row in matrix if len(row) != n), None)
    require(ragged is None, "matrix", matrix, f"{n} rows of {n} numbers", "only a square matrix can be nonsingular")
    nodes = abs(determinant(matrix))
    require(
        nodes != 0, "matrix", matrix, "a nonsingular matrix", "its determinant is 0, so the network would be infinite"
    )
    if nodes >= 2**31:
        raise Refused(
            f"the matrix has determinant {nodes:,}, which is the number of nodes; at most {2**31 - 1:,} are possible:"
            " choose smaller entries"
        )
    return _lattice_graph(hermite(matrix))


def twisted_torus(radices: Radices, twists: Twists) -> Plan:
    """Torus whose wraparounds shift other dimensions: with {1: {0: 8}}, that along dimension 1 adds 8 to dimension 0.

    This is the lattice graph with columns k_j e_j − Σ_i twists[j][i] e_i. The box of the radices contains
    each node once if the dimensions can be ordered so that each wraparound shifts only earlier
    dimensions. A shift beyond the end of a dimension wraps round there, with the twist of that dimension.

    Constraints: twists name dimensions from 0 to n − 1, and shift other dimensions than their own;
    twists that shift each other in a circle are refused (see sequin).
    Source: Cámara et al. 2010, sec. 3.
    """
    sides = validate_radices(radices)
    n = len(sides)
    for j, shifts in twists.items():
        for i in (j, *shifts):
            require(0 <= i < n, "twists", f"{{{j}: {shifts}}}", f"dimensions 0 … {n - 1}", f"there are {n} radices")
        require(
            j not in shifts,
            "twists",
            f"{{{j}: {shifts}}}",
            "shifts of other dimensions",
            "a shift along the ring itself changes its length",
        )
    columns = [[sides[j] if i == j else -twists.get(j, {}).get(i, 0) for i in range(n)] for j in range(n)]
    return _lattice_graph(triangular(columns, _order(columns)))


def illiac(k: Radix) -> Plan:
    """ILLIAC IV's torus: k × k nodes; the wraparound of x adds 1 to y.

    Source: Cámara et al. 2010, sec. 2.
    """
    return twisted_torus(radices=[k, k], twists={0: {1: 1}})


def circulant(n: Nodes, steps: Steps) -> Plan:
    """Circulant graph (multi-loop network): n nodes in a circle, with links from each node to the nodes s steps away.

    If the first step is 1, nodes are numbered along the circle. Otherwise they are numbered by the lattice of all
    combinations of steps that come back to a node. Steps that lead to the same nodes add only one link: with 8
    nodes, steps 3 and 5 do.

    Constraints: 1 to 16 steps from 1 to n − 1; n and all steps have no common divisor, which would leave parts
    that are not joined.
    Source: Wong & Coppersmith 1974; Boesch & Wang 1985.
    """
    require(1 <= len(steps) <= MOST_DIMENSIONS, "steps", steps, f"1 … {MOST_DIMENSIONS} steps", "each is a dimension")
    for step in steps:
        require(1 <= step < n, "steps", steps, f"steps from 1 to {n - 1}", "n + s is the same step as s, and 0 is none")
    common = gcd(n, *steps)
    require(common == 1, "steps", steps, f"no divisor of n={n} common to all steps", f"all are multiples of {common}")
    return _lattice_graph(kernel(steps, n))


def hexagonal_torus(a: Unit, b: Turned) -> Plan:
    """Hexagonal torus (Eisenstein–Jacobi network): a triangular grid with six links at each node, wrapped at a + bρ.

    Nodes are the a² + ab + b² numbers x + yρ modulo a + bρ, where ρ is a turn by 60°; links add ±1, ±ρ or ±ρ².
    With a = t − 1 and b = t it is the hexagonal mesh of side t with wraparounds, of diameter t − 1. If a and b have no
    common divisor, it is a circulant graph with steps 1, s and s − 1, where a + bs is a multiple of the node count.

    Constraint: at least 7 nodes, so that the six links lead to six nodes.
    Source: Martínez, Stafford, Beivide & Gabidulin 2008 (Eisenstein–Jacobi graphs); Chen, Shin & Kandlur 1990.
    """
    nodes = a * a + a * b + b * b
    require(nodes >= 7, "b", b, "a² + ab + b² ≥ 7 nodes", f"{nodes} are too few for six links each")
    # along 1, ρ, ρ²: 1 − ρ + ρ² = 0, a + bρ, and that times ρ
    return _lattice_graph(hermite([[1, a, 0], [-1, b, a], [1, 0, b]]))


def rt(a: Side) -> Plan:
    """Rectangular torus 2a × a.

    Source: Cámara et al. 2010, sec. 3.2.
    """
    return torus(radices=[2 * a, a])


def rtt(a: Side) -> Plan:
    """Rectangular twisted torus 2a × a: the wraparound of y adds a to x.

    Source: Cámara et al. 2010, definition 5.
    """
    plan = twisted_torus(radices=[2 * a, a], twists={1: {0: a}})
    # A boundary that winds round the torus consists of two or more closed curves, each at least as long
    # as the shortest lattice vector, 2a steps. A boundary that does not needs 4a steps to enclose a² nodes.
    source = (
        "Cámara et al. 2010, sec. 5.2: this cut has 4a links; no cut has fewer: a boundary that encloses half of the"
        " nodes, a², crosses at least 4a links, and one that winds round the torus is two or more closed curves that"
        " each cross at least 2a"
    )
    return replace(plan, bisection=4 * a, bisection_source=source)


def pt(a: Side) -> Plan:
    """Prismatic torus 2a × a × a.

    Source: Cámara et al. 2010, sec. 3.2.
    """
    return torus(radices=[2 * a, a, a])


def ptt(a: Side) -> Plan:
    """Prismatic twisted torus 2a × a × a: the wraparound of y adds a to x.

    Source: Cámara et al. 2010, definition 8.
    """
    return twisted_torus(radices=[2 * a, a, a], twists={1: {0: a}})


def pdtt(a: Side) -> Plan:
    """Prismatic doubly twisted torus 2a × a × a: the wraparounds of y and of z add a to x.

    Source: Cámara et al. 2010, definition 10.
    """
    return twisted_torus(radices=[2 * a, a, a], twists={1: {0: a}, 2: {0: a}})


def _order(columns: Sequence[Sequence[int]]) -> list[int]:
    """Order the dimensions so that columns have entries in earlier dimensions only. Raises BadInput if impossible."""
    left, order = list(range(len(columns))), []
    while left:
        free = next((j for j in left if not any(columns[j][i] for i in left if i != j)), None)
        if free is None:
            raise BadInput(
                "twists: expected an order of the dimensions in which each wraparound shifts earlier ones only,"
                f" got dimensions {left} shifting each other in a circle, which is not a lattice graph on this box;"
                " two such twists are sequin(k=8, s=1, t=2)"
            )
        order.append(free)
        left.remove(free)
    return order


def _lattice_graph(shape: Lattice) -> Plan:
    n, sides = len(shape.sides), shape.sides
    origin = (0,) * n
    steps = {shape.residue([sign * int(i == j) for i in range(n)]) for j in range(n) for sign in (1, -1)}
    return Plan(
        nodes=prod(sides),
        degree=len(steps - {origin}),
        radices=sides,
        wire=UnitSteps(shape, (True,) * n),
        symmetries=lambda: [
            *(_translation(shape, j) for j in range(n)),
            *(_apply(shape, turn) for turn in _turns(shape)),
        ],
        classes=class_names(n),
        structure=shape,
        joined=True,  # the steps ± e_i generate Zⁿ
    )


def _axes(shape: Lattice) -> list[np.ndarray]:
    return [digit(shape.sides, i).astype(np.int64) for i in range(len(shape.sides))]


def _translation(shape: Lattice, j: int) -> np.ndarray:
    """int32[N]: the permutation that maps a to a + e_j."""
    axes = _axes(shape)
    axes[j] = axes[j] + 1
    return shape.index(axes)


# --- signed permutations of the dimensions that map the lattice to itself -----------------------------


def _apply(shape: Lattice, turn: SignedPermutation) -> np.ndarray:
    """int32[N]: the permutation that maps a to P a, for a signed permutation P of the dimensions."""
    axes = _axes(shape)
    return shape.index([sign * axes[source] for source, sign in turn])


def _turns(shape: Lattice) -> list[SignedPermutation]:
    """Return generators of the signed permutations that keep the lattice.

    Above four dimensions, only the negation and exchanges of two dimensions with either sign are tried, so generators
    may be missing.
    """
    n = len(shape.sides)
    group = {_identity(n)}
    generators: list[SignedPermutation] = []
    for turn in _candidates(n):
        if turn not in group and all(
            not any(shape.residue([s * column[i] for i, s in turn])) for column in shape.columns
        ):
            generators.append(turn)
            if n <= ALL_SIGNED_PERMUTATIONS_UP_TO:
                group = _generate(generators, n)
    return generators


def _candidates(n: int) -> Iterator[SignedPermutation]:
    yield tuple((i, -1) for i in range(n))
    if n <= ALL_SIGNED_PERMUTATIONS_UP_TO:
        for sources, signs in product(permutations(range(n)), product((1, -1), repeat=n)):
            yield tuple(zip(sources, signs))
        return
    same = _identity(n)
    for i in range(n):
        yield tuple((d, -1) if d == i else same[d] for d in range(n))
        for j, sign in product(range(i), (1, -1)):
            yield tuple((i + j - d, sign) if d in (i, j) else same[d] for d in range(n))


def _identity(n: int) -> SignedPermutation:
    return tuple((i, 1) for i in range(n))


def _generate(generators: Iterable[SignedPermutation], n: int) -> set[SignedPermutation]:
    """Return the group that the given signed permutations generate."""
    group, fresh = {_identity(n)}, {_identity(n)}
    while fresh:
        fresh = {tuple((a[i][0], a[i][1] * s) for i, s in b) for a in fresh for b in generators} - group
        group |= fresh
    return group


SequinRadix = Annotated[int, Whole(3, "radix: nodes along each dimension")]
Twist = Annotated[int, Whole(0, "shift of the other dimension by the wraparound links")]


def sequin(k: SequinRadix, s: Twist, t: Twist) -> Plan:
    """Doubly twisted torus k × k: the wraparound of x adds s to y, the wraparound of y adds t to x, modulo k.

    Translations are not automorphisms, unless s or t is 0 (use twisted_torus then). The rotation of the
    grid by 180° is an automorphism, and so is the exchange of x and y if s = t.
    Source: Cámara et al. 2010, sec. 2, after Séquin 1981.
    """
    sides = (k, k)

    def wire() -> Wiring:
        right, up = neighbour(sides, 0, 1), neighbour(sides, 1, 1)  # [y, x]
        right[:, -1] = np.roll(right[:, -1], -s)
        up[-1, :] = np.roll(up[-1, :], -t)
        ports = np.empty((k * k, 4), np.int32)
        everyone = np.arange(k * k, dtype=np.int32)
        for port, onwards in ((0, right.reshape(-1)), (2, up.reshape(-1))):
            ports[:, port] = onwards
            ports[onwards, port + 1] = everyone
        return simple_graph(ports, np.broadcast_to(np.array([0, 0, 1, 1], np.int8), ports.shape).copy())

    return Plan(
        nodes=k * k,
        degree=4,
        radices=sides,
        wire=wire,
        symmetries=lambda: [
            affine(sides, (0, 1), (-1, -1), (-1, -1)),
            *([swap(sides, 0, 1)] if (s - t) % k == 0 else []),
        ],
        classes=class_names(2),
    )
