"""Every family as plain loops over addresses, from the text of its paper; shares no code with pipeline/.

Each function returns the arcs of a network as {(address, address): link class}. An address is a tuple of
digits, x first. An undirected link is two arcs. Links from a node to itself are left out.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

if TYPE_CHECKING:
    from torusweep.networks.topology import Topology

Address = tuple[int, ...]
Arcs = dict[tuple[Address, Address], int]


def torus(*sides: int, wrap: bool | tuple[bool, ...] = True, steps: tuple[int, ...] = (1, -1)) -> Arcs:
    arcs: Arcs = {}
    rings = (wrap,) * len(sides) if isinstance(wrap, bool) else wrap
    for a in product(*map(range, sides)):
        for i, step in product(range(len(sides)), steps):
            target = a[i] + step
            if rings[i] or 0 <= target < sides[i]:
                arcs[a, (*a[:i], target % sides[i], *a[i + 1 :])] = i
    return arcs


def pruned(k: int, n: int, intact: int = 1) -> Arcs:
    """P04 sec. 2: dimension-i links only where a_0 ≡ i − intact (mod n − intact), for i ≥ intact."""
    return {(a, b): i for (a, b), i in torus(*[k] * n).items() if i < intact or a[0] % (n - intact) == i - intact}


def t1(k: int) -> Arcs:
    """P98 sec. 2."""
    arcs: Arcs = {}
    for x, y, z in product(range(k), repeat=3):
        for d in (1, -1):
            arcs[(x, y, z), (x, y, (z + d) % k)] = 2
            if z % 2 == 0:
                arcs[(x, y, z), ((x + d) % k, y, z)] = 0
            else:
                arcs[(x, y, z), (x, (y + d) % k, z)] = 1
    return arcs


def t2(k: int, along_z: bool = True) -> Arcs:
    """P98 sec. 2; with along_z=False its Fig. 2 (pruned along x + y)."""
    arcs: Arcs = {}
    for x, y, z in product(range(k), repeat=3):
        d = 1 if (x + y + (z if along_z else 0)) % 2 == 0 else -1
        arcs[(x, y, z), (x, y, (z + 1) % k)] = 2
        arcs[(x, y, z), (x, y, (z - 1) % k)] = 2
        arcs[(x, y, z), ((x + d) % k, y, z)] = 0
        arcs[(x, y, z), (x, (y + d) % k, z)] = 1
    return arcs


def directed(k: int, n: int) -> Arcs:
    """P04 sec. 2: a_i + 1 where the other digits' sum is even, a_i − 1 where it is odd."""
    arcs: Arcs = {}
    for a in product(range(k), repeat=n):
        for i in range(n):
            step = 1 if (sum(a) - a[i]) % 2 == 0 else -1
            arcs[a, (*a[:i], (a[i] + step) % k, *a[i + 1 :])] = i
    return arcs


def pruned_directed(k: int, n: int) -> Arcs:
    """P04 sec. 2: the links of the directed torus that are also in the pruned torus."""
    return {arc: i for arc, i in directed(k, n).items() if i == 0 or arc[0][0] % (n - 1) == i - 1}


def rtt(a: int) -> Arcs:
    """C10 definition 5."""
    arcs: Arcs = {}

    def link(u: Address, v: Address, i: int) -> None:
        arcs[u, v] = arcs[v, u] = i

    for x, y in product(range(2 * a), range(a)):
        if x < 2 * a - 1:
            link((x, y), (x + 1, y), 0)
        if y < a - 1:
            link((x, y), (x, y + 1), 1)
    for y in range(a):
        link((0, y), (2 * a - 1, y), 0)
    for x in range(2 * a):
        link((x, 0), (x + a if x < a else x - a, a - 1), 1)
    return arcs


def ptt(a: int) -> Arcs:
    """C10 definition 8: RTT × ring."""
    arcs: Arcs = {((*u, z), (*v, z)): i for (u, v), i in rtt(a).items() for z in range(a)}
    for x, y, z in product(range(2 * a), range(a), range(a)):
        for d in (1, -1):
            arcs[(x, y, z), (x, y, (z + d) % a)] = 2
    return arcs


def pdtt(a: int) -> Arcs:
    """C10 definition 10: RTTs in the planes xy and xz."""
    arcs: Arcs = {((*u, z), (*v, z)): i for (u, v), i in rtt(a).items() for z in range(a)}
    for (u, v), i in rtt(a).items():
        if i == 1:
            for y in range(a):
                arcs[(u[0], y, u[1]), (v[0], y, v[1])] = 2
    return arcs


def twisted(sides: tuple[int, ...], twists: dict[int, dict[int, int]]) -> Arcs:
    """Step by step: a wraparound of dimension j adds its twists, each of which may wrap round in turn."""

    def forward(a: Address, j: int) -> Address:
        if a[j] < sides[j] - 1:
            return (*a[:j], a[j] + 1, *a[j + 1 :])
        a = (*a[:j], 0, *a[j + 1 :])
        for i, shift in twists.get(j, {}).items():
            for _ in range(shift):
                a = forward(a, i)
        return a

    arcs: Arcs = {}
    for a in product(*map(range, sides)):
        for j in range(len(sides)):
            arcs.setdefault((a, forward(a, j)), j)
    return {**{(v, u): j for (u, v), j in arcs.items()}, **arcs}


def lattice(matrix: list[list[int]], nodes: list[Address]) -> Arcs:
    """Vectors that differ by ± e_i modulo the columns of the matrix M: M⁻¹ · (difference ∓ e_i) is integer."""
    m = np.array(matrix)
    determinant = round(np.linalg.det(m))
    adjugate = np.rint(np.linalg.inv(m) * determinant).astype(np.int64)
    arcs: Arcs = {}
    points = np.array(nodes)
    for u, i, step in product(nodes, range(len(m)), (1, -1)):
        moved = np.array(u)
        moved[i] += step
        for hit in np.flatnonzero((((moved - points) @ adjugate.T) % determinant == 0).all(axis=1)):
            arcs.setdefault((u, nodes[hit]), i)
    return arcs


def circulant(n: int, *steps: int) -> Arcs:
    """With 1 as first step, node i is the address (i, 0, …)."""
    others = (0,) * (len(steps) - 1)
    arcs: Arcs = {}
    for i in range(n):
        for j, step in enumerate(steps):
            for to in (i + step, i - step):
                arcs.setdefault(((i, *others), (to % n, *others)), j)
    return arcs


def sequin(k: int, s: int, t: int) -> Arcs:
    arcs: Arcs = {}
    for x, y in product(range(k), repeat=2):
        right = (x + 1, y) if x < k - 1 else (0, (y + s) % k)
        up = (x, y + 1) if y < k - 1 else ((x + t) % k, 0)
        arcs[(x, y), right] = arcs[right, (x, y)] = 0
        arcs.setdefault(((x, y), up), 1)
        arcs.setdefault((up, (x, y)), 1)
    return arcs


def ccc(n: int) -> Arcs:
    arcs: Arcs = {}
    for place, *bits in product(range(n), *[range(2)] * n):
        for d in (1, -1):
            arcs[(place, *bits), ((place + d) % n, *bits)] = 0
        flipped = [bit ^ (i == place) for i, bit in enumerate(bits)]
        arcs[(place, *bits), (place, *flipped)] = 1
    return arcs


def hierarchy(m: int, n: int, levels: int, q: int, wrap: bool) -> Arcs:
    """R05 sec. 2, with the corners (a_y, a_x) of level i in the order of mh3dt. Digits: x, y, z of each level."""
    corners = [(0, 0), (0, m - 1), (m - 1, 0), (m - 1, m - 1)]
    arcs: Arcs = {}
    for a in product(*[range(m)] * 3, *[range(n)] * (3 * (levels - 1))):
        for i, d in product(range(3), (1, -1)):
            if wrap or 0 <= a[i] + d < m:
                arcs[a, (*a[:i], (a[i] + d) % m, *a[i + 1 :])] = i
        for level in range(2, levels + 1):
            mine = corners[(level - 2) * 2**q : (level - 1) * 2**q]
            if (a[1], a[0]) in mine and a[2] <= 2:
                digit = 3 * (level - 1) + {0: 2, 1: 1, 2: 0}[a[2]]  # plane 0: z links, 1: y, 2: x
                for d in (1, -1):
                    arcs[a, (*a[:digit], (a[digit] + d) % n, *a[digit + 1 :])] = digit
    return arcs


def tesh(levels: int) -> Arcs:
    """4 × 4 mesh modules; gates (a_y, a_x): V3 (0,0), H3 (0,3), V2 (3,0), H2 (3,3). Digits: x, y of each level."""
    leads = {(0, 0): (3, "V"), (0, 3): (3, "H"), (3, 0): (2, "V"), (3, 3): (2, "H")}
    arcs: Arcs = {}
    for a in product(range(4), repeat=2 * levels):
        for i, d in product(range(2), (1, -1)):
            if 0 <= a[i] + d < 4:
                arcs[a, (*a[:i], a[i] + d, *a[i + 1 :])] = i
        level, direction = leads.get((a[1], a[0]), (99, ""))
        if level <= levels:
            digit = 2 * (level - 1) + (1 if direction == "V" else 0)
            for d in (1, -1):
                arcs[a, (*a[:digit], (a[digit] + d) % 4, *a[digit + 1 :])] = digit
    return arcs


def arcs_of(topology: Topology) -> Arcs:
    """The arcs of a built network in the same form."""
    addresses = list(map(tuple, topology.addresses().tolist()))
    tail, head, port = topology.arcs
    arcs = {
        (addresses[u], addresses[v]): c
        for u, v, c in zip(tail.tolist(), head.tolist(), topology.link_class[tail, port].tolist())
    }
    assert len(arcs) == len(tail), "two links between the same two nodes"
    return arcs


# --- breadth-first search by SciPy -------------------------------------------------------------------


def distances(ports: np.ndarray, sources: list[int] | np.ndarray) -> np.ndarray:
    """float[S, N]: hops from every source, inf if there is no path (SciPy)."""
    tail, port = np.nonzero(ports >= 0)
    n = len(ports)
    graph = csr_array((np.ones(len(tail)), (tail, ports[tail, port])), shape=(n, n))
    return shortest_path(graph, method="D", unweighted=True, indices=sources)
