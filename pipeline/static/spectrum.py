"""The second eigenvalue of a network's Laplacian, from below."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from pipeline.static.translations import Translations, translations
from pipeline.topology import Topology

BLOCK_WORK = 1 << 30  # sum of the cubed sizes of all blocks: a few seconds
BLOCK_BYTES = 1 << 27  # memory of the blocks that are solved at a time
ROUNDING = 1e-9  # sines of a character's angles are 0 or no smaller than 2/N
LANCZOS_NODES = 20_000
LANCZOS_RESTARTS = 300  # where they do not suffice, the eigenvalue is tiny and its bound worthless


def second_eigenvalue(topology: Topology, undirected: csr_array, images: Sequence[np.ndarray]) -> tuple[float | None, str]:
    """(a lower bound of λ₂ of the Laplacian, how it was found); (None, why) where it was not.

    undirected   int64[N, N] symmetric weights
    images       proved automorphisms; the translations among them cut the Laplacian into one small
                 Hermitian block for each character of the group, all of which are solved (for a
                 lattice torus a block is one number, 2·Σ(1 − cos)). Without any the block is the whole.
    """
    group = translations(topology, images)
    cells, characters = group.grid.shape
    if characters * cells**3 <= BLOCK_WORK:
        exact = _least_of_blocks(undirected, group)
        return exact, f"spectral (all eigenvalues, {characters:,} block{'' if characters == 1 else 's'} of {cells:,})"
    if topology.nodes <= LANCZOS_NODES:
        ritz = _lanczos(undirected)
        return ritz, "spectral (Lanczos, less the residual)" if ritz is not None else "no spectral bound: Lanczos did not converge"
    return None, f"no spectral bound: blocks of {cells:,} nodes, and more than {LANCZOS_NODES:,} nodes"


def _least_of_blocks(undirected: csr_array, group: Translations) -> float:
    """λ₂ by characters: on f(a·origin of c) = χ(a) v_c the Laplacian acts as the Hermitian block of χ on v."""
    cells, elements = group.grid.shape
    cell, element = group.place()
    rows = undirected[group.grid[:, 0]].tocoo()
    steps = group.exponents(element[rows.col])
    angles = _one_of_each_pair(group.characters())
    degree = np.zeros(cells)
    np.add.at(degree, rows.row, rows.data)
    values = []
    chunk = max(1, BLOCK_BYTES // (16 * cells * cells))
    for start in range(0, len(angles), chunk):
        part = angles[start : start + chunk]
        blocks = np.zeros((len(part), cells, cells), np.complex128)
        blocks[:, np.arange(cells), np.arange(cells)] = degree
        for origin, head_cell, step, weight in zip(rows.row, cell[rows.col], steps, rows.data):
            blocks[:, origin, head_cell] -= weight * np.exp(2j * np.pi * (part @ step))
        values.append(np.linalg.eigvalsh(blocks.real if elements == 1 else blocks)[:, :2])
    # one eigenvalue of the trivial character, which comes first, is the constant function's 0
    trivial, others = values[0][0, 1:], [block[:, 0] for block in (values[0][1:], *values[1:])]
    least = np.concatenate([trivial, *others]).min()
    return float(max(0.0, least - 2 * degree.max() * cells * np.finfo(float).eps))


def _one_of_each_pair(angles: np.ndarray) -> np.ndarray:
    """Characters without those whose complex conjugate, of the same eigenvalues, stays: the first value that is not real decides."""
    imaginary = np.pad(np.sin(2 * np.pi * angles), ((0, 0), (0, 1)))
    first = (np.abs(imaginary) > ROUNDING).argmax(axis=1)
    return angles[imaginary[np.arange(len(angles)), first] > -ROUNDING]


def _lanczos(undirected: csr_array) -> float | None:
    """λ₂ from a Ritz pair (θ, x) orthogonal to the constant function, or None.

    Some eigenvalue lies within the residual ‖Lx − θx‖ of θ; that it is the second one rests on the
    iteration's convergence from a random start, which all smaller ones would have taken over.
    """
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
        _, vectors = eigsh(operator, k=1, which="LA", v0=start - start.mean(), tol=1e-10, maxiter=LANCZOS_RESTARTS)
    except ArpackNoConvergence:
        return None
    vector = vectors[:, 0] - vectors[:, 0].mean()
    vector /= np.linalg.norm(vector)
    ritz = float(vector @ laplacian(vector))
    return max(0.0, ritz - float(np.linalg.norm(laplacian(vector) - ritz * vector)))
