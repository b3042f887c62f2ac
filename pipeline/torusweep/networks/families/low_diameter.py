"""Networks of low diameter: completely joined rows, graphs close to the Moore bound, random graphs.

Slim Fly and PolarFly have diameter two and nearly as many nodes as their degree allows. In HyperX, Hamming graphs and
networks with other names for them, all nodes of a row are joined to each other. Random regular graphs, Jellyfish and
Xpander are drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.families.algebra import GaloisField, check_order, finite_field
from torusweep.networks.families.wiring import (
    ClassLinks,
    Drawn,
    Terminals,
    class_names,
    digit,
    neighbour,
    swap,
    terminals_of,
    validate_radices,
    wiring,
    wiring_of_links,
)
from torusweep.networks.topology import Meaning, Plan, Whole, Wiring, require

Radix = Annotated[int, Whole(2, "routers in each row of a dimension")]
Radices = Annotated[list[Radix], Meaning("routers along each dimension, x first; at most 30, each ≥ 2")]
Widths = Annotated[list[int] | None, Meaning("parallel links between two routers, for each dimension; by default 1")]

SPECTRAL = (
    "N λ₂/4 links at least cross a bisection (Fiedler 1975); λ₂ is the least of side × width, and halving that"
    " dimension cuts as many"
)
MOST = 256  # largest number of elements of the field: 131,072 and 65,793 nodes
ATTEMPTS = 100  # largest number of graphs drawn until one is connected
ROUNDS = 10_000  # rounds in which loops and second links are joined again
MIXED = 8  # at least this number of other links is taken apart with them


@dataclass(frozen=True)
class Hamming:
    """The structure of a Hamming graph: its sides, x first."""

    sides: tuple[int, ...]


def hyperx(radices: Radices, terminals: Terminals = 1, widths: Widths = None) -> Plan:
    """HyperX: routers that differ in one digit are joined, by as many links as the width of that dimension.

    Constraint: widths has as many values as radices, each ≥ 1.
    Source: Ahn et al. 2009, sec. 2 (L dimensions, S = radices, K = widths, T = terminals).
    """
    sides = validate_radices(radices)
    wide = tuple([1] * len(sides) if widths is None else widths)
    require(
        len(wide) == len(sides) and 1 <= min(wide) <= max(wide) < 2**31,
        "widths",
        list(wide),
        f"{len(sides)} values of 1 … 2³¹ − 1, as many as radices",
        "each dimension has one",
    )
    kinds = list(zip(sides, wide))
    least = min(kinds, key=lambda kind: (kind[0] * kind[1], kind[0] % 2))
    even = least[0] % 2 == 0
    return Plan(
        nodes=prod(sides),
        degree=sum(side - 1 for side in sides),
        radices=sides,
        wire=lambda: _wire(sides, wide, terminals),
        symmetries=lambda: _symmetries(kinds),
        bisection=prod(sides) * least[0] * least[1] // 4 if even else None,
        bisection_source=SPECTRAL if even else "",
        classes=class_names(len(sides)),
        structure=Hamming(sides),
        joined=True,
        terminals=prod(sides) * terminals,
    )


def hamming(radices: Radices) -> Plan:
    """Hamming graph: nodes that differ in one digit are joined. It is the HyperX with one terminal per router.

    Source: Hamming 1950; as an interconnection network, Bhuyan & Agrawal 1984.
    """
    return hyperx(radices)


def generalised_hypercube(radices: Radices) -> Plan:
    """Generalised hypercube: another name for the Hamming graph.

    Source: Bhuyan & Agrawal 1984, sec. II.
    """
    return hyperx(radices)


def full_mesh(radices: Radices, terminals: Terminals = 1) -> Plan:
    """nD full mesh: in each dimension, all routers of a row are joined. Another name for the HyperX of width 1.

    Source: Liao et al. 2025, UB-Mesh, sec. 3.
    """
    return hyperx(radices, terminals)


def _wire(sides: Sequence[int], widths: Sequence[int], terminals: int) -> Wiring:
    columns, classes, wide = [], [], []
    for dimension, side in enumerate(sides):
        for step in range(1, side):
            columns.append(neighbour(sides, dimension, step))
            classes.append(dimension)
            wide.append(widths[dimension])
    plain = wiring(columns, classes)
    capacity = np.broadcast_to(np.array(wide, np.int32), plain.ports.shape).copy() if max(wide) > 1 else None
    nodes = np.arange(prod(sides), dtype=np.int32)
    return plain._replace(capacity=capacity, terminals=None if terminals == 1 else terminals_of(nodes, terminals))


def _symmetries(kinds: Sequence[tuple[int, int]]) -> list[np.ndarray]:
    """Return generators of all symmetries: rotated digits of a dimension, exchanged digits, exchanged dimensions."""
    sides = [side for side, _ in kinds]
    first = [i for i, kind in enumerate(kinds) if kind not in kinds[:i]]
    nodes = np.arange(prod(sides), dtype=np.int32).reshape(tuple(reversed(sides)))
    exchanged = []
    for i in first:
        if sides[i] > 2:
            step = np.array([1, -1, *[0] * (sides[i] - 2)], np.int32)[digit(sides, i)]
            exchanged.append((nodes + step * prod(sides[:i])).astype(np.int32).reshape(-1))
    turned = [neighbour(sides, i, 1).reshape(-1) for i in first]
    swapped = [swap(sides, kinds.index(kind), i) for i, kind in enumerate(kinds) if kind in kinds[:i]]
    return [*turned, *exchanged, *swapped]


Order = Annotated[int, Whole(2, "order of the field: a power of a prime", maximum=MOST)]


def slim_fly(q: Order, terminals: Terminals = 1) -> Plan:
    """Slim Fly: the McKay–Miller–Širáň graph of 2q² routers, degree (3q − δ)/2, diameter 2, where q = 4w + δ.

    Digits: y, x, s. In GF(q), router (0, x, y) is joined to (0, x, y′) if y − y′ is in X, (1, m, c) to (1, m, c′) if
    c − c′ is in X′, and (0, x, y) to (1, m, c) if y = m x + c. Let ξ be a primitive element. If δ = 1, X has the even
    powers of ξ, and X′ the odd powers. If δ = 0, X = {1, ξ², …, ξ^(q−2)}, and X′ = {ξ, ξ³, …, ξ^(q−1)}. If δ = −1,
    X = {1, ξ², …, ξ^(2w−2), ξ^(2w−1), ξ^(2w+1), …, ξ^(4w−3)}, and X′ = ξ X.

    Constraint: q is a power of a prime, at least 3, and not 2 more than a multiple of 4.
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
        joined=True,
        terminals=2 * q * q * terminals,
    )


def polarfly(q: Order, terminals: Terminals = 1) -> Plan:
    """PolarFly: the Erdős–Rényi graph ER_q. Its nodes are the q² + q + 1 points of the plane over GF(q).

    Orthogonal points are joined. A point is (1, a, b), (0, 1, a) or (0, 0, 1), numbered in this order. The q + 1 points
    that are orthogonal to themselves have q links, all others have q + 1. The diameter is 2.

    Constraint: q is a power of a prime.
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
        joined=True,
        terminals=nodes * terminals,
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
    """Return three symmetries for each t of a basis of GF(q), each of which translates a coordinate by t.

    They map (y, c) to (y + t, c + t); (x, c) to (x + t, c − m t); and (m, y) to (m + t, y + t x).
    """
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
    """Return whether t is 1, p, p², …; these elements form a basis of GF(q) over its prime field GF(p)."""
    p = next(d for d in range(2, q + 1) if q % d == 0)
    while t % p == 0:
        t //= p
    return t == 1


def _points(q: int) -> np.ndarray:
    """int64[q² + q + 1, 3]: the points of the plane; the first nonzero coordinate of each point is 1."""
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
    """int64[N]: the scalar product, over the field, of a vector int[3] with each of the points int[N, 3]."""
    x, y, z = (field.multiply[vector[i], points[:, i]] for i in range(3))
    return field.add[field.add[x, y], z]


def _rotations(field: GaloisField, q: int) -> list[np.ndarray]:
    """Return symmetries that keep scalar products: exchanges of coordinates, and rotations (c, s; −s, c)."""
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


Nodes = Annotated[int, Whole(2, "nodes")]
Degree = Annotated[int, Whole(1, "links of each router to other routers")]
Switches = Annotated[int, Whole(2, "switches")]
Ports = Annotated[int, Whole(2, "ports of each switch, including those for terminals")]
Lift = Annotated[int, Whole(1, "copies of each node of the complete graph")]
Seed = Annotated[int, Whole(0, "seed of the random choice")]


Ends = tuple[np.ndarray, np.ndarray]


def random_regular(nodes: Nodes, degree: Degree, seed: Seed = 0) -> Plan:
    """Connected random graph in which every node has the same number of links.

    The ends of links are joined in random pairs. Loops and second links are taken apart, together with at least
    as many other links, and joined again at random. A graph that is not connected is drawn again.

    Constraints: nodes × degree even, degree < nodes.
    Source: random numbers of Philox4x64 (Salmon et al. 2011), keyed by the seed; Bollobás 1980 (pairing).
    """
    return _regular(nodes, degree, 1, seed, name="nodes")


def jellyfish(switches: Switches, ports: Ports, degree: Degree, seed: Seed = 0) -> Plan:
    """Jellyfish: a random regular graph of switches. Each switch uses its other ports − degree ports for terminals.

    Constraints: switches × degree even, degree < switches, degree < ports.
    Source: Singla et al. 2012, sec. 3.
    """
    require(degree < ports, "degree", degree, f"fewer than the {ports} ports", "a switch has a terminal")
    return _regular(switches, degree, ports - degree, seed, name="switches")


def xpander(degree: Degree, lift: Lift, terminals: Terminals = 1, seed: Seed = 0) -> Plan:
    """Xpander: a connected random lift of the complete graph of degree + 1 nodes.

    Digits: the copy, then the node of the complete graph. For any two nodes of the complete graph, the copies of one
    are joined one to one, at random, to the copies of the other.
    Source: Valadarsky et al. 2016, sec. 3.
    """
    nodes = (degree + 1) * lift

    def draw(attempt: int) -> list[ClassLinks]:
        low, high = np.triu_indices(degree + 1, 1)
        words = _words(len(low) * lift, seed, attempt).reshape(len(low), lift)
        partner = np.argsort(words, axis=1, kind="stable")
        tail, head = np.arange(lift) + lift * low[:, None], partner + lift * high[:, None]
        return [ClassLinks(tail.reshape(-1), head.reshape(-1))]

    return Plan(
        nodes=nodes,
        degree=degree,
        radices=(lift, degree + 1),
        wire=Drawn(nodes, draw, ATTEMPTS, sites(nodes, terminals)),
        classes=("link",),
        joined=True,
        terminals=nodes * terminals,
    )


def _regular(nodes: int, degree: int, terminals: int, seed: int, *, name: str) -> Plan:
    require(degree < nodes, "degree", degree, f"fewer than the {nodes} {name}", "there are no second links")
    require(nodes * degree % 2 == 0, name, nodes, "an even number, or an even degree", "each link has two ends")
    return Plan(
        nodes=nodes,
        degree=degree,
        radices=(nodes,),
        wire=Drawn(
            nodes,
            lambda attempt: [ClassLinks(*_draw_regular(nodes, degree, seed, attempt))],
            ATTEMPTS,
            sites(nodes, terminals),
        ),
        classes=("link",),
        joined=True,
        terminals=nodes * terminals,
    )


def sites(nodes: int, terminals: int) -> Callable[[], np.ndarray] | None:
    """Return a function that returns int32[T], the nodes of `terminals` terminals each; None for one at every node."""
    return None if terminals == 1 else lambda: terminals_of(np.arange(nodes), terminals)


def _draw_regular(nodes: int, degree: int, seed: int, attempt: int) -> Ends:
    """Draw the links of a random regular graph: (tail int64[L], head int64[L]), tail < head."""
    if degree > (nodes - 1) // 2:  # too dense to pair: the links that a random graph does not have
        low, high = np.triu_indices(nodes, 1)
        tail, head = _draw_sparse(nodes, nodes - 1 - degree, seed, attempt)
        kept = ~np.isin(low * nodes + high, tail * nodes + head)
        return low[kept], high[kept]
    return _draw_sparse(nodes, degree, seed, attempt)


def _draw_sparse(nodes: int, degree: int, seed: int, attempt: int) -> Ends:
    ends: np.ndarray = np.repeat(np.arange(nodes), degree)
    ends = ends[np.argsort(_words(len(ends), seed, attempt), kind="stable")].reshape(-1, 2)
    for again in range(1, ROUNDS):
        key = ends.min(axis=1) * nodes + ends.max(axis=1)
        order = np.argsort(key, kind="stable")
        wrong = ends[:, 0] == ends[:, 1]
        wrong[order[1:]] |= key[order[1:]] == key[order[:-1]]
        apart = np.flatnonzero(wrong)
        if not len(apart):
            return ends.min(axis=1), ends.max(axis=1)
        words = _words(len(apart) * 4 + 4 * MIXED + len(ends), seed, attempt, again)
        others = np.argsort(words[: len(ends)], kind="stable")[: max(MIXED, len(apart))]
        mixed = np.union1d(apart, others)
        loose = ends[mixed].reshape(-1)
        ends[mixed] = loose[np.argsort(words[-len(loose) :], kind="stable")].reshape(-1, 2)
    raise BadInput(f"found no graph of {nodes} nodes and degree {degree}; choose another seed")


def _words(number: int, seed: int, attempt: int, again: int = 0) -> np.ndarray:
    """uint64[number]: random words. Each attempt and each round (`again`) has its own random stream."""
    return np.random.Philox(key=[seed, attempt << 32 | again]).random_raw(number)
