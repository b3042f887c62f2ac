"""Networks of diameter two with nearly as many nodes as their degree allows: Slim Fly and PolarFly."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from torusweep.networks.families.finite_field import GaloisField, check_order, finite_field
from torusweep.networks.families.linked import ClassLinks, Terminals, terminals_of, wiring_of_links
from torusweep.networks.topology import Plan, Whole, Wiring, require

MOST = 256  # elements of the field: 131,072 and 65,793 nodes
Order = Annotated[int, Whole(2, "order of the field: a power of a prime", maximum=MOST)]


def slim_fly(q: Order, terminals: Terminals = 1) -> Plan:
    """Slim Fly: the McKay–Miller–Širáň graph of 2q² routers, degree (3q − δ)/2, diameter 2, where q = 4w + δ.

    Digits: y, x, s. Router (0, x, y) is joined to (0, x, y′) where y − y′ is in X, (1, m, c) to (1, m, c′) where
    c − c′ is in X′, and (0, x, y) to (1, m, c) where y = m x + c, all in GF(q). With a primitive element ξ, and δ = 1:
    X has its even powers and X′ the odd ones. δ = 0: the same up to ξ^(q−2) and ξ^(q−1). δ = −1:
    X = {1, ξ², …, ξ^(2w−2), ξ^(2w−1), ξ^(2w+1), …, ξ^(4w−3)}, and X′ = ξ X.

    Constraint: q a power of a prime, not 2 more than a multiple of 4, 3 at least.
    Source: Besta & Hoefler 2014, sec. II; McKay, Miller & Širáň 1998; Hafner 2004.
    """
    check_order(q)
    require(q >= 3 and q % 4 != 2, "q", q, "4w − 1, 4w or 4w + 1, 3 or more", "the graphs are known for these")
    delta = (q + 1) % 4 - 1
    return Plan(
        nodes=2 * q * q,
        degree=(3 * q - delta) // 2,
        radices=(q, q, 2),
        wire=lambda: _slim_fly(finite_field(q), q, delta, terminals),
        symmetries=lambda: _translations(finite_field(q), q),
        classes=("within a group", "between groups"),
        joined=terminals == 1,
    )


def polarfly(q: Order, terminals: Terminals = 1) -> Plan:
    """PolarFly: the Erdős–Rényi graph ER_q: q² + q + 1 points of the plane over GF(q), orthogonal ones joined.

    A point is (1, a, b), (0, 1, a) or (0, 0, 1), numbered in this order. The q + 1 points that are orthogonal to
    themselves have q links, the others q + 1. Diameter 2.

    Constraint: q a power of a prime.
    Source: Lakhotia et al. 2022, sec. IV; Erdős & Rényi 1962; Brown 1966.
    """
    check_order(q)
    nodes = q * q + q + 1
    return Plan(
        nodes=nodes,
        degree=q + 1,
        radices=(nodes,),
        wire=lambda: _polarfly(finite_field(q), q, terminals),
        symmetries=lambda: _rotations(finite_field(q), q),
        classes=("link",),
        joined=terminals == 1,
    )


def _slim_fly(field: GaloisField, q: int, delta: int, terminals: int) -> Wiring:
    powers = field.powers
    if delta == -1:
        w = (q + 1) // 4
        exponents = np.append(np.arange(0, 2 * w - 1, 2), np.arange(2 * w - 1, 4 * w - 2, 2))
    else:
        exponents = np.arange(0, q - 1, 2)
    first, second = powers[exponents % (q - 1)], powers[(exponents + 1) % (q - 1)]
    everyone = np.arange(q)
    place, step = (side.reshape(-1) for side in np.meshgrid(everyone, np.arange(len(first)), indexing="ij"))
    within = []
    for half, generators in ((0, first), (1, second)):
        near = place + q * (everyone[:, None] + q * half)
        far = field.add[place, generators[step]] + q * (everyone[:, None] + q * half)
        # both directions are listed where −x is in X, too, as it is: once is enough
        once = near < far
        within.append(ClassLinks(near[once], far[once], 0))
    x, m, c = (side.reshape(-1) for side in np.meshgrid(everyone, everyone, everyone, indexing="ij"))
    y = field.add[field.multiply[m, x], c]
    across = ClassLinks(y + q * x, c + q * (m + q), 1)
    sites = None if terminals == 1 else terminals_of(np.arange(2 * q * q), terminals)
    return wiring_of_links(2 * q * q, [*within, across], terminals=sites)


def _translations(field: GaloisField, q: int) -> list[np.ndarray]:
    """(y, c) → (y + t, c + t); x → x + t with c → c − m t; m → m + t with y → y + t x; t of a basis of the field."""
    number = np.arange(q * q)
    y, x = number % q, number // q  # of the first half; c and m of the second
    images = []
    for t in (t for t in range(1, q) if _is_power(t, q)):
        up = field.add[y, t] + q * x
        beside = y + q * field.add[x, t]
        sheared = field.add[y, field.negative[field.multiply[x, t]]] + q * x
        tilted = field.add[y, field.multiply[x, t]] + q * x
        images += [np.append(up, up + q * q), np.append(beside, sheared + q * q), np.append(tilted, beside + q * q)]
    return [image.astype(np.int32) for image in images]


def _is_power(t: int, q: int) -> bool:
    """Whether t is 1, p, p², …: a basis of the field over its prime field, by the numbering of its elements."""
    p = next(d for d in range(2, q + 1) if q % d == 0)
    while t % p == 0:
        t //= p
    return t == 1


def _points(q: int) -> np.ndarray:
    """int64[q² + q + 1, 3]: the points of the plane, the first coordinate that is not 0 being 1."""
    a, b = (side.reshape(-1) for side in np.meshgrid(np.arange(q), np.arange(q), indexing="ij"))
    first = np.stack([np.ones_like(a), a, b], axis=1)
    second = np.stack([np.zeros(q, np.int64), np.ones(q, np.int64), np.arange(q)], axis=1)
    return np.concatenate([first, second, [[0, 0, 1]]])


def _polarfly(field: GaloisField, q: int, terminals: int) -> Wiring:
    points = _points(q)
    tails, heads = [], []
    for node, point in enumerate(points):
        product = _product(field, point, points)
        orthogonal = np.flatnonzero(product == 0)
        heads.append(orthogonal[orthogonal > node])
        tails.append(np.full(len(heads[-1]), node))
    sites = None if terminals == 1 else terminals_of(np.arange(len(points)), terminals)
    return wiring_of_links(len(points), [ClassLinks(np.concatenate(tails), np.concatenate(heads))], terminals=sites)


def _product(field: GaloisField, vector: np.ndarray, points: np.ndarray) -> np.ndarray:
    """int64[N]: the scalar product of int[3] with each of int[N, 3]."""
    x, y, z = (field.multiply[vector[i], points[:, i]] for i in range(3))
    return field.add[field.add[x, y], z]


def _rotations(field: GaloisField, q: int) -> list[np.ndarray]:
    """Exchanges of coordinates, and rotations (c, s; −s, c) with c² + s² = 1, all of which keep scalar products."""
    points, one = _points(q), np.eye(3, dtype=np.int64)
    square = field.multiply[np.arange(q), np.arange(q)]
    pairs = np.argwhere(field.add[square[:, None], square] == 1)
    turns = [(c, s) for c, s in pairs.tolist() if c > 1 and s > 0][:2]
    matrices = [one[[1, 2, 0]], one[[1, 0, 2]]]
    matrices += [np.array([[c, s, 0], [field.negative[s], c, 0], [0, 0, 1]]) for c, s in turns]
    inverse = np.argmax(field.multiply == 1, axis=1)
    images = []
    for matrix in matrices:
        moved = np.stack([_product(field, row, points) for row in matrix], axis=1)
        lead = moved[np.arange(len(moved)), np.argmax(moved != 0, axis=1)]
        x, y, z = field.multiply[moved, inverse[lead][:, None]].T
        images.append(np.where(x == 1, q * y + z, np.where(y == 1, q * q + z, q * q + q)).astype(np.int32))
    return images
