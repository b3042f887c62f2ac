"""Lower and upper bounds of the bisection width.

The bisection width is the least number of channels from one half of the network (⌊N/2⌋ nodes) to the other. A
bidirectional link counts once; in a directed network, the direction with fewer channels counts. Channels count with
their capacities.

The lower bound follows from the second eigenvalue of the network's Laplacian, which is found by means of
translations: a proved abelian group of automorphisms without fixed points. In tori, twisted tori and lattices the
group has one orbit. In pruned, hierarchical and other periodic networks, each node of a cell has its own orbit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from torusweep.networks.cuts import best_cut, whole_width
from torusweep.networks.links import strengths
from torusweep.networks.symmetry import is_automorphism
from torusweep.networks.topology import Topology, addresses, node_index
from torusweep.quantities import counted

BLOCK_WORK = 1 << 30  # largest sum of the cubed sizes of all blocks: a few seconds
# A network without translations is one block. With more nodes than DENSE_NODES and a mean degree up to
# SPARSE_DEGREE, a sparse factorisation usually takes less time (a fifth at 1,000 nodes), and MARGIN lowers the bound
# by far less than a link
DENSE_NODES = 448
SPARSE_DEGREE = 12
BLOCK_BYTES = 1 << 27  # memory of the blocks solved at a time
# a factorisation up to these limits takes a few seconds even without small separators
INERTIA_NODES = 8_192
INERTIA_CHANNELS = 65_536
CHOLESKY_NODES = 4_096  # a dense factorisation takes a second, and 270 MB
LANCZOS_RESTARTS = 300  # if they do not suffice, the eigenvalue is tiny and its bound useless
FEW_RESTARTS = 40  # if they do not suffice, solving the dense block takes less time
MARGIN = 1e-6  # relative distance by which the bound to prove lies below the value from Lanczos
EPSILON = float(np.finfo(float).eps)
BY_BLOCKS = "spectral (all eigenvalues, {} of {:,})"


@dataclass(frozen=True, eq=False)
class Translations:
    """An abelian group of automorphisms without fixed points, and its orbits.

    grid     int32[C, A]: the image of the origin of cell c under element a; every node occurs once. Elements are
             numbered by the exponents of the generators; the first generator's exponent varies fastest.
    orders   for each generator, its least power that lies in the group of the preceding generators
    powers   for each generator, the number of the element that equals this power
    """

    grid: np.ndarray
    generators: tuple[np.ndarray, ...] = ()
    orders: tuple[int, ...] = ()
    powers: tuple[int, ...] = ()

    def place(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the cell and the element of every node, both int64[N]."""
        cells, elements = self.grid.shape
        position = np.empty(cells * elements, np.int64)
        position[self.grid.ravel()] = np.arange(cells * elements)
        return position // elements, position % elements

    def exponents(self, elements: np.ndarray) -> np.ndarray:
        """Return the exponents of the generators, int64[…, generators], in the given elements, int64[…]."""
        columns, rest = [], elements
        for order in self.orders:
            columns.append(rest % order)
            rest = rest // order
        return np.stack(columns, axis=-1) if columns else np.zeros((*elements.shape, 0), np.int64)

    def characters(self) -> np.ndarray:
        """Return the angle of each generator under each character, int64[A, generators], in 1/A turns from 0 to A − 1.

        Up to whole turns, a generator's angle times its order is the angle of the element that the power equals.
        All angles are multiples of 1/A turn; angles of elements of the preceding generators are multiples of order/A.
        """
        elements = self.grid.shape[1]
        angles = np.zeros((elements, len(self.orders)), np.int64)
        whole = self.exponents(np.arange(elements))
        for k, (order, power) in enumerate(zip(self.orders, self.powers)):
            becomes = self.exponents(np.array(power))[:k]
            angles[:, k] = (angles[:, :k] @ becomes % elements + elements * whole[:, k]) // order
        return angles


def translations(topology: Topology, images: Sequence[np.ndarray]) -> Translations:
    """Find a large group of translations greedily, from proved automorphisms (`images`) and cyclic shifts of digits."""
    group = _greedy(topology.nodes, images)
    if len(group.grid) > 1:
        shifted = _greedy(topology.nodes, [*_digit_shifts(topology), *images])
        group = min(group, shifted, key=lambda found: len(found.grid))
    return group


def _greedy(nodes: int, images: Sequence[np.ndarray]) -> Translations:
    group = Translations(np.arange(nodes, dtype=np.int32)[:, None])
    for image in images:
        group = _enlarge(group, image) or group
    return group


def _digit_shifts(topology: Topology) -> Iterator[np.ndarray]:
    """Yield, for every digit of the address, the smallest cyclic shift that is an automorphism, if there is one."""
    bare = replace(topology, terminals=np.arange(topology.nodes, dtype=np.int32))
    radices = topology.plan.radices
    digits = addresses(radices)
    for dimension, radix in enumerate(radices):
        for step in (step for step in range(1, radix // 2 + 1) if radix % step == 0):
            shifted = digits.copy()
            shifted[:, dimension] += step
            image = node_index(shifted, radices)
            if is_automorphism(bare, image):
                yield image
                break


def _enlarge(group: Translations, image: np.ndarray) -> Translations | None:
    """Return the group enlarged by a permutation; None if it adds nothing, or if the result is not abelian and free."""
    if any(not np.array_equal(image[other], other[image]) for other in group.generators):
        return None
    cells, elements = group.grid.shape
    cell, element = group.place()
    origins = group.grid[:, 0]
    step = scipy.sparse.coo_array(
        (np.ones(cells, np.int8), (np.arange(cells), cell[image[origins]])), shape=(cells, cells)
    )
    cycles, label = scipy.sparse.csgraph.connected_components(step, directed=False)
    order = cells // cycles
    power = element[_power(image, order)[origins]]
    if order == 1 or (np.bincount(label) != order).any() or (power != power[0]).any():
        return None
    # the images of one cell of each cycle under powers of the permutation, doubled until complete
    grid, stride = group.grid[np.unique(label, return_index=True)[1]], image
    while grid.shape[1] < order * elements:
        grid = np.concatenate([grid, stride[grid]], axis=1)
        stride = stride[stride]
    return Translations(
        np.ascontiguousarray(grid[:, : order * elements]),
        (*group.generators, image),
        (*group.orders, order),
        (*group.powers, int(power[0])),
    )


def _power(image: np.ndarray, exponent: int) -> np.ndarray:
    """Return the permutation `image` to the power of `exponent`."""
    result = np.arange(len(image))
    while exponent:
        if exponent % 2:
            result = image[result]
        image = image[image]
        exponent //= 2
    return result


def second_eigenvalue(
    topology: Topology, undirected: scipy.sparse.csr_array, images: Sequence[np.ndarray]
) -> tuple[float | None, str]:
    """Return a proved lower bound of λ₂ of the Laplacian, and its method; (None, reason) if no bound was found.

    undirected   int64[N, N] symmetric weights
    images       proved automorphisms. Translations among them decompose the Laplacian into a small Hermitian block for
                 each character of the group, and every block is solved. For a lattice torus, a block is the single
                 number 2·Σ(1 − cos). Without translations, the whole Laplacian is one block: it is solved only if it is
                 small or dense, or if a sparse factorisation gives no proof.
    """
    group = translations(topology, images)
    cells, characters = group.grid.shape
    if characters * cells**3 <= BLOCK_WORK:
        if characters == 1 and cells > DENSE_NODES and undirected.data.sum() <= SPARSE_DEGREE * cells:
            proved, method = _bound_by_inertia(undirected, FEW_RESTARTS)
            if proved is not None:
                return proved, method
        return _least_of_blocks(undirected, group), BY_BLOCKS.format(counted(characters, "block"), cells)
    if topology.nodes <= INERTIA_NODES and undirected.nnz <= INERTIA_CHANNELS:
        return _bound_by_inertia(undirected, LANCZOS_RESTARTS)
    if topology.nodes <= CHOLESKY_NODES:
        return _bound_by_cholesky(undirected)
    limits = f"more than {INERTIA_NODES:,} nodes or {INERTIA_CHANNELS:,} channels"
    return None, f"no spectral bound: blocks of {cells:,} nodes, and {limits}"


def without_error(least: Any, degree: Any, cells: int, channels: Any) -> Any:
    """Subtract the possible rounding error (see `_least_of_blocks`) from eigenvalues; the result is at least 0."""
    return np.maximum(0.0, least - 2 * degree * (cells + channels + 5) * EPSILON)


def _least_of_blocks(undirected: scipy.sparse.csr_array, group: Translations) -> float:
    """Return a lower bound of λ₂, the least eigenvalue of the characters' Hermitian blocks.

    On functions f(a·origin of c) = χ(a) v_c, the Laplacian acts on v as the block of character χ. The possible rounding
    error is subtracted. In units of a block's norm (at most twice the degree), it is `cells` units for the eigenvalues,
    and for the entries one unit per channel and 5 per phase.
    """
    cells, elements = group.grid.shape
    cell, element = group.place()
    rows = undirected[group.grid[:, 0]].tocoo()
    degree = np.bincount(rows.row, rows.data, cells)
    if elements == 1:
        block = np.diag(degree)
        np.subtract.at(block, (rows.row, cell[rows.col]), rows.data)
        values = [np.linalg.eigvalsh(block)[None, :2]]
    else:
        values = _eigenvalues_by_character(rows, cell, element, degree, group)
    # the trivial character comes first; its first eigenvalue is 0, for the constant function
    trivial, others = values[0][0, 1:], [block[:, 0] for block in (values[0][1:], *values[1:])]
    least = np.concatenate([trivial, *others]).min()
    channels = int(np.bincount(rows.row, minlength=cells).max(initial=0))
    return float(without_error(least, degree.max(), cells, channels))


def _eigenvalues_by_character(
    rows: Any, cell: np.ndarray, element: np.ndarray, degree: np.ndarray, group: Translations
) -> list[np.ndarray]:
    """Return the two least eigenvalues of each character's block, float64[·, 2], with the trivial character first.

    rows           channels that leave the origins of cells, int64[C, N] in coordinates
    cell, element  cell and element of every node, int64[N] (Translations.place)
    degree         float64[C], number of channels that leave each origin
    """
    cells, elements = group.grid.shape
    steps = group.exponents(element[rows.col])
    characters = _one_of_each_pair(group.characters(), elements)
    values = []
    chunk = max(1, BLOCK_BYTES // (16 * cells * cells))
    for start in range(0, len(characters), chunk):
        part = characters[start : start + chunk]
        blocks = np.zeros((len(part), cells, cells), np.complex128)
        blocks[:, np.arange(cells), np.arange(cells)] = degree
        for origin, head_cell, step, weight in zip(rows.row, cell[rows.col], steps, rows.data):
            # turns are integers, and at most half a turn, so that the phase is accurate to the last digits
            turns = (part @ step + elements // 2) % elements - elements // 2
            blocks[:, origin, head_cell] -= weight * np.exp(2j * np.pi / elements * turns)
        values.append(np.linalg.eigvalsh(blocks)[:, :2])
    return values


def _one_of_each_pair(characters: np.ndarray, elements: int) -> np.ndarray:
    """Keep one character of each pair of complex conjugates (equal eigenvalues), chosen by its first non-real value."""
    imaginary = np.where(2 * characters % elements == 0, 0, np.where(2 * characters < elements, 1, -1))  # its sign
    imaginary = np.pad(imaginary, ((0, 0), (0, 1)))
    first = (imaginary != 0).argmax(axis=1)
    return characters[imaginary[np.arange(len(characters)), first] >= 0]


def _bound_by_inertia(undirected: scipy.sparse.csr_array, restarts: int) -> tuple[float | None, str]:
    """Return a bound just below λ₂ and its method: found by Lanczos iteration, proved by Sylvester's law of inertia.

    The Laplacian minus σ has as many negative eigenvalues as D in L D Lᵀ has negative pivots. If the only negative
    pivot belongs to the constant function, λ₂ ≥ σ. The row sums of the factorisation's error are at most n units of
    |L||U| (Higham 2002, Theorem 9.3) plus |L||U − D Lᵀ|; the result is σ minus this error.
    """
    ritz = _lanczos(undirected, restarts)
    if ritz is None:
        return None, "no spectral bound: Lanczos did not converge"
    n = undirected.shape[0]
    weights = undirected.astype(float)
    degree = weights.sum(axis=1)
    sigma = ritz * (1 - MARGIN)
    shifted = scipy.sparse.csc_array(scipy.sparse.diags_array(degree - sigma) - weights)
    try:
        factors = scipy.sparse.linalg.splu(
            shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True, "Equil": False}
        )
    except RuntimeError:  # a pivot is exactly 0
        return None, "no spectral bound: a pivot is 0"
    if not np.array_equal(factors.perm_r, factors.perm_c):
        return None, "no spectral bound: pivots off the diagonal"
    pivots = factors.U.diagonal()
    lower, upper = abs(factors.L), abs(factors.U)
    asymmetry = abs(factors.U - scipy.sparse.csc_array(scipy.sparse.diags_array(pivots) @ factors.L.T))
    # doubled to cover the rounding errors of these sums, of degree − σ and of pivots times Lᵀ
    error = (
        2 * float((lower @ (n * EPSILON * upper.sum(axis=1) + asymmetry.sum(axis=1))).max())
        + 2 * degree.max() * EPSILON
    )
    if (pivots < 0).sum() != 1 or not error < sigma:
        return None, "no spectral bound: its proof failed on rounding"
    return sigma - error, "spectral (Lanczos, proved by inertia)"


def _bound_by_cholesky(undirected: scipy.sparse.csr_array) -> tuple[float | None, str]:
    """Return (lower bound, method) for a network with many channels, proved on the dense matrix.

    M = Laplacian − σ + c/n (all entries) is positive definite if σ < λ₂, because c > σ lifts the constant function.
    A Cholesky factorisation that succeeds is exact for a matrix within (n+1) units of trace(M) of M (Higham 2002,
    Theorem 10.3, and ‖|Rᵀ||R|‖ ≤ ‖R‖²_F); the result is σ minus this error.
    """
    ritz = _lanczos(undirected, LANCZOS_RESTARTS)
    if ritz is None:
        return None, "no spectral bound: Lanczos did not converge"
    n = undirected.shape[0]
    degree = np.asarray(undirected.sum(axis=1), dtype=np.float64)
    sigma, lift = ritz * (1 - MARGIN), 2 * float(degree.max())  # λ₂ is at most n/(n−1) times the least degree
    matrix = undirected.toarray().astype(np.float64)
    np.subtract(lift / n, matrix, out=matrix)
    matrix[np.diag_indices(n)] += degree - sigma
    # doubled to cover the rounding error of the trace; the last term is the error of the entries
    error = 2 * (n + 1) * EPSILON * float(np.trace(matrix)) + 8 * EPSILON * (lift + 2 * float(degree.max()))
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None, "no spectral bound: its proof failed on rounding"
    return max(0.0, sigma - error), "spectral (Lanczos, proved by Cholesky)"


def _lanczos(undirected: scipy.sparse.csr_array, restarts: int) -> float | None:
    """Return the Rayleigh quotient, ≥ λ₂, of a vector orthogonal to the constant function; None without convergence."""
    n = undirected.shape[0]
    weights = undirected.astype(float)
    degree = weights.sum(axis=1)
    top = 2 * degree.max()

    def laplacian(x: np.ndarray) -> np.ndarray:
        return degree * x - weights @ x

    def reversed_spectrum(x: np.ndarray) -> np.ndarray:
        x = x.ravel()
        return top * (x - x.mean()) - laplacian(x)

    start = np.random.Generator(np.random.Philox(0)).standard_normal(n)
    operator = scipy.sparse.linalg.LinearOperator((n, n), matvec=reversed_spectrum, dtype=np.float64)
    try:
        _, vectors = scipy.sparse.linalg.eigsh(
            operator, k=1, which="LA", v0=start - start.mean(), tol=1e-10, maxiter=restarts
        )
    except scipy.sparse.linalg.ArpackNoConvergence:
        return None
    vector = vectors[:, 0] - vectors[:, 0].mean()
    vector /= np.linalg.norm(vector)
    return float(vector @ laplacian(vector))


class Bisection(NamedTuple):
    """Bounds of the bisection width in links, and their methods. `lower` is None if no lower bound was found."""

    lower: int | None
    upper: int
    method: str


def bisection_bounds(
    topology: Topology, matrix: scipy.sparse.csr_array, images: Sequence[np.ndarray], *, edge_connectivity: int | None
) -> Bisection:
    """Return bounds of the bisection width. Both are exact if the plan has a theorem.

    matrix   channels, int64[N, N] (links.channel_matrix)
    images   proved automorphisms (symmetry.proved_symmetries)
    edge_connectivity   a lower bound of every cut, or None
    """
    if topology.plan.bisection is not None:
        exact = topology.plan.bisection
        return Bisection(exact, exact, f"exact: {topology.plan.bisection_source}")
    if topology.nodes < 2:
        return Bisection(0, 0, "exact: a single node")
    undirected = scipy.sparse.csr_array(matrix + matrix.T) if topology.directed else matrix
    upper, _, upper_method = best_cut(topology, matrix, undirected)
    if upper == 0:
        return Bisection(0, 0, f"exact: no link crosses ({upper_method})")
    lower, lower_method = lower_bound(topology, matrix, undirected, images)
    return both_bounds(lower, lower_method, upper, upper_method, edge_connectivity)


def both_bounds(
    lower: int | None, lower_method: str, upper: int, upper_method: str, edge_connectivity: int | None
) -> Bisection:
    """Combine the spectral bound (None: not found), the bound of a cut, and the edge connectivity (None: unknown)."""
    if lower is not None and lower > upper:  # the cut is exact; the eigenvalue has a rounding error
        lower, lower_method = None, f"no spectral bound: {lower:,} contradicts the cut"
    if edge_connectivity is not None and (lower is None or edge_connectivity > lower):
        lower, lower_method = edge_connectivity, "edge connectivity"
    return Bisection(lower, upper, f"lower: {lower_method}; upper: {upper_method}")


def lower_bound(
    topology: Topology, matrix: scipy.sparse.csr_array, undirected: scipy.sparse.csr_array, images: Sequence[np.ndarray]
) -> tuple[int | None, str]:
    """Return (spectral lower bound of the bisection width, method); (None, reason) if no eigenvalue was computed.

    A cut of S and N − S nodes has at least λ₂·S(N−S)/N links, where λ₂ is the second eigenvalue of the Laplacian
    (Fiedler 1973; Mohar 1989). In a directed network this bounds the sum of both directions. The two directions differ
    by at most the nodes' surplus of leaving over entering channels.
    """
    half, n = topology.nodes // 2, topology.nodes
    second, method = second_eigenvalue(topology, undirected, images)
    if second is None:
        return None, method
    width = second * half * (n - half) / n
    if topology.directed:
        leaving, entering = strengths(matrix)
        surplus = int(np.maximum(leaving - entering, 0).sum())
        width = (width - surplus) / 2
    return whole_width(width), method
