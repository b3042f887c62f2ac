"""The second eigenvalue of a network's Laplacian, from below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array

from torusweep.networks.topology import Topology
from torusweep.stages.static.translations import Translations, translations

BLOCK_WORK = 1 << 30  # sum of the cubed sizes of all blocks: a few seconds
DENSE_NODES = 448  # a network without translations is one block: from here on a sparse factorisation mostly takes less time, at 1,000 nodes a fifth,
SPARSE = 12  # where a node has so many links at most; a millionth (ASIDE) of all that a cut may have is then far less than a link
BLOCK_BYTES = 1 << 27  # memory of the blocks that are solved at a time
INERTIA_NODES = 8_192  # a factorisation of so many nodes …
INERTIA_CHANNELS = 65_536  # … and channels takes some seconds even where there are no small separators
LANCZOS_RESTARTS = 300  # where they do not suffice, the eigenvalue is tiny and its bound worthless …
FEW_RESTARTS = 40  # … or, where the block can be solved, that takes less time
ASIDE = 1e-6  # relative; the bound is tried so far below the value that Lanczos found
EPSILON = float(np.finfo(float).eps)


def second_eigenvalue(
    topology: Topology, undirected: csr_array, images: Sequence[np.ndarray]
) -> tuple[float | None, str]:
    """(a proved lower bound of λ₂ of the Laplacian, how it was found); (None, why) where it was not.

    undirected   int64[N, N] symmetric weights
    images       proved automorphisms; the translations among them cut the Laplacian into one small
                 Hermitian block for each character of the group, all of which are solved (for a
                 lattice torus a block is one number, 2·Σ(1 − cos)). Without any the block is the whole, and
                 solved only where it is small or dense, or a sparse factorisation proves nothing.
    """
    group = translations(topology, images)
    cells, characters = group.grid.shape
    if characters * cells**3 <= BLOCK_WORK:
        if characters == 1 and cells > DENSE_NODES and undirected.data.sum() <= SPARSE * cells:
            proved, how = _by_inertia(undirected, FEW_RESTARTS)
            if proved is not None:
                return proved, how
        exact = _least_of_blocks(undirected, group)
        return exact, f"spectral (all eigenvalues, {characters:,} block{'' if characters == 1 else 's'} of {cells:,})"
    if topology.nodes <= INERTIA_NODES and undirected.nnz <= INERTIA_CHANNELS:
        return _by_inertia(undirected, LANCZOS_RESTARTS)
    return (
        None,
        f"no spectral bound: blocks of {cells:,} nodes, and more than {INERTIA_NODES:,} nodes or {INERTIA_CHANNELS:,} channels",
    )


def _least_of_blocks(undirected: csr_array, group: Translations) -> float:
    """λ₂ by characters: on f(a·origin of c) = χ(a) v_c the Laplacian acts as the Hermitian block of χ on v.

    Less what rounding may add: eigenvalues of a block are off by some `cells` units of its norm, which
    is at most twice the degree; its entries by a unit for each channel summed and 5 for each phase.
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
        values = _of_every_character(rows, cell, element, degree, group)
    # one eigenvalue of the trivial character, which comes first, is the constant function's 0
    trivial, others = values[0][0, 1:], [block[:, 0] for block in (values[0][1:], *values[1:])]
    least = np.concatenate([trivial, *others]).min()
    channels = int(np.bincount(rows.row, minlength=cells).max(initial=0))
    return float(max(0.0, least - 2 * degree.max() * (cells + channels + 5) * EPSILON))


def _of_every_character(
    rows: Any, cell: np.ndarray, element: np.ndarray, degree: np.ndarray, group: Translations
) -> list[np.ndarray]:
    """The two least eigenvalues of every character's block, float64[·, 2] each, the trivial character's first.

    rows           channels that leave the cells' origins, int64[C, N] in coordinates
    cell, element  int64[N], of every node (Translations.place)
    degree         float64[C]
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
            # whole numbers up to here, and half a turn at most, so that the phase is right to the last digits
            turns = (part @ step + elements // 2) % elements - elements // 2
            blocks[:, origin, head_cell] -= weight * np.exp(2j * np.pi / elements * turns)
        values.append(np.linalg.eigvalsh(blocks)[:, :2])
    return values


def _one_of_each_pair(characters: np.ndarray, elements: int) -> np.ndarray:
    """Characters without those whose complex conjugate, of the same eigenvalues, stays: the first value that is not real decides."""
    imaginary = np.where(2 * characters % elements == 0, 0, np.where(2 * characters < elements, 1, -1))  # its sign
    imaginary = np.pad(imaginary, ((0, 0), (0, 1)))
    first = (imaginary != 0).argmax(axis=1)
    return characters[imaginary[np.arange(len(characters)), first] >= 0]


def _by_inertia(undirected: csr_array, restarts: int) -> tuple[float | None, str]:
    """(lower bound, how): a value just below λ₂ from Lanczos' iteration, proved by Sylvester's law of inertia.

    The Laplacian less σ has as many eigenvalues below 0 as negative pivots D in L D Lᵀ, so with one
    such pivot (the constant function's) λ₂ ≥ σ. What was factorised differs from it by no more, in any
    row's sum, than n units of |L||U| (Higham 2002, Theorem 9.3) and |L||U − D Lᵀ|; by so much σ is lowered.
    """
    from scipy.sparse.linalg import splu

    ritz = _lanczos(undirected, restarts)
    if ritz is None:
        return None, "no spectral bound: Lanczos did not converge"
    n = undirected.shape[0]
    weights = undirected.astype(float)
    degree = weights.sum(axis=1)
    sigma = ritz * (1 - ASIDE)
    shifted = csc_array(diags_array(degree - sigma) - weights)
    try:
        factors = splu(
            shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True, "Equil": False}
        )
    except RuntimeError:  # a pivot is exactly 0
        return None, "no spectral bound: a pivot is 0"
    if not np.array_equal(factors.perm_r, factors.perm_c):
        return None, "no spectral bound: pivots off the diagonal"
    pivots = factors.U.diagonal()
    lower, upper = abs(factors.L), abs(factors.U)
    unlike = abs(factors.U - csc_array(diags_array(pivots) @ factors.L.T))
    # doubled for the rounding of these sums, of degree − σ and of pivots times Lᵀ
    off = 2 * float((lower @ (n * EPSILON * upper.sum(axis=1) + unlike.sum(axis=1))).max()) + 2 * degree.max() * EPSILON
    if (pivots < 0).sum() != 1 or not off < sigma:
        return None, "no spectral bound: its proof failed on rounding"
    return sigma - off, "spectral (Lanczos, proved by inertia)"


def _lanczos(undirected: csr_array, restarts: int) -> float | None:
    """The Rayleigh quotient of a vector orthogonal to the constant function, which is λ₂ or above it; None where it does not converge."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

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
    operator = LinearOperator((n, n), matvec=reversed_spectrum, dtype=np.float64)
    try:
        _, vectors = eigsh(operator, k=1, which="LA", v0=start - start.mean(), tol=1e-10, maxiter=restarts)
    except ArpackNoConvergence:
        return None
    vector = vectors[:, 0] - vectors[:, 0].mean()
    vector /= np.linalg.norm(vector)
    return float(vector @ laplacian(vector))
