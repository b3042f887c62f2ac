"""Anneal graphs on a GPU (anneal.cu): a block of threads for each chain, and all moves in one launch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.annealing.reference import NEGATIVE_LOG, Annealed, Goal, Quotient, Wires, lifted

SOURCE = Path(__file__).with_name("anneal.cu")
OWN = 2  # words of a thread, where a block need not have more threads than it may
LEAST, MOST = 128, 1024  # threads of a block
LANES = 32  # sources of a word
SUMS = 3  # words of shared memory beside the bitsets
NUMBERED = 2**16  # nodes that 16 bits number
GREATEST = 2**31 - 1


def anneal(
    quotients: Sequence[Quotient],
    temperatures: np.ndarray,
    goal: Goal,
    wires: Wires,
    first: int,
    seed: int,
    chains: Sequence[int],
) -> list[Annealed]:
    """Anneal each chain's graph; see `torusweep_kernels.annealing.anneal_chains`. The quotients have one shape and at
    most `most_nodes` nodes.
    """
    with cuda.gpu_errors("torusweep_kernels.annealing"):
        device = cuda.Gpu()
        (kernel,) = device.kernels(SOURCE, "anneal")

        def run(together: int) -> list[Annealed]:
            numbers = temperatures, goal, wires, first, seed
            return [
                found
                for begin in range(0, len(chains), together)
                for found in annealed(
                    device, kernel, quotients[begin : begin + together], chains[begin : begin + together], *numbers
                )
            ]

        return cuda.halve_until_it_fits(len(chains), run)


def most_nodes() -> int:
    """Return the largest number of nodes of a graph. A block's shared memory holds two words for each node."""
    return min(NUMBERED, (cuda.Gpu().shared - 4 * SUMS) // 8)


def annealed(
    device: cuda.Gpu,
    kernel: Any,
    quotients: Sequence[Quotient],
    chains: Sequence[int],
    temperatures: np.ndarray,
    goal: Goal,
    wires: Wires,
    first: int,
    seed: int,
) -> list[Annealed]:
    """Anneal the graphs of the given chains by one launch."""
    cupy, copies, (m, d) = device.cupy, quotients[0].copies, quotients[0].head.shape
    nodes = copies * m
    shift, threads = manner(m, nodes, len(chains), device)
    quotient = cupy.asarray(np.stack([np.stack(one[1:]) for one in quotients]).astype(np.int32))
    best, state = quotient.copy(), cupy.zeros((len(chains), 5), np.int64)
    own = np.arange(nodes, dtype=np.int32)[:, None]
    ports = np.stack([np.where(there < 0, own, there) for there in map(lifted, quotients)]).transpose(0, 2, 1)
    arrays = (
        cupy.asarray(np.array(chains, np.uint32)),
        quotient,
        best,
        cupy.asarray(np.ascontiguousarray(ports, np.uint16)),
        state,
        cupy.asarray(temperatures),
        cupy.asarray(NEGATIVE_LOG),
        cupy.asarray(np.ascontiguousarray(wires.place, np.int32)),
    )
    numbers = (
        np.int32(len(temperatures)),
        np.int32(min(wires.longest, GREATEST)),
        *map(np.int64, goal),
        np.uint64(first),
        np.uint32(seed % 2**32),
        np.uint32(seed >> 32),
        *map(np.int32, (copies, m, d, shift)),
    )
    kernel.max_dynamic_shared_size_bytes = memory = shared(nodes, shift)
    kernel((len(chains),), (threads,), (*arrays, *numbers), shared_mem=memory)
    where, best, state = quotient.get(), best.get(), state.get()
    return [
        Annealed(Quotient(copies, *here), int(of[0]), Quotient(copies, *there), *map(int, of[1:]))
        for here, there, of in zip(where, best, state)
    ]


def shared(nodes: int, shift: int) -> int:
    """Return a block's shared memory in bytes, for groups of 2^shift words of sources."""
    return 4 * (2 * (nodes << shift) + SUMS)


def manner(m: int, nodes: int, chains: int, device: cuda.Gpu) -> tuple[int, int]:
    """Return (shift, threads) of a block. All sources form one group if they fit into the block's share of the shared
    memory. A multiprocessor divides it among so many blocks that all chains run at once, if that leaves enough threads.
    """
    beside = max(1, min(MOST // LEAST, -(-chains // device.multiprocessors)))  # blocks of a multiprocessor
    shift = 0
    while LANES << shift < m and shared(nodes, shift + 1) <= device.shared // beside:
        shift += 1
    words = nodes << shift
    threads = min(MOST // beside, -(-words // OWN))
    return shift, max(LEAST, -(-threads // LANES) * LANES)
